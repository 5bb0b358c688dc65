//! Changes that no client can make: those of a test, as somebody at the database.

use super::{AssetRow, CommentRow, PageRow, Store};

impl Store {
    /// Changes a page as somebody else's update does: it leaves a version behind.
    pub fn rewrite(&mut self, id: i64, act: impl FnOnce(&mut PageRow)) {
        if self.keep_version(id, "updated").is_ok()
            && let Some(page) = self.pages.get_mut(&id)
        {
            act(page);
            self.touch(id);
        }
    }

    /// The asset with this id, to be altered.
    pub fn asset_mut(&mut self, id: i64) -> Option<&mut AssetRow> {
        self.assets.get_mut(&id)
    }

    /// Removes all folders.
    pub fn remove_folders(&mut self) {
        self.folders.clear();
        self.assets.retain(|_, asset| asset.folder == 0);
    }

    /// The comment with this id, to be altered.
    pub fn comment_mut(&mut self, id: i64) -> Option<&mut CommentRow> {
        self.comments.get_mut(&id)
    }

    /// Takes a comment away.
    pub fn remove_comment(&mut self, id: i64) -> Option<CommentRow> {
        self.comments.remove(&id)
    }
}
