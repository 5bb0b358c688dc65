//! Schedules anchors: soon after important records, before a purge, and at the end of the run.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::super::{Anchoring, AuditError, AuditResult, blocking};

/// The shortest time between anchors.
const APART: Duration = Duration::from_secs(1);
/// The longest time between two tries where they fail, and of one.
const LONGEST: Duration = Duration::from_mins(1);
/// Timeout for the anchor at the end of a run, or before a purge.
const LAST: Duration = Duration::from_millis(if cfg!(test) { 1000 } else { 5000 });
/// The fault of an anchor that took longer.
const LATE: &str = "the last heads did not get there in time";

impl Anchoring {
    /// Something that counts is on record: anchors it soon, in a task of its own.
    pub(in crate::audit) fn wake(self: &Arc<Self>) {
        if !self.is_set() {
            return;
        }
        self.is_due.store(true, Ordering::SeqCst);
        if !self.is_running.swap(true, Ordering::SeqCst) {
            tokio::spawn(go_on(Arc::downgrade(self)));
        }
    }

    /// The log takes no record any more: its task ends.
    pub(in crate::audit) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Anchors what is not yet, and waits for it, but not for long.
    pub(in crate::audit) async fn anchor_now(self: &Arc<Self>) {
        if !self.is_set() {
            return;
        }
        // What came of it is told elsewhere, but for what is still under way: the process may end.
        let ended = tokio::time::timeout(LAST, self.anchor(LAST)).await;
        if ended.is_err() && self.made.try_lock().is_err() {
            let own = Arc::clone(self);
            let settled = blocking(move || {
                own.settle(&Err(LATE.to_owned()));
                Ok(())
            });
            let _: AuditResult<()> = settled.await;
        }
    }

    async fn anchor(self: &Arc<Self>, most: Duration) -> Result<(), String> {
        let mut made = Arc::clone(&self.made).lock_owned().await;
        self.is_due.store(false, Ordering::SeqCst);
        let own = Arc::clone(self);
        let done = blocking(move || {
            let result = own.make(&mut made, most);
            own.settle(&result);
            Ok(result)
        });
        done.await
            .unwrap_or_else(|error: AuditError| Err(error.to_string()))
    }
}

/// Anchors as long as something is due, at most once a second; where it fails, tries again, ever
/// more seldom.
async fn go_on(anchoring: Weak<Anchoring>) {
    let mut apart = APART;
    loop {
        let Some(own) = anchoring.upgrade() else {
            return;
        };
        let result = own.anchor(LONGEST).await;
        // The end of a run anchors for itself.
        let is_over = own.is_over.load(Ordering::SeqCst);
        drop(own);
        apart = match result {
            Ok(()) => APART,
            Err(_) => (apart * 2).min(LONGEST),
        };
        tokio::time::sleep(apart).await;
        let Some(own) = anchoring.upgrade().filter(|_| !is_over) else {
            return;
        };
        if result.is_ok() && !own.is_due.load(Ordering::SeqCst) {
            own.is_running.store(false, Ordering::SeqCst);
            let is_due = own.is_due.load(Ordering::SeqCst);
            if !is_due || own.is_running.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }
}
