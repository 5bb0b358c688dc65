use std::time::{Duration, Instant};

use super::{ApprovalScope, Approvals, Approver, LIFE, MAX_STANDING, MAX_WRITES};
use crate::audit::{CallId, Client};
use crate::change::{Change, Edits};
use crate::gates::{ChangeSet, SessionId};
use crate::page::{Field, Locale, PageState, testing};

fn page(id: i64) -> PageState {
    PageState {
        id: Some(id),
        ..testing::page()
    }
}

fn plain(change: Change) -> ChangeSet {
    ChangeSet::single(call(), change)
}

fn edit(id: i64, edits: Edits) -> ChangeSet {
    plain(Change::update(page(id), edits).expect("an update"))
}

fn title(id: i64) -> ChangeSet {
    let title = Some("B".to_owned());
    edit(
        id,
        Edits {
            title,
            ..Edits::default()
        },
    )
}

fn create() -> ChangeSet {
    plain(Change::recreate(page(1)))
}

/// Changes that need an approval of their own.
fn heavy() -> Vec<ChangeSet> {
    let text = || Some("a{}".to_owned());
    let styled = PageState {
        script_css: "a{}".to_owned(),
        ..page(1)
    };
    let lossy = title(1)
        .first()
        .change
        .clone()
        .with_loss_of(vec![Field::Tags]);
    vec![
        plain(Change::delete(page(1))),
        plain(lossy),
        plain(Change::recreate(styled)),
        edit(
            1,
            Edits {
                locale: Some(Locale::as_stored("de")),
                ..Edits::default()
            },
        ),
        edit(
            1,
            Edits {
                locale: Some(Locale::as_stored("de")),
                title: text(),
                ..Edits::default()
            },
        ),
        edit(
            1,
            Edits {
                script_css: text(),
                ..Edits::default()
            },
        ),
        edit(
            1,
            Edits {
                script_js: text(),
                title: text(),
                ..Edits::default()
            },
        ),
    ]
}

fn who(session: &str, client: &str) -> Approver {
    let client = Client {
        name: client.to_owned(),
        ..Client::default()
    };
    Approver::new(&SessionId::new(session), &client)
}

fn us() -> Approver {
    who("s", "c")
}

fn call() -> CallId {
    CallId::new().expect("an id")
}

#[test]
fn once_covers_the_change_that_was_shown_and_no_other() {
    let approvals = Approvals::default();
    let id = call();
    let given = approvals.give(us(), title(1), ApprovalScope::Once, id);
    let given = given.expect("an approval");
    assert_eq!(given.approval(), id);
    assert!(given.set().is_same_write(&title(1)));
    assert!(approvals.take(&us(), &title(1)).is_none());
}

#[test]
fn a_page_is_approved_for_its_session_client_operation_and_page() {
    let approvals = Approvals::default();
    let id = call();
    assert!(
        approvals
            .give(us(), title(1), ApprovalScope::Page, id)
            .is_some()
    );
    for other in [who("t", "c"), who("s", "d")] {
        assert!(approvals.take(&other, &title(1)).is_none());
    }
    for other in [title(2), create()] {
        assert!(approvals.take(&us(), &other).is_none());
    }
    let taken = approvals.take(&us(), &title(1)).expect("an approval");
    assert_eq!(taken.approval(), id);
}

#[test]
fn a_kind_is_approved_for_any_page_but_no_other_operation() {
    let approvals = Approvals::default();
    assert!(
        approvals
            .give(us(), title(1), ApprovalScope::Kind, call())
            .is_some()
    );
    assert!(approvals.take(&us(), &title(2)).is_some());
    assert!(approvals.take(&us(), &create()).is_none());
}

#[test]
fn deletes_moves_styles_scripts_and_losses_are_never_covered() {
    let approvals = Approvals::default();
    for scope in [ApprovalScope::Page, ApprovalScope::Kind] {
        assert!(approvals.give(us(), title(1), scope, call()).is_some());
        for heavy in heavy() {
            let given = approvals.give(us(), heavy.clone(), scope, call());
            assert!(given.is_none(), "{heavy:?}");
        }
    }
    assert!(
        approvals
            .give(us(), create(), ApprovalScope::Kind, call())
            .is_some()
    );
    for heavy in heavy() {
        assert!(approvals.take(&us(), &heavy).is_none(), "{heavy:?}");
        let offered = ApprovalScope::offered(&SessionId::new("s"), &heavy);
        assert_eq!(offered, [ApprovalScope::Once]);
        assert!(
            approvals
                .give(us(), heavy, ApprovalScope::Once, call())
                .is_some()
        );
    }
}

#[test]
fn without_a_session_there_is_only_once() {
    let approvals = Approvals::default();
    let session = SessionId::fleeting("client");
    assert_eq!(
        ApprovalScope::offered(&session, &title(1)),
        [ApprovalScope::Once]
    );
    let approver = || Approver::new(&session, &Client::default());
    for scope in [ApprovalScope::Page, ApprovalScope::Kind] {
        assert!(
            approvals
                .give(approver(), title(1), scope, call())
                .is_none()
        );
    }
    assert!(approvals.take(&approver(), &title(1)).is_none());
}

#[test]
fn an_approval_ends_with_its_twentieth_write() {
    let approvals = Approvals::default();
    assert!(
        approvals
            .give(us(), title(1), ApprovalScope::Page, call())
            .is_some()
    );
    for _ in 1..MAX_WRITES {
        assert!(approvals.take(&us(), &title(1)).is_some());
    }
    assert!(approvals.take(&us(), &title(1)).is_none());
}

#[test]
fn an_approval_ends_after_thirty_minutes() {
    let approvals = Approvals::default();
    let now = Instant::now();
    let given = approvals.give_at(now, us(), title(1), ApprovalScope::Page, call());
    assert!(given.is_some());
    let moment = Duration::from_secs(1);
    let take = |after| approvals.take_at(now + after, &us(), &title(1));
    assert!(take(LIFE.checked_sub(moment).expect("minutes")).is_some());
    assert!(take(LIFE).is_none());
    assert_eq!(LIFE, Duration::from_mins(30));
}

#[test]
fn the_oldest_of_too_many_goes() {
    let approvals = Approvals::default();
    for page in 0..=i64::try_from(MAX_STANDING).expect("a number") {
        assert!(
            approvals
                .give(us(), title(page), ApprovalScope::Page, call())
                .is_some()
        );
    }
    assert!(approvals.take(&us(), &title(0)).is_none());
    assert!(approvals.take(&us(), &title(1)).is_some());
}

#[test]
fn an_approval_that_is_used_up_does_not_hide_a_fresh_one() {
    let approvals = Approvals::default();
    let approver = Approver::new(&SessionId::new("s"), &Client::default());
    let give = |call| approvals.give(approver.clone(), title(1), ApprovalScope::Page, call);
    let (first, second) = (call(), call());
    let _ = give(first).expect("this scope is offered");
    for _ in 1..MAX_WRITES {
        assert!(approvals.take(&approver, &title(1)).is_some());
    }
    assert!(approvals.take(&approver, &title(1)).is_none());
    let _ = give(second).expect("this scope is offered");
    let taken = approvals.take(&approver, &title(1)).expect("a fresh one");
    assert_eq!(taken.approval(), second);
}

#[test]
fn each_scope_has_its_word() {
    let words = [
        ApprovalScope::Once,
        ApprovalScope::Page,
        ApprovalScope::Kind,
    ]
    .map(ApprovalScope::as_str);
    assert_eq!(words, ["once", "page", "kind"]);
}
