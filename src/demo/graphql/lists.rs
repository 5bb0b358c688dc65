//! The plain shapes that lists, the tree, search and links answer with.

use async_graphql::SimpleObject;

use super::scalars::Date;
use crate::demo::store::{Listed, PageLinks, PageRow, TreeNode};

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

/// One node of the tree.
#[derive(SimpleObject)]
pub(super) struct PageTreeItem {
    id: i64,
    path: String,
    depth: i32,
    title: String,
    is_private: bool,
    is_folder: bool,
    #[graphql(name = "privateNS")]
    private_ns: Option<String>,
    parent: Option<i64>,
    page_id: Option<i64>,
    locale: String,
}

impl From<TreeNode> for PageTreeItem {
    fn from(node: TreeNode) -> Self {
        Self {
            id: node.id,
            path: node.path,
            depth: node.depth,
            title: node.title,
            is_private: node.is_private,
            is_folder: node.is_folder,
            private_ns: None,
            parent: node.parent,
            page_id: node.page_id,
            locale: node.locale,
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

/// The links of one page.
#[derive(SimpleObject)]
pub(super) struct PageLinkItem {
    id: i64,
    path: String,
    title: String,
    links: Vec<Option<String>>,
}

impl From<PageLinks> for PageLinkItem {
    fn from(page: PageLinks) -> Self {
        Self {
            id: page.id,
            path: page.path,
            title: page.title,
            links: page.links.into_iter().map(Some).collect(),
        }
    }
}
