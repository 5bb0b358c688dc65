//! What the operator allows.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::guesses::{Guesses, Missed};
use super::places::Places;
use super::session::SessionId;
use crate::audit::Pauses;
use crate::checks::CheckCommand;
use crate::notify::ReviewAddress;
use crate::page::{Prefix, ReadScope, Trash};
use crate::rules::RuleBook;

/// What the operator allows. The default allows nothing.
///
/// Only `config` makes another one, from the operator's settings; nothing outside the crate can:
///
/// ```compile_fail,E0451
/// use wikijs_mcp::gates::{ConfirmMode, Policy};
/// let own = Policy { is_enabled: true, is_dry_run: false, ..Policy::default() };
/// ```
///
/// ```compile_fail,E0616
/// let mut own = wikijs_mcp::gates::Policy::default();
/// own.is_enabled = true;
/// ```
#[derive(Debug, Clone)]
pub struct Policy {
    /// Whether anything may be written at all.
    pub(crate) is_enabled: bool,
    /// Whether writes end as previews.
    pub(crate) is_dry_run: bool,
    /// How a write is confirmed.
    pub(crate) confirm: ConfirmMode,
    /// Where it may be written; `None` allows every place.
    pub(crate) allowed: Option<Vec<Prefix>>,
    /// Where it may not be written; wins.
    pub(crate) denied: Vec<Prefix>,
    /// What may be read: what is outside may not be written either.
    pub(crate) reads: ReadScope,
    /// The trash, if there is one: where removed pages go instead of being deleted.
    pub(crate) trash: Option<Trash>,
    /// The directory whose files may be uploaded by their names, if there is one.
    pub(crate) uploads: Option<PathBuf>,
    /// Where a pause of all writes is looked for.
    pub(crate) pauses: Pauses,
    /// What the operator adds to the gates.
    pub(crate) rules: Arc<RuleBook>,
    /// The operator's own checks of changes.
    pub(crate) checks: Arc<[CheckCommand]>,
    /// Where people decide on sets that were left to them.
    pub(crate) review: ReviewAddress,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            is_enabled: false,
            is_dry_run: true,
            confirm: ConfirmMode::Preview,
            allowed: None,
            denied: Vec::new(),
            reads: ReadScope::default(),
            trash: None,
            uploads: None,
            pauses: Pauses::default(),
            rules: Arc::default(),
            checks: Arc::default(),
            review: ReviewAddress::default(),
        }
    }
}

/// How a write is confirmed.
#[derive(Debug, Clone)]
pub enum ConfirmMode {
    /// By the operator's static token.
    Token(StaticToken),
    /// By the token of a preview of exactly that change.
    Preview,
    /// By the operator at a terminal, who sees the preview; its token never leaves the program.
    Operator,
    /// By a person, who is asked through the client.
    Person {
        /// How long the person may think.
        limit: Duration,
        /// What happens if the client cannot ask.
        fallback: Fallback,
    },
    /// By a person on the review page or at a terminal: every write is left open for one.
    Review {
        /// How long a call waits for the decision.
        limit: Duration,
    },
}

/// What happens if a person must be asked and the client cannot ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fallback {
    /// Nothing is written.
    #[default]
    None,
    /// The token of a preview confirms.
    Preview,
    /// Every write ends as a proposal, as in a dry run.
    Proposal,
}

impl Policy {
    /// The same policy, with the operator's own yes in place of the confirm and of the dry run.
    /// Whether anything may be written, and where, is unchanged. A pause does not stop the
    /// operator, who takes back what led to it before others may write again.
    #[must_use]
    pub fn for_operator(self) -> Self {
        Self {
            is_dry_run: false,
            confirm: ConfirmMode::Operator,
            pauses: Pauses::default(),
            ..self
        }
    }
}

impl Policy {
    /// The policy for a client that can or cannot ask a person.
    #[must_use]
    pub fn for_client(&self, can_ask: bool) -> Cow<'_, Self> {
        match self.confirm {
            ConfirmMode::Person {
                fallback: fallback @ (Fallback::Preview | Fallback::Proposal),
                ..
            } if !can_ask => Cow::Owned(Self {
                confirm: ConfirmMode::Preview,
                is_dry_run: self.is_dry_run || fallback == Fallback::Proposal,
                ..self.clone()
            }),
            _ => Cow::Borrowed(self),
        }
    }
}

impl Policy {
    /// Where may be written.
    pub(crate) fn places(&self) -> Places<'_> {
        Places {
            allowed: self.allowed.as_deref(),
            denied: &self.denied,
            trash: self.trash.as_ref(),
            reads: &self.reads,
        }
    }

    /// How long a person may think, if one is asked.
    #[must_use]
    pub const fn thinking(&self) -> Option<Duration> {
        match self.confirm {
            ConfirmMode::Person { limit, .. } => Some(limit),
            ConfirmMode::Token(_)
            | ConfirmMode::Preview
            | ConfirmMode::Operator
            | ConfirmMode::Review { .. } => None,
        }
    }

    /// How long a call waits for the decision on what it left open; `None` if it answers at once.
    #[must_use]
    pub const fn waiting(&self) -> Option<Duration> {
        match self.confirm {
            ConfirmMode::Review { limit } if self.is_enabled && !self.is_dry_run => Some(limit),
            _ => None,
        }
    }

    /// The same policy, with a person's yes in place of a preview's token.
    #[must_use]
    pub(crate) fn asking(&self, limit: Duration) -> Self {
        Self {
            confirm: ConfirmMode::Person {
                limit,
                fallback: Fallback::None,
            },
            ..self.clone()
        }
    }

    /// The same policy with another time to think, if a person is asked or waited for.
    #[must_use]
    pub fn with_thinking(mut self, time: Duration) -> Self {
        if let ConfirmMode::Person { limit, .. } | ConfirmMode::Review { limit } = &mut self.confirm
        {
            *limit = time;
        }
        self
    }
}

impl Policy {
    /// How many static tokens were wrong.
    #[must_use]
    pub fn wrong_tokens(&self) -> u64 {
        match &self.confirm {
            ConfirmMode::Token(token) => token.guesses.wrong(),
            ConfirmMode::Preview
            | ConfirmMode::Operator
            | ConfirmMode::Person { .. }
            | ConfirmMode::Review { .. } => 0,
        }
    }
}

impl ConfirmMode {
    /// The word for it, in settings and on record.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Token(_) => "token",
            Self::Preview => "preview",
            Self::Operator => "operator",
            Self::Person { .. } => "person",
            Self::Review { .. } => "review",
        }
    }
}

/// The operator's static token. Its text is never shown. Wrong guesses are counted for all keys and
/// sessions of one server.
#[derive(Debug, Clone)]
pub struct StaticToken {
    token: SecretString,
    guesses: Arc<Guesses>,
}

impl StaticToken {
    /// The fewest characters of a token: fewer can be guessed.
    const FEWEST: usize = 16;

    /// Takes a token that cannot be guessed.
    ///
    /// # Errors
    /// One fragment about the token, without its text.
    pub fn new(token: SecretString) -> Result<Self, String> {
        if token.expose_secret().chars().count() < Self::FEWEST {
            return Err(format!(
                "must have at least {} characters, so that it cannot be guessed",
                Self::FEWEST
            ));
        }
        Ok(Self {
            token,
            guesses: Arc::default(),
        })
    }

    /// Checks a given token, unless its guesser gave too many wrong ones before.
    pub(super) fn check(&self, of: &SessionId, given: &str) -> Result<(), Missed> {
        self.guesses.look(of, || self.matches(given))
    }

    /// Its text, to search for it where it must not appear.
    pub(crate) fn expose(&self) -> &str {
        self.token.expose_secret()
    }

    /// Whether it is the token; in constant time, its length included.
    #[must_use]
    pub fn matches(&self, given: &str) -> bool {
        let digest = |text: &str| Sha256::digest(text.as_bytes());
        digest(self.token.expose_secret())
            .as_slice()
            .ct_eq(digest(given).as_slice())
            .into()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::{ConfirmMode, Fallback, Policy, StaticToken};
    use crate::audit::{AuditLog, Pauses};
    use crate::gates::SessionId;
    use crate::page::Prefix;

    const TOKEN: &str = "open sesame, please";
    const LIMIT: Duration = Duration::from_secs(7);

    fn token() -> ConfirmMode {
        ConfirmMode::Token(StaticToken::new(TOKEN.into()).expect("long"))
    }

    fn person(fallback: Fallback) -> ConfirmMode {
        ConfirmMode::Person {
            limit: LIMIT,
            fallback,
        }
    }

    fn policy(confirm: ConfirmMode) -> Policy {
        Policy {
            is_enabled: true,
            is_dry_run: false,
            confirm,
            allowed: Some(vec![Prefix::parse("docs").expect("a prefix")]),
            ..Policy::default()
        }
    }

    #[test]
    fn the_operators_own_yes_ends_a_dry_run_and_passes_a_pause_and_no_other_gate() {
        let log = AuditLog::new(Path::new("/nowhere"), "wiki");
        let policy = Policy {
            is_dry_run: true,
            pauses: log.pauses().clone(),
            ..policy(token())
        };
        let own = policy.clone().for_operator();
        assert!(!own.is_dry_run && matches!(own.confirm, ConfirmMode::Operator));
        assert_eq!((own.is_enabled, &own.allowed), (true, &policy.allowed));
        assert_eq!(
            format!("{:?}", own.pauses),
            format!("{:?}", Pauses::default())
        );
        assert_ne!(
            format!("{:?}", policy.pauses),
            format!("{:?}", Pauses::default())
        );
    }

    #[test]
    fn a_client_that_cannot_ask_gets_what_the_operator_chose_for_it() {
        for (fallback, can_ask, word, is_dry_run) in [
            (Fallback::None, false, "person", false),
            (Fallback::Preview, false, "preview", false),
            (Fallback::Proposal, false, "preview", true),
            (Fallback::Preview, true, "person", false),
            (Fallback::Proposal, true, "person", false),
        ] {
            let policy = policy(person(fallback));
            let own = policy.for_client(can_ask);
            let found = (own.confirm.as_str(), own.is_dry_run);
            assert_eq!(found, (word, is_dry_run), "{fallback:?} {can_ask}");
            assert_eq!(own.allowed, policy.allowed);
        }
        let dry = Policy {
            is_dry_run: true,
            ..policy(person(Fallback::Preview))
        };
        assert!(dry.for_client(false).is_dry_run);
        assert_eq!(policy(token()).for_client(false).confirm.as_str(), "token");
    }

    #[test]
    fn only_where_a_person_is_asked_is_there_time_to_think() {
        assert_eq!(policy(person(Fallback::None)).thinking(), Some(LIMIT));
        for confirm in [token(), ConfirmMode::Preview, ConfirmMode::Operator] {
            assert_eq!(policy(confirm.clone()).thinking(), None);
            let asking = policy(confirm.clone()).asking(LIMIT);
            assert_eq!(asking.thinking(), Some(LIMIT));
            assert_eq!((asking.is_enabled, asking.is_dry_run), (true, false));
            // Nobody is asked who was not before.
            assert_eq!(policy(confirm).with_thinking(LIMIT).thinking(), None);
        }
        let longer = policy(person(Fallback::Preview)).with_thinking(LIMIT * 2);
        assert_eq!(longer.thinking(), Some(LIMIT * 2));
        assert!(longer.is_enabled && longer.allowed.is_some());
    }

    #[test]
    fn a_call_waits_only_for_a_review_that_can_send() {
        let review = policy(ConfirmMode::Review { limit: LIMIT });
        assert_eq!(review.waiting(), Some(LIMIT));
        assert_eq!(review.thinking(), None);
        let longer = review.clone().with_thinking(LIMIT * 2);
        assert_eq!(longer.waiting(), Some(LIMIT * 2));
        let dry = Policy {
            is_dry_run: true,
            ..review.clone()
        };
        let off = Policy {
            is_enabled: false,
            ..review
        };
        let others = [
            token(),
            ConfirmMode::Preview,
            ConfirmMode::Operator,
            person(Fallback::None),
        ];
        for policy in others.map(policy).iter().chain([&dry, &off]) {
            assert_eq!(policy.waiting(), None, "{policy:?}");
        }
    }

    #[test]
    fn each_way_to_confirm_has_its_word() {
        let words = [
            token(),
            ConfirmMode::Preview,
            ConfirmMode::Operator,
            person(Fallback::None),
            ConfirmMode::Review { limit: LIMIT },
        ];
        assert_eq!(
            words.map(|confirm| confirm.as_str()),
            ["token", "preview", "operator", "person", "review"]
        );
    }

    #[test]
    fn wrong_static_tokens_are_counted() {
        let policy = policy(token());
        let ConfirmMode::Token(token) = &policy.confirm else {
            panic!("a token");
        };
        let session = SessionId::new("s");
        for _ in 0..2 {
            assert!(token.check(&session, "wrong").is_err());
        }
        assert!(token.check(&session, TOKEN).is_ok());
        assert_eq!(policy.wrong_tokens(), 2);
        assert_eq!(token.expose(), TOKEN);
        assert_eq!(self::policy(ConfirmMode::Preview).wrong_tokens(), 0);
    }
}
