//! Removing what was kept too long, now and then.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crate::audit::{AuditError, Purged};

use super::writer::Writer;

/// How long a server that goes on living waits before the next purge.
const EVERY: Duration = Duration::from_hours(24);

impl Writer {
    /// Purges the audit directory if this run has not done so today. Nobody waits for it, and
    /// the end of the log ends it.
    pub(super) fn purge_if_due(&self) {
        {
            let now = Instant::now();
            let mut last = self
                .last_purge
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if last.is_some_and(|last| now.duration_since(last) < EVERY) {
                return;
            }
            *last = Some(now);
        }
        let (audit, keep) = (Arc::clone(&self.audit), self.keep);
        tokio::spawn(async move {
            match audit.purge(keep).await {
                Ok(purged) if purged == Purged::default() => {}
                Ok(Purged { runs, pages, bytes }) => {
                    tracing::info!(runs, pages, bytes, "the audit directory was purged");
                }
                Err(AuditError::Ended) => {}
                Err(error) => tracing::warn!(%error, "the audit directory could not be purged"),
            }
        });
    }
}
