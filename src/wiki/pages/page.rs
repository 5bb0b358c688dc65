//! Reading one page, through the first layer that answers the key (W1, W2).
//!
//! `single` gives everything to a key with manage:pages or delete:pages; `conflictLatest`, the
//! page's editor view and `tree` together give the same to a writer; `GET /d/…` gives the source
//! to a key with read:source; `list` and `tree` give the rest to anybody who may read.

use std::sync::atomic::Ordering;

use super::super::operations::generated::{
    PageConflictLatest, PageSingle, PageSingleByPath, page_conflict_latest, page_single,
    page_single_by_path,
};
use super::super::{TreeNode, Wiki, WikiError, WikiResult};
use super::authors::{author, author_of_text};
use super::front_matter::{self, ListedMetadata};
use super::styles;
use crate::page::{Date, Field, Locale, PagePath, PageReading};
use crate::render_budget;

/// The most reads of the editor view of a changing page.
const MAX_LOOKS: usize = 3;

impl Wiki {
    /// Reads a page by its id.
    ///
    /// # Errors
    /// [`WikiError::NotFound`], or whatever the last layer says.
    pub async fn page_by_id(&self, id: i64) -> WikiResult<PageReading> {
        match self.fullest(id).await {
            Err(error) if error.is_forbidden() => {}
            answered => return answered,
        }
        self.listed(|page| page.id == Some(id)).await
    }

    /// Reads a page with all thirteen fields, through the layers that have them. If the loss of
    /// some was accepted, it reads what an update writes except these, and perhaps without the
    /// styles. Outcomes of writes are read only this way: absence is the wiki's own answer (6003),
    /// and no other field is assumed.
    ///
    /// # Errors
    /// [`WikiError::NotFound`], or [`WikiError::Forbidden`] for a key that cannot read them all.
    pub async fn whole_page(&self, id: i64, lost: &[Field]) -> WikiResult<PageReading> {
        let page = self.fullest(id).await?;
        // Only styles may be such that no view shows them exactly; then this is reported.
        let lost: Vec<Field> = lost.iter().copied().chain([Field::ScriptCss]).collect();
        if page.complete_but_for(&lost).is_some() {
            Ok(page)
        } else {
            Err(WikiError::forbidden("manage:pages or delete:pages"))
        }
    }

    /// Reads a page by the layers of those who may write it, beginning with the one that worked
    /// last. Where `conflictLatest` is refused `single` is too, since its fields need
    /// write:pages (W2).
    async fn fullest(&self, id: i64) -> WikiResult<PageReading> {
        if render_budget::is_counted() {
            // A hidden page answers like a missing one, which waits for no room.
            self.admit_id(id).await?;
        }
        self.admitted_one(self.fullest_of_all(id).await?)
    }

    async fn fullest_of_all(&self, id: i64) -> WikiResult<PageReading> {
        let large = &self.traffic().large;
        let expected = render_budget::expect_answer(large.size_of(id));
        expected.await.map_err(WikiError::NoRoom)?;
        let page = self.fullest_as_it_comes(id).await?;
        large.note(id, page.content.as_ref().map_or(0, String::len));
        Ok(page)
    }

    async fn fullest_as_it_comes(&self, id: i64) -> WikiResult<PageReading> {
        let keyed = self.keyed();
        let is_writer = keyed.is_writer.load(Ordering::Relaxed);
        if !is_writer {
            match self.single(id).await {
                Err(error) if error.is_forbidden() => {}
                answered => return answered,
            }
        }
        let page = self.latest(id, None).await?;
        if is_writer && !page.unreadable().is_empty() {
            // The key may be allowed here what it was refused elsewhere.
            keyed.is_writer.store(false, Ordering::Relaxed);
            match self.single(id).await {
                Err(error) if error.is_forbidden() => {}
                answered => return answered,
            }
        }
        Ok(page)
    }

    pub(in crate::wiki) async fn single(&self, id: i64) -> WikiResult<PageReading> {
        let data = self
            .query::<PageSingle>(page_single::Variables { id })
            .await?;
        whole(data.pages.and_then(|pages| pages.single))
    }

    /// Reads a page by its place.
    ///
    /// # Errors
    /// [`WikiError::NotFound`], or whatever the last layer says.
    pub async fn page_by_path(&self, locale: &Locale, path: &PagePath) -> WikiResult<PageReading> {
        let variables = page_single_by_path::Variables {
            path: path.as_str().to_owned(),
            locale: locale.as_str().to_owned(),
        };
        match self.query::<PageSingleByPath>(variables).await {
            Ok(data) => {
                let page = whole(data.pages.and_then(|pages| pages.single_by_path))?;
                return self.admitted_one(page);
            }
            Err(error) if error.is_forbidden() => {}
            Err(error) => return Err(error),
        }
        if let Some(node) = self.page_node(locale, path).await?
            && let Some(id) = node.page_id
        {
            match self.latest(id, Some(node)).await {
                Err(error) if error.is_forbidden() => {}
                answered => return self.admitted_one(answered?),
            }
        }
        self.listed(|page| page.locale == *locale && page.path == *path)
            .await
    }

    /// Reads a page as a writer can: `conflictLatest`, with what the editor view of that very state
    /// and the page's node add. Without the view the rest stays absent.
    async fn latest(&self, id: i64, node: Option<TreeNode>) -> WikiResult<PageReading> {
        let keyed = self.keyed();
        let mut page = self.conflict_latest(id).await?;
        for _ in 0..MAX_LOOKS {
            let view = match self.editor_view(&page.locale, &page.path).await {
                Ok(view) => view,
                Err(error) => {
                    tracing::warn!(%error, "the editor's view of a page could not be read");
                    return Ok(page);
                }
            };
            if let Some(view) = view.filter(|view| is_same_state(&page, &view.page)) {
                keyed.is_writer.store(!view.opens_single, Ordering::Relaxed);
                let (reader, beside) = self.beside(id, &page).await;
                let script_css = match (&reader, beside.as_ref().map(|it| &it.newest)) {
                    (Ok(reader), Ok(Ok(newest))) => {
                        styles::proven(&page, &view, reader, newest.as_ref())
                    }
                    _ => None,
                };
                let node = node.or(beside.ok().and_then(|beside| beside.node));
                let is_private = self.is_private(&page, node).await;
                return Ok(PageReading {
                    is_private,
                    script_css,
                    keeps_styles: view.keeps_styles,
                    ..page.or(view.page)
                });
            }
            // The page was changed between the two, or the view shows another page.
            let again = self.conflict_latest(id).await?;
            if again == page {
                tracing::warn!("the editor's view of a page is not what it must be");
                return Ok(page);
            }
            page = again;
        }
        Ok(page)
    }

    /// Checks whether a page is private, which a writer learns only from the tree.
    async fn is_private(&self, page: &PageReading, node: Option<TreeNode>) -> Option<bool> {
        let is_its = |node: &TreeNode| node.page_id == page.id;
        if let Some(node) = node.filter(is_its) {
            return Some(node.is_private);
        }
        let node = self.page_node(&page.locale, &page.path).await;
        let node = node.inspect_err(|error| tracing::warn!(%error, "the tree could not be read"));
        Some(node.ok()?.filter(is_its)?.is_private)
    }

    pub(in crate::wiki) async fn conflict_latest(&self, id: i64) -> WikiResult<PageReading> {
        let variables = page_conflict_latest::Variables { id };
        let data = self.query::<PageConflictLatest>(variables).await?;
        let page = data.pages.ok_or(WikiError::NotFound)?.conflict_latest;
        Ok(PageReading {
            description: Some(page.description),
            content: Some(page.content),
            tags: Some(page.tags.into_iter().flatten().flatten().collect()),
            is_published: Some(page.is_published),
            author_name: Some(author_of_text(&page.author_id, page.author_name)),
            created_at: Some(page.created_at),
            updated_at: Some(page.updated_at),
            ..PageReading::bare(
                Some(page.id),
                Locale::as_stored(page.locale),
                PagePath::as_stored(page.path),
                page.title,
            )
        })
    }

    /// Adds to a page of the list what its source says, if the key may read that.
    pub(in crate::wiki) async fn with_source(&self, page: PageReading) -> WikiResult<PageReading> {
        Ok(self.sourced(page).await?.0)
    }

    /// The same, and when the source says that the page was written.
    pub(in crate::wiki) async fn sourced(
        &self,
        mut page: PageReading,
    ) -> WikiResult<(PageReading, Option<Date>)> {
        match self.source(&page.locale, &page.path).await {
            Ok(text) => {
                let known = ListedMetadata {
                    title: &page.title,
                    description: page.description.as_deref().unwrap_or_default(),
                    content_type: page.content_type.as_deref().unwrap_or_default(),
                    tags: page.tags.as_deref().unwrap_or_default(),
                };
                let source = front_matter::split(&text, &known);
                page.content = source.content;
                page.editor = source.editor;
                Ok((page, source.date.map(Date::from)))
            }
            // What is refused, or cannot be addressed (W16), stays absent; the page is not lost for it.
            Err(
                WikiError::Forbidden { .. }
                | WikiError::NotFound
                | WikiError::NotGraphQl { .. }
                | WikiError::Redirected { .. },
            ) => Ok((page, None)),
            Err(error) => Err(error),
        }
    }
}

/// True if two layers show one and the same state of a page, in all that both of them have.
fn is_same_state(latest: &PageReading, view: &PageReading) -> bool {
    let is_same_time = matches!(
        (&latest.updated_at, &view.updated_at),
        (Some(a), Some(b)) if a.same(b)
    );
    is_same_time && latest.id == view.id && latest.agrees_with(view)
}

/// The two queries of a whole page generate one type each, alike to the letter.
macro_rules! reading_of {
    ($($page:path),*) => {$(
        impl From<$page> for PageReading {
            fn from(page: $page) -> Self {
                Self {
                    description: Some(page.description),
                    content: Some(page.content),
                    editor: Some(page.editor),
                    tags: Some(page.tags.into_iter().flatten().map(|tag| tag.tag).collect()),
                    is_published: Some(page.is_published),
                    is_private: Some(page.is_private),
                    publish_start_date: Some(page.publish_start_date),
                    publish_end_date: Some(page.publish_end_date),
                    script_css: Some(page.script_css.unwrap_or_default()),
                    script_js: Some(page.script_js.unwrap_or_default()),
                    author_name: Some(author(page.author_id, page.author_name)),
                    created_at: Some(page.created_at),
                    updated_at: Some(page.updated_at),
                    ..Self::bare(Some(page.id), Locale::as_stored(page.locale), PagePath::as_stored(page.path), page.title)
                }
            }
        }
    )*};
}

reading_of!(
    page_single::PageSinglePagesSingle,
    page_single_by_path::PageSingleByPathPagesSingleByPath
);

fn whole(page: Option<impl Into<PageReading>>) -> WikiResult<PageReading> {
    page.map(Into::into).ok_or(WikiError::NotFound)
}
