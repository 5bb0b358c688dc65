//! Tells people of what goes on record: what waits for them, what was decided, what went wrong.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use super::super::{AuditEntry, AuditEvent, OTHER, Outcome};
use crate::notify::{Notifier, NotifyEvent as Notice};

/// The most sets whose changes are counted at once; a set is forgotten as soon as it is made.
const MOST_COUNTED: usize = 64;

/// The recipients of notices, and what is counted for them.
#[derive(Debug)]
pub struct NoticeSlot {
    wiki: String,
    notifier: RwLock<Option<Arc<Notifier>>>,
    /// Number of recorded changes by set, for sets whose making is not on record yet.
    counted: Mutex<HashMap<String, usize>>,
}

impl NoticeSlot {
    pub(in crate::audit) fn new(wiki: &str) -> Self {
        Self {
            wiki: wiki.to_owned(),
            notifier: RwLock::default(),
            counted: Mutex::default(),
        }
    }

    /// Sets the recipients of notices from now on.
    pub fn set(&self, notifier: Notifier) {
        *self.notifier.write() = (!notifier.is_idle()).then(|| Arc::new(notifier));
    }

    /// Tells people something of this wiki, if they are to be told.
    pub fn tell(&self, notice: &Notice) {
        if let Some(notifier) = self.notifier() {
            notifier.tell(&self.wiki, notice);
        }
    }

    /// Waits until what was to be told is told.
    pub(in crate::audit) async fn finish(&self) {
        if let Some(notifier) = self.notifier() {
            notifier.finish().await;
        }
    }

    /// The recipients of notices, in words.
    #[cfg(any(test, feature = "testing"))]
    pub fn in_words(&self) -> String {
        let notifier = self.notifier();
        notifier.map_or_else(String::new, |notifier| notifier.in_words())
    }

    fn notifier(&self) -> Option<Arc<Notifier>> {
        self.notifier.read().clone()
    }

    /// The notice to send for a record, once it is written.
    pub(in crate::audit) fn notice_for(&self, entry: &AuditEntry) -> Option<Notice> {
        self.notifier()?;
        let call = || entry.call.to_string();
        match (entry.event, entry.decision.as_deref()) {
            (AuditEvent::Preview, Some(OTHER)) => {
                let set = entry.proposal.clone()?;
                let mut counted = self.counted.lock();
                if counted.len() < MOST_COUNTED || counted.contains_key(&set) {
                    let count = counted.entry(set).or_insert(0);
                    *count = count.saturating_add(1);
                }
                None
            }
            (AuditEvent::Proposal, Some("made")) => {
                let set = entry.proposal.clone()?;
                let mut counted = self.counted.lock();
                let others = counted.remove(&set).unwrap_or(0);
                Some(Notice::Waiting {
                    set,
                    changes: others.saturating_add(1),
                })
            }
            (AuditEvent::Proposal, Some(decision)) => {
                let decisions = ["applied", "rejected", "withdrawn"];
                Some(Notice::Decided {
                    set: entry.proposal.clone()?,
                    decision: decisions.into_iter().find(|word| *word == decision)?,
                    call: call(),
                })
            }
            // Of a set, the record of its end speaks for all changes.
            (AuditEvent::Outcome, _) if entry.set.is_none_or(|set| set == entry.call) => {
                match entry.outcome {
                    Some(Outcome::PartlyApplied) => Some(Notice::PartlyApplied { call: call() }),
                    Some(Outcome::Unknown) => Some(Notice::Unknown { call: call() }),
                    Some(Outcome::Applied | Outcome::Unchanged | Outcome::NotApplied) | None => {
                        None
                    }
                }
            }
            _ => None,
        }
    }
}
