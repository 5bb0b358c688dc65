//! Makes spans of work, and queues them for a collector: bounded, and never waited for.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::time::SystemTime;

use serde_json::Value;
use tokio::sync::mpsc;

use super::context::place_for_span;
use crate::meter::Counter;
use crate::trace::{TraceContext, traced};

/// The most finished spans that wait; beyond it they are dropped.
const MOST_WAITING: usize = 2_048;

static QUEUE: OnceLock<SpanQueue> = OnceLock::new();

/// The spans on their way to the collector.
#[derive(Debug)]
pub struct SpanQueue {
    waiting: mpsc::Sender<FinishedSpan>,
    /// Spans that the collector took.
    pub sent: Counter,
    /// Spans that were lost: the queue was full, or the collector did not take them.
    pub dropped: Counter,
}

/// The side of a request that a span tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// A stage within this program.
    Internal,
    /// A call that this program answers.
    Server,
    /// A request that this program sends.
    Client,
}

impl SpanKind {
    /// Its number in OTLP.
    pub const fn number(self) -> u8 {
        match self {
            Self::Internal => 1,
            Self::Server => 2,
            Self::Client => 3,
        }
    }
}

/// A span whose work has ended. It holds ids and outcomes, and no text of a page.
#[derive(Debug)]
pub struct FinishedSpan {
    /// Its own place in its trace.
    pub context: TraceContext,
    /// The span above it.
    pub parent: Option<u64>,
    /// Its name.
    pub name: Cow<'static, str>,
    /// The side that it tells of.
    pub kind: SpanKind,
    /// The start of its work.
    pub began: SystemTime,
    /// The end of its work.
    pub ended: SystemTime,
    /// The end as its work told it; without one the work was cut off.
    pub end: Option<SpanEnd>,
}

/// The end of a span, as its work told it.
#[derive(Debug, Default)]
pub struct SpanEnd {
    /// Names and values: texts and numbers.
    pub attributes: Vec<(&'static str, Value)>,
    /// True if the work failed.
    pub is_error: bool,
}

/// Begins to make spans; gives them as they end. `None` if they are made already.
pub fn begin() -> Option<mpsc::Receiver<FinishedSpan>> {
    let (waiting, spans) = mpsc::channel(MOST_WAITING);
    let queue = SpanQueue {
        waiting,
        sent: Counter::default(),
        dropped: Counter::default(),
    };
    QUEUE.set(queue).ok().map(|()| spans)
}

/// The queue, where spans are made.
pub fn queue() -> Option<&'static SpanQueue> {
    QUEUE.get()
}

/// The place in a trace that a request sent now belongs to, where spans are made.
pub fn outgoing() -> Option<TraceContext> {
    queue().and_then(|_| TraceContext::current())
}

/// Runs work as a span, where spans are made and its caller's trace is collected. The work is boxed, so
/// that what surrounds it does not grow.
pub fn span<F: Future>(
    name: impl FnOnce() -> Cow<'static, str>,
    kind: SpanKind,
    work: F,
    end: impl FnOnce(&F::Output) -> SpanEnd,
) -> impl Future<Output = F::Output> {
    let work = Box::pin(work);
    async move {
        let Some(mut open) = OpenSpan::new(name, kind) else {
            return work.await;
        };
        let result = traced(Some(open.0.context.clone()), work).await;
        open.0.end = Some(end(&result));
        result
    }
}

/// A span whose work is under way: queued when it is dropped, even if the work is cut off.
struct OpenSpan(FinishedSpan);

impl OpenSpan {
    fn new(name: impl FnOnce() -> Cow<'static, str>, kind: SpanKind) -> Option<Self> {
        queue()?;
        let above = TraceContext::current();
        if above.as_ref().is_some_and(|above| !above.is_sampled()) {
            return None;
        }
        let now = SystemTime::now();
        Some(Self(FinishedSpan {
            context: place_for_span(above.as_ref())?,
            parent: above.map(|above| above.span),
            name: name(),
            kind,
            began: now,
            ended: now,
            end: None,
        }))
    }
}

impl Drop for OpenSpan {
    fn drop(&mut self) {
        let Some(queue) = queue() else { return };
        let span = FinishedSpan {
            ended: SystemTime::now(),
            context: self.0.context.clone(),
            name: std::mem::take(&mut self.0.name),
            end: self.0.end.take(),
            ..self.0
        };
        if queue.waiting.try_send(span).is_err() {
            queue.dropped.add();
        }
    }
}
