//! Calls that belong together: a set of changes with its preview, its decision and its changes; a
//! proposal with what became of it. A list for people has one row for each group.

use std::collections::{BTreeSet, HashMap, HashSet};

use time::OffsetDateTime;

use super::super::documents::proposals::{is_making, is_making_of_other};
use super::super::run::reader::{runs, scan};
use super::super::{
    ApprovalId, AuditError, AuditEvent, AuditLog, CallFilter, CallHistory, CallId, CallOutcome,
    Exclusions, ProposalId, Record,
};
use super::spent_approval::SpendingCalls;

/// The most groups that are told apart; of more the oldest are only counted.
const MOST_GROUPS: usize = 100_000;
/// The most calls of a group beside its changes.
const MOST_CALLS: usize = 50;

/// The identity of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GroupId {
    /// A call of its own.
    Call(CallId),
    /// A set of changes.
    Set(CallId),
    /// A proposal.
    Proposal(ProposalId),
}

/// A reader's access to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallVisibility {
    /// They may.
    Yes,
    /// They may not.
    No,
    /// It is a set that names no page itself: they may if they may see all of its changes.
    AsItsChanges,
}

/// Limits of the groups that are returned.
#[derive(Debug, Clone, Copy)]
pub struct GroupLimits {
    /// The most groups.
    pub groups: usize,
    /// The most changes of a set; all are counted.
    pub changes: usize,
}

/// Calls that belong together.
#[derive(Debug, Clone, Default)]
pub struct CallGroup {
    /// Its calls, the newest first, without the changes of a set.
    pub calls: Vec<CallHistory>,
    /// The changes of a set in the order in which they were sent, as far as there was room.
    pub changes: Vec<CallHistory>,
    /// Number of changes.
    pub of_changes: usize,
    /// The lines that they add and remove, all of them together.
    pub lines: (u64, u64),
}

/// The changes of a proposed set that a person left out, as far as a group's record names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutOfGroup {
    /// The number of changes left out.
    pub count: usize,
    /// The number of changes proposed.
    pub of: usize,
    /// The records of making those that are named, in order.
    pub records: Vec<Record>,
}

impl CallGroup {
    /// The call that tells what became of it: the newest that wrote or rejected, else the newest.
    #[must_use]
    pub fn head(&self) -> Option<&CallHistory> {
        let decides = |call: &&CallHistory| {
            call.outcome().is_some()
                || matches!(call.ending(), CallOutcome::Rejected | CallOutcome::Open)
        };
        self.calls
            .iter()
            .find(decides)
            .or_else(|| self.calls.first())
            .or_else(|| self.changes.first())
    }

    /// The lines that its changes add and remove: those that were sent, else those that were
    /// proposed, else those of its one call.
    #[must_use]
    pub fn lines(&self) -> (u64, u64) {
        if self.of_changes > 0 {
            return self.lines;
        }
        let head = self.head();
        let is_shown =
            |record: &&Record| record.event == AuditEvent::Preview && !is_making_of_other(record);
        let shown = { self.calls.iter().flat_map(|call| &call.records) }.find(is_shown);
        let shown = shown.filter(|_| head.is_none_or(|head| head.outcome().is_none()));
        let last = || head.and_then(|call| call.records.last());
        shown
            .or_else(last)
            .map_or((0, 0), |record| add((0, 0), record))
    }

    /// Finds the changes of the proposed set that a person left out.
    #[must_use]
    pub fn left_out(&self) -> Option<LeftOutOfGroup> {
        let records = self.calls.iter().flat_map(|call| &call.records);
        let mut reasons = records
            .filter(|record| {
                record.decision.as_deref() == Some("applied") || record.outcome.is_some()
            })
            .filter_map(|record| record.reason.as_deref());
        let (omitted, count) = reasons
            .find_map(|reason| Some((Exclusions::read(reason)?, Exclusions::count_of(reason)?)))?;
        let making = self.making();
        let named = omitted.numbers().iter();
        let records = named.filter_map(|number| making.get(*number).map(|one| (*one).clone()));
        Some(LeftOutOfGroup {
            count,
            of: omitted.of_all(),
            records: records.collect(),
        })
    }

    /// The records of the making of a proposal's changes, in their order: the first change's is the
    /// last of them.
    fn making(&self) -> Vec<&Record> {
        let records = self.calls.iter().flat_map(|call| &call.records);
        let mut others = Vec::new();
        let mut first = None;
        for record in records {
            if is_making_of_other(record) {
                others.push(record);
            } else if is_making(record) {
                first = Some(record);
            }
        }
        others.sort_by_key(|record| record.seq);
        // Of a call with too many records the last ones are missing, and numbers mean nothing.
        first.map_or_else(Vec::new, |first| {
            std::iter::once(first).chain(others).collect()
        })
    }

    /// Leaves only these of its changes, with their lines.
    pub fn keep_changes(&mut self, changes: Vec<CallHistory>) {
        self.lines = changes.iter().fold((0, 0), add_call);
        (self.of_changes, self.changes) = (changes.len(), changes);
    }

    /// All its calls.
    pub fn all(&self) -> impl Iterator<Item = &CallHistory> {
        self.calls.iter().chain(&self.changes)
    }

    /// Time and id of its newest call.
    fn newest(&self) -> Option<(Option<OffsetDateTime>, CallId)> {
        self.all().map(key).max()
    }
}

/// Groups of calls, the newest first.
#[derive(Debug, Default)]
pub struct Groups {
    /// The groups.
    pub groups: Vec<CallGroup>,
    /// Number of older groups.
    pub older: usize,
    /// The call to go on from, where there are older ones.
    pub next: Option<CallId>,
    /// Number of lines of the log that cannot be read.
    pub unreadable: u64,
}

type GroupSortKey = (Option<OffsetDateTime>, CallId);

fn key(call: &CallHistory) -> GroupSortKey {
    (call.began(), call.call)
}

/// Facts about all calls, collected in one reading.
#[derive(Debug, Default)]
pub struct GroupSurvey {
    /// The groups with a call that was taken, and the newest such call.
    taken: HashMap<GroupId, GroupSortKey>,
    /// The group that another one is part of.
    same: HashMap<GroupId, GroupId>,
    /// Sets of which a change may be seen, and of which one may not.
    shown: HashSet<CallId>,
    hidden: HashSet<CallId>,
    /// The same for sets that may be seen only as their changes.
    doubtful: HashMap<GroupId, GroupSortKey>,
    dropped: usize,
}

impl GroupSurvey {
    /// Learns of a call, which the filter took or not.
    pub fn tell(&mut self, call: &CallHistory, seen: CallVisibility, is_taken: bool) {
        let group = own_group(call);
        if let (Some(set), false) = (call.set(), call.is_set()) {
            match seen {
                CallVisibility::Yes => self.shown.insert(set),
                CallVisibility::No | CallVisibility::AsItsChanges => self.hidden.insert(set),
            };
        }
        if seen == CallVisibility::No {
            return;
        }
        if let (Some(set), Some(proposal)) = (call.set(), proposal(call)) {
            self.same
                .insert(GroupId::Set(set), GroupId::Proposal(proposal));
        }
        self.tell_set(call, group);
        if is_taken {
            let groups = match seen {
                CallVisibility::AsItsChanges => &mut self.doubtful,
                CallVisibility::Yes | CallVisibility::No => &mut self.taken,
            };
            let newest = groups.entry(group).or_insert_with(|| key(call));
            *newest = key(call).max(*newest);
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
    #[must_use]
    pub fn group_of(&self, call: &CallHistory) -> GroupId {
        self.resolved(own_group(call))
    }

    /// The group that an id stands for.
    #[must_use]
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
    fn is_whole(&self, set: CallId) -> bool {
        !self.hidden.contains(&set)
    }

    /// True if a call may be seen, now that all calls are known.
    fn admits(&self, call: &CallHistory, seen: CallVisibility) -> bool {
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
    fn newest(
        &self,
        before: Option<GroupSortKey>,
        room: usize,
    ) -> (BTreeSet<(GroupSortKey, GroupId)>, usize) {
        let mut keys: HashMap<GroupId, GroupSortKey> = HashMap::new();
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
fn drop_oldest(groups: &mut HashMap<GroupId, GroupSortKey>) -> usize {
    let mut keys: Vec<GroupSortKey> = groups.values().copied().collect();
    keys.sort_unstable();
    let Some(middle) = keys.get(keys.len() / 2).copied() else {
        return 0;
    };
    let before = groups.len();
    groups.retain(|_, newest| *newest >= middle);
    before - groups.len()
}

fn add((added, removed): (u64, u64), record: &Record) -> (u64, u64) {
    (
        added.saturating_add(record.lines_added),
        removed.saturating_add(record.lines_removed),
    )
}

fn add_call(sum: (u64, u64), call: &CallHistory) -> (u64, u64) {
    call.records.last().map_or(sum, |record| add(sum, record))
}

fn own_group(call: &CallHistory) -> GroupId {
    match (proposal(call), call.set()) {
        (Some(proposal), _) => GroupId::Proposal(proposal),
        (None, Some(set)) => GroupId::Set(set),
        (None, None) => GroupId::Call(call.call),
    }
}

fn proposal(call: &CallHistory) -> Option<ProposalId> {
    call.latest(|record| record.proposal.as_deref()?.parse().ok())
}

/// The check of a reader's access to a call.
type Admits<'a> = &'a dyn Fn(&CallHistory) -> CallVisibility;

impl AuditLog {
    /// The newest groups with a call that a filter takes, begun before another call if one is given,
    /// as far as somebody may see them. `each` is told of every call that was taken. Reads the log
    /// twice, so that memory holds only what is given and a word for each group. Blocks.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub fn groups(
        &self,
        (filter, before): (&CallFilter, Option<&CallHistory>),
        admits: Admits<'_>,
        room: GroupLimits,
        mut each: impl FnMut(&CallHistory),
    ) -> Result<Groups, AuditError> {
        let mut survey = GroupSurvey::default();
        let unreadable = self.calls(|call| {
            let seen = admits(&call);
            let is_taken = seen != CallVisibility::No && filter.takes(&call);
            survey.tell(&call, seen, is_taken);
            if is_taken {
                each(&call);
            }
        })?;
        let (page, older) = survey.newest(before.map(key), room.groups);
        let mut gathered = Gathered::of(page.iter().map(|(_, group)| *group), room.changes);
        if !gathered.groups.is_empty() {
            self.calls(|call| {
                let seen = admits(&call);
                gathered.take(&survey, call, seen);
            })?;
        }
        let next = page.first().map(|((_, call), _)| *call);
        Ok(Groups {
            groups: gathered.in_order(),
            older,
            next: next.filter(|_| older > 0),
            unreadable,
        })
    }

    /// The group that an id stands for: a call's, a set's or a proposal's. Blocks.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub fn group(
        &self,
        named: &str,
        admits: Admits<'_>,
        changes: usize,
    ) -> Result<Option<CallGroup>, AuditError> {
        let mut survey = GroupSurvey::default();
        let mut found = None;
        self.calls(|call| {
            let seen = admits(&call);
            survey.tell(&call, seen, false);
            let set = call.set().map(|set| set.to_string());
            let proposal = call.latest(|record| record.proposal.as_deref());
            let is_it = call.call.to_string() == named
                || set.as_deref() == Some(named)
                || proposal == Some(named);
            if is_it && seen != CallVisibility::No {
                found = Some(own_group(&call));
            }
        })?;
        let Some(group) = found.map(|group| survey.resolved(group)) else {
            return Ok(None);
        };
        let mut gathered = Gathered::of(std::iter::once(group), changes);
        self.calls(|call| {
            let seen = admits(&call);
            gathered.take(&survey, call, seen);
        })?;
        let mut found = gathered.in_order().pop();
        if let Some(found) = &mut found {
            fill_spent(self, &mut found.calls)?;
        }
        Ok(found)
    }
}

/// Fills in which calls spent the approvals of these calls.
fn fill_spent(log: &AuditLog, calls: &mut [CallHistory]) -> Result<(), AuditError> {
    scan(&runs(&log.place())?, &["\"confirms\""], |told| {
        let Ok(record) = told.record else { return };
        for call in &mut *calls {
            let mut spent = SpendingCalls(std::mem::take(&mut call.spent_by));
            spent.read(call.call, &record);
            call.spent_by = spent.0;
        }
    })
}

/// Groups of calls that were read already, the newest first.
impl Groups {
    /// Makes groups of all of these calls.
    #[must_use]
    pub fn of(survey: &GroupSurvey, calls: Vec<CallHistory>) -> Vec<CallGroup> {
        let ids: Vec<GroupId> = calls.iter().map(|call| survey.group_of(call)).collect();
        let mut gathered = Gathered::of(ids.into_iter(), usize::MAX);
        for call in calls {
            gathered.take(survey, call, CallVisibility::Yes);
        }
        gathered.in_order()
    }
}

/// Groups that are being gathered.
struct Gathered {
    groups: HashMap<GroupId, CallGroup>,
    changes: usize,
}

impl Gathered {
    fn of(ids: impl Iterator<Item = GroupId>, changes: usize) -> Self {
        Self {
            groups: ids.map(|id| (id, CallGroup::default())).collect(),
            changes,
        }
    }

    fn take(&mut self, survey: &GroupSurvey, mut call: CallHistory, seen: CallVisibility) {
        let Some(group) = self.groups.get_mut(&survey.group_of(&call)) else {
            return;
        };
        if !survey.admits(&call, seen) {
            return;
        }
        let of_set = call.set().filter(|_| !call.is_set());
        if let Some(set) = of_set {
            if !survey.is_whole(set) {
                // What is said of the whole set may name pages that are not shown.
                call.records.iter_mut().for_each(forget_words);
            }
            group.of_changes += 1;
            group.lines = add_call(group.lines, &call);
            if group.changes.len() < self.changes {
                group.changes.push(call);
            }
        } else {
            group.calls.push(call);
            if group.calls.len() > MOST_CALLS {
                group.calls.sort_by_key(|call| std::cmp::Reverse(key(call)));
                group.calls.truncate(MOST_CALLS);
            }
        }
    }

    fn in_order(self) -> Vec<CallGroup> {
        let mut groups: Vec<CallGroup> = self.groups.into_values().collect();
        groups.retain(|group| group.head().is_some());
        for group in &mut groups {
            group.calls.sort_by_key(|call| std::cmp::Reverse(key(call)));
            group.changes.sort_by_key(key);
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.newest()));
        groups
    }
}

fn forget_words(record: &mut Record) {
    record.note = None;
    record.reason = None;
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;
    use time::{Duration, OffsetDateTime};

    use super::super::super::testing::Script;
    use super::super::super::{
        AuditEntry, AuditEvent, AuditLog, CallFilter, CallId, Client, Outcome,
    };
    use super::{CallVisibility, GroupId, GroupLimits, GroupSurvey};
    use crate::page::{Locale, PagePath};

    const ROOM: GroupLimits = GroupLimits {
        groups: 10,
        changes: 2,
    };

    fn call(number: u8) -> CallId {
        format!("{number:016x}").parse().unwrap()
    }

    fn entry(number: u8, event: AuditEvent, set: Option<u8>, path: Option<&str>) -> AuditEntry {
        AuditEntry {
            client: Some(Client {
                name: "agent".to_owned(),
                ..Client::default()
            }),
            tool: Some("wikijs_bulk_update_pages".to_owned()),
            set: set.map(call),
            confirms: set.filter(|set| *set == 2).map(|_| call(1).into()),
            locale: path.map(|_| Locale::as_stored("en")),
            path: path.map(PagePath::as_stored),
            outcome: (event == AuditEvent::Outcome).then_some(Outcome::Applied),
            ..AuditEntry::new(call(number), event)
        }
    }

    /// A set that is shown, sent with three changes and ended; and a single write after it.
    fn log(dir: &std::path::Path) -> AuditLog {
        let at = |second: i64| -> OffsetDateTime {
            datetime!(2030-01-02 09:00 UTC) + Duration::seconds(second)
        };
        let mut run = Script::begin(dir, at(0), Vec::new());
        run.entry(at(1), &entry(1, AuditEvent::Preview, Some(1), None));
        for (number, path) in [(3, "docs/a"), (4, "docs/b"), (5, "team/c")] {
            let time = at(i64::from(number));
            run.entry(
                time,
                &entry(number, AuditEvent::Attempt, Some(2), Some(path)),
            );
            run.entry(
                time,
                &entry(number, AuditEvent::Outcome, Some(2), Some(path)),
            );
        }
        run.entry(at(6), &entry(2, AuditEvent::Outcome, Some(2), None));
        run.entry(at(7), &entry(9, AuditEvent::Refusal, None, Some("docs/z")));
        run.close(at(8));
        AuditLog::new(dir, "docs")
    }

    #[test]
    fn a_set_with_its_preview_and_its_changes_is_one_group() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path());
        let all = |_: &super::CallHistory| CallVisibility::Yes;
        let mut taken = 0;
        let found = log
            .groups((&CallFilter::default(), None), &all, ROOM, |_| taken += 1)
            .unwrap();
        assert_eq!((found.groups.len(), found.older, taken), (2, 0, 6));
        let set = &found.groups[1];
        let calls: Vec<_> = set.calls.iter().map(|call| call.call).collect();
        assert_eq!(calls, [call(2), call(1)]);
        assert_eq!((set.changes.len(), set.of_changes), (2, 3));
        assert_eq!(set.head().unwrap().call, call(2));
        // One page after the other, each group once.
        let room = GroupLimits { groups: 1, ..ROOM };
        let first = log
            .groups((&CallFilter::default(), None), &all, room, |_| {})
            .unwrap();
        assert_eq!((first.older, first.next), (1, Some(call(9))));
        let before = first.groups[0].calls[0].clone();
        let second = log
            .groups((&CallFilter::default(), Some(&before)), &all, room, |_| {})
            .unwrap();
        assert_eq!(second.groups[0].head().unwrap().call, call(2));
        assert_eq!(second.next, None);
        let named = log.group("0000000000000004", &all, 9).unwrap().unwrap();
        assert_eq!(named.changes.len(), 3);
        assert!(log.group("00000000000000ff", &all, 9).unwrap().is_none());
    }

    #[test]
    fn a_set_of_which_a_change_may_not_be_seen_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path());
        let below = |prefix: &'static str| {
            move |call: &super::CallHistory| match call.place() {
                None => CallVisibility::AsItsChanges,
                Some(path) if path.as_str().starts_with(prefix) => CallVisibility::Yes,
                Some(_) => CallVisibility::No,
            }
        };
        let docs = below("docs");
        let found = log
            .groups((&CallFilter::default(), None), &docs, ROOM, |_| {})
            .unwrap();
        let set = &found.groups[1];
        assert!(set.calls.is_empty());
        let seen: Vec<_> = set.changes.iter().map(|one| one.call).collect();
        assert_eq!(seen, [call(3), call(4)]);
        assert_eq!(set.of_changes, 2);
        let everything = below("");
        let found = log
            .groups((&CallFilter::default(), None), &everything, ROOM, |_| {})
            .unwrap();
        assert_eq!(found.groups[1].calls.len(), 2);
        assert!(
            log.group("0000000000000005", &docs, 9).unwrap().is_none(),
            "what may not be seen is not there"
        );
    }

    #[test]
    fn a_set_is_of_one_group_with_the_preview_that_it_names_however_alike_others_are() {
        let dir = tempfile::tempdir().unwrap();
        let at = |second: i64| datetime!(2030-01-02 09:00 UTC) + Duration::seconds(second);
        let mut run = Script::begin(dir.path(), at(0), Vec::new());
        // The same client shows the same twice, and confirms the first.
        for number in [1, 7] {
            run.entry(
                at(1),
                &entry(number, AuditEvent::Preview, Some(number), None),
            );
        }
        run.entry(
            at(2),
            &entry(3, AuditEvent::Outcome, Some(2), Some("docs/a")),
        );
        run.entry(at(3), &entry(2, AuditEvent::Outcome, Some(2), None));
        run.close(at(8));
        let log = AuditLog::new(dir.path(), "docs");
        let sees = |call: &super::CallHistory| match call.place() {
            None => CallVisibility::AsItsChanges,
            Some(_) => CallVisibility::Yes,
        };
        let found = log.groups((&CallFilter::default(), None), &sees, ROOM, |_| {});
        let groups = found.unwrap().groups;
        assert_eq!(
            groups.len(),
            1,
            "nobody may see a preview that nothing confirmed"
        );
        let calls: Vec<_> = groups[0].calls.iter().map(|call| call.call).collect();
        assert_eq!(calls, [call(2), call(1)]);
        // Even without the end of the set, its changes name the preview.
        let mut survey = GroupSurvey::default();
        log.calls(|one| {
            if one.call != call(2) {
                survey.tell(&one, CallVisibility::Yes, true);
            }
        })
        .unwrap();
        let of_preview = survey.resolved(GroupId::Set(call(1)));
        assert_eq!(of_preview, GroupId::Set(call(2)));
        let of_other = survey.resolved(GroupId::Set(call(7)));
        assert_eq!(of_other, GroupId::Set(call(7)));
    }
}
