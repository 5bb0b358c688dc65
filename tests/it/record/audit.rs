//! The audit log where processes and many tasks meet: nothing is lost, nothing interleaves,
//! and a full disk stops a write.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use wikijs_gate::audit::entry::chain::{RunFileEnd, Verified, verify};
use wikijs_gate::audit::{Against, AuditEntry, AuditError, AuditLog, CallId, CallSelector};
use wikijs_gate::page::{Locale, PagePath, PageReading, PageState};

use crate::harness;
use crate::prelude::*;

/// Where a child of these tests finds the audit directory; without it, a child does nothing.
const CHILDS_DIR: &str = "AUDIT_TEST_DIR";

const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_mins(1);

fn entry(event: AuditEvent) -> AuditEntry {
    AuditEntry::new(CallId::new().unwrap(), event)
        .but(|entry| entry.path = Some(PagePath::new("docs/a")))
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
fn calls(run: &Path, event: AuditEvent) -> Vec<CallId> {
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
            PagePath::new("docs/a"),
            "Large".to_owned(),
        )
        .or_blank()
    }
}

fn small_page() -> PageState {
    large_page().but(|page| page.content = String::new())
}

/// Many tasks at once, each an attempt with its outcome; the calls that were put on record.
async fn write_from_many_tasks(log: &AuditLog, tasks: usize, each: usize) -> Vec<CallId> {
    let tasks: Vec<_> = (0..tasks)
        .map(|_| {
            let log = log.clone();
            tokio::spawn(async move {
                let mut calls = Vec::new();
                for _ in 0..each {
                    let proof = log.attempt(entry(AuditEvent::Attempt), &[]).await.unwrap();
                    log.record(entry(AuditEvent::Preview)).await.unwrap();
                    let outcome = AuditEntry::new(proof.call(), AuditEvent::Outcome)
                        .but(|entry| entry.outcome = Some(Outcome::Applied));
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
    assert_eq!(verified.records, 1 + 32 * 5 * 3 + 1);
    assert_eq!(verified.end, RunFileEnd::Closed);
    for event in [AuditEvent::Attempt, AuditEvent::Outcome] {
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
        assert_eq!(verified.records, 1 + 16 * 5 * 3 + 1);
        assert_eq!(verified.end, RunFileEnd::Closed);
        on_record.extend(calls(run, AuditEvent::Outcome));
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
    let part = "record::audit::childs_part_writes_until_the_disk_is_full";
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
    assert_eq!(verified.end, RunFileEnd::HalfWritten);
    let mut on_record = calls(run, AuditEvent::Attempt);
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
    assert_eq!(
        log.states.keep(&large_page()).await,
        Err(AuditError::Io(kind))
    );
    assert_eq!(fs::read_dir(dir.join("docs/pages")).unwrap().count(), 0);
    assert_eq!(log.check(), Ok(()));
    let refused = loop {
        match log.attempt(entry(AuditEvent::Attempt), &[]).await {
            Ok(proof) => tell(&format!("on record: {}", proof.call())),
            Err(error) => break error,
        }
    };
    assert_eq!(refused, AuditError::Io(kind));
    assert_eq!(log.check(), Err(AuditError::Failed(kind)));
    let next = log.attempt(entry(AuditEvent::Attempt), &[]).await;
    assert_eq!(next.err(), Some(AuditError::Failed(kind)));
    let outcome = log.record(entry(AuditEvent::Outcome)).await;
    assert_eq!(outcome, Err(AuditError::Failed(kind)));
}

/// Runs a child's part with the audit directory on a small disk of its own; what it said, or `None`
/// where this user may not make a file system.
fn on_a_small_disk(part: &str, dir: &Path) -> Option<String> {
    let lines = "mount -t tmpfs -o size=2m none \"$0\" || exit 77; exec \"$@\"";
    let output = Command::new("unshare")
        .args(["-rm", "sh", "-c", lines])
        .arg(dir)
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            part,
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(CHILDS_DIR, dir)
        .output();
    // Without the right to do this, nothing of ours ran.
    let output = output.ok()?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    let has_run = told.contains("running 1 test");
    assert!(!has_run || output.status.success(), "{told}{errors}");
    has_run.then_some(told)
}

/// Takes all room of a disk; removing the file gives it back.
fn fill(dir: &Path) -> PathBuf {
    let path = dir.join("ballast");
    let mut file = fs::File::create(&path).unwrap();
    let full = loop {
        if let Err(error) = file.write_all(&[b'x'; 4096]) {
            break error.kind();
        }
    };
    assert_eq!(full, std::io::ErrorKind::StorageFull);
    path
}

/// An attempt or outcome that no approval is asked of.
fn step(call: CallId, event: AuditEvent) -> AuditEntry {
    AuditEntry {
        step: Some("update".to_owned()),
        decision: Some("token".to_owned()),
        outcome: (event == AuditEvent::Outcome).then_some(Outcome::Applied),
        ..AuditEntry::new(call, event)
    }
}

/// Writes previews until there is no room for one more: the file's last block is full then.
async fn write_until_full(log: &AuditLog) -> AuditError {
    loop {
        if let Err(error) = log.record(entry(AuditEvent::Preview)).await {
            break error;
        }
    }
}

#[test]
fn a_record_goes_on_by_itself_when_a_full_disk_has_room_again() {
    let dir = tempfile::tempdir().unwrap();
    let part = "record::audit::childs_part_goes_on_when_there_is_room_again";
    if let Some(told) = on_a_small_disk(part, dir.path()) {
        assert!(told.contains("\nwent on\n"), "{told}");
    }
}

#[tokio::test]
#[ignore = "a child's part, run by the test of the disk that has room again"]
async fn childs_part_goes_on_when_there_is_room_again() {
    let Some(dir) = childs_dir() else { return };
    let full = AuditError::Failed(std::io::ErrorKind::StorageFull);
    let log = AuditLog::new(&dir, "docs");
    let new = || CallId::new().unwrap();
    let (lost, going) = (new(), new());
    for call in [lost, going] {
        let _sent = log
            .attempt(step(call, AuditEvent::Attempt), &[])
            .await
            .unwrap();
    }
    let ballast = fill(&dir);
    write_until_full(&log).await;
    assert_eq!(log.check(), Err(full.clone()));
    // What cannot be recorded is not sent, and trying leaves nothing behind.
    for _ in 0..3 {
        let refused = log.attempt(step(new(), AuditEvent::Attempt), &[]).await;
        assert_eq!(refused.err(), Some(full.clone()));
    }
    assert_eq!(log.record(step(lost, AuditEvent::Outcome)).await, Err(full));
    let [failed] = runs(&dir).try_into().unwrap();
    fs::remove_file(ballast).unwrap();

    let next = new();
    let _sent = log
        .attempt(step(next, AuditEvent::Attempt), &[])
        .await
        .unwrap();
    assert_eq!(log.check(), Ok(()));
    // Only what is not under way any more may be settled, and only by this process.
    let open = log.unsettled.left_open(None, None).await.unwrap();
    let calls: Vec<CallId> = open.attempts.iter().map(|open| open.entry.call).collect();
    assert_eq!(calls, [lost]);
    assert!(open.attempts[0].may_be_sent);
    let other = AuditLog::new(&dir, "docs");
    assert!(
        other
            .unsettled
            .left_open(None, None)
            .await
            .unwrap()
            .is_empty()
    );
    log.record(open.attempts[0].outcome(Outcome::Applied))
        .await
        .unwrap();
    log.unsettled.forget_settled().await.unwrap();
    assert!(!log.unsettled.is_any());
    for call in [going, next] {
        log.record(step(call, AuditEvent::Outcome)).await.unwrap();
    }
    log.close().await.unwrap();

    let mut all = runs(&dir);
    all.retain(|run| *run != failed);
    let [second] = all.try_into().unwrap();
    let first = fs::read_to_string(&second).unwrap();
    let start = Record::parse(first.lines().next().unwrap().as_bytes()).unwrap();
    let follows = start.follows.unwrap();
    let name = |run: &Path| run.file_name().unwrap().to_str().unwrap().to_owned();
    let bytes = fs::read(&failed).unwrap();
    let length = usize::try_from(follows.length).unwrap();
    assert_eq!(bytes[length - 1], b'\n');
    let end = verify(BufReader::new(&bytes[..length])).unwrap().last;
    assert_eq!((follows.file, follows.hash), (name(&failed), Some(end)));
    let checked = log.upkeep.verify(&Against::default(), |_, _| {}).unwrap();
    assert_eq!(checked.wrong, []);
    let of_failed = checked.runs.iter().find(|run| run.file == name(&failed));
    let of_failed = of_failed.unwrap();
    assert_eq!(of_failed.followed_by, Some(name(&second)));
    assert!(of_failed.open_end().unwrap().contains("no room for more"));
    tell("went on");
}

#[test]
fn a_server_settles_what_a_full_disk_kept_from_its_record_before_it_writes_again() {
    let dir = tempfile::tempdir().unwrap();
    let part = "record::audit::childs_part_a_server_on_a_disk_that_was_full";
    if let Some(told) = on_a_small_disk(part, dir.path()) {
        assert!(told.contains("\nsettled\n"), "{told}");
    }
}

#[tokio::test]
#[ignore = "a child's part, run by the test of the server on a full disk"]
async fn childs_part_a_server_on_a_disk_that_was_full() {
    let Some(disk) = childs_dir() else { return };
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let dir = Arc::new(tempfile::tempdir_in(&disk).unwrap());
    let setup = Setup::at(&faulty.address(), &wiki.keys().admin).in_dir(&dir);
    let served = setup.serve().await;
    let (home, other) = (id_of(&wiki, "home"), id_of(&wiki, "docs/configuration"));
    let title = |id: i64| json!({ "id": id, "title": "Ours" });
    let update = UPDATE;
    let mut confirm = title(home);
    confirm["confirm"] = served.call(update, title(home)).await.unwrap()["confirm"].clone();
    let mut late = title(other);
    late["confirm"] = served.call(update, title(other)).await.unwrap()["confirm"].clone();
    faulty.on_mutations_after(0, Fault::new(Reach::Before, Reply::WikiHeld));
    let filling = async {
        faulty.mutations_arrive(1).await;
        let ballast = fill(&disk);
        write_until_full(served.app.desk.audit()).await;
        faulty.let_late_ones_through().await;
        ballast
    };
    let (applied, ballast) = tokio::join!(served.call(update, confirm), filling);
    let applied = applied.unwrap();
    says(&applied["warnings"].to_string(), "outcome_not_recorded");
    let refused = fails(&served, update, title(other), "AUDIT_UNAVAILABLE").await;
    says(&refused["hint"], "room");
    // The token is used up, and nothing was sent by it.
    let unsent = fails(&served, update, late.clone(), "AUDIT_UNAVAILABLE").await;
    let again = fails(&served, update, late, "CONFIRM_EXPIRED").await;
    assert_eq!(again["details"]["usedBy"], unsent["details"]["callId"]);
    says(&again["message"], "nothing of it is on record");
    says(&again["hint"], "for a new preview");
    assert_eq!(mutations(&wiki).len(), 1);

    fs::remove_file(ballast).unwrap();
    let call = served.confirmed(update, title(other)).await.unwrap()["callId"].clone();
    let mut all = harness::runs(dir.path());
    all.sort();
    let [_, second] = <[PathBuf; 2]>::try_from(all).unwrap();
    let told: Vec<String> = fs::read_to_string(second)
        .unwrap()
        .lines()
        .map(|line| Record::parse(line.as_bytes()).unwrap())
        .filter(|record| matches!(record.event, AuditEvent::Attempt | AuditEvent::Outcome))
        .map(|record| format!("{} {}", record.event.as_str(), record.call.unwrap()))
        .collect();
    let word = |event: &str, call: &Value| format!("{event} {}", call.as_str().unwrap());
    let expected = [
        word("outcome", &applied["callId"]),
        word("attempt", &call),
        word("outcome", &call),
    ];
    assert_eq!(told, expected);
    let log = AuditLog::new(dir.path(), served.app.desk.audit().wiki());
    let checked = log.upkeep.verify(&Against::default(), |_, _| {}).unwrap();
    assert_eq!(checked.wrong, []);
    tell("settled");
}

#[tokio::test]
async fn the_tree_is_locked_across_processes_and_free_when_one_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let part = "record::audit::childs_part_holds_the_tree";

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
    let part = "record::audit::childs_part_attempts_and_waits";
    let mut server = child(part, dir.path(), "");
    let mut told = BufReader::new(server.stdout.take().unwrap()).lines();
    let call: CallId = told
        .find_map(|line| line.unwrap().strip_prefix("on record: ")?.parse().ok())
        .unwrap();
    assert_eq!(log.runs.open_attempts(None).await.unwrap(), []);
    server.kill().unwrap();
    server.wait().unwrap();

    let open = log.runs.open_attempts(Some(1)).await.unwrap();
    let [attempt] = open.as_slice() else {
        panic!("one attempt: {open:?}");
    };
    assert_eq!((attempt.entry.call, attempt.entry.id), (call, Some(7)));
    assert_eq!(attempt.entry.path, Some(PagePath::new("docs/a")));
    let story = log.calls.story(&call.into()).await.unwrap();
    assert!(story.is_open);
    assert_eq!(
        log.states.get(story.before.unwrap()).await.unwrap(),
        small_page()
    );

    log.record(attempt.outcome(Outcome::Applied)).await.unwrap();
    assert_eq!(log.runs.open_attempts(None).await.unwrap(), []);
    let last = log.calls.story(&CallSelector::Last).await.unwrap();
    assert_eq!((last.call, last.outcome), (call, Some(Outcome::Applied)));
}

#[tokio::test]
#[ignore = "a child's part, run by the test of the killed process"]
async fn childs_part_attempts_and_waits() {
    let Some(dir) = childs_dir() else { return };
    let log = AuditLog::new(&dir, "docs");
    let before = log.states.keep(&small_page()).await.unwrap();
    let attempt = AuditEntry {
        id: Some(7),
        step: Some("delete".to_owned()),
        before: Some(before),
        ..entry(AuditEvent::Attempt)
    };
    let proof = log.attempt(attempt, &[]).await.unwrap();
    tell(&format!("on record: {}", proof.call()));
    let mut until_closed = Vec::new();
    std::io::stdin().read_to_end(&mut until_closed).unwrap();
}
