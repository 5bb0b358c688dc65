//! The rows of the tables beside that of pages.

use async_graphql::SimpleObject;

use super::PageRow;
use crate::demo::Date;
use crate::demo::anchors::Anchored;

/// A page as a write left it.
#[derive(Debug, Clone)]
pub(in crate::demo) struct VersionRow {
    pub(in crate::demo) id: i64,
    pub(in crate::demo) action: &'static str,
    pub(in crate::demo) saved_at: String,
    pub(in crate::demo) page: PageRow,
}

/// A page as it was rendered.
#[derive(Debug)]
pub(super) struct Rendered {
    /// The source that was rendered: a page that a test altered is rendered anew.
    pub(super) content: String,
    pub(super) editor: String,
    pub(super) made: Anchored,
}

/// One tag.
#[derive(Debug, Clone, SimpleObject)]
#[graphql(name = "PageTag")]
pub(in crate::demo) struct TagRow {
    pub(super) id: i64,
    pub(in crate::demo) tag: String,
    /// The tag itself.
    pub(super) title: Option<String>,
    pub(super) created_at: Date,
    pub(super) updated_at: Date,
}

/// One place in the tree.
#[derive(Debug, Clone, SimpleObject)]
#[graphql(name = "PageTreeItem")]
pub(in crate::demo) struct TreeNode {
    pub(super) id: i64,
    pub(super) path: String,
    pub(super) depth: i32,
    pub(super) title: String,
    pub(super) is_private: bool,
    pub(super) is_folder: bool,
    #[graphql(name = "privateNS")]
    pub(super) private_ns: Option<String>,
    pub(super) parent: Option<i64>,
    pub(super) page_id: Option<i64>,
    pub(super) locale: String,
    #[graphql(skip)]
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
