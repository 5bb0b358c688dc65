//! Schedules anchors: soon after important records, before a purge, and at the end of the run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use super::super::AuditError;
use super::super::disk::blocking::blocking;
use super::super::disk::layout::AuditLayout;
use super::sink::{AnchorFault, AnchorSettings, Anchors};
use crate::store::DocumentKind;

/// The shortest time between anchors.
const APART: Duration = Duration::from_secs(1);
/// The longest time between two tries where they fail, and of one.
const LONGEST: Duration = Duration::from_mins(1);
/// Timeout for the anchor at the end of a run, or before a purge.
const LAST: Duration = Duration::from_secs(5);

/// The anchors of the heads of this process, where heads are anchored.
#[derive(Debug)]
pub struct Anchoring {
    wiki: String,
    place: AuditLayout,
    anchors: OnceLock<Arc<Anchors>>,
    /// True if the log takes no record until a restart.
    is_over: AtomicBool,
}

impl Anchoring {
    pub(in crate::audit) fn new(wiki: &str, place: &AuditLayout) -> Self {
        Self {
            wiki: wiki.to_owned(),
            place: place.clone(),
            anchors: OnceLock::new(),
            is_over: AtomicBool::new(false),
        }
    }

    /// Has heads anchored from now on; settings that come later count for nothing.
    pub fn set(&self, settings: AnchorSettings) {
        let _ = self.anchors.set(Arc::new(Anchors::new(settings)));
    }

    /// The reason the heads of this process are not anchored, where they should be.
    pub fn fault(&self) -> Option<AnchorFault> {
        self.get()?.fault()
    }

    /// The anchoring fault that the last process left on disk. Blocks.
    pub fn fault_left(&self) -> Option<AnchorFault> {
        let read = self.place.store.document(DocumentKind::AnchorFault, "");
        serde_json::from_slice(&read.ok().flatten()?).ok()
    }

    /// The anchors, if heads are anchored.
    pub(in crate::audit) fn get(&self) -> Option<&Arc<Anchors>> {
        self.anchors.get()
    }

    /// Something that counts is on record: anchors it soon, in a task of its own.
    pub(in crate::audit) fn wake(self: &Arc<Self>) {
        let Some(anchors) = self.get() else {
            return;
        };
        anchors.is_due.store(true, Ordering::SeqCst);
        if !anchors.is_running.swap(true, Ordering::SeqCst) {
            tokio::spawn(go_on(Arc::clone(anchors), Arc::downgrade(self)));
        }
    }

    /// The log takes no record any more: its task ends.
    pub(in crate::audit) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Anchors what is not yet, and waits for it, but not for long.
    pub(in crate::audit) async fn anchor_now(&self) {
        if self.get().is_some() {
            // What came of it is told elsewhere.
            let _ = tokio::time::timeout(LAST, self.anchor(LAST)).await;
        }
    }

    async fn anchor(&self, most: Duration) -> Result<(), String> {
        let Some(anchors) = self.get() else {
            return Ok(());
        };
        let mut made = Arc::clone(&anchors.made).lock_owned().await;
        anchors.is_due.store(false, Ordering::SeqCst);
        let (wiki, place, anchors) = (self.wiki.clone(), self.place.clone(), Arc::clone(anchors));
        let done = blocking(move || {
            let result = anchors.make(&place, &wiki, &mut made, most);
            anchors.settle(&place, &result);
            Ok(result)
        });
        done.await
            .unwrap_or_else(|error: AuditError| Err(error.to_string()))
    }
}

/// Anchors as long as something is due, at most once a second; where it fails, tries again, ever
/// more seldom.
async fn go_on(anchors: Arc<Anchors>, anchoring: Weak<Anchoring>) {
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
