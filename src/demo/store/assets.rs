//! Assets and their folders (W35 to W41).

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::Store;
use super::rows::{AssetRow, FolderRow};
use crate::demo::{Access, Fault, WikiError, sql};

impl AssetRow {
    /// The end of its name that begins with the last dot; empty without one.
    pub(in crate::demo) fn ext(&self) -> &str {
        extension(&self.filename)
    }

    /// True if it was uploaded as an image.
    pub(in crate::demo) fn is_image(&self) -> bool {
        self.mime.starts_with("image/")
    }
}

/// As Node takes it: a name that begins with its only dot has none.
fn extension(name: &str) -> &str {
    match name.rfind('.') {
        Some(at) if at > 0 => name.get(at..).unwrap_or_default(),
        _ => "",
    }
}

/// A name without the characters that no file's name can have.
fn sanitized(name: &str) -> String {
    let is_refused = |c: char| c.is_control() || "/?<>\\:*|\"".contains(c);
    let name: String = name.chars().filter(|c| !is_refused(*c)).collect();
    name.trim_end_matches(['.', ' ']).to_owned()
}

/// What the wiki takes out of names (W38).
static TAKEN_OUT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[\s,;#]+").ok());

/// The name under which an upload is stored (W38): one mark stands for a whole run.
fn stored_name(sent: &str) -> String {
    let name = sent.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.to_lowercase();
    let taken_out = TAKEN_OUT.as_ref();
    sanitized(&taken_out.map_or(Cow::Borrowed(&*name), |it| it.replace_all(&name, "_")))
}

impl Store {
    /// All assets, oldest first.
    pub fn assets(&self) -> impl Iterator<Item = &AssetRow> {
        self.assets.values()
    }

    /// The path of a folder, without a slash at its ends; empty for the root.
    pub fn folder_path(&self, folder: i64) -> String {
        let mut slugs = Vec::new();
        let mut next = self.folders.get(&folder);
        while let Some(folder) = next {
            slugs.push(folder.slug.as_str());
            next = self.folders.get(&folder.parent);
        }
        slugs.reverse();
        slugs.join("/")
    }

    fn below(&self, folder: i64, name: &str) -> String {
        match self.folder_path(folder) {
            path if path.is_empty() && folder == 0 => name.to_owned(),
            path => format!("{path}/{name}"),
        }
    }

    /// The folders in a folder that the caller may see.
    pub(in crate::demo) fn folders_in(&self, parent: i64, access: &Access) -> Vec<FolderRow> {
        let folders = self.folders.values().filter(|one| one.parent == parent);
        let may = |one: &&FolderRow| access.may(&["read:assets"], &self.below(parent, &one.slug));
        folders.filter(may).cloned().collect()
    }

    /// The assets in a folder that the caller may see: in the order in which they were last
    /// written, since the wiki's question names no order.
    pub(in crate::demo) fn assets_in(&self, folder: i64, access: &Access) -> Vec<AssetRow> {
        let assets = self.assets().filter(|one| one.folder == folder);
        let may =
            |one: &&AssetRow| access.may(&["read:assets"], &self.below(folder, &one.filename));
        let mut found: Vec<AssetRow> = assets.filter(may).cloned().collect();
        found.sort_by(|one, other| one.updated_at.cmp(&other.updated_at));
        found
    }

    /// The asset at a path.
    pub fn asset_at(&self, path: &str) -> Option<&AssetRow> {
        self.assets()
            .find(|one| self.below(one.folder, &one.filename) == path)
    }

    /// Stores an asset, with the folders that it needs; returns its id.
    pub fn add_asset(&mut self, path: &str, mime: &str, data: &[u8]) -> i64 {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut parent = 0;
        for slug in folders.split('/').filter(|slug| !slug.is_empty()) {
            // One that is there stays.
            let _there = self.create_folder(parent, slug);
            let found = self.folders.values();
            let mut found = found.filter(|one| one.parent == parent && one.slug == slug);
            parent = found.next().map_or(parent, |one| one.id);
        }
        self.upload(parent, name, (mime, data.len()), data.to_vec());
        self.asset_at(path).map_or(0, |asset| asset.id)
    }

    /// Makes a folder (W36); where, nobody looks at.
    pub(in crate::demo) fn create_folder(&mut self, parent: i64, slug: &str) -> Result<(), Fault> {
        let slug = sanitized(slug).to_lowercase();
        let is_it = |one: &FolderRow| one.parent == parent && one.slug == slug;
        if self.folders.values().any(is_it) {
            return Err(WikiError::AssetFolderExists.into());
        }
        if parent != 0 && !self.folders.contains_key(&parent) {
            let columns = [("name", slug.as_str()), ("slug", &slug)];
            return Err(sql::foreign_key("assetFolders", &columns, "parentid"));
        }
        self.last_folder += 1;
        let id = self.last_folder;
        self.folders.insert(id, FolderRow { id, parent, slug });
        Ok(())
    }

    /// The path at which an upload would be stored, to check the right there.
    pub(in crate::demo) fn upload_path(&self, folder: i64, sent: &str) -> String {
        self.below(folder, &stored_name(sent))
    }

    /// Stores an upload over what has its name (W39). Where there is no such folder nothing is
    /// stored, and nobody is told (W37).
    pub(in crate::demo) fn upload(
        &mut self,
        folder: i64,
        name: &str,
        (mime, sent): (&str, usize),
        data: Vec<u8>,
    ) {
        if folder != 0 && !self.folders.contains_key(&folder) {
            return;
        }
        let filename = stored_name(name);
        let now = self.clock.now();
        let there = self
            .assets
            .values_mut()
            .find(|one| one.folder == folder && one.filename == filename);
        if let Some(asset) = there {
            asset.data = data;
            asset.sent = sent;
            mime.clone_into(&mut asset.mime);
            asset.updated_at = now;
            return;
        }
        self.last_asset += 1;
        let asset = AssetRow {
            id: self.last_asset,
            folder,
            filename,
            mime: mime.to_owned(),
            data,
            sent,
            created_at: now.clone(),
            updated_at: now,
        };
        self.assets.insert(asset.id, asset);
    }

    /// Renames an asset within its folder (W41).
    pub(in crate::demo) fn rename_asset(
        &mut self,
        id: i64,
        filename: &str,
        access: &Access,
    ) -> Result<(), Fault> {
        let filename = sanitized(filename).to_lowercase();
        let asset = self.assets.get(&id).ok_or(WikiError::AssetInvalid)?;
        if !filename.ends_with(asset.ext()) {
            return Err(WikiError::AssetRenameInvalidExt.into());
        }
        if !asset.ext().is_empty() && filename.len() <= asset.ext().len() {
            return Err(WikiError::AssetRenameInvalid.into());
        }
        let folder = asset.folder;
        let is_it = |one: &AssetRow| one.folder == folder && one.filename == filename;
        if self.assets().any(is_it) {
            return Err(WikiError::AssetRenameCollision.into());
        }
        let (old, new) = (
            self.below(folder, &asset.filename),
            self.below(folder, &filename),
        );
        access.demand("manage:assets", &old, WikiError::AssetRenameForbidden)?;
        access.demand("write:assets", &new, WikiError::AssetRenameTargetForbidden)?;
        let now = self.clock.now();
        if let Some(asset) = self.assets.get_mut(&id) {
            asset.filename = filename;
            asset.updated_at = now;
        }
        Ok(())
    }

    /// Deletes an asset.
    pub(in crate::demo) fn delete_asset(&mut self, id: i64, access: &Access) -> Result<(), Fault> {
        let asset = self.assets.get(&id).ok_or(WikiError::AssetInvalid)?;
        let path = self.below(asset.folder, &asset.filename);
        access.demand("manage:assets", &path, WikiError::AssetDeleteForbidden)?;
        self.assets.remove(&id);
        Ok(())
    }
}
