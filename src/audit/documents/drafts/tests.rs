use std::time::{Duration, SystemTime};

use super::{LIES, MAX_CHANGES};
use crate::audit::{
    AuditError, AuditLog, AuditResult, DraftChange, DraftName, DraftOwner, KeyDigest,
};
use crate::page::{PagePath, PageState, testing};
use crate::store::DocumentKind;

fn owner() -> DraftOwner {
    DraftOwner {
        counted_with: "c".to_owned(),
        called: None,
        key: KeyDigest::new(&[7; 32]),
    }
}

fn name() -> DraftName {
    "rework".parse().unwrap()
}

/// A change that creates a page.
fn creates(path: &str, content: String) -> DraftChange {
    let page = PageState {
        id: None,
        path: PagePath::as_stored(path),
        content,
        ..testing::page()
    };
    DraftChange {
        before: None,
        after: Some(page),
        lost: Vec::new(),
        updates_links: false,
        part_of: None,
        warnings: Vec::new(),
        shown: Vec::new(),
    }
}

/// A draft in this log with so many changes.
async fn begun(log: &AuditLog, changes: usize) {
    let mut held = log.drafts.hold(owner(), name(), true).await.unwrap();
    let changes = (0..changes).map(|number| creates(&format!("a/{number}"), String::new()));
    held.draft.changes = changes.collect();
    super::write(&held.place, &held.name, &held.draft, held.lease.fence()).unwrap();
}

async fn joins(log: &AuditLog, change: DraftChange) -> AuditResult<usize> {
    let held = log.drafts.hold(owner(), name(), false).await.unwrap();
    let draft = held.join(change).await?;
    Ok(draft.changes.len())
}

#[tokio::test]
async fn two_hundred_changes_join_a_draft_and_the_next_leaves_it_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    begun(&log, MAX_CHANGES - 1).await;
    let last = creates("last", String::new());
    assert_eq!(joins(&log, last.clone()).await, Ok(200));
    let more = joins(&log, creates("more", String::new())).await;
    assert_eq!(more, Err(AuditError::DraftFull));
    let draft = log.drafts.get(owner(), name()).await.unwrap();
    assert_eq!(draft.changes.len(), MAX_CHANGES);
    // A change of a page that is in it takes no further place.
    assert_eq!(joins(&log, last).await, Ok(200));
}

#[tokio::test]
async fn a_draft_has_a_bound_in_bytes_and_what_exceeds_it_does_not_join() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let most = usize::try_from(DocumentKind::Draft.most_bytes()).unwrap();
    begun(&log, 1).await;
    let large = joins(&log, creates("large", "x".repeat(most))).await;
    assert_eq!(large, Err(AuditError::DraftFull));
    let half = "x".repeat(most / 2);
    assert_eq!(joins(&log, creates("half", half)).await, Ok(2));
}

/// Changes the one document of a draft.
fn rewrite(log: &AuditLog, change: impl FnOnce(&std::path::Path)) {
    let drafts = log.place.directory().join("drafts");
    let file = std::fs::read_dir(drafts).unwrap().next().unwrap().unwrap();
    change(&file.path());
}

fn changed_at(at: SystemTime) -> impl FnOnce(&std::path::Path) {
    move |path| std::fs::File::open(path).unwrap().set_modified(at).unwrap()
}

#[tokio::test]
async fn a_clock_that_goes_back_an_hour_ends_no_draft_and_brings_none_back() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    begun(&log, 1).await;
    let hour = Duration::from_hours(1);
    // It was changed an hour from now, by the clock of today.
    rewrite(&log, changed_at(SystemTime::now() + hour));
    assert_eq!(log.drafts.of_owner(owner()).await.unwrap().len(), 1);
    rewrite(&log, changed_at(SystemTime::now() - LIES + hour));
    assert_eq!(log.drafts.of_owner(owner()).await.unwrap().len(), 1);
    rewrite(&log, changed_at(SystemTime::now() - LIES - hour));
    assert_eq!(log.drafts.of_owner(owner()).await.unwrap().len(), 0);
    // What was found to have ended is gone, and no clock brings it back.
    let drafts = log.place.directory().join("drafts");
    assert_eq!(std::fs::read_dir(drafts).unwrap().count(), 0);
}
