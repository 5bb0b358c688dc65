//! `wikijs_get_page_history`: who changed a page when.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::tool::{Kind, Tool};
use crate::error::Failure;

/// The tool.
pub(super) struct GetPageHistory;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[garde(range(min = 1, max = 2_147_483_647))]
    id: i64,
    /// Newest entries to skip.
    #[garde(range(max = 1_000_000))]
    offset: Option<u32>,
    /// Default 20.
    #[garde(range(min = 1, max = 100))]
    limit: Option<u32>,
}

/// Its answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    entries: Vec<Entry>,
    total: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Entry {
    version_id: i64,
    version_date: String,
    author_name: String,
    /// initial, edit or move
    action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_to: Option<String>,
}

impl Tool for GetPageHistory {
    const NAME: &'static str = "wikijs_get_page_history";
    const TITLE: &'static str = "Get page history";
    const DESCRIPTION: &'static str = "See who changed a page and when, newest first; an entry is a version that a later change left behind. The page as it is: wikijs_get_page_by_id.";
    const KIND: Kind = Kind::Read;
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output, Failure> {
        let number = |given: Option<u32>, default| {
            given
                .and_then(|n| usize::try_from(n).ok())
                .unwrap_or(default)
        };
        let (offset, limit) = (number(input.offset, 0), number(input.limit, 20));
        let history = context.wiki.history(input.id, offset, limit).await?;
        let entries = history
            .entries
            .into_iter()
            .map(|entry| Entry {
                version_id: entry.version_id,
                version_date: entry.version_date.into(),
                author_name: entry.author_name,
                action: entry.action,
                moved_from: entry.moved_from,
                moved_to: entry.moved_to,
            })
            .collect();
        Ok(Output {
            entries,
            total: i64::try_from(history.total).unwrap_or(i64::MAX),
        })
    }
}
