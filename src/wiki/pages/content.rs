//! The content of many pages (W1), with many per request if the layer allows it (W26).

use serde::de::DeserializeOwned;

use super::super::operations::generated::{
    PageContent, PageLatestContent, page_content, page_latest_content,
};
use super::super::transport::batch;
use crate::page::{PageReading, plain_text};
use crate::wiki::{Wiki, WikiError, WikiResult};

/// A way to the content of a page, as wide as the rights of some kind of key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContentLayer {
    /// `single`: manage:pages or delete:pages.
    Single,
    /// `conflictLatest`: write:pages.
    Latest,
    /// `GET /d/…`: read:source.
    Source,
    /// The readers' view, as plain text: read:pages.
    View,
}

impl ContentLayer {
    /// All of them: those that read many pages a request before those that read one, the readers' view last.
    pub const ALL: [Self; 4] = [Self::Single, Self::Latest, Self::Source, Self::View];

    /// The most pages that one request reads.
    pub const fn most_at_once(self) -> usize {
        match self {
            Self::Single | Self::Latest => batch::MOST,
            Self::Source | Self::View => 1,
        }
    }
}

/// Content of some pages, from one request.
#[derive(Debug)]
pub struct Contents {
    /// For each page, in order: the listed page with its content; `None` if the layer does not give
    /// it to this key; [`WikiError::NotFound`] if the page is gone.
    pub each: Vec<WikiResult<Option<PageReading>>>,
    /// Number of bytes that arrived, if one request was for all of them.
    pub bytes: usize,
}

/// An operation that reads the text of one page, and can read that of many in one request.
trait ReadsText {
    /// Its answer for a page.
    type Page: DeserializeOwned;
    const OPERATION: &str;

    fn text(page: Self::Page) -> String;
}

impl ReadsText for PageContent {
    type Page = page_content::PageContentPagesSingle;
    const OPERATION: &str = page_content::QUERY;

    fn text(page: Self::Page) -> String {
        page.content
    }
}

impl ReadsText for PageLatestContent {
    type Page = page_latest_content::PageLatestContentPagesConflictLatest;
    const OPERATION: &str = page_latest_content::QUERY;

    fn text(page: Self::Page) -> String {
        page.content
    }
}

impl Wiki {
    /// Pages of the list with their content, by one layer alone, in one request; as many as the
    /// layer takes at once.
    ///
    /// # Errors
    /// What holds for all of these pages. Of `conflictLatest` also what holds for one of them: the
    /// schema lets none be absent, so one refused or missing page costs the others.
    pub async fn contents(
        &self,
        layer: ContentLayer,
        listed: &[PageReading],
    ) -> WikiResult<Contents> {
        match (layer, listed) {
            (ContentLayer::Single, _) => self.texts::<PageContent>(listed).await,
            (ContentLayer::Latest, _) => self.texts::<PageLatestContent>(listed).await,
            (ContentLayer::Source | ContentLayer::View, [page]) => Ok(Contents {
                each: vec![Ok(self.viewed(layer, page).await?)],
                bytes: 0,
            }),
            (ContentLayer::Source | ContentLayer::View, _) => Err(WikiError::RequestTooLarge),
        }
    }

    async fn texts<Q: ReadsText>(&self, listed: &[PageReading]) -> WikiResult<Contents> {
        let ids: Vec<i64> = listed.iter().filter_map(|page| page.id).collect();
        let answers = self.many::<Q::Page>(Q::OPERATION, &ids).await?;
        let each = listed.iter().zip(answers.each).map(|(page, answer)| {
            let page = answer.map(|read| PageReading {
                content: Some(Q::text(read)),
                ..page.clone()
            });
            readable(page)
        });
        Ok(Contents {
            each: each.collect(),
            bytes: answers.bytes,
        })
    }

    /// A page of the list with its content, by a layer that reads one page a request.
    async fn viewed(
        &self,
        layer: ContentLayer,
        listed: &PageReading,
    ) -> WikiResult<Option<PageReading>> {
        if layer == ContentLayer::Source {
            let content = self.with_source(listed.clone()).await?.content;
            return Ok(content.map(|content| PageReading {
                content: Some(content),
                ..listed.clone()
            }));
        }
        readable(self.reader_view(listed).await.map(|html| PageReading {
            content: Some(plain_text(&html)),
            content_type: Some("text".to_owned()),
            ..listed.clone()
        }))
    }
}

/// A refusal is no error: another layer may give the page.
fn readable(page: WikiResult<PageReading>) -> WikiResult<Option<PageReading>> {
    match page {
        Ok(page) => Ok(Some(page)),
        Err(WikiError::Forbidden { .. } | WikiError::TurnedAway { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
