//! Carries the trace of the current call along with its work, as a task-local.

use crate::trace::{TraceContext, TraceId};

tokio::task_local! {
    static HERE: Option<TraceContext>;
}

impl TraceContext {
    /// The place of the current work: of its own span, or of the call's caller.
    pub fn current() -> Option<Self> {
        HERE.try_with(Clone::clone).ok().flatten()
    }
}

impl TraceId {
    /// The trace of the current call, if it has one.
    pub fn current() -> Option<Self> {
        TraceContext::current().map(|context| context.trace)
    }
}

/// Runs work at this place in a trace.
pub async fn traced<F: Future>(place: Option<TraceContext>, work: F) -> F::Output {
    HERE.scope(place, work).await
}

/// Work for a task of its own that belongs to the current call.
pub fn traced_as_here<F: Future>(work: F) -> impl Future<Output = F::Output> {
    traced(TraceContext::current(), work)
}
