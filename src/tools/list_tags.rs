//! `wikijs_list_tags`: the tags that pages have.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::tool::{Kind, Tool};
use crate::error::Failure;

/// The tool.
pub(super) struct ListTags;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Only tags that contain this.
    #[garde(length(chars, max = 255))]
    query: Option<String>,
}

/// Its answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    tags: Vec<Tag>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Tag {
    tag: String,
    /// Only where it is not the tag itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
}

impl Tool for ListTags {
    const NAME: &'static str = "wikijs_list_tags";
    const TITLE: &'static str = "List tags";
    const DESCRIPTION: &'static str =
        "See which tags pages have. For the pages of a tag use wikijs_list_pages.";
    const KIND: Kind = Kind::Read;
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output, Failure> {
        let query = input.query.unwrap_or_default().trim().to_lowercase();
        let tags = context
            .wiki
            .tags()
            .await?
            .into_iter()
            .filter(|tag| tag.tag.contains(&query))
            .map(|tag| Tag {
                title: tag.title.filter(|title| *title != tag.tag),
                tag: tag.tag,
            })
            .collect();
        Ok(Output { tags })
    }
}
