//! `wikijs_remember`: keeps something for later sessions of this client.

use super::page_argument::{PAGE, by_name_or_id};
use super::prelude::*;
use crate::memory::MemoryType;
use crate::write::ToRemember;

/// The tool.
pub(super) struct Remember;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Up to 2000 characters, no secrets.
    #[garde(custom(rule::required(rule::memory)))]
    content: String,
    /// Default fact.
    #[serde(rename = "type")]
    #[garde(skip)]
    kind: Option<MemoryType>,
    /// Default 5.
    #[garde(range(min = 1, max = 10))]
    importance: Option<u8>,
    /// Path or id of the page it is about.
    #[garde(custom(rule::optional(rule::text)))]
    page: Option<String>,
    /// Changes this one.
    #[garde(custom(rule::optional(rule::memory_id)))]
    id: Option<String>,
    /// The id it takes the place of.
    #[garde(custom(rule::optional(rule::memory_id)))]
    supersedes: Option<String>,
}

/// Its answer.
#[derive(Debug, Serialize)]
pub(super) struct Output {
    id: String,
    state: &'static str,
}

impl Tool for Remember {
    const NAME: &'static str = "wikijs_remember";
    const DESCRIPTION: &'static str = "Keep what belongs to your work in this wiki and into no page, for later sessions. What people should know belongs into a page.";
    const ANSWER: &'static str = "state: remembered, changed or unchanged.";
    const KIND: ToolKind = ToolKind::Change;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        if input.id.is_some() && input.supersedes.is_some() {
            return refuse("supersedes", "cannot be combined with id");
        }
        let what = ToRemember {
            content: input.content,
            kind: input.kind,
            importance: input.importance,
            page: by_name_or_id(&context, PAGE, input.page.as_deref()).await?,
            id: input::memory_id("id", input.id.as_deref())?,
            supersedes: input::memory_id("supersedes", input.supersedes.as_deref())?,
        };
        let done = context.desk.remember(&context.caller, what).await?;
        Ok(Output {
            id: done.id.to_string(),
            state: done.state,
        })
    }
}
