//! `wikijs_get_page_tree`: the folders and pages below a path.

use super::prelude::*;
use crate::page::escape_hidden;
use crate::wiki::{PageTreeMode, WikiError};

/// The tool.
pub(super) struct GetPageTree;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Default ALL.
    #[garde(skip)]
    mode: Option<PageTreeMode>,
    /// Default: the root.
    #[garde(custom(rule::optional(rule::text)))]
    path: Option<String>,
    #[garde(custom(rule::optional(rule::locale)))]
    locale: Option<String>,
    /// Levels; default 1.
    #[garde(range(min = 1, max = 5))]
    depth: Option<u32>,
}

/// Its answer: a flat list, parents before children.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    nodes: Vec<Node>,
    /// Number of further nodes: ask for a deeper path.
    not_shown: Option<i64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    path: String,
    title: String,
    #[serde(skip_serializing_if = "is_default")]
    is_folder: bool,
    /// Only where there is a page.
    id: Option<i64>,
}

impl Tool for GetPageTree {
    const NAME: &'static str = "wikijs_get_page_tree";
    const DESCRIPTION: &'static str = "See which folders and pages lie below a path, as a flat list (browse, children). By tags or in order: wikijs_list_pages.";
    const ANSWER: &'static str = "Absent: isFolder false; id where no page is.";
    const KIND: ToolKind = ToolKind::Read;
    const MOST_BYTES: usize = TEXT_BYTES;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        let (locale, path) = input::place(
            &context.wiki,
            input.path.as_deref(),
            input.locale.as_deref(),
        )?;
        let locale = locale.unwrap_or_else(|| context.locale());
        let (mode, depth) = (input.mode.unwrap_or_default(), input.depth.unwrap_or(1));
        let tree = context.wiki.tree(&locale, path.as_ref(), mode, depth);
        let walk = match tree.await {
            Ok(walk) if !walk.nodes.is_empty() => walk,
            walk @ (Ok(_) | Err(WikiError::NotFound)) => {
                input::known_locale(&context.wiki, Some(&locale)).await?;
                walk?
            }
            Err(error) => return Err(error.into()),
        };
        let nodes = walk
            .nodes
            .into_iter()
            .map(|node| Node {
                path: node.path.as_str().to_owned(),
                title: escape_hidden(&node.title),
                is_folder: node.is_folder,
                id: node.page_id,
            })
            .collect();
        Ok(Output {
            nodes,
            not_shown: some_count(walk.not_shown),
        })
    }
}
