//! Whose sessions they are: an id counts for the client that was given it, and is unknown to
//! everybody else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::sync::MutexGuard;

use super::refusal::Refusal;

/// The sessions that are open, and whose they are.
#[derive(Debug)]
pub(super) struct Sessions {
    /// rmcp's own.
    pub(super) open: Arc<LocalSessionManager>,
    most: usize,
    owners: Mutex<HashMap<Arc<str>, String>>,
    opening: tokio::sync::Mutex<()>,
}

impl Sessions {
    /// None yet; each will end after this time without a message.
    pub(super) fn new(most: usize, life: Duration) -> Self {
        let mut open = LocalSessionManager::default();
        open.session_config.keep_alive = Some(life);
        // Answers that have gone out are not kept to be sent again: nobody bounds how large they are.
        open.session_config.completed_cache_ttl = Duration::ZERO;
        Self {
            open: Arc::new(open),
            most,
            owners: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
        }
    }

    /// Whether a session is this caller's.
    pub(super) fn is_of(&self, id: &str, owner: &str) -> bool {
        let owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.get(id).is_some_and(|own| own == owner)
    }

    /// The right to open one more, one caller after another.
    pub(super) async fn open_one(&self) -> Result<MutexGuard<'_, ()>, Refusal> {
        let turn = self.opening.lock().await;
        if self.open.sessions.read().await.len() >= self.most {
            return Err(Refusal::busy("too many sessions are open; try again later"));
        }
        Ok(turn)
    }

    /// A session was opened for this caller; those that have ended are forgotten.
    pub(super) async fn opened(&self, id: &str, owner: String) {
        let open = self.open.sessions.read().await;
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|id, _| open.contains_key(id));
        owners.insert(id.into(), owner);
    }
}
