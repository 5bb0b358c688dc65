//! Tests of what a check says of approvals.

use std::path::Path;

use time::OffsetDateTime;
use time::macros::datetime;

use super::super::super::testing::Script;
use super::super::super::{Against, ApprovalId, AuditEntry, AuditEvent, AuditLog, CallId};
use crate::page::testing::But as _;

const AT: OffsetDateTime = datetime!(2030-01-02 09:00 UTC);

fn call(number: u8) -> CallId {
    format!("{number:016x}").parse().unwrap()
}

fn entry(number: u8, event: AuditEvent, decision: &str) -> AuditEntry {
    AuditEntry::new(call(number), event).but(|entry| entry.decision = Some(decision.to_owned()))
}

fn attempt(number: u8, decision: &str, confirms: Option<u8>) -> AuditEntry {
    entry(number, AuditEvent::Attempt, decision)
        .but(|it| it.confirms = confirms.map(|number| call(number).into()))
}

/// The kinds and messages of what is wrong in a log of this one run.
fn wrong(dir: &Path) -> Vec<(&'static str, String)> {
    let log = AuditLog::new(dir, "docs");
    let checked = log.upkeep.verify(&Against::default(), |_, _| {}).unwrap();
    let told = checked.wrong.iter();
    told.map(|wrong| (wrong.kind, wrong.to_string())).collect()
}

fn kinds(entries: &[AuditEntry]) -> Vec<&'static str> {
    let dir = tempfile::tempdir().unwrap();
    let mut run = Script::begin(dir.path(), AT, Vec::new());
    for entry in entries {
        run.entry(AT, entry);
    }
    run.close(AT);
    wrong(dir.path())
        .into_iter()
        .map(|(kind, _)| kind)
        .collect()
}

#[test]
fn a_write_without_an_approval_is_wrong_where_one_was_needed() {
    let preview = entry(1, AuditEvent::Preview, "to_be_confirmed");
    let yes = entry(1, AuditEvent::Approval, "kind");
    for (entries, expected) in [
        (vec![attempt(2, "token", None)], vec![]),
        (vec![attempt(2, "preview", None)], vec!["unconfirmed"]),
        (vec![attempt(2, "person", None)], vec!["unconfirmed"]),
        (vec![attempt(2, "yes", None)], vec!["unconfirmed"]),
        (
            vec![attempt(2, "preview", Some(1))],
            vec!["unknown_approval"],
        ),
        (
            vec![preview.clone(), attempt(2, "preview", Some(1))],
            vec![],
        ),
        (vec![preview.clone(), attempt(2, "yes", Some(1))], vec![]),
        (vec![yes.clone(), attempt(2, "person", Some(1))], vec![]),
        // A preview is no yes, a no is none, and a preview without a token confirms nothing.
        (
            vec![preview, attempt(2, "person", Some(1))],
            vec!["unknown_approval"],
        ),
        (
            vec![yes, attempt(2, "preview", Some(1))],
            vec!["unknown_approval"],
        ),
        (
            vec![
                entry(1, AuditEvent::Approval, "no"),
                attempt(2, "person", Some(1)),
            ],
            vec!["unknown_approval"],
        ),
        (
            vec![
                entry(1, AuditEvent::Preview, "dry_run"),
                attempt(2, "preview", Some(1)),
            ],
            vec!["unknown_approval"],
        ),
    ] {
        assert_eq!(kinds(&entries), expected, "{entries:?}");
    }
}

#[test]
fn an_approval_may_be_in_another_run_and_a_proposal_approves_what_is_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let of_proposal = |proposal: u8, confirms: u8| {
        attempt(5, "yes", Some(confirms))
            .but(|entry| entry.proposal = Some(call(proposal).to_string()))
    };
    let mut run = Script::begin(dir.path(), AT, Vec::new());
    run.entry(AT, &of_proposal(9, 9));
    run.entry(AT, &attempt(6, "preview", Some(1)));
    run.close(AT);
    let said = |confirms: u8, at: u64, by: u8| {
        let (by, approval) = (call(by), ApprovalId::from(call(confirms)));
        format!(
            "line {at}: the write of call {by} names {approval} as its approval, and no record gives this approval"
        )
    };
    let mut told: Vec<String> = wrong(dir.path())
        .into_iter()
        .map(|(_, told)| told)
        .collect();
    told.sort();
    assert_eq!(told.len(), 2);
    assert!(told[0].ends_with(&said(9, 2, 5)), "{told:?}");
    assert!(told[1].ends_with(&said(1, 3, 6)), "{told:?}");

    let mut later = Script::begin(dir.path(), AT + time::Duration::seconds(1), Vec::new());
    later.entry(AT, &entry(1, AuditEvent::Preview, "to_be_confirmed"));
    later.entry(
        AT,
        &entry(8, AuditEvent::Proposal, "made").but(|it| it.proposal = Some(call(9).to_string())),
    );
    later.close(AT);
    let kinds = || wrong(dir.path()).into_iter().map(|(kind, _)| kind);
    // The proposal's own file is another matter.
    assert_eq!(kinds().collect::<Vec<_>>(), ["missing_proposal"]);
}
