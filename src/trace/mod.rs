//! The W3C trace context of calls, and spans of their work for a collector.
//!
//! The context is read from a call's caller and goes on its records. Spans are made only where a collector
//! is set ([`begin`]); `server/otlp.rs` sends them.

mod context;
mod current;
mod span;

pub use context::{TraceContext, TraceId};
pub use current::{traced, traced_as_here};
pub use span::{FinishedSpan, SpanEnd, SpanKind, SpanQueue, begin, outgoing, queue, span};
