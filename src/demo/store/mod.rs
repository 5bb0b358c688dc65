//! The pages of the demo wiki, in memory, and every operation on them.
//!
//! [`Store`] is what a test sees; the operations of the GraphQL API are in the
//! files beside it, one kind a file.
#![cfg_attr(
    not(feature = "testing"),
    expect(unreachable_pub, reason = "only tests reach the rows")
)]

mod assets;
mod comments;
mod history;
mod links;
mod list;
mod page;
mod place;
mod rows;
mod tables;
mod tags;
mod tree;
mod update;

pub(in crate::demo) use history::HistoryEntry;
pub(in crate::demo) use links::{Happened, PageLinks};
pub(in crate::demo) use list::{Direction, ListQuery, Listed, OrderBy};
pub use page::PageRow;
pub use rows::{AssetRow, CommentRow, FolderRow};
pub(in crate::demo) use rows::{TagRow, TreeNode, VersionRow};
pub use tables::Store;
pub(in crate::demo) use tree::TreeQuery;
pub(in crate::demo) use update::PageChange;
