//! The links of the whole wiki, as a key sees them: from the wiki's link graph, which knows only
//! some forms of links, and the content index, which knows the rest and their lines.

mod missing;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;

use super::context::ToolContext;
use super::search_pages::{Indexed, Sought};
use crate::error::{Code, Failure, Result};
use crate::index::{Coverage, IndexedLink, as_rendered};
use crate::page::{
    LinkBase, LinkedSite, Locale, PagePath, PagePlace, PageReading, can_be_linked, escaped,
};
use crate::wiki::{AllPages, LinksOfPage};

/// The most broken links that one answer names.
const MAX_SHOWN: usize = 500;
/// The fewest it names per page.
const MIN_SHOWN: usize = 5;
/// The most characters that are shown of a link.
const MAX_CHARS: usize = 300;

/// A link that leads to no page or to no place on it, or a picture that is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct BrokenLink {
    /// The target of the link.
    to: String,
    /// Its line; `None` if only the link graph knows it.
    line: Option<i64>,
    /// The link as written, if different.
    link: Option<String>,
    /// `anchor`, or `image`; a page, if absent.
    missing: Option<&'static str>,
}

impl BrokenLink {
    /// A link, as written if that is known, to a page that is not there, or to what is named.
    fn new(
        written: Option<&str>,
        to: &str,
        line: Option<i64>,
        missing: Option<&'static str>,
    ) -> Self {
        let written = written.filter(|written| *written != to);
        Self {
            to: escaped(to, MAX_CHARS),
            line,
            link: written.map(|written| escaped(written, MAX_CHARS)),
            missing,
        }
    }
}

/// A link from a page to a place.
struct WikiLink {
    from: i64,
    to: PagePlace,
    line: Option<i64>,
    written: Option<String>,
}

/// All links between places: those in indexed sources, which come page by page, and those known
/// only to the link graph.
fn resolved(
    pages: &AllPages,
    sourced: &[IndexedLink],
    graph: &[LinksOfPage],
    site: &LinkedSite,
) -> Vec<WikiLink> {
    let ids: HashSet<i64> = pages.iter().filter_map(|page| page.id).collect();
    let mut links = Vec::new();
    for own in sourced.chunk_by(|one, other| one.id == other.id) {
        let Some(first) = own.first().filter(|first| ids.contains(&first.id)) else {
            continue;
        };
        let from = (first.locale.clone(), first.path.clone());
        let base = LinkBase::new(&from, site);
        links.extend(own.iter().filter_map(|link| {
            Some(WikiLink {
                from: link.id,
                to: base.page(&link.target, link.carrier)?,
                line: Some(link.line),
                written: Some(link.target.clone()),
            })
        }));
    }
    let known: HashSet<(i64, &PagePlace)> =
        links.iter().map(|link| (link.from, &link.to)).collect();
    let mut only_in_graph = Vec::new();
    for page in graph {
        for to in &page.to {
            if !known.contains(&(page.id, to)) && can_be_linked(&to.1) {
                only_in_graph.push(WikiLink {
                    from: page.id,
                    to: to.clone(),
                    line: None,
                    written: None,
                });
            }
        }
    }
    links.extend(only_in_graph);
    links
}

/// All links between places of the wiki.
pub(super) struct PlaceLinks {
    pages: Arc<AllPages>,
    links: Vec<WikiLink>,
    /// Anchors and pictures that are not there, if broken links are sought.
    missing: Vec<(i64, BrokenLink)>,
    /// Held as long as these links.
    _turn: OwnedSemaphorePermit,
    /// Coverage of the content index.
    pub(super) indexed: Indexed,
}

impl PlaceLinks {
    /// The list of pages, the link graph, and what is indexed after a short wait.
    ///
    /// # Errors
    /// Those of the list and of the graph. Without an index, only the graph is used, and the answer
    /// says so.
    pub(super) async fn load(context: &ToolContext, sought: Sought) -> Result<Self> {
        // Before the turn, so that nobody waits for one while the index is filled.
        let covered = if context.index.is_on() {
            context.indexed().await.map_err(|_| ONLY_GRAPH)
        } else {
            Err(ONLY_GRAPH_OFF)
        };
        let turn = context.turn().await?;
        let (sourced, mut indexed) = in_sources(context, covered, sought).await;
        let pages = context.wiki.pages_now().await?;
        let locales: BTreeSet<&Locale> = pages.iter().map(|page| &page.locale).collect();
        let graph = context.wiki.link_graph(&locales);
        let graph = if indexed.knows_pages() {
            // While a wiki is being indexed it may be slow; then only the index is used.
            let patience = context.index.settings.pace.patience;
            if let Ok(graph) = tokio::time::timeout(patience, graph).await {
                graph?
            } else {
                indexed = indexed.without(NO_GRAPH);
                Vec::new()
            }
        } else {
            graph.await?
        };
        let site = context.wiki.linked_site().await?;
        // Large wikis have many links: following them must not hold up other calls.
        let listed = Arc::clone(&pages);
        let links = tokio::task::spawn_blocking(move || {
            let site = as_rendered(site, &sourced, &graph);
            (resolved(&listed, &sourced, &graph, &site), site)
        });
        let (links, site) = links.await.map_err(|_| {
            Failure::new(
                Code::InternalError,
                "The links of the wiki could not be followed.",
            )
        })?;
        let mut known = Self {
            pages,
            links,
            missing: Vec::new(),
            _turn: turn,
            indexed,
        };
        if sought == Sought::Broken {
            let (missing, note) = missing::find(context, &known, &site).await?;
            known.missing = missing;
            known.indexed = known.indexed.note(note);
        }
        Ok(known)
    }

    fn ids_by_place(&self) -> HashMap<(&Locale, &PagePath), i64> {
        let pages = self.pages.iter();
        pages
            .filter_map(|page| Some(((&page.locale, &page.path), page.id?)))
            .collect()
    }

    /// The pages that no other page links to, except the home page of each locale.
    pub(super) fn orphans(&self) -> HashSet<i64> {
        let places = self.ids_by_place();
        let linked: HashSet<i64> = self
            .links
            .iter()
            .filter_map(|link| {
                let to = places.get(&(&link.to.0, &link.to.1)).copied();
                to.filter(|to| *to != link.from)
            })
            .collect();
        let is_orphan = |page: &&PageReading| {
            page.path.as_str() != "home" && page.id.is_some_and(|id| !linked.contains(&id))
        };
        let orphans = self.pages.iter().filter(is_orphan);
        orphans.filter_map(|page| page.id).collect()
    }

    /// The links that lead to no page the key sees, and what else is not there, by the page that
    /// contains them.
    pub(super) fn broken(&self) -> BrokenLinks {
        let places = self.ids_by_place();
        let mut broken: HashMap<i64, Vec<BrokenLink>> = HashMap::new();
        for link in &self.links {
            if places.contains_key(&(&link.to.0, &link.to.1)) {
                continue;
            }
            let to = format!("/{}/{}", link.to.0, link.to.1);
            let found = BrokenLink::new(link.written.as_deref(), &to, link.line, None);
            broken.entry(link.from).or_default().push(found);
        }
        for (from, link) in &self.missing {
            broken.entry(*from).or_default().push(link.clone());
        }
        for links in broken.values_mut() {
            links.sort_by_key(|link| link.line);
        }
        BrokenLinks(broken)
    }
}

/// The links in indexed sources, and how much is indexed.
async fn in_sources(
    context: &ToolContext,
    covered: Result<Coverage, &'static str>,
    sought: Sought,
) -> (Vec<IndexedLink>, Indexed) {
    let covered = match covered {
        Ok(covered) => covered,
        Err(why) => return (Vec::new(), Indexed::none(why, sought)),
    };
    match context.index.links().await {
        Ok((links, without_source)) => {
            let indexed = Indexed::new(covered, sought);
            (links, indexed.lacking_sources(without_source))
        }
        Err(_) => (Vec::new(), Indexed::none(ONLY_GRAPH, sought)),
    }
}

/// The note for when the wiki's link graph did not arrive in time.
const NO_GRAPH: &str = "The wiki did not return its own link graph in time, so only links in indexed sources are known: list again in 30 s.";

const ONLY_GRAPH_OFF: &str = "Only the wiki's own link graph was used, which leaves out links with a dot (../x, x.md) and has no line numbers: an operator can switch the content index on with WIKI_INDEX=memory.";
const ONLY_GRAPH: &str = "Only the wiki's own link graph was used, which leaves out links with a dot (../x, x.md) and has no line numbers: the content index could not be asked. Call again later.";

/// The broken links of each page that has some.
pub(super) struct BrokenLinks(HashMap<i64, Vec<BrokenLink>>);

impl BrokenLinks {
    /// The pages that have broken links.
    pub(super) fn pages(&self) -> HashSet<i64> {
        self.0.keys().copied().collect()
    }

    /// The broken links of a page, as many as an answer with so many pages holds, and how many more
    /// it has. The fewer pages, the more links of each.
    pub(super) fn of_page(&mut self, id: i64, shown_pages: usize) -> (Vec<BrokenLink>, usize) {
        let mut links = self.0.remove(&id).unwrap_or_default();
        let most = (MAX_SHOWN / shown_pages.max(1)).max(MIN_SHOWN);
        let left = links.len().saturating_sub(most);
        links.truncate(most);
        (links, left)
    }
}
