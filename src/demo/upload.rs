//! The form of an upload, and what becomes of a picture in it (W37, W40).

use std::sync::LazyLock;

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
    pub(super) fn read(content_type: &str, body: &[u8]) -> Option<Self> {
        let (_, boundary) = content_type.split_once("boundary=")?;
        let mark = format!("--{}", boundary.trim_matches('"')).into_bytes();
        let mut upload = Self::default();
        let mut rest = body;
        while let Some(at) = find(rest, &mark) {
            let part = rest.get(..at).unwrap_or_default();
            rest = rest.get(at + mark.len()..).unwrap_or_default();
            upload.take(part)?;
        }
        Some(upload)
    }

    fn take(&mut self, part: &[u8]) -> Option<()> {
        let Some(at) = find(part, b"\r\n\r\n") else {
            return Some(());
        };
        let (head, body) = part.split_at_checked(at)?;
        let head = String::from_utf8_lossy(head);
        let body = body.get(4..)?;
        let body = body.strip_suffix(b"\r\n").unwrap_or(body);
        let of = |key: &str| {
            let (_, value) = head.split_once(&format!("{key}=\""))?;
            Some(value.split('"').next().unwrap_or_default().to_owned())
        };
        let Some(filename) = of("filename") else {
            let told: Option<Value> = serde_json::from_slice(body).ok();
            let told = told.filter(|_| of(" name").as_deref() == Some(PART));
            self.folder = told.and_then(|told| told.get("folderId")?.as_i64());
            return Some(());
        };
        if of(" name").as_deref() != Some(PART) {
            return None;
        }
        let mime = head.split("Content-Type: ").nth(1).unwrap_or_default();
        let mime = mime.lines().next().unwrap_or_default().trim().to_owned();
        self.file = Some((filename, mime, body.to_vec()));
        Some(())
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window == wanted)
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
