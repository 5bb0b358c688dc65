//! Finds headings and pictures that a change names newly and that are not there.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use crate::change::{Change, Warning};
use crate::index::ContentIndex;
use crate::page::{
    Field, LinkBase, LinkKind, PageLink, PagePath, PagePlace, PageReading, PageState, anchor_forms,
    anchors, escaped, has_unchecked_links, is_picture, links,
};
use crate::wiki::{WikiError, aside};

use super::wiki_links::catches_up;

/// The code of a warning about links that lead nowhere.
const DEAD: &str = "dead_link";
/// The most new links of a change that are looked at.
const MAX_LINKS: usize = 100;
/// The most pictures of a change that the wiki is asked for.
const MAX_PICTURES: usize = 10;
/// The most characters of a link in a warning, and the most links.
const MAX_CHARS: usize = 120;
const MAX_NAMED: usize = 10;

/// The pages, headings and pictures that links are held against.
pub(crate) struct KnownTargets<'a> {
    pub(crate) index: &'a Arc<ContentIndex>,
    /// All pages that the key sees; none if they were not listed.
    pub(crate) pages: &'a [Arc<PageReading>],
    /// The changes that are made with this one, and itself.
    pub(crate) changes: Vec<&'a Change>,
    /// After this time nothing is asked for.
    pub(crate) until: Instant,
}

/// Links with their lines.
type NamedLinks = Vec<(usize, String)>;

impl KnownTargets<'_> {
    /// The warnings about headings and pictures that a change names newly.
    pub(crate) async fn look(&self, change: &Change) -> Vec<Warning> {
        let Some(after) = change.after().filter(|_| change.thing().is_none()) else {
            return Vec::new();
        };
        let added = aside(change.bytes(), || added(change, after));
        if added.is_empty() {
            return Vec::new();
        }
        let Ok(site) = self.index.wiki.linked_site().await else {
            return Vec::new();
        };
        let from = (after.locale.clone(), after.path.clone());
        let base = LinkBase::new(&from, &site);
        let headings = self.headings(&from, &base, &added).await;
        let pictures = Box::pin(self.pictures(&base, &added)).await;
        let headings = told("These headings are not there", headings);
        let pictures = told("These pictures are not there", pictures);
        headings.into_iter().chain(pictures).collect()
    }

    /// The new links to headings that their pages lack, as far as it is known.
    async fn headings(
        &self,
        from: &PagePlace,
        base: &LinkBase<'_>,
        added: &[PageLink],
    ) -> NamedLinks {
        let (mut missing, mut asked, mut links) = (Vec::new(), Vec::new(), Vec::new());
        for link in added.iter().filter(|link| link.kind == LinkKind::Link) {
            let Some((to, anchor)) = link.target.split_once('#') else {
                continue;
            };
            let place = match to {
                "" => Some(from.clone()),
                _ => base.page(&link.target, link.carrier),
            };
            let forms = anchor_forms(anchor);
            let Some(place) = place.filter(|_| !forms.is_empty()) else {
                continue;
            };
            let named = (link.line, link.target.clone());
            match self.changed(&place) {
                Some(page) if lacks(page, &forms) => missing.push(named),
                Some(_) => {}
                None => {
                    let is_it = |page: &&Arc<PageReading>| {
                        (&page.locale, &page.path) == (&place.0, &place.1)
                    };
                    if let Some(id) = self.pages.iter().find(is_it).and_then(|page| page.id) {
                        asked.push((id, forms));
                        links.push(named);
                    }
                }
            }
        }
        if !asked.is_empty() && self.index.is_on() {
            // What is not indexed in time is not known to be missing.
            catches_up(self.index).await;
            let lacking = self.index.lack_anchors(asked).await.unwrap_or_default();
            let links = links.into_iter().zip(lacking);
            missing.extend(links.filter_map(|(link, lacks)| lacks.then_some(link)));
        }
        missing
    }

    /// The page at a place as a change leaves it; its text need not be what the index knows.
    fn changed(&self, place: &PagePlace) -> Option<&PageState> {
        let mut pages = self.changes.iter().filter_map(|change| change.after());
        pages.find(|page| (&page.locale, &page.path) == (&place.0, &place.1))
    }

    /// The new pictures that their folders and the wiki lack.
    async fn pictures(&self, base: &LinkBase<'_>, added: &[PageLink]) -> NamedLinks {
        let mut pictures: BTreeMap<PagePath, (usize, String)> = BTreeMap::new();
        for link in added.iter().filter(|link| link.kind == LinkKind::Embedded) {
            let path = base.file(&link.target, link.carrier);
            if let Some(path) = path.filter(is_picture) {
                let named = (link.line, link.target.clone());
                pictures.entry(path).or_insert(named);
            }
        }
        let mut missing = Vec::new();
        for (path, named) in pictures.into_iter().take(MAX_PICTURES) {
            let is_missing = tokio::time::timeout_at(self.until.into(), self.lacks(&path)).await;
            if is_missing.unwrap_or(false) {
                missing.push(named);
            }
        }
        missing
    }

    /// True if neither a folder lists a picture nor the wiki answers with it.
    async fn lacks(&self, path: &PagePath) -> bool {
        let is_listed = match self.index.wiki.asset_folder(&path.folder()).await {
            Ok(listed) => listed.assets.iter().any(|asset| asset.path == *path),
            Err(WikiError::NoFolder) => false,
            Err(_) => return false,
        };
        !is_listed
            && matches!(
                self.index.wiki.asset_bytes(path).await,
                Err(WikiError::NotFound)
            )
    }
}

/// The links to headings and files that a page had not before.
fn added(change: &Change, after: &PageState) -> Vec<PageLink> {
    let of = |page: &PageState| {
        if has_unchecked_links(&page.content, page.format()) {
            return Vec::new();
        }
        links(&page.content, page.format())
    };
    let before = change.before();
    if before.is_some_and(|before| before.same(after, Field::Content)) {
        return Vec::new();
    }
    let before = before.map(of).unwrap_or_default();
    let known: HashSet<&str> = before.iter().map(|link| link.target.as_str()).collect();
    let added = of(after).into_iter();
    let added = added.filter(|link| link.kind == LinkKind::Embedded || link.target.contains('#'));
    let added = added.filter(|link| !known.contains(link.target.as_str()));
    added.take(MAX_LINKS).collect()
}

/// True if all anchors of a page are known, and none of these forms of one is among them.
fn lacks(page: &PageState, forms: &[String]) -> bool {
    let known = (page.editor == "markdown").then(|| anchors(&page.content));
    let known = known.flatten();
    known.is_some_and(|known| !forms.iter().any(|form| known.contains(form)))
}

fn told(what: &str, mut missing: NamedLinks) -> Option<Warning> {
    missing.sort();
    let line = missing.first()?.0;
    let names = missing.iter().take(MAX_NAMED);
    let names: Vec<String> = names.map(|(_, to)| escaped(to, MAX_CHARS)).collect();
    let message = format!(
        "{what}, or this key does not see them: {}.",
        names.join(", ")
    );
    Some(Warning::new(DEAD, message).at(Field::Content, Some(line)))
}
