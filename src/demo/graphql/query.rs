//! `pages` of a query.

use async_graphql::{Context, Object, Result};

use super::errors::{error, nullable, require, shared};
use super::lists::{
    PageLinkItem, PageListItem, PageSearchResponse, PageSearchResult, PageTreeItem,
};
use super::page::{Page, PageTag};
use super::scalars::{Date, PageOrderBy, PageOrderByDirection, PageTreeMode};
use super::versions::{PageConflictLatest, PageHistoryResult, PageVersion};
use crate::demo::clock;
use crate::demo::fault::{Fault, WikiError};
use crate::demo::store::{Direction, ListQuery, OrderBy, PageRow, TreeQuery};

/// The default number of entries of a page of history.
const HISTORY_PAGE: usize = 100;

/// Everything about pages that can be read.
pub(super) struct PageQuery;

#[Object]
impl PageQuery {
    async fn history(
        &self,
        ctx: &Context<'_>,
        id: i32,
        offset_page: Option<i32>,
        offset_size: Option<i32>,
    ) -> Option<PageHistoryResult> {
        let size = offset_size.map_or(HISTORY_PAGE, natural);
        let found = require(ctx, &["read:history"]).and_then(|access| {
            let page = offset_page.map_or(0, natural);
            shared(ctx).store().history(id.into(), page, size, access)
        });
        nullable(ctx, found).map(|(trail, total)| PageHistoryResult {
            trail: Some(trail.into_iter().map(|entry| Some(entry.into())).collect()),
            total,
        })
    }

    async fn version(
        &self,
        ctx: &Context<'_>,
        page_id: i32,
        version_id: i32,
    ) -> Option<PageVersion> {
        let found = require(ctx, &["read:history"]).and_then(|access| {
            let store = shared(ctx).store();
            store.version(page_id.into(), version_id.into(), access)
        });
        nullable(ctx, found).flatten().map(PageVersion::from)
    }

    async fn search(
        &self,
        ctx: &Context<'_>,
        query: String,
        path: Option<String>,
        locale: Option<String>,
    ) -> Result<PageSearchResponse> {
        let access = require(ctx, &["read:pages"]).map_err(|fault| error(&fault))?;
        let row_ids = shared(ctx).testing.has_row_ids();
        let store = shared(ctx).store();
        let pages = store.search(&query, path.as_deref(), locale.as_deref(), access);
        let hit = |page: &PageRow| {
            let id = if row_ids {
                store.index_row(page.id)
            } else {
                page.id
            };
            Some(PageSearchResult::new(id, page))
        };
        let results: Vec<_> = pages.into_iter().map(hit).collect();
        Ok(PageSearchResponse {
            total_hits: results.len(),
            results,
            suggestions: Vec::new(),
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the schema's arguments")]
    async fn list(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        order_by: Option<PageOrderBy>,
        order_by_direction: Option<PageOrderByDirection>,
        tags: Option<Vec<String>>,
        locale: Option<String>,
        creator_id: Option<i32>,
        author_id: Option<i32>,
    ) -> Result<Vec<PageListItem>> {
        let access = require(ctx, &["read:pages"]).map_err(|fault| error(&fault))?;
        let another = |id: Option<i32>| id.is_some_and(|id| id != super::page::ADMINISTRATOR_ID);
        let query = ListQuery {
            limit: limit.map_or(0, natural),
            order_by: order_by.map_or(OrderBy::Id, OrderBy::from),
            direction: order_by_direction.map_or(Direction::Asc, Direction::from),
            tags: tags.unwrap_or_default(),
            locale: locale.filter(|locale| !locale.is_empty()),
            by_another: another(creator_id) || another(author_id),
        };
        let store = shared(ctx).store();
        let listed = store.list(&query, access);
        Ok(listed.into_iter().map(PageListItem::from).collect())
    }

    async fn single(&self, ctx: &Context<'_>, id: i32) -> Option<Page> {
        let id = i64::from(id);
        nullable(ctx, whole_page(ctx, |page| page.id == id))
    }

    async fn single_by_path(
        &self,
        ctx: &Context<'_>,
        path: String,
        locale: String,
    ) -> Option<Page> {
        let page = whole_page(ctx, |page| page.path == path && page.locale == locale);
        nullable(ctx, page)
    }

    async fn tags(&self, ctx: &Context<'_>) -> Result<Vec<Option<PageTag>>> {
        let access = require(ctx, &["read:pages"]).map_err(|fault| error(&fault))?;
        let tags = shared(ctx).store().tags_in_use(access);
        Ok(tags.into_iter().map(|row| Some(row.into())).collect())
    }

    async fn search_tags(&self, ctx: &Context<'_>, query: String) -> Result<Vec<Option<String>>> {
        let access = require(ctx, &["read:pages"]).map_err(|fault| error(&fault))?;
        let tags = shared(ctx).store().tags_in_use(access);
        let found = tags.into_iter().map(|row| row.tag);
        Ok(found
            .filter(|tag| tag.contains(query.trim()))
            .map(Some)
            .collect())
    }

    async fn tree(
        &self,
        ctx: &Context<'_>,
        path: Option<String>,
        parent: Option<i32>,
        mode: PageTreeMode,
        locale: String,
        include_ancestors: Option<bool>,
    ) -> Option<Vec<Option<PageTreeItem>>> {
        let found = require(ctx, &["read:pages"]).and_then(|access| {
            let folders_only = match mode {
                PageTreeMode::All => false,
                PageTreeMode::Folders => true,
                // The real server's query is faulty there (W8).
                PageTreeMode::Pages => {
                    return Err(Fault::Internal {
                        slug: "TypeError",
                        message: "builder.andWhereNotNull is not a function".to_owned(),
                    });
                }
            };
            let query = TreeQuery {
                locale,
                path,
                parent: parent.map(i64::from),
                folders_only,
                with_ancestors: include_ancestors.unwrap_or_default(),
            };
            Ok(shared(ctx).store().tree(&query, access))
        });
        nullable(ctx, found).map(|nodes| nodes.into_iter().map(|n| Some(n.into())).collect())
    }

    async fn links(&self, ctx: &Context<'_>, locale: String) -> Option<Vec<Option<PageLinkItem>>> {
        let found =
            require(ctx, &["read:pages"]).map(|access| shared(ctx).store().links(&locale, access));
        nullable(ctx, found).map(|pages| pages.into_iter().map(|p| Some(p.into())).collect())
    }

    async fn check_conflicts(
        &self,
        ctx: &Context<'_>,
        id: i32,
        checkout_date: Date,
    ) -> Result<bool> {
        let page = latest(ctx, id, WikiError::UpdateForbidden).map_err(|fault| error(&fault))?;
        Ok(clock::later(&page.updated_at, &checkout_date.0))
    }

    async fn conflict_latest(&self, ctx: &Context<'_>, id: i32) -> Result<PageConflictLatest> {
        let page = latest(ctx, id, WikiError::ViewForbidden).map_err(|fault| error(&fault))?;
        Ok(page.into())
    }
}

/// A count that a client sent; negative counts as zero.
fn natural(number: i32) -> usize {
    usize::try_from(number).unwrap_or_default()
}

/// A page for those who may manage or delete it (W1).
fn whole_page(ctx: &Context<'_>, is_it: impl Fn(&PageRow) -> bool) -> Result<Page, Fault> {
    let access = require(ctx, &["read:pages"])?;
    let store = shared(ctx).store();
    let page = store.pages().find(|page| is_it(page));
    let page = page.ok_or(WikiError::NotFound)?;
    if !access.may(&["manage:pages", "delete:pages"], &page.path) {
        return Err(WikiError::ViewForbidden.into());
    }
    Ok(Page::read(&store, page, access))
}

/// A page for those who may write it.
fn latest(ctx: &Context<'_>, id: i32, refusal: WikiError) -> Result<PageRow, Fault> {
    const WRITERS: &[&str] = &["write:pages", "manage:pages"];
    let access = require(ctx, WRITERS)?;
    let store = shared(ctx).store();
    let page = store.page(id.into()).ok_or(WikiError::NotFound)?;
    if !access.may(WRITERS, &page.path) {
        return Err(refusal.into());
    }
    Ok(page.clone())
}
