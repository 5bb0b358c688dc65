//! Work on the disk, apart from the async threads.

use super::AuditError;

/// Runs work on the disk apart from the async threads; it goes on if the caller is gone.
pub(super) async fn blocking<T, W>(work: W) -> Result<T, AuditError>
where
    T: Send + 'static,
    W: FnOnce() -> Result<T, AuditError> + Send + 'static,
{
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or(Err(AuditError::BrokenOff))
}
