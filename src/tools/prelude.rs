//! The names that the files of tools have in common.

pub(super) use garde::Validate;
pub(super) use schemars::JsonSchema;
pub(super) use serde::{Deserialize, Serialize};

pub(super) use super::context::ToolContext;
pub(super) use super::input::{self, invalid_argument, refuse, rule};
pub(super) use super::output::{count, is_default, some_count};
pub(super) use super::tool::{
    DescribedBy, Explained, NAMED_BY_ID, NAMED_BY_PAGE, TAKES_NO_TITLE, TEXT_BYTES,
    TITLE_GOES_INTO_PAGE, Tool, ToolKind,
};
pub(super) use super::write_tool::{RequestedWrite, WriteTool};
pub(super) use crate::error::{Code, Failure, Result};
