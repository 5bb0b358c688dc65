//! What answers callers who bring a key of their own: one for each key, so that nothing that
//! one key may see is remembered for another.

use std::sync::{Arc, Mutex, PoisonError};

use secrecy::SecretString;

use super::super::app::App;
use crate::audit::to_hex;
use crate::wiki::ApiKey;

/// The longest key that is taken.
const MOST_BYTES: usize = 4096;

/// What answers for each key, the one used last at the end.
#[derive(Debug)]
pub(super) struct Apps {
    server: Arc<App>,
    most: usize,
    known: Mutex<Vec<([u8; 32], Arc<App>)>>,
}

impl Apps {
    pub(super) const fn new(server: Arc<App>, most: usize) -> Self {
        Self {
            server,
            most,
            known: Mutex::new(Vec::new()),
        }
    }

    /// What answers for a key, and a word by which keys are told apart; nothing if the text
    /// can be no key.
    pub(super) fn of(&self, key: &str) -> Option<(Arc<App>, String)> {
        let is_key = (1..=MOST_BYTES).contains(&key.len())
            && key.bytes().all(|byte| byte.is_ascii_graphic());
        let key = is_key.then(|| ApiKey::new(SecretString::from(key)))?;
        let digest = key.digest();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let place = known.iter().position(|(other, _)| *other == digest);
        let app = match place {
            Some(place) => known.remove(place).1,
            None => Arc::new(self.server.for_key(key).ok()?),
        };
        if known.len() >= self.most {
            known.remove(0);
        }
        known.push((digest, Arc::clone(&app)));
        Some((app, to_hex(&digest)))
    }
}
