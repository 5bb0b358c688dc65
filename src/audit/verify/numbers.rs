//! Checks that each number given to a run has its run.

use super::super::run::clock;
use super::super::run::numbers::{self, Counted, Gaps, number_of};
use super::super::{AuditError, LogFinding};
use super::{Checking, RunFile, runs};

impl<P> Checking<P> {
    /// The numbers that were given and that no run has.
    pub(super) fn numbers(&mut self, runs: &[RunFile], counted: Counted) -> Result<(), AuditError> {
        let has_numbers = runs.iter().any(|run| number_of(run.name()).is_some());
        if counted == Counted::Unreadable || counted == Counted::Nothing && has_numbers {
            self.checked.wrong.push(LogFinding::NoCount);
        }
        if !self.gaps(runs, counted).missing.is_empty() {
            // A purge may have gone on meanwhile.
            self.seen.read(&self::runs(&self.place)?)?;
            self.seen.heads.clear();
        }
        let gaps = self.gaps(runs, counted);
        self.checked.clock.extend(clock::between(runs));
        let doubled = gaps.doubled.into_iter();
        self.checked
            .wrong
            .extend(doubled.map(|(number, other, run)| LogFinding::SameNumber {
                run,
                other,
                number,
            }));
        let missing = gaps.missing.into_iter();
        self.checked
            .wrong
            .extend(missing.map(|(first, last)| LogFinding::MissingNumbers { first, last }));
        Ok(())
    }

    fn gaps(&self, runs: &[RunFile], counted: Counted) -> Gaps {
        let purged = self.seen.purged.keys().map(String::as_str);
        let told = self.checked.wrong.iter().filter_map(|wrong| match wrong {
            LogFinding::MissingRun { run, .. } => Some(run.as_str()),
            _ => None,
        });
        numbers::gaps(runs, counted, purged.chain(told))
    }
}
