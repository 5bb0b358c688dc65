use time::Duration;
use time::macros::datetime;

use super::AT_REST;
use crate::audit::testing::Script;
use crate::audit::{AuditEntry, AuditEvent, AuditLog, CallFilter, CallId, CallOutcome, Outcome};

fn told(log: &AuditLog) -> Vec<(CallId, CallOutcome, usize)> {
    let mut told = Vec::new();
    let unreadable = log
        .calls
        .each(|call| told.push((call.call, call.ending, call.records.len())))
        .unwrap();
    assert_eq!(unreadable, 0);
    told
}

fn step(call: CallId, event: AuditEvent) -> AuditEntry {
    AuditEntry {
        step: Some("update".to_owned()),
        outcome: (event == AuditEvent::Outcome).then_some(Outcome::Applied),
        ..AuditEntry::new(call, event)
    }
}

#[test]
fn an_attempt_waits_for_its_outcome_however_far_off_and_in_whatever_run() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let start = datetime!(2030-01-01 00:00 UTC);
    let (late, settled, forgotten) = (
        CallId::new().unwrap(),
        CallId::new().unwrap(),
        CallId::new().unwrap(),
    );
    let mut first = Script::begin(dir.path(), start, vec![]);
    first.entry(start, &step(late, AuditEvent::Attempt));
    first.entry(start, &step(forgotten, AuditEvent::Attempt));
    for _ in 0..=AT_REST {
        let refusal = AuditEntry::new(CallId::new().unwrap(), AuditEvent::Refusal);
        first.entry(start, &refusal);
    }
    first.entry(start, &step(late, AuditEvent::Outcome));
    // It outlives the second run, and settles what that one left open.
    let mut second = Script::begin(dir.path(), start + Duration::hours(1), vec![]);
    second.entry(
        start + Duration::hours(1),
        &step(settled, AuditEvent::Attempt),
    );
    second.kill();
    first.entry(
        start + Duration::hours(2),
        &step(settled, AuditEvent::Outcome),
    );
    first.close(start + Duration::hours(3));

    let mut told = told(&log);
    told.retain(|(_, ending, _)| *ending != CallOutcome::Refused);
    let told: std::collections::HashSet<_> = told.into_iter().collect();
    let expected = [
        (late, CallOutcome::Applied, 2),
        (settled, CallOutcome::Applied, 2),
        (forgotten, CallOutcome::Open, 1),
    ]
    .into();
    assert_eq!(told, expected);
}

#[test]
fn pages_of_calls_follow_each_other_without_gap_or_repeat() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let start = datetime!(2030-01-01 00:00 UTC);
    let mut run = Script::begin(dir.path(), start, vec![]);
    // Several in one moment.
    let calls: Vec<CallId> = (0..10).map(|_| CallId::new().unwrap()).collect();
    for (minute, call) in (0..).zip(&calls) {
        let time = start + Duration::minutes(minute / 4);
        run.entry(time, &AuditEntry::new(*call, AuditEvent::Refusal));
    }
    run.close(start + Duration::hours(1));

    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let (page, _) = log
            .calls
            .latest(&CallFilter::default(), before.as_ref(), 3)
            .unwrap();
        let older = page.older;
        let page = page.into_calls();
        seen.extend(page.iter().map(|call| (call.began, call.call)));
        assert_eq!(usize::try_from(older).unwrap(), 10 - seen.len());
        let Some(last) = page.last() else { break };
        before = Some(last.clone());
    }
    assert_eq!(seen.len(), 10);
    assert!(seen.is_sorted_by(|a, b| a > b));
}
