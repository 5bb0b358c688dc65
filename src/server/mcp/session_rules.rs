//! The terms of one session: what may be written where, how a write is confirmed, how complete the
//! content index is. Computed without any request, since a handshake must not wait.

use std::fmt::Write as _;

use super::caller::CallerContext;
use crate::audit::Pause;
use crate::gates::{Fallback, Policy, PolicyLevel, WritePolicy};
use crate::index::Coverage;
use crate::page::Prefix;
use crate::tools::ToolDefinition;
use crate::wiki::KeyStatus;
use crate::words::first_of;

/// The most prefixes that the sentence names.
const MOST_NAMED: usize = 5;
/// The reason nothing can be written in a pause.
const PAUSED: &str = "an operator has paused all writes for now";
/// The reason nothing can be written where a pause cannot be looked for.
const PAUSE_UNKNOWN: &str = "whether an operator has paused all writes cannot be found out now";

/// The terms of one session.
#[derive(Debug)]
pub(in crate::server) struct SessionRules {
    pub(in crate::server) writes: Writes,
    pub(in crate::server) policy: Policy,
    /// The operator's pause of all writes: read once, so that everything said about it agrees.
    pub(in crate::server) pause: Option<Pause>,
    pub(in crate::server) index: IndexState,
    pub(in crate::server) standing: Option<KeyStatus>,
}

/// The treatment of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum Writes {
    /// It is refused, for this reason.
    Refused(&'static str),
    /// It gets what this level gives.
    Gets(PolicyLevel),
}

/// The state of the content index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum IndexState {
    Off,
    /// No search has begun it yet.
    NotBegun,
    /// It is being made.
    Filling(Coverage),
    /// It is made, complete or not, until something changes.
    Made(Coverage),
}

impl SessionRules {
    /// The terms of a visit's session, whose client can or cannot ask a person.
    pub(in crate::server) fn new(visit: &CallerContext, can_ask: bool) -> Self {
        let narrowing = visit.narrowing().map(|limits| &**limits);
        let policy = visit.app.desk.narrowed_policy(narrowing, can_ask);
        let pause = policy.pauses.look();
        let registry = visit.app.registry();
        let has_tools = registry
            .definitions()
            .filter(|tool| tool.can_write())
            .any(|tool: &ToolDefinition| visit.offers(tool));
        Self {
            writes: Writes::new(&policy, pause.as_ref(), has_tools, can_ask),
            index: IndexState::new(visit),
            standing: visit.app.wiki.known_standing().or_else(|| {
                let has_expired = visit.app.wiki.key().has_expired();
                has_expired.then_some(KeyStatus::Expired)
            }),
            policy,
            pause,
        }
    }

    /// All of it in one sentence.
    pub(in crate::server) fn sentence(&self) -> String {
        let mut told = format!("In this session {}", self.of_writes());
        match self.writes {
            Writes::Gets(PolicyLevel::Preview) => {
                told.push_str(" (level preview: you may confirm by yourself)");
            }
            Writes::Gets(level) => {
                let _ = write!(told, " (level {})", level.as_str());
            }
            Writes::Refused(_) => {}
        }
        told.push_str("; ");
        told.push_str(&self.index.in_words());
        if let Some(key) = self.of_key() {
            let _ = write!(told, "; {key}");
        }
        told.push('.');
        told
    }

    fn of_writes(&self) -> String {
        let place = self.place();
        match self.writes {
            Writes::Refused(why) => format!("nothing can be written ({why})"),
            Writes::Gets(PolicyLevel::Off) => "nothing can be written".to_owned(),
            Writes::Gets(PolicyLevel::DryRun) => format!(
                "a write{place} ends as a preview, kept as a proposal that people decide on"
            ),
            Writes::Gets(PolicyLevel::Preview) => format!(
                "a write{place} answers with a preview and is sent when called again with its confirm token"
            ),
            Writes::Gets(PolicyLevel::Token) => {
                format!("a write{place} needs the operator's token as confirm")
            }
            Writes::Gets(PolicyLevel::Person) => {
                format!(
                    "a write{place} is sent when the user says yes, who is asked during the call"
                )
            }
            Writes::Gets(PolicyLevel::Review) => {
                format!(
                    "a write{place} waits until a person decides on it elsewhere; a call that answers waiting is called again with its proposal as confirm"
                )
            }
        }
    }

    /// The places that may be written, as a phrase after "a write".
    fn place(&self) -> String {
        let named = |prefixes: &[Prefix]| first_of(prefixes, MOST_NAMED);
        let mut told = match self.policy.allowed.as_deref() {
            Some(allowed) => format!(" at or below {}", named(allowed)),
            None => String::new(),
        };
        if !self.policy.denied.is_empty() {
            let _ = write!(told, " (never at or below {})", named(&self.policy.denied));
        }
        told
    }

    fn of_key(&self) -> Option<&'static str> {
        Some(match self.standing? {
            KeyStatus::Good => return None,
            KeyStatus::Guest => "the wiki does not know the key and treats it as a guest's",
            KeyStatus::Expired => "the key has expired",
            KeyStatus::Revoked => "the key was revoked",
            KeyStatus::ApiDisabled => "the wiki's API is switched off",
        })
    }
}

impl Writes {
    fn new(policy: &Policy, pause: Option<&Pause>, has_tools: bool, can_ask: bool) -> Self {
        if matches!(policy.writes, WritePolicy::Off) {
            return Self::Refused("the operator does not allow it");
        }
        match pause {
            None => {}
            Some(Pause::Unreachable(_) | Pause::Unreadable(_)) => {
                return Self::Refused(PAUSE_UNKNOWN);
            }
            Some(_) => return Self::Refused(PAUSED),
        }
        if !has_tools {
            return Self::Refused("no tool that writes is offered");
        }
        if policy.allowed.as_ref().is_some_and(Vec::is_empty) {
            return Self::Refused("no path is allowed");
        }
        match &policy.writes {
            WritePolicy::Person {
                fallback: Fallback::None,
                ..
            } if !can_ask => Self::Refused("the user must say yes, and this client cannot ask"),
            writes => Self::Gets(writes.level()),
        }
    }
}

impl IndexState {
    pub(in crate::server) fn new(visit: &CallerContext) -> Self {
        let index = &visit.app.index;
        if !index.is_on() {
            return Self::Off;
        }
        match index.now() {
            (coverage, false) if coverage.of == 0 && !coverage.is_complete => Self::NotBegun,
            (coverage, true) if !coverage.is_complete => Self::Filling(coverage),
            (coverage, _) => Self::Made(coverage),
        }
    }

    /// A sentence's part about it.
    pub(in crate::server) fn in_words(self) -> String {
        match self {
            Self::Off => "the content of pages is not indexed".to_owned(),
            Self::NotBegun => "the content index is begun by the first search".to_owned(),
            Self::Filling(Coverage { of: 0, .. }) => "the content index is being made".to_owned(),
            Self::Filling(Coverage { pages, of, .. }) => {
                format!("the content of {pages} of {of} pages is indexed so far")
            }
            Self::Made(coverage) if coverage.is_complete => {
                format!("the content of all {} pages is indexed", coverage.pages)
            }
            Self::Made(Coverage { pages, of, .. }) => {
                format!("the content of {pages} of {of} pages is indexed")
            }
        }
    }
}
