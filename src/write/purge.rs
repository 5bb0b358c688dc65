//! Removing what was kept too long, now and then.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::task::TaskTracker;

use crate::audit::{AuditError, AuditLog, GRACE, Keep, Purged};
use crate::gates::{ConfirmMode, Policy};

/// How long a server that goes on living waits before the next purge.
const EVERY: Duration = Duration::from_hours(24);
/// The part of the bound in bytes after which it does not wait that long: the eighth.
const PARTS: u64 = 8;
/// When this run purged last.
#[derive(Debug, Default)]
struct LastPurge {
    at: Option<Instant>,
    /// How many bytes had been kept then.
    kept: u64,
    /// How many had been kept at the purge before it; what was kept since then may still be there,
    /// since the last hour is spared.
    seen: u64,
}

impl LastPurge {
    /// Whether another is due, which is one then: once a day, and as often as once in the hour
    /// that a purge spares where much was kept.
    fn is_due(&mut self, now: Instant, kept: u64, most: u64) -> bool {
        let is_due = self.at.is_none_or(|last| {
            let passed = now.duration_since(last);
            let is_much = kept.saturating_sub(self.seen) >= most / PARTS;
            passed >= EVERY || passed >= GRACE && is_much
        });
        if is_due {
            self.at = Some(now);
            self.seen = std::mem::replace(&mut self.kept, kept);
        }
        is_due
    }
}

/// The purges of one server.
#[derive(Debug)]
pub(super) struct Purges {
    audit: Arc<AuditLog>,
    keep: Keep,
    /// Not by a command: it ends at once, and may be taking back what is oldest.
    is_on: bool,
    last: Mutex<LastPurge>,
    tasks: TaskTracker,
}

impl Purges {
    pub(super) fn new(audit: Arc<AuditLog>, policy: &Policy, keep: Keep) -> Self {
        Self {
            audit,
            keep,
            is_on: !matches!(policy.confirm, ConfirmMode::Operator),
            last: Mutex::default(),
            tasks: TaskTracker::new(),
        }
    }

    /// Waits for a purge under way, but not for long.
    pub(super) async fn end(&self, longest: Duration) {
        self.tasks.close();
        // What is left goes with a later purge.
        let _ = tokio::time::timeout(longest, self.tasks.wait()).await;
    }

    /// Purges the audit directory if that is due. Nobody waits for it but the
    /// end of the server, a little: one that lives for a single write must purge as well.
    pub(super) fn start_if_due(&self) {
        if !self.is_on {
            return;
        }
        let (audit, keep) = (Arc::clone(&self.audit), self.keep);
        let is_due = self
            .last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_due(Instant::now(), audit.kept_bytes(), keep.bytes);
        if !is_due {
            return;
        }
        self.tasks.spawn(async move {
            match audit.purge(keep).await {
                Ok(purged) if purged == Purged::default() => {}
                Ok(Purged {
                    runs,
                    pages,
                    proposals,
                    bytes,
                }) => {
                    tracing::info!(
                        runs,
                        pages,
                        proposals,
                        bytes,
                        "the audit directory was purged"
                    );
                }
                Err(AuditError::Ended) => {}
                Err(error) => tracing::warn!(%error, "the audit directory could not be purged"),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::LastPurge;

    #[test]
    fn a_purge_is_due_once_a_day_or_when_much_was_kept_and_can_go() {
        let (mut last, start, most) = (LastPurge::default(), Instant::now(), 800);
        let mut is_due = |minutes: u64, kept| {
            let now = start + Duration::from_secs(minutes * 60);
            last.is_due(now, kept, most)
        };
        assert!(is_due(0, 10));
        // Much was kept, but within the hour it could not go.
        assert!(!is_due(59, 500));
        assert!(is_due(60, 500));
        // That purge spared some of it; the next one does not, and then there is nothing new.
        assert!(!is_due(61, 500));
        assert!(is_due(120, 500));
        assert!(!is_due(180, 599));
        assert!(is_due(181, 600));
        assert!(is_due(241, 600));
        assert!(!is_due(301, 600));
        assert!(!is_due(241 + 24 * 60 - 1, 600));
        assert!(is_due(241 + 24 * 60, 600));
    }
}
