//! The content of many pages, at one request a page (W1).

use super::client::Wiki;
use super::error::WikiError;
use crate::page::PageReading;

/// A way to the content of a page, as wide as the rights of some kind of key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentLayer {
    /// `single`: manage:pages or delete:pages.
    Single,
    /// `GET /d/…`: read:source.
    Source,
    /// `conflictLatest`: write:pages.
    Latest,
}

impl ContentLayer {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Single, Self::Source, Self::Latest];
}

impl Wiki {
    /// The content of a page of the list, by one layer alone; nothing where that layer does not
    /// give it to this key.
    ///
    /// # Errors
    /// [`WikiError::NotFound`] where the page is gone.
    pub async fn content(
        &self,
        layer: ContentLayer,
        listed: &PageReading,
    ) -> Result<Option<String>, WikiError> {
        let id = listed.id.unwrap_or_default();
        let page = match layer {
            ContentLayer::Single => self.single(id).await,
            ContentLayer::Source => self.with_source(listed.clone()).await,
            ContentLayer::Latest => self.conflict_latest(id).await,
        };
        match page {
            Ok(page) => Ok(page.content),
            Err(WikiError::Forbidden { .. } | WikiError::TurnedAway { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
