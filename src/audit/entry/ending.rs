//! Says in one word what became of a call.

use super::super::{AuditEvent, Outcome, Record};
use crate::words::words;

words! {
    /// The outcome of a call, as far as it is on record.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
    )]
    #[serde(rename_all = "snake_case")]
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

words! {
    /// The colour in which an outcome is shown, on a terminal and on a page.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum OutcomeTone: as_str {
        /// As wanted.
        Good = "good",
        /// Not done.
        Bad = "bad",
        /// In doubt.
        Doubt = "doubt",
        /// Neither.
        Calm = "calm",
    }
}

impl CallOutcome {
    /// Reads what became of a call: the outcome of its steps, else what its last record says.
    pub(in crate::audit) fn read(outcome: Option<Outcome>, last: Option<&Record>) -> Self {
        if let Some(outcome) = outcome {
            return outcome.into();
        }
        match last.map(|record| record.event) {
            Some(AuditEvent::Refusal) => Self::Refused,
            Some(AuditEvent::Preview) => Self::Preview,
            Some(AuditEvent::Approval) => Self::Approval,
            Some(AuditEvent::Proposal) => match last.and_then(|last| last.decision.as_deref()) {
                Some("rejected") => Self::Rejected,
                Some("withdrawn") => Self::Withdrawn,
                _ => Self::Proposal,
            },
            Some(AuditEvent::Pause) => Self::Pause,
            Some(AuditEvent::Settings) => Self::Settings,
            Some(AuditEvent::Memory) => Self::Memory,
            Some(AuditEvent::Delegation) => Self::Delegation,
            Some(AuditEvent::Purge) => Self::Purge,
            Some(
                AuditEvent::Start | AuditEvent::Attempt | AuditEvent::Outcome | AuditEvent::Closed,
            )
            | None => Self::Open,
        }
    }

    /// Its colour.
    pub const fn tone(self) -> OutcomeTone {
        match self {
            Self::Applied => OutcomeTone::Good,
            Self::Refused | Self::NotApplied | Self::Rejected => OutcomeTone::Bad,
            Self::PartlyApplied | Self::Unknown | Self::Open => OutcomeTone::Doubt,
            Self::Unchanged
            | Self::Preview
            | Self::Approval
            | Self::Proposal
            | Self::Withdrawn
            | Self::Pause
            | Self::Settings
            | Self::Memory
            | Self::Delegation
            | Self::Purge => OutcomeTone::Calm,
        }
    }

    /// True if the page was written, or may have been.
    pub const fn is_write(self) -> bool {
        matches!(
            self,
            Self::Applied | Self::PartlyApplied | Self::Unknown | Self::Open
        )
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
