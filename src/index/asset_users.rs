//! Finds the pages that show a file or link to it.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::ContentIndex;
use super::exact::{Pattern, PatternHit, PatternHits};
use super::store::{IndexResult, Store};
use crate::page::{LinkBase, LinkedSite, Locale, PagePath, PagePlace, PageReading};

impl ContentIndex {
    /// The pages with a link or a picture that leads to a file, then those whose text has its path; at most
    /// so many, within about one second, and of those alone that may be read. `named` is the file's path as
    /// texts have it.
    ///
    /// # Errors
    /// [`super::IndexError`].
    pub async fn users_of(
        self: &Arc<Self>,
        (file, named): (PagePath, Pattern),
        site: LinkedSite,
        most: usize,
    ) -> IndexResult<PatternHits> {
        let scope = self.wiki.scope().clone();
        let may_read = move |locale: &Locale, path: &PagePath| scope.admits_place(locale, path);
        let wanted = may_read.clone();
        let leading = self.asked(move |store| leading_to(store, &file, &site, &wanted));
        let leading = leading.await?;
        let led: HashSet<PagePlace> = leading
            .iter()
            .map(|page| (page.locale.clone(), page.path.clone()))
            .collect();
        let is_other = move |locale: &Locale, path: &PagePath| {
            may_read(locale, path) && !led.contains(&(locale.clone(), path.clone()))
        };
        let (all, room) = (leading.len(), most.saturating_sub(leading.len()));
        let found = self.matching(named, is_other, (room, 1)).await?;
        let hit = |page| PatternHit {
            page,
            lines: Vec::new(),
            count: 1,
            section: None,
        };
        let hits = leading.into_iter().take(most).map(hit);
        Ok(PatternHits {
            hits: hits.chain(found.hits).collect(),
            left: found.left + all.saturating_sub(most),
            looked_at: found.looked_at + all,
            of: found.of + all,
            ..found
        })
    }
}

/// The pages with a link or a picture that leads to a file.
fn leading_to(
    store: &Store,
    file: &PagePath,
    site: &LinkedSite,
    is_wanted: &impl Fn(&Locale, &PagePath) -> bool,
) -> IndexResult<Vec<PageReading>> {
    let name = file.last_segment();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    // Other names may be written in several ways.
    let name = if name.chars().all(is_plain) { name } else { "" };
    let mut ids = BTreeSet::new();
    for link in store.links_that_name(name)? {
        let page = (link.locale, link.path);
        let led = || LinkBase::new(&page, site).file(&link.target, link.carrier);
        if is_wanted(&page.0, &page.1) && led().as_ref() == Some(file) {
            ids.insert(link.id);
        }
    }
    let pages = ids.into_iter().map(|id| store.listed(id));
    Ok(pages
        .collect::<IndexResult<Vec<_>>>()?
        .into_iter()
        .flatten()
        .collect())
}
