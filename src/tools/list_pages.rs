//! `wikijs_list_pages`: pages in an order, part by part.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::context::Context;
use super::cursor;
use super::input::{self, rule};
use super::output::{Page, some_count};
use super::tool::{Kind, Tool};
use crate::error::{Code, Failure};
use crate::wiki::{ListQuery, PageOrderBy, PageOrderByDirection};

/// The tool.
pub(super) struct ListPages;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// "*": all.
    #[garde(custom(rule::optional(rule::locales)))]
    locale: Option<String>,
    /// Default 50.
    #[garde(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// Only pages with all of these; the answer then leaves tags out.
    #[garde(inner(inner(custom(rule::required(rule::tag)))))]
    tags: Option<Vec<String>>,
    /// Only at or below this path.
    #[garde(custom(rule::optional(rule::text)))]
    path: Option<String>,
    #[garde(custom(rule::optional(rule::time)))]
    updated_since: Option<String>,
    /// authorId, as in a history.
    #[garde(range(min = 1, max = 2_147_483_647))]
    author: Option<i64>,
    #[garde(skip)]
    is_published: Option<bool>,
    /// Backlinks of this id.
    #[garde(range(min = 1, max = 2_147_483_647))]
    links_to: Option<i64>,
    /// Only these, and id.
    #[garde(skip)]
    fields: Option<Vec<Member>>,
    /// Default ID; with updatedSince UPDATED, DESC.
    #[garde(skip)]
    order_by: Option<PageOrderBy>,
    /// Default ASC.
    #[garde(skip)]
    direction: Option<PageOrderByDirection>,
    /// nextCursor of the same list's part before.
    #[garde(skip)]
    cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum Member {
    Locale,
    Path,
    Title,
    Url,
    Description,
    Tags,
    IsPublished,
    IsPrivate,
    CreatedAt,
    UpdatedAt,
}

/// Its answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    pages: Vec<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// So many more pages there are in other locales than the configured one.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_locales: Option<i64>,
}

impl Tool for ListPages {
    const NAME: &'static str = "wikijs_list_pages";
    const TITLE: &'static str = "List pages";
    const DESCRIPTION: &'static str = "List pages without content: in an order, by tags, path, time or links. Recent changes: orderBy UPDATED, direction DESC.";
    const KIND: Kind = Kind::Read;
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output, Failure> {
        let updated_since = input.updated_since.as_deref();
        let since = input::date("updatedSince", updated_since)?.and_then(|date| date.instant());
        // What changed since a time is wanted with the newest first.
        let (order_by, direction) = match since {
            Some(_) => (PageOrderBy::Updated, PageOrderByDirection::Desc),
            None => Default::default(),
        };
        let is_ordered = input.order_by.is_some();
        let (locales, path) = input::places(
            &context.wiki,
            input.path.as_deref(),
            input.locale.as_deref(),
        )?;
        let mut query = ListQuery {
            locale: locales.one,
            tags: input::known_tags(&context.wiki, input.tags).await?,
            path,
            author: input.author,
            is_published: input.is_published,
            updated_since: since,
            links_to: input.links_to,
            order_by: input.order_by.unwrap_or(order_by),
            direction: match input.direction {
                Some(direction) => direction,
                None if is_ordered => PageOrderByDirection::default(),
                None => direction,
            },
            after: None,
        };
        if let Some(cursor) = &input.cursor {
            let after = cursor::open(&query, cursor).ok_or_else(|| {
                input::invalid_argument(
                    "cursor",
                    "is not the nextCursor of a list with these arguments",
                )
            })?;
            query.after = Some(after);
        }
        let limit = usize::try_from(input.limit.unwrap_or(50)).unwrap_or(50);
        let part = context.wiki.list(&query, limit).await?;
        let elsewhere = if locales.is_fallback && query.after.is_none() {
            context.wiki.count_elsewhere(&query).await?
        } else {
            0
        };
        let fields = input.fields.as_deref();
        let page = |page| members(&Page::of(&context.wiki, page), fields);
        Ok(Output {
            next_cursor: part.next.map(|next| cursor::seal(&query, next)),
            pages: part.pages.into_iter().map(page).collect::<Result<_, _>>()?,
            other_locales: some_count(elsewhere),
        })
    }
}

/// A page with these members alone, and its id.
fn members(page: &Page, fields: Option<&[Member]>) -> Result<Map<String, Value>, Failure> {
    let fault = |_| Failure::new(Code::InternalError, "The answer could not be written.");
    let Value::Object(mut members) = serde_json::to_value(page).map_err(fault)? else {
        return Ok(Map::new());
    };
    if let Some(fields) = fields {
        let names = serde_json::to_value(fields).map_err(fault)?;
        let names = names.as_array().map(Vec::as_slice).unwrap_or_default();
        members.retain(|name, _| name == "id" || names.iter().any(|field| field == name));
    }
    Ok(members)
}
