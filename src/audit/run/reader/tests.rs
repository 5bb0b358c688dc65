use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::time::{Duration, Instant};

use time::macros::datetime;

use super::{RunFile, for_each_line};
use crate::audit::testing::{Script, run_path};
use crate::audit::{AuditEntry, AuditEvent, AuditLog, CallId, Outcome, Unreadable};
use crate::page::{Locale, PagePath};

fn entry(event: AuditEvent) -> AuditEntry {
    AuditEntry {
        tool: Some("wikijs_update_page".to_owned()),
        locale: Some(Locale::as_stored("en")),
        path: Some(PagePath::new("docs/a")),
        outcome: (event == AuditEvent::Outcome).then_some(Outcome::Applied),
        ..AuditEntry::new(CallId::new().unwrap(), event)
    }
}

fn events(run: &RunFile) -> Vec<AuditEvent> {
    run.records().unwrap().map(|it| it.unwrap().event).collect()
}

#[test]
fn runs_come_oldest_first_and_what_is_no_run_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    assert!(log.runs.all().unwrap().is_empty());
    assert!(!dir.path().join("docs").exists());

    let later = Script::begin(dir.path(), datetime!(2030-01-02 00:00 UTC), Vec::new()).kill();
    let first = Script::begin(dir.path(), datetime!(2030-01-01 00:00 UTC), Vec::new()).kill();
    std::fs::write(dir.path().join("docs/runs/notes.txt"), "").unwrap();
    std::fs::create_dir(dir.path().join("docs/runs/a.jsonl")).unwrap();
    let names: Vec<String> = log
        .runs
        .all()
        .unwrap()
        .iter()
        .map(|run| run.name().to_owned())
        .collect();
    let name = |path: &std::path::Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(names, [name(&first), name(&later)]);
}

#[test]
fn a_run_that_cannot_be_read_to_its_end_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = Script::begin(dir.path(), datetime!(2030-01-01 00:00 UTC), Vec::new()).kill();
    let run = AuditLog::new(dir.path(), "docs")
        .runs
        .all()
        .unwrap()
        .remove(0);
    let mut lines = 0;
    for_each_line(&run, |_, _| lines += 1).unwrap();
    assert_ne!(lines, 0);
    std::fs::remove_file(&path).unwrap();
    for_each_line(&run, |_, _| panic!("a purged run has no lines")).unwrap();
    // It opens, and its first byte cannot be read.
    std::fs::create_dir(&path).unwrap();
    for_each_line(&run, |_, _| panic!("no line was read")).unwrap_err();
}

#[tokio::test]
async fn a_run_is_read_while_it_is_written_and_its_lock_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    log.record(entry(AuditEvent::Refusal)).await.unwrap();
    let run = log.runs.all().unwrap().remove(0);
    assert!(run.is_locked);
    let mut records = run.records().unwrap();
    assert_eq!(records.by_ref().count(), 2);
    log.record(entry(AuditEvent::Outcome)).await.unwrap();
    let outcome = records.next().unwrap().unwrap().outcome;
    assert_eq!(outcome, Some(Outcome::Applied));
    log.close().await.unwrap();
    assert!(!log.runs.all().unwrap().remove(0).is_locked);
}

#[test]
fn a_file_that_is_just_being_made_is_held_and_its_lock_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    std::fs::create_dir_all(dir.path().join("docs/runs")).unwrap();
    let path = dir
        .path()
        .join("docs/runs/20300101T000000Z-0123456789abcdef.jsonl");
    let file = File::create_new(&path).unwrap();
    assert!(log.runs.all().unwrap().remove(0).is_locked);
    let long_ago = std::time::SystemTime::now() - Duration::from_hours(1);
    file.set_modified(long_ago).unwrap();
    assert!(!log.runs.all().unwrap().remove(0).is_locked);
}

#[test]
fn a_half_written_last_line_is_no_record_yet_and_becomes_one() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let now = datetime!(2030-01-01 00:00 UTC);
    let mut script = Script::begin(dir.path(), now, Vec::new());
    script.entry(now, &entry(AuditEvent::Preview));
    let path = script.kill();
    let whole = std::fs::read(&path).unwrap();
    let cut = whole.len() - 20;
    std::fs::write(&path, &whole[..cut]).unwrap();

    let run = log.runs.all().unwrap().remove(0);
    let mut records = run.records().unwrap();
    assert_eq!(records.next().unwrap().unwrap().event, AuditEvent::Start);
    for _ in 0..2 {
        assert_eq!(records.next(), None);
    }
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&whole[cut..]).unwrap();
    assert_eq!(records.next().unwrap().unwrap().event, AuditEvent::Preview);
    assert_eq!((records.line, records.next()), (2, None));
}

#[test]
fn a_line_that_cannot_be_read_is_an_item_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let now = datetime!(2030-01-01 00:00 UTC);
    let mut script = Script::begin(dir.path(), now, Vec::new());
    let path = script.flush().to_owned();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"hello\n{\"v\":2}\n\xff\n\n").unwrap();
    file.write_all(&vec![b'x'; 17 * 1024 * 1024]).unwrap();
    file.write_all(b"\n").unwrap();
    drop(file);
    script.entry(now, &entry(AuditEvent::Preview));
    // Its own offset was passed by what was put in; the line must stand at the end.
    let whole = std::fs::read(&path).unwrap();
    let mut other = Script::begin(dir.path(), now, Vec::new());
    other.entry(now, &entry(AuditEvent::Preview));
    let tail = std::fs::read(other.kill()).unwrap();
    drop(script);
    let second = tail.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    std::fs::write(&path, [whole.as_slice(), &tail[second..]].concat()).unwrap();

    let runs = log.runs.all().unwrap();
    let run = runs
        .iter()
        .find(|run| run_path(&log.place, run) == path)
        .unwrap();
    let read: Vec<Result<AuditEvent, Unreadable>> = run
        .records()
        .unwrap()
        .map(|read| read.map(|record| record.event))
        .collect();
    let expected = [
        Ok(AuditEvent::Start),
        Err(Unreadable::NotARecord),
        Err(Unreadable::Newer(2)),
        Err(Unreadable::NotARecord),
        Err(Unreadable::NotARecord),
        Err(Unreadable::TooLong),
        Ok(AuditEvent::Preview),
    ];
    assert_eq!(read, expected);
}

#[test]
fn a_hundred_thousand_events_are_read_quickly() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let now = datetime!(2030-01-01 00:00 UTC);
    for _ in 0..4 {
        let mut script = Script::begin(dir.path(), now, Vec::new());
        script.entry(now, &entry(AuditEvent::Outcome));
        let path = script.kill();
        // The reader does not look at the chain, and this is much quicker to make.
        let written = std::fs::read_to_string(&path).unwrap();
        let line = written.lines().nth(1).unwrap();
        std::fs::write(&path, format!("{line}\n").repeat(25_000)).unwrap();
    }
    let began = Instant::now();
    let read: usize = log
        .runs
        .all()
        .unwrap()
        .iter()
        .map(|run| events(run).len())
        .sum();
    assert_eq!(read, 100_000);
    // Without optimisation, beside other tests; a release build takes a fraction of a second.
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
}
