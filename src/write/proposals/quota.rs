//! The disk space of proposals in the audit directory: each owner has a share.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Mutex, RwLock};

use crate::audit::{AuditLog, AuditResult, GRACE, Keep, ProposalId};
use crate::change::Change;
use crate::error::{Code, Failure};
use crate::gates::SessionId;
use crate::page::PageState;

/// One owner's proposals may take one part in this many of the audit directory's bound.
const PARTS: u64 = 4;
/// The least bound of one owner's proposals, in bytes.
const LEAST: u64 = 8 * 1024 * 1024;
/// The most of them, however small: a fourth of all that are kept.
const MOST: usize = 2_500;
/// About what a proposal takes beside the texts of its states: records, its file, other fields.
const BESIDE: usize = 4 * 1024;

/// The room that proposals take in the audit directory.
#[derive(Debug)]
pub(crate) struct ProposalQuota {
    keep: Arc<RwLock<Keep>>,
    taking: Mutex<Vec<Taking>>,
}

/// A proposal that takes room.
#[derive(Debug)]
struct Taking {
    owner: String,
    id: ProposalId,
    bytes: u64,
    since: Instant,
}

impl ProposalQuota {
    /// Nothing takes room yet.
    pub(crate) const fn new(keep: Arc<RwLock<Keep>>) -> Self {
        Self {
            keep,
            taking: Mutex::new(Vec::new()),
        }
    }

    /// The retention settings.
    pub(crate) fn keep(&self) -> Keep {
        *self.keep.read()
    }

    /// Takes room for a proposal in its owner's share, whatever the key; returns whether there was
    /// enough.
    pub(super) async fn take(
        &self,
        audit: &AuditLog,
        session: &SessionId,
        id: ProposalId,
        bytes: u64,
    ) -> AuditResult<bool> {
        let most = (self.keep().bytes / PARTS).max(LEAST);
        if self.take_up_to(session.owner(), id, bytes, most) {
            return Ok(true);
        }
        // Some may have been decided meanwhile, by another process too.
        let old = self.spared_no_more();
        let open = audit.proposals.still_open(old.clone()).await?;
        self.forget(&old.into_iter().filter(|id| !open.contains(id)).collect());
        Ok(self.take_up_to(session.owner(), id, bytes, most))
    }

    /// Takes room for a proposal, unless its owner would exceed this much.
    fn take_up_to(&self, owner: &str, id: ProposalId, bytes: u64, most: u64) -> bool {
        let mut taking = self.taking.lock();
        let own = || taking.iter().filter(|it| it.owner == owner);
        let sum = own().fold(bytes, |sum, it| sum.saturating_add(it.bytes));
        let has_room = sum <= most && own().count() < MOST;
        if has_room {
            taking.push(Taking {
                owner: owner.to_owned(),
                id,
                bytes,
                since: Instant::now(),
            });
        }
        has_room
    }

    /// The proposals whose states a purge may remove: they take room only while they are open.
    fn spared_no_more(&self) -> Vec<ProposalId> {
        let taking = self.taking.lock();
        let old = taking.iter().filter(|it| it.since.elapsed() > GRACE);
        old.map(|it| it.id).collect()
    }

    fn forget(&self, gone: &HashSet<ProposalId>) {
        let mut taking = self.taking.lock();
        taking.retain(|it| !gone.contains(&it.id));
    }
}

/// About the most bytes that a proposal takes.
pub(super) fn bytes(change: &Change) -> u64 {
    let text = |page: &PageState| page.content.len() + page.script_css.len() + page.script_js.len();
    let states = change.before().into_iter().chain(change.after());
    let bytes = states.map(text).sum::<usize>() + BESIDE;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The failure of a proposal for which its owner has no room.
pub(super) fn no_room() -> Failure {
    Failure::new(
        Code::TooLarge,
        "The proposals of this client take their whole share of the audit directory; nothing was kept.",
    )
    .hint("Have the operator decide on proposals, or raise WIKI_AUDIT_KEEP_MB; what was decided gives its room back after an hour.")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::RwLock;

    use super::{MOST, ProposalQuota};
    use crate::audit::{Keep, ProposalId};

    #[test]
    fn each_owner_has_a_share_of_its_own() {
        let room = ProposalQuota::new(Arc::new(RwLock::new(Keep {
            days: 1,
            proposal_days: 1,
            bytes: 0,
        })));
        let take = |owner, bytes| {
            let id = ProposalId::new().unwrap();
            room.take_up_to(owner, id, bytes, 10).then_some(id)
        };
        let first = take("a", 6).unwrap();
        assert!(take("a", 5).is_none() && take("b", 10).is_some() && take("b", 1).is_none());
        // A purge cannot remove a new proposal yet, decided or not.
        assert_eq!(room.spared_no_more(), []);
        room.forget(&[first].into());
        assert!(take("a", 10).is_some());
        // However small they are, one owner leaves room for others.
        let small = (0..=MOST).filter(|_| take("c", 0).is_some());
        assert_eq!(small.count(), MOST);
        assert!(take("d", 0).is_some());
    }
}
