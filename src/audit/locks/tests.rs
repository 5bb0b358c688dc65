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
    // Side by side: a file that was locked for one who does not ask for it stays locked.
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
    // The one that waited was given the lock, and goes without having looked.
    drop(waiting);
    assert_eq!(pages.entries().len(), 0);
}
