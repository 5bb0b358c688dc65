//! Checks a change against the other pages of the wiki.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use url::Url;

use super::super::warning::{Warning, named, unchecked};
use super::super::{Change, Surroundings};
use crate::page::{
    Field, LinkBase, LinkKind, LinkedSite, PageLink, PagePlace, PageReading, PageState, escaped,
    has_unchecked_links, links, may_lead_to_page,
};

/// The most links of one page that are followed.
const MOST_LINKS: usize = 2_000;
/// The most characters of a title or place in a warning.
const MOST_CHARS: usize = 120;

pub(super) fn asks(change: &Change, wiki: &Url) -> bool {
    change
        .after()
        .is_some_and(|after| is_titled(change) || may_add_links(change, after, wiki))
}

pub(super) fn look(change: &Change, around: Surroundings<'_>, warnings: &mut Vec<Warning>) {
    let Some(after) = change.after() else {
        return;
    };
    if !keeps_links(change, after) && has_links_unchecked(after) {
        warnings.push(unchecked("dead_link"));
    }
    let Some(pages) = around.pages else {
        return;
    };
    if is_titled(change) {
        warnings.extend(same_title(after, change, pages));
    }
    warnings.extend(dead_links(change, after, around, pages));
}

/// True if the page gets a new title.
fn is_titled(change: &Change) -> bool {
    let is_same = |before: &PageState| {
        let same = |after: &PageState| before.same(after, Field::Title);
        change.after().is_some_and(same)
    };
    change.thing().is_none() && !change.before().is_some_and(is_same)
}

fn same_title(after: &PageState, change: &Change, pages: &[Arc<PageReading>]) -> Option<Warning> {
    let plain = |title: &str| title.trim().to_lowercase();
    let (title, id) = (plain(&after.title), change.target().id);
    let is_other = |page: &&Arc<PageReading>| {
        page.locale == after.locale && page.path != after.path && (id.is_none() || page.id != id)
    };
    let same: Vec<String> = { pages.iter().filter(is_other) }
        .filter(|page| page.title.len() < 1_024 && plain(&page.title) == title)
        .map(|page| {
            format!(
                "/{}/{}",
                page.locale,
                escaped(page.path.as_str(), MOST_CHARS)
            )
        })
        .collect();
    (!same.is_empty()).then(|| {
        let message = format!("Another page has this title: {}.", named(&same));
        Warning::new("same_title", message).at(Field::Title, None)
    })
}

fn has_links_unchecked(page: &PageState) -> bool {
    has_unchecked_links(&page.content, page.format())
}

/// The links of a page that are followed; none of one with too many signs.
fn followed(page: &PageState) -> impl Iterator<Item = PageLink> {
    let text = Some(&page.content).filter(|_| !has_links_unchecked(page));
    let found = text.map_or_else(Vec::new, |text| links(text, page.format()));
    found
        .into_iter()
        .filter(|link| link.kind == LinkKind::Link)
        .take(MOST_LINKS)
}

/// The places that a page's links lead to, each with its first line.
fn places(page: &PageState, site: &LinkedSite) -> BTreeMap<PagePlace, usize> {
    let mut places = BTreeMap::new();
    let from = page.place();
    let base = LinkBase::new(&from, site);
    for link in followed(page) {
        if let Some(place) = base.page(&link.target, link.carrier) {
            places.entry(place).or_insert(link.line);
        }
    }
    places
}

/// True if content, editor and place stay the same, so links lead where they did.
fn keeps_links(change: &Change, after: &PageState) -> bool {
    let is_same = |before: &PageState| {
        before.same(after, Field::Content) && before.same(after, Field::Editor) && !change.moves()
    };
    change.before().is_some_and(is_same)
}

/// True if links in the page's text may lead to other places than before.
fn may_add_links(change: &Change, after: &PageState, wiki: &Url) -> bool {
    if keeps_links(change, after) {
        return false;
    }
    let targets = |page: &PageState| -> BTreeSet<String> {
        let targets = followed(page).map(|link| link.target);
        targets
            .filter(|target| may_lead_to_page(target, wiki))
            .collect()
    };
    let is = targets(after);
    // If the page moves, the same link may lead elsewhere.
    let before = change
        .before()
        .filter(|_| !is.is_empty() && !change.moves());
    let was = before.map(targets).unwrap_or_default();
    !is.is_subset(&was)
}

/// The places that links of the page lead to now but did not before.
fn links_added(change: &Change, after: &PageState, site: &LinkedSite) -> Vec<(PagePlace, usize)> {
    if keeps_links(change, after) {
        return Vec::new();
    }
    let is = places(after, site);
    if is.is_empty() {
        return Vec::new();
    }
    let was = change.before().map(|page| places(page, site));
    let was = was.unwrap_or_default();
    let is_new = |(place, _): &(PagePlace, usize)| !was.contains_key(place);
    is.into_iter().filter(is_new).collect()
}

fn dead_links(
    change: &Change,
    after: &PageState,
    around: Surroundings<'_>,
    pages: &[Arc<PageReading>],
) -> Option<Warning> {
    let added = links_added(change, after, around.site?);
    if added.is_empty() {
        return None;
    }
    // The page itself counts at its new place, not at its old one.
    let id = change.target().id;
    let mut there: HashSet<(&str, &str)> = pages
        .iter()
        .filter(|page| id.is_none() || page.id != id)
        .map(|page| (page.locale.as_str(), page.path.as_str()))
        .collect();
    there.insert((after.locale.as_str(), after.path.as_str()));
    let mut dead: Vec<(usize, String)> = added
        .iter()
        .filter(|((locale, path), _)| !there.contains(&(locale.as_str(), path.as_str())))
        .map(|((locale, path), line)| (*line, escaped(&format!("/{locale}/{path}"), MOST_CHARS)))
        .collect();
    dead.sort();
    let (line, _) = dead.first()?;
    let line = *line;
    let names: Vec<String> = dead.into_iter().map(|(_, place)| place).collect();
    let what = if names.len() > 1 {
        "These links lead"
    } else {
        "This link leads"
    };
    let message = format!("{what} to no page that this key sees: {}.", named(&names));
    Some(Warning::new("dead_link", message).at(Field::Content, Some(line)))
}
