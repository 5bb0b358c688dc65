//! `wikijs_list_pages`: pages in an order, part by part.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::context::Context;
use super::input::{self, rule};
use super::output::Page;
use super::tool::{Kind, Tool};
use crate::error::Failure;
use crate::page::{Locale, PagePath};
use crate::wiki::{ListQuery, PageOrderBy, PageOrderByDirection, Position};

/// The tool.
pub(super) struct ListPages;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    #[garde(custom(rule::optional(rule::locale)))]
    locale: Option<String>,
    /// Default 50.
    #[garde(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// Only pages with all of these; the answer then leaves tags out.
    #[garde(
        custom(rule::optional(rule::tags)),
        inner(inner(custom(rule::required(rule::tag))))
    )]
    tags: Option<Vec<String>>,
    /// Only at or below this path.
    #[garde(custom(rule::optional(rule::text)))]
    path: Option<String>,
    /// Default ID.
    #[garde(skip)]
    order_by: Option<PageOrderBy>,
    /// Default ASC.
    #[garde(skip)]
    direction: Option<PageOrderByDirection>,
    /// nextCursor of the same list's part before.
    #[garde(skip)]
    cursor: Option<String>,
}

/// Its answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    pages: Vec<Page>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Tool for ListPages {
    const NAME: &'static str = "wikijs_list_pages";
    const TITLE: &'static str = "List pages";
    const DESCRIPTION: &'static str = "List pages without content, in an order, by tags or below a path. Recent changes: orderBy UPDATED, direction DESC. To find pages by words use wikijs_search_pages.";
    const KIND: Kind = Kind::Read;
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output, Failure> {
        let mut query = ListQuery {
            locale: input.locale.map(Locale::as_stored),
            tags: input::tags(input.tags.unwrap_or_default())?,
            path: input
                .path
                .as_deref()
                .map(PagePath::of)
                .filter(|path| !path.as_str().is_empty()),
            order_by: input.order_by.unwrap_or_default(),
            direction: input.direction.unwrap_or_default(),
            after: None,
        };
        let mark = mark(&query);
        if let Some(cursor) = &input.cursor {
            let after = open(cursor, &mark).ok_or_else(|| {
                input::invalid_argument(
                    "cursor",
                    "is not the nextCursor of a list with these arguments",
                )
            })?;
            query.after = Some(after);
        }
        let limit = usize::try_from(input.limit.unwrap_or(50)).unwrap_or(50);
        let part = context.wiki.list(&query, limit).await?;
        Ok(Output {
            next_cursor: part.next.map(|next| seal(next, &mark)),
            pages: part
                .pages
                .into_iter()
                .map(|page| Page::of(&context.wiki, page))
                .collect(),
        })
    }
}

/// What ties a cursor to the list that it was given for.
fn mark(query: &ListQuery) -> String {
    let digest = Sha256::digest(format!("{query:?}"));
    URL_SAFE_NO_PAD.encode(digest.get(..6).unwrap_or_default())
}

fn seal(position: Position, mark: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{mark}.{}.{}", position.index, position.id))
}

fn open(cursor: &str, mark: &str) -> Option<Position> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let mut parts = text.split('.');
    if parts.next()? != mark {
        return None;
    }
    let (index, id) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    // No wiki is that large; a larger number was made up.
    (parts.next().is_none() && index <= 10_000_000).then_some(Position { id, index })
}
