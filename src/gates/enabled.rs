//! The gate *enabled*: writes are on and not paused, and in `token` mode the caller has the token.
//!
//! It comes before any request to the wiki, and fails closed.

use super::guesses::Missed;
use super::{Gate, Gated, Policy, Refusal, SessionId, WritePolicy};
use crate::audit::Pause;
use crate::error::{Code, Failure};

/// Proof that writes are on and that the static token, if there is one, was given. It carries the
/// policy that says so, which the later gates use.
#[derive(Debug)]
#[must_use]
pub struct Enabled<'p> {
    pub(super) policy: &'p Policy,
    pub(super) has_token: bool,
}

impl<'p> Enabled<'p> {
    /// The policy that says so.
    pub const fn policy(&self) -> &'p Policy {
        self.policy
    }
}

/// Opens if writes are on, no operator paused them and, in `token` mode, `confirm` is the static
/// token.
///
/// # Errors
/// `MUTATIONS_DISABLED`, `WRITES_PAUSED`, `CONFIRM_REQUIRED`, `CONFIRM_MISMATCH`, or
/// `RATE_LIMITED` after too many wrong tokens.
pub fn enabled<'p>(
    policy: &'p Policy,
    session: &SessionId,
    confirm: Option<&str>,
) -> Gated<Enabled<'p>> {
    let opened = |has_token| Ok(Enabled { policy, has_token });
    if matches!(policy.writes, WritePolicy::Off) {
        let off = policy.refuse(Code::MutationsDisabled, "Writes are switched off here.");
        return Err(Refusal::at(Gate::Enabled, off));
    }
    if let Some(pause) = policy.pauses.look() {
        return Err(Refusal::at(Gate::Enabled, paused(&pause)));
    }
    let WritePolicy::Token(token) = &policy.writes else {
        return opened(false);
    };
    let refusal = match confirm.map(|given| token.check(session, given)) {
        Some(Ok(())) => return opened(true),
        Some(Err(missed)) => refused(policy, missed),
        None => policy.refuse(
            Code::ConfirmRequired,
            "This write needs the operator's confirm token.",
        ),
    };
    Err(Refusal::at(Gate::Confirm, refusal))
}

/// The refusal of a write that a pause stops.
pub fn paused(pause: &Pause) -> Failure {
    const MESSAGE: &str = "An operator paused all writes.";
    match pause {
        Pause::Told(told) => Failure::new(Code::WritesPaused, MESSAGE)
            .detail("reason", told.reason.as_str())
            .detail("since", told.since.as_str()),
        Pause::Settings(why) => Failure::new(
            Code::WritesPaused,
            "The settings file closes a gate and is not in force yet, so nothing is written.",
        )
        .hint("Nothing was sent. Tell the user: the operator puts the settings file right or restarts the server.")
        .detail("reason", &**why),
        Pause::Unreachable(why) => Failure::new(
            Code::AuditUnavailable,
            format!("Nothing can be put on record: {why}."),
        ),
        Pause::Unreadable(why) => {
            let why = format!("the file that pauses writes {why}");
            Failure::new(Code::WritesPaused, MESSAGE).detail("reason", why)
        }
    }
}

fn refused(policy: &Policy, missed: Missed) -> Failure {
    match missed {
        Missed::Wrong => policy
            .refuse(
                Code::ConfirmMismatch,
                "The confirm token is not the operator's.",
            )
            .hint("Ask the user for the operator's confirm token; do not guess it."),
        Missed::TooSoon(wait) => {
            let seconds = wait.as_secs() + 1;
            policy
                .refuse(
                    Code::RateLimited,
                    format!(
                        "Too many confirm tokens were wrong; none is looked at for {seconds} s."
                    ),
                )
                .hint("Ask the user for the operator's confirm token, then wait; do not guess it.")
                .detail("retryAfterSeconds", seconds)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Missed, enabled, refused};
    use crate::error::Code;
    use crate::gates::{Policy, SessionId, StaticToken, WritePolicy};

    const TOKEN: &str = "open sesame, please";

    fn code(policy: &Policy, confirm: Option<&str>) -> Option<Code> {
        enabled(policy, &SessionId::new("test"), confirm)
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
            writes: WritePolicy::Token(StaticToken::new(TOKEN.into()).expect("long")),
            ..Policy::default()
        };
        assert_eq!(code(&policy, None), Some(Code::ConfirmRequired));
        let (cut, more) = (TOKEN.get(1..).unwrap_or_default(), format!("{TOKEN} "));
        for wrong in ["", cut, &more, &TOKEN.to_uppercase()] {
            assert_eq!(
                code(&policy, Some(wrong)),
                Some(Code::ConfirmMismatch),
                "{wrong:?}"
            );
        }
        assert_eq!(code(&policy, Some(TOKEN)), None);
    }

    #[test]
    fn a_wait_is_told_in_whole_seconds_and_never_too_short() {
        for (wait, told) in [(0, 1), (900, 1), (1_000, 2), (59_999, 60)] {
            let failure = refused(
                &Policy::default(),
                Missed::TooSoon(Duration::from_millis(wait)),
            );
            assert_eq!(failure.details["retryAfterSeconds"], told, "{wait} ms");
        }
    }
}
