//! Files beside the pages, and the folders that they lie in.
//!
//! Measured on 2.5.314 (W35 to W42). No answer tells the folder of an asset, so folders are walked
//! from the root and an asset is looked up in its folder's list. Assets have no locale: read scopes
//! and gates take them for places of the default one.

use url::Url;

use super::super::client::{Wiki, below};
use super::super::error::{WikiError, WikiResult};
use super::super::operations::generated::{AssetsFolders, AssetsList, assets_folders, assets_list};
use crate::page::{
    Blob, Date, Locale, PagePath, can_be_downloaded, is_web_page, needs_locale,
    percent_decoded_whole,
};

/// Maximum depth to which folders are walked.
const MOST_DEEP: usize = 32;

/// An asset, without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Its id.
    pub id: i64,
    /// The id of its folder, of which 0 is the root.
    pub folder: i64,
    /// Its folder's path and its name.
    pub path: PagePath,
    /// The MIME type that it was uploaded with, whatever the bytes are (W38).
    pub mime: String,
    /// Number of bytes sent; for a sanitised picture, more than there are (W40).
    pub file_size: i64,
    /// The time at which it was created.
    pub created_at: Date,
    /// The time at which it was last written.
    pub updated_at: Date,
}

/// Contents of a folder, as far as they may be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssetFolder {
    /// The paths of the folders in it.
    pub folders: Vec<PagePath>,
    /// The assets in it.
    pub assets: Vec<Asset>,
}

impl Wiki {
    /// The locale that read scopes and gates take assets to be in.
    pub fn locale_of_assets(&self) -> &Locale {
        &self.settings.default_locale
    }

    /// The address of an asset.
    pub fn asset_url(&self, path: &PagePath) -> String {
        let address = self.asset_address(path);
        address.map_or_else(String::new, String::from)
    }

    fn asset_address(&self, path: &PagePath) -> Option<Url> {
        let locale = needs_locale(path).then(|| self.locale_of_assets().as_str());
        let segments = locale.into_iter().chain(path.as_str().split('/'));
        below(&self.settings.base_url, segments)
    }

    /// The path of the asset that has this address; `None` if the address is not of this wiki.
    pub fn asset_at(&self, address: &str) -> Option<PagePath> {
        let address = Url::parse(address).ok()?;
        let base = below(&self.settings.base_url, std::iter::empty())?;
        let below = address.path().strip_prefix(base.path())?;
        let path = percent_decoded_whole(below.trim_start_matches('/'))?;
        let in_locale = path.split_once('/').map(|(_, rest)| rest.to_owned());
        let mut paths = [Some(path), in_locale].into_iter().flatten();
        let is_it = |path: &PagePath| self.asset_address(path).is_some_and(|own| own == address);
        paths.find_map(|path| Some(PagePath::as_stored(path)).filter(is_it))
    }

    /// Lists a folder; an empty path means the root.
    ///
    /// # Errors
    /// [`WikiError::NoFolder`] if there is none, or nothing in it may be read; else see
    /// [`WikiError`].
    pub async fn asset_folder(&self, path: &PagePath) -> WikiResult<AssetFolder> {
        if !self.admits_folder(path) {
            return Err(WikiError::NoFolder);
        }
        let id = self.folder_there(path).await?;
        let (folders, assets) =
            futures_util::try_join!(self.folders_in(id), self.all_assets_in(id, path))?;
        let folders = folders.into_iter().map(|(_, slug)| path.holding(&slug));
        Ok(AssetFolder {
            folders: folders.filter(|path| self.admits_folder(path)).collect(),
            assets: assets
                .into_iter()
                .filter(|asset| self.admits_asset(&asset.path))
                .collect(),
        })
    }

    /// The asset at a path.
    ///
    /// # Errors
    /// [`WikiError::NotFound`] if there is none, or it may not be read; else see [`WikiError`].
    pub async fn asset(&self, path: &PagePath) -> WikiResult<Asset> {
        if !self.admits_asset(path) {
            return Err(WikiError::NotFound);
        }
        let folder = path.folder();
        let (id, _) = self.missing_folders(&folder).await?;
        let id = id.ok_or(WikiError::NotFound)?;
        let assets = self.all_assets_in(id, &folder).await?;
        let found = assets.into_iter().rev().find(|asset| asset.path == *path);
        found.ok_or(WikiError::NotFound)
    }

    /// The bytes of an asset; `None` if the wiki gives them to nobody (W40).
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn asset_bytes(&self, path: &PagePath) -> WikiResult<Option<Blob>> {
        if !self.admits_asset(path) {
            return Err(WikiError::NotFound);
        }
        if !can_be_downloaded(path) {
            return Ok(None);
        }
        let address = self.asset_address(path).ok_or(WikiError::NotFound)?;
        let bytes = self.read_by_get(&address, |answer| match answer.status {
            // A login page or a gateway's, in place of what the name's end says (W40).
            status @ 200 if answer.is_html && !is_web_page(path) => {
                Err(WikiError::NotGraphQl { status })
            }
            200 => Ok(Blob::from(answer.body.clone())),
            404 => Err(WikiError::NotFound),
            401 | 403 => Err(WikiError::forbidden("read:assets")),
            _ => Err(answer.as_error()),
        });
        bytes.await.map(Some)
    }

    /// The folders on the way to a path that are not there, the outermost first, and the id of the
    /// folder itself if it is there.
    pub(in crate::wiki) async fn missing_folders(
        &self,
        path: &PagePath,
    ) -> WikiResult<(Option<i64>, Vec<String>)> {
        let segments: Vec<&str> = path
            .as_str()
            .split('/')
            .filter(|one| !one.is_empty())
            .collect();
        if segments.len() > MOST_DEEP {
            return Err(WikiError::NoFolder);
        }
        let (mut id, mut done) = (0, PagePath::new(""));
        let mut missing = Vec::new();
        for segment in segments {
            done = done.holding(segment);
            let found = if missing.is_empty() {
                let folders = self.folders_in(id).await?;
                folders.into_iter().find(|(_, slug)| slug == segment)
            } else {
                None
            };
            match found {
                Some((found, _)) => id = found,
                None => missing.push(done.as_str().to_owned()),
            }
        }
        Ok((missing.is_empty().then_some(id), missing))
    }

    /// The id of a folder that is there.
    pub(super) async fn folder_there(&self, path: &PagePath) -> WikiResult<i64> {
        let (found, _) = self.missing_folders(path).await?;
        found.ok_or(WikiError::NoFolder)
    }

    /// The folders in a folder, by their ids.
    pub(in crate::wiki) async fn folders_in(&self, parent: i64) -> WikiResult<Vec<(i64, String)>> {
        let data = self
            .query::<AssetsFolders>(assets_folders::Variables { parent })
            .await?;
        let found = data.assets.and_then(|assets| assets.folders);
        let found = found.ok_or_else(no_list)?;
        let found = found.into_iter().flatten();
        Ok(found.map(|folder| (folder.id, folder.slug)).collect())
    }

    /// The assets in a folder that has this path, whoever may read them: callers check that.
    pub(in crate::wiki) async fn all_assets_in(
        &self,
        folder: i64,
        path: &PagePath,
    ) -> WikiResult<Vec<Asset>> {
        let data = self
            .query::<AssetsList>(assets_list::Variables { folder })
            .await?;
        let found = data.assets.and_then(|assets| assets.list);
        let found = found.ok_or_else(no_list)?;
        let asset = |item: assets_list::AssetsListAssetsList| Asset {
            id: item.id,
            folder,
            path: path.holding(&item.filename),
            mime: item.mime,
            file_size: item.file_size,
            created_at: item.created_at,
            updated_at: item.updated_at,
        };
        Ok(found.into_iter().flatten().map(asset).collect())
    }

    /// True if an asset at a path may be read.
    pub(in crate::wiki) fn admits_asset(&self, path: &PagePath) -> bool {
        !path.climbs() && self.scope().admits_place(self.locale_of_assets(), path)
    }

    /// True if something below a folder may be read.
    fn admits_folder(&self, path: &PagePath) -> bool {
        !path.climbs() && self.scope().admits_below(self.locale_of_assets(), path)
    }
}

fn no_list() -> WikiError {
    WikiError::malformed("data.assets")
}
