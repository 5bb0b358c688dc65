//! Adds the last authors to a list of pages, since the wiki's list has none.

use super::super::operations::generated::{
    PageAuthor, PageLatestAuthor, page_author, page_latest_author,
};
use crate::page::PageReading;
use crate::wiki::{Wiki, WikiError};

/// The right needed to see a page's author (W2).
pub const RIGHT_TO_AUTHOR: &str = "write:pages";

/// The account that the wiki names as the author of whatever an API key writes (W4, W45).
const ACCOUNT_OF_KEYS: i64 = 1;

/// The author of a state as answers name them: the name of account 1 may be that of any API key.
pub(in crate::wiki) fn author(id: i64, name: String) -> String {
    if id == ACCOUNT_OF_KEYS {
        format!("{name} (account 1: that person, or any API key)")
    } else {
        name
    }
}

/// The same for an id that the wiki gives as a text.
pub(in crate::wiki) fn author_of_text(id: &str, name: String) -> String {
    author(id.parse().unwrap_or_default(), name)
}

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
            .map(|answer| answer.ok()?.pages?.single)
            .map(|page| page.map(|page| author(page.author_id, page.author_name)));
        fill(pages, &ids, authors);

        let ids = unknown(pages);
        let asked = ids
            .iter()
            .map(|id| page_latest_author::Variables { id: *id });
        let answers = self.batch::<PageLatestAuthor>(asked.collect()).await?;
        let authors = answers
            .into_iter()
            .map(|answer| Some(answer.ok()?.pages?.conflict_latest))
            .map(|page| page.map(|page| author_of_text(&page.author_id, page.author_name)));
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

#[cfg(test)]
mod tests {
    use super::{author, author_of_text};

    #[test]
    fn the_account_of_all_keys_is_named_as_such_and_no_other() {
        let shared = "Ann (account 1: that person, or any API key)";
        assert_eq!(author(1, "Ann".to_owned()), shared);
        assert_eq!(author_of_text("1", "Ann".to_owned()), shared);
        assert_eq!(author(12, "Ann".to_owned()), "Ann");
        assert_eq!(author_of_text("x", "Ann".to_owned()), "Ann");
    }
}
