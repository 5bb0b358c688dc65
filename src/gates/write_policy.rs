//! Defines the six levels of what a write gets, and which of two is stricter.

use std::time::Duration;

use super::static_token::StaticToken;
use crate::rules::Then;
use crate::words::words;

/// The time that a person may think if a rule demands a yes.
pub const THINKING: Duration = Duration::from_secs(50);

/// The treatment of a write: the one value that settings, site, client and rules resolve to. Every
/// door matches on it and on nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WritePolicy {
    /// It is refused.
    Off,
    /// It gets a preview without a token, and is at most kept as a proposal.
    DryRun,
    /// It is kept as a proposal; an operator or a reviewer decides.
    Review {
        /// The time that a call waits for the decision.
        limit: Duration,
    },
    /// The person at the client is asked.
    Person {
        /// The time that the person may think.
        limit: Duration,
        /// The way to go on if the client cannot ask.
        fallback: Fallback,
    },
    /// The operator's static token sends it; a preview's token is refused.
    Token(StaticToken),
    /// The token of its own preview sends it.
    Preview,
}

words! {
    /// A level without its data, ordered from the mildest to the strictest.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum PolicyLevel: as_str {
        /// [`WritePolicy::Preview`]
        Preview = "preview",
        /// [`WritePolicy::Token`]
        Token = "token",
        /// [`WritePolicy::Person`]
        Person = "person",
        /// [`WritePolicy::Review`]
        Review = "review",
        /// [`WritePolicy::DryRun`]
        DryRun = "dry_run",
        /// [`WritePolicy::Off`]
        Off = "off",
    }
}

/// The way to go on if a person must be asked and the client cannot ask; the mildest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fallback {
    /// The token of a preview confirms.
    Preview,
    /// Every write ends as a proposal, as in a dry run.
    Proposal,
    /// Nothing is written.
    #[default]
    None,
}

impl PolicyLevel {
    /// All levels, the strictest first.
    pub const ALL: [Self; 6] = [
        Self::Off,
        Self::DryRun,
        Self::Review,
        Self::Person,
        Self::Token,
        Self::Preview,
    ];
}

impl WritePolicy {
    /// The level.
    pub const fn level(&self) -> PolicyLevel {
        match self {
            Self::Off => PolicyLevel::Off,
            Self::DryRun => PolicyLevel::DryRun,
            Self::Review { .. } => PolicyLevel::Review,
            Self::Person { .. } => PolicyLevel::Person,
            Self::Token(_) => PolicyLevel::Token,
            Self::Preview => PolicyLevel::Preview,
        }
    }

    /// The level's word.
    pub const fn as_str(&self) -> &'static str {
        self.level().as_str()
    }

    /// True if a write gets less under this policy than under another: by the level, and for
    /// `person` by what a client gets that cannot ask. Two static tokens are equally strict.
    pub fn is_stricter_than(&self, other: &Self) -> bool {
        self.strictness() > other.strictness()
    }

    fn strictness(&self) -> (PolicyLevel, Option<Fallback>) {
        let fallback = match self {
            Self::Person { fallback, .. } => Some(*fallback),
            Self::Off | Self::DryRun | Self::Review { .. } | Self::Token(_) | Self::Preview => None,
        };
        (self.level(), fallback)
    }

    /// True if a site may have its own policy in place of this one. A person's yes is stricter than
    /// the operator's static token, but does not replace it: whoever holds the token and whoever
    /// says yes need not be the same.
    pub fn may_become(&self, own: &Self) -> bool {
        let replaces_token = matches!((self, own), (Self::Token(_), Self::Person { .. }));
        !replaces_token && !self.is_stricter_than(own)
    }

    /// True if a caller can confirm a write under this policy, so that it is sent.
    pub const fn can_be_confirmed(&self) -> bool {
        match self {
            Self::Off | Self::DryRun | Self::Review { .. } => false,
            Self::Person { .. } | Self::Token(_) | Self::Preview => true,
        }
    }

    /// The policy that a rule makes of it for one change: never milder. A client that cannot ask a
    /// person leaves the change open. The static token shows nobody the change, so a rule that
    /// wants it seen leaves it open, too.
    #[must_use]
    pub fn under_rule(&self, then: Then, can_ask: bool) -> Self {
        const OPEN: WritePolicy = WritePolicy::Review {
            limit: Duration::ZERO,
        };
        match (self, then) {
            (_, Then::Deny) => Self::Off,
            (Self::Off | Self::DryRun | Self::Review { .. }, _)
            | (Self::Person { .. }, Then::Preview | Then::Person)
            | (Self::Preview, Then::Preview) => self.clone(),
            (Self::Preview, Then::Person) if can_ask => Self::Person {
                limit: THINKING,
                fallback: Fallback::None,
            },
            (Self::Person { .. }, Then::Review)
            | (Self::Token(_), Then::Preview | Then::Person | Then::Review)
            | (Self::Preview, Then::Person | Then::Review) => OPEN,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Fallback, PolicyLevel, WritePolicy};
    use crate::gates::StaticToken;
    use crate::rules::Then;

    fn person(fallback: Fallback) -> WritePolicy {
        WritePolicy::Person {
            limit: Duration::from_secs(1),
            fallback,
        }
    }

    fn all() -> [WritePolicy; 8] {
        [
            WritePolicy::Off,
            WritePolicy::DryRun,
            WritePolicy::Review {
                limit: Duration::from_secs(1),
            },
            person(Fallback::None),
            person(Fallback::Proposal),
            person(Fallback::Preview),
            WritePolicy::Token(StaticToken::new("open sesame, please".into()).expect("long")),
            WritePolicy::Preview,
        ]
    }

    #[test]
    fn each_level_has_its_word_and_the_strictest_comes_first() {
        let words: Vec<&str> = all().iter().map(WritePolicy::as_str).collect();
        let mut once = words.clone();
        once.dedup();
        assert_eq!(
            once,
            ["off", "dry_run", "review", "person", "token", "preview"]
        );
        assert_eq!(PolicyLevel::ALL.map(PolicyLevel::as_str), *once);
        assert!(PolicyLevel::ALL.is_sorted_by(|one, next| one > next));
    }

    #[test]
    fn each_policy_is_stricter_than_those_after_it_and_than_no_other() {
        let all = all();
        for (at, one) in all.iter().enumerate() {
            for (other_at, other) in all.iter().enumerate() {
                let is_stricter = one.is_stricter_than(other);
                assert_eq!(is_stricter, at < other_at, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn a_site_may_be_stricter_but_no_persons_yes_replaces_the_static_token() {
        let all = all();
        for (at, server) in all.iter().enumerate() {
            for (own_at, own) in all.iter().enumerate() {
                let replaces_token =
                    server.level() == PolicyLevel::Token && own.level() == PolicyLevel::Person;
                let expected = own_at <= at && !replaces_token;
                assert_eq!(server.may_become(own), expected, "{server:?} {own:?}");
            }
        }
    }

    #[test]
    fn a_rule_makes_no_policy_milder() {
        for policy in all() {
            for then in Then::ALL {
                for can_ask in [true, false] {
                    let under = policy.under_rule(then, can_ask);
                    let told = format!("{policy:?} {then:?} {can_ask}");
                    assert!(!policy.is_stricter_than(&under), "{told}");
                    let least = match (then, can_ask) {
                        (Then::Preview, _) => PolicyLevel::Preview,
                        (Then::Person, true) => PolicyLevel::Person,
                        (Then::Person, false) if policy.level() >= PolicyLevel::Person => {
                            PolicyLevel::Person
                        }
                        (Then::Person | Then::Review, _) => PolicyLevel::Review,
                        (Then::Deny, _) => PolicyLevel::Off,
                    };
                    assert!(under.level() >= least, "{told}");
                }
            }
        }
    }

    #[test]
    fn a_rule_leaves_open_what_the_static_token_would_send_unseen() {
        let [.., token, _] = all();
        for then in [Then::Preview, Then::Person, Then::Review] {
            assert_eq!(token.under_rule(then, true).level(), PolicyLevel::Review);
        }
    }

    #[test]
    fn a_caller_confirms_only_where_that_sends_something() {
        let can: Vec<&str> = (all().iter())
            .filter(|policy| policy.can_be_confirmed())
            .map(WritePolicy::as_str)
            .collect();
        assert_eq!(can, ["person", "person", "person", "token", "preview"]);
    }
}
