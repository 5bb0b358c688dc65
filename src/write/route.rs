//! Decides the route of a write once: from the level, and what the caller brought.

use crate::gates::{
    Approved, Confirmation, Enabled, Gate, Gated, Policy, Refusal, ReviewersYes, SessionId,
    SessionPreviews, TurnOf, WritePolicy, enabled,
};

use super::source::{WriteCall, WriteRequest};

/// The confirmation that a caller brought, not yet checked.
pub(crate) enum Brought {
    /// Nothing.
    Nothing,
    /// A token, valid or not.
    Token(String),
    /// A person's yes.
    Yes(Approved),
    /// A reviewer's yes to a proposal.
    Decision(ReviewersYes),
}

/// The route of a write. An immediate refusal is an error, not a route.
pub(crate) enum Route {
    /// It is sent; this confirms it.
    Send(Warrant),
    /// It ends before anything is sent.
    Stop(Stop),
}

/// The end of a write before anything is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It is shown, with a token that confirms it.
    Preview,
    /// A person is asked first.
    Ask,
    /// It is left open, for a person to apply later.
    Propose,
    /// It joins a draft.
    AddToDraft,
    /// There is nothing to do.
    Unchanged,
}

/// The confirmation of a write, before it is used up.
pub(crate) enum Warrant {
    /// The operator's static token, which the gate *enabled* has seen.
    StaticToken,
    /// The token of a preview.
    Preview(String),
    /// A person's yes.
    Person(Approved),
    /// A reviewer's yes to a proposal.
    Reviewer(ReviewersYes),
}

impl Route {
    /// Decides the route, with the proof of the gate *enabled*.
    ///
    /// # Errors
    /// That writes are off, or that the static token is missing or wrong.
    pub(super) fn decide<'p>(
        policy: &'p Policy,
        session: &SessionId,
        brought: Brought,
    ) -> Gated<(Enabled<'p>, Self)> {
        let token = match &brought {
            Brought::Token(token) => Some(&**token),
            Brought::Nothing | Brought::Yes(_) | Brought::Decision(_) => None,
        };
        let enabled = enabled(policy, session, token)?;
        // What does not confirm at this level is ignored.
        let route = match (&policy.writes, brought) {
            (WritePolicy::Off | WritePolicy::DryRun | WritePolicy::Review { .. }, _) => {
                Self::Stop(Stop::Propose)
            }
            (WritePolicy::Person { .. }, Brought::Yes(approved)) => {
                Self::Send(Warrant::Person(approved))
            }
            (WritePolicy::Person { .. }, _) => Self::Stop(Stop::Ask),
            (WritePolicy::Token(_), _) => Self::Send(Warrant::StaticToken),
            (WritePolicy::Preview, Brought::Token(token)) => Self::Send(Warrant::Preview(token)),
            (WritePolicy::Preview, Brought::Decision(yes)) => Self::Send(Warrant::Reviewer(yes)),
            (WritePolicy::Preview, _) => Self::Stop(Stop::Preview),
        };
        Ok((enabled, route))
    }

    /// The token of the preview that confirms it, if one does.
    pub(super) fn previews_token(&self) -> Option<&str> {
        match self {
            Self::Send(Warrant::Preview(token)) => Some(token),
            Self::Send(_) | Self::Stop(_) => None,
        }
    }

    /// True if somebody saw this very set before.
    pub(super) const fn was_shown(&self) -> bool {
        matches!(
            self,
            Self::Send(Warrant::Preview(_) | Warrant::Person(_) | Warrant::Reviewer(_))
        )
    }
}

impl Warrant {
    /// The turn that the write takes before anything is read. It comes from what was shown, since
    /// the confirming call may leave out what it writes.
    ///
    /// # Errors
    /// `CONFIRM_MISMATCH`, `CONFIRM_EXPIRED`: an invalid token must not wait for a turn.
    pub(super) async fn turn(&self, call: WriteCall<'_>, request: &WriteRequest) -> Gated<TurnOf> {
        match self {
            Self::Preview(token) => {
                let turn = call.memory.previews.turn_of(call.session, token);
                turn.map_err(Refusal::by(Gate::Confirm))
            }
            Self::Person(approved) => Ok(approved.set().turn()),
            Self::StaticToken | Self::Reviewer(_) => Ok(request.turn(call).await),
        }
    }

    /// True if the confirmed preview was asked for with the content in full; the confirming call
    /// may leave it out.
    pub(super) fn wrote_whole(&self, previews: &SessionPreviews<'_>) -> bool {
        let Self::Preview(token) = self else {
            return false;
        };
        let asked = previews.here.asked(previews.session, token).ok().flatten();
        asked.is_some_and(|asked| asked.says_whole_content())
    }

    /// Uses up what confirms the write.
    ///
    /// # Errors
    /// `CONFIRM_EXPIRED`, if another call used the token first.
    pub(super) async fn spend(self, previews: &SessionPreviews<'_>) -> Gated<Confirmation> {
        Ok(match self {
            Self::StaticToken => Confirmation::StaticToken,
            Self::Person(approved) => Confirmation::Person(approved),
            Self::Reviewer(yes) => Confirmation::Reviewer(yes),
            Self::Preview(token) => {
                let spent = previews.spend(&token).await;
                Confirmation::Preview(spent.map_err(Refusal::by(Gate::Confirm))?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Brought, Route, Stop, Warrant};
    use crate::audit::CallId;
    use crate::change::Change;
    use crate::gates::{
        Approved, Asked, ClientLimits, Fallback, Gate, Policy, PolicyLevel, ReviewersYes,
        SessionId, StaticToken, WritePolicy,
    };
    use crate::page::testing::page;
    use crate::write::caller::Asker;
    use crate::write::testing::{caller, office, policy, session, set, update};

    const TOKEN: &str = "open sesame, please";

    fn yes() -> Approved {
        Approved::of(set(Change::delete(page())), CallId::new().unwrap(), None)
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
        let route = Route::decide(policy, &SessionId::new("s"), brought);
        let was_shown = route.as_ref().is_ok_and(|(_, route)| route.was_shown());
        let word = match route {
            Err(refusal) if refusal.gate == Gate::Enabled => "off",
            Err(_) => "refused",
            Ok((_, Route::Stop(Stop::Preview))) => "preview",
            Ok((_, Route::Stop(Stop::Propose))) => "propose",
            Ok((_, Route::Stop(Stop::Ask))) => "ask",
            Ok((_, Route::Stop(Stop::AddToDraft | Stop::Unchanged))) => "never",
            Ok((_, Route::Send(Warrant::StaticToken))) => "send by static token",
            Ok((_, Route::Send(Warrant::Preview(token)))) => {
                assert_eq!(token, TOKEN);
                "send by preview"
            }
            Ok((_, Route::Send(Warrant::Person(_)))) => "send by person",
            Ok((_, Route::Send(Warrant::Reviewer(_)))) => "send by reviewer",
        };
        let by_what_was_shown = matches!(
            word,
            "send by preview" | "send by person" | "send by reviewer"
        );
        assert_eq!(was_shown, by_what_was_shown, "{word}");
        word
    }

    fn decision() -> ReviewersYes {
        let limits = ClientLimits::default();
        let reviewer = policy(WritePolicy::Preview).for_reviewer(&limits, false);
        let yes = reviewer.reviewers_yes("00000000000000aa".parse().unwrap());
        yes.unwrap()
    }

    fn words(policy: &Policy) -> [&'static str; 4] {
        [
            word(policy, Brought::Nothing),
            word(policy, Brought::Token(TOKEN.to_owned())),
            word(policy, Brought::Yes(yes())),
            word(policy, Brought::Decision(decision())),
        ]
    }

    #[test]
    fn each_level_takes_what_is_its_own_and_nothing_else() {
        assert_eq!(levels().map(|own| own.level()), PolicyLevel::ALL);
        let routes = levels().map(|writes| words(&policy(writes)));
        assert_eq!(
            routes,
            [
                ["off", "off", "off", "off"],
                ["propose", "propose", "propose", "propose"],
                ["propose", "propose", "propose", "propose"],
                ["ask", "ask", "send by person", "ask"],
                ["refused", "send by static token", "refused", "refused"],
                ["preview", "send by preview", "preview", "send by reviewer"],
            ]
        );
    }

    #[test]
    fn only_a_previews_token_whose_call_gave_the_content_in_full_wrote_it_whole() {
        let office = office();
        let (desk, caller) = (&office.desk, caller(Asker::Nobody));
        let token = |argument: Option<&str>| {
            let shown = desk
                .memory
                .previews
                .offer(&session(), set(update(1)))
                .unwrap();
            if let Some(name) = argument {
                let arguments = [(name.to_owned(), "x".into())].into_iter().collect();
                let asked = Asked::new("wikijs_update_page", arguments);
                let previews = &desk.memory.previews;
                previews.keep_asked(&session(), &shown.token, asked);
            }
            Warrant::Preview(shown.token)
        };
        for (warrant, expected) in [
            (token(Some("content")), true),
            (token(Some("title")), false),
            (token(None), false),
            (Warrant::Preview("unknown".to_owned()), false),
            (Warrant::StaticToken, false),
            (Warrant::Reviewer(decision()), false),
        ] {
            let wrote_whole = warrant.wrote_whole(&desk.previews(&caller));
            assert_eq!(wrote_whole, expected);
        }
    }
}
