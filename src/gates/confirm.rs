//! The gate *confirm*: the last, which makes the permit.

use super::dry_run::Cleared;
use super::permit::Permit;
use super::previews::Spent;
use super::refusal::{Gate, Refusal};
use crate::error::{Code, Failure};

/// What confirms a write.
#[derive(Debug)]
pub enum Confirmation {
    /// The operator's static token, which the gate *enabled* has seen.
    StaticToken,
    /// The token of a preview, used up for this.
    Preview(Spent),
}

/// Makes the permit of this very change.
///
/// # Errors
/// `CONFIRM_REQUIRED` if the static token was not seen, `CONFIRM_MISMATCH` if the preview was
/// of another change.
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
        Confirmation::Preview(spent) if spent.change.is_same_write(&allowed.change) => {
            Ok(Permit::of(allowed.change))
        }
        Confirmation::Preview(_) => refuse(
            Code::ConfirmMismatch,
            "The token was given for the preview of another change.",
        ),
    }
}
