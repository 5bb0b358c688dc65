//! Sends a set of many changes, one after another: each takes its own turn, is checked again,
//! recorded and sent once. The first change that is not applied stops the set, and the applied ones
//! are taken back. After an unknown outcome nothing more is sent.
//!
//! A page that moves by a temporary place goes there right before another page needs its own, and
//! on to its new place in its turn.

use std::collections::HashMap;
use std::sync::Arc;

mod back;
mod ending;

use crate::audit::{AuditEntry, AuditResult, CallHistoryError, CallId, HeldProposal};
use crate::change::{Change, Operation};
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, Gate, Gated, MayGoBack, Permit, Refusal, TurnOf};
use crate::notice;
use crate::page::PagePlace;
use crate::wiki::{Sender, Wiki};

use super::check::{SetCheck, diff_of};
use super::lock::{self, WriteLock};
use super::send::{self, Steps, WriteJob, broke_off};
use crate::view::WriteTarget;
use crate::write::links::new_place;
use crate::write::shared::SharedSetAnswer;
use crate::write::source::{conflict, target};
use crate::write::undo::history_set::INTERRUPTED;
use crate::write::{
    Applied, EntryBuilder, Family, Notes, SetAnswer, SetMember, SetOutcome, WriteAnswer,
    WriteContext, drafts, record_or_log,
};
use ending::{SetEnd, add_new, failure_of};
use parking_lot::Mutex;

/// The record of it, in words.
const END: &str = "the end of a set";
/// The hint if a page is not as it was shown.
const NEXT: &str = "Look at details.changes. For a new preview, repeat the call that gave this one, without confirm.";

/// Sends a set in a task of its own, which continues when the client leaves. Answers as soon as the
/// set is done, at the latest after the time that a call may take.
///
/// # Errors
/// The server is ending; nothing is sent then.
pub(crate) async fn in_its_own_task(
    context: &Arc<WriteContext>,
    sender: &Arc<Sender>,
    permit: Permit,
    job: WriteJob,
) -> Gated<Result<WriteAnswer>> {
    let set = permit.set().clone();
    let permits = permit.split(CallId::new)?;
    let at_first = at_first(&context.wiki, &set, &permits, job.checked.notes);
    let progress: SharedSetAnswer = Arc::new(Mutex::new(at_first));
    let run = Run {
        context: Arc::clone(context),
        sender: Arc::clone(sender),
        record: job.record,
        progress: Arc::clone(&progress),
        family: job.family,
        overtaken: context.audit.overtaken.so_far(),
    };
    let session = run.record.session().clone();
    let work = async move {
        // Before it is sent: `last` means no older one while it is under way.
        let own_writes = &run.context.memory.own_writes;
        own_writes.note(run.record.session(), set.id()).await;
        let end = set.id().during(Box::pin(run.all(permits, &set))).await;
        run.end(end, job.proposal).await;
        if end == SetEnd::Applied {
            drafts::submitted(&run.context.audit, set.batch().draft).await;
        }
    };
    let task = send::spawned(&context.house.tasks, work)?;
    context.house.sets.begin(&session, &progress);
    match tokio::time::timeout(context.patience.answering, task).await {
        Ok(Err(_)) => Ok(Err(broke_off())),
        // If the set is still being sent, the answer gives its progress.
        Ok(Ok(())) | Err(_) => Ok(answer_of(&progress)),
    }
}

/// The answer for a set's present state.
pub(crate) fn answer_of(progress: &SharedSetAnswer) -> Result<WriteAnswer> {
    let answer = progress.lock().clone();
    match failure_of(&answer) {
        Some(failure) => Err(failure),
        None => Ok(WriteAnswer::Set(Box::new(answer))),
    }
}

fn at_first(wiki: &Wiki, set: &ChangeSet, permits: &[Permit], notes: Notes) -> SetAnswer {
    let member = |permit: &Permit| {
        let change = permit.change();
        SetMember {
            call: permit.set().id(),
            operation: change.operation(),
            target: WriteTarget::new(change.target(), wiki.url_of(change.target())),
            outcome: None,
            taken_back: None,
            failure: None,
            not_taken_back: None,
            stands_at: None,
            is_sent: false,
        }
    };
    SetAnswer {
        call: set.id(),
        outcome: SetOutcome::Applying,
        members: permits.iter().map(member).collect(),
        left_out: set.batch().left_out.clone(),
        links_left: set.links_left().cloned().collect(),
        notes,
    }
}

/// A set that is being sent.
struct Run {
    context: Arc<WriteContext>,
    sender: Arc<Sender>,
    record: EntryBuilder,
    progress: SharedSetAnswer,
    family: Option<Arc<dyn Family>>,
    /// The times that this server was overtaken before the set began.
    overtaken: u64,
}

/// The part of a change that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SentPart {
    /// All of it.
    Whole,
    /// Its page went to its temporary place.
    Aside,
    /// All of it but that.
    Rest,
}

/// A change, or a part of one, that may have to be taken back.
struct RollbackStep {
    /// Its place in the set.
    place: usize,
    part: SentPart,
    /// Its call.
    call: CallId,
    change: Arc<Change>,
    may_go_back: MayGoBack,
}

impl Run {
    /// Sends one change after another.
    async fn all(&self, permits: Vec<Permit>, set: &ChangeSet) -> SetEnd {
        let of = u32::try_from(permits.len()).unwrap_or(u32::MAX);
        let first = who_steps_aside(&permits);
        let mut permits: Vec<Option<Permit>> = permits.into_iter().map(Some).collect();
        let (mut done, mut has_failed) = (Vec::new(), false);
        for (place, first) in first.into_iter().enumerate() {
            // Nobody is left at a temporary place because the server ends.
            if self.context.house.tasks.is_closed() && first_aside(&done).is_none() {
                return SetEnd::Interrupted;
            }
            for at in first.into_iter().chain([place]) {
                let is_aside = at != place;
                let Some(slot) = permits.get_mut(at) else {
                    continue;
                };
                let Some(permit) = slot.take() else { continue };
                let (now, rest) = permit.aside_first(is_aside);
                *slot = rest;
                let Err(failure) = Box::pin(self.part(at, now, is_aside, &mut done)).await else {
                    continue;
                };
                let code = failure.code;
                self.note(at, |member| member.has_failed(failure));
                let goes_on =
                    set.batch().goes_on && may_go_on(code) && first_aside(&done).is_none();
                if !goes_on {
                    return Box::pin(self.after_failure(code, set, done)).await;
                }
                has_failed = true;
            }
            let count = u32::try_from(place.saturating_add(1)).unwrap_or(of);
            notice::Progress { done: count, of }.tell();
        }
        match (has_failed, done.is_empty()) {
            (false, _) => SetEnd::Applied,
            (true, false) => SetEnd::Kept,
            (true, true) => SetEnd::TakenBack,
        }
    }

    /// Sends a change, or its first step.
    async fn part(
        &self,
        place: usize,
        permit: Permit,
        is_aside: bool,
        done: &mut Vec<RollbackStep>,
    ) -> Result<()> {
        let part = match (is_aside, permit.change().aside()) {
            (true, _) => SentPart::Aside,
            (false, Some(_)) => SentPart::Rest,
            (false, None) => SentPart::Whole,
        };
        let own = RollbackStep {
            place,
            part,
            call: permit.set().id(),
            change: permit.shared_change(),
            may_go_back: permit.may_go_back(),
        };
        match self.one(permit).await {
            Ok(applied) => {
                if is_aside {
                    self.note(place, |member| member.is_aside(&applied));
                } else {
                    self.note(place, |member| member.is_applied(&applied));
                }
                self.warn(applied.notes);
                done.push(own);
                Ok(())
            }
            Err(failure) => {
                // A partly applied change is taken back as well.
                if failure.code == Code::PartlyApplied {
                    done.push(own);
                }
                Err(failure)
            }
        }
    }

    async fn after_failure(
        &self,
        code: Code,
        set: &ChangeSet,
        mut done: Vec<RollbackStep>,
    ) -> SetEnd {
        let keeps = set.batch().keeps_on_failure || set.batch().goes_on;
        match SetEnd::after(code, keeps, !done.is_empty()) {
            None if self.is_overtaken() => SetEnd::Interrupted,
            None => Box::pin(self.take_back(done)).await,
            // Pages that were to change places are all where they were, or where they go.
            Some(SetEnd::Kept) => match first_aside(&done) {
                None => SetEnd::Kept,
                Some(first) => {
                    let circle = done.split_off(first);
                    match (Box::pin(self.take_back(circle)).await, done.is_empty()) {
                        (SetEnd::TakenBack, false) => SetEnd::Kept,
                        (end, _) => end,
                    }
                }
            },
            Some(end) => end,
        }
    }

    /// Sends one change in its turn, if its page is still as it was shown.
    async fn one(&self, permit: Permit) -> Result<Applied> {
        let mut record = self.record.of_member(permit.set());
        // The turn is given back with this change, so that other writers get theirs.
        let (permit, turn) = match self.in_turn(permit).await {
            Ok(permit) => permit,
            Err(refusal) => return Err(self.refused(&record, refusal).await),
        };
        self.send(permit, &mut record, &turn).await
    }

    async fn in_turn(&self, permit: Permit) -> Gated<(Permit, WriteLock)> {
        let turn = self.turn(permit.set().turn()).await?;
        // The caller may have ended since the change before.
        if let Some(family) = &self.family {
            family.take(0).await.map_err(Refusal::by(Gate::Rules))?;
        }
        let permit = self.looked_at_again(permit).await;
        Ok((permit.map_err(Refusal::by(Gate::Change))?, turn))
    }

    /// The turn of one change of the set; released before the next change.
    async fn turn(&self, turn: TurnOf) -> AuditResult<WriteLock> {
        let audit = &self.context.audit;
        let mut lock = lock::take(audit, turn, self.context.patience.queueing).await?;
        lock.0.push(audit.overtaken.lease_since(self.overtaken));
        Ok(lock)
    }

    /// True if this server held still for so long that others may have settled the set, and people decided
    /// on it anew: nothing more of it is sent then, and nothing taken back.
    fn is_overtaken(&self) -> bool {
        self.context.audit.overtaken.so_far() != self.overtaken
    }

    /// Sends one change. If the session knew its page, it knows the page as this change leaves it.
    async fn send(
        &self,
        permit: Permit,
        record: &mut EntryBuilder,
        turn: &WriteLock,
    ) -> Result<Applied> {
        let (context, change) = (&*self.context, permit.change());
        let knowing = context.knowing(record.session(), change, false).await;
        let checked = SetCheck {
            lines: diff_of(change).1,
            ..SetCheck::default()
        };
        record.counted(checked.lines);
        let steps = Steps::new(context, &self.sender, turn);
        Box::pin(steps.carry_out(permit, record, checked, knowing)).await
    }

    async fn looked_at_again(&self, permit: Permit) -> Result<Permit> {
        let wiki = &self.context.wiki;
        let change = permit.change();
        let is_aside = permit.upcoming() == Some(Operation::Aside);
        let first = change.to_aside().filter(|_| is_aside);
        new_place::look(wiki, first.as_ref().unwrap_or(change)).await?;
        let Some(before) = change.before().filter(|page| page.is_there()) else {
            return Ok(permit);
        };
        let read = target::as_now(wiki, before, change.lost()).await?;
        permit
            .on(read.page)
            .map_err(|states| conflict::since_shown(states.0, states.1, NEXT))
    }

    async fn refused(&self, record: &EntryBuilder, refusal: Refusal) -> Failure {
        self.context.record_refusal(record, &refusal).await;
        refusal.failure
    }

    fn note(&self, place: usize, note: impl FnOnce(&mut SetMember)) {
        let mut progress = self.progress.lock();
        if let Some(member) = progress.members.get_mut(place) {
            note(member);
        }
    }

    fn warn(&self, notes: Notes) {
        let mut progress = self.progress.lock();
        add_new(&mut progress.notes.warnings, notes.warnings);
    }

    /// Records the end of the set, unless another server did, or may have; what its run left open is settled
    /// first.
    async fn record_unless_ended(&self, end: AuditEntry) {
        let (context, audit) = (&self.context, &self.context.audit);
        context.recovered().await;
        // Who settles what is open has this, too.
        let turn = audit.lock_recovery(context.patience.queueing).await;
        let calls = match &turn {
            Ok(_) => audit.calls.story(&self.record.call().into()).await,
            Err(error) => Err(error.clone().into()),
        };
        let is_open = match calls {
            Err(CallHistoryError::NotFound) => true,
            Ok(story) => story.outcome.is_none(),
            Err(error) => {
                tracing::warn!(%error, "whether the end of a set is on record is not known");
                false
            }
        };
        if is_open {
            record_or_log(audit, end, END).await;
        }
    }

    /// Notes how the set ended: on record, under the call of the set, then for callers who ask.
    async fn end(&self, end: SetEnd, held: Option<HeldProposal>) {
        let is_any_there = {
            let progress = self.progress.lock();
            progress.members.iter().any(SetMember::is_there)
        };
        let (outcome, on_record) = end.outcomes(is_any_there);
        let mut entry = self.record.end_of_set(on_record);
        if end == SetEnd::Interrupted {
            entry.decision = Some(INTERRUPTED.to_owned());
        }
        if self.is_overtaken() {
            self.record_unless_ended(entry).await;
        } else {
            record_or_log(&self.context.audit, entry, END).await;
        }
        if let (SetEnd::Applied, Some(held)) = (end, held) {
            self.context.proposals.applied(held, &self.record).await;
        }
        // The call may have been answered long ago, but later searches must see the set.
        self.context.write_ended().await;
        let mut progress = self.progress.lock();
        progress.outcome = outcome;
    }
}

/// For each change the later one whose page has to step aside for it.
fn who_steps_aside(permits: &[Permit]) -> Vec<Option<usize>> {
    let left = |permit: &Permit| {
        let change = permit.change();
        change.aside().and_then(|_| change.place_left())
    };
    let left: HashMap<PagePlace, usize> = permits
        .iter()
        .enumerate()
        .filter_map(|(at, permit)| Some((left(permit)?, at)))
        .collect();
    let first = permits.iter().enumerate().map(|(place, permit)| {
        let at = left.get(&permit.change().place_taken()?)?;
        Some(*at).filter(|at| *at > place)
    });
    first.collect()
}

/// The first page that went to its temporary place and has not gone on.
fn first_aside(done: &[RollbackStep]) -> Option<usize> {
    let goes_on = |one: &RollbackStep| {
        let rest = |other: &RollbackStep| other.place == one.place && other.part == SentPart::Rest;
        done.iter().any(rest)
    };
    done.iter()
        .position(|one| one.part == SentPart::Aside && !goes_on(one))
}

/// True if a change failed because it does not fit its page any more, so that others may fit
/// theirs.
const fn may_go_on(code: Code) -> bool {
    matches!(
        code,
        Code::EditConflict
            | Code::PageExists
            | Code::PageNotFound
            | Code::PermissionDenied
            | Code::FieldUnreadable
            | Code::NotApplied
            | Code::PartlyApplied
    )
}

#[cfg(test)]
mod tests;
