//! Puts the changes of a set into an order in which they can be made.

use std::collections::{HashMap, HashSet};

use crate::change::Change;
use crate::page::PagePlace;

/// The same changes, each after the one that frees its place; deletes last, except those whose
/// places are needed. The order is kept otherwise.
pub(super) fn in_order_of_need(changes: Vec<Change>) -> Vec<Change> {
    let frees: HashMap<PagePlace, usize> = changes
        .iter()
        .enumerate()
        .filter_map(|(at, change)| Some((change.place_left()?, at)))
        .collect();
    let needs: Vec<Option<usize>> = changes
        .iter()
        .map(|change| frees.get(&change.place_taken()?).copied())
        .collect();
    let is_delete = |at: &usize| changes.get(*at).is_some_and(|one| one.after().is_none());
    let (deletes, others): (Vec<usize>, Vec<usize>) = (0..changes.len()).partition(is_delete);
    let (mut order, mut placed) = (Vec::with_capacity(changes.len()), HashSet::new());
    for first in others.into_iter().chain(deletes) {
        // A change comes after the one it needs. Pages that change places have no order: one of
        // them goes by a temporary place.
        let mut chain = Vec::new();
        let mut next = Some(first);
        while let Some(at) = next.filter(|at| placed.insert(*at)) {
            chain.push(at);
            next = needs.get(at).copied().flatten();
        }
        order.extend(chain.into_iter().rev());
    }
    let mut changes: Vec<Option<Change>> = changes.into_iter().map(Some).collect();
    let taken = order
        .into_iter()
        .filter_map(|at| changes.get_mut(at)?.take());
    taken.collect()
}

#[cfg(test)]
mod tests {
    use super::in_order_of_need;
    use crate::change::Change;
    use crate::page::testing::page;
    use crate::page::{PagePath, PageState};

    fn at(id: i64, path: &str) -> PageState {
        PageState {
            id: Some(id),
            path: PagePath::as_stored(path),
            ..page()
        }
    }

    fn moved(id: i64, from: &str, to: &str) -> Change {
        Change::between(at(id, from), at(id, to))
    }

    fn made(path: &str) -> Change {
        Change::recreate(at(0, path))
    }

    fn order(changes: Vec<Change>) -> Vec<String> {
        let told = |change: &Change| {
            let place =
                |page: Option<&PageState>| page.map_or("-", |page| page.path.as_str()).to_owned();
            format!("{}>{}", place(change.before()), place(change.after()))
        };
        in_order_of_need(changes).iter().map(told).collect()
    }

    #[test]
    fn deletes_go_last_unless_a_later_change_needs_their_place() {
        let delete = |id, path| Change::delete(at(id, path));
        assert_eq!(
            order(vec![delete(1, "a"), moved(2, "b", "c"), made("d")]),
            ["b>c", "->d", "a>-"]
        );
        assert_eq!(
            order(vec![
                delete(1, "a"),
                moved(2, "b", "a"),
                made("b"),
                delete(3, "e")
            ]),
            ["a>-", "b>a", "->b", "e>-"]
        );
    }

    #[test]
    fn who_needs_a_place_comes_after_who_leaves_it_and_nothing_is_lost_in_a_circle() {
        assert_eq!(
            order(vec![made("a"), moved(1, "a", "b"), moved(2, "b", "c")]),
            ["b>c", "a>b", "->a"]
        );
        assert_eq!(
            order(vec![
                moved(1, "a/a/a", "a/a"),
                moved(2, "a/a", "a"),
                moved(3, "b", "c")
            ]),
            ["a/a>a", "a/a/a>a/a", "b>c"]
        );
        let circle = order(vec![moved(1, "a", "b"), moved(2, "b", "a")]);
        assert_eq!(circle.len(), 2);
    }
}
