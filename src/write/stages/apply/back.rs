//! Takes the changes of a set back, the last first, and looks at their pages once more.
//!
//! Each goes back the way it came: a page that went by a temporary place goes back by it.

use std::collections::HashMap;

use super::{RollbackStep, Run, SentPart, SetEnd};
use crate::audit::{CallId, Outcome};
use crate::change::Warning;
use crate::error::{Failure, Result};
use crate::gates::{Gate, Permit, Refusal, TurnOf};
use crate::write::links::new_place;
use crate::write::source::undo::{self, UndoRequest, UndoneChangeState};
use crate::write::stages::send::{self, broke_off};
use crate::write::{WriteLock, record_or_log};

/// Undos whose pages stand at their temporary places, by the changes that they take back.
type Halfway = HashMap<usize, Permit>;

impl Run {
    /// Takes changes back, the last first.
    pub(super) async fn take_back(&self, done: Vec<RollbackStep>) -> SetEnd {
        let (mut halfway, mut backs) = (Halfway::new(), Vec::new());
        let mut end = SetEnd::TakenBack;
        for done in done.into_iter().rev() {
            if self.is_overtaken() {
                return SetEnd::Interrupted;
            }
            let (place, call) = (done.place, done.call);
            match Box::pin(self.back(done, &mut halfway)).await {
                Ok(Some(by)) => {
                    self.note(place, |member| member.is_taken_back(by));
                    backs.push((place, call, by));
                }
                Ok(None) => {}
                Err(failure) => {
                    tracing::error!(%failure, "a change of a set could not be taken back");
                    self.note(place, |member| member.stays(&failure));
                    end = SetEnd::NotAllTakenBack;
                }
            }
        }
        for (place, call, by) in backs {
            if self.is_there_again(place, call, by).await {
                end = SetEnd::NotAllTakenBack;
            }
        }
        end
    }

    /// Takes one change back, on record; returns the call that did, unless its page is halfway.
    async fn back(&self, done: RollbackStep, halfway: &mut Halfway) -> Result<Option<CallId>> {
        let (place, part, undone) = (done.place, done.part, done.call);
        let prepared = match (part, halfway.remove(&place)) {
            (SentPart::Aside, Some(permit)) => Box::pin(self.home(permit)).await,
            _ => Box::pin(self.undo_of(done)).await,
        };
        let (permit, turn) = match prepared {
            Ok(prepared) => prepared,
            Err(failure) => return Err(self.not_taken_back(undone, place, failure).await),
        };
        let (permit, rest) = permit.aside_first(part == SentPart::Rest);
        let id = permit.set().id();
        let mut record = self.record.of_member(permit.set());
        let is_empty = permit.change().is_empty();
        let applied = self.send(permit, &mut record, &turn).await?;
        self.warn(applied.notes);
        if is_empty {
            // Nothing of the change was left to take back.
            let entry = record.outcome(Outcome::Unchanged, None, None);
            record_or_log(&self.context.audit, entry, "an outcome").await;
        }
        match rest {
            Some(rest) => {
                halfway.insert(place, rest);
                Ok(None)
            }
            None => Ok(Some(id)),
        }
    }

    /// The permit of a change's undo, from its page as it is, in its turn.
    async fn undo_of(&self, done: RollbackStep) -> Result<(Permit, WriteLock)> {
        let context = &*self.context;
        if context.house.tasks.is_closed() && done.part == SentPart::Whole {
            return Err(send::is_ending());
        }
        let id = CallId::new()?;
        let undo = UndoRequest::of(done.call);
        // Records that there was no room for may be settled by now.
        context.recovered().await;
        let unturned = undo::change(&context.past, &undo).await?;
        let turn = self.turn(TurnOf::of(&unturned.change)).await?;
        // Read again: the writer before us may have changed the page since it was read.
        let mut back = undo::change(&context.past, &undo).await?;
        if done.part == SentPart::Rest {
            back.change = back.change.by_way_of(done.change.aside().cloned());
        }
        let first = back.change.to_aside();
        new_place::look(&context.wiki, first.as_ref().unwrap_or(&back.change)).await?;
        let permit = done.may_go_back.permit(id, back).ok_or_else(broke_off)?;
        Ok((permit, turn))
    }

    /// The permit of an undo whose page is halfway, in its turn.
    async fn home(&self, permit: Permit) -> Result<(Permit, WriteLock)> {
        let turn = self.turn(permit.set().turn()).await?;
        Ok((self.looked_at_again(permit).await?, turn))
    }

    /// Puts on record that a change could not be taken back, or is there again.
    async fn not_taken_back(&self, undone: CallId, place: usize, failure: Failure) -> Failure {
        let target = {
            let progress = self.progress.lock();
            let member = progress.members.get(place);
            member.map(|member| member.target.clone())
        };
        match CallId::new() {
            Ok(id) => {
                let record = self.record.not_taken_back(id, undone, target.as_ref());
                self.refused(&record, Refusal::at(Gate::Change, failure))
                    .await
            }
            Err(_) => failure,
        }
    }

    /// Looks at a page once more: somebody else's write may have brought back what was taken back,
    /// from a reading of before.
    async fn is_there_again(&self, place: usize, call: CallId, by: CallId) -> bool {
        match undo::standing(&self.context.past, call, by).await {
            Ok(UndoneChangeState::Gone) => false,
            Ok(UndoneChangeState::There { version }) => {
                let failure = self
                    .not_taken_back(call, place, undo::there_again(version))
                    .await;
                tracing::error!(%failure, "a change of a set is there again");
                self.note(place, |member| member.stays(&failure));
                true
            }
            Ok(UndoneChangeState::Changed) => {
                self.warn_of(place, "changed_since", "was written by somebody else since its change was taken back; read it before you go on.");
                false
            }
            Err(failure) => {
                tracing::warn!(%failure, "a page could not be looked at after its change was taken back");
                self.warn_of(
                    place,
                    "not_looked_at_again",
                    "could not be read once more after its change was taken back.",
                );
                false
            }
        }
    }

    fn warn_of(&self, place: usize, code: &'static str, what: &str) {
        let id = {
            let progress = self.progress.lock();
            progress.members.get(place).and_then(|one| one.target.id)
        };
        let page = id.map_or_else(|| "a page".to_owned(), |id| format!("page {id}"));
        let mut progress = self.progress.lock();
        let warning = Warning::new(code, format!("{page} {what}"));
        super::add_new(&mut progress.notes.warnings, vec![warning]);
    }
}
