use time::macros::datetime;
use time::{Duration, OffsetDateTime};

use super::{CallHistory, CallVisibility, GroupId, GroupLimits, GroupSurvey};
use crate::audit::testing::Script;
use crate::audit::{AuditEntry, AuditEvent, AuditLog, CallFilter, CallId, Client, Outcome};
use crate::page::testing::But as _;
use crate::page::{Locale, PagePath};

const ROOM: GroupLimits = GroupLimits {
    groups: 10,
    changes: 2,
};

fn call(number: u8) -> CallId {
    format!("{number:016x}").parse().unwrap()
}

fn entry(number: u8, event: AuditEvent, set: Option<u8>, path: Option<&str>) -> AuditEntry {
    AuditEntry {
        client: Some(Client::default().but(|client| client.name = "agent".to_owned())),
        tool: Some("wikijs_bulk_update_pages".to_owned()),
        set: set.map(call),
        confirms: set.filter(|set| *set == 2).map(|_| call(1).into()),
        locale: path.map(|_| Locale::as_stored("en")),
        path: path.map(PagePath::as_stored),
        outcome: (event == AuditEvent::Outcome).then_some(Outcome::Applied),
        ..AuditEntry::new(call(number), event)
    }
}

/// A set that is shown, sent with three changes and ended; and a single write after it.
fn log(dir: &std::path::Path) -> AuditLog {
    let at = |second: i64| -> OffsetDateTime {
        datetime!(2030-01-02 09:00 UTC) + Duration::seconds(second)
    };
    let mut run = Script::begin(dir, at(0), Vec::new());
    run.entry(at(1), &entry(1, AuditEvent::Preview, Some(1), None));
    for (number, path) in [(3, "docs/a"), (4, "docs/b"), (5, "team/c")] {
        let time = at(i64::from(number));
        run.entry(
            time,
            &entry(number, AuditEvent::Attempt, Some(2), Some(path)),
        );
        run.entry(
            time,
            &entry(number, AuditEvent::Outcome, Some(2), Some(path)),
        );
    }
    run.entry(at(6), &entry(2, AuditEvent::Outcome, Some(2), None));
    run.entry(at(7), &entry(9, AuditEvent::Refusal, None, Some("docs/z")));
    run.close(at(8));
    AuditLog::new(dir, "docs")
}

#[test]
fn a_set_with_its_preview_and_its_changes_is_one_group() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    let all = |_: &CallHistory| CallVisibility::Yes;
    let mut taken = 0;
    let found = log
        .calls
        .groups((&CallFilter::default(), None), &all, ROOM, |_| taken += 1)
        .unwrap();
    assert_eq!((found.groups.len(), found.older, taken), (2, 0, 6));
    let set = &found.groups[1];
    let calls: Vec<_> = set.calls.iter().map(|call| call.call).collect();
    assert_eq!(calls, [call(2), call(1)]);
    assert_eq!((set.changes.len(), set.of_changes), (2, 3));
    assert_eq!(set.head().unwrap().call, call(2));
    // One page after the other, each group once.
    let room = GroupLimits { groups: 1, ..ROOM };
    let first = log
        .calls
        .groups((&CallFilter::default(), None), &all, room, |_| {})
        .unwrap();
    assert_eq!((first.older, first.next), (1, Some(call(9))));
    let before = first.groups[0].calls[0].clone();
    let second = log
        .calls
        .groups((&CallFilter::default(), Some(&before)), &all, room, |_| {})
        .unwrap();
    assert_eq!(second.groups[0].head().unwrap().call, call(2));
    assert_eq!(second.next, None);
    let named = log
        .calls
        .group("0000000000000004", &all, 9)
        .unwrap()
        .unwrap();
    assert_eq!(named.changes.len(), 3);
    assert!(
        log.calls
            .group("00000000000000ff", &all, 9)
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_set_of_which_a_change_may_not_be_seen_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    let below = |prefix: &'static str| {
        move |call: &CallHistory| match call.place() {
            None => CallVisibility::AsItsChanges,
            Some(path) if path.as_str().starts_with(prefix) => CallVisibility::Yes,
            Some(_) => CallVisibility::No,
        }
    };
    let docs = below("docs");
    let found = log
        .calls
        .groups((&CallFilter::default(), None), &docs, ROOM, |_| {})
        .unwrap();
    let set = &found.groups[1];
    assert!(set.calls.is_empty());
    let seen: Vec<_> = set.changes.iter().map(|one| one.call).collect();
    assert_eq!(seen, [call(3), call(4)]);
    assert_eq!(set.of_changes, 2);
    let everything = below("");
    let found = log
        .calls
        .groups((&CallFilter::default(), None), &everything, ROOM, |_| {})
        .unwrap();
    assert_eq!(found.groups[1].calls.len(), 2);
    assert!(
        log.calls
            .group("0000000000000005", &docs, 9)
            .unwrap()
            .is_none(),
        "what may not be seen is not there"
    );
}

#[test]
fn a_set_is_of_one_group_with_the_preview_that_it_names_however_alike_others_are() {
    let dir = tempfile::tempdir().unwrap();
    let at = |second: i64| datetime!(2030-01-02 09:00 UTC) + Duration::seconds(second);
    let mut run = Script::begin(dir.path(), at(0), Vec::new());
    // The same client shows the same twice, and confirms the first.
    for number in [1, 7] {
        run.entry(
            at(1),
            &entry(number, AuditEvent::Preview, Some(number), None),
        );
    }
    run.entry(
        at(2),
        &entry(3, AuditEvent::Outcome, Some(2), Some("docs/a")),
    );
    run.entry(at(3), &entry(2, AuditEvent::Outcome, Some(2), None));
    run.close(at(8));
    let log = AuditLog::new(dir.path(), "docs");
    let sees = |call: &CallHistory| match call.place() {
        None => CallVisibility::AsItsChanges,
        Some(_) => CallVisibility::Yes,
    };
    let found = log
        .calls
        .groups((&CallFilter::default(), None), &sees, ROOM, |_| {});
    let groups = found.unwrap().groups;
    assert_eq!(
        groups.len(),
        1,
        "nobody may see a preview that nothing confirmed"
    );
    let calls: Vec<_> = groups[0].calls.iter().map(|call| call.call).collect();
    assert_eq!(calls, [call(2), call(1)]);
    // Even without the end of the set, its changes name the preview.
    let mut survey = GroupSurvey::default();
    log.calls
        .each(|one| {
            if one.call != call(2) {
                survey.tell(&one, CallVisibility::Yes, true);
            }
        })
        .unwrap();
    let of_preview = survey.resolved(GroupId::Set(call(1)));
    assert_eq!(of_preview, GroupId::Set(call(2)));
    let of_other = survey.resolved(GroupId::Set(call(7)));
    assert_eq!(of_other, GroupId::Set(call(7)));
}
