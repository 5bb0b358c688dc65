//! Names the kinds of writes, and the steps that Wiki.js has for them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of a write, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A page comes to be.
    Create,
    /// Changes fields of a page, perhaps its place among them.
    Update,
    /// Changes only the place of a page.
    Move,
    /// A page goes.
    Delete,
    /// A comment comes to be.
    AddComment,
    /// Changes the text of a comment.
    ChangeComment,
    /// A comment goes.
    DeleteComment,
    /// An asset comes to be, or its bytes change.
    UploadAsset,
    /// Changes the name of an asset.
    RenameAsset,
    /// An asset goes.
    DeleteAsset,
}

impl Operation {
    /// All of them.
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
            Self::Create | Self::Update | Self::Move | Self::Delete
        )
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One mutation of Wiki.js.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// `pages.create`
    Create,
    /// `pages.move` to a temporary place, where pages of a set change places
    Aside,
    /// `pages.move`
    Move,
    /// `pages.update`, with every field that it can write.
    Update,
    /// `pages.delete`
    Delete,
    /// `comments.create`
    AddComment,
    /// `comments.update`
    ChangeComment,
    /// `comments.delete`
    DeleteComment,
    /// `POST /u`, after `assets.createFolder` for each folder that is to be made for it
    UploadAsset,
    /// `assets.renameAsset`
    RenameAsset,
    /// `assets.deleteAsset`
    DeleteAsset,
}

impl StepKind {
    /// The operation of a change that consists of this step alone.
    pub(super) const fn operation(self) -> Operation {
        match self {
            Self::Create => Operation::Create,
            Self::Aside | Self::Move => Operation::Move,
            Self::Update => Operation::Update,
            Self::Delete => Operation::Delete,
            Self::AddComment => Operation::AddComment,
            Self::ChangeComment => Operation::ChangeComment,
            Self::DeleteComment => Operation::DeleteComment,
            Self::UploadAsset => Operation::UploadAsset,
            Self::RenameAsset => Operation::RenameAsset,
            Self::DeleteAsset => Operation::DeleteAsset,
        }
    }

    /// The word for it on record.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Aside => "aside",
            _ => self.operation().as_str(),
        }
    }

    /// True if it changes a page itself, not a comment or asset.
    #[must_use]
    pub const fn is_of_page(self) -> bool {
        self.operation().is_of_page()
    }

    /// True if two concurrent ones interfere: the wiki rebuilds its page tree for it (W19), or
    /// overwrites what was just created at its place (W39).
    #[must_use]
    pub const fn rebuilds_tree(self) -> bool {
        match self {
            Self::Create
            | Self::Aside
            | Self::Move
            | Self::Delete
            | Self::UploadAsset
            | Self::RenameAsset
            | Self::DeleteAsset => true,
            Self::Update | Self::AddComment | Self::ChangeComment | Self::DeleteComment => false,
        }
    }
}
