//! Disk work on blocking threads.

use std::time::Duration;

use super::super::AuditResult;

/// The longest wait while others begin a run, or remove kept states.
pub(in crate::audit) const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Runs disk work on a blocking thread; it continues if the caller is gone.
pub(in crate::audit) async fn blocking<T, W>(work: W) -> AuditResult<T>
where
    T: Send + 'static,
    W: FnOnce() -> AuditResult<T> + Send + 'static,
{
    crate::store::blocking(work).await
}
