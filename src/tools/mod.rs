//! The tools: one module each, and their registry.
//!
//! A tool is a type with a [`Tool`] implementation: name and description, input, output, and
//! what it does. A new one is one file and one line in the registry's list.

mod add_comment;
mod arguments;
mod bulk_update_pages;
mod changes;
mod comparison;
mod confirm_args;
mod context;
mod create_page;
#[doc(hidden)]
pub mod cursor;
mod custom_tools;
mod delegate;
mod delete_asset;
mod delete_comment;
mod delete_page;
mod detail;
mod discard_draft;
mod double_colon;
mod end_delegation;
mod faults;
mod forget;
mod get_asset;
mod get_change_set;
mod get_page_by_id;
mod get_page_by_path;
mod get_page_history;
mod get_page_tree;
mod get_proposal;
pub mod input;
mod intern;
mod links;
mod list_assets;
mod list_comments;
mod list_pages;
mod list_proposals;
mod list_tags;
mod meant;
mod no_page;
mod output;
mod page_argument;
mod page_view;
mod pending_answer;
mod proposal_view;
mod recall;
mod registry;
mod remember;
mod rename_asset;
mod schema;
mod search_pages;
mod session_tools;
mod set_view;
mod submit_draft;
mod tool;
mod tool_selection;
mod toolset;
mod undo_write;
mod update_comment;
mod update_page;
mod upload_asset;
mod what_became;
mod withdraw_proposal;
mod write_output;
mod write_tool;

pub use arguments::Arguments;
pub use context::ToolContext;
pub use custom_tools::add_customs;
pub use meant::meant;
pub(crate) use proposal_view::may_see;
pub use registry::{DuplicateTool, IMAGE, OfCustom, Registry, ToolDefinition, is_of_delegation};
pub use session_tools::SessionTools;
pub use tool::{DescribedBy, Tool, ToolKind};
pub use tool_selection::ToolSelection;
pub use toolset::Toolset;
