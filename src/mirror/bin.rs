//! The pages that are gone, for those who look for them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::known::{KnownPages, last_look};
use crate::audit::{AuditError, AuditResult, KeptState};
use crate::error::{Code, Failure, Result};
use crate::mirror::{MirrorSettings, MirrorTime, MirroredPage, PageGone, SeenState};
use crate::page::{Locale, PagePath, PageState, Prefix, ReadScope};
use crate::store::{LeaseQueue, Store, on};
use crate::wiki::{Wiki, WikiError};

/// The reason why a look at the wiki ended early.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MirrorFault {
    /// The wiki.
    #[error(transparent)]
    Wiki(#[from] WikiError),
    /// The store.
    #[error(transparent)]
    Store(#[from] AuditError),
    /// A list without any page, although pages are known: no proof that all of them were deleted.
    #[error(
        "the wiki lists no page at all, so none is taken for deleted; if all of them are gone, make one, and the next look finds the others gone"
    )]
    NoPages,
}

/// The mirror of one wiki. It holds nothing but the way to its store.
#[derive(Debug, Clone)]
pub struct Mirror {
    pub(super) store: Arc<dyn Store>,
    pub(super) leases: LeaseQueue,
    /// Its settings.
    pub settings: MirrorSettings,
}

/// The pages of the bin, as far as they are known.
#[derive(Debug)]
pub struct BinList {
    /// The pages, those missed last first.
    pub pages: Vec<BinPage>,
    /// The faults of damaged documents: pages of theirs may be missing.
    pub damaged: Vec<AuditError>,
}

impl BinList {
    /// The reasons why pages may be missing, one for each damaged document.
    pub fn incomplete(&self) -> Vec<String> {
        let told = |fault: &AuditError| format!("pages may be missing: {fault}");
        self.damaged.iter().map(told).collect()
    }
}

/// A page of the bin.
#[derive(Debug, Clone)]
pub struct BinPage {
    /// The page.
    pub page: MirroredPage,
    /// Its end.
    pub gone: PageGone,
    /// The id of the page that is at its place now.
    pub taken_by: Option<i64>,
    /// Number of pages that link to its place, once [`Self::count_links`] knows it.
    pub linked_from: Option<usize>,
}

impl BinPage {
    /// The number of pages that link to its place, as people are told.
    pub fn links(&self) -> String {
        let count = self.linked_from.map(|count| count.to_string());
        count.unwrap_or_else(|| "?".to_owned())
    }

    /// Counts the pages that link to the places of these, by the wiki's own graph of links, in one
    /// request; where the wiki does not tell, nobody knows.
    pub async fn count_links(bin: &mut [Self], wiki: &Wiki) {
        let locales: BTreeSet<&Locale> = bin.iter().map(|one| &one.page.place.locale).collect();
        if locales.is_empty() {
            return;
        }
        let Ok(graph) = wiki.link_graph(&locales).await else {
            return;
        };
        let mut counts: HashMap<(Locale, PagePath), usize> = HashMap::new();
        for page in graph {
            let to: HashSet<(Locale, PagePath)> = page.to.into_iter().collect();
            for place in to {
                *counts.entry(place).or_default() += 1;
            }
        }
        for one in bin {
            let place = (one.page.place.locale.clone(), one.page.place.path.clone());
            one.linked_from = Some(counts.get(&place).copied().unwrap_or_default());
        }
    }
}

impl Mirror {
    /// The mirror in a store of its own.
    pub fn new(store: Arc<dyn Store>, settings: MirrorSettings) -> Self {
        Self {
            leases: LeaseQueue::new(Arc::clone(&store)),
            store,
            settings,
        }
    }

    pub(super) async fn known(&self) -> AuditResult<KnownPages> {
        on(&self.store, KnownPages::load).await
    }

    /// The time at which the last look at the list began, if there was one.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn last_looked(&self) -> AuditResult<Option<MirrorTime>> {
        let look = on(&self.store, last_look).await?;
        Ok(look.map(|look| look.at))
    }

    /// The pages that are gone and within a scope by their last places and tags, those missed last first.
    /// One that stands at its old place again, as it was, is not among them. With the digest of a key
    /// they are those that looks with this key saw to the last; without, as at the operator's command
    /// line, all; of a part, if one is given.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn bin(
        &self,
        scope: &ReadScope,
        key: Option<&str>,
        part: Option<&Prefix>,
    ) -> AuditResult<BinList> {
        let (known, damaged) = on(&self.store, KnownPages::load_undamaged).await?;
        let mut there: HashMap<(&Locale, &PagePath), i64> = HashMap::new();
        let mut states: HashSet<KeptState> = HashSet::new();
        for page in known.iter().filter(|page| page.gone.is_none()) {
            // Nobody is told of a page that its tags hide.
            if scope.admits_tags(page.place.tags.as_deref().unwrap_or_default()) {
                there.insert((&page.place.locale, &page.place.path), page.id);
            }
            states.extend(page.states.iter().map(|seen| seen.state));
        }
        let mut bin: Vec<BinPage> = known
            .iter()
            .filter_map(|page| {
                let gone = page.gone.clone()?;
                let is_back = page.last().is_some_and(|last| states.contains(&last.state));
                let is_told = page.place.is_admitted_by(scope)
                    && key.is_none_or(|key| gone.was_seen_by(key))
                    && part.is_none_or(|part| part.holds(&page.place.locale, &page.place.path));
                (is_told && !is_back).then(|| BinPage {
                    page: page.told_to(key).into_owned(),
                    gone,
                    taken_by: there.get(&(&page.place.locale, &page.place.path)).copied(),
                    linked_from: None,
                })
            })
            .collect();
        bin.sort_by_key(|one| std::cmp::Reverse((one.gone.missed, one.page.id)));
        Ok(BinList {
            pages: bin,
            damaged,
        })
    }

    /// The page of the bin that is meant: by its last path, with its locale as `en:docs/a` or without, or by
    /// its number. Of several the one that went last. The key is that of [`Self::bin`].
    ///
    /// # Errors
    /// `PAGE_NOT_FOUND`, unless it may be in a damaged document, or what the store says.
    pub async fn find(&self, meant: &str, scope: &ReadScope, key: Option<&str>) -> Result<BinPage> {
        let path = PagePath::new(meant);
        let id = meant.parse::<i64>().ok();
        let in_locale = meant.split_once(':');
        let in_locale = in_locale.map(|(locale, path)| (locale, PagePath::new(path)));
        let is_meant = |one: &BinPage| {
            let place = &one.page.place;
            let is_there = |(locale, path): &(&str, PagePath)| {
                place.locale.as_str() == *locale && place.path == *path
            };
            let is_in_locale = in_locale.as_ref().is_some_and(is_there);
            place.path == path || Some(one.page.id) == id || is_in_locale
        };
        let BinList { pages, damaged } = self.bin(scope, key, None).await?;
        pages.into_iter().find(is_meant).ok_or_else(|| match damaged.into_iter().next() {
            Some(fault) => fault.into(),
            None => Failure::new(Code::PageNotFound, "The bin has no such page.").hint(
                "wikijs_list_bin (at a terminal `wikijs-gate bin list`) lists what was deleted; a deletion is seen within a minute.",
            ),
        })
    }

    /// A state that was kept, without what is unknown of it.
    ///
    /// # Errors
    /// [`AuditError::Missing`], or [`AuditError::Damaged`].
    pub async fn state(&self, seen: &SeenState) -> AuditResult<PageState> {
        let seen = seen.clone();
        on(&self.store, move |store| seen.kept(store)).await
    }
}

/// The failure for a page of which no state is kept any more.
pub fn no_state() -> Failure {
    Failure::new(
        Code::PageNotFound,
        "No state of this page is kept any more.",
    )
    .hint("WIKI_MIRROR_KEEP_DAYS and WIKI_MIRROR_KEEP_MB say how long states are kept.")
}
