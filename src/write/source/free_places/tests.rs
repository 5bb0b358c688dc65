use super::ordered;
use crate::change::Change;
use crate::gates::SetChange;
use crate::page::{PagePath, PageState, testing};

fn at(id: i64, path: &str) -> PageState {
    PageState {
        id: Some(id),
        path: PagePath::as_stored(path),
        ..testing::page()
    }
}

#[test]
fn a_change_waits_for_the_one_that_frees_its_place_and_the_rest_is_left_out() {
    let moved =
        |id, from: &str, to: &str| SetChange::from(Change::between(at(id, from), at(id, to)));
    let waiting = vec![
        (moved(1, "b", "a"), true),
        (moved(2, "a", "c"), false),
        (moved(3, "x", "y"), true),
    ];
    let (ordered, left) = ordered(waiting);
    let ids = |all: &[SetChange]| -> Vec<_> {
        let ids = all.iter().map(|one| one.change.target().id.unwrap());
        ids.collect()
    };
    assert_eq!((ids(&ordered), ids(&left)), (vec![2, 1], vec![3]));
}

#[test]
fn pages_that_change_places_go_together_and_who_waits_for_a_stranger_is_left_out() {
    let moved =
        |id, from: &str, to: &str| SetChange::from(Change::between(at(id, from), at(id, to)));
    let waiting = vec![
        (moved(1, "a", "b"), true),
        (moved(2, "x", "theirs"), true),
        (moved(3, "b", "a"), true),
        (moved(4, "y", "x"), true),
    ];
    let (ordered, left) = ordered(waiting);
    let ids = |all: &[SetChange]| -> Vec<_> {
        let ids = all.iter().map(|one| one.change.target().id.unwrap());
        ids.collect()
    };
    assert_eq!((ids(&ordered), ids(&left)), (vec![1, 3], vec![2, 4]));
}
