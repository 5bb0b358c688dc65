//! Turns at scanning all texts or all links.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How long a call waits for its turn.
const PATIENCE: Duration = Duration::from_secs(20);

/// Allows one scan at a time: each takes the memory of a whole list, and other calls wait for the
/// same index and wiki.
#[derive(Debug)]
pub(super) struct Scans(Arc<Semaphore>);

impl Default for Scans {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

impl Scans {
    /// A turn; `None` if it does not come in time.
    pub(super) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        let turn = Arc::clone(&self.0).acquire_owned();
        timeout(PATIENCE, turn).await.ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::Scans;

    #[tokio::test]
    async fn everything_is_looked_through_by_one_call_at_a_time() {
        let scans = Scans::default();
        let first = scans.turn().await.expect("nobody else's turn");
        let mut second = Box::pin(scans.turn());
        assert!((&mut second).now_or_never().is_none());
        drop(first);
        assert!(second.await.is_some());
    }
}
