use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use futures_util::FutureExt as _;

use super::LogState;

use crate::audit::entry::chain::{RunFileEnd, Verified, verify};
use crate::audit::{
    AuditEntry, AuditError, AuditEvent, AuditLog, CallId, LineHash, Outcome, Record,
};
use crate::page::testing::But as _;

fn entry(event: AuditEvent) -> AuditEntry {
    AuditEntry::new(CallId::new().unwrap(), event)
}

fn runs(dir: &Path) -> Vec<PathBuf> {
    let mut runs: Vec<PathBuf> = fs::read_dir(dir.join("docs/runs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    runs.sort();
    runs
}

fn run(dir: &Path) -> PathBuf {
    let mut runs = runs(dir);
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

fn records(path: &Path) -> Vec<Record> {
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| Record::parse(line.as_bytes()).unwrap())
        .collect()
}

fn checked(path: &Path) -> Verified {
    verify(fs::read(path).unwrap().as_slice()).unwrap()
}

#[tokio::test]
async fn a_server_that_only_reads_leaves_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(&dir.path().join("audit"), "docs");
    assert_eq!(log.check(), Ok(()));
    log.close().await.unwrap();
    assert!(!dir.path().join("audit").exists());
}

#[tokio::test]
async fn what_was_begun_after_a_run_was_overtaken_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    log.record(entry(AuditEvent::Preview)).await.unwrap();
    let before = log.overtaken.so_far();
    fs::write(dir.path().join("overtaken"), "").unwrap();
    let overtaken = log.record(entry(AuditEvent::Outcome)).await;
    assert_eq!(overtaken, Err(AuditError::Overtaken));
    let [old, new] = [before, log.overtaken.so_far()].map(|since| log.overtaken.lease_since(since));
    // However often what was begun before is refused.
    for _ in 0..2 {
        let attempt = log.attempt(entry(AuditEvent::Attempt), std::slice::from_ref(&old));
        assert_eq!(attempt.await.err(), Some(AuditError::Overtaken));
    }
    let attempt = log.attempt(entry(AuditEvent::Attempt), &[new]).await;
    assert!(attempt.is_ok());
}

#[tokio::test]
async fn a_run_tells_its_story_from_start_to_closed() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    log.record(entry(AuditEvent::Preview)).await.unwrap();
    let attempt = entry(AuditEvent::Refusal);
    let call = attempt.call;
    let proof = log.attempt(attempt, &[]).await.unwrap();
    assert_eq!(proof.call(), call);
    log.record(
        AuditEntry::new(call, AuditEvent::Outcome)
            .but(|entry| entry.outcome = Some(Outcome::Applied)),
    )
    .await
    .unwrap();
    log.close().await.unwrap();
    log.close().await.unwrap();

    let path = run(dir.path());
    let verified = checked(&path);
    assert_eq!((verified.records, verified.end), (5, RunFileEnd::Closed));
    let records = records(&path);
    let events: Vec<AuditEvent> = records.iter().map(|record| record.event).collect();
    let expected = [
        AuditEvent::Start,
        AuditEvent::Preview,
        AuditEvent::Attempt,
        AuditEvent::Outcome,
        AuditEvent::Closed,
    ];
    assert_eq!(events, expected);
    assert!(records.iter().all(|record| record.wiki == "docs"));
    let name = path.file_name().unwrap().to_str().unwrap();
    let end = format!("Z-000001-{}.jsonl", records[0].run);
    assert!(name.ends_with(&end), "{name}");
    assert_eq!(name.len(), "20300102T030405".len() + end.len());
}

#[tokio::test]
async fn nothing_is_taken_after_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    log.record(entry(AuditEvent::Refusal)).await.unwrap();
    log.close().await.unwrap();
    assert_eq!(log.check(), Err(AuditError::Ended));
    assert_eq!(
        log.attempt(entry(AuditEvent::Attempt), &[]).await.err(),
        Some(AuditError::Ended)
    );
    assert_eq!(checked(&run(dir.path())).records, 3);
}

#[tokio::test]
async fn events_of_the_log_itself_are_nobody_elses() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    for event in [AuditEvent::Start, AuditEvent::Attempt, AuditEvent::Closed] {
        assert_eq!(log.record(entry(event)).await, Err(AuditError::WrongEvent));
    }
    assert_eq!(log.check(), Ok(()));
}

#[tokio::test]
async fn all_that_is_made_is_private_and_what_was_there_keeps_its_mode() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let audit = dir.path().join("state/audit");
    let log = AuditLog::new(&audit, "docs");
    log.record(entry(AuditEvent::Refusal)).await.unwrap();
    drop(log.lock_tree(std::time::Duration::ZERO).await.unwrap());

    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(dir.path()), 0o755);
    for made in [
        "state",
        "state/audit",
        "state/audit/docs",
        "state/audit/docs/runs",
    ] {
        assert_eq!(mode(&dir.path().join(made)), 0o700, "{made}");
    }
    assert_eq!(mode(&run(&audit)), 0o600);
    assert_eq!(mode(&audit.join("docs/tree.lock")), 0o600);
}

#[tokio::test]
async fn a_run_is_locked_while_it_lives_and_free_when_it_ended() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    log.record(entry(AuditEvent::Refusal)).await.unwrap();
    let file = fs::File::open(run(dir.path())).unwrap();
    assert!(matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)));
    log.close().await.unwrap();
    file.try_lock().unwrap();
}

#[tokio::test]
async fn a_run_remembers_the_runs_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let first = AuditLog::new(dir.path(), "docs");
    first.record(entry(AuditEvent::Refusal)).await.unwrap();
    first.close().await.unwrap();
    let before = run(dir.path());

    let second = AuditLog::new(dir.path(), "docs");
    second.record(entry(AuditEvent::Refusal)).await.unwrap();
    let after = runs(dir.path())
        .into_iter()
        .find(|path| *path != before)
        .unwrap();
    assert_eq!(records(&before)[0].runs, Some(Vec::new()));
    let seen = records(&after)[0].runs.clone().unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].file, before.file_name().unwrap().to_str().unwrap());
    assert_eq!(seen[0].length, before.metadata().unwrap().len());
    assert_eq!(seen[0].hash, Some(checked(&before).last));
    assert_ne!(seen[0].hash, Some(LineHash::FIRST));
}

#[tokio::test]
async fn a_file_that_was_removed_replaced_or_written_to_closes_the_log() {
    let remove = |path: &Path| fs::remove_file(path).unwrap();
    let replace = |path: &Path| {
        let copy = path.with_extension("copy");
        fs::copy(path, &copy).unwrap();
        fs::rename(&copy, path).unwrap();
    };
    let cut = |path: &Path| fs::write(path, b"").unwrap();
    let extend = |path: &Path| {
        let mut content = fs::read(path).unwrap();
        content.extend_from_slice(b"more\n");
        fs::write(path, content).unwrap();
    };
    let move_away = |path: &Path| {
        let runs = path.parent().unwrap();
        fs::rename(runs, runs.with_extension("old")).unwrap();
    };
    let harms: [&dyn Fn(&Path); 5] = [&remove, &replace, &cut, &extend, &move_away];
    for harm in harms {
        let dir = tempfile::tempdir().unwrap();
        let log = AuditLog::new(dir.path(), "docs");
        let _proof = log.attempt(entry(AuditEvent::Attempt), &[]).await.unwrap();
        harm(&run(dir.path()));
        for _ in 0..2 {
            assert_eq!(
                log.attempt(entry(AuditEvent::Attempt), &[]).await.err(),
                Some(AuditError::Replaced)
            );
        }
        assert_eq!(log.check(), Err(AuditError::Replaced));
        let record = log.record(entry(AuditEvent::Outcome)).await;
        assert_eq!(record, Err(AuditError::Replaced));
        assert_eq!(log.close().await, Err(AuditError::Replaced));
    }
}

#[tokio::test]
async fn a_directory_that_cannot_be_made_refuses_and_can_be_mended() {
    let dir = tempfile::tempdir().unwrap();
    let in_the_way = dir.path().join("docs");
    fs::write(&in_the_way, b"").unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let refused = log
        .attempt(entry(AuditEvent::Attempt), &[])
        .await
        .unwrap_err();
    assert!(matches!(refused, AuditError::Io(_)), "{refused:?}");
    let told = refused.to_string();
    assert!(!told.contains('/'), "{told}");
    fs::remove_file(&in_the_way).unwrap();
    let _proof = log.attempt(entry(AuditEvent::Attempt), &[]).await.unwrap();
}

#[tokio::test]
async fn a_record_whose_caller_went_away_is_not_lost() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let dropped = entry(AuditEvent::Outcome);
    let call = dropped.call;
    // Asked once; on a busy machine the disk may be done by then, and that is fine too.
    let asked = log.record(dropped).now_or_never();
    assert!(asked.is_none_or(|done| done.is_ok()));
    log.record(entry(AuditEvent::Refusal)).await.unwrap();
    let asked = log.record(entry(AuditEvent::Refusal)).now_or_never();
    assert!(asked.is_none_or(|done| done.is_ok()));
    log.close().await.unwrap();
    let path = run(dir.path());
    assert_eq!(checked(&path).records, 5);
    assert_eq!(records(&path)[1].call, Some(call));
}

#[tokio::test]
async fn a_record_that_is_too_large_is_refused_and_harms_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let head = crate::audit::FileHead {
        file: "x".repeat(17 * 1024 * 1024),
        length: 0,
        hash: None,
    };
    let purge = entry(AuditEvent::Purge).but(|it| it.removed = vec![head]);
    assert_eq!(log.record(purge).await, Err(AuditError::TooLarge));
    log.record(entry(AuditEvent::Refusal)).await.unwrap();
    assert_eq!(checked(&run(dir.path())).records, 2);
}

#[tokio::test]
async fn a_log_goes_on_with_a_new_run_after_what_may_pass_and_with_none_after_harm() {
    for (why, goes_on) in [
        (AuditError::Unreachable, true),
        (AuditError::Overtaken, true),
        (AuditError::Replaced, false),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let log = AuditLog::new(dir.path(), "docs");
        log.record(entry(AuditEvent::Refusal)).await.unwrap();
        let before = run(dir.path());
        let mut state = log.state.lock().await;
        assert!(matches!(*state, LogState::Running(_)));
        log.fail(&mut state, why.clone());
        drop(state);
        assert_eq!(log.check(), Err(why.clone()));
        let went_on = log.go_on().await;
        let recorded = log.record(entry(AuditEvent::Refusal)).await;
        if !goes_on {
            assert_eq!((went_on, recorded), (Err(why.clone()), Err(why)));
            continue;
        }
        assert_eq!((went_on, recorded, log.check()), (Ok(()), Ok(()), Ok(())));
        let after = runs(dir.path()).into_iter().find(|path| *path != before);
        let follows = records(&after.unwrap())[0].follows.clone().unwrap();
        assert_eq!(follows.file, before.file_name().unwrap().to_str().unwrap());
        assert_eq!(follows.hash, Some(checked(&before).last));
    }
}
