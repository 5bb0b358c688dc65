//! The plain shapes that search, history and conflicts answer with.

use async_graphql::SimpleObject;

use crate::demo::clock::Date;
use crate::demo::store::{HistoryEntry, PageRow, VersionRow};

/// The result of a search.
#[derive(SimpleObject)]
pub(super) struct PageSearchResponse {
    pub(super) results: Vec<Option<PageSearchResult>>,
    pub(super) suggestions: Vec<Option<String>>,
    pub(super) total_hits: usize,
}

/// One hit.
#[derive(SimpleObject)]
pub(super) struct PageSearchResult {
    id: String,
    title: String,
    description: String,
    path: String,
    locale: String,
}

impl PageSearchResult {
    /// A hit under an id, which need not be the page's (W9).
    pub(super) fn new(id: i64, page: &PageRow) -> Self {
        Self {
            id: id.to_string(),
            title: page.title.clone(),
            description: page.description.clone().unwrap_or_default(),
            path: page.path.clone(),
            locale: page.locale.clone(),
        }
    }
}

/// One page of a trail.
#[derive(SimpleObject)]
pub(super) struct PageHistoryResult {
    pub(super) trail: Option<Vec<Option<HistoryEntry>>>,
    pub(super) total: usize,
}

/// One version in full.
#[derive(SimpleObject)]
pub(super) struct PageVersion {
    action: String,
    author_id: String,
    author_name: String,
    content: String,
    content_type: String,
    created_at: Date,
    version_date: Date,
    description: String,
    editor: String,
    is_private: bool,
    is_published: bool,
    locale: String,
    page_id: i64,
    path: String,
    publish_end_date: Date,
    publish_start_date: Date,
    tags: Vec<Option<String>>,
    title: String,
    version_id: i64,
}

impl From<VersionRow> for PageVersion {
    fn from(version: VersionRow) -> Self {
        let author_id = version.page.author_id().to_string();
        let content_type = version.page.content_type().to_owned();
        let PageRow {
            id: page_id,
            locale,
            path,
            title,
            description,
            content,
            editor,
            tags,
            is_published,
            is_private,
            publish_start_date,
            publish_end_date,
            // No version has them (W10).
            script_css: _,
            script_js: _,
            author: author_name,
            created_at: _,
            updated_at,
        } = version.page;
        Self {
            action: version.action.to_owned(),
            author_id,
            author_name,
            content_type,
            content,
            created_at: Date(version.saved_at),
            version_date: Date(updated_at),
            description: description.unwrap_or_default(),
            editor,
            is_private,
            is_published,
            locale,
            page_id,
            path,
            publish_end_date: Date(publish_end_date),
            publish_start_date: Date(publish_start_date),
            tags: tags.into_iter().map(Some).collect(),
            title,
            version_id: version.id,
        }
    }
}

/// A page as someone needs it who met a conflict; it needs no right to manage
/// pages, so it is how a key that may only write reads one (W1).
#[derive(SimpleObject)]
pub(super) struct PageConflictLatest {
    id: i64,
    author_id: String,
    author_name: String,
    content: String,
    created_at: Date,
    description: String,
    is_published: bool,
    locale: String,
    path: String,
    tags: Option<Vec<Option<String>>>,
    title: String,
    updated_at: Date,
}

impl From<PageRow> for PageConflictLatest {
    fn from(page: PageRow) -> Self {
        Self {
            id: page.id,
            author_id: page.author_id().to_string(),
            author_name: page.author,
            content: page.content,
            created_at: Date(page.created_at),
            description: page.description.unwrap_or_default(),
            is_published: page.is_published,
            locale: page.locale,
            path: page.path,
            tags: Some(page.tags.into_iter().map(Some).collect()),
            title: page.title,
            updated_at: Date(page.updated_at),
        }
    }
}
