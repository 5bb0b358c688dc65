//! Shares what sessions know and did among the servers of one database: a session goes on at any of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::gates::SessionId;
use crate::store::{
    DocumentKind, PER_SESSION_ROOM, SESSION_ROOM, Store, StoreError, make_room, on, owner_in_name,
};

/// The kind of the documents.
const KIND: DocumentKind = DocumentKind::SessionRead;

/// Small documents of sessions; none where no other server shares the store.
#[derive(Debug)]
pub(crate) struct SessionStore {
    store: Option<Arc<dyn Store>>,
    /// The number of documents that this server began.
    begun: AtomicUsize,
}

/// A document as it is kept, and what it says.
#[derive(Debug)]
pub(crate) struct KeptOfSession<T> {
    json: Vec<u8>,
    pub(crate) says: Option<T>,
}

impl SessionStore {
    pub(super) fn new(store: &Arc<dyn Store>) -> Self {
        Self {
            store: store.is_remote().then(|| Arc::clone(store)),
            begun: AtomicUsize::new(0),
        }
    }

    /// The store, for what a session does over several calls.
    fn of(&self, session: &SessionId) -> Option<&Arc<dyn Store>> {
        self.store.as_ref().filter(|_| session.lasts())
    }

    /// A document of a session.
    pub(crate) async fn kept<T: DeserializeOwned>(
        &self,
        session: &SessionId,
        about: &str,
    ) -> Option<KeptOfSession<T>> {
        let store = self.of(session)?;
        let name = name(session, about);
        let found = on(store, move |store| store.document(KIND, &name)).await;
        let json = found.unwrap_or_else(|error: StoreError| {
            tracing::warn!(%error, "what a session did at other servers is not known");
            None
        })?;
        let says = serde_json::from_slice(&json)
            .inspect_err(|error| tracing::warn!(%error, "what a session did cannot be read"));
        Some(KeptOfSession {
            says: says.ok(),
            json,
        })
    }

    /// Keeps a document in the place of an earlier one, unless it says the same; `false` if the store does
    /// not take it.
    pub(crate) async fn keep<T: Serialize, B>(
        &self,
        (session, about): (&SessionId, &str),
        says: &T,
        before: Option<&KeptOfSession<B>>,
    ) -> bool {
        let Some(store) = self.of(session) else {
            return true;
        };
        let json = serde_json::to_vec(says).unwrap_or_default();
        let is_fit = u64::try_from(json.len()).is_ok_and(|length| length <= KIND.most_bytes());
        if json.is_empty() || !is_fit || before.is_some_and(|before| before.json == json) {
            return is_fit;
        }
        let is_turn = before.is_none()
            && self
                .begun
                .fetch_add(1, Ordering::Relaxed)
                .is_multiple_of(PER_SESSION_ROOM);
        let (owner, name) = (owner_in_name(session.owner()), name(session, about));
        let kept = on(store, move |store| {
            if is_turn {
                make_room(store, KIND, &owner, SESSION_ROOM)?;
            }
            store.write_document(KIND, &name, &json)
        });
        let kept = kept.await;
        if let Err(error) = &kept {
            tracing::warn!(%error, "what a session did is known to this server alone");
        }
        kept.is_ok()
    }
}

/// The name of a document: nobody who reads it learns the session.
fn name(session: &SessionId, about: &str) -> String {
    let owner = owner_in_name(session.owner());
    format!("{}.{owner}.{about}", session.fingerprint())
}
