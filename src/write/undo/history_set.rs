//! A set of changes by its records: its outcome in another run or another process.

use std::collections::{HashMap, HashSet};

use crate::audit::{AuditEvent, CallHistory, CallId, Client, Exclusions, Outcome, Record};
use crate::change::{Operation, Warning};
use crate::error::{Code, Failure, Result};
use crate::gates::LeftOut;
use crate::page::{Locale, PagePath};
use crate::view::WriteTarget;

use super::super::source::proposal::set::LEFT_OUT;
use crate::write::{NotTakenBack, Notes, SetAnswer, SetMember, SetOutcome, WriteHistory};

/// The word on record if the server ended before all of a set was sent.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// The changes of a set that were attempted, in order.
#[derive(Debug)]
pub(crate) struct AttemptedChanges {
    changes: Vec<CallHistory>,
    /// The changes that were taken back when the set failed, each with the call that did it.
    taken_back: HashMap<CallId, CallId>,
    /// The reasons why changes are there although the set was taken back.
    not_taken_back: HashMap<CallId, NotTakenBack>,
}

impl AttemptedChanges {
    /// Sorts the calls of a set.
    pub(crate) fn of(calls: Vec<CallHistory>) -> Self {
        let own: HashSet<CallId> = calls.iter().map(|call| call.call).collect();
        let (mut changes, mut taken_back) = (Vec::new(), HashMap::new());
        let mut not_taken_back = HashMap::new();
        for call in calls {
            let undoes = call.records.iter().find_map(|record| record.undoes);
            match undoes.filter(|undone| own.contains(undone)) {
                Some(undone) if is_back(&call) => {
                    taken_back.insert(undone, call.call);
                }
                Some(undone) => {
                    not_taken_back.extend(why(&call).map(|why| (undone, why)));
                }
                None => changes.push(call),
            }
        }
        Self {
            changes,
            taken_back,
            not_taken_back,
        }
    }

    /// True if an attempt has no outcome yet.
    pub(crate) fn is_open(&self) -> bool {
        self.changes.iter().any(|call| call.is_open)
    }

    /// True if a change is on the wiki, or may be, that was not taken back.
    pub(crate) fn is_anything_left(&self) -> bool {
        let may_be = |call: &CallHistory| call.is_open || call.outcome == Some(Outcome::Unknown);
        let mut left = self.changes.iter().filter(|call| call.undone_by.is_none());
        left.any(|call| self.is_there(call) || may_be(call))
    }

    fn is_there(&self, call: &CallHistory) -> bool {
        let is_applied = call.outcome.is_some_and(Outcome::took_effect);
        let is_back = self.taken_back.contains_key(&call.call);
        is_applied && (!is_back || self.not_taken_back.contains_key(&call.call))
    }

    /// The pages that stand at their temporary places, with the call that took each there.
    pub(crate) fn aside(&self) -> impl Iterator<Item = (&CallHistory, &PagePath)> {
        let there = self.changes.iter().filter(|call| self.is_there(call));
        there.filter_map(|call| Some((call, stands_at(call)?)))
    }

    /// The number of its changes on the wiki.
    pub(crate) fn applied(&self) -> usize {
        self.changes
            .iter()
            .filter(|call| self.is_there(call))
            .count()
    }

    /// The outcome of a set that was cut short. Changes that were never attempted are not on
    /// record, so it never counts as wholly applied.
    pub(crate) fn outcome(&self) -> Outcome {
        let is_unknown = |call: &CallHistory| call.outcome == Some(Outcome::Unknown);
        if self.changes.iter().any(is_unknown) {
            Outcome::Unknown
        } else if self.applied() > 0 {
            Outcome::PartlyApplied
        } else {
            Outcome::NotApplied
        }
    }
}

impl WriteHistory {
    /// A set of this client, or of anybody if no client is given, by its records, with its calls; a call of
    /// one change is a set of one. `None` if there is no such set.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`.
    pub(crate) async fn change_set(
        &self,
        id: CallId,
        owner: Option<&Client>,
    ) -> Result<Option<(SetAnswer, Vec<CallHistory>)>> {
        let calls = self.calls_of_set(id, owner).await?;
        let story = match self.story(&id.into(), owner).await {
            Ok(story) => Some(story),
            Err(failure) if failure.code == Code::NothingToUndo => None,
            Err(failure) => return Err(failure),
        };
        let (calls, story, is_set) = match story {
            story if !calls.is_empty() => (calls, story, true),
            Some(story) if story.sent.is_some() || story.outcome.is_some() => {
                (vec![story], None, false)
            }
            _ => return Ok(None),
        };
        for call in &calls {
            if !self.admits(call).await? {
                return Ok(None);
            }
        }
        let end = story.and_then(|story| story.records.into_iter().rev().find(is_end));
        let left_out = match &end {
            Some(end) => self.left_out(end).await,
            None => Vec::new(),
        };
        let outcome = match (&end, &*calls) {
            (Some(end), _) => outcome_of(end),
            (None, [one]) if !is_set && !one.is_open => SetOutcome::of(one.outcome),
            (None, _) => self.without_end(id).await?,
        };
        let sent = AttemptedChanges::of(calls);
        let mut warnings: Vec<Warning> = self.undone(&sent).await?.into_iter().collect();
        if is_set && matches!(outcome, SetOutcome::Applying | SetOutcome::Interrupted) {
            let message = "only the changes that were begun are on record; the set may have more.";
            warnings.push(Warning::new("not_begun", message));
        }
        let members = sent.changes.iter().map(|call| self.member(call, &sent));
        let notes = Notes {
            warnings,
            ..Notes::default()
        };
        let answer = SetAnswer {
            call: id,
            outcome,
            members: members.collect(),
            left_out,
            links_left: Vec::new(),
            notes,
        };
        Ok(Some((answer, sent.changes)))
    }

    /// The warning that changes of a set, or all of them, were taken back after its end.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`.
    pub(crate) async fn undone_since(
        &self,
        id: CallId,
        owner: Option<&Client>,
    ) -> Result<Option<Warning>> {
        let calls = self.calls_of_set(id, owner).await?;
        self.undone(&AttemptedChanges::of(calls)).await
    }

    async fn undone(&self, sent: &AttemptedChanges) -> Result<Option<Warning>> {
        let there = sent.changes.iter().filter(|call| sent.is_there(call));
        let undone: Vec<CallId> = there.filter_map(|call| call.undone_by).collect();
        let Some(by) = undone.last() else {
            return Ok(None);
        };
        let (undone, all) = (undone.len(), sent.applied());
        let undo = self.story(&(*by).into(), None).await?;
        let by = undo.latest(|record| record.set).unwrap_or(*by);
        let message = format!("{undone} of {all} changes were taken back since, by {by}.");
        Ok(Some(Warning::new("undone_since", message)))
    }

    /// The changes of a proposed set that a person left out when it was applied.
    async fn left_out(&self, end: &Record) -> Vec<LeftOut> {
        let omitted = end.reason.as_deref().and_then(Exclusions::read);
        let id = end.proposal.as_deref().and_then(|id| id.parse().ok());
        let (Some(omitted), Some(id)) = (omitted, id) else {
            return Vec::new();
        };
        // What is purged is not told any more.
        let Ok(proposal) = self.audit.proposals.get(id).await else {
            return Vec::new();
        };
        if !self.admits_proposal(&proposal).await.unwrap_or(false) {
            return Vec::new();
        }
        let changes = proposal.changes().enumerate();
        changes
            .filter(|(number, _)| omitted.numbers().contains(number))
            .map(|(_, one)| LeftOut::at(one.page, Some(one.path.clone()), LEFT_OUT))
            .collect()
    }

    /// The outcome of a call without an end: a living server is sending it, or it was cut short.
    async fn without_end(&self, id: CallId) -> Result<SetOutcome> {
        let open = self.audit.unsettled.left_open(None, None).await?;
        let sets = open.sets.iter().map(|open| open.set);
        let attempts = open.attempts.iter().map(|open| open.entry.call);
        let is_cut = sets.chain(attempts).any(|open| open == id);
        Ok(if is_cut {
            SetOutcome::Interrupted
        } else {
            SetOutcome::Applying
        })
    }

    /// True if a living server is still making the changes of a set.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`.
    pub(crate) async fn is_being_applied(&self, set: CallId) -> Result<bool> {
        let story = self.story(&set.into(), None).await;
        if story.is_ok_and(|story| story.records.iter().any(is_end)) {
            return Ok(false);
        }
        // A call of one change is no set.
        let is_set = !self.audit.calls.of_set(set).await?.is_empty();
        Ok(is_set && self.without_end(set).await? == SetOutcome::Applying)
    }

    fn member(&self, call: &CallHistory, sent: &AttemptedChanges) -> SetMember {
        let records = || call.records.iter().rev();
        let locale = records().find_map(|record| record.locale.clone());
        let locale = locale.unwrap_or_else(|| Locale::as_stored(""));
        let path = call.place().unwrap_or_else(|| PagePath::as_stored(""));
        SetMember {
            call: call.call,
            operation: call.operation.unwrap_or(Operation::Update),
            target: WriteTarget {
                id: call.id,
                ..WriteTarget::at(&locale, &path, self.wiki.page_url(&locale, &path))
            },
            outcome: call.outcome,
            taken_back: sent.taken_back.get(&call.call).copied(),
            failure: failure(call),
            not_taken_back: sent.not_taken_back.get(&call.call).cloned(),
            stands_at: stands_at(call)
                .filter(|_| sent.is_there(call))
                .map(|path| path.as_str().to_owned()),
            is_sent: call.is_open,
        }
    }
}

/// True if an undo took its change back, or found it gone.
fn is_back(undo: &CallHistory) -> bool {
    matches!(undo.outcome, Some(Outcome::Applied | Outcome::Unchanged))
}

/// The code and the reason on record of a call: why an undo did not take its change back, or why that
/// is there again.
fn why(undo: &CallHistory) -> Option<NotTakenBack> {
    let mut records = undo.records.iter().rev();
    records.find_map(|record| {
        Some(NotTakenBack {
            code: record.code.clone()?,
            message: record.reason.clone()?,
        })
    })
}

/// The failure of a change that was not applied, or not in full.
fn failure(call: &CallHistory) -> Option<Failure> {
    let is_done = matches!(call.outcome, Some(Outcome::Applied | Outcome::Unchanged));
    let why = why(call).filter(|_| !is_done)?;
    let code = Code::ALL.iter().find(|code| code.as_str() == why.code)?;
    Some(Failure::new(*code, why.message))
}

/// The temporary path at which a call left its page.
pub(crate) fn stands_at(call: &CallHistory) -> Option<&PagePath> {
    let last = call.last_applied()?;
    let is_aside = last.step.as_deref() == Some(Operation::Aside.as_str());
    last.aside.as_ref().filter(|_| is_aside)
}

fn is_end(record: &Record) -> bool {
    record.event == AuditEvent::Outcome && record.set == record.call
}

fn outcome_of(end: &Record) -> SetOutcome {
    if end.decision.as_deref() == Some(INTERRUPTED) && end.outcome != Some(Outcome::Unknown) {
        return SetOutcome::Interrupted;
    }
    SetOutcome::of(end.outcome)
}
