//! Models the faults that a check of a log finds.

use serde::Serialize;

/// One thing that is wrong with a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct LogFinding {
    /// The word for it, for programs.
    pub kind: &'static str,
    /// The affected file.
    pub file: String,
    /// The fault, as a sentence without its full stop.
    pub message: String,
}

impl LogFinding {
    pub(super) fn new(kind: &'static str, file: &str, message: impl Into<String>) -> Self {
        Self {
            kind,
            file: file.to_owned(),
            message: message.into(),
        }
    }

    /// A run whose lines were replaced, though its chain holds: a witness saw a line end there.
    pub(super) fn rewritten(run: &str, at: u64, witness: &str) -> Self {
        let message = format!("{run} was rewritten: {witness} saw another line end at byte {at}");
        Self::new("rewritten", run, message)
    }

    /// A run in which a witness saw a line end at another length.
    pub(super) fn lost(run: &str, length: u64, seen: u64, witness: &str) -> Self {
        if length >= seen {
            return Self::rewritten(run, seen, witness);
        }
        let message = format!("{run} is shorter than {witness} saw it: {length} of {seen} bytes");
        Self::new("shorter", run, message)
    }
}
