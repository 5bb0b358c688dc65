//! The form of an upload, and what becomes of a picture in it (W37, W40).

use std::sync::LazyLock;

use axum::extract::Multipart;
use regex::Regex;
use serde_json::Value;

/// The name of both parts.
const PART: &str = "mediaUpload";

/// The content of an upload's form.
#[derive(Debug, Default)]
pub(super) struct Upload {
    /// The folder, if the form names one.
    pub(super) folder: Option<i64>,
    /// The file: its name, its type and its bytes.
    pub(super) file: Option<(String, String, Vec<u8>)>,
}

impl Upload {
    /// Reads a form; `None` if a file is in another part, which the wiki fails on.
    pub(super) async fn read(mut form: Multipart) -> Option<Self> {
        let mut upload = Self::default();
        while let Some(part) = form.next_field().await.ok()? {
            let is_ours = part.name() == Some(PART);
            let name = part.file_name().map(str::to_owned);
            let mime = part.content_type().unwrap_or_default().to_owned();
            let body = part.bytes().await.ok()?;
            match name {
                Some(name) if is_ours => upload.file = Some((name, mime, body.to_vec())),
                Some(_) => return None,
                None => {
                    let told: Option<Value> = serde_json::from_slice(&body).ok();
                    let told = told.filter(|_| is_ours);
                    upload.folder = told.and_then(|told| told.get("folderId")?.as_i64());
                }
            }
        }
        Some(upload)
    }
}

/// A picture in SVG without scripts and handlers, as far as tests need it; other bytes as they are.
pub(super) fn stored(name: &str, mime: &str, data: Vec<u8>) -> Vec<u8> {
    let is_svg = mime.starts_with("image/svg") || name.to_lowercase().ends_with(".svg");
    let Some(text) = std::str::from_utf8(&data).ok().filter(|_| is_svg) else {
        return data;
    };
    let mut text = text.to_owned();
    for (what, by) in CLEANED.iter() {
        text = what.replace_all(&text, *by).into_owned();
    }
    text.into_bytes()
}

/// Scripts and handlers go, and elements without an end get one.
static CLEANED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"(?s)<script.*?</script>", ""),
        (r#"\son\w+="[^"]*""#, ""),
        (r"<(\w+)([^<>]*)/>", "<$1$2></$1>"),
    ]
    .into_iter()
    .filter_map(|(what, by)| Some((Regex::new(what).ok()?, by)))
    .collect()
});
