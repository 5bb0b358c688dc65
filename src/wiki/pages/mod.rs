//! Pages read: one, many, lists, their content and history.

pub(super) mod all_pages;
pub(super) mod authors;
pub(super) mod changes;
pub(super) mod content;
pub(super) mod deleted_pages;
#[doc(hidden)]
pub mod editor_view;
#[doc(hidden)]
pub mod front_matter;
pub(super) mod history;
pub(super) mod kept_list;
pub(super) mod list;
pub(super) mod page;
#[doc(hidden)]
pub mod rendered;
pub(super) mod resolve;
pub(super) mod search;
pub(super) mod seen_pages;
pub(super) mod shared_list;
pub(super) mod styles;
pub(super) mod tree;
pub(super) mod version;
pub(super) mod whole_pages;
