//! Puts the changes of a set into an order in which they can be made.

use std::collections::{HashMap, HashSet};

use crate::change::Change;
use crate::error::Result;
use crate::gates::{LeftOut, SetChange};
use crate::page::PagePlace;
use crate::wiki::Wiki;

use crate::write::links::new_place;

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

/// Orders changes so that each finds its place free; leaves out those whose places other pages
/// take.
pub(super) async fn in_order(
    wiki: &Wiki,
    changes: Vec<SetChange>,
) -> Result<(Vec<SetChange>, Vec<LeftOut>)> {
    let mut waiting = Vec::new();
    for one in changes {
        let is_taken = new_place::is_taken(wiki, &one.change).await?;
        waiting.push((one, is_taken));
    }
    let (ordered, taken) = ordered(waiting);
    let left_out = taken
        .iter()
        .map(|one| LeftOut::new(one.change.target(), "another page stands at its old path"));
    Ok((ordered, left_out.collect()))
}

/// Orders changes so that each finds its place free, as early as possible; second, those whose
/// places stay taken. The flag says whether the change's place is taken now. Pages that change
/// places come last: one of them goes by a temporary place.
fn ordered(mut waiting: Vec<(SetChange, bool)>) -> (Vec<SetChange>, Vec<SetChange>) {
    let mut ordered: Vec<SetChange> = Vec::new();
    let mut freed = Vec::new();
    while let Some(next) = waiting.iter().position(|(one, is_taken)| {
        let to = one.change.place_taken();
        !is_taken || to.is_some_and(|to| freed.contains(&to))
    }) {
        let (one, _) = waiting.remove(next);
        freed.extend(one.change.place_left());
        ordered.push(one);
    }
    let mut circles: Vec<SetChange> = waiting.into_iter().map(|(one, _)| one).collect();
    let mut taken = Vec::new();
    while let Some(stuck) = circles.iter().position(|one| {
        let to = one.change.place_taken();
        !circles.iter().any(|other| other.change.place_left() == to)
    }) {
        taken.push(circles.remove(stuck));
    }
    ordered.extend(circles);
    (ordered, taken)
}

#[cfg(test)]
mod tests {
    use super::{in_order_of_need, ordered};
    use crate::change::Change;
    use crate::gates::SetChange;
    use crate::page::PageState;
    use crate::page::testing::placed as at;

    fn moved(id: i64, from: &str, to: &str) -> Change {
        Change::between(at(id, from), at(id, to))
    }

    fn ids(all: &[SetChange]) -> Vec<i64> {
        let ids = all.iter().map(|one| one.change.target().id.unwrap());
        ids.collect()
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

    #[test]
    fn a_change_waits_for_the_one_that_frees_its_place_and_the_rest_is_left_out() {
        let moved = |id, from: &str, to: &str| SetChange::from(moved(id, from, to));
        let waiting = vec![
            (moved(1, "b", "a"), true),
            (moved(2, "a", "c"), false),
            (moved(3, "x", "y"), true),
        ];
        let (ordered, left) = ordered(waiting);
        assert_eq!((ids(&ordered), ids(&left)), (vec![2, 1], vec![3]));
    }

    #[test]
    fn pages_that_change_places_go_together_and_who_waits_for_a_stranger_is_left_out() {
        let moved = |id, from: &str, to: &str| SetChange::from(moved(id, from, to));
        let waiting = vec![
            (moved(1, "a", "b"), true),
            (moved(2, "x", "theirs"), true),
            (moved(3, "b", "a"), true),
            (moved(4, "y", "x"), true),
        ];
        let (ordered, left) = ordered(waiting);
        assert_eq!((ids(&ordered), ids(&left)), (vec![1, 3], vec![2, 4]));
    }
}
