//! `wikijs_list_pages`: lists pages in a given order, in parts.

mod choice;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

pub(super) use choice::Choice;

use super::cursor;
use super::no_page::nowhere;
use super::output::{AUTHOR, PageSummary, written};
use super::page_argument;
use super::prelude::*;
use super::search_pages::Indexed;
use crate::page::{PageReading, escape_hidden};
use crate::wiki::{ListQuery, PageOrderBy, PageOrderByDirection, RIGHT_TO_AUTHOR, Wiki};

/// The tool.
pub(super) struct ListPages;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// "*": all.
    #[garde(custom(rule::optional(rule::locales)))]
    locale: Option<String>,
    /// Default 20.
    #[garde(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// With all of these (proj/*, op*: any that begins so).
    #[garde(inner(inner(custom(rule::required(rule::tag)))))]
    tags: Option<Vec<String>>,
    /// With none of these.
    #[garde(inner(inner(custom(rule::required(rule::tag)))))]
    without_tags: Option<Vec<String>>,
    /// At or below this path.
    #[garde(custom(rule::optional(rule::text)))]
    path: Option<String>,
    #[garde(custom(rule::optional(rule::time)))]
    updated_since: Option<String>,
    /// authorId of a history.
    #[garde(range(min = 1, max = 2_147_483_647))]
    last_author_id: Option<i64>,
    #[garde(skip)]
    is_published: Option<bool>,
    /// Backlinks: path or id.
    #[garde(custom(rule::optional(rule::text)))]
    links_to: Option<String>,
    /// ORPHANS: no page links to them; BROKEN: links, #headings, images that lead nowhere, each named.
    #[garde(skip)]
    links: Option<LinkFilter>,
    /// status=review: of the leading YAML block.
    #[garde(length(chars, min = 1, max = 500))]
    property: Option<String>,
    /// Only these, and id.
    #[garde(skip)]
    fields: Option<Vec<PageListField>>,
    /// Default ID; with updatedSince UPDATED, DESC.
    #[garde(skip)]
    order_by: Option<PageOrderBy>,
    /// Default ASC.
    #[garde(skip)]
    direction: Option<PageOrderByDirection>,
    /// The answer's nextCursor.
    #[garde(skip)]
    cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum LinkFilter {
    Orphans,
    Broken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum PageListField {
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
    LastAuthor,
}

/// Members of a page that are shown if none are named.
const USUAL: &[PageListField] = &[
    PageListField::Locale,
    PageListField::Path,
    PageListField::Title,
    PageListField::Description,
    PageListField::Tags,
    PageListField::IsPublished,
    PageListField::IsPrivate,
    PageListField::CreatedAt,
    PageListField::UpdatedAt,
];
/// The reason why a list by tags has no tags (W7).
const NO_TAGS: &str = "not listed beside the argument tags; wikijs_get_page_by_id tells them";

/// Its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// Coverage of the content index, if it was used.
    index: Option<Indexed>,
    pages: Vec<Map<String, Value>>,
    /// Requested members that were not read, with the reason: for all pages or for those without.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unavailable: BTreeMap<&'static str, &'static str>,
    next_cursor: Option<String>,
    /// The reason for an empty list, if no page is at the path.
    hint: Option<&'static str>,
    /// Number of further pages in locales other than the configured one.
    other_locales: Option<i64>,
}

impl Tool for ListPages {
    const NAME: &'static str = "wikijs_list_pages";
    const DESCRIPTION: &'static str = "List pages without content, by tags, path, last author or links (backlinks: linksTo). Recent changes: orderBy UPDATED, direction DESC, or updatedSince.";
    const ANSWER: &'static str =
        "Absent in a page: published, not private, empty. Not read: in unavailable.";
    const KIND: ToolKind = ToolKind::Read;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        let updated_since = input.updated_since.as_deref();
        let since = input::date("updatedSince", updated_since)?.and_then(|date| date.instant());
        // Changes since a time are listed newest first.
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
        let tags = input::tag_filters(&context.wiki, input.tags, input.without_tags).await?;
        let mut choice = Choice::load(&context, input.links, input.property.as_deref()).await?;
        let links_to = page_argument::links_to(&context, input.links_to.as_deref()).await?;
        let mut query = ListQuery {
            locale: locales.one,
            chosen: choice.chosen.take(),
            path,
            author: input.last_author_id,
            is_published: input.is_published,
            updated_since: since,
            links_to,
            order_by: input.order_by.unwrap_or(order_by),
            direction: match input.direction {
                Some(direction) => direction,
                None if is_ordered => PageOrderByDirection::default(),
                None => direction,
            },
            ..tags
        };
        if let Some(cursor) = &input.cursor {
            let after = cursor::open(&context.wiki.settings().base_url, &query, cursor)
                .ok_or_else(|| {
                    input::invalid_argument(
                        "cursor",
                        "is not the nextCursor of a list with these arguments",
                    )
                })?;
            query.after = Some(after);
        }
        let limit = input::count(input.limit, 20);
        let part = context.wiki.list(&query, limit).await?;
        let elsewhere = if locales.is_fallback && query.after.is_none() {
            context.wiki.count_elsewhere(&query).await?
        } else {
            0
        };
        if part.pages.is_empty() && query.after.is_none() {
            input::known_locale(&context.wiki, query.locale.as_ref()).await?;
        }
        let is_bare = part.pages.is_empty() && query.after.is_none();
        let hint = match &query.path {
            Some(path) if is_bare => nowhere(&context.wiki, query.locale.as_ref(), path).await?,
            _ => None,
        };
        let fields = input.fields.as_deref().unwrap_or(USUAL);
        let mut unavailable = BTreeMap::new();
        if fields.contains(&PageListField::Tags)
            && part.pages.iter().any(|page| page.tags.is_none())
        {
            unavailable.insert("tags", NO_TAGS);
        }
        let mut pages = part.pages;
        if fields.contains(&PageListField::LastAuthor) {
            context.wiki.add_authors(&mut pages).await?;
            if pages.iter().any(|page| page.author_name.is_none()) {
                unavailable.insert(AUTHOR, RIGHT_TO_AUTHOR);
            }
        }
        let shown = pages.len();
        let names = written(fields)?;
        let names = names.as_array().map(Vec::as_slice).unwrap_or_default();
        let page = |page: PageReading| {
            let id = page.id.unwrap_or_default();
            let mut members = members(&context.wiki, page, names)?;
            choice.add_broken(&mut members, id, shown)?;
            Ok(members)
        };
        let pages = pages.into_iter().map(page);
        Ok(Output {
            next_cursor: { part.next }
                .map(|next| cursor::seal(&context.wiki.settings().base_url, &query, next)),
            pages: pages.collect::<Result<_>>()?,
            index: choice.indexed,
            unavailable,
            hint,
            other_locales: some_count(elsewhere),
        })
    }
}

/// A page reduced to these members and its id.
fn members(wiki: &Wiki, mut page: PageReading, names: &[Value]) -> Result<Map<String, Value>> {
    let author = page.author_name.take();
    let Value::Object(mut members) = written(PageSummary::new(wiki, page))? else {
        return Ok(Map::new());
    };
    let author = author.map(|author| (AUTHOR.to_owned(), escape_hidden(&author).into()));
    members.extend(author);
    members.retain(|name, _| name == "id" || names.iter().any(|field| field == name));
    Ok(members)
}
