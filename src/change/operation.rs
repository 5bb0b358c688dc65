//! Names the kinds of changes, which are those of their steps.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of a change, in one word, and of each of its steps: one mutation of Wiki.js.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A page comes to be: `pages.create`.
    Create,
    /// Changes fields of a page, perhaps its place among them: `pages.update`, with every field
    /// that it can write.
    Update,
    /// Changes only the place of a page: `pages.move`.
    Move,
    /// A page goes: `pages.delete`.
    Delete,
    /// A comment comes to be: `comments.create`.
    AddComment,
    /// Changes the text of a comment: `comments.update`.
    ChangeComment,
    /// A comment goes: `comments.delete`.
    DeleteComment,
    /// An asset comes to be, or its bytes change: `POST /u`, after `assets.createFolder` for each
    /// folder that is to be made for it.
    UploadAsset,
    /// Changes the name of an asset: `assets.renameAsset`.
    RenameAsset,
    /// An asset goes: `assets.deleteAsset`.
    DeleteAsset,
    /// Only a step: `pages.move` to a temporary place, where pages of a set change places.
    #[serde(skip)]
    Aside,
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

    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Move => "move",
            Self::Delete => "delete",
            Self::AddComment => "add-comment",
            Self::ChangeComment => "change-comment",
            Self::DeleteComment => "delete-comment",
            Self::UploadAsset => "upload-asset",
            Self::RenameAsset => "rename-asset",
            Self::DeleteAsset => "delete-asset",
            Self::Aside => "aside",
        }
    }

    /// True if a page, a comment or an asset goes.
    #[must_use]
    pub const fn deletes(self) -> bool {
        matches!(self, Self::Delete | Self::DeleteComment | Self::DeleteAsset)
    }

    /// True if it changes a page itself, not a comment or asset.
    #[must_use]
    pub const fn is_of_page(self) -> bool {
        matches!(
            self,
            Self::Create | Self::Update | Self::Move | Self::Delete | Self::Aside
        )
    }

    /// True if two concurrent ones interfere: the wiki rebuilds its page tree for it (W19), or
    /// overwrites what was just created at its place (W39).
    #[must_use]
    pub const fn rebuilds_tree(self) -> bool {
        !matches!(
            self,
            Self::Update | Self::AddComment | Self::ChangeComment | Self::DeleteComment
        )
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
