//! Bounds on everything that callers could make grow.

use std::time::Duration;

use super::super::quota::{self, MessageQuota};
use crate::oauth::IssuerTimes;

/// Bounds of one server over HTTP.
#[derive(Debug, Clone, Copy)]
pub struct HttpLimits {
    /// The most bytes of a request's body.
    pub body: usize,
    /// The most connections at a time.
    pub connections: usize,
    /// The most sessions at a time.
    pub sessions: usize,
    /// The most calls under way at a time.
    pub calls: u32,
    /// A named client holds at most one part in this many of the sessions and of the calls under
    /// way.
    pub shares: usize,
    /// The most keys of callers that are known at a time; beyond it, the least recently used key of
    /// the client with the most keys is evicted.
    pub keys: usize,
    /// Timeout for the head of a connection's next request.
    pub idle: Duration,
    /// Timeout for the beginning of TLS.
    pub handshake: Duration,
    /// Timeout for the body of a request.
    pub request: Duration,
    /// Time for which a connection may accept nothing of what is written to it.
    pub stalled: Duration,
    /// Time for which a session lives without a message.
    pub session: Duration,
    /// Timeout for calls under way when the server ends.
    pub last_calls: Duration,
    /// The greatest age of an answer of the wiki that counts as reachable.
    pub reached: Duration,
    /// Timeout for the wiki's answer to a check.
    pub asked: Duration,
    /// Time for which an answer of `/readyz` is valid, and between checks of the tokens file.
    pub fresh: Duration,
    /// The time that the metrics wait for a look under way; then they tell what was found last.
    pub told: Duration,
    /// The time after which the issuer is asked again about a person at the review page.
    pub asked_again: Duration,
    /// The times of the issuer's keys.
    pub issuer: IssuerTimes,
}

impl HttpLimits {
    /// The room for large bodies of calls under way: a named client may take half of it, which fits
    /// its largest body.
    pub(super) fn room(&self) -> MessageQuota {
        let all = quota::ALL_BYTES.max(self.body);
        let share = (quota::ALL_BYTES / 2).max(self.body);
        MessageQuota::new(all, share, quota::MOST_WAITING, quota::PATIENCE)
    }

    /// A named client's share of this many: at least one.
    pub(super) fn share_of(&self, most: usize) -> usize {
        (most / self.shares.max(1)).max(1)
    }
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            body: 7 * 1024 * 1024,
            connections: 1024,
            sessions: 512,
            calls: 256,
            shares: 4,
            keys: 32,
            idle: Duration::from_secs(30),
            handshake: Duration::from_secs(10),
            request: Duration::from_secs(30),
            stalled: Duration::from_mins(1),
            // Longer than the longest time that a person can have.
            session: Duration::from_mins(15),
            last_calls: Duration::from_secs(20),
            reached: Duration::from_secs(30),
            asked: Duration::from_secs(5),
            fresh: Duration::from_secs(1),
            told: Duration::from_millis(250),
            asked_again: Duration::from_mins(5),
            issuer: IssuerTimes::default(),
        }
    }
}
