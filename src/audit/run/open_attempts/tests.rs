use std::fs::File;
use std::time::{Duration, SystemTime};

use time::OffsetDateTime;
use time::macros::datetime;

use crate::audit::testing::Script;
use crate::audit::{AuditEntry, AuditEvent, AuditLog, CallId, Outcome};
use crate::change::Operation;

const START: OffsetDateTime = datetime!(2020-01-01 00:00 UTC);

fn attempt(call: CallId, step: &str) -> AuditEntry {
    AuditEntry {
        id: Some(7),
        operation: Some(Operation::Update),
        step: Some(step.to_owned()),
        ..AuditEntry::new(call, AuditEvent::Attempt)
    }
}

fn outcome(call: CallId, step: &str) -> AuditEntry {
    AuditEntry {
        event: AuditEvent::Outcome,
        outcome: Some(Outcome::Applied),
        ..attempt(call, step)
    }
}

#[tokio::test]
async fn only_the_step_without_an_outcome_is_open() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let call = CallId::new().unwrap();
    let mut script = Script::begin(dir.path(), START, Vec::new());
    script.entry(START, &attempt(call, "move"));
    script.entry(START, &outcome(call, "move"));
    script.entry(START, &attempt(call, "update"));
    script.entry(START, &outcome(call, "update"));
    // A write may come to the same step twice.
    script.entry(START, &attempt(call, "update"));
    script.kill();
    let open = log.runs.open_attempts(None).await.unwrap();
    let [open] = open.as_slice() else {
        panic!("one: {open:?}");
    };
    assert_eq!(open.entry.call, call);
    assert_eq!(open.entry.step.as_deref(), Some("update"));
    assert_eq!(open.entry.id, Some(7));
    assert_eq!(open.entry.operation, Some(Operation::Update));
    let entry = open.outcome(Outcome::Unknown);
    assert_eq!((entry.call, entry.step), (call, Some("update".to_owned())));
    assert_eq!(entry.event, AuditEvent::Outcome);
    assert_eq!(entry.outcome, Some(Outcome::Unknown));
}

#[tokio::test]
async fn what_is_under_way_in_a_living_run_is_not_open() {
    let dir = tempfile::tempdir().unwrap();
    let other = AuditLog::new(dir.path(), "docs");
    let call = CallId::new().unwrap();
    let _proof = other.attempt(attempt(call, "update"), &[]).await.unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    assert_eq!(log.runs.open_attempts(None).await.unwrap(), []);
    other.close().await.unwrap();
    assert_eq!(log.runs.open_attempts(None).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_run_whose_file_stands_before_may_settle_too() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let call = CallId::new().unwrap();
    let mut first = Script::begin(dir.path(), START, Vec::new());
    let mut second = Script::begin(dir.path(), START + Duration::from_mins(1), Vec::new());
    second.entry(START + Duration::from_mins(2), &attempt(call, "update"));
    second.kill();
    first.flush();
    assert_eq!(log.runs.open_attempts(None).await.unwrap().len(), 1);
    first.entry(START + Duration::from_mins(3), &outcome(call, "update"));
    first.kill();
    assert_eq!(log.runs.open_attempts(None).await.unwrap(), []);
}

#[tokio::test]
async fn runs_of_long_ago_are_looked_at_only_if_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let mut script = Script::begin(dir.path(), START, Vec::new());
    script.entry(START, &attempt(CallId::new().unwrap(), "update"));
    let path = script.kill();
    assert_eq!(log.runs.open_attempts(Some(2)).await.unwrap().len(), 1);
    let days_ago = SystemTime::now() - Duration::from_hours(3 * 24);
    File::open(path).unwrap().set_modified(days_ago).unwrap();
    assert_eq!(log.runs.open_attempts(Some(2)).await.unwrap(), []);
    assert_eq!(log.runs.open_attempts(Some(4)).await.unwrap().len(), 1);
    assert_eq!(log.runs.open_attempts(None).await.unwrap().len(), 1);
}
