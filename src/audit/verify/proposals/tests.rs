use std::path::Path;

use time::OffsetDateTime;
use time::macros::datetime;

use crate::audit::testing::{Script, open_proposal};
use crate::audit::{Against, AuditEntry, AuditError, AuditEvent, AuditLog, CallId, Proposal};

const AT: OffsetDateTime = datetime!(2030-01-02 09:00 UTC);

/// The preview that is on record before the proposal's file.
fn preview(proposal: &Proposal) -> AuditEntry {
    AuditEntry {
        decision: Some("open".to_owned()),
        proposal: Some(proposal.id.to_string()),
        ..AuditEntry::new(proposal.call, AuditEvent::Preview)
    }
}

fn wrong(dir: &Path) -> Vec<&'static str> {
    let log = AuditLog::new(dir, "docs");
    let checked = log.upkeep.verify(&Against::default(), |_, _| {}).unwrap();
    checked.wrong.iter().map(|wrong| wrong.kind).collect()
}

#[tokio::test]
async fn a_making_that_broke_off_is_no_fault_and_nobody_finds_its_proposal() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let half = open_proposal();
    let mut run = Script::begin(dir.path(), AT, Vec::new());
    run.entry(AT, &preview(&half));
    // Killed before the file, and behind it; others wrote on meanwhile.
    run.entry(
        AT,
        &AuditEntry::new(CallId::new().unwrap(), AuditEvent::Refusal),
    );
    run.kill();
    assert_eq!(wrong(dir.path()), [""; 0]);
    log.proposals.keep(half.clone()).await.unwrap();
    assert_eq!(wrong(dir.path()), [""; 0]);
    assert_eq!(log.proposals.all().await.unwrap(), []);
    let found = log.proposals.get(half.id).await;
    assert!(matches!(found, Err(AuditError::NoProposal)), "{found:?}");
}

#[tokio::test]
async fn a_file_that_nothing_on_record_announces_is_wrong_and_so_is_a_missing_one() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let planted = open_proposal();
    log.proposals.keep(planted).await.unwrap();
    assert_eq!(wrong(dir.path()), ["unrecorded_proposal"]);
    let made = open_proposal();
    let mut run = Script::begin(dir.path(), AT, Vec::new());
    run.entry(AT, &preview(&made));
    run.entry(AT, &made.making());
    // The file was there before the last line of a killed run.
    run.kill();
    let mut all = wrong(dir.path());
    all.sort_unstable();
    assert_eq!(all, ["missing_proposal", "unrecorded_proposal"]);
    log.proposals.keep(made.clone()).await.unwrap();
    assert_eq!(wrong(dir.path()), ["unrecorded_proposal"]);
    assert_eq!(log.proposals.all().await.unwrap().len(), 1);
}
