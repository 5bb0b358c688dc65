//! Shares what sessions read among the servers of one database: a session that read a page at one server may
//! change it at another.
//!
//! Each page of a session is a document, with the dates that the session knows and no text.

use std::sync::Arc;

use super::reads::{Knowing, PageRead, ReadExtent, Reads};
use super::session_store::{KeptOfSession, SessionStore};
use crate::gates::SessionId;
use crate::page::{Date, PageReading};

/// Pages as sessions last saw them, at whatever server.
#[derive(Debug)]
pub(crate) struct SharedReads {
    here: Reads,
    store: Arc<SessionStore>,
}

impl SharedReads {
    pub(super) fn new(store: Arc<SessionStore>) -> Self {
        Self {
            here: Reads::default(),
            store,
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
        if let Some(read) = self.here.last(session, id) {
            let place = (session, &*id.to_string());
            self.store.keep(place, &read, before.as_ref()).await;
        }
    }

    /// Takes over what a session knows of a page, as it is kept; gives the document.
    async fn fetch(&self, session: &SessionId, id: i64) -> Option<KeptOfSession<PageRead>> {
        let mut kept = self.store.kept(session, &id.to_string()).await?;
        if let Some(read) = kept.says.take() {
            self.here.take_over(session, id, read);
        }
        Some(kept)
    }
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
