//! Checks all that is kept beside the log, tidies what a killed process left, and backs it up.

use std::path::Path;
use std::time::Duration;

use super::documents::{drafts, proposals};
use super::run::indexed::remove_if_wrong;
use super::{Against, AuditError, AuditResult, LogUpkeep, Pause, blocking};
use crate::store::{self, CopyError, CopyFault, LeaseName, StoreCopied, StoreError};

/// The longest wait for a purge that is under way.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// The findings of a check of the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreCheck {
    /// Repairs, a sentence each.
    pub repaired: Vec<String>,
    /// Faults, a sentence each.
    pub broken: Vec<String>,
    /// Number of runs.
    pub runs: usize,
    /// Number of kept states that are what their names say.
    pub states: u64,
    /// Number of proposals, drafts and approvals that can be read.
    pub documents: usize,
}

impl LogUpkeep {
    /// Checks log, kept states, proposals, drafts, pause and index; removes what killed processes left,
    /// and an index that does not fit. Blocks.
    ///
    /// # Errors
    /// If something cannot be read at all.
    pub fn check_store(&self, progress: impl FnMut(usize, usize)) -> AuditResult<StoreCheck> {
        let place = self.place.clone();
        let mut check = StoreCheck::default();
        place.store.sweep_leases()?;
        for file in place.store.tidy()? {
            let what = format!("{file}, which a killed process left half-written, was removed");
            check.repaired.push(what);
        }
        if remove_if_wrong(&place)? {
            let what =
                "the index did not fit the runs and was removed; it is made anew when it is needed";
            check.repaired.push(what.to_owned());
        }
        let was = self.pauses.look();
        let pause = self.pause_in_force()?;
        if let (None, Some(Pause::Told(_))) = (was, &pause) {
            let what = "PAUSED.json was deleted while the pause was in force; it is restored from the record, and all writes are refused until `wikijs-gate resume`";
            check.repaired.push(what.to_owned());
        }
        for (id, read) in proposals::files(&place)? {
            check.count(&format!("proposal {id}"), read.map(drop));
        }
        for (name, read) in drafts::all(&place)? {
            check.count(&format!("draft {name}"), read);
        }
        if let Some(Pause::Unreadable(why)) = pause {
            let what =
                format!("PAUSED.json {why}: all writes are refused until `wikijs-gate resume`");
            check.broken.push(what);
        }
        let verified = self.verify(&Against::default(), progress)?;
        check.runs = verified.runs.len();
        check.states = verified.pages;
        check
            .broken
            .extend(verified.wrong.iter().map(ToString::to_string));
        Ok(check)
    }

    /// Copies all that is kept of this wiki into an empty or missing directory, while servers go on.
    ///
    /// # Errors
    /// [`AuditError::NotEmpty`], [`AuditError::NoCopy`]; if something cannot be read or written.
    pub async fn back_up(&self, to: &Path) -> AuditResult<StoreCopied> {
        let name = LeaseName::PURGE;
        let held = self.leases.alone(&name, LONGEST_WAIT).await?;
        let (place, to) = (self.place.clone(), to.to_owned());
        blocking(move || {
            let mirror = place.mirror();
            match store::back_up((&*place.store, &*mirror), &to, place.name()) {
                Err(CopyError::To(StoreError::Unfit(store::NOT_EMPTY))) => {
                    Err(AuditError::NotEmpty)
                }
                Err(CopyError::To(error)) => Err(AuditError::NoCopy(error)),
                Err(CopyError::From(error)) => Err(error.into()),
                // A purge may have begun meanwhile.
                Ok(_) if !held.is_sure() => Err(AuditError::Overtaken),
                Ok(done) => Ok(done),
            }
        })
        .await
    }

    /// Copies all that is kept of this wiki, its mirror too, into another store, or goes on with a copy that
    /// broke off; nothing may write to either meanwhile. Blocks; `progress` is told the bytes so far.
    ///
    /// # Errors
    /// [`CopyFault`].
    pub fn copy_to(&self, to: &Self, progress: impl FnMut(u64)) -> Result<StoreCopied, CopyFault> {
        let (own, other) = (self.place.mirror(), to.place.mirror());
        let to = (&*to.place.store, &*other);
        store::copy((&*self.place.store, &*own), to, progress)
    }
}

impl StoreCheck {
    /// Counts a document that can be read; one that cannot is broken.
    pub fn count(&mut self, what: &str, read: AuditResult<()>) {
        match read {
            Ok(()) => self.documents = self.documents.saturating_add(1),
            // The check of the record names it.
            Err(AuditError::BadProposal) => {}
            Err(error) => self.broken.push(format!("{what}: {error}")),
        }
    }
}
