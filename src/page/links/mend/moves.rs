//! Says where pages go, and the headings of a page that is split.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::super::super::{Outline, PagePlace, anchors};
use crate::page::markdown::anchors::folded;

/// Pages that move, with their places before and after, and headings that go to new pages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct Moves {
    pages: HashMap<PagePlace, PagePlace>,
    /// The headings that went, by the place before of the page that had them.
    pub(super) headings: HashMap<PagePlace, Homes>,
    /// The headings that new pages do not have although the page that they are parts of had them.
    pub(super) in_parts: HashMap<PagePlace, Homes>,
}

impl Moves {
    /// The place that a page has when all are moved.
    pub fn after(&self, place: &PagePlace) -> PagePlace {
        self.pages.get(place).unwrap_or(place).clone()
    }

    /// The place that a page at this place goes to, if it moves.
    pub fn target(&self, place: &PagePlace) -> Option<&PagePlace> {
        self.pages.get(place)
    }

    /// The place from which a page comes to this one, if one does.
    pub fn source(&self, place: &PagePlace) -> Option<&PagePlace> {
        let mut pages = self.pages.iter();
        pages.find(|(_, to)| *to == place).map(|(from, _)| from)
    }

    /// True if headings go from a page to a new one.
    pub fn take_headings(&self) -> bool {
        self.headings.values().any(|homes| !homes.is_empty())
    }

    /// The same, except for moves from these places.
    pub fn without(&self, places: &HashSet<PagePlace>) -> Self {
        let mut kept = self.clone();
        kept.pages.retain(|from, _| !places.contains(from));
        kept.headings.retain(|from, _| !places.contains(from));
        kept
    }
}

impl FromIterator<(PagePlace, PagePlace)> for Moves {
    fn from_iter<I: IntoIterator<Item = (PagePlace, PagePlace)>>(moves: I) -> Self {
        let moves = moves.into_iter().filter(|(from, to)| from != to);
        Self {
            pages: moves.collect(),
            ..Self::default()
        }
    }
}

/// A page that is made of a part of another one, both in Markdown.
#[derive(Debug, Clone, Copy)]
pub struct PartPage<'a> {
    /// Its place.
    pub place: &'a PagePlace,
    /// Its title, which may be the part's heading.
    pub title: &'a str,
    /// Its source.
    pub text: &'a str,
}

/// The page that has a heading now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HeadingHome {
    /// This page has it.
    Page(PagePlace),
    /// It is the title of this page.
    Title(PagePlace),
    /// Several new pages have it.
    Several,
}

impl HeadingHome {
    pub(super) const fn place(&self) -> Option<&PagePlace> {
        match self {
            Self::Page(place) | Self::Title(place) => Some(place),
            Self::Several => None,
        }
    }
}

/// The pages that have headings which are on this page no more, by the forgiving form of their
/// anchors.
pub(super) type Homes = HashMap<String, HeadingHome>;

impl Moves {
    /// The same, with the headings that go from the page at a place to new pages, by its source
    /// before and after.
    pub fn with_headings(
        mut self,
        page: &PagePlace,
        (before, after): (&str, &str),
        parts: &[PartPage<'_>],
    ) -> Self {
        let (were, stay) = (names(before), names(after));
        let parts: Vec<_> = parts.iter().map(|part| (part, names(part.text))).collect();
        let mut homes = Homes::new();
        for (part, names) in &parts {
            let home = HeadingHome::Page(part.place.clone());
            for name in names.intersection(&were) {
                let is_other = homes.insert(name.clone(), home.clone()).is_some();
                if is_other {
                    homes.insert(name.clone(), HeadingHome::Several);
                }
            }
        }
        for (part, _) in &parts {
            let title = folded(&part.title.to_lowercase());
            if were.contains(&title) {
                let home = HeadingHome::Title(part.place.clone());
                homes.entry(title).or_insert(home);
            }
        }
        let of_page = homes.iter().filter(|(name, _)| !stay.contains(*name));
        let of_page = of_page.map(|(name, home)| (name.clone(), home.clone()));
        let of_page = of_page.collect();
        let own = HeadingHome::Page(self.after(page));
        homes.extend(stay.into_iter().map(|name| (name, own.clone())));
        for (part, names) in parts {
            let others = homes.iter().filter(|(name, _)| !names.contains(*name));
            let others = others.map(|(name, home)| (name.clone(), home.clone()));
            self.in_parts.insert(part.place.clone(), others.collect());
        }
        self.headings.insert(page.clone(), of_page);
        self
    }
}

/// The anchors of a page's headings.
fn names(text: &str) -> BTreeSet<String> {
    let outline = Outline::new(text);
    let of_one = outline.headings.iter().flat_map(|heading| {
        let lines = text.get(heading.lines.clone()).unwrap_or_default();
        let mut names = anchors(lines).unwrap_or_default();
        names.insert(folded(&heading.text.to_lowercase()));
        names
    });
    of_one.filter(|name| !name.is_empty()).collect()
}
