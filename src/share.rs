//! Shares what is scarce: evicts the heaviest owner's entry where something is full, and lets calls
//! wait where only one may act at a time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Turns at what takes much memory: one call has its turn at a time.
#[derive(Debug)]
pub(crate) struct OneByOne(Arc<Semaphore>);

impl Default for OneByOne {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

impl OneByOne {
    /// Time that a call waits for its turn.
    pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

    /// A turn, which ends when it is dropped; `None` if it does not come in time.
    pub(crate) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        let turn = Arc::clone(&self.0).acquire_owned();
        timeout(Self::PATIENCE, turn).await.ok()?.ok()
    }
}

/// The index to evict from a list of owners and weights, oldest first: the oldest entry of the
/// heaviest owner, the newcomer counted in; of several equally heavy owners, their oldest entry.
/// `None` if only the newcomer makes its owner the heaviest.
pub fn evict_index<'a>(
    held: impl IntoIterator<Item = (&'a str, usize)>,
    newcomer: (&'a str, usize),
) -> Option<usize> {
    let held: Vec<_> = held.into_iter().collect();
    let mut holds: HashMap<&str, usize> = HashMap::new();
    for (owner, weight) in held.iter().chain([&newcomer]) {
        *holds.entry(owner).or_default() += weight;
    }
    let most = holds.values().max()?;
    held.iter()
        .position(|(owner, _)| holds.get(owner) == Some(most))
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::{OneByOne, evict_index};

    #[tokio::test]
    async fn one_call_has_its_turn_at_a_time() {
        let turns = OneByOne::default();
        let first = turns.turn().await.expect("nobody else's turn");
        let mut second = Box::pin(turns.turn());
        assert!((&mut second).now_or_never().is_none());
        drop(first);
        assert!(second.await.is_some());
    }

    #[test]
    fn nobody_gives_way_to_somebody_who_holds_more() {
        let held = [("a", 1), ("b", 1), ("b", 1), ("c", 1)];
        assert_eq!(evict_index(held, ("b", 1)), Some(1));
        assert_eq!(evict_index(held, ("c", 1)), Some(1));
        assert_eq!(evict_index(held, ("d", 1)), Some(1));
        // Of equally heavy owners, the oldest entry.
        assert_eq!(evict_index([("a", 1), ("b", 1)], ("c", 1)), Some(0));
        assert_eq!(evict_index([("a", 1), ("b", 1)], ("b", 1)), Some(1));
        // By weight, few entries may be the heaviest, and a newcomer may be too heavy for the
        // others.
        assert_eq!(
            evict_index([("a", 1), ("a", 1), ("b", 5)], ("a", 1)),
            Some(2)
        );
        assert_eq!(evict_index([("a", 3), ("b", 4)], ("c", 5)), None);
    }
}
