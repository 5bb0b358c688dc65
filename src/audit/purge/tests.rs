mod proposals;

use std::collections::HashSet;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use time::OffsetDateTime;
use time::macros::datetime;

use self::proposals::proposal;
use super::{Keep, Purged};
use crate::audit::entry::chain::verify;
use crate::audit::testing::{Script, keep_long_ago, kept_path, page, run_path};
use crate::audit::{
    Against, AuditEntry, AuditError, AuditEvent, AuditLog, CallFilter, CallId, FileHead, KeptState,
    LogVerification, Outcome, ProposalState, Record,
};
use crate::page::testing::But as _;

const NOW: OffsetDateTime = datetime!(2020-01-01 00:00 UTC);
const YEAR: Keep = Keep {
    days: 365,
    proposal_days: 30,
    bytes: u64::MAX,
};

fn days_ago(days: i64) -> OffsetDateTime {
    NOW - time::Duration::days(days)
}

/// A run of yesterday: the records tell what day it is.
fn yesterday(dir: &Path) {
    run(dir, 1, &[]);
}

/// A run of that day that names these states, and was killed.
fn run(dir: &Path, day: i64, states: &[KeptState]) -> PathBuf {
    let mut script = Script::begin(dir, days_ago(day), Vec::new());
    for state in states {
        script.entry(
            days_ago(day),
            &AuditEntry {
                before: Some(*state),
                decision: Some("token".to_owned()),
                ..AuditEntry::new(CallId::new().unwrap(), AuditEvent::Attempt)
            },
        );
    }
    script.kill()
}

/// A log with something in it, so that its run is there.
async fn running(dir: &Path) -> AuditLog {
    let log = AuditLog::new(dir, "docs");
    log.record(AuditEntry::new(CallId::new().unwrap(), AuditEvent::Refusal))
        .await
        .unwrap();
    log
}

fn is_there(log: &AuditLog, states: &[KeptState]) -> Vec<bool> {
    states
        .iter()
        .map(|state| kept_path(&log.place, *state).exists())
        .collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// All records, of chains that hold.
fn records(log: &AuditLog) -> Vec<Record> {
    let runs = log.runs.all().unwrap();
    for run in &runs {
        let file = std::fs::File::open(run_path(&log.place, run)).unwrap();
        verify(BufReader::new(file)).unwrap();
    }
    runs.iter()
        .flat_map(|run| run.records().unwrap().map(Result::unwrap))
        .collect()
}

/// Every run and state that a record names is there, or a purge says that it is gone.
fn all_is_explained(log: &AuditLog) {
    let records = records(log);
    let gone: HashSet<String> = records
        .iter()
        .flat_map(|record| record.removed.iter().flatten())
        .map(|head| head.file.clone())
        .collect();
    for record in &records {
        for head in record.runs.iter().flatten() {
            let path = log.place.directory().join("runs").join(&head.file);
            assert!(path.exists() || gone.contains(&head.file), "{head:?}");
        }
        for state in super::named_by(record) {
            let is_gone = gone.contains(&format!("{state}.json.gz"));
            assert!(kept_path(&log.place, state).exists() || is_gone, "{state}");
        }
    }
}

#[tokio::test]
async fn what_is_older_than_asked_for_goes_and_is_on_record() {
    let dir = tempfile::tempdir().unwrap();
    let keeper = AuditLog::new(dir.path(), "docs");
    let old = keep_long_ago(&keeper, "old").await;
    let both = keep_long_ago(&keeper, "named by both").await;
    let young = keep_long_ago(&keeper, "young").await;
    let orphan = keep_long_ago(&keeper, "named by none").await;
    let fresh = keeper.states.keep(&page("just kept")).await.unwrap();
    let first = run(dir.path(), 400, &[old, both, fresh]);
    let second = run(dir.path(), 300, &[both, young]);
    yesterday(dir.path());
    let log = running(dir.path()).await;
    let head = crate::audit::run::heads::last_line(&*log.place.store, &name(&first)).unwrap();

    let purged = log.purge_at(YEAR, NOW).await.unwrap();
    assert_eq!((purged.runs, purged.pages), (1, 2));
    assert!(!first.exists() && second.exists());
    assert_eq!(
        is_there(&log, &[old, both, young, orphan, fresh]),
        [false, true, true, false, true]
    );
    let records = records(&log);
    let told: Vec<&Record> = records
        .iter()
        .filter(|record| record.event == AuditEvent::Purge)
        .collect();
    let [purge] = told.as_slice() else {
        panic!("one: {told:?}");
    };
    let removed = purge.removed.as_ref().unwrap();
    assert_eq!(removed.len(), 3);
    let of_run = removed.iter().find(|it| it.file == name(&first)).unwrap();
    assert_eq!((of_run.length, of_run.hash), head);
    let bytes: u64 = removed.iter().map(|head| head.length).sum();
    assert_eq!(purged.bytes, bytes);
    all_is_explained(&log);
    assert_eq!(log.purge_at(YEAR, NOW).await.unwrap(), Purged::default());
}

#[tokio::test]
async fn the_oldest_goes_until_the_rest_is_small_enough() {
    let dir = tempfile::tempdir().unwrap();
    let keeper = AuditLog::new(dir.path(), "docs");
    let states = [
        keep_long_ago(&keeper, "0").await,
        keep_long_ago(&keeper, "1").await,
        keep_long_ago(&keeper, "2").await,
    ];
    let runs: Vec<PathBuf> = (0..3_i64)
        .zip(&states)
        .map(|(n, state)| run(dir.path(), 30 - n, &[*state]))
        .collect();
    let log = running(dir.path()).await;
    // The own run cannot go, however large it is, and nothing goes in its place.
    let length = |path: &Path| path.metadata().unwrap().len();
    let pages = states
        .iter()
        .map(|state| length(&kept_path(&log.place, *state)));
    let whole: u64 = runs.iter().map(|run| length(run)).chain(pages).sum();
    let keep = |bytes| Keep { bytes, ..YEAR };
    assert_eq!(
        log.purge_at(keep(whole), NOW).await.unwrap(),
        Purged::default()
    );
    // One byte less: the oldest state is enough, and the run that tells of it stays.
    let purged = log.purge_at(keep(whole - 1), NOW).await.unwrap();
    assert_eq!((purged.runs, purged.pages), (0, 1));
    assert_eq!(is_there(&log, &states), [false, true, true]);
    assert!(runs.iter().all(|run| run.exists()));
    all_is_explained(&log);

    // Nothing but what must stay: the own run.
    let purged = log.purge_at(keep(0), NOW).await.unwrap();
    assert_eq!((purged.runs, purged.pages), (3, 2));
    assert_eq!(log.runs.all().unwrap().len(), 1);
    all_is_explained(&log);
    log.close().await.unwrap();
    all_is_explained(&log);
}

#[tokio::test]
async fn what_lives_or_was_written_by_a_newer_program_stays() {
    let dir = tempfile::tempdir().unwrap();
    let keeper = AuditLog::new(dir.path(), "docs");
    let state = keep_long_ago(&keeper, "named by a newer program").await;
    let living = run(dir.path(), 900, &[]);
    let lock = std::fs::File::open(&living).unwrap();
    lock.try_lock().unwrap();
    let newer = dir
        .path()
        .join("docs/runs/20200101T000000Z-0123456789abcdef.jsonl");
    std::fs::write(&newer, format!("{{\"v\":2,\"kept\":\"{state}\"}}\n")).unwrap();
    yesterday(dir.path());
    let log = running(dir.path()).await;
    let purged = log.purge_at(YEAR, NOW).await.unwrap();
    assert_eq!(purged, Purged::default());
    assert!(living.exists() && newer.exists());
    assert_eq!(is_there(&log, &[state]), [true]);
    drop(lock);
    log.purge_at(YEAR, NOW).await.unwrap();
    assert!(!living.exists() && newer.exists());
}

#[tokio::test]
async fn nothing_goes_if_it_cannot_be_put_on_record() {
    let dir = tempfile::tempdir().unwrap();
    let keeper = AuditLog::new(dir.path(), "docs");
    let state = keep_long_ago(&keeper, "old").await;
    let old = run(dir.path(), 400, &[state]);
    yesterday(dir.path());
    let log = running(dir.path()).await;
    let own = run_path(&log.place, log.runs.all().unwrap().last().unwrap());
    std::fs::OpenOptions::new()
        .append(true)
        .open(&own)
        .and_then(|mut file| std::io::Write::write_all(&mut file, b"x"))
        .unwrap();
    for _ in 0..2 {
        assert_eq!(log.purge_at(YEAR, NOW).await, Err(AuditError::Replaced));
    }
    assert!(old.exists());
    assert_eq!(is_there(&log, &[state]), [true]);

    let ended = running(dir.path()).await;
    ended.close().await.unwrap();
    assert_eq!(ended.purge_at(YEAR, NOW).await, Err(AuditError::Ended));
    assert!(old.exists());
}

#[tokio::test]
async fn an_explanation_that_goes_with_its_run_is_given_again() {
    let dir = tempfile::tempdir().unwrap();
    let first = run(dir.path(), 800, &[]);
    let gone = AuditLog::new(dir.path(), "docs").runs.heads().unwrap();
    let proposal = FileHead {
        file: "0123456789abcdef.json".to_owned(),
        length: 9,
        hash: None,
    };
    let removed = [gone.clone(), vec![proposal.clone()]].concat();
    // A run that saw the first one, removed it and ended; and one that saw it, made the proposal
    // that was removed too, and goes on.
    let mut second = Script::begin(dir.path(), days_ago(700), gone.clone());
    second.entry(
        days_ago(700),
        &AuditEntry::new(CallId::new().unwrap(), AuditEvent::Purge)
            .but(|entry| entry.removed = removed),
    );
    let second = second.close(days_ago(700));
    let mut third = Script::begin(dir.path(), days_ago(750), gone.clone());
    third.entry(
        days_ago(10),
        &AuditEntry {
            decision: Some("made".to_owned()),
            proposal: Some("0123456789abcdef".to_owned()),
            ..AuditEntry::new(CallId::new().unwrap(), AuditEvent::Proposal)
        },
    );
    third.close(days_ago(10));
    std::fs::remove_file(&first).unwrap();

    let log = running(dir.path()).await;
    all_is_explained(&log);
    let purged = log.purge_at(YEAR, NOW).await.unwrap();
    assert_eq!(purged.runs, 1);
    assert!(!second.exists());
    all_is_explained(&log);
    let records = records(&log);
    let purge = records
        .iter()
        .find(|it| it.event == AuditEvent::Purge)
        .unwrap();
    for head in [&gone[0], &proposal] {
        assert!(purge.removed.as_ref().unwrap().contains(head));
    }
}

#[tokio::test]
async fn heads_of_before_a_purge_whose_record_is_purged_call_no_run_missing() {
    let dir = tempfile::tempdir().unwrap();
    let numbered = |path: PathBuf, number: u64| {
        let named = name(&path).replacen('-', &format!("-{number}-"), 1);
        let named = path.with_file_name(named);
        std::fs::rename(path, &named).unwrap();
        named
    };
    let heads = || AuditLog::new(dir.path(), "docs").runs.heads().unwrap();
    let first = numbered(run(dir.path(), 900, &[]), 1);
    let of_first = heads();
    let mut second = Script::begin(dir.path(), days_ago(700), Vec::new());
    second.entry(
        days_ago(700),
        &AuditEntry::new(CallId::new().unwrap(), AuditEvent::Purge)
            .but(|entry| entry.removed = of_first.clone()),
    );
    numbered(second.close(days_ago(700)), 2);
    std::fs::remove_file(first).unwrap();
    let log = running(dir.path()).await;
    let young = numbered(run(dir.path(), 10, &[]), 90);
    let of_young = { heads().into_iter() }.filter(|head| head.file == name(&young));
    let against = Against {
        heads: of_first.iter().cloned().chain(of_young).collect(),
        anchors: None,
    };
    assert_eq!(log.purge_at(YEAR, NOW).await.unwrap().runs, 1);
    let missing = |checked: &LogVerification| {
        let wrong = checked.wrong.iter();
        wrong.filter(|wrong| wrong.kind == "missing_run").count()
    };
    let checked = log.upkeep.verify(&against, |_, _| {}).unwrap();
    assert_eq!((missing(&checked), checked.older), (0, 1));
    // What is younger than all that was purged is missed as before.
    std::fs::remove_file(young).unwrap();
    let checked = log.upkeep.verify(&against, |_, _| {}).unwrap();
    assert_eq!((missing(&checked), checked.older), (1, 1));
    // So is what a run names that is there: its removal would be told.
    Script::begin(dir.path(), days_ago(5), of_first).kill();
    let checked = log.upkeep.verify(&against, |_, _| {}).unwrap();
    assert_eq!((missing(&checked), checked.older), (2, 0));
}

#[tokio::test]
async fn more_files_than_a_record_takes_are_told_in_several() {
    let dir = tempfile::tempdir().unwrap();
    yesterday(dir.path());
    let log = running(dir.path()).await;
    let runs = dir.path().join("docs/runs");
    let count = super::FILES_A_RECORD + 1;
    let long_ago = SystemTime::now() - Duration::from_hours(20 * 365 * 24);
    for n in 0..count {
        let file = std::fs::File::create(runs.join(format!("20000101T000000Z-{n:016x}.jsonl")));
        file.unwrap().set_modified(long_ago).unwrap();
    }
    let purged = log.purge_at(YEAR, NOW).await.unwrap();
    assert_eq!(purged.runs, u64::try_from(count).unwrap());
    let told: Vec<usize> = records(&log)
        .iter()
        .filter_map(|record| record.removed.as_ref().map(Vec::len))
        .collect();
    assert_eq!(told, [super::FILES_A_RECORD, 1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn purges_at_once_do_not_trip_over_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let keeper = AuditLog::new(dir.path(), "docs");
    for n in 0..20 {
        let state = keep_long_ago(&keeper, &n.to_string()).await;
        run(dir.path(), 400, &[state]);
    }
    yesterday(dir.path());
    let mut at_work = Vec::new();
    for _ in 0..4 {
        let log = running(dir.path()).await;
        at_work.push((
            log.clone(),
            tokio::spawn(async move { log.purge_at(YEAR, NOW).await }),
        ));
    }
    let mut runs = 0;
    let mut pages = 0;
    for (_, purge) in &mut at_work {
        let purged = purge.await.unwrap().unwrap();
        runs += purged.runs;
        pages += purged.pages;
    }
    assert_eq!((runs, pages), (20, 20));
    all_is_explained(&keeper);
}

#[tokio::test]
async fn a_state_that_is_kept_again_while_a_purge_is_at_work_stays() {
    let dir = tempfile::tempdir().unwrap();
    yesterday(dir.path());
    let log = running(dir.path()).await;
    let state = keep_long_ago(&log, "old").await;
    let plan = super::PurgePlan::make(&log, YEAR, NOW).unwrap().unwrap();
    assert_eq!(log.states.keep(&page("old")).await.unwrap(), state);
    assert_eq!(plan.carry_out(&log).await.unwrap(), Purged::default());
    assert_eq!(log.states.get(state).await.unwrap(), page("old"));
}

#[tokio::test]
async fn a_purge_of_nothing_leaves_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    assert_eq!(log.purge(YEAR).await.unwrap(), Purged::default());
    assert!(!dir.path().join("docs").exists());
}

#[tokio::test]
async fn who_makes_a_living_run_grow_pushes_nothing_out() {
    let dir = tempfile::tempdir().unwrap();
    let keeper = AuditLog::new(dir.path(), "docs");
    let state = keep_long_ago(&keeper, "of an honest write").await;
    let honest = run(dir.path(), 9, &[state]);
    let log = running(dir.path()).await;
    let fresh = keeper.states.keep(&page("just kept")).await.unwrap();
    let most = honest.metadata().unwrap().len();
    let most = most + kept_path(&log.place, state).metadata().unwrap().len();
    let own = run_path(&log.place, log.runs.all().unwrap().last().unwrap());
    while own.metadata().unwrap().len() <= 2 * most {
        let refusal = AuditEntry::new(CallId::new().unwrap(), AuditEvent::Refusal);
        log.record(refusal).await.unwrap();
    }
    let keep = YEAR.but(|keep| keep.bytes = most);
    assert_eq!(log.purge_at(keep, NOW).await.unwrap(), Purged::default());
    assert!(honest.exists());
    assert_eq!(is_there(&log, &[state, fresh]), [true, true]);
}

/// The days of a century.
const CENTURY: i64 = 36_500;

#[tokio::test]
async fn a_clock_that_is_wrong_by_a_century_makes_nothing_old() {
    for jump in [CENTURY, -CENTURY] {
        let dir = tempfile::tempdir().unwrap();
        // It has no run of its own, whose records would have today's time.
        let log = AuditLog::new(dir.path(), "docs");
        let state = keep_long_ago(&log, "a year old tomorrow").await;
        run(dir.path(), 364, &[state]);
        yesterday(dir.path());
        let proposal = proposal(20, ProposalState::Open, state);
        log.proposals.keep(proposal.clone()).await.unwrap();
        // What is written by that clock proves nothing by itself.
        let wrong = days_ago(-jump);
        let seen = AuditLog::new(dir.path(), "docs").runs.heads().unwrap();
        Script::begin(dir.path(), wrong, seen).close(wrong);
        assert_eq!(log.purge_at(YEAR, wrong).await.unwrap(), Purged::default());
        assert_eq!(log.purge_at(YEAR, NOW).await.unwrap(), Purged::default());
        let file = log
            .place
            .directory()
            .join(format!("proposals/{}.json", proposal.id));
        assert!(file.exists());
    }
}

#[tokio::test]
async fn what_a_day_of_records_has_left_behind_is_old() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), 1, &[]);
    run(dir.path(), -CENTURY, &[]);
    // It has no run of its own yet, whose records would have today's time.
    let log = AuditLog::new(dir.path(), "docs");
    let hours_later = |hours| days_ago(-CENTURY) + time::Duration::hours(hours);
    let purged = log.purge_at(YEAR, hours_later(23)).await.unwrap();
    assert_eq!(purged, Purged::default());
    let purged = log.purge_at(YEAR, hours_later(24)).await.unwrap();
    assert_eq!(purged.runs, 1);
    all_is_explained(&log);
}

#[tokio::test]
async fn a_log_whose_clock_was_set_back_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let keeper = AuditLog::new(dir.path(), "docs");
    let states = [
        keep_long_ago(&keeper, "in one run").await,
        keep_long_ago(&keeper, "in the run after").await,
    ];
    let call = CallId::new().unwrap();
    let entry = |event, state| AuditEntry {
        tool: Some("wikijs_update_page".to_owned()),
        step: Some("update".to_owned()),
        before: Some(state),
        decision: Some("token".to_owned()),
        ..AuditEntry::new(call, event)
    };
    // Set back within a run, and still so in the next one.
    let mut script = Script::begin(dir.path(), days_ago(3), Vec::new());
    script.entry(days_ago(2), &entry(AuditEvent::Attempt, states[0]));
    script.entry(
        days_ago(CENTURY),
        &entry(AuditEvent::Outcome, states[0]).but(|it| it.outcome = Some(Outcome::Applied)),
    );
    script.close(days_ago(CENTURY));
    let seen = AuditLog::new(dir.path(), "docs").runs.heads().unwrap();
    let open = proposal(CENTURY, ProposalState::Open, states[1]);
    keeper.proposals.keep(open.clone()).await.unwrap();
    let mut script = Script::begin(dir.path(), days_ago(CENTURY), seen);
    script.entry(days_ago(CENTURY), &open.making());
    script.close(days_ago(CENTURY));
    yesterday(dir.path());

    let log = running(dir.path()).await;
    assert_eq!(log.purge_at(YEAR, NOW).await.unwrap(), Purged::default());
    assert_eq!(is_there(&log, &states), [true, true]);
    assert!(log.proposals.get(open.id).await.is_ok());
    all_is_explained(&log);
    let checked = log.upkeep.verify(&Against::default(), |_, _| {}).unwrap();
    assert_eq!(checked.wrong, []);
    // Begun when the clock was right, and read in the order in which it was written.
    let since = |days| CallFilter {
        since: Some(days_ago(days)),
        tool: Some("update_page".to_owned()),
        ..CallFilter::default()
    };
    let (found, unreadable) = log.calls.latest(&since(4), None, 10).unwrap();
    let found = found.into_calls();
    assert_eq!((found.len(), unreadable), (1, 0));
    let events: Vec<AuditEvent> = found[0].records.iter().map(|record| record.event).collect();
    assert_eq!(events, [AuditEvent::Attempt, AuditEvent::Outcome]);
    let (none, _) = log.calls.latest(&since(1), None, 10).unwrap();
    assert_eq!(none.into_calls().len(), 0);
}
