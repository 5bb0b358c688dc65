//! Adds the last authors to a list of pages, since the wiki's list has none.

use super::client::Wiki;
use super::error::WikiError;
use super::operations::{PageAuthor, PageLatestAuthor, page_author, page_latest_author};
use crate::page::PageReading;

/// The right needed to see a page's author (W2).
pub const RIGHT_TO_AUTHOR: &str = "write:pages";

impl Wiki {
    /// Adds the last author to each page, in one request, or two for a key without `single`. A
    /// refused author stays absent.
    ///
    /// # Errors
    /// See [`WikiError`]; that of one page leaves its author absent.
    pub async fn add_authors(&self, pages: &mut [PageReading]) -> Result<(), WikiError> {
        let ids = unknown(pages);
        let asked = ids.iter().map(|id| page_author::Variables { id: *id });
        let answers = self.batch::<PageAuthor>(asked.collect()).await?;
        let authors = answers
            .into_iter()
            .map(|answer| Some(answer.ok()?.pages?.single?.author_name));
        fill(pages, &ids, authors);

        let ids = unknown(pages);
        let asked = ids
            .iter()
            .map(|id| page_latest_author::Variables { id: *id });
        let answers = self.batch::<PageLatestAuthor>(asked.collect()).await?;
        let authors = answers
            .into_iter()
            .map(|answer| Some(answer.ok()?.pages?.conflict_latest.author_name));
        fill(pages, &ids, authors);
        Ok(())
    }
}

fn unknown(pages: &[PageReading]) -> Vec<i64> {
    let unknown = pages.iter().filter(|page| page.author_name.is_none());
    unknown.filter_map(|page| page.id).collect()
}

fn fill(pages: &mut [PageReading], ids: &[i64], authors: impl Iterator<Item = Option<String>>) {
    for (id, author) in ids.iter().zip(authors) {
        let page = pages.iter_mut().find(|page| page.id == Some(*id));
        if let Some(page) = page {
            page.author_name = author;
        }
    }
}
