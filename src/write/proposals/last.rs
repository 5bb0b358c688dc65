//! Remembers the last proposal of each session for a page, which a later one replaces.

use std::collections::HashMap;
use std::hash::RandomState;

use parking_lot::Mutex;

use crate::audit::ProposalId;
use crate::change::Change;
use crate::gates::SessionId;
use crate::page::{Locale, PagePath};
use crate::share::evict_index;

/// The number of proposals that are remembered, so that a later one can replace them; beyond it,
/// those of the heaviest owner are forgotten.
const MOST: usize = 10_000;

/// The last proposals of this run's sessions for each page.
#[derive(Debug, Default)]
pub(super) struct Last {
    /// Makes words for sessions that do not reveal their names.
    pub(super) words: RandomState,
    last: Mutex<HashMap<(SessionId, ProposalSubject), ProposalId>>,
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
}

impl Last {
    /// The session's last proposal for this subject.
    pub(super) fn of(&self, session: &SessionId, subject: ProposalSubject) -> Option<ProposalId> {
        let last = self.last.lock();
        last.get(&(session.clone(), subject)).copied()
    }

    /// Notes a proposal; returns the one that it replaces.
    pub(super) fn replace(
        &self,
        session: &SessionId,
        subject: ProposalSubject,
        id: ProposalId,
    ) -> Option<ProposalId> {
        if !session.lasts() {
            return None;
        }
        let mut last = self.last.lock();
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
    use super::{Last, MOST, ProposalSubject};
    use crate::audit::ProposalId;
    use crate::gates::SessionId;

    #[test]
    fn who_proposes_much_makes_nothing_forgotten_that_others_proposed() {
        let proposed = Last::default();
        let few = SessionId::new("a/1").owned_by("a");
        let much = SessionId::new("b/1").owned_by("b");
        let id = ProposalId::new().unwrap();
        proposed.replace(&few, ProposalSubject::Page(0), id);
        for page in 0..i64::try_from(MOST).unwrap() {
            proposed.replace(&much, ProposalSubject::Page(page), id);
        }
        assert_eq!(
            proposed.replace(&few, ProposalSubject::Page(0), id),
            Some(id)
        );
        assert_eq!(proposed.replace(&much, ProposalSubject::Page(0), id), None);
    }
}
