//! The keys that the wiki lately did not know: it is not asked about them again and again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Time for which a key counts as unknown without asking the wiki again.
const MEMORY: Duration = Duration::from_mins(1);
/// The most keys that are remembered; beyond that, the oldest is forgotten.
const MANY: usize = 1_024;

type Digest = [u8; 32];

/// The keys that the wiki lately did not know, by their digests.
#[derive(Debug, Default)]
pub(in crate::wiki) struct UnknownKeys(Mutex<HashMap<Digest, Instant>>);

impl UnknownKeys {
    /// True if the wiki lately did not know a key.
    pub(in crate::wiki) fn has(&self, now: Instant, key: &Digest) -> bool {
        self.0
            .lock()
            .get(key)
            .is_some_and(|told| now.saturating_duration_since(*told) < MEMORY)
    }

    /// The wiki does not know a key.
    pub(in crate::wiki) fn note(&self, now: Instant, key: Digest) {
        let mut told = self.0.lock();
        told.retain(|_, told| now.saturating_duration_since(*told) < MEMORY);
        if told.len() >= MANY {
            let oldest = told.iter().min_by_key(|(_, told)| **told);
            let oldest = oldest.map(|(key, _)| *key);
            oldest.and_then(|key| told.remove(&key));
        }
        told.insert(key, now);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::{MANY, MEMORY, UnknownKeys};

    #[test]
    fn a_key_is_unknown_for_a_minute() {
        let (strangers, now) = (UnknownKeys::default(), Instant::now());
        strangers.note(now, [1; 32]);
        assert!(strangers.has(now, &[1; 32]) && !strangers.has(now, &[2; 32]));
        assert!(!strangers.has(now + MEMORY, &[1; 32]));
    }

    #[test]
    fn whatever_keys_are_made_up_few_are_remembered() {
        let (strangers, now) = (UnknownKeys::default(), Instant::now());
        for n in 0..2 * MANY {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&n.to_be_bytes());
            strangers.note(now, key);
        }
        assert_eq!(strangers.0.lock().len(), MANY);
        strangers.note(now + MEMORY, [9; 32]);
        assert_eq!(strangers.0.lock().len(), 1);
    }
}
