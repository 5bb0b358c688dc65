//! Reading one page, through the first layer that answers the key (W1, W2).
//!
//! `single` gives everything to a key with manage:pages or delete:pages; `conflictLatest`
//! gives a writer the text; `GET /d/…` gives the source to a key with read:source; `list` and
//! `tree` give the rest to anybody who may read.

use super::client::Wiki;
use super::error::WikiError;
use super::front_matter::{self, Known};
use super::operations::{
    PageConflictLatest, PageSingle, PageSingleByPath, page_conflict_latest, page_single,
    page_single_by_path,
};
use crate::page::{Locale, PagePath, PageReading};

impl Wiki {
    /// Reads a page by its id.
    ///
    /// # Errors
    /// [`WikiError::NotFound`], or whatever the last layer says.
    pub async fn page_by_id(&self, id: i64) -> Result<PageReading, WikiError> {
        match self.whole_page(id).await {
            Err(error) if error.is_forbidden() => {}
            answered => return answered,
        }
        match self.conflict_latest(id).await {
            Err(error) if error.is_forbidden() => {}
            answered => return answered,
        }
        let listed = self.listed(|page| page.id == Some(id)).await?;
        self.with_source(listed).await
    }

    /// Reads a page with all thirteen fields, through the one layer that has them. What came of
    /// a write is read this way alone: an absence is the wiki's own word (6003), and no field
    /// is taken on trust.
    ///
    /// # Errors
    /// [`WikiError::NotFound`], or [`WikiError::Forbidden`] for a key that has to use the others.
    pub async fn whole_page(&self, id: i64) -> Result<PageReading, WikiError> {
        let data = self
            .query::<PageSingle>(page_single::Variables { id })
            .await?;
        whole(data.pages.and_then(|pages| pages.single))
    }

    /// Reads a page by its place.
    ///
    /// # Errors
    /// [`WikiError::NotFound`], or whatever the last layer says.
    pub async fn page_by_path(
        &self,
        locale: &Locale,
        path: &PagePath,
    ) -> Result<PageReading, WikiError> {
        let variables = page_single_by_path::Variables {
            path: path.as_str().to_owned(),
            locale: locale.as_str().to_owned(),
        };
        match self.query::<PageSingleByPath>(variables).await {
            Ok(data) => return whole(data.pages.and_then(|pages| pages.single_by_path)),
            Err(error) if error.is_forbidden() => {}
            Err(error) => return Err(error),
        }
        if let Some(id) = self.page_id(locale, path).await? {
            match self.conflict_latest(id).await {
                Err(error) if error.is_forbidden() => {}
                answered => return answered,
            }
        }
        let listed = self
            .listed(|page| page.locale == *locale && page.path == *path)
            .await?;
        self.with_source(listed).await
    }

    async fn conflict_latest(&self, id: i64) -> Result<PageReading, WikiError> {
        let variables = page_conflict_latest::Variables { id };
        let data = self.query::<PageConflictLatest>(variables).await?;
        let page = data.pages.ok_or(WikiError::NotFound)?.conflict_latest;
        let mut reading = PageReading::bare(
            Some(page.id),
            Locale::as_stored(page.locale),
            PagePath::as_stored(page.path),
            page.title,
        );
        reading.description = Some(page.description);
        reading.content = Some(page.content);
        reading.tags = Some(
            page.tags
                .unwrap_or_default()
                .into_iter()
                .flatten()
                .collect(),
        );
        reading.is_published = Some(page.is_published);
        reading.author_name = Some(page.author_name);
        reading.created_at = Some(page.created_at);
        reading.updated_at = Some(page.updated_at);
        Ok(reading)
    }

    /// Adds to a page of the list what its source says, if the key may read that.
    async fn with_source(&self, mut page: PageReading) -> Result<PageReading, WikiError> {
        match self.source(&page.locale, &page.path).await {
            Ok(text) => {
                let known = Known {
                    title: &page.title,
                    description: page.description.as_deref().unwrap_or_default(),
                    content_type: page.content_type.as_deref().unwrap_or_default(),
                    tags: page.tags.as_deref().unwrap_or_default(),
                };
                let source = front_matter::split(&text, &known);
                page.content = source.content;
                page.editor = source.editor;
                Ok(page)
            }
            // What is refused, or cannot be addressed (W16), stays absent; the page is not lost for it.
            Err(
                WikiError::Forbidden { .. }
                | WikiError::NotFound
                | WikiError::NotGraphQl { .. }
                | WikiError::Redirected { .. },
            ) => Ok(page),
            Err(error) => Err(error),
        }
    }
}

/// The two queries of a whole page generate one type each, alike to the letter.
macro_rules! reading_of {
    ($($page:path),*) => {$(
        impl From<$page> for PageReading {
            fn from(page: $page) -> Self {
                Self {
                    id: Some(page.id),
                    locale: Locale::as_stored(page.locale),
                    path: PagePath::as_stored(page.path),
                    title: page.title,
                    description: Some(page.description),
                    content: Some(page.content),
                    content_type: None,
                    editor: Some(page.editor),
                    tags: Some(page.tags.into_iter().flatten().map(|tag| tag.tag).collect()),
                    is_published: Some(page.is_published),
                    is_private: Some(page.is_private),
                    publish_start_date: Some(page.publish_start_date),
                    publish_end_date: Some(page.publish_end_date),
                    script_css: Some(page.script_css.unwrap_or_default()),
                    script_js: Some(page.script_js.unwrap_or_default()),
                    author_name: Some(page.author_name),
                    created_at: Some(page.created_at),
                    updated_at: Some(page.updated_at),
                }
            }
        }
    )*};
}

reading_of!(
    page_single::PageSinglePagesSingle,
    page_single_by_path::PageSingleByPathPagesSingleByPath
);

fn whole(page: Option<impl Into<PageReading>>) -> Result<PageReading, WikiError> {
    page.map(Into::into).ok_or(WikiError::NotFound)
}
