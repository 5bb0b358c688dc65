//! Purges the audit directory from time to time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use tokio_util::task::TaskTracker;

use crate::audit::{AuditError, AuditLog, GRACE, Keep, Purged};
use crate::gates::Policy;

/// The time between two purges of a running server.
const EVERY: Duration = Duration::from_hours(24);
/// After one part in this many of the bound in bytes the next purge comes earlier.
const PARTS: u64 = 8;
/// The time of this run's last purge.
#[derive(Debug, Default)]
struct LastPurge {
    at: Option<Instant>,
    /// The bytes kept by then.
    kept: u64,
    /// The bytes kept by the purge before it; what was kept since then may still be there, since a
    /// purge spares the last hour.
    seen: u64,
}

impl LastPurge {
    /// True if another purge is due, which it notes: once a day, or up to once an hour (which a
    /// purge spares) if much was kept.
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
pub(crate) struct Purges {
    audit: Arc<AuditLog>,
    keep: Arc<RwLock<Keep>>,
    /// Off for commands: they end soon, and may be undoing the oldest write.
    is_on: bool,
    last: Mutex<LastPurge>,
    tasks: TaskTracker,
}

impl Purges {
    pub(crate) fn new(audit: Arc<AuditLog>, policy: &Policy, keep: Arc<RwLock<Keep>>) -> Self {
        Self {
            audit,
            keep,
            is_on: policy.authority.purges(),
            last: Mutex::default(),
            tasks: TaskTracker::new(),
        }
    }

    /// Waits for a purge under way, but not for long.
    pub(crate) async fn end(&self, longest: Duration) {
        self.tasks.close();
        // A later purge removes the rest.
        let _ = tokio::time::timeout(longest, self.tasks.wait()).await;
    }

    /// Purges the audit directory in the background if that is due. Only the end of the server
    /// waits for it, a little, since a server that lives for a single write must purge as well.
    pub(crate) fn start_if_due(&self) {
        if !self.is_on {
            return;
        }
        let keep = *self.keep.read();
        let audit = Arc::clone(&self.audit);
        let is_due = self
            .last
            .lock()
            .is_due(Instant::now(), audit.states.kept_bytes(), keep.bytes);
        if !is_due {
            return;
        }
        self.tasks.spawn(async move {
            match audit.purge(keep).await {
                Ok(purged) if purged == Purged::default() => {}
                Ok(purged) => tracing::info!(
                    runs = purged.runs,
                    pages = purged.pages,
                    proposals = purged.proposals,
                    bytes = purged.bytes,
                    "the audit directory was purged"
                ),
                Err(AuditError::Ended) => return,
                Err(error) => tracing::warn!(%error, "the audit directory could not be purged"),
            }
            if let Err(error) = audit.runs.keep_index_up().await {
                tracing::warn!(%error, "the index of the record could not be made");
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
        // Much was kept, but within the hour a purge would remove none of it.
        assert!(!is_due(59, 500));
        assert!(is_due(60, 500));
        // That purge spared some of it; the next one does not, and then nothing new is due.
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
