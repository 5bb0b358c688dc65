//! The gate *enabled*: writes are on, and in `token` mode the caller has the token.
//!
//! It comes before anything goes out to the wiki, and fails closed.

use super::policy::{ConfirmMode, Policy};
use super::refusal::{Gate, Refusal};
use crate::error::{Code, Failure};

/// Proof that writes are on, and that the static token was given where there is one.
#[derive(Debug)]
#[must_use]
pub struct Enabled {
    pub(super) has_token: bool,
}

/// Opens if writes are on and, in `token` mode, `confirm` is the static token.
///
/// # Errors
/// `MUTATIONS_DISABLED`, `CONFIRM_REQUIRED` or `CONFIRM_MISMATCH`.
pub fn enabled(policy: &Policy, confirm: Option<&str>) -> Result<Enabled, Refusal> {
    if !policy.is_enabled {
        let failure = Failure::new(
            Code::MutationsDisabled,
            "Writes are switched off on this server.",
        );
        return Err(Refusal::at(Gate::Enabled, failure));
    }
    match (&policy.confirm, confirm) {
        (ConfirmMode::Preview | ConfirmMode::Operator | ConfirmMode::Person { .. }, _) => {
            Ok(Enabled { has_token: false })
        }
        (ConfirmMode::Token(token), Some(given)) if token.matches(given) => {
            Ok(Enabled { has_token: true })
        }
        (ConfirmMode::Token(_), Some(_)) => Err(Refusal::at(
            Gate::Confirm,
            Failure::new(
                Code::ConfirmMismatch,
                "The confirm token is not the operator's.",
            )
            .hint("Ask the user for the operator's confirm token; do not guess it."),
        )),
        (ConfirmMode::Token(_), None) => Err(Refusal::at(
            Gate::Confirm,
            Failure::new(
                Code::ConfirmRequired,
                "This write needs the operator's confirm token.",
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::enabled;
    use crate::error::Code;
    use crate::gates::{ConfirmMode, Policy, StaticToken};

    fn code(policy: &Policy, confirm: Option<&str>) -> Option<Code> {
        enabled(policy, confirm)
            .err()
            .map(|refusal| refusal.failure.code)
    }

    #[test]
    fn the_default_refuses() {
        assert_eq!(
            code(&Policy::default(), Some("x")),
            Some(Code::MutationsDisabled)
        );
    }

    #[test]
    fn the_static_token_is_asked_for_and_compared_whole() {
        let policy = Policy {
            is_enabled: true,
            confirm: ConfirmMode::Token(StaticToken::new("sesame".into())),
            ..Policy::default()
        };
        assert_eq!(code(&policy, None), Some(Code::ConfirmRequired));
        for wrong in ["", "sesam", "sesame ", "SESAME", "sesame\0"] {
            assert_eq!(
                code(&policy, Some(wrong)),
                Some(Code::ConfirmMismatch),
                "{wrong:?}"
            );
        }
        assert_eq!(code(&policy, Some("sesame")), None);
    }
}
