//! Keeps the sessions of older clients in a store that other servers reach, so that each of them goes on with
//! a session that another began.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::session::store::{
    SessionState, SessionStore, SessionStoreError,
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::super::clients::secret::digest;
use crate::store::{DocumentKind, Store, StoreError, make_room, on, owner_in_name};

/// The kind of the documents.
const KIND: DocumentKind = DocumentKind::McpSession;
/// The most sessions of all servers together.
const MOST: usize = 10_000;
/// Time after which a session that nobody ended is forgotten.
const LIFE: Duration = Duration::from_hours(24);

/// The sessions in a store.
pub(super) struct SharedSessions {
    store: Arc<dyn Store>,
    /// The sessions that just begin, until their owner is known.
    beginning: Mutex<HashMap<String, SessionState>>,
    /// The names of the documents of sessions that this server was asked for, by the sessions' ids. What
    /// is missing is looked for.
    names: Mutex<HashMap<String, String>>,
}

/// A session as a document.
#[derive(Serialize, Deserialize)]
struct SessionDocument {
    /// The digest of its owner's name.
    owner: String,
    /// The second in which it began.
    begun: i64,
    state: SessionState,
}

impl fmt::Debug for SharedSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedSessions").finish_non_exhaustive()
    }
}

impl SharedSessions {
    /// The sessions of this store; `None` where no other server reaches it from elsewhere.
    pub(super) fn new(store: Arc<dyn Store>) -> Option<Self> {
        store.is_remote().then(|| Self {
            store,
            beginning: Mutex::default(),
            names: Mutex::default(),
        })
    }

    /// Keeps a session that has begun, for its owner; `false` if that fails, and it is known to this server
    /// alone, until it is kept.
    pub(super) async fn keep(&self, id: &str, owner: &str) -> bool {
        let Some(state) = self.beginning.lock().remove(id) else {
            return false;
        };
        let later = state.clone();
        let document = SessionDocument {
            owner: digest(owner),
            begun: OffsetDateTime::now_utc().unix_timestamp(),
            state,
        };
        let json = serde_json::to_vec(&document).unwrap_or_default();
        if json.is_empty()
            || u64::try_from(json.len()).is_ok_and(|length| length > KIND.most_bytes())
        {
            tracing::warn!("a session whose beginning is too large is known to this server alone");
            return false;
        }
        let (own, name) = (owner_in_name(owner), name(id, owner));
        let kept = on(&self.store, move |store| {
            make_room(store, KIND, &own, (MOST, LIFE))?;
            store.write_document(KIND, &name, &json)
        });
        let kept = kept.await;
        if let Err(error) = &kept {
            tracing::warn!(%error, "a session is known to this server alone");
            let mut beginning = self.beginning.lock();
            if beginning.len() < MOST {
                beginning.insert(id.to_owned(), later);
            }
        }
        kept.is_ok()
    }

    /// True if a session that has not ended has this owner.
    pub(super) async fn is_of(&self, id: &str, owner: &str) -> Result<bool, StoreError> {
        let name = name(id, owner);
        let found = self.read(name.clone()).await?;
        let is_its = found.is_some_and(|found| found.owner == digest(owner));
        let mut names = self.names.lock();
        if is_its && !names.contains_key(id) {
            if names.len() >= MOST {
                names.clear();
            }
            names.insert(id.to_owned(), name);
        }
        Ok(is_its)
    }

    /// The name of a session's document, whoever owns it.
    async fn find(&self, id: &str) -> Result<Option<String>, StoreError> {
        let known = self.names.lock().get(id).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let ending = format!(".{}", digest(id));
        let all = on(&self.store, |store| store.documents(KIND)).await?;
        let mut names = all.into_iter().map(|one| one.name);
        Ok(names.find(|name| name.ends_with(&ending)))
    }

    async fn read(&self, name: String) -> Result<Option<SessionDocument>, StoreError> {
        let found = on(&self.store, move |store| store.document(KIND, &name)).await?;
        let found = found.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let now = OffsetDateTime::now_utc().unix_timestamp();
        let lives = |found: &SessionDocument| {
            let age = now.saturating_sub(found.begun).max(0);
            age.unsigned_abs() <= LIFE.as_secs()
        };
        Ok(found.filter(lives))
    }
}

/// The name of a session's document.
fn name(id: &str, owner: &str) -> String {
    format!("{}.{}", owner_in_name(owner), digest(id))
}

/// For rmcp. The layer `session` has checked the owner before.
#[async_trait::async_trait]
impl SessionStore for SharedSessions {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let Some(name) = self.find(id).await? else {
            return Ok(None);
        };
        Ok(self.read(name).await?.map(|found| found.state))
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let mut beginning = self.beginning.lock();
        beginning.insert(id.to_owned(), state.clone());
        Ok(())
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        self.beginning.lock().remove(id);
        if let Some(name) = self.find(id).await? {
            on(&self.store, move |store| store.remove_document(KIND, &name)).await?;
            self.names.lock().remove(id);
        }
        Ok(())
    }
}
