//! `wikijs_list_tags`: the tags that pages have, and how many pages have each.

use std::cmp::Reverse;

use super::prelude::*;
use crate::page::bare_tag;
use crate::wiki::parent_tag;

/// The most tags that one answer holds.
const MAX_TAGS: usize = 500;

/// The tool.
pub(super) struct ListTags;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Only tags that contain this.
    #[garde(length(chars, max = 255))]
    query: Option<String>,
    /// Default TAG.
    #[garde(skip)]
    order_by: Option<TagOrder>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum TagOrder {
    Tag,
    Pages,
}

/// Its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    tags: Vec<TagInUse>,
    not_shown: Option<i64>,
}

#[derive(Debug, Serialize)]
struct TagInUse {
    tag: String,
    /// Only if it differs from the tag.
    title: Option<String>,
    /// Number of pages with it that the key may see.
    pages: i64,
    /// Number of pages with it or a tag below it, if that differs from `pages`.
    branch: Option<i64>,
    /// The tag above it, whether or not any page has that tag.
    parent: Option<String>,
}

impl Tool for ListTags {
    const NAME: &'static str = "wikijs_list_tags";
    const DESCRIPTION: &'static str = "See which tags pages have, and how many pages have each (branch: it or a tag below it). Their pages: wikijs_list_pages.";
    const ANSWER: &'static str = "Absent: a title that is the tag, a branch that is pages.";
    const KIND: ToolKind = ToolKind::Read;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        let query = input.query.unwrap_or_default().trim().to_lowercase();
        let mut tags: Vec<TagInUse> = context
            .wiki
            .tags()
            .await?
            .into_iter()
            .map(|tag| TagInUse {
                pages: tag.pages,
                branch: (tag.branch != tag.pages).then_some(tag.branch),
                parent: parent_tag(&tag.tag).map(str::to_owned),
                title: tag.title.filter(|title| *title != tag.tag),
                tag: tag.tag,
            })
            .collect();
        let has = |query: &str| tags.iter().any(|tag| tag.tag.contains(query));
        let query = if has(&query) {
            &query
        } else {
            bare_tag(&query)
        };
        tags.retain(|tag| tag.tag.contains(query));
        tags.sort_by(|a, b| a.tag.cmp(&b.tag));
        if input.order_by == Some(TagOrder::Pages) {
            tags.sort_by_key(|tag| Reverse(tag.pages));
        }
        let not_shown = some_count(tags.len().saturating_sub(MAX_TAGS));
        tags.truncate(MAX_TAGS);
        Ok(Output { tags, not_shown })
    }
}
