//! `wikijs_get_asset`: one file beside the pages (toolset `assets`).

use std::collections::BTreeMap;

use super::list_assets::NO_DOWNLOAD;
use super::prelude::*;
use super::search_pages::{Indexed, SWITCHED_OFF, Sought};
use crate::index::Pattern;
use crate::page::{Blob, PagePath, PageReading, check_asset, escape_hidden, is_picture, mime_of};
use crate::wiki::WikiError;
use crate::write::no_asset;

/// The most bytes of an image that is shown.
const MOST_IMAGE: usize = 1024 * 1024;
/// The most bytes of a text.
const MOST_TEXT: usize = 64 * 1024;

/// The most pages that are named as using it.
const MOST_USERS: usize = 20;

/// The tool.
pub(super) struct GetAsset;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Folder and name, as docs/a.png, or its url.
    #[garde(custom(rule::required(rule::asset_or_url)))]
    path: String,
    /// Also the pages whose content names it.
    #[garde(skip)]
    used_by: Option<bool>,
}

/// Its answer.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    asset: i64,
    path: String,
    /// The media type that it was uploaded with.
    r#type: String,
    url: String,
    bytes: i64,
    sha256: Option<String>,
    created_at: String,
    updated_at: String,
    /// Its text, if it is one.
    text: Option<String>,
    /// True if the text was cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
    /// Parts that are left out, with the reasons.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unavailable: BTreeMap<&'static str, &'static str>,
    /// The pages that name it; at most twenty.
    used_by: Option<Vec<User>>,
    /// Number of further pages that name it.
    used_by_left: Option<i64>,
    /// Coverage of the search for them, if not all of the wiki was searched.
    index: Option<Indexed>,
    /// The image, which goes out as one.
    image: Option<Image>,
}

/// A page that names an asset.
#[derive(Debug, Serialize)]
struct User {
    id: Option<i64>,
    locale: String,
    path: String,
    title: String,
}

/// An image for the model.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Image {
    mime_type: &'static str,
    data: String,
}

impl Tool for GetAsset {
    const NAME: &'static str = "wikijs_get_asset";
    const DESCRIPTION: &'static str = "Read a file of the wiki by its path: an image as an image, text as text, both as data; of anything else what it is.";
    const ANSWER: &'static str = "unavailable: why neither text nor image is there.";
    const KIND: ToolKind = ToolKind::Read;
    const EXPLAINED: Explained = &[TAKES_NO_TITLE];
    const MOST_BYTES: usize = TEXT_BYTES;
    const SHOWS_IMAGE: bool = true;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        let path = if rule::is_address(&input.path) {
            let path = context.wiki.asset_at(&input.path);
            path.ok_or_else(|| invalid_argument("path", "is no address of an asset of this wiki"))?
        } else {
            PagePath::new(&input.path)
        };
        let asset = context.wiki.asset(&path).await.map_err(of_asset)?;
        let bytes = context.wiki.asset_bytes(&path).await.map_err(of_asset)?;
        let size = bytes.as_ref().and_then(|bytes| some_count(bytes.size()));
        let mut output = Output {
            asset: asset.id,
            path: escape_hidden(path.as_str()),
            r#type: escape_hidden(&asset.mime),
            url: context.wiki.asset_url(&path),
            bytes: size.unwrap_or(asset.file_size),
            sha256: bytes.as_ref().map(Blob::sha256),
            created_at: String::from(asset.created_at),
            updated_at: String::from(asset.updated_at),
            ..Output::default()
        };
        if let Err(why) = output.add_content(&path, bytes.as_ref()) {
            output.unavailable.insert("content", why);
        }
        if input.used_by == Some(true) {
            output.add_users(&context, &path).await?;
        }
        Ok(output)
    }
}

impl Output {
    /// Adds its content, as far as it can be shown.
    ///
    /// # Errors
    /// The reason why it is not.
    fn add_content(&mut self, path: &PagePath, bytes: Option<&Blob>) -> Result<(), &'static str> {
        let bytes = bytes.ok_or(NO_DOWNLOAD)?;
        let raw = bytes.as_bytes();
        if is_picture(path) {
            check_asset(path, raw)
                .map_err(|_| "it is no whole image of the type that its name says")?;
            if raw.len() > MOST_IMAGE {
                return Err("images of more than 1 MB are not shown");
            }
            self.image = Some(Image {
                mime_type: mime_of(path),
                data: bytes.to_base64(),
            });
            return Ok(());
        }
        let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        let text = std::str::from_utf8(raw).ok();
        let text = text.filter(|text| !text.contains(is_odd));
        let text = text.ok_or("it is neither an image nor a text")?;
        let end = text.floor_char_boundary(MOST_TEXT);
        self.text = Some(text.get(..end).unwrap_or_default().to_owned());
        self.is_cut = end < text.len();
        Ok(())
    }

    /// Adds the pages whose content names it, of those that the caller may read.
    async fn add_users(&mut self, context: &ToolContext, path: &PagePath) -> Result<()> {
        let index = &context.index;
        if !index.is_on() {
            self.unavailable.insert("usedBy", SWITCHED_OFF);
            return Ok(());
        }
        let pattern = Pattern::of_asset(path).map_err(|fault| invalid_argument("path", fault))?;
        let covered = context.indexed().await?;
        let site = context.wiki.linked_site().await?;
        let _turn = context.turn().await?;
        let found = index.users_of((path.clone(), pattern), site, MOST_USERS);
        let found = found.await?;
        let is_cut = found.looked_at < found.of;
        let cut = is_cut.then(|| "not all pages were searched in time".to_owned());
        let pages = found.hits.iter().map(|hit| &hit.page);
        let user = |page: &PageReading| User {
            id: page.id,
            locale: page.locale.as_str().to_owned(),
            path: escape_hidden(page.path.as_str()),
            title: escape_hidden(&page.title),
        };
        let indexed = Indexed::new(covered, Sought::Lines).lacking_sources(found.without_source);
        self.used_by = Some(pages.map(user).collect());
        self.used_by_left = some_count(found.left);
        self.index = indexed.note(cut).if_lacking();
        Ok(())
    }
}

fn of_asset(error: WikiError) -> Failure {
    match error {
        WikiError::NotFound => no_asset(),
        error => error.into(),
    }
}
