//! Which pages link to a place that a page is about to leave, or has left.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::change::Warning;
use crate::index::ContentIndex;
use crate::page::{Format, Locale, Moves, PagePlace, linked_place, mend_links};
use crate::wiki::Wiki;
use crate::write::LinkedFrom;

/// The warning that links lead nowhere.
const BREAKS: &str = "links_break";
/// How long is looked for them.
const PATIENCE: Duration = Duration::from_secs(5);
/// How much of that the index is given for what was written last.
const CATCHING_UP: Duration = Duration::from_secs(1);
/// The most pages that are named.
const MAX_NAMED: usize = 20;

/// The pages that link to a place, as far as the key may read them.
pub(super) struct Linkers {
    /// How many there are.
    count: usize,
    /// The first of them.
    named: Vec<LinkedFrom>,
    /// What was not looked at.
    gap: Option<String>,
}

impl Linkers {
    /// Looks for them in the wiki's link graph and in the indexed sources; nothing where that
    /// takes too long, or the wiki does not tell.
    pub(super) async fn of(
        wiki: &Wiki,
        index: &Arc<ContentIndex>,
        place: &PagePlace,
        own: Option<i64>,
    ) -> Option<Self> {
        let found = tokio::time::timeout(PATIENCE, Self::found(wiki, index, place, own)).await;
        found.ok()?
    }

    async fn found(
        wiki: &Wiki,
        index: &Arc<ContentIndex>,
        place: &PagePlace,
        own: Option<i64>,
    ) -> Option<Self> {
        let _turn = index.turn_to_scan().await?;
        let pages = wiki.pages_now().await.ok()?;
        let locales: BTreeSet<&Locale> = pages.iter().map(|page| &page.locale).collect();
        let graph = wiki.link_graph(&locales).await.ok()?;
        let mut linking: BTreeSet<i64> = graph
            .into_iter()
            .filter(|page| page.to.contains(place))
            .map(|page| page.id)
            .collect();
        let gap = of_sources(wiki, index, place, &mut linking).await;
        let named: BTreeMap<i64, LinkedFrom> = pages
            .iter()
            .filter_map(|page| {
                let id = page
                    .id
                    .filter(|id| linking.contains(id) && Some(*id) != own)?;
                let path = if page.locale == place.0 {
                    page.path.as_str().to_owned()
                } else {
                    format!("/{}/{}", page.locale, page.path)
                };
                let title = page.title.clone();
                Some((id, LinkedFrom { id, path, title }))
            })
            .collect();
        Some(Self {
            count: named.len(),
            named: named.into_values().take(MAX_NAMED).collect(),
            gap,
        })
    }

    /// What is to be said of them: the pages, and a warning.
    pub(super) fn told(looked: Option<Self>) -> (Vec<LinkedFrom>, Option<Warning>) {
        let Some(Self { count, named, gap }) = looked else {
            let unknown =
                "which pages link here could not be read; links that lead here will lead nowhere.";
            return (Vec::new(), Some(Warning::new(BREAKS, unknown)));
        };
        let warning = match (count, gap) {
            (0, None) => return (named, None),
            (0, Some(gap)) => format!("no page is known to link here, but {gap}."),
            (count, gap) => {
                let pages = if count == 1 {
                    "page links"
                } else {
                    "pages link"
                };
                let gap = gap.map_or_else(String::new, |gap| format!("; {gap}"));
                format!("{count} {pages} here, and those links will lead nowhere{gap}.")
            }
        };
        (named, Some(Warning::new(BREAKS, warning)))
    }
}

/// What is to be said of a page's own links that lead elsewhere, or nowhere, once it is moved.
pub(super) async fn own_links(
    wiki: &Wiki,
    id: i64,
    from: &PagePlace,
    to: PagePlace,
) -> Option<Warning> {
    let read = async {
        let page = wiki.page_by_id(id).await.ok()?;
        let site = wiki.linked_site().await.ok()?;
        Some((page, site))
    };
    let (page, site) = tokio::time::timeout(PATIENCE, read).await.ok()??;
    let format = Format::of(page.content_type.as_deref(), page.editor.as_deref());
    let moves: Moves = [(from.clone(), to)].into_iter().collect();
    let mended = mend_links(page.content.as_deref()?, format, from, &moves, &site);
    let lines = mended.mended.iter().map(|link| link.line);
    let lines: BTreeSet<usize> = lines
        .chain(mended.left.iter().map(|link| link.line))
        .collect();
    let count = mended.mended.len() + mended.left.len();
    let shown: Vec<String> = lines.iter().take(MAX_NAMED).map(usize::to_string).collect();
    let cut = if lines.len() > MAX_NAMED {
        " and on"
    } else {
        ""
    };
    let message = format!(
        "{count} links of the page itself lead elsewhere once it is moved (lines {}{cut}).",
        shown.join(", ")
    );
    (count > 0).then(|| Warning::new("own_links_break", message))
}

/// Adds the pages whose indexed sources link to a place; says what the index lacks.
async fn of_sources(
    wiki: &Wiki,
    index: &Arc<ContentIndex>,
    place: &PagePlace,
    linking: &mut BTreeSet<i64>,
) -> Option<String> {
    const NONE: &str =
        "only the wiki's link graph was looked at, which leaves out links with a dot (../x, x.md)";
    if !index.is_on() {
        return Some(NONE.to_owned());
    }
    // What is not there in time comes later.
    let ready = tokio::time::timeout(CATCHING_UP, index.ready(|_, _| {}));
    drop(ready.await);
    let (Ok((links, without)), Ok(site)) = (index.links().await, wiki.linked_site().await) else {
        return Some(NONE.to_owned());
    };
    for link in links {
        let from = (link.locale, link.path);
        if linked_place(&link.target, &from, &site).as_ref() == Some(place) {
            linking.insert(link.id);
        }
    }
    let (covered, _) = index.now();
    let lacking = covered.of.saturating_sub(covered.pages) + without;
    if covered.pages == 0 {
        return Some(NONE.to_owned());
    }
    (lacking > 0).then(|| {
        format!(
            "the sources of {lacking} of {} pages were not looked at",
            covered.of
        )
    })
}
