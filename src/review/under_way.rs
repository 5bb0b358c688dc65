//! Tracks the progress of the sets that are being applied.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::audit::ProposalId;
use crate::notice::{self, Progress};

/// The sets that are being applied from this page, each with how far it is.
#[derive(Debug, Clone, Default)]
pub(super) struct RunningSets(Arc<Mutex<HashMap<ProposalId, watch::Receiver<Progress>>>>);

impl RunningSets {
    /// Runs the work that applies a set, and knows until its end how far it is.
    pub(super) async fn count<T>(&self, id: ProposalId, work: impl Future<Output = T>) -> T {
        let (counter, far) = watch::channel(Progress::default());
        // Of two who decide at once the second is refused soon, and must not end the first's count.
        let mut is_first = false;
        self.0.lock().entry(id).or_insert_with(|| {
            is_first = true;
            far
        });
        let _ends = is_first.then(|| Ends(self, id));
        notice::counted_by(counter, work).await
    }

    /// Tells whether a decision on a set is being carried out from this page.
    pub(super) fn is(&self, id: ProposalId) -> bool {
        self.0.lock().contains_key(&id)
    }

    /// The number of a set's changes made, and of all; `None` before the first is made.
    pub(super) fn progress(&self, id: ProposalId) -> Option<Progress> {
        let far = *self.0.lock().get(&id)?.borrow();
        (far.of > 0).then_some(far)
    }
}

/// Forgets a set, however its work ends.
struct Ends<'a>(&'a RunningSets, ProposalId);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.0.lock().remove(&self.1);
    }
}

#[cfg(test)]
mod tests {
    use super::RunningSets;
    use crate::audit::ProposalId;
    use crate::notice::Progress;

    #[tokio::test]
    async fn a_set_is_counted_until_its_work_ends() {
        let (sets, id) = (RunningSets::default(), ProposalId::new().unwrap());
        let far = || sets.progress(id).map(|far| (far.done, far.of));
        let work = async {
            assert_eq!(far(), None);
            Progress { done: 3, of: 40 }.tell();
            assert_eq!(far(), Some((3, 40)));
            // A second decision does not end the count of the first.
            sets.count(id, async {}).await;
            assert_eq!(far(), Some((3, 40)));
        };
        sets.count(id, work).await;
        assert_eq!(far(), None);
    }
}
