use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;

use super::PageLocks;
use crate::audit::{AuditError, AuditLog};

const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(20);

#[tokio::test]
async fn the_tree_is_for_one_write_at_a_time_in_a_log_and_among_logs() {
    let dir = tempfile::tempdir().unwrap();
    let first = AuditLog::new(dir.path(), "docs");
    let second = AuditLog::new(dir.path(), "docs");
    let other = AuditLog::new(dir.path(), "other");

    let lock = first.lock_tree(LONG).await.unwrap();
    assert_eq!(first.lock_tree(SHORT).await.err(), Some(AuditError::Busy));
    assert_eq!(second.lock_tree(SHORT).await.err(), Some(AuditError::Busy));
    assert_eq!(
        second.lock_tree(Duration::ZERO).await.err(),
        Some(AuditError::Busy)
    );
    drop(other.lock_tree(Duration::ZERO).await.unwrap());

    drop(lock);
    let lock = second.lock_tree(Duration::ZERO).await.unwrap();
    assert_eq!(first.lock_tree(SHORT).await.err(), Some(AuditError::Busy));
    drop(lock);
    drop(first.lock_tree(Duration::ZERO).await.unwrap());
}

#[tokio::test]
async fn whoever_waits_gets_the_tree_when_it_is_free() {
    let dir = tempfile::tempdir().unwrap();
    let first = AuditLog::new(dir.path(), "docs");
    let second = AuditLog::new(dir.path(), "docs");
    let held = first.lock_tree(LONG).await.unwrap();
    let mut near = Box::pin(first.lock_tree(LONG));
    let mut far = Box::pin(second.lock_tree(LONG));
    assert!(near.as_mut().now_or_never().is_none());
    assert!(far.as_mut().now_or_never().is_none());
    drop(held);
    // Concurrently: a file locked for a future that is not polled stays locked.
    let (near, far) = tokio::join!(async { near.await.map(drop) }, async {
        far.await.map(drop)
    });
    assert_eq!((near, far), (Ok(()), Ok(())));
}

#[tokio::test]
async fn a_lock_file_that_was_removed_locks_nobody_out_for_good() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    drop(log.lock_tree(LONG).await.unwrap());
    std::fs::remove_file(dir.path().join("docs/tree.lock")).unwrap();
    drop(log.lock_tree(LONG).await.unwrap());
}

#[tokio::test]
async fn updates_of_one_page_wait_for_each_other_and_those_of_others_do_not() {
    let pages = Arc::new(PageLocks::default());
    let held = pages.lock(7).await;
    let other = pages.lock(8).now_or_never();
    assert!(other.is_some());
    let mut waiting = Box::pin(pages.lock(7));
    assert!(waiting.as_mut().now_or_never().is_none());
    drop(held);
    drop(waiting.await);
}

#[tokio::test]
async fn a_page_that_nobody_waits_for_has_no_entry() {
    let pages = Arc::new(PageLocks::default());
    let held = pages.lock(7).await;
    let mut waiting = Box::pin(pages.lock(7));
    assert!(waiting.as_mut().now_or_never().is_none());
    drop(waiting);
    assert_eq!(pages.entries().len(), 1);
    let mut waiting = Box::pin(pages.lock(7));
    assert!(waiting.as_mut().now_or_never().is_none());
    drop(held);
    // The waiting one was given the lock, and is dropped without having noticed.
    drop(waiting);
    assert_eq!(pages.entries().len(), 0);
}

fn turns(dir: &tempfile::TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(dir.path().join("docs/turns"));
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    entries
        .into_iter()
        .flatten()
        .map(|entry| name(entry).into_string().unwrap())
        .collect()
}

#[tokio::test]
async fn a_page_is_for_one_write_at_a_time_among_logs_too() {
    let dir = tempfile::tempdir().unwrap();
    let first = AuditLog::new(dir.path(), "docs");
    let second = AuditLog::new(dir.path(), "docs");
    let other = AuditLog::new(dir.path(), "other");
    let lock = first.lock_page(7, LONG).await.unwrap();
    assert_eq!(
        first.lock_page(7, SHORT).await.err(),
        Some(AuditError::Busy)
    );
    assert_eq!(
        second.lock_page(7, SHORT).await.err(),
        Some(AuditError::Busy)
    );
    // Neither another page nor another wiki nor the tree has to wait.
    drop(second.lock_page(8, Duration::ZERO).await.unwrap());
    drop(other.lock_page(7, Duration::ZERO).await.unwrap());
    drop(second.lock_tree(Duration::ZERO).await.unwrap());
    drop(lock);
    drop(second.lock_page(7, Duration::ZERO).await.unwrap());
    // No file is left of pages that nobody writes.
    assert_eq!(turns(&dir), [""; 0]);
}

#[tokio::test]
async fn a_process_with_many_writes_of_a_page_starves_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let first = AuditLog::new(dir.path(), "docs");
    let second = AuditLog::new(dir.path(), "docs");
    let (ends, mut order) = tokio::sync::mpsc::unbounded_channel();
    let held = first.lock_page(7, LONG).await.unwrap();
    let wait = |log: &AuditLog, name| {
        let (log, ends) = (log.clone(), ends.clone());
        tokio::spawn(async move {
            let lock = log.lock_page(7, LONG).await.unwrap();
            ends.send(name).unwrap();
            drop(lock);
        })
    };
    let far = wait(&second, "far");
    while !turns(&dir).contains(&"7.lock.next".to_owned()) {
        tokio::task::yield_now().await;
    }
    let near = wait(&first, "near");
    drop(held);
    far.await.unwrap();
    near.await.unwrap();
    assert_eq!(
        (order.recv().await, order.recv().await),
        (Some("far"), Some("near"))
    );
    assert_eq!(turns(&dir), [""; 0]);
}

#[tokio::test]
async fn what_a_killed_process_left_of_its_turns_is_removed_and_what_is_held_stays() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let held = log.lock_page(7, LONG).await.unwrap();
    for left in ["8.lock", "8.lock.next"] {
        std::fs::write(dir.path().join("docs/turns").join(left), "").unwrap();
    }
    // Leftover files lock nobody out.
    drop(log.lock_page(8, Duration::ZERO).await.unwrap());
    std::fs::write(dir.path().join("docs/turns/9.lock.next"), "").unwrap();
    super::sweep(&log.place()).unwrap();
    assert_eq!(turns(&dir), ["7.lock"]);
    drop(held);
}
