//! The sets that are being sent, and the last ones that were.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::audit::CallId;
use crate::gates::SessionId;

use super::super::answer::{SetAnswer, SetOutcome};

/// The progress of a set, which callers may see while it is sent.
pub(in crate::write) type SharedSetAnswer = Arc<Mutex<SetAnswer>>;

/// The most finished sets that are remembered; a set that is being sent is never forgotten.
const MOST: usize = 64;

/// The sets that are being sent, and the last ones that were.
#[derive(Debug, Default)]
pub(in crate::write) struct RecentSets(Mutex<VecDeque<(SessionId, SharedSetAnswer)>>);

impl RecentSets {
    /// Notes that a set begins; if there are too many, the oldest finished one is forgotten.
    pub(in crate::write) fn begin(&self, session: &SessionId, set: &SharedSetAnswer) {
        let mut sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sets.len() >= MOST
            && let Some(place) = sets.iter().position(|(_, set)| is_done(set))
        {
            sets.remove(place);
        }
        sets.push_back((session.clone(), Arc::clone(set)));
    }

    /// The progress of a set of a session, or of another session of the same owner.
    pub(in crate::write) fn find(&self, session: &SessionId, id: CallId) -> Option<SetAnswer> {
        let sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = sets.iter().filter(|(of, _)| of.owner() == session.owner());
        let told =
            |set: &SharedSetAnswer| set.lock().unwrap_or_else(PoisonError::into_inner).clone();
        own.map(|(_, set)| told(set)).find(|set| set.call == id)
    }
}

fn is_done(set: &SharedSetAnswer) -> bool {
    let set = set.lock().unwrap_or_else(PoisonError::into_inner);
    set.outcome != SetOutcome::Applying
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::{MOST, RecentSets};
    use crate::audit::CallId;
    use crate::gates::SessionId;
    use crate::write::answer::{Notes, SetAnswer, SetOutcome};

    fn set(outcome: SetOutcome) -> SetAnswer {
        SetAnswer {
            call: CallId::new().unwrap(),
            outcome,
            members: Vec::new(),
            left_out: Vec::new(),
            links_left: Vec::new(),
            notes: Notes::default(),
        }
    }

    #[test]
    fn what_is_done_is_forgotten_first_and_what_is_being_sent_never() {
        let sets = RecentSets::default();
        let begin = |outcome| {
            let set = set(outcome);
            let call = set.call;
            sets.begin(&SessionId::new("own"), &Arc::new(Mutex::new(set)));
            call
        };
        let sending = begin(SetOutcome::Applying);
        let done = begin(SetOutcome::Applied);
        for _ in 0..MOST {
            begin(SetOutcome::Applied);
        }
        let own = |id| sets.find(&SessionId::new("own"), id).map(|set| set.call);
        assert_eq!(own(sending), Some(sending));
        assert_eq!(own(done), None);
        // Nobody sees another owner's set.
        assert_eq!(sets.find(&SessionId::new("other"), sending), None);
    }
}
