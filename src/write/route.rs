//! The route of a write, decided once: from the policy, its way to confirm, and what the caller
//! brought.

use crate::gates::{
    Approved, ConfirmMode, Confirmation, Enabled, Gate, Policy, Refusal, SessionId, Verdict,
    dry_run, enabled,
};

use super::desk::Desk;

/// What a caller brought.
pub(super) enum Brought {
    /// Nothing.
    Nothing,
    /// A token, valid or not.
    Token(String),
    /// A person's yes.
    Yes(Approved),
}

/// The route of a write. An immediate refusal is an error, not a route.
pub(super) enum Route {
    /// It is shown, with a token that confirms it.
    Preview,
    /// It is left open, for a person to apply later.
    Open,
    /// A person is asked.
    Ask,
    /// It joins a draft.
    Join,
    /// It is sent; this confirms it.
    Send(Warrant),
}

/// What confirms a write, before it is used up.
pub(super) enum Warrant {
    /// The operator's static token, which the gate *enabled* has seen.
    StaticToken,
    /// The token of a preview.
    Preview(String),
    /// A person's yes.
    Person(Approved),
}

impl Route {
    /// Decides the route, with the proof of the gate *enabled*.
    ///
    /// # Errors
    /// That writes are off, or that the static token is missing or wrong.
    pub(super) fn of<'p>(
        policy: &'p Policy,
        session: &SessionId,
        brought: Brought,
    ) -> Result<(Enabled<'p>, Self), Refusal> {
        let token = match &brought {
            Brought::Token(token) => Some(&**token),
            Brought::Nothing | Brought::Yes(_) => None,
        };
        let enabled = enabled(policy, session, token)?;
        let warrant = match (&policy.confirm, brought) {
            (ConfirmMode::Token(_), _) => Some(Warrant::StaticToken),
            (ConfirmMode::Preview | ConfirmMode::Operator, Brought::Token(token)) => {
                Some(Warrant::Preview(token))
            }
            (ConfirmMode::Person { .. }, Brought::Yes(approved)) => Some(Warrant::Person(approved)),
            // What does not confirm in this mode is ignored.
            (
                ConfirmMode::Preview
                | ConfirmMode::Operator
                | ConfirmMode::Person { .. }
                | ConfirmMode::Review { .. },
                _,
            ) => None,
        };
        let route = match (dry_run(policy, warrant.is_some()), warrant) {
            (Verdict::DryRun, _) => Self::Open,
            (Verdict::Ask, _) => Self::Ask,
            (Verdict::Send, Some(warrant)) => Self::Send(warrant),
            (Verdict::Preview | Verdict::Send, _) => Self::Preview,
        };
        Ok((enabled, route))
    }

    /// Whether somebody saw this very set before.
    pub(super) const fn was_shown(&self) -> bool {
        matches!(self, Self::Send(Warrant::Preview(_) | Warrant::Person(_)))
    }

    /// Whether the confirmed preview was asked for with the content in full; the confirming call
    /// may leave it out.
    pub(super) fn wrote_whole(&self, desk: &Desk, session: &SessionId) -> bool {
        let Self::Send(Warrant::Preview(token)) = self else {
            return false;
        };
        let asked = desk.memory.asked(session, token).ok().flatten();
        asked.is_some_and(|asked| asked.says_whole_content())
    }
}

impl Warrant {
    /// Uses up what confirms the write.
    ///
    /// # Errors
    /// `CONFIRM_EXPIRED`, if another call used the token first.
    pub(super) fn spend(self, desk: &Desk, session: &SessionId) -> Result<Confirmation, Refusal> {
        match self {
            Self::StaticToken => Ok(Confirmation::StaticToken),
            Self::Person(approved) => Ok(Confirmation::Person(approved)),
            Self::Preview(token) => desk
                .memory
                .spend(session, &token)
                .map(Confirmation::Preview)
                .map_err(|failure| Refusal::at(Gate::Confirm, failure)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Brought, Route, Warrant};
    use crate::audit::{CallId, Client};
    use crate::change::Change;
    use crate::gates::{
        Approvals, Approved, Approver, ChangeSet, ConfirmMode, Fallback, Gate, Policy, Scope,
        SessionId, StaticToken,
    };
    use crate::page::testing::page;

    const TOKEN: &str = "open sesame, please";

    fn yes() -> Approved {
        let change = Change::delete(page());
        let call = CallId::new().unwrap();
        let approver = Approver::new(&SessionId::new("s"), &Client::default());
        let set = ChangeSet::of(call, change);
        let given = Approvals::default().give(approver, set, Scope::Once, call);
        given.unwrap()
    }

    fn policy(confirm: ConfirmMode) -> Policy {
        Policy {
            is_enabled: true,
            is_dry_run: false,
            confirm,
            ..Policy::default()
        }
    }

    fn modes() -> [ConfirmMode; 5] {
        let limit = Duration::from_secs(1);
        [
            ConfirmMode::Token(StaticToken::new(TOKEN.into()).unwrap()),
            ConfirmMode::Preview,
            ConfirmMode::Operator,
            ConfirmMode::Person {
                limit,
                fallback: Fallback::None,
            },
            ConfirmMode::Review { limit },
        ]
    }

    fn word(policy: &Policy, brought: Brought) -> &'static str {
        let route = Route::of(policy, &SessionId::new("s"), brought);
        let was_shown = route.as_ref().is_ok_and(|(_, route)| route.was_shown());
        let word = match route {
            Err(refusal) if refusal.gate == Gate::Enabled => "off",
            Err(_) => "refused",
            Ok((_, Route::Preview)) => "preview",
            Ok((_, Route::Open)) => "open",
            Ok((_, Route::Ask)) => "ask",
            Ok((_, Route::Join)) => "join",
            Ok((_, Route::Send(Warrant::StaticToken))) => "send by static token",
            Ok((_, Route::Send(Warrant::Preview(token)))) => {
                assert_eq!(token, TOKEN);
                "send by preview"
            }
            Ok((_, Route::Send(Warrant::Person(_)))) => "send by person",
        };
        let by_what_was_shown = matches!(word, "send by preview" | "send by person");
        assert_eq!(was_shown, by_what_was_shown, "{word}");
        word
    }

    fn words(policy: &Policy) -> [&'static str; 3] {
        [
            word(policy, Brought::Nothing),
            word(policy, Brought::Token(TOKEN.to_owned())),
            word(policy, Brought::Yes(yes())),
        ]
    }

    #[test]
    fn each_way_to_confirm_takes_what_is_its_own_and_nothing_else() {
        let routes = modes().map(|mode| words(&policy(mode)));
        assert_eq!(
            routes,
            [
                ["refused", "send by static token", "refused"],
                ["preview", "send by preview", "preview"],
                ["preview", "send by preview", "preview"],
                ["ask", "ask", "send by person"],
                ["open", "open", "open"],
            ]
        );
    }

    #[test]
    fn a_dry_run_leaves_open_whatever_was_brought_and_writes_that_are_off_end_at_once() {
        for mode in modes() {
            let needs_token = matches!(mode, ConfirmMode::Token(_));
            let mut policy = policy(mode);
            policy.is_dry_run = true;
            let refused = if needs_token { "refused" } else { "open" };
            assert_eq!(words(&policy), [refused, "open", refused], "{policy:?}");
            policy.is_enabled = false;
            assert_eq!(words(&policy), ["off"; 3], "{policy:?}");
        }
    }
}
