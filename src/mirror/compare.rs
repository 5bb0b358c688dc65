//! Compares what a mirror knows with the wiki's list: pure.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::known::KnownPages;
use super::pages::{PageKey, key_of, sorted};
use crate::hex;
use crate::page::{Date, PageReading, ReadScope};

/// The differences between a mirror and the list.
#[derive(Debug, Default)]
pub(super) struct ListDifference {
    /// The pages to be read: new ones, changed ones and those that are there again.
    pub(super) changed: Vec<Arc<PageReading>>,
    /// The pages that the list lacks, but should have if they are there.
    pub(super) missing: Vec<PageKey>,
    /// The pages whose id the wiki has given to another page.
    pub(super) replaced: Vec<PageKey>,
    /// True if a page is older than it was seen: a backup of the wiki may have been restored.
    pub(super) went_back: bool,
}

/// Compares; `scope` says which pages the list can have.
pub(super) fn compare(
    known: &KnownPages,
    list: &[Arc<PageReading>],
    scope: &ReadScope,
) -> ListDifference {
    let mut there: HashMap<i64, PageKey> = HashMap::with_capacity(list.len());
    let mut difference = ListDifference::default();
    for page in list {
        let Some(key) = key_of(page) else { continue };
        let seen = known
            .get(&key)
            .and_then(|known| known.last()?.updated.instant());
        let listed = page.updated_at.as_ref().and_then(Date::instant);
        difference.went_back |= seen.zip(listed).is_some_and(|(seen, listed)| seen > listed);
        let is_as_known = known.get(&key).is_some_and(|known| {
            known.gone.is_none() && known.hidden.is_none() && known.mark == mark(page)
        });
        if !is_as_known {
            difference.changed.push(Arc::clone(page));
        }
        there.insert(key.0, key);
    }
    for page in known.iter().filter(|page| page.gone.is_none()) {
        let key = page.key();
        match there.get(&page.id) {
            Some(listed) if *listed == key => {}
            Some(_) => difference.replaced.push(key),
            // A page that may not be read is in no list.
            None if page.place.is_admitted_by(scope) => difference.missing.push(key),
            None => {}
        }
    }
    difference
}

/// A digest of the list's entry for a page: it changes when the page does.
pub(super) fn mark(page: &PageReading) -> String {
    let told = format!(
        "{:?}",
        (
            (&page.locale, &page.path, &page.title, &page.description),
            (
                page.tags.clone().map(sorted),
                page.is_published,
                page.is_private,
                &page.updated_at
            ),
        )
    );
    let digest = Sha256::digest(told);
    hex::encode(digest.first_chunk::<12>().map_or(&[][..], |part| part))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{compare, mark};
    use crate::mirror::MirroredPage;
    use crate::mirror::known::KnownPages;
    use crate::page::{Date, Locale, PagePath, PageReading, ReadScope};

    fn listed(id: i64, created: &str, title: &str) -> Arc<PageReading> {
        let (locale, path) = (
            Locale::as_stored("en"),
            PagePath::as_stored(format!("p/{id}")),
        );
        Arc::new(PageReading {
            created_at: Some(Date::from(created.to_owned())),
            tags: Some(vec!["secret".to_owned()]),
            ..PageReading::bare(Some(id), locale, path, title.to_owned())
        })
    }

    fn known(pages: &[Arc<PageReading>]) -> KnownPages {
        let mut known = KnownPages::default();
        for page in pages {
            known.add(MirroredPage {
                mark: mark(page),
                ..MirroredPage::new(page.id.unwrap(), page)
            });
        }
        known
    }

    fn ids(pages: &[Arc<PageReading>]) -> Vec<i64> {
        pages.iter().filter_map(|page| page.id).collect()
    }

    #[test]
    fn new_and_changed_pages_are_to_be_read_and_missing_ones_to_be_asked_for() {
        let known = known(&[
            listed(1, "a", "One"),
            listed(2, "a", "Two"),
            listed(3, "a", "Three"),
        ]);
        let list = [
            listed(1, "a", "One"),
            listed(2, "a", "Two!"),
            listed(4, "a", "Four"),
        ];
        let found = compare(&known, &list, &ReadScope::default());
        assert_eq!(ids(&found.changed), [2, 4]);
        assert_eq!(found.missing, [(3, "a".to_owned())]);
        assert!(found.replaced.is_empty());
    }

    #[test]
    fn an_id_that_comes_again_with_another_birthday_is_another_page() {
        let known = known(&[listed(1, "a", "One")]);
        let found = compare(&known, &[listed(1, "b", "One")], &ReadScope::default());
        assert_eq!(ids(&found.changed), [1]);
        assert_eq!(found.replaced, [(1, "a".to_owned())]);
        assert!(found.missing.is_empty());
    }
}
