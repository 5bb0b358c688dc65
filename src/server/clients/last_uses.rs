//! Notes the last use of each client, to the minute: an empty document in the store, with the time of that use.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use time::OffsetDateTime;
use tokio::runtime::Handle;

use crate::audit::{ClientId, StoreHome};
use crate::store::{DocumentKind, Store, StoreError, make_room};

/// The kind of the documents.
const KIND: DocumentKind = DocumentKind::LastUse;
/// The shortest time between two notes of one client's use.
const APART: time::Duration = time::Duration::MINUTE;
/// The most notes, and the age after which one is removed.
const MOST: usize = 10_000;
const OLDEST: Duration = Duration::from_hours(400 * 24);

/// The time of each client's last use, which all servers of a store note.
#[derive(Debug, Clone)]
pub struct LastUses {
    store: Arc<dyn Store>,
    /// The notes of the last minute.
    noted: Arc<Mutex<HashMap<ClientId, OffsetDateTime>>>,
}

impl LastUses {
    /// Those of the servers that keep their state there.
    #[must_use]
    pub fn new(home: &StoreHome) -> Self {
        Self {
            store: home.shared(),
            noted: Arc::default(),
        }
    }

    /// The time of each client's last use, by its id; `None` if no server noted any, or they cannot be read.
    pub fn all(&self) -> Option<HashMap<String, OffsetDateTime>> {
        let listed = self.store.documents(KIND).ok()?;
        let uses = { listed.into_iter() }.map(|one| (one.name, one.changed.into()));
        Some(uses.collect()).filter(|all: &HashMap<_, _>| !all.is_empty())
    }

    /// A client came. Nobody waits for the store.
    pub(in crate::server) fn note(&self, id: ClientId) {
        let now = OffsetDateTime::now_utc();
        let mut noted = self.noted.lock();
        if noted.get(&id).is_some_and(|last| now - *last < APART) {
            return;
        }
        noted.retain(|_, last| now - *last < APART);
        noted.insert(id, now);
        drop(noted);
        if let Ok(runtime) = Handle::try_current() {
            let uses = self.clone();
            runtime.spawn_blocking(move || uses.write(id));
        }
    }

    fn write(&self, id: ClientId) {
        let name = id.to_string();
        let write = || -> Result<(), StoreError> {
            make_room(&*self.store, KIND, "", (MOST, OLDEST))?;
            self.store.write_document(KIND, &name, b"")
        };
        if let Err(error) = write() {
            tracing::warn!(%error, "when a client came last cannot be noted");
        }
    }
}
