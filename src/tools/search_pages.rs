//! `wikijs_search_pages`: what the wiki's own search engine finds.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::input::rule;
use super::tool::{Kind, Tool};
use crate::error::Failure;
use crate::page::{Locale, PagePath};

/// The tool.
pub(super) struct SearchPages;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[garde(length(chars, min = 1, max = 500))]
    query: String,
    /// E.g. "en".
    #[garde(custom(rule::optional(rule::locale)))]
    locale: Option<String>,
    /// Only at or below this path.
    #[garde(custom(rule::optional(rule::text)))]
    path: Option<String>,
    /// Default 20.
    #[garde(range(min = 1, max = 100))]
    limit: Option<u32>,
}

/// Its answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    hits: Vec<Hit>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Hit {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    locale: String,
    path: String,
    title: String,
    description: String,
    url: String,
}

impl Tool for SearchPages {
    const NAME: &'static str = "wikijs_search_pages";
    const TITLE: &'static str = "Search pages";
    const DESCRIPTION: &'static str = "Find pages by words. The default engine looks at title, description and path of published pages, not at content. For what lies below a path use wikijs_get_page_tree.";
    const KIND: Kind = Kind::Read;
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output, Failure> {
        let locale = input.locale.map(Locale::as_stored);
        let path = input.path.as_deref().map(PagePath::of);
        let limit = usize::try_from(input.limit.unwrap_or(20)).unwrap_or(20);
        let wiki = &context.wiki;
        let hits = wiki
            .search(&input.query, locale.as_ref(), path.as_ref(), limit)
            .await?;
        let hits = hits
            .into_iter()
            .map(|hit| Hit {
                url: wiki.page_url(&hit.locale, &hit.path),
                id: hit.id,
                locale: hit.locale.as_str().to_owned(),
                path: hit.path.as_str().to_owned(),
                title: hit.title,
                description: hit.description,
            })
            .collect();
        Ok(Output { hits })
    }
}
