//! The audit log where processes and many tasks meet: nothing is lost, nothing interleaves,
//! and a full disk stops a write.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use wikijs_mcp::audit::chain::{End, Verified, verify};
use wikijs_mcp::audit::{
    AuditError, AuditLog, CallId, CallSelector, Entry, Event, Outcome, Record,
};
use wikijs_mcp::page::{Locale, PagePath, PageReading, PageState};

/// Where a child of these tests finds the audit directory; without it, a child does nothing.
const CHILDS_DIR: &str = "AUDIT_TEST_DIR";

const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_mins(1);

fn entry(event: Event) -> Entry {
    Entry {
        path: Some(PagePath::of("docs/a")),
        ..Entry::new(CallId::new().unwrap(), event)
    }
}

fn runs(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir.join("docs/runs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect()
}

fn checked(run: &Path) -> Verified {
    verify(BufReader::new(fs::File::open(run).unwrap())).unwrap()
}

/// The calls of all whole records of an event.
fn calls(run: &Path, event: Event) -> Vec<CallId> {
    fs::read(run)
        .unwrap()
        .split_inclusive(|byte| *byte == b'\n')
        .filter_map(|line| line.strip_suffix(b"\n"))
        .map(|line| Record::parse(line).unwrap())
        .filter(|record| record.event == event)
        .filter_map(|record| record.call)
        .collect()
}

/// This test binary once more, to run one of the tests below that are a child's part.
pub(crate) fn child(part: &str, dir: &Path, shell: &str) -> Child {
    Command::new("sh")
        .args(["-c", &format!("{shell} exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            part,
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(CHILDS_DIR, dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one way to give a child of the test harness an argument"
)]
pub(crate) fn childs_dir() -> Option<PathBuf> {
    std::env::var_os(CHILDS_DIR).map(PathBuf::from)
}

/// Tells the parent something, on a line of its own: the harness writes on stdout too.
#[expect(clippy::print_stdout, reason = "a child's way to its parent")]
fn tell(line: &str) {
    println!("\n{line}");
}

/// A page that takes more than the limit of the full disk, compressed too.
fn large_page() -> PageState {
    PageState {
        content: (0..5_000)
            .map(|_| CallId::new().unwrap().to_string())
            .collect(),
        editor: "markdown".to_owned(),
        is_published: true,
        ..PageReading::bare(
            Some(7),
            Locale::as_stored("en"),
            PagePath::of("docs/a"),
            "Large".to_owned(),
        )
        .or_blank()
    }
}

fn small_page() -> PageState {
    PageState {
        content: String::new(),
        ..large_page()
    }
}

/// Many tasks at once, each an attempt with its outcome; the calls that were put on record.
async fn write_from_many_tasks(log: &AuditLog, tasks: usize, each: usize) -> Vec<CallId> {
    let tasks: Vec<_> = (0..tasks)
        .map(|_| {
            let log = log.clone();
            tokio::spawn(async move {
                let mut calls = Vec::new();
                for _ in 0..each {
                    let proof = log.attempt(entry(Event::Attempt)).await.unwrap();
                    log.record(entry(Event::Preview)).await.unwrap();
                    let outcome = Entry {
                        outcome: Some(Outcome::Applied),
                        ..Entry::new(proof.call(), Event::Outcome)
                    };
                    log.record(outcome).await.unwrap();
                    calls.push(proof.call());
                }
                calls
            })
        })
        .collect();
    let mut calls = Vec::new();
    for task in tasks {
        calls.extend(task.await.unwrap());
    }
    calls.sort();
    calls
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tasks_of_one_log_write_one_chain() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let calls_made = write_from_many_tasks(&log, 32, 5).await;
    log.close().await.unwrap();

    let runs = runs(dir.path());
    let [run] = runs.as_slice() else {
        panic!("one run, one file: {runs:?}");
    };
    let verified = checked(run);
    assert_eq!(
        (verified.records, verified.end),
        (1 + 32 * 5 * 3 + 1, End::Closed)
    );
    for event in [Event::Attempt, Event::Outcome] {
        let mut on_record = calls(run, event);
        on_record.sort();
        assert_eq!(on_record, calls_made);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_logs_on_one_directory_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let one = AuditLog::new(dir.path(), "docs");
    let two = AuditLog::new(dir.path(), "docs");
    let (by_one, by_two) = tokio::join!(
        write_from_many_tasks(&one, 16, 5),
        write_from_many_tasks(&two, 16, 5)
    );
    one.close().await.unwrap();
    two.close().await.unwrap();

    let runs = runs(dir.path());
    assert_eq!(runs.len(), 2);
    let mut on_record = Vec::new();
    for run in &runs {
        let verified = checked(run);
        assert_eq!(
            (verified.records, verified.end),
            (1 + 16 * 5 * 3 + 1, End::Closed)
        );
        on_record.extend(calls(run, Event::Outcome));
    }
    let mut made = [by_one, by_two].concat();
    made.sort();
    on_record.sort();
    assert_eq!(on_record, made);
}

/// A disk that is full, as any user can have it: a limit on the size of a file, past which a
/// write is cut short and the next one fails.
#[test]
fn a_full_disk_stops_writes_and_what_was_promised_is_on_record() {
    let dir = tempfile::tempdir().unwrap();
    let shell = "trap '' XFSZ; ulimit -f 16;";
    let part = "audit::childs_part_writes_until_the_disk_is_full";
    let output = child(part, dir.path(), shell).wait_with_output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}");
    let mut promised: Vec<CallId> = told
        .lines()
        .filter_map(|line| line.strip_prefix("on record: "))
        .map(|call| call.parse().unwrap())
        .collect();
    assert!(promised.len() > 5, "{told}");

    let runs = runs(dir.path());
    let [run] = runs.as_slice() else {
        panic!("one run, one file: {runs:?}");
    };
    let verified = checked(run);
    assert_eq!(verified.end, End::HalfWritten);
    let mut on_record = calls(run, Event::Attempt);
    on_record.sort();
    promised.sort();
    assert_eq!(on_record, promised);
}

#[tokio::test]
#[ignore = "a child's part, run by the test of the full disk"]
async fn childs_part_writes_until_the_disk_is_full() {
    let Some(dir) = childs_dir() else { return };
    let log = AuditLog::new(&dir, "docs");
    let kind = std::io::ErrorKind::FileTooLarge;
    assert_eq!(log.keep(&large_page()).await, Err(AuditError::Io(kind)));
    assert_eq!(fs::read_dir(dir.join("docs/pages")).unwrap().count(), 0);
    assert_eq!(log.check(), Ok(()));
    let refused = loop {
        match log.attempt(entry(Event::Attempt)).await {
            Ok(proof) => tell(&format!("on record: {}", proof.call())),
            Err(error) => break error,
        }
    };
    assert_eq!(refused, AuditError::Io(kind));
    assert_eq!(log.check(), Err(AuditError::Failed(kind)));
    let next = log.attempt(entry(Event::Attempt)).await;
    assert_eq!(next.err(), Some(AuditError::Failed(kind)));
    let outcome = log.record(entry(Event::Outcome)).await;
    assert_eq!(outcome, Err(AuditError::Failed(kind)));
}

#[tokio::test]
async fn the_tree_is_locked_across_processes_and_free_when_one_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let part = "audit::childs_part_holds_the_tree";

    for is_killed in [false, true] {
        let mut holder = child(part, dir.path(), "");
        let mut told = BufReader::new(holder.stdout.take().unwrap()).lines();
        assert!(told.any(|line| line.unwrap() == "locked"));
        assert_eq!(log.lock_tree(SHORT).await.err(), Some(AuditError::Busy));
        if is_killed {
            holder.kill().unwrap();
        } else {
            drop(holder.stdin.take());
        }
        drop(log.lock_tree(LONG).await.expect("free again"));
        holder.wait().unwrap();
    }
}

#[tokio::test]
#[ignore = "a child's part, run by the test of the tree's lock"]
async fn childs_part_holds_the_tree() {
    let Some(dir) = childs_dir() else { return };
    let log = AuditLog::new(&dir, "docs");
    let _lock = log.lock_tree(LONG).await.unwrap();
    tell("locked");
    let mut until_closed = Vec::new();
    std::io::stdin().read_to_end(&mut until_closed).unwrap();
}

/// What a killed server leaves is open as soon as it is dead, and not before.
#[tokio::test]
async fn an_attempt_of_a_killed_process_is_open_until_it_is_settled() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let part = "audit::childs_part_attempts_and_waits";
    let mut server = child(part, dir.path(), "");
    let mut told = BufReader::new(server.stdout.take().unwrap()).lines();
    let call: CallId = told
        .find_map(|line| line.unwrap().strip_prefix("on record: ")?.parse().ok())
        .unwrap();
    assert_eq!(log.open_attempts(None).await.unwrap(), []);
    server.kill().unwrap();
    server.wait().unwrap();

    let open = log.open_attempts(Some(1)).await.unwrap();
    let [attempt] = open.as_slice() else {
        panic!("one attempt: {open:?}");
    };
    assert_eq!((attempt.call, attempt.id), (call, Some(7)));
    assert_eq!(attempt.path, Some(PagePath::of("docs/a")));
    let story = log.story(&call.into()).await.unwrap();
    assert!(story.is_open());
    assert_eq!(
        log.kept(story.before().unwrap()).await.unwrap(),
        small_page()
    );

    log.record(attempt.outcome(Outcome::Applied)).await.unwrap();
    assert_eq!(log.open_attempts(None).await.unwrap(), []);
    let last = log.story(&CallSelector::LAST).await.unwrap();
    assert_eq!((last.call, last.outcome()), (call, Some(Outcome::Applied)));
}

#[tokio::test]
#[ignore = "a child's part, run by the test of the killed process"]
async fn childs_part_attempts_and_waits() {
    let Some(dir) = childs_dir() else { return };
    let log = AuditLog::new(&dir, "docs");
    let before = log.keep(&small_page()).await.unwrap();
    let attempt = Entry {
        id: Some(7),
        step: Some("delete".to_owned()),
        before: Some(before),
        ..entry(Event::Attempt)
    };
    let proof = log.attempt(attempt).await.unwrap();
    tell(&format!("on record: {}", proof.call()));
    let mut until_closed = Vec::new();
    std::io::stdin().read_to_end(&mut until_closed).unwrap();
}
