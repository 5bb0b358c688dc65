//! The links of the wiki, from its link graph and the content index.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::OptionFuture;
use tokio::sync::OwnedSemaphorePermit;

use crate::error::{Code, Failure, Result};
use crate::index::{ContentIndex, Coverage, IndexedLink, as_rendered};
use crate::page::{LinkBase, LinkedSite, PagePlace, PageReading};
use crate::wiki::{AllPages, LinksOfPage, Wiki, WikiError};

/// Time for the index to catch up with the last writes: while it is made, and afterwards.
const CATCHING_UP: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];
/// The number of links handled before the clock is checked.
const LINKS_AT_ONCE: usize = 1_000;
/// The time limit for the search of all links, or all sources.
pub(crate) const LOOKING: Duration = Duration::from_secs(20);

/// The purpose for which all links of the wiki are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkPurpose {
    /// To mend links to moved pages.
    Mending,
    /// To change the pages that link to a page.
    Linking,
}

impl LinkPurpose {
    /// The purpose as the beginning of a sentence, and the alternative as its end.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Mending => (
                "Links are mended",
                "move the pages one by one without updateLinks",
            ),
            Self::Linking => (
                "Pages are chosen by their links",
                "name the pages by ids in place of linksTo",
            ),
        }
    }

    fn no_index(self) -> Failure {
        let (done, without) = self.words();
        Failure::new(
            Code::InvalidInput,
            format!("{done} by the content index, which is switched off; nothing was sent."),
        )
        .hint(format!(
            "Ask the operator to set WIKI_INDEX=memory, or {without}."
        ))
    }

    fn incomplete(self, covered: Coverage) -> Failure {
        let (done, without) = self.words();
        let Coverage { pages, of, .. } = covered;
        Failure::new(
            Code::Timeout,
            format!("{done} once the sources of all pages are read: {pages} of {of} are; nothing was sent."),
        )
        .hint(format!("Call again in 30 s, or {without}."))
        .detail("indexed", pages)
        .detail("of", of)
    }
}

/// The failure if not everything was searched in time.
pub(crate) fn busy() -> Failure {
    Failure::new(
        Code::Timeout,
        "The links of all pages could not be looked through in time; nothing was sent.",
    )
    .hint("Call again in 30 s.")
}

/// The links of the wiki, as far as the key may see them.
pub(crate) struct WikiLinks {
    pub(crate) pages: Arc<AllPages>,
    pub(crate) graph: Vec<LinksOfPage>,
    links: Vec<IndexedLink>,
    pub(crate) site: LinkedSite,
    /// The part that was not looked at.
    pub(crate) gap: Option<String>,
    /// Held as long as the links are.
    _turn: OwnedSemaphorePermit,
}

impl WikiLinks {
    /// Reads them; `None` if the turn to scan does not come in time.
    ///
    /// # Errors
    /// What the wiki says.
    pub(crate) async fn read(index: &Arc<ContentIndex>) -> Option<Result<Self>> {
        let (wiki, began) = (&*index.wiki, Instant::now());
        // Before the turn is taken, so that no other scan waits while the index is filled. Pages
        // that are not indexed in time are missing.
        let is_current = !index.is_on() || catches_up(index).await;
        let turn = index.turn_to_scan().await?;
        let sources = OptionFuture::from(index.is_on().then(|| index.links()));
        let (graph, sources, site) =
            tokio::join!(graph_of(wiki, began), sources, wiki.linked_site());
        let (graph, site) = match (graph, site) {
            (Ok(graph), Ok(site)) => (graph, site),
            (Err(error), _) | (_, Err(error)) => return Some(Err(error.into())),
        };
        let (pages, graph) = graph;
        let (links, gap) = match sources {
            Some(Ok((links, without))) => {
                let gap = gap(index.now().0, without);
                let late = (!is_current).then(|| NOT_CURRENT.to_owned());
                (links, gap.or(late))
            }
            Some(Err(_)) | None => (Vec::new(), Some(ONLY_GRAPH.to_owned())),
        };
        Some(Ok(Self {
            pages,
            site: as_rendered(site, &links, &graph),
            graph,
            links,
            gap,
            _turn: turn,
        }))
    }

    /// The links of all sources that the key may read, from a complete index that has others'
    /// recent writes.
    ///
    /// # Errors
    /// What is missing, in words that fit the purpose.
    pub(crate) async fn whole(index: &Arc<ContentIndex>, wanted: LinkPurpose) -> Result<Self> {
        if !index.is_on() {
            return Err(wanted.no_index());
        }
        index.outdated();
        let covered = index.ready(|_, _| {}).await?;
        if !covered.is_complete {
            return Err(wanted.incomplete(covered));
        }
        Self::read(index).await.ok_or_else(busy)?
    }

    /// The pages that link to a place, without the page there.
    ///
    /// # Errors
    /// Not all links could be searched in time.
    pub(crate) async fn linking_to(self, place: PagePlace) -> Result<BTreeSet<i64>> {
        let until = Instant::now() + LOOKING;
        let looked = crate::blocking::run(move || {
            let (mut linking, is_whole) = self.linking(&[place.clone()].into(), until);
            let mut linking = linking.remove(&place).unwrap_or_default();
            let is_it = |page: &&PageReading| (&page.locale, &page.path) == (&place.0, &place.1);
            if let Some(own) = self.pages.iter().find(is_it).and_then(|page| page.id) {
                linking.remove(&own);
            }
            is_whole.then_some(linking)
        });
        looked.await.flatten().ok_or_else(busy)
    }

    /// The pages that link to each of some places, and whether all links were searched.
    pub(crate) fn linking(
        &self,
        left: &HashSet<PagePlace>,
        until: Instant,
    ) -> (HashMap<PagePlace, BTreeSet<i64>>, bool) {
        let mut linking: HashMap<PagePlace, BTreeSet<i64>> = HashMap::new();
        for page in &self.graph {
            for to in page.to.iter().filter(|to| left.contains(*to)) {
                linking.entry(to.clone()).or_default().insert(page.id);
            }
        }
        // Links are grouped by page, so that each page's address is made once.
        for (at, links) in self.links.chunk_by(|a, b| a.id == b.id).enumerate() {
            if (at + 1).is_multiple_of(LINKS_AT_ONCE) && Instant::now() >= until {
                return (linking, false);
            }
            let Some(first) = links.first() else { continue };
            let page = (first.locale.clone(), first.path.clone());
            let base = LinkBase::new(&page, &self.site);
            let places = links
                .iter()
                .filter_map(|link| base.place(&link.target, link.carrier));
            for to in places.filter(|to| left.contains(to)) {
                linking.entry(to).or_default().insert(first.id);
            }
        }
        (linking, true)
    }
}

/// The wiki's link graph, and its pages as of a time: often those that the index has just looked at.
async fn graph_of(
    wiki: &Wiki,
    time: Instant,
) -> Result<(Arc<AllPages>, Vec<LinksOfPage>), WikiError> {
    let pages = wiki.pages_as_of(time).await?;
    let locales = pages.iter().map(|page| &page.locale).collect();
    let graph = wiki.link_graph(&locales).await?;
    Ok((pages, graph))
}

/// Has the index look at what others wrote since its last look; whether it did so in time.
pub(super) async fn catches_up(index: &Arc<ContentIndex>) -> bool {
    let [while_made, later] = CATCHING_UP;
    let longest = if index.now().0.is_complete {
        later
    } else {
        while_made
    };
    index.outdated();
    let ready = tokio::time::timeout(longest, index.ready(|_, _| {})).await;
    matches!(ready, Ok(Ok(_)))
}

const NOT_CURRENT: &str = "what was written in the last seconds was not looked at";
const ONLY_GRAPH: &str =
    "only the wiki's link graph was looked at, which leaves out links with a dot (../x, x.md)";

/// The part that is missing in the index.
fn gap(covered: Coverage, without: usize) -> Option<String> {
    if covered.pages == 0 {
        return Some(ONLY_GRAPH.to_owned());
    }
    let lacking = covered.of.saturating_sub(covered.pages) + without;
    (lacking > 0).then(|| {
        let of = covered.of;
        format!("the sources of {lacking} of {of} pages were not looked at")
    })
}
