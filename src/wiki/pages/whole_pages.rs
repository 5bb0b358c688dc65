//! Many pages with all that the wiki keeps of them.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::super::operations::generated::page_single;
use crate::page::PageReading;
use crate::wiki::{Wiki, WikiError, WikiResult};

/// Number of pages requested at once (W26).
const AT_ONCE: usize = 40;
/// Number of requests under way.
const REQUESTS: usize = 3;

impl Wiki {
    /// Pages by their ids, in any order, each as far as the key can read it; those that are gone are left out.
    /// `came` is told after each request how many pages it gave.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn whole_pages(
        &self,
        ids: &[i64],
        came: impl Fn(usize),
    ) -> WikiResult<Vec<PageReading>> {
        let came = &came;
        let parts: Vec<Vec<PageReading>> = stream::iter(ids.chunks(AT_ONCE))
            .map(|ids| async move {
                let pages = match self.some_whole(ids).await {
                    Err(WikiError::AnswerTooLarge { .. }) => {
                        let mut pages = Vec::with_capacity(ids.len());
                        for id in ids {
                            pages.extend(self.some_whole(std::slice::from_ref(id)).await?);
                        }
                        pages
                    }
                    pages => pages?,
                };
                came(ids.len());
                Ok::<_, WikiError>(pages)
            })
            .buffer_unordered(REQUESTS)
            .try_collect()
            .await?;
        Ok(parts.into_iter().flatten().collect())
    }

    /// The same in one request, but for pages that no request for many gives; at most 50.
    ///
    /// # Errors
    /// [`WikiError::AnswerTooLarge`] if all of them together are; see [`WikiError`].
    pub(crate) async fn some_whole(&self, ids: &[i64]) -> WikiResult<Vec<PageReading>> {
        let together = self
            .many::<page_single::PageSinglePagesSingle>(page_single::QUERY, ids)
            .await;
        // What no request for many gives, one for each may: by another layer, or within the bound
        // of an answer.
        let answers = match together {
            Ok(answers) => answers.each,
            Err(error @ WikiError::AnswerTooLarge { .. }) if ids.len() > 1 => return Err(error),
            Err(error) => vec![Err(error); ids.len()],
        };
        let mut pages = Vec::with_capacity(ids.len());
        for (id, answer) in ids.iter().zip(answers) {
            let page = match answer {
                Ok(page) => self.admitted_one(page.into()),
                Err(_) => self.page_by_id(*id).await,
            };
            match page {
                Ok(page) => pages.push(page),
                Err(WikiError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(pages)
    }
}
