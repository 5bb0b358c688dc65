//! Finds the pages that link to the old places of a set, and the links of a moved page that will
//! lead elsewhere.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::change::{Change, Operation, Warning};
use crate::gates::{ChangeSet, SetChange};
use crate::index::ContentIndex;
use crate::page::{Field, LinkBase, LinkKind, Moves, PagePlace, links, mend_links};
use crate::words::counted;

use super::super::answer::LinkedFrom;
use super::wiki_links::WikiLinks;

/// The code of the warning that links will lead nowhere.
pub(crate) const BREAKS: &str = "links_break";
/// The code of the warning that the page's own links will lead elsewhere.
pub(crate) const OWN_BREAK: &str = "own_links_break";
/// The time limit for the search.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most pages that are named.
pub(crate) const MAX_NAMED: usize = 20;

/// The links around a change.
#[derive(Debug, Clone, Default)]
pub(crate) struct AffectedLinks {
    /// The first of the pages that link to its page's old place.
    pub(crate) linked_from: Vec<LinkedFrom>,
    /// Warnings about them and about the page's own links.
    pub(crate) warnings: Vec<Warning>,
}

/// Looks at the links around each change of a set, in order, as far as the key may read and until
/// the time is over. Sends nothing for a set that leaves no place.
pub(crate) async fn look(index: &Arc<ContentIndex>, set: &ChangeSet) -> Vec<AffectedLinks> {
    if set.iter().all(|one| one.change.place_left().is_none()) {
        return Vec::new();
    }
    let until = Instant::now() + PATIENCE;
    let known = tokio::time::timeout(PATIENCE, WikiLinks::read(index)).await;
    let Ok(Some(Ok(known))) = known else {
        return set.iter().map(|one| unknown(&one.change)).collect();
    };
    let set = set.clone();
    let looked = crate::blocking::run(move || known.around(&set, until));
    looked.await.unwrap_or_default()
}

/// The first of the pages that link to any old place of a set, each once.
pub(crate) fn first_named(mut pages: Vec<LinkedFrom>) -> Vec<LinkedFrom> {
    pages.sort_by_key(|page| page.id);
    pages.dedup_by_key(|page| page.id);
    pages.truncate(MAX_NAMED);
    pages
}

/// The answer if the links could not be looked at.
fn unknown(change: &Change) -> AffectedLinks {
    let message =
        "which pages link here could not be read; links that lead here will lead nowhere.";
    let warnings = change.place_left().map(|_| Warning::new(BREAKS, message));
    AffectedLinks {
        linked_from: Vec::new(),
        warnings: warnings.into_iter().collect(),
    }
}

impl WikiLinks {
    /// The links around each change.
    fn around(&self, set: &ChangeSet, until: Instant) -> Vec<AffectedLinks> {
        let left: HashSet<PagePlace> = set
            .iter()
            .filter_map(|one| one.change.place_left())
            .collect();
        // A page that is not in the list counts as missing.
        let listed: HashSet<i64> = self.pages.iter().filter_map(|page| page.id).collect();
        let (linking, is_whole) = self.linking(&left, until);
        let gap = if is_whole {
            self.gap.clone()
        } else {
            Some("not all links could be looked at in time".to_owned())
        };
        let written = self.written(set);
        let (moves, taken) = (moves(set), places_taken(set));
        let around = |one: &SetChange| {
            let Some(place) = one.change.place_left() else {
                return AffectedLinks::default();
            };
            let own = one.change.target().id;
            // Where the set puts another page at the place, the texts that it writes mean that page.
            let is_taken = taken.contains(&place);
            let still_links = |id: &i64| {
                written.get(id).is_none_or(|(to, is_written)| {
                    !(is_taken && *is_written) && to.contains(&place)
                })
            };
            let ids = linking.get(&place).into_iter().flatten();
            let ids: BTreeSet<i64> = ids
                .copied()
                .filter(|id| Some(*id) != own && listed.contains(id) && still_links(id))
                .collect();
            let mut warnings: Vec<Warning> = break_warning(ids.len(), is_taken, gap.as_deref())
                .into_iter()
                .collect();
            // A set that mends links names each link that is left.
            if set.batch().mending.is_none() {
                warnings.extend(self.own_links(one, &place, &moves));
            }
            AffectedLinks {
                linked_from: self.named(&ids, &place),
                warnings,
            }
        };
        set.iter().map(around).collect()
    }

    /// The places to which each page of a set links once all of it is written, and true if the set
    /// writes its text.
    fn written(&self, set: &ChangeSet) -> HashMap<i64, (HashSet<PagePlace>, bool)> {
        let pages = set.iter().filter_map(|one| {
            let is_written = one.change.fields().contains(&Field::Content);
            let id = one.change.before()?.id?;
            Some((id, (self.afterwards(&one.change), is_written)))
        });
        pages.collect()
    }

    /// The places to which a page of the set links once all of it is written.
    fn afterwards(&self, change: &Change) -> HashSet<PagePlace> {
        let Some(page) = change.after() else {
            return HashSet::new();
        };
        let place = page.place();
        let base = LinkBase::new(&place, &self.site);
        let links = links(&page.content, page.format());
        let links = links.iter().filter(|link| link.kind == LinkKind::Link);
        links
            .filter_map(|link| base.place(&link.target, link.carrier))
            .collect()
    }

    fn named(&self, ids: &BTreeSet<i64>, place: &PagePlace) -> Vec<LinkedFrom> {
        let pages = self.pages.iter();
        let named: BTreeMap<i64, LinkedFrom> = pages
            .filter_map(|page| {
                let id = page.id.filter(|id| ids.contains(id))?;
                let path = if page.locale == place.0 {
                    page.path.as_str().to_owned()
                } else {
                    format!("/{}/{}", page.locale, page.path)
                };
                let title = page.title.clone();
                Some((id, LinkedFrom { id, path, title }))
            })
            .collect();
        named.into_values().take(MAX_NAMED).collect()
    }

    /// A warning about a page's own links that lead elsewhere, or nowhere, once it is moved.
    fn own_links(&self, one: &SetChange, place: &PagePlace, moves: &Moves) -> Option<Warning> {
        let (before, page) = (one.change.before()?, one.change.after()?);
        let mend = |text| mend_links(text, page.format(), place, moves, &self.site);
        let mut mended = mend(&before.content);
        if mended.text == page.content {
            // The change mends them itself.
            mended.mended.clear();
        } else if page.content != before.content {
            mended = mend(&page.content);
        }
        // Without an update after the move the wiki does not render the page where it goes (W49).
        let stale = if one.change.steps().contains(&Operation::Update) {
            &[][..]
        } else {
            &mended.stale
        };
        let lines = mended.mended.iter().map(|link| link.line);
        let lines: BTreeSet<usize> = lines
            .chain(mended.left.iter().map(|link| link.line))
            .chain(stale.iter().copied())
            .collect();
        let count = mended.mended.len() + mended.left.len() + stale.len();
        let shown: Vec<String> = lines.iter().take(MAX_NAMED).map(usize::to_string).collect();
        let cut = if lines.len() > MAX_NAMED {
            " and on"
        } else {
            ""
        };
        let message = format!(
            "{} elsewhere once it is moved ({} {}{cut}).",
            counted(
                count,
                "link of the page itself leads",
                "links of the page itself lead"
            ),
            if lines.len() == 1 { "line" } else { "lines" },
            shown.join(", ")
        );
        (count > 0).then(|| Warning::new(OWN_BREAK, message))
    }
}

/// The places that a set takes.
fn places_taken(set: &ChangeSet) -> HashSet<PagePlace> {
    let taken = set.iter().filter_map(|one| one.change.place_taken());
    taken.collect()
}

/// The moves of the pages of a set.
fn moves(set: &ChangeSet) -> Moves {
    set.iter()
        .filter_map(|one| Some((one.change.before()?, one.change.after()?)))
        .map(|(before, after)| (before.place(), after.place()))
        .collect()
}

/// The warning about this many pages that link to a place, which another page may take.
fn break_warning(count: usize, is_taken: bool, gap: Option<&str>) -> Option<Warning> {
    let lead = if is_taken {
        "to another page"
    } else {
        "nowhere"
    };
    let message = match (count, gap) {
        (0, None) => return None,
        (0, Some(gap)) => format!("no page is known to link here, but {gap}."),
        (count, gap) => {
            let pages = counted(count, "page links", "pages link");
            let gap = gap.map_or_else(String::new, |gap| format!("; {gap}"));
            format!("{pages} here, and those links will lead {lead}{gap}.")
        }
    };
    Some(Warning::new(BREAKS, message))
}

#[cfg(test)]
mod tests {
    use super::break_warning;

    #[test]
    fn nothing_is_warned_of_only_where_all_was_looked_at() {
        assert_eq!(break_warning(0, false, None), None);
        let message = |count, gap| break_warning(count, false, gap).unwrap().message;
        let taken = break_warning(1, true, None).unwrap().message;
        assert!(taken.ends_with("will lead to another page."), "{taken}");
        assert!(message(0, Some("x")).ends_with("but x."));
        assert!(message(1, None).starts_with("1 page links here"));
        assert!(message(2, Some("x")).ends_with("nowhere; x."));
    }
}
