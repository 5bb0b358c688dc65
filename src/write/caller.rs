//! The caller of a write.

use std::sync::Arc;

use crate::audit::{Actor, Client};
use crate::error::Failure;
use crate::gates::{Asked, ClientLimits, SessionId};
use crate::page::Note;

use super::asker::Asker;
use super::delegates::delegation::{Family, denied};

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
    /// The part of a change that it is shown.
    pub extent: Extent,
    /// The call of the tool, as it was given; `None` without a tool.
    pub asked: Option<Asked>,
    /// The reason for the write, in their own words.
    pub note: Option<Note>,
    /// The review page's address for it, if that is known from its request.
    pub review: Option<Arc<str>>,
}

impl Caller {
    /// Takes so many of a delegate's changes; other callers take none.
    ///
    /// # Errors
    /// `DELEGATION_DENIED`.
    pub(super) async fn take(&self, changes: usize) -> Result<(), Failure> {
        match &self.family {
            Some(family) => family.take(changes).await,
            None => Ok(()),
        }
    }

    /// The family of a caller who may delegate.
    ///
    /// # Errors
    /// `DELEGATION_DENIED`.
    pub fn maker(&self) -> Result<&dyn Family, Failure> {
        match &self.family {
            Some(family) if family.is_delegate() => {
                Err(denied("A delegate does not delegate.", "is_delegate"))
            }
            Some(family) => Ok(&**family),
            None => Err(denied(
                "Delegates are made over HTTP, by named clients of a server that takes no keys of its callers.",
                "not_named",
            )),
        }
    }
}

/// The part of a change that a caller is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    /// As much as an answer holds.
    #[default]
    Bounded,
    /// All of it: a person at a terminal approves only what is shown.
    Whole,
}
