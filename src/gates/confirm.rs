//! The gate *confirm*: the last, which makes the permit.

use super::approvals::Approved;
use super::dry_run::Cleared;
use super::permit::Permit;
use super::previews::Spent;
use super::refusal::{Gate, Refusal};
use crate::audit::CallId;
use crate::error::{Code, Failure};

/// What confirms a write.
#[derive(Debug)]
pub enum Confirmation {
    /// The operator's static token, which the gate *enabled* has seen.
    StaticToken,
    /// The token of a preview, used up for this.
    Preview(Spent),
    /// A person's yes.
    Person(Approved),
}

impl Confirmation {
    /// The call under which a person said yes.
    #[must_use]
    pub const fn approval(&self) -> Option<CallId> {
        match self {
            Self::Person(approved) => Some(approved.approval()),
            Self::StaticToken | Self::Preview(_) => None,
        }
    }
}

/// Makes the permit of this very change.
///
/// # Errors
/// `CONFIRM_REQUIRED` if the static token was not seen, `CONFIRM_MISMATCH` if the preview was
/// of another change, `APPROVAL_DENIED` if the approval was.
pub fn confirm(cleared: Cleared, confirmation: Confirmation) -> Result<Permit, Refusal> {
    let Cleared { allowed } = cleared;
    let refuse = |code, message: &str| Err(Refusal::at(Gate::Confirm, Failure::new(code, message)));
    match confirmation {
        // It is given once for everything: nobody has seen what this write would lose.
        Confirmation::StaticToken if !allowed.change.lost().is_empty() => refuse(
            Code::FieldUnreadable,
            "The static token cannot accept the loss of fields; a preview's token or a person can.",
        ),
        Confirmation::StaticToken if allowed.has_token => Ok(Permit::of(allowed.change)),
        Confirmation::StaticToken => refuse(
            Code::ConfirmRequired,
            "This write needs the operator's confirm token.",
        ),
        Confirmation::Preview(spent) if spent.proposed.change.is_same_write(&allowed.change) => {
            Ok(Permit::of(allowed.change))
        }
        Confirmation::Preview(_) => refuse(
            Code::ConfirmMismatch,
            "The token was given for the preview of another change.",
        ),
        Confirmation::Person(approved)
            if approved.proposed.change.is_same_write(&allowed.change) =>
        {
            Ok(Permit::of(allowed.change))
        }
        Confirmation::Person(_) => refuse(
            Code::ApprovalDenied,
            "The person said yes to another change.",
        ),
    }
}
