//! Remembers the last proposal of each session for a page, which a later one replaces.

use std::collections::HashMap;
use std::hash::RandomState;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::audit::{LineHash, ProposalId};
use crate::change::Change;
use crate::gates::SessionId;
use crate::page::{Locale, PagePath};
use crate::share::evict_index;
use crate::write::memory::SessionStore;

/// The number of proposals that are remembered, so that a later one can replace them; beyond it,
/// those of the heaviest owner are forgotten.
const MOST: usize = 10_000;

/// The last proposals of sessions for each page.
#[derive(Debug)]
pub(super) struct Last {
    /// Makes words for sessions that do not reveal their names.
    pub(super) words: RandomState,
    here: Mutex<HashMap<(SessionId, ProposalSubject), ProposalId>>,
    shared: Arc<SessionStore>,
}

/// Two proposals of a session with the same subject replace each other.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum ProposalSubject {
    Page(i64),
    Place(Locale, PagePath),
    /// A comment or asset, by its page's id and its own.
    Thing(Option<i64>, i64),
}

impl ProposalSubject {
    /// `None` for what is added to a page: each is another.
    pub(super) fn of(change: &Change) -> Option<Self> {
        let page = change.target();
        Some(match (change.thing(), page.id) {
            (Some(thing), id) => Self::Thing(id, thing.id()?),
            (None, Some(id)) => Self::Page(id),
            (None, None) => Self::Place(page.locale.clone(), page.path.clone()),
        })
    }

    /// The name of a session's document of its last proposal for it.
    fn document(&self) -> String {
        let subject = match self {
            Self::Page(id) => format!("page {id}"),
            Self::Place(locale, path) => format!("place {locale}/{path}"),
            Self::Thing(page, id) => format!("thing {} {id}", page.unwrap_or_default()),
        };
        format!("proposed-{}", LineHash::new(subject.as_bytes()))
    }
}

impl Last {
    pub(super) fn new(shared: Arc<SessionStore>) -> Self {
        Self {
            words: RandomState::default(),
            here: Mutex::default(),
            shared,
        }
    }

    /// The session's last proposal for this subject, at whatever server.
    pub(super) async fn of(
        &self,
        session: &SessionId,
        subject: ProposalSubject,
    ) -> Option<ProposalId> {
        let kept = self.shared.kept(session, &subject.document()).await;
        let here = || self.here.lock().get(&(session.clone(), subject)).copied();
        kept.and_then(|kept| kept.says).or_else(here)
    }

    /// Notes a proposal; returns the one that it replaces.
    pub(super) async fn replace(
        &self,
        session: &SessionId,
        subject: ProposalSubject,
        id: ProposalId,
    ) -> Option<ProposalId> {
        if !session.lasts() {
            return None;
        }
        let place = (session, &*subject.document());
        let kept = self.shared.kept::<ProposalId>(session, place.1).await;
        self.shared.keep(place, &id, kept.as_ref()).await;
        let here = self.put(session, subject, id);
        kept.and_then(|kept| kept.says).or(here)
    }

    fn put(
        &self,
        session: &SessionId,
        subject: ProposalSubject,
        id: ProposalId,
    ) -> Option<ProposalId> {
        let mut last = self.here.lock();
        if last.len() >= MOST {
            let held = last.keys().map(|(session, _)| (session.owner(), 1));
            let place = evict_index(held, (session.owner(), 1));
            let most = place.and_then(|place| last.keys().nth(place));
            let most = most.map(|(session, _)| session.owner().to_owned());
            last.retain(|(session, _), _| Some(session.owner()) != most.as_deref());
        }
        last.insert((session.clone(), subject), id)
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, ProposalSubject};
    use crate::audit::ProposalId;
    use crate::gates::{Policy, SessionId};
    use crate::page::{Locale, PagePath};
    use crate::write::testing::Office;

    #[tokio::test]
    async fn a_session_s_last_proposal_of_a_page_is_known_at_every_server_of_a_database() {
        let office = Office::new(Policy::default());
        office.shares_store();
        let [one, two] = [(); 2].map(|()| office.beside(Policy::default()));
        let (one, two) = (&one.desk.proposals.last, &two.desk.proposals.last);
        let session = SessionId::new("a");
        let ids = [(); 2].map(|()| ProposalId::new().unwrap());
        let page = || ProposalSubject::Page(7);
        assert_eq!(one.replace(&session, page(), ids[0]).await, None);
        assert_eq!(two.of(&session, page()).await, Some(ids[0]));
        assert_eq!(two.replace(&session, page(), ids[1]).await, Some(ids[0]));
        assert_eq!(one.of(&session, page()).await, Some(ids[1]));
        let others = SessionId::new("b");
        assert_eq!(one.of(&others, page()).await, None);
        let place = (Locale::as_stored("en"), PagePath::as_stored("docs/a"));
        let place = ProposalSubject::Place(place.0, place.1);
        assert_eq!(one.of(&session, place).await, None);
    }

    #[test]
    fn who_proposes_much_makes_nothing_forgotten_that_others_proposed() {
        let office = Office::new(Policy::default());
        let proposed = &office.desk.proposals.last;
        let few = SessionId::new("a/1").owned_by("a");
        let much = SessionId::new("b/1").owned_by("b");
        let id = ProposalId::new().unwrap();
        proposed.put(&few, ProposalSubject::Page(0), id);
        for page in 0..i64::try_from(MOST).unwrap() {
            proposed.put(&much, ProposalSubject::Page(page), id);
        }
        assert_eq!(proposed.put(&few, ProposalSubject::Page(0), id), Some(id));
        assert_eq!(proposed.put(&much, ProposalSubject::Page(0), id), None);
    }
}
