//! Derives the outcome of a call, in one word, and other facts from all its records.

use std::fmt;

use time::OffsetDateTime;

use super::super::documents::proposals::is_making;
use super::super::{Actor, AuditEvent, CallHistory, Client, Outcome, Record};

use crate::words::words;

words! {
    /// The outcome of a call, as far as it is on record.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum CallOutcome: as_str, ALL {
        /// The page is as promised.
        Applied = "applied",
        /// The page already was as asked for.
        Unchanged = "unchanged",
        /// The wiki refused, and nothing changed.
        NotApplied = "not_applied",
        /// Some of it is as promised.
        PartlyApplied = "partly_applied",
        /// The outcome could not be found out.
        Unknown = "unknown",
        /// An attempt has no outcome yet.
        Open = "open",
        /// A gate, a check or a conflict stopped it.
        Refused = "refused",
        /// A preview was shown.
        Preview = "preview",
        /// A person was asked, and nothing more is on record.
        Approval = "approval",
        /// A proposal was kept, or replaced by a later one.
        Proposal = "proposal",
        /// A person said no to a proposal.
        Rejected = "rejected",
        /// The client of a proposal took it back.
        Withdrawn = "withdrawn",
        /// An operator paused or resumed all writes.
        Pause = "pause",
        /// A running server took over other settings.
        Settings = "settings",
        /// Something that clients remember was added, changed, forgotten or restored.
        Memory = "memory",
        /// A delegate was made, or ended.
        Delegation = "delegation",
        /// Old files were removed.
        Purge = "purge",
    }
}

impl CallOutcome {
    /// True if the page was written, or may have been.
    pub const fn is_write(self) -> bool {
        match self {
            Self::Applied | Self::PartlyApplied | Self::Unknown | Self::Open => true,
            Self::Unchanged
            | Self::NotApplied
            | Self::Refused
            | Self::Preview
            | Self::Approval
            | Self::Proposal
            | Self::Rejected
            | Self::Withdrawn
            | Self::Pause
            | Self::Settings
            | Self::Memory
            | Self::Delegation
            | Self::Purge => false,
        }
    }
}

impl fmt::Display for CallOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Outcome> for CallOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Applied => Self::Applied,
            Outcome::Unchanged => Self::Unchanged,
            Outcome::NotApplied => Self::NotApplied,
            Outcome::PartlyApplied => Self::PartlyApplied,
            Outcome::Unknown => Self::Unknown,
        }
    }
}

impl CallHistory {
    /// Its outcome.
    pub fn ending(&self) -> CallOutcome {
        if let Some(outcome) = self.outcome() {
            return outcome.into();
        }
        let last = self.records.last();
        match last.map(|record| record.event) {
            Some(AuditEvent::Refusal) => CallOutcome::Refused,
            Some(AuditEvent::Preview) => CallOutcome::Preview,
            Some(AuditEvent::Approval) => CallOutcome::Approval,
            Some(AuditEvent::Proposal) => match last.and_then(|last| last.decision.as_deref()) {
                Some("rejected") => CallOutcome::Rejected,
                Some("withdrawn") => CallOutcome::Withdrawn,
                _ => CallOutcome::Proposal,
            },
            Some(AuditEvent::Pause) => CallOutcome::Pause,
            Some(AuditEvent::Settings) => CallOutcome::Settings,
            Some(AuditEvent::Memory) => CallOutcome::Memory,
            Some(AuditEvent::Delegation) => CallOutcome::Delegation,
            Some(AuditEvent::Purge) => CallOutcome::Purge,
            Some(
                AuditEvent::Start | AuditEvent::Attempt | AuditEvent::Outcome | AuditEvent::Closed,
            )
            | None => CallOutcome::Open,
        }
    }

    /// Time of its first record.
    pub fn began(&self) -> Option<OffsetDateTime> {
        self.records.first().and_then(Record::instant)
    }

    /// The client that called.
    pub fn client(&self) -> Option<&Client> {
        self.latest(|record| record.client.as_ref())
    }

    /// The actor, if not a client.
    pub fn actor(&self) -> Option<&Actor> {
        self.latest(|record| record.actor.as_ref())
    }

    /// The proposal that the call made, if it made one.
    pub fn proposal_made(&self) -> Option<&str> {
        let made = self.records.iter().find(|record| is_making(record))?;
        made.proposal.as_deref()
    }

    /// The client that made the proposal that the call decided on, if another client did.
    pub fn proposer(&self) -> Option<&Client> {
        self.latest(|record| record.proposer.as_ref())
    }

    /// The caller in a word: the actor, the client's authenticated name, or the client's own name
    /// for itself.
    pub fn who(&self) -> Option<&str> {
        let client = || self.client().map(Client::shown);
        self.actor().map(Actor::as_str).or_else(client)
    }

    /// The last gate that decided, and what it decided.
    pub fn gate(&self) -> Option<(&str, &str)> {
        self.latest(|record| {
            let decision = record.decision.as_deref().unwrap_or_default();
            Some((record.gate.as_deref()?, decision))
        })
    }

    /// A value from the last of its records that has it.
    pub fn latest<'a, T>(&'a self, tells: impl Fn(&'a Record) -> Option<T>) -> Option<T> {
        self.records.iter().rev().find_map(tells)
    }
}
