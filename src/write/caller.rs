//! The caller of a write, and how the person behind it is asked. The server asks; this room only
//! needs answers.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;

use crate::audit::{Actor, Client, ProposalId};
use crate::change::{BRIEF_DIFF, BRIEF_VALUE, MAX_DIFF_BYTES, MAX_VALUE_BYTES};
use crate::error::Result;
use crate::gates::{ApprovalScope, Asked, ClientLimits, SessionId};
use crate::memory::ExchangeMessage;
use crate::page::Note;

use super::delegation::{Family, denied};

/// The caller of a write.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The tool or command.
    pub tool: &'static str,
    /// The client, as it names itself.
    pub client: Client,
    /// The user of the machine who runs a command, if the caller is no client.
    pub actor: Option<Actor>,
    /// Its session, to which previews belong.
    pub session: SessionId,
    /// The way to ask the person behind it.
    pub asker: Asker,
    /// Its own limits, if it is a named client.
    pub narrowing: Option<Arc<ClientLimits>>,
    /// Its delegates, and its limits if it is one; `None` without a name.
    pub family: Option<Arc<dyn Family>>,
    /// The wikis of the server that it may see, if it calls a tool.
    pub sites: Option<Arc<dyn SiteDirectory>>,
    /// The part of a change that it is shown.
    pub extent: Extent,
    /// True if it leaves the change to people, whoever could confirm it.
    pub proposes: bool,
    /// The place for the set that waits for people, if the caller takes a task for an answer.
    pub task: Option<TaskSlot>,
    /// The call of the tool, as it was given; `None` without a tool.
    pub asked: Option<Asked>,
    /// The reason for the write, in their own words.
    pub note: Option<Note>,
    /// The review page's address for it, if that is known from its request.
    pub review: Option<Arc<str>>,
}

impl Caller {
    /// A caller who cannot be asked, has no limits of their own, and is shown the whole of a change.
    pub fn new(tool: &'static str, client: Client, session: SessionId) -> Self {
        Self {
            tool,
            client,
            actor: None,
            session,
            asker: Asker::Nobody,
            narrowing: None,
            family: None,
            sites: None,
            extent: Extent::Whole,
            proposes: false,
            task: None,
            asked: None,
            note: None,
            review: None,
        }
    }

    /// Takes so many of a delegate's changes; other callers take none.
    ///
    /// # Errors
    /// `DELEGATION_DENIED`.
    pub(super) async fn take(&self, changes: usize) -> Result<()> {
        match &self.family {
            Some(family) => family.take(changes).await,
            None => Ok(()),
        }
    }

    /// The family of a caller who may delegate.
    ///
    /// # Errors
    /// `DELEGATION_DENIED`.
    pub fn maker(&self) -> Result<&dyn Family> {
        match &self.family {
            Some(family) if family.is_delegate() => {
                Err(denied("A delegate does not delegate.", "is_delegate"))
            }
            Some(family) => Ok(&**family),
            None => Err(denied(
                "Delegates are made over stdio, and over HTTP by named clients of a server that takes no keys of its callers.",
                "not_named",
            )),
        }
    }
}

/// The set that a call left to people, for a caller that asks later what became of it.
#[derive(Debug, Clone, Default)]
pub struct TaskSlot(Arc<OnceLock<ProposalId>>);

impl TaskSlot {
    /// The set, if there is one.
    pub fn set(&self) -> Option<ProposalId> {
        self.0.get().copied()
    }

    /// Notes the set; a call leaves one.
    pub fn fill(&self, set: ProposalId) {
        let _ = self.0.set(set);
    }
}

/// The wikis of a server that one caller may see.
#[async_trait::async_trait]
pub trait SiteDirectory: fmt::Debug + Send + Sync {
    /// A row for each, that of the caller's session first.
    async fn list(&self, caller: &Caller) -> Vec<Value>;

    /// The status as `wikijs://status` has it; `None` if the caller sees no such site. Without a name, of
    /// the session's own.
    async fn status(&self, caller: &Caller, name: Option<&str>) -> Option<Result<Value>>;

    /// Brings its content index up to date, and exchanges memories with its peer; or, with a peer's
    /// message, only answers that. `None` as for the status.
    async fn sync(
        &self,
        caller: &Caller,
        name: Option<&str>,
        message: Option<ExchangeMessage>,
    ) -> Option<Result<Value>>;
}

/// The part of a change that a caller is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    /// What has to be known before it is confirmed: the warnings, the counts, a line for each
    /// change, and little of the differences.
    Brief,
    /// As much as an answer holds.
    #[default]
    Bounded,
    /// All of it: a person at a terminal approves only what is shown.
    Whole,
}

impl Extent {
    /// The most bytes of a field's value, and of a difference, in an answer about one change.
    pub const fn room(self) -> (usize, usize) {
        match self {
            Self::Brief => (BRIEF_VALUE, BRIEF_DIFF),
            Self::Bounded | Self::Whole => (MAX_VALUE_BYTES, MAX_DIFF_BYTES),
        }
    }
}

/// A question to a person, and the possible answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question, in plain text.
    pub message: String,
    /// The scopes that a yes may have.
    pub scopes: &'static [ApprovalScope],
}

/// The way in which a call can have a person asked.
#[derive(Debug, Clone, Default)]
pub enum Asker {
    /// The client cannot ask anybody.
    #[default]
    Nobody,
    /// The client asks while the call waits.
    Within(Arc<dyn AskPerson>),
    /// The client asks after the call has ended, and calls again with the answer.
    Between {
        /// Takes the question.
        handout: Handout,
        /// The call, which must come again.
        asked: Asked,
    },
    /// The call brings the answer to a question that was handed out.
    Answered {
        /// The question's name, as it was handed out; empty if it is unknown.
        question: String,
        /// The answer.
        reply: PersonReply,
        /// The call, which must be the one that asked.
        asked: Asked,
    },
}

impl Asker {
    /// True if the client can ask a person.
    pub const fn can_ask(&self) -> bool {
        !matches!(self, Self::Nobody)
    }
}

/// Asks a person while the call waits.
pub trait AskPerson: fmt::Debug + Send + Sync {
    /// Asks. The caller of this function stops it after the person's time.
    fn ask(&self, question: Question) -> Pin<Box<dyn Future<Output = PersonReply> + Send + '_>>;
}

/// Takes a question that outlives its call.
#[derive(Debug, Clone)]
pub struct Handout(mpsc::Sender<HandedOut>);

/// A question that outlives its call.
#[derive(Debug)]
pub struct HandedOut {
    /// The question.
    pub question: Question,
    /// The question's name: the call that brings the answer must bring it too.
    pub name: String,
    /// The time that the person may take.
    pub limit: Duration,
}

impl Handout {
    /// A way to hand one question out, and where it arrives.
    pub fn new() -> (Self, mpsc::Receiver<HandedOut>) {
        let (sender, receiver) = mpsc::channel(1);
        (Self(sender), receiver)
    }

    /// Hands the question out. Never returns: the receiver of the question ends the call.
    pub(super) async fn give(&self, handed_out: HandedOut) -> Infallible {
        // A failed send means that the call is over as well.
        let _ = self.0.send(handed_out).await;
        std::future::pending().await
    }
}

/// The reply to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonReply {
    /// Yes.
    Yes(ApprovalScope),
    /// No.
    No,
    /// The question was closed without an answer.
    Closed,
    /// There was no answer in time.
    TimedOut,
    /// The client could not ask, or its answer was invalid.
    Failed,
    /// The state that came with the answer is not from this server, or belongs to another call.
    NotOurs,
}

impl PersonReply {
    /// The word for it, in errors and on record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Yes(scope) => scope.as_str(),
            Self::No => "no",
            Self::Closed => "closed",
            Self::TimedOut => "timed_out",
            Self::Failed => "failed",
            Self::NotOurs => "not_ours",
        }
    }

    /// The reason why it is not a yes, in a sentence.
    pub(super) const fn sentence(self) -> &'static str {
        match self {
            Self::Yes(_) | Self::Failed => {
                "The client could not ask the person, or its answer was none of those offered."
            }
            Self::No => "The person said no.",
            Self::Closed => "The person closed the question without an answer.",
            Self::TimedOut => "The person did not answer in time.",
            Self::NotOurs => {
                "The answer belongs to no question that waits for one: it was answered already, or asked by another call."
            }
        }
    }
}
