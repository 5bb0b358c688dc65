use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::super::PurgePlan;
use super::{NOW, Purged, YEAR, all_is_explained, days_ago, run, running, yesterday};
use crate::audit::testing::{Script, keep_long_ago, open_proposal, page};
use crate::audit::{
    AuditEntry, AuditEvent, AuditLog, CallId, KeptState, Proposal, ProposalId, ProposalState,
};
use crate::page::Date;
use crate::page::testing::But as _;

pub(super) fn proposal(day: i64, state: ProposalState, before: KeptState) -> Proposal {
    let mut proposal = open_proposal();
    proposal.created = Date::from_instant(days_ago(day)).unwrap();
    proposal.first.before = Some(before);
    Proposal { state, ..proposal }
}

fn path(log: &AuditLog, id: ProposalId) -> PathBuf {
    log.place.directory().join(format!("proposals/{id}.json"))
}

fn is_kept(log: &AuditLog, id: ProposalId) -> bool {
    path(log, id).exists()
}

#[tokio::test]
async fn proposals_count_and_go_when_they_are_the_oldest() {
    let dir = tempfile::tempdir().unwrap();
    let log = running(dir.path()).await;
    let state = log.states.keep(&page("just kept")).await.unwrap();
    let all = [3, 2, 1].map(|day| proposal(day, ProposalState::Open, state));
    let mut lengths = Vec::new();
    for proposal in &all {
        log.proposals.keep(proposal.clone()).await.unwrap();
        let file = std::fs::File::open(path(&log, proposal.id)).unwrap();
        lengths.push(file.metadata().unwrap().len());
    }
    let keep = YEAR.but(|keep| keep.bytes = lengths[1..].iter().sum());
    // What was just written stays.
    assert_eq!(log.purge_at(keep, NOW).await.unwrap(), Purged::default());
    for proposal in &all {
        let file = std::fs::File::open(path(&log, proposal.id)).unwrap();
        let hours_ago = SystemTime::now() - Duration::from_hours(2);
        file.set_modified(hours_ago).unwrap();
    }
    let purged = log.purge_at(keep, NOW).await.unwrap();
    assert_eq!((purged.proposals, purged.bytes), (1, lengths[0]));
    assert!(!is_kept(&log, all[0].id));
}

#[tokio::test]
async fn proposals_go_when_they_are_old_and_open_ones_with_what_they_are_made_of() {
    let dir = tempfile::tempdir().unwrap();
    yesterday(dir.path());
    let log = running(dir.path()).await;
    let old = keep_long_ago(&log, "old").await;
    let young = keep_long_ago(&log, "young").await;
    run(dir.path(), 400, &[old]);
    run(dir.path(), 1, &[young]);
    let rejected = |day| ProposalState::Rejected {
        decided: Date::from_instant(days_ago(day)).unwrap(),
        reason: String::new(),
    };
    let made_by_old = proposal(1, ProposalState::Open, young);
    let mut script = Script::begin(dir.path(), days_ago(399), Vec::new());
    let made = AuditEntry {
        decision: Some("made".to_owned()),
        proposal: Some(made_by_old.id.to_string()),
        ..AuditEntry::new(CallId::new().unwrap(), AuditEvent::Proposal)
    };
    script.entry(days_ago(399), &made);
    script.kill();
    let all = [
        (proposal(1, ProposalState::Open, young), true),
        (proposal(32, ProposalState::Open, young), false),
        (proposal(32, rejected(30), young), true),
        (proposal(99, rejected(32), young), false),
        // What it is made of goes.
        (proposal(1, ProposalState::Open, old), false),
        (proposal(1, rejected(1), old), true),
        (made_by_old, false),
    ];
    for (proposal, _) in &all {
        log.proposals.keep(proposal.clone()).await.unwrap();
    }
    // One that is being decided stays until the next time.
    let held = log
        .proposals
        .hold(all[1].0.id, Duration::ZERO)
        .await
        .unwrap();
    let purged = log.purge_at(YEAR, NOW).await.unwrap();
    assert_eq!((purged.proposals, purged.pages), (3, 1));
    assert_eq!(held.proposal(), &all[1].0);
    drop(held);
    log.purge_at(YEAR, NOW).await.unwrap();
    for (proposal, stays) in &all {
        assert_eq!(is_kept(&log, proposal.id), *stays, "{proposal:?}");
    }
    all_is_explained(&log);
}

#[tokio::test]
async fn a_clock_that_goes_back_an_hour_ends_no_proposal_early_and_brings_none_back() {
    let dir = tempfile::tempdir().unwrap();
    yesterday(dir.path());
    let log = running(dir.path()).await;
    let state = log.states.keep(&page("just kept")).await.unwrap();
    let open = proposal(0, ProposalState::Open, state);
    log.proposals.keep(open.clone()).await.unwrap();
    let mut script = Script::begin(dir.path(), NOW, Vec::new());
    script.entry(NOW, &open.making());
    script.kill();
    // A day is believed once a day has passed since it was put on record.
    let (hour, ended) = (time::Duration::HOUR, NOW + time::Duration::days(31));
    run(dir.path(), -31, &[]);
    let believed = ended + time::Duration::DAY;
    for (now, is_there) in [
        (NOW - hour, true),
        (believed - hour, true),
        (believed, false),
        (believed - hour, false),
    ] {
        log.purge_at(YEAR, now).await.unwrap();
        assert_eq!(is_kept(&log, open.id), is_there, "{now}");
    }
}

#[tokio::test]
async fn open_proposals_go_before_what_they_are_made_of() {
    let dir = tempfile::tempdir().unwrap();
    yesterday(dir.path());
    let log = running(dir.path()).await;
    let old = keep_long_ago(&log, "old").await;
    run(dir.path(), 400, &[old]);
    let open = proposal(1, ProposalState::Open, old);
    log.proposals.keep(open.clone()).await.unwrap();
    let plan = PurgePlan::make(&log, YEAR, NOW).unwrap().unwrap();
    let heads: Vec<String> = { plan.heads.iter() }
        .map(|head| head.file.clone())
        .collect();
    let at = |file: String| heads.iter().position(|head| *head == file).unwrap();
    // Broken off between the two, it leaves nothing that looks open and cannot be applied.
    assert!(at(format!("{}.json", open.id)) < at(format!("{old}.json.gz")));
}
