//! A part of the wiki that moves: all pages at or below a path.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::super::{Locale, PagePath};

/// A part of the wiki and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedPart {
    /// The locale of its pages.
    pub locale: Locale,
    /// They stand at this path or below it.
    pub from: PagePath,
    /// The locale that they go to.
    pub to_locale: Locale,
    /// The path that stands for `from` there.
    pub to: PagePath,
}

impl MovedPart {
    /// Whether it would go to its own place or below it.
    #[must_use]
    pub fn goes_into_itself(&self) -> bool {
        self.locale == self.to_locale && self.to.is_within(&self.from)
    }

    /// The path that a page of the part goes to; nothing for a page of another part.
    #[must_use]
    pub fn path_of(&self, page: &PagePath) -> Option<PagePath> {
        let rest = page.as_str().strip_prefix(self.from.as_str())?;
        if !page.is_within(&self.from) {
            return None;
        }
        let path = [self.to.as_str(), rest.trim_start_matches('/')].join("/");
        Some(PagePath::as_stored(path.trim_matches('/')))
    }
}

/// Puts moves in an order in which each finds its new place free, as far as an earlier one frees
/// it; `places` tells where each begins and ends. Those that wait for each other keep their order.
pub fn in_order<T, P: Eq + Hash>(moves: Vec<T>, places: impl Fn(&T) -> (P, P)) -> Vec<T> {
    let begins: HashMap<P, usize> = moves
        .iter()
        .enumerate()
        .map(|(at, one)| (places(one).0, at))
        .collect();
    // Whose place each one takes.
    let waits_for: Vec<Option<usize>> = moves
        .iter()
        .map(|one| begins.get(&places(one).1).copied())
        .collect();
    let (mut order, mut done) = (Vec::with_capacity(moves.len()), HashSet::new());
    for at in 0..moves.len() {
        let mut chain = vec![at];
        let mut seen = HashSet::from([at]);
        while let Some(before) = chain.last().and_then(|last| waits_for.get(*last).copied()?)
            && !done.contains(&before)
            && seen.insert(before)
        {
            chain.push(before);
        }
        order.extend(chain.into_iter().rev().filter(|at| done.insert(*at)));
    }
    let mut moves: Vec<Option<T>> = moves.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|at| moves.get_mut(at)?.take())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{MovedPart, in_order};
    use crate::page::{Locale, PagePath};

    fn part(from: &str, to: &str) -> MovedPart {
        MovedPart {
            locale: Locale::as_stored("en"),
            from: PagePath::as_stored(from),
            to_locale: Locale::as_stored("en"),
            to: PagePath::as_stored(to),
        }
    }

    #[test]
    fn all_pages_at_or_below_a_path_go_below_another() {
        let moved = |from, to, page| {
            let path = part(from, to).path_of(&PagePath::as_stored(page));
            path.map(|path| path.as_str().to_owned())
        };
        let some = |path: &str| Some(path.to_owned());
        assert_eq!(moved("docs", "old/docs", "docs"), some("old/docs"));
        assert_eq!(moved("docs", "old/docs", "docs/b/c"), some("old/docs/b/c"));
        assert_eq!(moved("docs/b", "docs", "docs/b/c"), some("docs/c"));
        assert_eq!(moved("docs", "old", "docsx"), None);
        assert_eq!(moved("docs", "old", "x/docs"), None);
    }

    #[test]
    fn a_part_goes_into_itself_only_in_its_own_locale() {
        assert!(part("docs", "docs/b").goes_into_itself());
        assert!(part("docs", "docs").goes_into_itself());
        assert!(!part("docs", "docsx").goes_into_itself());
        assert!(!part("docs/b", "docs").goes_into_itself());
        let german = MovedPart {
            to_locale: Locale::as_stored("de"),
            ..part("docs", "docs/b")
        };
        assert!(!german.goes_into_itself());
    }

    #[test]
    fn a_move_comes_after_the_one_that_frees_its_place() {
        let order = |moves: &[(&'static str, &'static str)]| {
            let moves = in_order(moves.to_vec(), |one| *one);
            moves.into_iter().map(|(from, _)| from).collect::<Vec<_>>()
        };
        assert_eq!(
            order(&[("a/a/a", "a/a"), ("a/a", "a"), ("b", "c")]),
            ["a/a", "a/a/a", "b"]
        );
        assert_eq!(
            order(&[("c", "b"), ("b", "a"), ("a", "z")]),
            ["a", "b", "c"]
        );
        // None of these two can be first; both come once.
        assert_eq!(order(&[("a", "b"), ("b", "a")]).len(), 2);
        assert_eq!(order(&[]), [""; 0]);
    }
}
