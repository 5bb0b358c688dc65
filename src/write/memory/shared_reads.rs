//! Shares what sessions read among the servers of one database: a session that read a page at one server may
//! change it at another.
//!
//! Each page of a session is a document, with the dates that the session knows and no text.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::reads::{Knowing, PageRead, ReadExtent, Reads};
use crate::gates::SessionId;
use crate::page::{Date, PageReading};
use crate::store::{DocumentKind, Store, StoreError, make_room, on, owner_in_name};

/// The kind of the documents.
const KIND: DocumentKind = DocumentKind::SessionRead;
/// The most documents of all servers together, and the time after which one that nobody changed goes.
const ROOM: (usize, Duration) = (20_000, Duration::from_hours(24));
/// The number of new documents after which room is made: a look at all of them takes its time.
const PER_ROOM: usize = 100;

/// Pages as sessions last saw them, at whatever server.
#[derive(Debug)]
pub(crate) struct SharedReads {
    here: Reads,
    /// The store, if other servers reach it from elsewhere.
    store: Option<Arc<dyn Store>>,
    /// The number of documents that this server began.
    begun: AtomicUsize,
}

impl SharedReads {
    pub(super) fn new(store: &Arc<dyn Store>) -> Self {
        Self {
            here: Reads::default(),
            store: store.is_remote().then(|| Arc::clone(store)),
            begun: AtomicUsize::new(0),
        }
    }

    /// A session saw a page.
    pub(crate) async fn note(&self, session: &SessionId, page: PageReading, sight: ReadExtent) {
        if let Some(id) = page.id {
            let note = |here: &Reads| here.note(session, page, sight);
            self.change(session, id, note).await;
        }
    }

    /// A session wrote a page, of which it knew the newest state that it saw or wrote all of the
    /// text itself.
    pub(crate) async fn note_written(&self, knowing: &Knowing, id: i64, at: &Date) {
        let Knowing {
            session,
            wrote_whole,
        } = knowing;
        let note = |here: &Reads| here.note_written(session, id, at, *wrote_whole);
        self.change(session, id, note).await;
    }

    /// The page as this session last saw it.
    pub(crate) async fn last(&self, session: &SessionId, id: i64) -> Option<PageRead> {
        self.fetch(session, id).await;
        self.here.last(session, id)
    }

    /// Changes what a session knows of a page, after what it knows from other servers.
    async fn change(&self, session: &SessionId, id: i64, change: impl FnOnce(&Reads)) {
        let before = self.fetch(session, id).await;
        change(&self.here);
        self.share(session, id, before).await;
    }

    /// Takes over what a session knows of a page, as it is kept; gives the document.
    async fn fetch(&self, session: &SessionId, id: i64) -> Option<Vec<u8>> {
        let store = self.store.as_ref().filter(|_| session.lasts())?;
        let name = name(session, id);
        let found = on(store, move |store| store.document(KIND, &name)).await;
        let found = found.unwrap_or_else(|error: StoreError| {
            tracing::warn!(%error, "what a session read at other servers is not known");
            None
        })?;
        match serde_json::from_slice(&found) {
            Ok(read) => self.here.take_over(session, id, read),
            Err(error) => tracing::warn!(%error, "what a session read cannot be read"),
        }
        Some(found)
    }

    /// Keeps what a session knows of a page, unless that was kept before.
    async fn share(&self, session: &SessionId, id: i64, before: Option<Vec<u8>>) {
        let Some(store) = self.store.as_ref().filter(|_| session.lasts()) else {
            return;
        };
        let Some(read) = self.here.last(session, id) else {
            return;
        };
        let json = serde_json::to_vec(&read).unwrap_or_default();
        let is_fit = u64::try_from(json.len()).is_ok_and(|length| length <= KIND.most_bytes());
        if json.is_empty() || !is_fit || before.as_ref() == Some(&json) {
            return;
        }
        let is_turn = before.is_none()
            && self
                .begun
                .fetch_add(1, Ordering::Relaxed)
                .is_multiple_of(PER_ROOM);
        let (owner, name) = (owner_in_name(session.owner()), name(session, id));
        let kept = on(store, move |store| {
            if is_turn {
                make_room(store, KIND, &owner, ROOM)?;
            }
            store.write_document(KIND, &name, &json)
        });
        if let Err(error) = kept.await {
            tracing::warn!(%error, "what a session read is known to this server alone");
        }
    }
}

/// The name of a document: nobody who reads it learns the session.
fn name(session: &SessionId, id: i64) -> String {
    let owner = owner_in_name(session.owner());
    format!("{}.{owner}.{id}", session.fingerprint())
}

#[cfg(test)]
mod tests {
    use crate::gates::{Policy, SessionId};
    use crate::page::testing::page;
    use crate::page::{Date, PageReading};
    use crate::write::ReadExtent;
    use crate::write::memory::{Concerns, Knowing};
    use crate::write::testing::Office;

    fn reading(at: &str) -> PageReading {
        PageReading {
            updated_at: Some(time(at)),
            content: Some("text".to_owned()),
            ..PageReading::from(page())
        }
    }

    fn time(text: &str) -> Date {
        Date::from(text.to_owned())
    }

    #[tokio::test]
    async fn a_session_knows_at_one_server_what_it_read_at_another() {
        let one = Office::new(Policy::default());
        let two = one.beside(Policy::default());
        let session = SessionId::new("a");
        let part = || ReadExtent::Part("B".to_owned());
        let last = async |office: &Office, concerns: &Concerns| {
            let seen = office.desk.memory.reads.last(&session, 1).await;
            seen.map(|seen| seen.known(concerns).as_str().to_owned())
        };
        let (whole, of_part) = (Concerns::Whole, Concerns::Part("B".to_owned()));
        one.desk
            .note_read(&session, reading("1"), ReadExtent::Whole)
            .await;
        assert_eq!(last(&two, &whole).await, None, "on one machine");

        one.shares_store();
        let one = one.beside(Policy::default());
        let two = one.beside(Policy::default());
        one.desk
            .note_read(&session, reading("1"), ReadExtent::Whole)
            .await;
        two.desk.note_read(&session, reading("2"), part()).await;
        for office in [&one, &two] {
            assert_eq!(last(office, &whole).await.as_deref(), Some("1"));
            assert_eq!(last(office, &of_part).await.as_deref(), Some("2"));
        }
        // The write of one server is the session's own at the other.
        let knowing = Knowing::in_part(&session);
        let reads = &one.desk.memory.reads;
        reads.note_written(&knowing, 1, &time("3")).await;
        assert_eq!(last(&two, &of_part).await.as_deref(), Some("3"));
        assert_eq!(last(&two, &whole).await.as_deref(), Some("1"));
        let text = reads.last(&session, 1).await.unwrap().page;
        assert!(text.is_none(), "that of another state");
        assert!(
            two.desk
                .memory
                .reads
                .last(&SessionId::new("b"), 1)
                .await
                .is_none()
        );
        let fleeting = SessionId::fleeting("c");
        one.desk
            .note_read(&fleeting, reading("1"), ReadExtent::Whole)
            .await;
        assert!(two.desk.memory.reads.last(&fleeting, 1).await.is_none());
    }
}
