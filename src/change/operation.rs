//! Names the kinds of changes, which are those of their steps.

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// The kind of a change, in one word, and of each of its steps: one mutation of Wiki.js.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Operation: as_str {
        /// A page comes to be: `pages.create`.
        Create = "create",
        /// Changes fields of a page, perhaps its place among them: `pages.update`, with every field
        /// that it can write.
        Update = "update",
        /// Changes only the place of a page: `pages.move`.
        Move = "move",
        /// A page goes: `pages.delete`.
        Delete = "delete",
        /// A comment comes to be: `comments.create`.
        AddComment = "add-comment",
        /// Changes the text of a comment: `comments.update`.
        ChangeComment = "change-comment",
        /// A comment goes: `comments.delete`.
        DeleteComment = "delete-comment",
        /// An asset comes to be, or its bytes change: `POST /u`, after `assets.createFolder` for each
        /// folder that is to be made for it.
        UploadAsset = "upload-asset",
        /// Changes the name of an asset: `assets.renameAsset`.
        RenameAsset = "rename-asset",
        /// An asset goes: `assets.deleteAsset`.
        DeleteAsset = "delete-asset",
        /// Only a step: `pages.move` to a temporary place, where pages of a set change places.
        #[serde(skip)]
        Aside = "aside",
    }
}

impl Operation {
    /// All kinds of changes.
    pub const ALL: [Self; 10] = [
        Self::Create,
        Self::Update,
        Self::Move,
        Self::Delete,
        Self::AddComment,
        Self::ChangeComment,
        Self::DeleteComment,
        Self::UploadAsset,
        Self::RenameAsset,
        Self::DeleteAsset,
    ];

    /// True if a page, a comment or an asset goes.
    pub const fn deletes(self) -> bool {
        matches!(self, Self::Delete | Self::DeleteComment | Self::DeleteAsset)
    }

    /// True if it changes a page itself, not a comment or asset.
    pub const fn is_of_page(self) -> bool {
        matches!(
            self,
            Self::Create | Self::Update | Self::Move | Self::Delete | Self::Aside
        )
    }

    /// True if two concurrent ones interfere: the wiki rebuilds its page tree for it (W19), or
    /// overwrites what was just created at its place (W39).
    pub const fn rebuilds_tree(self) -> bool {
        !matches!(
            self,
            Self::Update | Self::AddComment | Self::ChangeComment | Self::DeleteComment
        )
    }
}
