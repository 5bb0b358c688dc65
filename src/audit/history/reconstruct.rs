//! Reconstructs the change of a call from the kept states.

use super::super::{
    AuditError, AuditEvent, AuditLayout, AuditResult, CallHistory, KeptState, WriteReader,
    kept_states, runs, scan,
};
use crate::change::Change;

/// The change of a call, as far as it is still kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReconstructedChange {
    /// The page before and after: as it was found then or, if nothing was applied, as it was to
    /// become.
    Change(Box<Change>),
    /// The call kept no states: nothing was about to be sent.
    NeverKept,
    /// A recorded purge removed a state.
    Purged(KeptState),
    /// A state is missing, and no recorded purge removed it.
    Missing(KeptState),
    /// A state is not what its name says.
    Damaged(KeptState),
}

impl WriteReader {
    /// Reconstructs the change of a call. Blocks.
    ///
    /// # Errors
    /// If the disk cannot be read.
    pub fn change_of(&self, call: &CallHistory) -> AuditResult<ReconstructedChange> {
        match self.kept_change_of(call)? {
            ReconstructedChange::Missing(name) if is_purged(&self.place, name)? => {
                Ok(ReconstructedChange::Purged(name))
            }
            rebuilt => Ok(rebuilt),
        }
    }

    /// The same, but every state that is not there is missing: why is not looked for, which would
    /// read all of the log. Blocks.
    ///
    /// # Errors
    /// If the disk cannot be read.
    pub fn kept_change_of(&self, call: &CallHistory) -> AuditResult<ReconstructedChange> {
        let mut states = [None, None];
        for (state, name) in states.iter_mut().zip(call.states_around()) {
            let Some(name) = name else { continue };
            match kept_states::kept(&*self.place.store, name) {
                Ok(read) => *state = Some(read),
                Err(AuditError::Missing) => return Ok(ReconstructedChange::Missing(name)),
                Err(AuditError::Damaged) => return Ok(ReconstructedChange::Damaged(name)),
                Err(error) => return Err(error),
            }
        }
        let [before, after] = states;
        let change = Change::of_states(before, after);
        Ok(change.map_or(ReconstructedChange::NeverKept, |change| {
            ReconstructedChange::Change(Box::new(change))
        }))
    }

    /// True if a recorded purge removed a kept state; reads all of the log.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn is_purged(&self, name: KeptState) -> AuditResult<bool> {
        self.place.on(move |place| is_purged(place, name)).await
    }
}

fn is_purged(place: &AuditLayout, name: KeptState) -> AuditResult<bool> {
    let file = format!("{name}.json.gz");
    let mut is_purged = false;
    scan(&runs(place)?, &[&file], |record, _| {
        let mut removed = record.removed.iter().flatten();
        is_purged |= record.event == AuditEvent::Purge && removed.any(|head| head.file == file);
    })?;
    Ok(is_purged)
}
