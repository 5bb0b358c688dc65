//! Finds the dependencies between the changes of a proposed set: whoever leaves one out leaves out
//! what depends on it.
//!
//! A change depends on another one
//! - if it takes a place that the other leaves;
//! - if it does nothing but mend links to what the other moves, and all else that it mends links to
//!   is left out as well; where some moves stay, it stays with the links to these;
//! - if it is the move that the other mends links to, and the other does nothing else: without it
//!   those links would break.
//!
//! A new page to which links are mended, because it has headings of another page now, counts as a
//! move, but stays without them: the text that it has is perhaps nowhere else. Without the page, all that does
//! nothing but mend links to it is left out; other changes stay, and their links to it are named.
//!
//! A page that is left out stays as it is: its own links to what moves then lead nowhere, and are
//! named before anybody says yes.

use std::collections::{HashMap, HashSet};

use crate::change::Change;
use crate::gates::LinkLeft;
use crate::page::{LinkBase, LinkedSite, Moves, PageLink, PagePlace, PageState, links, mend_links};

/// The dependencies between the changes of a set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Needs(Vec<ChangeDependency>);

/// The needs of one change.
#[derive(Debug, Clone, Default)]
struct ChangeDependency {
    /// The change that leaves the place which this one takes.
    place: Option<usize>,
    /// The moves to which it mends links, if it does nothing else.
    mends: Option<HashSet<usize>>,
    /// True if it makes a page.
    creates: bool,
}

impl Needs {
    /// The dependencies between changes, each given with true if it does nothing but mend links.
    /// Where links lead the wiki decides; where nobody knows, such a change mends links to all
    /// moves.
    pub(crate) fn of(changes: &[(&Change, bool)], site: Option<&LinkedSite>) -> Self {
        let all = || changes.iter().map(|(change, _)| *change).enumerate();
        let frees: HashMap<PagePlace, usize> = all()
            .filter_map(|(at, change)| Some((change.place_left()?, at)))
            .collect();
        let moves: HashMap<PagePlace, usize> = all()
            .filter_map(|(at, change)| Some((arrives(change)?, at)))
            .collect();
        let need = |(change, only_mends): &(&Change, bool)| ChangeDependency {
            place: change
                .place_taken()
                .and_then(|place| frees.get(&place).copied()),
            mends: only_mends.then(|| mends(change, &moves, site)),
            creates: change.before().is_none(),
        };
        Self(changes.iter().map(need).collect())
    }

    /// These changes and all that depend on them, in order; numbers of no change count for nothing.
    pub(crate) fn left_out_with(&self, wanted: &[usize]) -> Vec<usize> {
        let mut out: HashSet<usize> = wanted
            .iter()
            .copied()
            .filter(|number| *number < self.0.len())
            .collect();
        loop {
            let before = out.len();
            for (at, need) in self.0.iter().enumerate() {
                if need.place.is_some_and(|place| out.contains(&place)) {
                    out.insert(at);
                }
                let Some(mends) = &need.mends else { continue };
                let creates = |at: &&usize| self.0.get(**at).is_some_and(|one| one.creates);
                let has_none = || mends.iter().filter(creates).any(|at| out.contains(at));
                if out.contains(&at) {
                    out.extend(mends.iter().filter(|at| !creates(at)));
                } else if !mends.is_empty() && mends.is_subset(&out) || has_none() {
                    out.insert(at);
                }
            }
            if out.len() == before {
                break;
            }
        }
        let mut out: Vec<usize> = out.into_iter().collect();
        out.sort_unstable();
        out
    }
}

/// The old and the new place of a change's page, if it moves.
fn moved(change: &Change) -> Option<(PagePlace, PagePlace)> {
    let page = change.after().filter(|_| change.moves())?;
    Some((change.place_left()?, page.place()))
}

/// The place to which a change brings a page, from elsewhere or as a new one.
fn arrives(change: &Change) -> Option<PagePlace> {
    match change.before() {
        Some(_) => Some(moved(change)?.1),
        None => change.after().map(PageState::place),
    }
}

/// The moves to which a change mends links: those to whose new places the page links only
/// afterwards.
fn mends(
    change: &Change,
    moves: &HashMap<PagePlace, usize>,
    site: Option<&LinkedSite>,
) -> HashSet<usize> {
    let all = || moves.values().copied().collect();
    let (Some(before), Some(after), Some(site)) = (change.before(), change.after(), site) else {
        return all();
    };
    let (before, after) = (places(before, site), places(after, site));
    let new = after.difference(&before);
    let mends: HashSet<usize> = new.filter_map(|place| moves.get(place).copied()).collect();
    if mends.is_empty() { all() } else { mends }
}

/// The places to which a page links.
fn places(page: &PageState, site: &LinkedSite) -> HashSet<PagePlace> {
    let own = page.place();
    let base = LinkBase::new(&own, site);
    let all = links(&page.content, page.format());
    all.iter()
        .filter_map(|link| base.place(&link.target, link.carrier))
        .collect()
}

/// A change without the moves that are left out: its links to these lead to where their pages stay;
/// and the links that cannot be made to. One that takes a write back stays as it is.
pub(super) fn without(
    change: Change,
    left_out: &[&Change],
    site: &LinkedSite,
) -> (Change, Vec<LinkLeft>) {
    let back: Moves = left_out
        .iter()
        .filter_map(|change| moved(change))
        .map(|(from, to)| (to, from))
        .collect();
    let (Some(before), Some(after)) = (change.before(), change.after()) else {
        return (change, Vec::new());
    };
    let mended = mend_links(&after.content, after.format(), &after.place(), &back, site);
    let named = mended.left.into_iter();
    let named = named.map(|link| (link.link, link.line, link.why.words()));
    let gone = links_to_new(before, after, left_out, site).into_iter();
    let gone = gone.map(|(link, line)| (link, line, NOT_MADE));
    let left = named.chain(gone).map(|(link, line, why)| LinkLeft {
        id: before.id.unwrap_or_default(),
        place: before.place(),
        link: Some((link, line)),
        why: why.into(),
    });
    let left = left.collect();
    if mended.text == after.content {
        return (change, left);
    }
    let after = PageState {
        content: mended.text,
        ..after.clone()
    };
    let lost = change.lost().to_vec();
    let anew = Change::between(before.clone(), after).with_loss_of(lost);
    (anew.by_way_of(change.aside().cloned()), left)
}

/// The links of a page whose change is left out to the old places of the pages that move all the
/// same.
pub(super) fn broken_in(left_out: &Change, moving: &[&Change], site: &LinkedSite) -> Vec<LinkLeft> {
    let Some(page) = left_out.before().filter(|page| page.thing.is_none()) else {
        return Vec::new();
    };
    let moves: Moves = moving.iter().filter_map(|change| moved(change)).collect();
    let mended = mend_links(&page.content, page.format(), &page.place(), &moves, site);
    let mendable = mended.mended.into_iter().map(|one| (one.before, one.line));
    let left = mended.left.into_iter().map(|one| (one.link, one.line));
    let links = mendable.chain(left).map(|link| LinkLeft {
        id: page.id.unwrap_or_default(),
        place: page.place(),
        link: Some(link),
        why: STAYS.into(),
    });
    links.collect()
}

/// The links that a page gets to new pages that are left out, each with its line.
fn links_to_new(
    before: &PageState,
    after: &PageState,
    left_out: &[&Change],
    site: &LinkedSite,
) -> Vec<(String, usize)> {
    let new = left_out.iter().filter(|change| change.before().is_none());
    let mut new: HashSet<PagePlace> = new.filter_map(|it| Some(it.after()?.place())).collect();
    if new.is_empty() {
        return Vec::new();
    }
    let known = places(before, site);
    new.retain(|place| !known.contains(place));
    let own = after.place();
    let base = LinkBase::new(&own, site);
    let leads_to_new = |link: &PageLink| {
        let place = base.place(&link.target, link.carrier);
        place.is_some_and(|place| new.contains(&place))
    };
    let all = links(&after.content, after.format()).into_iter();
    all.filter(leads_to_new)
        .map(|link| (link.target, link.line))
        .collect()
}

/// The reason why a link to a new page will lead nowhere.
const NOT_MADE: &str = "the page that it leads to is left out";

/// The reason why a page keeps links that will lead nowhere.
const STAYS: &str = "the change of its page is left out";

#[cfg(test)]
mod tests {
    use super::{Needs, broken_in, without};
    use crate::change::Change;
    use crate::page::testing::{But as _, linked_site, placed};
    use crate::page::{LinkedSite, PageState};

    fn site() -> LinkedSite {
        linked_site("https://wiki.example".parse().unwrap())
    }

    fn at(id: i64, path: &str, content: &str) -> PageState {
        placed(id, path).but(|it| it.content = content.to_owned())
    }

    fn moved(id: i64, from: &str, to: &str) -> (Change, bool) {
        let change = Change::between(at(id, from, "x\n"), at(id, to, "x\n"));
        (change, false)
    }

    fn mended(id: i64, before: &str, after: &str) -> (Change, bool) {
        let change = Change::between(at(id, "links", before), at(id, "links", after));
        (change, true)
    }

    fn deleted(id: i64, path: &str) -> (Change, bool) {
        (Change::delete(at(id, path, "x\n")), false)
    }

    fn made(path: &str) -> (Change, bool) {
        (Change::recreate(at(0, path, "x\n")), false)
    }

    fn needs(changes: &[(Change, bool)], site: Option<&LinkedSite>) -> Needs {
        let changes: Vec<(&Change, bool)> = changes.iter().map(|(one, is)| (one, *is)).collect();
        Needs::of(&changes, site)
    }

    /// Changes, those that a person leaves out, and what stays out.
    type Row<'a> = (&'a [(Change, bool)], &'a [usize], &'a [usize]);

    #[test]
    fn what_depends_on_what_is_left_out_is_left_out() {
        let section = [
            moved(1, "docs/x", "guide/x"),
            moved(2, "docs/y", "guide/y"),
            mended(3, "[x](/docs/x)\n", "[x](/guide/x)\n"),
            mended(
                4,
                "[x](/docs/x) [y](/docs/y)\n",
                "[x](/guide/x) [y](/guide/y)\n",
            ),
        ];
        let chain = [
            moved(1, "c", "d"),
            moved(2, "b", "c"),
            moved(3, "a", "b"),
            made("a"),
            made("e"),
        ];
        let deletes = [
            deleted(1, "a"),
            made("a"),
            deleted(2, "b"),
            moved(3, "c", "b"),
        ];
        let split = [
            made("new"),
            (mended(1, "# h\n", "\n").0, false),
            mended(2, "[x](/old#h)\n", "[x](/new#h)\n"),
        ];
        let both = [
            made("new"),
            moved(3, "docs/y", "guide/y"),
            mended(
                2,
                "[x](/old#h) [y](/docs/y)\n",
                "[x](/new#h) [y](/guide/y)\n",
            ),
        ];
        let table: [Row; 19] = [
            (&section, &[], &[]),
            // The page that links to the other one stays, too.
            (&section, &[0], &[0, 2]),
            (&section, &[1], &[1]),
            (&section, &[0, 1], &[0, 1, 2, 3]),
            // Without the mending the moves would break links.
            (&section, &[2], &[0, 2]),
            (&section, &[3], &[0, 1, 2, 3]),
            // Who leaves its place stays in it.
            (&chain, &[0], &[0, 1, 2, 3]),
            (&chain, &[2], &[2, 3]),
            (&chain, &[3], &[3]),
            (&chain, &[4], &[4]),
            (&chain, &[4, 4, 3, 99], &[3, 4]),
            // The text of a page that is made of another's is nowhere else.
            (&split, &[0], &[0, 2]),
            (&split, &[2], &[2]),
            // Nor does a page link to one that is not made, though what else it mends is.
            (&both, &[0], &[0, 1, 2]),
            (&both, &[1], &[1]),
            (&both, &[2], &[1, 2]),
            (&deletes, &[0], &[0, 1]),
            (&deletes, &[2], &[2, 3]),
            (&deletes, &[1, 3], &[1, 3]),
        ];
        let site = site();
        for (changes, wanted, expected) in table {
            let needs = needs(changes, Some(&site));
            assert_eq!(needs.left_out_with(wanted), expected, "{wanted:?}");
            // What is left out with others takes nothing more with it.
            assert_eq!(needs.left_out_with(expected), expected, "{wanted:?}");
        }
        let unknown = needs(&section, None);
        assert_eq!(unknown.left_out_with(&[0]), [0]);
        assert_eq!(unknown.left_out_with(&[0, 1]), [0, 1, 2, 3]);
        assert_eq!(unknown.left_out_with(&[2]), [0, 1, 2, 3]);
    }

    #[test]
    fn pages_that_change_places_stay_together() {
        let circle = [moved(1, "a", "b"), moved(2, "b", "a")];
        assert_eq!(needs(&circle, None).left_out_with(&[1]), [0, 1]);
    }

    #[test]
    fn links_to_what_is_left_out_lead_to_where_it_stays() {
        let left_out = moved(1, "docs/x", "guide/x").0;
        let content = |change: &Change| change.after().unwrap().content.clone();
        let both = mended(
            4,
            "[x](/docs/x) [y](/docs/y)\n",
            "[x](/guide/x) [y](/guide/y)\n",
        )
        .0;
        let (anew, left) = without(both, &[&left_out], &site());
        assert_eq!(left, []);
        assert_eq!(content(&anew), "[x](/docs/x) [y](/guide/y)\n");
        let own = Change::between(
            at(5, "docs/z", "[x](x)\n"),
            at(5, "guide/z", "[x](/guide/x#s)\n"),
        );
        let (anew, _) = without(own, &[&left_out], &site());
        assert_eq!(content(&anew), "[x](/docs/x#s)\n");
        assert_eq!(anew.after().unwrap().path.as_str(), "guide/z");
        let other = mended(6, "[y](/docs/y)\n", "[y](/guide/y)\n").0;
        assert_eq!(without(other.clone(), &[&left_out], &site()).0, other);
        let in_code = Change::between(
            at(7, "docs/w", "a\n<code>[x](/docs/x)</code>\n"),
            at(7, "guide/w", "a\n<code>[x](/guide/x)</code>\n"),
        );
        let (anew, left) = without(in_code.clone(), &[&left_out], &site());
        assert_eq!(anew, in_code);
        assert_eq!((left.len(), left[0].id, &*left[0].why), (1, 7, "in code"));
        assert_eq!(left[0].link, Some(("/guide/x".to_owned(), 2)));
    }

    #[test]
    fn links_of_a_page_that_stays_to_a_new_one_that_is_left_out_are_named() {
        let new = made("new").0;
        let changed = Change::between(
            at(5, "docs/z", "[o](/old#h)\n"),
            at(5, "docs/z", "Else.\n\n[o](/new#h) [w](/docs/w)\n"),
        );
        let (anew, left) = without(changed.clone(), &[&new], &site());
        assert_eq!(anew, changed);
        assert_eq!(
            (left.len(), left[0].id, &*left[0].why),
            (1, 5, super::NOT_MADE)
        );
        assert_eq!(left[0].link, Some(("/new#h".to_owned(), 3)));
        // A link that was there before is not this set's.
        let linked = Change::between(at(6, "a", "[n](/new)\n"), at(6, "a", "x [n](/new)\n"));
        assert_eq!(without(linked, &[&new], &site()).1, []);
    }

    #[test]
    fn links_of_a_page_that_is_left_out_to_what_moves_are_named() {
        let stays = Change::between(
            at(5, "docs/z", "[x](/docs/x)\n\n[y](/docs/y) [x](./x)\n"),
            at(5, "guide/z", "[x](/guide/x)\n\n[y](/docs/y) [x](./x)\n"),
        );
        let moves = moved(1, "docs/x", "guide/x").0;
        let broken = broken_in(&stays, &[&moves], &site());
        let links: Vec<_> = broken.iter().filter_map(|one| one.link.clone()).collect();
        assert_eq!(links, [("/docs/x".to_owned(), 1), ("./x".to_owned(), 3)]);
        assert!(
            broken
                .iter()
                .all(|one| one.id == 5 && one.why == super::STAYS)
        );
        assert_eq!(broken_in(&stays, &[], &site()), []);
    }
}
