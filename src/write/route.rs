//! Decides the route of a write once: from the level, and what the caller brought.

use crate::gates::{
    Approved, Confirmation, Enabled, Gate, Policy, Refusal, SessionId, WritePolicy, enabled,
};

use super::context::WriteContext;

/// The confirmation that a caller brought, not yet checked.
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

/// The confirmation of a write, before it is used up.
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
        // What does not confirm at this level is ignored.
        let route = match (&policy.writes, brought) {
            (WritePolicy::Off | WritePolicy::DryRun | WritePolicy::Review { .. }, _) => Self::Open,
            (WritePolicy::Person { .. }, Brought::Yes(approved)) => {
                Self::Send(Warrant::Person(approved))
            }
            (WritePolicy::Person { .. }, _) => Self::Ask,
            (WritePolicy::Token(_), _) => Self::Send(Warrant::StaticToken),
            (WritePolicy::Preview, Brought::Token(token)) => Self::Send(Warrant::Preview(token)),
            (WritePolicy::Preview, _) => Self::Preview,
        };
        Ok((enabled, route))
    }

    /// True if somebody saw this very set before.
    pub(super) const fn was_shown(&self) -> bool {
        matches!(self, Self::Send(Warrant::Preview(_) | Warrant::Person(_)))
    }

    /// True if the confirmed preview was asked for with the content in full; the confirming call
    /// may leave it out.
    pub(super) fn wrote_whole(&self, desk: &WriteContext, session: &SessionId) -> bool {
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
    pub(super) fn spend(
        self,
        desk: &WriteContext,
        session: &SessionId,
    ) -> Result<Confirmation, Refusal> {
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
        ApprovalScope, Approvals, Approved, Approver, Asked, ChangeSet, Fallback, Gate, Policy,
        PolicyLevel, SessionId, StaticToken, WritePolicy,
    };
    use crate::page::testing::page;
    use crate::write::asker::Asker;
    use crate::write::testing::{self, Office, caller, session, set, update};

    const TOKEN: &str = "open sesame, please";

    fn yes() -> Approved {
        let change = Change::delete(page());
        let call = CallId::new().unwrap();
        let approver = Approver::new(&SessionId::new("s"), &Client::default());
        let set = ChangeSet::single(call, change);
        let given = Approvals::default().give(approver, set, ApprovalScope::Once, call);
        given.unwrap()
    }

    fn policy(writes: WritePolicy) -> Policy {
        Policy {
            writes,
            ..Policy::default()
        }
    }

    fn levels() -> [WritePolicy; 6] {
        let limit = Duration::from_secs(1);
        [
            WritePolicy::Off,
            WritePolicy::DryRun,
            WritePolicy::Review { limit },
            WritePolicy::Person {
                limit,
                fallback: Fallback::None,
            },
            WritePolicy::Token(StaticToken::new(TOKEN.into()).unwrap()),
            WritePolicy::Preview,
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
    fn each_level_takes_what_is_its_own_and_nothing_else() {
        assert_eq!(levels().map(|own| own.level()), PolicyLevel::ALL);
        let routes = levels().map(|writes| words(&policy(writes)));
        assert_eq!(
            routes,
            [
                ["off", "off", "off"],
                ["open", "open", "open"],
                ["open", "open", "open"],
                ["ask", "ask", "send by person"],
                ["refused", "send by static token", "refused"],
                ["preview", "send by preview", "preview"],
            ]
        );
    }

    #[test]
    fn only_a_previews_token_whose_call_gave_the_content_in_full_wrote_it_whole() {
        let office = Office::new(testing::policy(WritePolicy::Preview));
        let desk = &office.desk;
        let token = |argument: Option<&str>| {
            let shown = desk.memory.preview(&session(), set(update(1))).unwrap();
            if let Some(name) = argument {
                let arguments = [(name.to_owned(), "x".into())].into_iter().collect();
                let asked = Asked::new("wikijs_update_page", arguments);
                desk.keep_asked(&caller(Asker::Nobody), &shown.token, asked);
            }
            Route::Send(Warrant::Preview(shown.token))
        };
        for (route, expected) in [
            (token(Some("content")), true),
            (token(Some("title")), false),
            (token(None), false),
            (Route::Send(Warrant::Preview("unknown".to_owned())), false),
            (Route::Send(Warrant::StaticToken), false),
            (Route::Preview, false),
        ] {
            assert_eq!(route.wrote_whole(desk, &session()), expected);
        }
    }
}
