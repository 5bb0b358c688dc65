//! A line of the log.
//!
//! The members are in the order of [`Record`]; one that does not apply is absent, never null. The
//! records that the log writes for itself (`start`, `closed`) belong to no call. Texts are cut to
//! lengths that no real value reaches: paths and reasons to 1,024 characters, all others to 256.

use std::io;

use serde::Deserialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::super::{AuditEntry, AuditEvent, CallId, LineHash, Outcome, Record};
use super::chain;
use super::chain::VERSION;
use crate::page::LineCounts;

/// The reason a line could not be read as a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// A newer program wrote it; [`chain::verify`] can still check it.
    #[error("a record of the newer form {0}")]
    Newer(u32),
    /// It is none.
    #[error("not a record")]
    NotARecord,
    /// It is longer than any record.
    #[error("longer than any record")]
    TooLong,
    /// The file could not be read on.
    #[error("could not be read: {0}")]
    Io(io::ErrorKind),
}

impl AuditEntry {
    /// Takes over the counts of the lines that come and go.
    pub fn set_lines(&mut self, lines: LineCounts) {
        let count = |lines: usize| u64::try_from(lines).unwrap_or(u64::MAX);
        self.lines_added = count(lines.added);
        self.lines_removed = count(lines.removed);
    }
}

impl Record {
    /// The event, with the step where the write has several.
    pub fn event_and_step(&self) -> String {
        let event = self.event.as_str();
        match &self.step {
            Some(step) => format!("{event} {step}"),
            None => event.to_owned(),
        }
    }

    /// A summary of its event: the outcome, a gate's decision, an error's code.
    pub fn says(&self) -> String {
        let gate = self.gate.as_ref().map(|gate| {
            let decision = self.decision.as_deref().unwrap_or_default();
            format!("{gate}: {decision}")
        });
        let parts = [
            self.outcome.map(|outcome| outcome.as_str().to_owned()),
            gate,
            self.code.clone(),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// True if it is the outcome of a step that was applied, in whole or in part.
    pub(in crate::audit) fn took_effect(&self) -> bool {
        self.event == AuditEvent::Outcome && self.outcome.is_some_and(Outcome::took_effect)
    }

    /// The calls that it takes back.
    pub fn undone_calls(&self) -> Vec<CallId> {
        let others = self.also_undoes.iter().copied();
        self.undoes.into_iter().chain(others).collect()
    }

    /// Reads a line, without its end.
    ///
    /// # Errors
    /// If a newer program wrote it, or it is not a record. The hash is not checked here.
    pub fn parse(line: &[u8]) -> Result<Self, Unreadable> {
        #[derive(Deserialize)]
        struct Form {
            v: u32,
        }
        let why = |v| match v {
            Some(v) if v > VERSION => Unreadable::Newer(v),
            _ => Unreadable::NotARecord,
        };
        match serde_json::from_slice::<Self>(line) {
            Ok(record) if record.v > VERSION => Err(why(Some(record.v))),
            Ok(record) => Ok(record),
            // The version is parsed only after a failure, since nearly all of many lines are ours.
            Err(_) => Err(why(serde_json::from_slice(line).ok().map(|Form { v }| v))),
        }
    }

    /// Time of writing, if [`Record::time`] is a time.
    pub fn instant(&self) -> Option<OffsetDateTime> {
        OffsetDateTime::parse(&self.time, &Rfc3339).ok()
    }

    /// True if a person rejected a proposal.
    pub fn is_rejection(&self) -> bool {
        self.event == AuditEvent::Proposal && self.decision.as_deref() == Some("rejected")
    }

    /// Sets the hash; returns the hashed line without its end.
    pub(in crate::audit) fn seal(&mut self) -> serde_json::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.truncate(line.len().saturating_sub(chain::TRAILER_LENGTH));
        self.hash = LineHash::new(&line);
        line.extend_from_slice(chain::trailer(self.hash).as_bytes());
        Ok(line)
    }
}

#[cfg(test)]
mod tests;
