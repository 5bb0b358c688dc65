//! Reports to a caller while its call is under way: its progress, and invitations.

use tokio::sync::mpsc::Sender;
use tokio::sync::watch;

tokio::task_local! {
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

/// Runs work that reports its progress here.
pub async fn counted_by<F: Future>(counter: watch::Sender<Progress>, work: F) -> F::Output {
    COUNTER.scope(Some(counter), work).await
}

/// Runs work whose invitations go to a client.
pub async fn invited_by<F: Future>(host: Option<Sender<Invitation>>, work: F) -> F::Output {
    HOST.scope(host, work).await
}

/// Work for a task of its own, whose progress goes to this task's listener.
pub fn told_as_here<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let counter = COUNTER.try_with(Clone::clone).ok().flatten();
    COUNTER.scope(counter, work)
}
