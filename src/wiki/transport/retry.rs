//! Retry of reads with backoff. Writes never come here.
//!
//! The crate `backoff` is no longer maintained (nor is its `instant`). All that this project
//! knows of it is in this file, so that it can be exchanged in an hour.

use std::future::Future;
use std::time::{Duration, Instant};

use backoff::ExponentialBackoff;

use super::super::error::{WikiError, WikiResult};

/// Limits on the number and duration of a read's tries.
#[derive(Debug, Clone, Copy)]
pub struct RetryLimits {
    /// Number of tries after the first one.
    pub retries: u32,
    /// The longest that all tries may take together, waiting included.
    pub total: Duration,
    /// Time to wait before the second try; it grows from there.
    pub first_wait: Duration,
}

/// The usual time to wait before the second try.
const FIRST_WAIT: Duration = Duration::from_millis(200);

impl RetryLimits {
    /// Limits with the usual first wait.
    pub const fn new(retries: u32, total: Duration) -> Self {
        Self {
            retries,
            total,
            first_wait: FIRST_WAIT,
        }
    }
}

/// Tries a read until it succeeds, fails for good, or a limit is met.
///
/// `attempt` is given the time that is left. A wait that the wiki asks for (`Retry-After`) is
/// kept; one that does not fit into the total ends the read at once.
pub(in crate::wiki) async fn read<T, F>(
    limits: RetryLimits,
    mut attempt: impl FnMut(Duration) -> F,
) -> WikiResult<T>
where
    F: Future<Output = WikiResult<T>>,
{
    let began = Instant::now();
    let mut tries = 0;
    let policy = ExponentialBackoff {
        current_interval: limits.first_wait,
        initial_interval: limits.first_wait,
        max_interval: Duration::from_secs(5),
        max_elapsed_time: Some(limits.total),
        ..ExponentialBackoff::default()
    };
    backoff::future::retry_notify(
        policy,
        || {
            let left = limits.total.saturating_sub(began.elapsed());
            let attempt = attempt(left);
            tries += 1;
            // The crate skips its policy if a wait is given, so both bounds are enforced here.
            let is_last = tries > limits.retries;
            async move {
                attempt.await.map_err(|error| match &error {
                    error if is_last || !error.is_passing() => {
                        backoff::Error::permanent(error.clone())
                    }
                    WikiError::RateLimited { after: Some(wait) } => {
                        // A sum would overflow with an absurdly long wait.
                        if *wait < limits.total.saturating_sub(began.elapsed()) {
                            backoff::Error::retry_after(error.clone(), *wait)
                        } else {
                            backoff::Error::permanent(error.clone())
                        }
                    }
                    error => backoff::Error::transient(error.clone()),
                })
            }
        },
        |error: WikiError, wait: Duration| {
            tracing::warn!(%error, wait_ms = wait.as_millis(), "a read is tried again");
        },
    )
    .await
}
