//! The id of the current call, as a task-local.

use super::super::{AuditResult, CallId};

tokio::task_local! {
    static CURRENT: CallId;
}

impl CallId {
    /// Runs work under this call: its records and its requests to the wiki carry the id.
    pub async fn during<F: Future>(self, work: F) -> F::Output {
        CURRENT.scope(self, work).await
    }

    /// The current call, if there is one.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(|call| *call).ok()
    }

    /// The current call, or a new one.
    ///
    /// # Errors
    /// If the system gives no randomness.
    pub fn current_or_new() -> AuditResult<Self> {
        Self::current().map_or_else(Self::new, Ok)
    }
}
