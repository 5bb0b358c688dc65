//! Disk work on blocking threads.

use std::time::Duration;

use super::super::AuditError;

/// The longest wait while others begin a run, or remove kept states.
pub(in crate::audit) const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Runs disk work on a blocking thread; it continues if the caller is gone.
pub(in crate::audit) async fn blocking<T, W>(work: W) -> Result<T, AuditError>
where
    T: Send + 'static,
    W: FnOnce() -> Result<T, AuditError> + Send + 'static,
{
    crate::store::blocking(work).await
}
