//! `pages.list`: joined page-tag rows, sorted, limited, and grouped (W7); and `pages.search` of the
//! default engine (W9).

use std::cmp::Ordering;

use async_graphql::Enum;

use super::{PageRow, Store};
use crate::demo::{Access, Date, shape};

/// The column to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "PageOrderBy")]
pub(in crate::demo) enum OrderBy {
    Created,
    Id,
    Path,
    Title,
    Updated,
}

/// The direction to sort in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "PageOrderByDirection")]
pub(in crate::demo) enum Direction {
    Asc,
    Desc,
}

/// The filters and order of a list.
#[derive(Debug)]
pub(in crate::demo) struct ListQuery {
    pub(in crate::demo) limit: usize,
    pub(in crate::demo) order_by: OrderBy,
    pub(in crate::demo) direction: Direction,
    pub(in crate::demo) tags: Vec<String>,
    pub(in crate::demo) locale: Option<String>,
    pub(in crate::demo) by_another: bool,
}

shape! {
    /// One page of the answer, with those of its tags that were left in the rows.
    #[derive(Debug)]
    #[graphql(name = "PageListItem")]
    Listed of page: &PageRow {
        id: i64 = page.id;
        path: String = page.path.clone();
        locale: String = page.locale.clone();
        title: Option<String> = Some(page.title.clone());
        description: Option<String> = page.description.clone();
        content_type: &'static str = page.content_type();
        is_published: bool = page.is_published;
        is_private: bool = page.is_private;
        #[graphql(name = "privateNS")]
        private_ns: Option<String> = None;
        created_at: Date = Date::from(&page.created_at);
        updated_at: Date = Date::from(&page.updated_at);
        tags: Option<Vec<Option<String>>> = Some(Vec::new());
    }
}

/// The most hits that the engine looks for.
const MOST: usize = 100;

type Row<'a> = (&'a PageRow, Option<&'a str>);

impl Store {
    /// The pages that match, as far as the limit of rows reaches.
    pub(in crate::demo) fn list(&self, query: &ListQuery, access: &Access) -> Vec<Listed> {
        let mut rows = self.rows(query);
        rows.sort_by(|a, b| {
            let order = by_column(query.order_by, a.0, b.0);
            let order = match query.direction {
                Direction::Asc => order,
                Direction::Desc => order.reverse(),
            };
            // The database leaves the order of equal rows open.
            order.then(a.0.id.cmp(&b.0.id))
        });
        if query.limit > 0 {
            rows.truncate(query.limit);
        }
        let mut listed = group(rows);
        listed.retain(|item| {
            let has = |tag| item.tags.iter().flatten().flatten().any(|own| own == tag);
            access.may(&["read:pages"], &item.path) && query.tags.iter().all(has)
        });
        listed
    }

    /// Published pages whose title, description or path holds `text`, however
    /// it is written; `path` is a prefix.
    pub(in crate::demo) fn search(
        &self,
        text: &str,
        path: Option<&str>,
        locale: Option<&str>,
        access: &Access,
    ) -> Vec<&PageRow> {
        let text = text.to_lowercase();
        let holds = |field: &str| field.to_lowercase().contains(&text);
        let (path, locale) = (path.unwrap_or_default(), locale.unwrap_or_default());
        self.pages()
            .filter(|page| page.is_published)
            .filter(|page| {
                holds(&page.title)
                    || holds(page.description.as_deref().unwrap_or_default())
                    || holds(&page.path)
            })
            .filter(|page| page.path.starts_with(path))
            .filter(|page| locale.is_empty() || page.locale == locale)
            .take(MOST)
            .filter(|page| access.may(&["read:pages"], &page.path))
            .collect()
    }

    /// The row of a page in a search index that numbers its rows by itself:
    /// the id of the next page, so that it is never an id of nothing.
    pub(in crate::demo) fn index_row(&self, id: i64) -> i64 {
        let mut later = self.pages.range(id.saturating_add(1)..);
        let next = later.next().or_else(|| self.pages.iter().next());
        next.map_or(id, |(next, _)| *next)
    }

    /// Pages joined with tags as the database meets them: tag by tag in the
    /// order of their making, within one the newest page first, and the pages
    /// without tags at the end.
    fn rows(&self, query: &ListQuery) -> Vec<Row<'_>> {
        let wanted = |page: &&PageRow| {
            !query.by_another && query.locale.as_ref().is_none_or(|l| *l == page.locale)
        };
        let pages: Vec<&PageRow> = self.pages.values().rev().filter(wanted).collect();
        let mut rows = Vec::new();
        for tag in self.tags.iter().map(|row| row.tag.as_str()) {
            if query.tags.is_empty() || query.tags.iter().any(|wanted| wanted == tag) {
                let tagged = pages.iter().filter(|p| p.tags.iter().any(|t| t == tag));
                rows.extend(tagged.map(|page| (*page, Some(tag))));
            }
        }
        if query.tags.is_empty() {
            let untagged = pages.iter().filter(|page| page.tags.is_empty());
            rows.extend(untagged.map(|page| (*page, None)));
        }
        rows
    }
}

fn by_column(column: OrderBy, a: &PageRow, b: &PageRow) -> Ordering {
    match column {
        OrderBy::Created => a.created_at.cmp(&b.created_at),
        OrderBy::Id => a.id.cmp(&b.id),
        OrderBy::Path => a.path.cmp(&b.path),
        OrderBy::Title => a.title.cmp(&b.title),
        OrderBy::Updated => a.updated_at.cmp(&b.updated_at),
    }
}

/// One item a page, in the order in which the pages turn up first.
fn group(rows: Vec<Row<'_>>) -> Vec<Listed> {
    let mut places = std::collections::HashMap::new();
    let mut listed: Vec<Listed> = Vec::new();
    for (page, tag) in rows {
        let place = *places.entry(page.id).or_insert(listed.len());
        if place == listed.len() {
            listed.push(page.into());
        }
        let tags = listed.get_mut(place).and_then(|item| item.tags.as_mut());
        if let (Some(tags), Some(tag)) = (tags, tag) {
            tags.push(Some(tag.to_owned()));
        }
    }
    listed
}
