//! The rows of the tables beside that of pages.

use super::PageRow;

/// A page as a write left it.
#[derive(Debug, Clone)]
pub(super) struct VersionRow {
    pub(super) id: i64,
    pub(super) action: &'static str,
    pub(super) saved_at: String,
    pub(super) page: PageRow,
}

/// One tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::demo) struct TagRow {
    pub(in crate::demo) id: i64,
    pub(in crate::demo) tag: String,
    pub(in crate::demo) created_at: String,
    pub(in crate::demo) updated_at: String,
}

/// One place in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::demo) struct TreeNode {
    pub(in crate::demo) id: i64,
    pub(in crate::demo) locale: String,
    pub(in crate::demo) path: String,
    pub(in crate::demo) depth: i32,
    pub(in crate::demo) title: String,
    pub(in crate::demo) is_private: bool,
    pub(in crate::demo) is_folder: bool,
    pub(in crate::demo) page_id: Option<i64>,
    pub(in crate::demo) parent: Option<i64>,
    pub(super) ancestors: Vec<i64>,
}

/// A folder of assets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderRow {
    /// Its id.
    pub id: i64,
    /// The folder that it is in; 0 for the root.
    pub parent: i64,
    /// Its part of the path, which is its name, too.
    pub slug: String,
}

/// One asset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssetRow {
    /// Its id.
    pub id: i64,
    /// The folder that it is in; 0 for the root.
    pub folder: i64,
    /// Its name.
    pub filename: String,
    /// Its type, as the upload said.
    pub mime: String,
    /// Its bytes.
    pub data: Vec<u8>,
    /// The number of bytes sent, which lists show even where fewer were stored.
    pub sent: usize,
    /// The time of its first upload.
    pub created_at: String,
    /// The time of its last upload or renaming.
    pub updated_at: String,
}

/// One comment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommentRow {
    /// Its id.
    pub id: i64,
    /// The page that it is on.
    pub page: i64,
    /// The comment that it answers; 0 for none. No answer tells it.
    pub reply_to: i64,
    /// Its source.
    pub content: String,
    /// The name of its author.
    pub author: String,
    /// The time at which it was written.
    pub created_at: String,
    /// The time of its last change.
    pub updated_at: String,
}
