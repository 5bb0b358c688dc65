//! Checks that each number given to a run has its run.

use super::super::AuditResult;
use super::super::run::clock;
use super::super::run::numbers::{self, Counted, Gaps, number_of};
use super::{Checking, MISSING_RUN, RunFile, runs};

impl<P> Checking<P> {
    /// The numbers that were given and that no run has.
    pub(super) fn numbers(&mut self, runs: &[RunFile], counted: Counted) -> AuditResult<()> {
        // A run is counted before its first record, but the first one may have begun since the count was read.
        let is_numbered = |run: &RunFile| run.length > 0 && number_of(run.name()).is_some();
        let is_uncounted = match counted {
            Counted::Last(_) => false,
            Counted::Unreadable => true,
            Counted::Nothing => {
                runs.iter().any(is_numbered)
                    && numbers::counted(&*self.place.store)? == Counted::Nothing
            }
        };
        if is_uncounted {
            let message = "the count of runs (runs.count) is missing or holds no number, though runs have numbers";
            self.wrong("no_count", "runs.count", message);
        }
        if !self.gaps(runs, counted).missing.is_empty() {
            // A purge may have gone on meanwhile.
            self.seen.read(&self::runs(&self.place)?)?;
            self.seen.heads.clear();
        }
        let gaps = self.gaps(runs, counted);
        self.checked.clock.extend(clock::between(runs));
        for (number, other, run) in gaps.doubled {
            let message = format!(
                "{run} has the number {number}, which is that of {other}: one of them was put there"
            );
            self.wrong("same_number", &run, message);
        }
        for (first, last) in gaps.missing {
            let which = if first == last {
                format!("run number {first} is missing")
            } else {
                format!("the runs number {first} to {last} are missing")
            };
            let message =
                format!("{which}: a number goes to a run that begins, and no purge names one");
            self.wrong("missing_numbers", "runs", message);
        }
        Ok(())
    }

    fn gaps(&self, runs: &[RunFile], counted: Counted) -> Gaps {
        let purged = self.seen.purged.keys().map(String::as_str);
        let missing = self.checked.wrong.iter();
        let missing = missing.filter(|wrong| wrong.kind == MISSING_RUN);
        let missing = missing.map(|wrong| wrong.file.as_str());
        numbers::gaps(runs, counted, purged.chain(missing))
    }
}
