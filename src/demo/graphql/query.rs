//! `pages` of a query.

use async_graphql::{Context, Enum, Object, Result};

use super::errors::{nullable, require, shared};
use super::objects::{
    PageConflictLatest, PageHistoryResult, PageSearchResponse, PageSearchResult, PageVersion,
};
use super::page::{ADMINISTRATOR_ID, Page, SeenPage};
use crate::demo::clock;
use crate::demo::store::{
    Direction, ListQuery, Listed, OrderBy, PageLinks, PageRow, TagRow, TreeNode, TreeQuery,
};
use crate::demo::{Date, Fault, WikiError};

/// The default number of entries of a page of history.
const HISTORY_PAGE: usize = 100;

/// The nodes of the tree that are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum PageTreeMode {
    Folders,
    Pages,
    All,
}

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
        let access = nullable(ctx, require(ctx, &["read:history"]))?;
        let page = offset_page.map_or(0, natural);
        let size = offset_size.map_or(HISTORY_PAGE, natural);
        let found = shared(ctx).store().history(id.into(), page, size, access);
        let (trail, total) = nullable(ctx, found)?;
        let trail = Some(trail.into_iter().map(Some).collect());
        Some(PageHistoryResult { trail, total })
    }

    async fn version(
        &self,
        ctx: &Context<'_>,
        page_id: i32,
        version_id: i32,
    ) -> Option<PageVersion> {
        let access = nullable(ctx, require(ctx, &["read:history"]))?;
        let store = shared(ctx).store();
        let found = store.version(page_id.into(), version_id.into(), access);
        nullable(ctx, found)?.map(PageVersion::from)
    }

    async fn search(
        &self,
        ctx: &Context<'_>,
        query: String,
        path: Option<String>,
        locale: Option<String>,
    ) -> Result<PageSearchResponse> {
        let access = require(ctx, &["read:pages"])?;
        let row_ids = shared(ctx).testing.has_row_ids();
        let store = shared(ctx).store();
        let pages = store.search(&query, path.as_deref(), locale.as_deref(), access);
        let hit = |page: &PageRow| {
            let id = if row_ids {
                store.index_row(page.id)
            } else {
                page.id
            };
            Some(PageSearchResult::from((id, page)))
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
        order_by: Option<OrderBy>,
        order_by_direction: Option<Direction>,
        tags: Option<Vec<String>>,
        locale: Option<String>,
        creator_id: Option<i32>,
        author_id: Option<i32>,
    ) -> Result<Vec<Listed>> {
        let access = require(ctx, &["read:pages"])?;
        let another = |id: Option<i32>| id.is_some_and(|id| id != ADMINISTRATOR_ID);
        let query = ListQuery {
            limit: limit.map_or(0, natural),
            order_by: order_by.unwrap_or(OrderBy::Id),
            direction: order_by_direction.unwrap_or(Direction::Asc),
            tags: tags.unwrap_or_default(),
            locale: locale.filter(|locale| !locale.is_empty()),
            by_another: another(creator_id) || another(author_id),
        };
        Ok(shared(ctx).store().list(&query, access))
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

    async fn tags(&self, ctx: &Context<'_>) -> Result<Vec<Option<TagRow>>> {
        let access = require(ctx, &["read:pages"])?;
        let tags = shared(ctx).store().tags_in_use(access);
        Ok(tags.into_iter().map(Some).collect())
    }

    async fn tree(
        &self,
        ctx: &Context<'_>,
        path: Option<String>,
        parent: Option<i32>,
        mode: PageTreeMode,
        locale: String,
        include_ancestors: Option<bool>,
    ) -> Option<Vec<Option<TreeNode>>> {
        let access = nullable(ctx, require(ctx, &["read:pages"]))?;
        if mode == PageTreeMode::Pages {
            // The real server's query is faulty there (W8).
            let fault = Fault::Internal {
                slug: "TypeError",
                message: "builder.andWhereNotNull is not a function".to_owned(),
            };
            return nullable(ctx, Err(fault));
        }
        let query = TreeQuery {
            locale,
            path,
            parent: parent.map(i64::from),
            folders_only: mode == PageTreeMode::Folders,
            with_ancestors: include_ancestors.unwrap_or_default(),
        };
        let nodes = shared(ctx).store().tree(&query, access);
        Some(nodes.into_iter().map(Some).collect())
    }

    async fn links(&self, ctx: &Context<'_>, locale: String) -> Option<Vec<Option<PageLinks>>> {
        let access = nullable(ctx, require(ctx, &["read:pages"]))?;
        let pages = shared(ctx).store().links(&locale, access);
        Some(pages.into_iter().map(Some).collect())
    }

    async fn check_conflicts(
        &self,
        ctx: &Context<'_>,
        id: i32,
        checkout_date: Date,
    ) -> Result<bool> {
        let page = latest(ctx, id, WikiError::PageUpdateForbidden)?;
        Ok(clock::later(&page.updated_at, &checkout_date.0))
    }

    async fn conflict_latest(&self, ctx: &Context<'_>, id: i32) -> Result<PageConflictLatest> {
        let page = latest(ctx, id, WikiError::PageViewForbidden)?;
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
    let store = &*shared(ctx).store();
    let row = store.pages().find(|page| is_it(page));
    let row = row.ok_or(WikiError::PageNotFound)?;
    if !access.may(&["manage:pages", "delete:pages"], &row.path) {
        return Err(WikiError::PageViewForbidden.into());
    }
    Ok(Page::from(SeenPage { store, row, access }))
}

/// A page for those who may write it.
fn latest(ctx: &Context<'_>, id: i32, refusal: WikiError) -> Result<PageRow, Fault> {
    const WRITERS: &[&str] = &["write:pages", "manage:pages"];
    let access = require(ctx, WRITERS)?;
    let store = shared(ctx).store();
    let page = store.page(id.into()).ok_or(WikiError::PageNotFound)?;
    if !access.may(WRITERS, &page.path) {
        return Err(refusal.into());
    }
    Ok(page.clone())
}
