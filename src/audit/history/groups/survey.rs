//! Learns in one reading of all calls which belong together, and which of them a reader may see.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::super::super::{ApprovalId, CallHistory, CallId, CallVisibility, GroupId, ProposalId};
use super::super::call_history::{CallSortKey, sort_key};

/// The most groups that are told apart; of more the oldest are only counted.
const MOST_GROUPS: usize = 100_000;

/// Facts about all calls, collected in one reading.
#[derive(Debug, Default)]
pub struct GroupSurvey {
    /// The groups with a call that was taken, and the newest such call.
    taken: HashMap<GroupId, CallSortKey>,
    /// The group that another one is part of.
    same: HashMap<GroupId, GroupId>,
    /// Sets of which a change may be seen, and of which one may not.
    shown: HashSet<CallId>,
    hidden: HashSet<CallId>,
    /// The same for sets that may be seen only as their changes.
    doubtful: HashMap<GroupId, CallSortKey>,
    dropped: usize,
}

impl GroupSurvey {
    /// Learns of a call, which the filter took or not.
    pub fn tell(&mut self, call: &CallHistory, seen: CallVisibility, is_taken: bool) {
        let group = own_group(call);
        if let (Some(set), false) = (call.set, call.is_set()) {
            match seen {
                CallVisibility::Yes => self.shown.insert(set),
                CallVisibility::No | CallVisibility::AsItsChanges => self.hidden.insert(set),
            };
        }
        if seen == CallVisibility::No {
            return;
        }
        if let (Some(set), Some(proposal)) = (call.set, proposal(call)) {
            self.same
                .insert(GroupId::Set(set), GroupId::Proposal(proposal));
        }
        self.tell_set(call, group);
        if is_taken {
            let groups = match seen {
                CallVisibility::AsItsChanges => &mut self.doubtful,
                CallVisibility::Yes | CallVisibility::No => &mut self.taken,
            };
            let newest = groups.entry(group).or_insert_with(|| sort_key(call));
            *newest = sort_key(call).max(*newest);
            if groups.len() > MOST_GROUPS {
                self.dropped = self.dropped.saturating_add(drop_oldest(groups));
            }
        }
    }

    /// A set that was shown, or about which a person was asked, and the set that spent this
    /// approval are one group.
    fn tell_set(&mut self, call: &CallHistory, group: GroupId) {
        let GroupId::Set(written) = group else {
            return;
        };
        let spent = call.records.iter().filter_map(|record| record.confirms);
        let shown = spent
            .map(ApprovalId::call)
            .filter(|shown| *shown != written);
        self.same
            .extend(shown.map(|shown| (GroupId::Set(shown), group)));
    }

    /// The group of a call.
    pub fn group_of(&self, call: &CallHistory) -> GroupId {
        self.resolved(own_group(call))
    }

    /// The group that an id stands for.
    pub fn resolved(&self, mut group: GroupId) -> GroupId {
        // A preview is of a set, which is of a proposal.
        for _ in 0..3 {
            match self.same.get(&group) {
                Some(larger) => group = *larger,
                None => break,
            }
        }
        group
    }

    /// True if all of a set may be seen, as far as its changes tell.
    pub(super) fn is_whole(&self, set: CallId) -> bool {
        !self.hidden.contains(&set)
    }

    /// True if a call may be seen, now that all calls are known.
    pub(super) fn admits(&self, call: &CallHistory, seen: CallVisibility) -> bool {
        match seen {
            CallVisibility::Yes => true,
            CallVisibility::No => false,
            CallVisibility::AsItsChanges => self.admits_doubtful(own_group(call)),
        }
    }

    fn admits_doubtful(&self, group: GroupId) -> bool {
        // The changes may be those of the write that a preview showed.
        let mut at = group;
        for _ in 0..4 {
            if let GroupId::Set(set) = at
                && self.shown.contains(&set)
            {
                return self.is_whole(set);
            }
            match self.same.get(&at) {
                Some(next) => at = *next,
                None => return false,
            }
        }
        false
    }

    /// The newest groups begun before a call, and how many older ones there are.
    pub(super) fn newest(
        &self,
        before: Option<CallSortKey>,
        room: usize,
    ) -> (BTreeSet<(CallSortKey, GroupId)>, usize) {
        let mut keys: HashMap<GroupId, CallSortKey> = HashMap::new();
        let admitted = self.doubtful.iter();
        let admitted = admitted.filter(|(group, _)| self.admits_doubtful(**group));
        for (group, newest) in self.taken.iter().chain(admitted) {
            let of = keys.entry(self.resolved(*group)).or_insert(*newest);
            *of = (*newest).max(*of);
        }
        let all = keys.into_iter().map(|(group, newest)| (newest, group));
        let mut all: Vec<_> = all
            .filter(|(newest, _)| before.is_none_or(|before| *newest < before))
            .collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        let older = all.len().saturating_sub(room).saturating_add(self.dropped);
        all.truncate(room);
        (all.into_iter().collect(), older)
    }
}

/// Drops the older half; how many those are.
fn drop_oldest(groups: &mut HashMap<GroupId, CallSortKey>) -> usize {
    let mut keys: Vec<CallSortKey> = groups.values().copied().collect();
    keys.sort_unstable();
    let Some(middle) = keys.get(keys.len() / 2).copied() else {
        return 0;
    };
    let before = groups.len();
    groups.retain(|_, newest| *newest >= middle);
    before - groups.len()
}

/// The group of a call, as far as the call alone tells.
pub(super) fn own_group(call: &CallHistory) -> GroupId {
    match (proposal(call), call.set) {
        (Some(proposal), _) => GroupId::Proposal(proposal),
        (None, Some(set)) => GroupId::Set(set),
        (None, None) => GroupId::Call(call.call),
    }
}

fn proposal(call: &CallHistory) -> Option<ProposalId> {
    call.latest(|record| record.proposal.as_deref()?.parse().ok())
}
