//! The plain shapes that lists and search answer with.

use async_graphql::SimpleObject;

use crate::demo::clock::Date;
use crate::demo::store::{Listed, PageRow};

/// One page of a list.
#[derive(SimpleObject)]
pub(super) struct PageListItem {
    id: i64,
    path: String,
    locale: String,
    title: Option<String>,
    description: Option<String>,
    content_type: String,
    is_published: bool,
    is_private: bool,
    #[graphql(name = "privateNS")]
    private_ns: Option<String>,
    created_at: Date,
    updated_at: Date,
    tags: Option<Vec<Option<String>>>,
}

impl From<Listed<'_>> for PageListItem {
    fn from(listed: Listed<'_>) -> Self {
        let page = listed.page;
        let tags = listed.tags.iter().map(|tag| Some((*tag).to_owned()));
        Self {
            id: page.id,
            path: page.path.clone(),
            locale: page.locale.clone(),
            title: Some(page.title.clone()),
            description: page.description.clone(),
            content_type: page.content_type().to_owned(),
            is_published: page.is_published,
            is_private: page.is_private,
            private_ns: None,
            created_at: Date::from(&page.created_at),
            updated_at: Date::from(&page.updated_at),
            tags: Some(tags.collect()),
        }
    }
}

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
