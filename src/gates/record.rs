//! Tells a caller why a call cannot be put on record.

use super::{Gate, Refusal, paused};
use crate::audit::AuditError;
use crate::error::{Code, Failure, sentence};

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Self {
        let failure = match &error {
            AuditError::Paused(pause) => return paused(pause),
            AuditError::NoProposal => return Self::of_argument("id", "There is no such proposal."),
            AuditError::NoDraft => {
                Self::of_argument("draft", "There is no such draft, or nothing is in it.")
            }
            AuditError::BadDraft => Self::of_argument(
                "draft",
                "The draft is damaged, or a newer version wrote it.",
            ),
            AuditError::TooManyDrafts => Self::of_argument(
                "draft",
                "This client has 20 drafts already, which is the most.",
            ),
            AuditError::DraftFull => Self::new(
                Code::TooLarge,
                "The draft is full: 200 changes or 32 MB are the most; this change did not join it.",
            ),
            AuditError::Busy => Self::new(
                Code::Timeout,
                "Other writes to this wiki took too long; nothing was sent, and the token of a preview stays valid.",
            ),
            AuditError::TooLarge => Self::new(
                Code::TooLarge,
                "The page is too large to be put on record; nothing was sent.",
            ),
            error => Self::new(Code::AuditUnavailable, sentence(&error.to_string())),
        };
        failure.hint(sentence(error.hint()))
    }
}

impl From<AuditError> for Refusal {
    fn from(error: AuditError) -> Self {
        Self::at(Gate::Record, error.into())
    }
}
