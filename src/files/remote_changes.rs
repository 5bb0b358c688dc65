//! Compares the wiki with the pulled pages: what was changed, made, moved and deleted there.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::base::{Base, FolderScope};
use super::local_changes::{Local, LocalFolder, PulledPage};
use crate::error::{Failure, Result};
use crate::files::{FilesError, Folder};
use crate::page::{Field, Locale, PagePath, PagePlace, PageReading, PageState, same_tags};
use crate::wiki::{Wiki, WikiError};
use crate::words::words;

/// The differences of the wiki from the pulled pages.
#[derive(Debug, Default)]
pub(super) struct RemotePages {
    /// Pages that are new or changed.
    pub(super) changed: BTreeMap<i64, PageState>,
    /// Pages that were written again and have the same contents as before.
    pub(super) touched: BTreeMap<i64, PageState>,
    /// Pages that are gone, with the places of those that moved out of the scope.
    pub(super) gone: BTreeMap<i64, Option<PagePlace>>,
    /// Pages that this key cannot read whole.
    pub(super) unread: Vec<UnreadablePage>,
}

words! {
    /// The stage of a command on files.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Stage: as_str {
        /// Pages that differ are read from the wiki.
        Read = "pages read",
        /// Their files are written.
        Written = "pages written",
    }
}

/// A page that this key cannot read whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadablePage {
    /// Its locale.
    pub locale: Locale,
    /// Its path.
    pub path: PagePath,
    /// The fields that the key cannot read.
    pub fields: Vec<&'static str>,
}

impl RemotePages {
    /// Looks at the pages of a scope. `far` gets the number of pages read, and of pages to read.
    pub(super) async fn fetch(
        wiki: &Wiki,
        folder: &Folder,
        scope: &FolderScope,
        here: &LocalFolder,
        far: impl Fn(Stage, usize, usize),
    ) -> Result<Self, FilesError> {
        let listed = wiki.pages_now().await.map_err(Failure::from)?;
        let mut there = Self::default();
        let mut missing: BTreeSet<i64> = here.pages.keys().copied().collect();
        for page in listed.iter() {
            let known = page.id.filter(|id| missing.remove(id));
            if let Some(id) = known.filter(|_| !scope.has(&page.path)) {
                let place = (page.locale.clone(), page.path.clone());
                there.gone.insert(id, Some(place));
            }
        }
        let missing: Vec<i64> = missing.into_iter().collect();
        there.settle(wiki, here, &missing).await?;
        let listed: Vec<&PageReading> =
            listed.iter().filter(|page| scope.has(&page.path)).collect();
        // A tag that is renamed for all pages gives them no new date (W53).
        let has_tags = |known: &PulledPage, page: &PageReading| {
            let listed = page.tags.as_ref();
            listed.is_none_or(|tags| same_tags(tags, &known.tags))
        };
        let is_new = |page: &PageReading, id: i64| {
            here.pages.get(&id).is_none_or(|known| {
                known.local == Local::Left
                    || (&known.place.0, &known.place.1) != (&page.locale, &page.path)
                    || known.updated_at != page.updated_at
                    || !has_tags(known, page)
            })
        };
        let wanted: Vec<i64> = listed
            .iter()
            .filter_map(|page| page.id.filter(|id| is_new(page, *id)))
            .collect();
        let (of, read) = (wanted.len(), std::sync::atomic::AtomicUsize::new(0));
        let came = |pages| {
            let before = read.fetch_add(pages, std::sync::atomic::Ordering::Relaxed);
            far(Stage::Read, before + pages, of);
        };
        let pages = wiki
            .whole_pages(&wanted, came)
            .await
            .map_err(Failure::from)?;
        for reading in pages {
            let Some(id) = reading.id else { continue };
            let page = match reading.complete() {
                Ok(page) => page,
                Err(lacking) => {
                    if let Some(expired) = wiki.expired() {
                        return Err(Failure::from(expired).into());
                    }
                    let fields = lacking.unreadable().into_keys();
                    there.unread.push(UnreadablePage {
                        fields: fields.map(Field::name).collect(),
                        locale: lacking.locale,
                        path: lacking.path,
                    });
                    continue;
                }
            };
            let known = here.pages.get(&id);
            let is_here = known.is_some_and(|known| known.local != Local::Left);
            if is_here && Base::read(folder, id)?.page.difference(&page).is_empty() {
                there.touched.insert(id, page);
            } else {
                there.changed.insert(id, page);
            }
        }
        // A page that vanished or left the scope since it was listed counts as gone at the next
        // look.
        Ok(there)
    }

    /// Tells pages that are gone from those that this key may not read any more, whose files stay.
    async fn settle(&mut self, wiki: &Wiki, here: &LocalFolder, missing: &[i64]) -> Result<()> {
        if !missing.is_empty() && wiki.is_guest().await == Some(true) {
            return Err(wiki.expired().unwrap_or(WikiError::Guest).into());
        }
        let deleted = wiki.deleted_among(missing).await?;
        for id in missing {
            if deleted.contains(id) {
                self.gone.insert(*id, None);
            } else if let Some(hidden) = here.pages.get(id) {
                let (locale, path) = hidden.place.clone();
                let fields = [Field::Path, Field::Title, Field::Content].map(Field::name);
                self.unread.push(UnreadablePage {
                    locale,
                    path,
                    fields: fields.to_vec(),
                });
            }
        }
        Ok(())
    }
}
