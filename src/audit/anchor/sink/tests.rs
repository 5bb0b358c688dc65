use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use super::{AnchorSettings, AnchorsTo, append};
use crate::audit::{
    Against, AuditEntry, AuditEvent, AuditLog, CallId, Outcome, PublicKey, SigningKey,
};
use crate::checks::CheckCommand;
use crate::page::testing::But as _;

async fn write(log: &AuditLog) {
    let call = CallId::new().unwrap();
    let attempt = AuditEntry::new(call, AuditEvent::Attempt)
        .but(|entry| entry.decision = Some("token".to_owned()));
    drop(log.attempt(attempt, &[]).await.unwrap());
    let outcome = AuditEntry::new(call, AuditEvent::Outcome)
        .but(|entry| entry.outcome = Some(Outcome::Applied));
    log.record(outcome).await.unwrap();
}

/// A log that anchors in a file, and the public key that it signs with.
fn anchored(dir: &TempDir, file: &Path) -> (AuditLog, PublicKey) {
    let (key, _) = SigningKey::generate().unwrap();
    let public = key.public();
    let log = AuditLog::new(dir.path(), "docs");
    log.anchoring.set(AnchorSettings {
        to: AnchorsTo::File(file.to_owned()),
        key: Some(key.into()),
    });
    (log, public)
}

fn against(log: &AuditLog, file: &Path, keys: &[PublicKey]) -> Against {
    Against::default()
        .but(|against| against.anchors = Some(log.upkeep.read_anchors(&[file], keys).unwrap()))
}

#[tokio::test]
async fn at_its_end_a_run_is_anchored_whole_and_so_is_what_it_found() {
    let (dir, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = elsewhere.path().join("anchors.jsonl");
    let before = AuditLog::new(dir.path(), "docs");
    write(&before).await;
    before.close().await.unwrap();
    let (log, public) = anchored(&dir, &file);
    write(&log).await;
    write(&log).await;
    log.close().await.unwrap();
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );

    let read = against(&log, &file, &[public]);
    let anchors = read.anchors.as_ref().unwrap();
    assert!(anchors.lines > 0 && anchors.wrong.is_empty());
    // The run before is in the first record alone.
    assert!(anchors.heads.iter().all(|head| head.number() == Some(2)));
    let checked = log.upkeep.verify(&read, |_, _| {}).unwrap();
    assert_eq!(checked.wrong, vec![]);
    assert_eq!(checked.anchored.unwrap().unproven, 0);

    let later = AuditLog::new(dir.path(), "docs");
    write(&later).await;
    later.close().await.unwrap();
    let checked = log.upkeep.verify(&read, |_, _| {}).unwrap();
    let anchored = checked.anchored.unwrap();
    // Its begin, its write and its end.
    assert_eq!((checked.wrong, anchored.unproven), (vec![], 4));
    assert!(anchored.since.is_some());
}

#[tokio::test]
async fn where_heads_cannot_be_anchored_writes_go_on_and_word_is_left_until_they_are() {
    let (dir, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (file, other) = (
        elsewhere.path().join("link"),
        elsewhere.path().join("other"),
    );
    fs::write(&other, "").unwrap();
    std::os::unix::fs::symlink(&other, &file).unwrap();
    let (log, _) = anchored(&dir, &file);
    write(&log).await;
    log.close().await.unwrap();
    let fault = log.anchoring.fault().unwrap();
    assert_eq!(
        fault.why,
        "the file of anchors cannot be written: it is a link"
    );
    assert_eq!(log.anchoring.fault_left(), Some(fault));
    assert_eq!(fs::read_to_string(&other).unwrap(), "");

    fs::remove_file(&file).unwrap();
    let (log, public) = anchored(&dir, &file);
    write(&log).await;
    log.close().await.unwrap();
    assert_eq!(log.anchoring.fault(), None);
    assert_eq!(log.anchoring.fault_left(), None);
    let checked = log
        .upkeep
        .verify(&against(&log, &file, &[public]), |_, _| {});
    assert_eq!(checked.unwrap().anchored.unwrap().unproven, 0);
}

#[tokio::test]
async fn heads_that_a_slow_command_did_not_take_before_the_end_are_told_to_the_next() {
    let dir = TempDir::new().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let command = CheckCommand {
        name: "anchors".to_owned(),
        argv: ["/bin/sleep", "3"].map(str::to_owned).to_vec(),
        cwd: dir.path().to_owned(),
        environment: Vec::new(),
        env: Vec::new(),
        paths: None,
        timeout: Duration::from_mins(1),
    };
    log.anchoring.set(AnchorSettings {
        to: AnchorsTo::Command(command),
        key: None,
    });
    write(&log).await;
    while log.anchoring.made.try_lock().is_ok() {
        tokio::task::yield_now().await;
    }
    log.close().await.unwrap();
    let left = log.anchoring.fault_left().unwrap();
    assert_eq!(left.why, "the last heads did not get there in time");
}

#[test]
fn behind_a_line_that_was_broken_off_the_next_is_whole() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("anchors");
    append(&file, "{\"a\":1}\n").unwrap();
    fs::write(&file, "{\"a\":1}\n{\"v\":1").unwrap();
    append(&file, "{\"b\":2}\n").unwrap();
    append(&file, "{\"c\":3}\n").unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text, "{\"a\":1}\n{\"v\":1\n{\"b\":2}\n{\"c\":3}\n");
    assert!(append(dir.path(), "x").is_err());
}
