//! Reports to a caller while its call is under way: notices, progress, invitations.
//!
//! A notice leaves the server unchanged, so it holds no text of the wiki and no secret.

use std::fmt;
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::sync::watch;

tokio::task_local! {
    static LISTENER: Option<Sender<Notice>>;
    static COUNTER: Option<watch::Sender<Progress>>;
    static HOST: Option<Sender<Invitation>>;
}

/// The progress of a call.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// The pages that are done.
    pub done: u32,
    /// All that is to be done.
    pub of: u32,
}

impl Progress {
    /// Says it, where somebody listens.
    pub fn tell(self) {
        let _ = COUNTER.try_with(|counter| {
            counter.as_ref().map(|counter| counter.send_replace(self));
        });
    }
}

/// A page that the person behind a client is asked to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// The id of what is decided there.
    pub id: String,
    /// Its address, which signs nobody in.
    pub page: String,
}

impl Invitation {
    /// Gives it to the client, if that can show an address.
    pub fn give(self) {
        let _ = HOST.try_with(|host| host.as_ref().map(|to| to.try_send(self)));
    }
}

/// A notice about a call under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The wiki is asked again.
    TriedAgain {
        /// The reason why the last try failed, as a fragment of a sentence.
        why: String,
        /// The wait before the next try.
        wait: Duration,
    },
    /// The content index does not hold all pages yet.
    StillIndexing {
        /// The pages that it holds.
        pages: usize,
        /// The pages that it will hold.
        of: usize,
    },
    /// The outcome of a write was not clear at once; the page is read until it is.
    Settling,
    /// The call waits for the decision of a person.
    WaitsForPeople {
        /// The place where people decide: an address or a command.
        review: String,
    },
}

impl Notice {
    /// Sends the notice if somebody listens; drops it if too many are waiting.
    pub fn tell(self) {
        let _ = LISTENER.try_with(|listener| listener.as_ref().map(|to| to.try_send(self)));
    }

    /// True if something goes less well than it should.
    #[must_use]
    pub const fn is_warning(&self) -> bool {
        match self {
            Self::TriedAgain { .. } | Self::Settling => true,
            Self::StillIndexing { .. } | Self::WaitsForPeople { .. } => false,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TriedAgain { why, wait } => {
                write!(f, "{why}; it is asked again in {} ms", wait.as_millis())
            }
            Self::StillIndexing { pages, of } => {
                write!(f, "the content index is still being filled: {pages} of {of} pages")
            }
            Self::WaitsForPeople { review } => {
                write!(f, "the call waits until a person decides: {review}")
            }
            Self::Settling => f.write_str(
                "the outcome of the write is not clear yet; the page is read until it is, and nothing is sent again",
            ),
        }
    }
}

/// Runs work whose notices go to a listener.
pub async fn told_to<F: Future>(listener: Sender<Notice>, work: F) -> F::Output {
    LISTENER.scope(Some(listener), work).await
}

/// Runs work that reports its progress here.
pub async fn counted_by<F: Future>(counter: watch::Sender<Progress>, work: F) -> F::Output {
    COUNTER.scope(Some(counter), work).await
}

/// Runs work whose invitations go to a client.
pub async fn invited_by<F: Future>(host: Option<Sender<Invitation>>, work: F) -> F::Output {
    HOST.scope(host, work).await
}

/// Work for a task of its own, whose notices go to this task's listeners.
pub fn told_as_here<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let listener = LISTENER.try_with(Clone::clone).ok().flatten();
    let counter = COUNTER.try_with(Clone::clone).ok().flatten();
    COUNTER.scope(counter, LISTENER.scope(listener, work))
}
