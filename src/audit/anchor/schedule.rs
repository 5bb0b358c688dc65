//! Schedules anchors: soon after important records, before a purge, and at the end of the run.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::super::disk::blocking::blocking;
use super::super::log::WeakLog;
use super::super::{AuditError, AuditLog};
use super::sink::{AnchorFault, AnchorSettings, Anchors};
use crate::store::DocumentKind;

/// The shortest time between anchors.
const APART: Duration = Duration::from_secs(1);
/// The longest time between two tries where they fail, and of one.
const LONGEST: Duration = Duration::from_mins(1);
/// Timeout for the anchor at the end of a run, or before a purge.
const LAST: Duration = Duration::from_secs(5);

impl AuditLog {
    /// Has heads anchored from now on; settings that come later count for nothing.
    pub fn anchor_by(&self, settings: AnchorSettings) {
        let _ = self.anchors_cell().set(Arc::new(Anchors::new(settings)));
    }

    /// The reason the heads of this process are not anchored, where they should be.
    #[must_use]
    pub fn anchors_fault(&self) -> Option<AnchorFault> {
        self.anchors()?.fault()
    }

    /// The anchoring fault that the last process left on disk. Blocks.
    #[must_use]
    pub fn anchors_fault_left(&self) -> Option<AnchorFault> {
        let read = self.place().store.document(DocumentKind::AnchorFault, "");
        serde_json::from_slice(&read.ok().flatten()?).ok()
    }

    /// Something that counts is on record: anchors it soon, in a task of its own.
    pub(in crate::audit) fn wake_anchors(&self) {
        let Some(anchors) = self.anchors() else {
            return;
        };
        anchors.is_due.store(true, Ordering::SeqCst);
        if !anchors.is_running.swap(true, Ordering::SeqCst) {
            tokio::spawn(go_on(Arc::clone(anchors), self.downgrade()));
        }
    }

    /// Anchors what is not yet, and waits for it, but not for long.
    pub(in crate::audit) async fn anchor_now(&self) {
        if self.anchors().is_some() {
            // What came of it is told elsewhere.
            let _ = tokio::time::timeout(LAST, self.anchor(LAST)).await;
        }
    }

    async fn anchor(&self, most: Duration) -> Result<(), String> {
        let Some(anchors) = self.anchors() else {
            return Ok(());
        };
        let mut made = Arc::clone(&anchors.made).lock_owned().await;
        anchors.is_due.store(false, Ordering::SeqCst);
        let (log, anchors) = (self.clone(), Arc::clone(anchors));
        let done = blocking(move || {
            let result = anchors.make(&log.place(), log.wiki(), &mut made, most);
            anchors.settle(&log.place(), &result);
            Ok(result)
        });
        done.await
            .unwrap_or_else(|error: AuditError| Err(error.to_string()))
    }
}

/// Anchors as long as something is due, at most once a second; where it fails, tries again, ever
/// more seldom.
async fn go_on(anchors: Arc<Anchors>, log: WeakLog) {
    let mut apart = APART;
    loop {
        let Some(log) = log.upgrade() else {
            return;
        };
        let result = log.anchor(LONGEST).await;
        // The end of a run anchors for itself.
        let is_over = log.is_over();
        drop(log);
        apart = match result {
            Ok(()) => APART,
            Err(_) => (apart * 2).min(LONGEST),
        };
        tokio::time::sleep(apart).await;
        if is_over {
            return;
        }
        if result.is_ok() && !anchors.is_due.load(Ordering::SeqCst) {
            anchors.is_running.store(false, Ordering::SeqCst);
            let is_due = anchors.is_due.load(Ordering::SeqCst);
            if !is_due || anchors.is_running.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }
}
