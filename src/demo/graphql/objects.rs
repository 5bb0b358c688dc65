//! The plain shapes that search, history and conflicts answer with.

use async_graphql::SimpleObject;

use crate::demo::store::{HistoryEntry, PageRow, VersionRow};
use crate::demo::{Date, shape};

/// The result of a search.
#[derive(SimpleObject)]
pub(super) struct PageSearchResponse {
    pub(super) results: Vec<Option<PageSearchResult>>,
    pub(super) suggestions: Vec<Option<String>>,
    pub(super) total_hits: usize,
}

shape! {
    /// One hit, under an id that need not be the page's (W9).
    PageSearchResult of hit: (i64, &PageRow) {
        id: String = hit.0.to_string();
        title: String = hit.1.title.clone();
        description: String = hit.1.description.clone().unwrap_or_default();
        path: String = hit.1.path.clone();
        locale: String = hit.1.locale.clone();
    }
}

/// One page of a trail.
#[derive(SimpleObject)]
pub(super) struct PageHistoryResult {
    pub(super) trail: Option<Vec<Option<HistoryEntry>>>,
    pub(super) total: usize,
}

shape! {
    /// One version in full, without styles and scripts (W10).
    PageVersion of version: VersionRow {
        action: String = version.action.to_owned();
        author_id: String = version.page.author_id().to_string();
        author_name: String = version.page.author.clone();
        content: String = version.page.content.clone();
        content_type: String = version.page.content_type().to_owned();
        created_at: Date = Date(version.saved_at);
        version_date: Date = Date(version.page.updated_at);
        description: String = version.page.description.unwrap_or_default();
        editor: String = version.page.editor;
        is_private: bool = version.page.is_private;
        is_published: bool = version.page.is_published;
        locale: String = version.page.locale;
        page_id: i64 = version.page.id;
        path: String = version.page.path;
        publish_end_date: Date = Date(version.page.publish_end_date);
        publish_start_date: Date = Date(version.page.publish_start_date);
        tags: Vec<Option<String>> = version.page.tags.into_iter().map(Some).collect();
        title: String = version.page.title;
        version_id: i64 = version.id;
    }
}

shape! {
    /// A page as someone needs it who met a conflict; it needs no right to manage
    /// pages, so it is how a key that may only write reads one (W1).
    PageConflictLatest of page: PageRow {
        id: i64 = page.id;
        author_id: String = page.author_id().to_string();
        author_name: String = page.author;
        content: String = page.content;
        created_at: Date = Date(page.created_at);
        description: String = page.description.unwrap_or_default();
        is_published: bool = page.is_published;
        locale: String = page.locale;
        path: String = page.path;
        tags: Option<Vec<Option<String>>> = Some(page.tags.into_iter().map(Some).collect());
        title: String = page.title;
        updated_at: Date = Date(page.updated_at);
    }
}
