//! Disk work on blocking threads.

use super::super::AuditError;

/// Runs disk work on a blocking thread; it continues if the caller is gone.
pub(in crate::audit) async fn blocking<T, W>(work: W) -> Result<T, AuditError>
where
    T: Send + 'static,
    W: FnOnce() -> Result<T, AuditError> + Send + 'static,
{
    crate::store::blocking(work).await
}
