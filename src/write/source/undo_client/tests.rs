use super::{StatePair, back};
use crate::change::Operation;
use crate::page::{Field, PageState, testing};

fn page(title: &str, description: &str) -> PageState {
    PageState {
        title: title.to_owned(),
        description: description.to_owned(),
        ..testing::page()
    }
}

fn wrote(before: &PageState, after: &PageState) -> StatePair {
    (Some(before.clone()), Some(after.clone()))
}

#[test]
fn several_writes_of_a_page_become_one_change_and_what_others_wrote_stays() {
    let (first, second, third) = (page("A", ""), page("B", ""), page("C", ""));
    let now = page("C", "somebody else's");
    let writes = vec![wrote(&second, &third), wrote(&first, &second)];
    let (change, _) = back(Some(now.clone()), writes, false).unwrap();
    assert_eq!(change.before(), Some(&now));
    let after = change.after().unwrap();
    assert_eq!(&*after.title, "A");
    assert_eq!(&*after.description, "somebody else's");
}

#[test]
fn what_somebody_else_wrote_between_two_writes_stands_in_the_way_unless_forced() {
    let writes = || {
        vec![
            wrote(&page("theirs", ""), &page("C", "")),
            wrote(&page("A", ""), &page("B", "")),
        ]
    };
    let now = || Some(page("C", ""));
    let why = back(now(), writes(), false).unwrap_err();
    assert_eq!(why, "somebody else changed what a write of it had changed");
    let (forced, loses) = back(now(), writes(), true).unwrap();
    assert_eq!(forced.after().unwrap().title, "A");
    assert!(loses.into_iter().eq([Field::Title]));
}

#[test]
fn a_page_that_came_to_be_goes_and_one_that_went_comes_back_as_it_first_was() {
    let (made, changed) = (page("A", ""), page("B", ""));
    let came = vec![wrote(&made, &changed), (None, Some(made.clone()))];
    let (change, _) = back(Some(changed.clone()), came.clone(), false).unwrap();
    assert_eq!(change.operation(), Operation::Delete);
    let mut went = vec![(Some(changed.clone()), None), wrote(&made, &changed)];
    let (change, _) = back(None, went.clone(), false).unwrap();
    assert_eq!(change.operation(), Operation::Create);
    assert_eq!(change.after().unwrap().title, "A");
    // A page that was created and deleted again is as it was.
    went.push((None, Some(made)));
    assert_eq!(
        back(None, went.clone(), false).unwrap_err(),
        "it is gone, as it was before"
    );
    let there = back(Some(changed), went, false).unwrap_err();
    assert_eq!(there, "it was deleted, and is there again");
}

#[test]
fn what_already_is_as_it_was_needs_no_change() {
    let (first, second) = (page("A", ""), page("B", ""));
    let there_and_back = vec![wrote(&second, &first), wrote(&first, &second)];
    let why = back(Some(first), there_and_back, false).unwrap_err();
    assert_eq!(why, "it already is as it was before");
}
