//! Sends a set of many changes, one after another: each takes its own turn, is checked again,
//! recorded and sent once. The first change that is not applied stops the set, and the applied ones
//! are taken back. After an unknown outcome nothing more is sent.

use std::sync::{Arc, Mutex, PoisonError};

use tracing::Instrument as _;

mod ending;

use crate::audit::{CallId, HeldProposal};
use crate::error::{Code, Failure};
use crate::gates::{ChangeSet, Gate, MayGoBack, Permit, Refusal, SessionId, SetChange};
use crate::notice;
use crate::page::LineCounts;
use crate::wiki::Sender;

use super::check::{Checked, diff_of};
use super::send::{self, broke_off};
use super::show::{links_left, target};
use super::turn;
use crate::write::answer::{Answer, Applied, Notes, SetAnswer, SetMember, SetOutcome};
use crate::write::desk::Desk;
use crate::write::docket::{Docket, unavailable};
use crate::write::family::Family;
use crate::write::past_set::INTERRUPTED;
use crate::write::sets::Progress;
use crate::write::source::thing;
use crate::write::source::undo::{self, Undo};
use crate::write::{new_place, source::conflict};
use ending::{End, add_new, failure_of};

/// The hint if a page is not as it was shown.
const NEXT: &str = "Look at details.changes. For a new preview, repeat the call that gave this one, without confirm.";

/// What a set needs beside its permit.
pub(in crate::write) struct Job {
    pub(in crate::write) docket: Docket,
    pub(in crate::write) checked: Checked,
    /// The proposal that it applies.
    pub(in crate::write) held: Option<HeldProposal>,
    /// What holds for its caller as a delegate.
    pub(in crate::write) family: Option<Arc<dyn Family>>,
}

/// Sends a set in a task of its own, which continues when the client leaves. Answers as soon as the
/// set is done, at the latest after the time that a call may take.
///
/// # Errors
/// The server is ending; nothing is sent then.
pub(in crate::write) async fn in_its_own_task(
    desk: &Arc<Desk>,
    sender: &Arc<Sender>,
    session: &SessionId,
    permit: Permit,
    Job {
        docket,
        checked,
        held,
        family,
    }: Job,
) -> Result<Result<Answer, Failure>, Refusal> {
    let tasks = &desk.house.tasks;
    let awaited = tasks.token();
    if tasks.is_closed() {
        return Err(Refusal::at(Gate::Record, send::is_ending()));
    }
    let at_record = |error| Refusal::at(Gate::Record, unavailable(&error));
    let set = permit.set().clone();
    let permits = permit.split(CallId::new).map_err(at_record)?;
    let progress: Progress = Arc::new(Mutex::new(at_first(desk, &docket, &set, &permits, checked)));
    desk.house.sets.begin(session, &progress);
    let run = Run {
        desk: Arc::clone(desk),
        sender: Arc::clone(sender),
        docket,
        progress: Arc::clone(&progress),
        session: session.clone(),
        family,
    };
    let (keeps, draft) = (set.keeps_on_failure(), set.draft());
    let call = set.id();
    let work = async move {
        let end = call.during(Box::pin(run.all(permits, keeps))).await;
        run.end(end, held).await;
        if end == End::Applied {
            run.desk.submitted(draft).await;
        }
        drop(awaited);
    };
    let task = tasks.spawn(notice::told_as_here(work.in_current_span()));
    match tokio::time::timeout(desk.patience.answering, task).await {
        Ok(Err(_)) => Ok(Err(broke_off())),
        // If the set is still being sent, the answer gives its progress.
        Ok(Ok(())) | Err(_) => Ok(answer_of(&progress)),
    }
}

/// The answer for a set's present state.
pub(in crate::write) fn answer_of(progress: &Progress) -> Result<Answer, Failure> {
    let answer = progress
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    match failure_of(&answer) {
        Some(failure) => Err(failure),
        None => Ok(Answer::Set(Box::new(answer))),
    }
}

fn at_first(
    desk: &Desk,
    docket: &Docket,
    set: &ChangeSet,
    permits: &[Permit],
    checked: Checked,
) -> SetAnswer {
    let member = |permit: &Permit| {
        let change = permit.change();
        SetMember {
            call: permit.set().id(),
            operation: change.operation(),
            target: target(&desk.wiki, change.target()),
            changed: change.fields(),
            outcome: None,
            taken_back: None,
            failure: None,
        }
    };
    SetAnswer {
        call: docket.call(),
        outcome: SetOutcome::Applying,
        members: permits.iter().map(member).collect(),
        left_out: set.left_out().to_vec(),
        links_left: links_left(set),
        notes: checked.notes,
    }
}

/// A set that is being sent.
struct Run {
    desk: Arc<Desk>,
    sender: Arc<Sender>,
    docket: Docket,
    progress: Progress,
    session: SessionId,
    family: Option<Arc<dyn Family>>,
}

/// A change that may have to be taken back.
struct Done {
    /// Its place in the set.
    place: usize,
    /// Its call.
    call: CallId,
    may_go_back: MayGoBack,
}

impl Run {
    /// Sends one change after another.
    async fn all(&self, permits: Vec<Permit>, keeps: bool) -> End {
        let of = u32::try_from(permits.len()).unwrap_or(u32::MAX);
        let mut done = Vec::new();
        for (place, permit) in permits.into_iter().enumerate() {
            if self.desk.house.tasks.is_closed() {
                return End::Interrupted;
            }
            let (call, may_go_back) = (permit.set().id(), permit.may_go_back());
            let back = Done {
                place,
                call,
                may_go_back,
            };
            match self.one(permit).await {
                Ok(applied) => {
                    self.note(place, |member| member.is_applied(&applied));
                    let sent = u32::try_from(place.saturating_add(1)).unwrap_or(of);
                    notice::Progress { done: sent, of }.tell();
                    self.warn(applied.notes);
                    done.push(back);
                }
                Err(failure) => {
                    let code = failure.code;
                    self.note(place, |member| member.has_failed(failure));
                    // A partly applied change is taken back as well.
                    if code == Code::PartlyApplied {
                        done.push(back);
                    }
                    return match End::after(code, keeps, !done.is_empty()) {
                        Some(end) => end,
                        None => self.take_back(done).await,
                    };
                }
            }
        }
        End::Applied
    }

    /// Sends one change in its turn, if its page is still as it was shown.
    async fn one(&self, permit: Permit) -> Result<Applied, Failure> {
        let desk = &self.desk;
        let change = permit.change();
        let mut docket = self.docket.of_member(permit.set());
        // The turn is given back with this change, so that other writers get theirs.
        let _turn = match turn::of_change(desk, change).await {
            Ok(turn) => turn,
            Err(refusal) => return Err(self.refused(&docket, refusal).await),
        };
        // The caller may have ended since the change before.
        if let Some(family) = &self.family
            && let Err(failure) = family.take(0).await
        {
            let refusal = Refusal::at(Gate::Rules, failure);
            return Err(self.refused(&docket, refusal).await);
        }
        let permit = match self.looked_at_again(permit).await {
            Ok(permit) => permit,
            Err(failure) => {
                let refusal = Refusal::at(Gate::Change, failure);
                return Err(self.refused(&docket, refusal).await);
            }
        };
        self.send(permit, &mut docket).await
    }

    /// Sends one change. If the session knew its page, it knows the page as this change leaves it.
    async fn send(&self, permit: Permit, docket: &mut Docket) -> Result<Applied, Failure> {
        let (desk, change) = (&self.desk, permit.change());
        let knowing = desk.memory.knowing(&self.session, change, false);
        let checked = plain(diff_of(change).1);
        docket.counted(checked.lines);
        let sent = send::carry_out(desk, &self.sender, permit, docket, checked, knowing);
        Box::pin(sent).await
    }

    async fn looked_at_again(&self, permit: Permit) -> Result<Permit, Failure> {
        let wiki = &self.desk.wiki;
        new_place::look(wiki, permit.change()).await?;
        let change = permit.change();
        let Some(before) = change.before().filter(|page| page.is_there()) else {
            return Ok(permit);
        };
        let read = thing::as_now(wiki, before, change.lost()).await?;
        permit
            .on(read.page)
            .map_err(|states| conflict::since_shown(states.0, states.1, NEXT))
    }

    /// Takes the applied changes back, the last first.
    async fn take_back(&self, done: Vec<Done>) -> End {
        let mut end = End::TakenBack;
        for done in done.into_iter().rev() {
            let place = done.place;
            let back = if self.desk.house.tasks.is_closed() {
                Err(send::is_ending())
            } else {
                self.back(done).await
            };
            match back {
                Ok(by) => self.note(place, |member| member.taken_back = Some(by)),
                Err(failure) => {
                    tracing::error!(%failure, "a change of a set could not be taken back");
                    self.note(place, |member| member.stays(failure));
                    end = End::NotAllTakenBack;
                }
            }
        }
        end
    }

    /// Takes one change back, on record; returns the call that did.
    async fn back(&self, done: Done) -> Result<CallId, Failure> {
        let desk = &self.desk;
        let id = CallId::new().map_err(|error| unavailable(&error))?;
        let undo = Undo {
            call: done.call.into(),
            session: None,
            owner: None,
            force: false,
            path: None,
        };
        let unturned = undo::change(desk, &undo).await?;
        let turn = turn::of_change(desk, &unturned.change).await;
        let _turn = turn.map_err(|refusal| refusal.failure)?;
        // Read again: the writer before us may have changed the page since it was read.
        let back: SetChange = undo::change(desk, &undo).await?;
        new_place::look(&desk.wiki, &back.change).await?;
        let permit = done.may_go_back.permit(id, back).ok_or_else(broke_off)?;
        let mut docket = self.docket.of_member(permit.set());
        self.send(permit, &mut docket).await.map(|_| id)
    }

    async fn refused(&self, docket: &Docket, refusal: Refusal) -> Failure {
        self.desk.record_refusal(docket, &refusal).await;
        refusal.failure
    }

    fn note(&self, place: usize, note: impl FnOnce(&mut SetMember)) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(member) = progress.members.get_mut(place) {
            note(member);
        }
    }

    fn warn(&self, notes: Notes) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        add_new(&mut progress.notes.warnings, notes.warnings);
    }

    /// Notes how the set ended: on record, under the call of the set, then for callers who ask.
    async fn end(&self, end: End, held: Option<HeldProposal>) {
        let is_any_there = {
            let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            progress.members.iter().any(SetMember::is_there)
        };
        let (outcome, on_record) = end.outcomes(is_any_there);
        let mut entry = self.docket.end_of_set(on_record);
        if end == End::Interrupted {
            entry.decision = Some(INTERRUPTED.to_owned());
        }
        if let Err(error) = self.desk.audit.record(entry).await {
            let call = self.docket.call();
            tracing::error!(%error, %call, "the end of a set could not be put on record");
        }
        if let (End::Applied, Some(held)) = (end, held) {
            self.desk.proposals.applied(held, &self.docket).await;
        }
        // The call may have been answered long ago, but later searches must see the set.
        let is_there = end.leaves_what_was_asked_for();
        let (session, call) = (&self.session, self.docket.call());
        self.desk.wrote(session, call, is_there).await;
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.outcome = outcome;
    }
}

fn plain(lines: LineCounts) -> Checked {
    Checked {
        notes: Notes::default(),
        each: Vec::new(),
        diff: String::new(),
        lines,
        facts: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
