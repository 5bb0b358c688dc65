//! Calls that belong together: a set of changes with its preview, its decision and its changes; a
//! proposal with what became of it. A list for people has one row for each group.

use std::collections::{HashMap, HashSet};

use super::super::documents::proposals::{is_making, is_making_of_other};
use super::super::{
    ApprovalId, AuditEvent, AuditResult, CallFilter, CallHistory, CallId, CallOutcome, CallReader,
    Exclusions, ProposalId, Record, Subject, blocking, runs, scan,
};
use super::call_history::{CallSortKey, sort_key};
use super::spent_approval::SpendingCalls;
use survey::own_group;

mod survey;

pub use survey::GroupSurvey;

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
    pub fn head(&self) -> Option<&CallHistory> {
        let decides = |call: &&CallHistory| {
            call.outcome.is_some()
                || matches!(
                    call.ending,
                    CallOutcome::Rejected | CallOutcome::Withdrawn | CallOutcome::Open
                )
        };
        self.calls
            .iter()
            .find(decides)
            .or_else(|| self.calls.first())
            .or_else(|| self.changes.first())
    }

    /// The lines that its changes add and remove: those that were sent, else those that were
    /// proposed, else those of its one call.
    pub fn lines(&self) -> (u64, u64) {
        if self.of_changes > 0 {
            return self.lines;
        }
        let head = self.head();
        let is_shown =
            |record: &&Record| record.event == AuditEvent::Preview && !is_making_of_other(record);
        let shown = { self.calls.iter().flat_map(|call| &call.records) }.find(is_shown);
        let shown = shown.filter(|_| head.is_none_or(|head| head.outcome.is_none()));
        let last = || head.and_then(|call| call.records.last());
        shown
            .or_else(last)
            .map_or((0, 0), |record| add((0, 0), record))
    }

    /// Finds the changes of the proposed set that a person left out.
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
    fn newest(&self) -> Option<CallSortKey> {
        self.all().map(sort_key).max()
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

fn add((added, removed): (u64, u64), record: &Record) -> (u64, u64) {
    (
        added.saturating_add(record.lines_added),
        removed.saturating_add(record.lines_removed),
    )
}

fn add_call(sum: (u64, u64), call: &CallHistory) -> (u64, u64) {
    call.records.last().map_or(sum, |record| add(sum, record))
}

/// The check of a reader's access to a call.
type Admits<'a> = &'a dyn Fn(&CallHistory) -> CallVisibility;

impl CallReader {
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
    ) -> AuditResult<Groups> {
        let mut survey = GroupSurvey::default();
        let unreadable = self.each(|call| {
            let seen = admits(&call);
            let is_taken = seen != CallVisibility::No && filter.takes(&call);
            survey.tell(&call, seen, is_taken);
            if is_taken {
                each(&call);
            }
        })?;
        let (page, older) = survey.newest(before.map(sort_key), room.groups);
        let mut gathered = Gathered::new(page.iter().map(|(_, group)| *group), room.changes);
        if !gathered.groups.is_empty() {
            self.each(|call| {
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

    /// The group that a call belongs to, as its story found it.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub async fn group_about(&self, call: &CallHistory) -> AuditResult<CallGroup> {
        let (reader, call) = (self.clone(), call.clone());
        blocking(move || reader.group_around(call)).await
    }

    fn group_around(&self, call: CallHistory) -> AuditResult<CallGroup> {
        let id = call.call;
        let mut all = HashMap::from([(id, call)]);
        let mut known = GroupNames::default();
        // What is joined may name more: a decision its proposal, a write the preview that it spent.
        for _ in 0..3 {
            let names = GroupNames::of(all.values());
            if names == known {
                break;
            }
            self.about(&names.subjects(), |call| {
                if names.has(&call) {
                    all.entry(call.call).or_insert(call);
                }
            })?;
            known = names;
        }
        let mut survey = GroupSurvey::default();
        for call in all.values() {
            survey.tell(call, CallVisibility::Yes, true);
        }
        let groups = Groups::collect(&survey, all.into_values().collect());
        let mut groups = groups.into_iter();
        let own = groups.find(|group| group.all().any(|call| call.call == id));
        Ok(own.unwrap_or_default())
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
    ) -> AuditResult<Option<CallGroup>> {
        let mut survey = GroupSurvey::default();
        let mut found = None;
        self.each(|call| {
            let seen = admits(&call);
            survey.tell(&call, seen, false);
            let set = call.set.map(|set| set.to_string());
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
        let mut gathered = Gathered::new(std::iter::once(group), changes);
        self.each(|call| {
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

/// The sets and proposals that calls are of, and the calls whose approval they spent or gave.
#[derive(Default, PartialEq, Eq)]
struct GroupNames {
    sets: HashSet<CallId>,
    proposals: HashSet<String>,
    calls: HashSet<CallId>,
}

impl GroupNames {
    fn of<'a>(all: impl Iterator<Item = &'a CallHistory>) -> Self {
        let mut names = Self::default();
        for call in all {
            names.sets.extend(call.set);
            let proposal = call.latest(|record| record.proposal.clone());
            names.proposals.extend(proposal);
            let spent = call.records.iter().filter_map(|record| record.confirms);
            names.calls.extend(spent.map(ApprovalId::call));
            names.calls.extend(&call.spent_by);
        }
        names
    }

    fn subjects(&self) -> Vec<Subject<'_>> {
        let sets = self.sets.iter().copied().map(Subject::Set);
        let proposals = self.proposals.iter().map(|id| Subject::Proposal(id));
        let calls = self.calls.iter().copied().map(Subject::Call);
        sets.chain(proposals).chain(calls).collect()
    }

    /// True if one of them names a call, or what it is of.
    fn has(&self, call: &CallHistory) -> bool {
        let proposal = call.latest(|record| record.proposal.as_ref());
        call.set.is_some_and(|set| self.sets.contains(&set))
            || proposal.is_some_and(|id| self.proposals.contains(id))
            || self.sets.contains(&call.call)
            || self.calls.contains(&call.call)
    }
}

/// Fills in which calls spent the approvals of these calls.
fn fill_spent(reader: &CallReader, calls: &mut [CallHistory]) -> AuditResult<()> {
    scan(&runs(&reader.place)?, &["\"confirms\""], |record, _| {
        for call in &mut *calls {
            let mut spent = SpendingCalls(std::mem::take(&mut call.spent_by));
            spent.read(call.call, &record);
            call.spent_by = spent.0;
        }
    })?;
    Ok(())
}

/// Groups of calls that were read already, the newest first.
impl Groups {
    /// Makes groups of all of these calls.
    pub fn collect(survey: &GroupSurvey, calls: Vec<CallHistory>) -> Vec<CallGroup> {
        let ids: Vec<GroupId> = calls.iter().map(|call| survey.group_of(call)).collect();
        let mut gathered = Gathered::new(ids.into_iter(), usize::MAX);
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
    fn new(ids: impl Iterator<Item = GroupId>, changes: usize) -> Self {
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
        let of_set = call.set.filter(|_| !call.is_set());
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
                group
                    .calls
                    .sort_by_key(|call| std::cmp::Reverse(sort_key(call)));
                group.calls.truncate(MOST_CALLS);
            }
        }
    }

    fn in_order(self) -> Vec<CallGroup> {
        let mut groups: Vec<CallGroup> = self.groups.into_values().collect();
        groups.retain(|group| group.head().is_some());
        for group in &mut groups {
            group
                .calls
                .sort_by_key(|call| std::cmp::Reverse(sort_key(call)));
            group.changes.sort_by_key(sort_key);
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
mod tests;
