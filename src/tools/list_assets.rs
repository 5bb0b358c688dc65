//! `wikijs_list_assets`: folders and files beside the pages (toolset `assets`).

use super::prelude::*;
use crate::page::{PagePath, can_be_downloaded, escape_hidden};
use crate::wiki::Asset;

/// The most folders of one answer.
const MOST_FOLDERS: usize = 200;

/// The tool.
pub(super) struct ListAssets;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Its path; the root if left out.
    #[garde(custom(rule::optional(rule::asset)))]
    folder: Option<String>,
    /// Assets to skip.
    #[garde(range(max = 1_000_000))]
    offset: Option<u32>,
    /// Default 50.
    #[garde(range(min = 1, max = 200))]
    limit: Option<u32>,
}

/// Its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// The paths of the folders in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    folders: Vec<String>,
    /// By name.
    assets: Vec<AssetEntry>,
    /// Number of all assets, if not all are listed.
    total: Option<i64>,
    /// Number of all folders, if not all are listed.
    total_folders: Option<i64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AssetEntry {
    asset: i64,
    path: String,
    /// The media type that it was uploaded with.
    r#type: String,
    bytes: i64,
    updated_at: String,
    /// The reason why nobody can download it, if so.
    unavailable: Option<&'static str>,
}

/// The reason why some assets cannot be downloaded (W40).
pub(super) const NO_DOWNLOAD: &str =
    "Wiki.js takes such a name for a page's: nobody can download it";

impl Tool for ListAssets {
    const NAME: &'static str = "wikijs_list_assets";
    const DESCRIPTION: &'static str = "List the folders and files (images and other assets) in a folder of assets. What pages link is /folder/name, without a locale.";
    const ANSWER: &'static str = "Absent: total if these are all.";
    const KIND: ToolKind = ToolKind::Read;
    const EXPLAINED: Explained = &[("path", "is not taken here; folder names a folder")];
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        let folder = PagePath::new(input.folder.as_deref().unwrap_or_default());
        let mut found = context.wiki.asset_folder(&folder).await?;
        found.folders.sort();
        found.assets.sort_by(|a, b| a.path.cmp(&b.path));
        let (total, total_folders) = (found.assets.len(), found.folders.len());
        let folders = found.folders.iter().take(MOST_FOLDERS);
        let folders: Vec<String> = folders.map(|path| escape_hidden(path.as_str())).collect();
        let assets = found.assets.into_iter().skip(input::count(input.offset, 0));
        let assets: Vec<AssetEntry> = assets
            .take(input::count(input.limit, 50))
            .map(AssetEntry::new)
            .collect();
        Ok(Output {
            total: some_count(total).filter(|_| total > assets.len()),
            total_folders: some_count(total_folders).filter(|_| total_folders > folders.len()),
            folders,
            assets,
        })
    }
}

impl AssetEntry {
    fn new(asset: Asset) -> Self {
        Self {
            asset: asset.id,
            path: escape_hidden(asset.path.as_str()),
            r#type: escape_hidden(&asset.mime),
            bytes: asset.file_size,
            updated_at: String::from(asset.updated_at),
            unavailable: (!can_be_downloaded(&asset.path)).then_some(NO_DOWNLOAD),
        }
    }
}
