//! The content of many pages, at one request a page (W1).

use super::client::Wiki;
use super::error::WikiError;
use crate::page::{PageReading, plain_text};

/// A way to the content of a page, as wide as the rights of some kind of key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentLayer {
    /// `single`: manage:pages or delete:pages.
    Single,
    /// `GET /d/…`: read:source.
    Source,
    /// `conflictLatest`: write:pages.
    Latest,
    /// What readers see, as plain text: read:pages.
    View,
}

impl ContentLayer {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Single, Self::Source, Self::Latest, Self::View];
}

impl Wiki {
    /// A page of the list with its content, by one layer alone; nothing where that layer does not
    /// give it to this key.
    ///
    /// # Errors
    /// [`WikiError::NotFound`] where the page is gone.
    pub async fn content(
        &self,
        layer: ContentLayer,
        listed: &PageReading,
    ) -> Result<Option<PageReading>, WikiError> {
        let id = listed.id.unwrap_or_default();
        let page = match layer {
            ContentLayer::Single => self.single(id).await,
            ContentLayer::Source => self.with_source(listed.clone()).await,
            ContentLayer::Latest => self.conflict_latest(id).await,
            ContentLayer::View => {
                let html = self.reader_view(listed).await;
                html.map(|html| PageReading {
                    content: Some(plain_text(&html)),
                    content_type: Some("text".to_owned()),
                    ..listed.clone()
                })
            }
        };
        match page {
            Ok(page) if page.content.is_none() => Ok(None),
            Ok(page) => Ok(Some(PageReading {
                content: page.content,
                content_type: match layer {
                    ContentLayer::View => page.content_type,
                    _ => listed.content_type.clone(),
                },
                ..listed.clone()
            })),
            Err(WikiError::Forbidden { .. } | WikiError::TurnedAway { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
