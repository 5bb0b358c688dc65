//! The call that is under way, for all that happens within it.

use super::{AuditError, CallId};

tokio::task_local! {
    static CURRENT: CallId;
}

impl CallId {
    /// Does work under this call: its records, and its requests to the wiki, carry the id.
    pub async fn during<F: Future>(self, work: F) -> F::Output {
        CURRENT.scope(self, work).await
    }

    /// The call that is under way, if this is part of one.
    #[must_use]
    pub fn current() -> Option<Self> {
        CURRENT.try_with(|call| *call).ok()
    }

    /// The call that is under way, or a new one.
    ///
    /// # Errors
    /// If the system gives no randomness.
    pub fn current_or_new() -> Result<Self, AuditError> {
        Self::current().map_or_else(Self::new, Ok)
    }
}
