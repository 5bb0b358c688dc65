//! Removing what was kept too long, now and then.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crate::audit::{AuditError, Purged};
use crate::gates::ConfirmMode;

use super::writer::Writer;

/// How long a server that goes on living waits before the next purge.
const EVERY: Duration = Duration::from_hours(24);
/// How long the end of the server waits for a purge.
const AT_THE_END: Duration = Duration::from_secs(5);

impl Writer {
    /// Waits for a purge under way, but not for long.
    pub(super) async fn purged(&self) {
        self.purges.close();
        // What is left goes with a later purge.
        let _ = tokio::time::timeout(AT_THE_END, self.purges.wait()).await;
    }

    /// Purges the audit directory if this run has not done so today. Nobody waits for it but the
    /// end of the server, a little: one that lives for a single write must purge as well.
    pub(super) fn purge_if_due(&self) {
        // A command ends at once, and may be taking back what is oldest.
        if matches!(self.policy.confirm, ConfirmMode::Operator) {
            return;
        }
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
        self.purges.spawn(async move {
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
