//! The numbers of runs: 1, 2, 3, …, in the order in which they begin.
//!
//! A run has its number in its file's name and in its first record, so that the heads that later
//! runs, purges and lists of heads hold tell it too.
//!
//! The count of runs holds the last number that was given. A lease is held while one is given, so that no
//! two servers give the same. It is what shows that the newest runs are gone, which no later run
//! saw. Whoever rewrites the log can rewrite it as well.

use std::collections::BTreeMap;

use super::super::{AuditResult, FileHead, RunFile};
use crate::store::Store;

impl FileHead {
    /// The number of the run, if it has one.
    pub fn number(&self) -> Option<u64> {
        number_of(&self.file)
    }
}

/// The number in the name of a run's file: `<UTC start>-<number>-<run>.jsonl`.
pub(in crate::audit) fn number_of(file: &str) -> Option<u64> {
    let stem = file.strip_suffix(".jsonl")?;
    let (_, rest) = stem.split_once('-')?;
    let (number, _) = rest.split_once('-')?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|_| is_number)
}

/// The content of the count of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::audit) enum Counted {
    /// There is none, or nothing in it yet.
    Nothing,
    /// The last number that was given.
    Last(u64),
    /// It holds no number.
    Unreadable,
}

/// Reads the count, as it is at this moment.
pub(in crate::audit) fn counted(store: &dyn Store) -> AuditResult<Counted> {
    let text = store.run_count()?.unwrap_or_default();
    Ok(match text.trim_end() {
        "" => Counted::Nothing,
        number => number.parse().map_or(Counted::Unreadable, Counted::Last),
    })
}

/// The number of the next run: one more than was ever given, as far as the count and the runs that are
/// there tell. Only who has the lease to begin a run may give it.
pub(in crate::audit) fn next(store: &dyn Store) -> AuditResult<u64> {
    let last = match counted(store)? {
        Counted::Last(last) => last,
        Counted::Nothing => 0,
        Counted::Unreadable => {
            tracing::error!("audit: the count of runs holds no number");
            0
        }
    };
    let runs = store.runs()?;
    let numbers = runs.iter().filter_map(|run| number_of(&run.name));
    Ok(numbers.fold(last, u64::max).saturating_add(1))
}

/// The count that says that this number was given, of the same length each time.
pub(in crate::audit) fn count_of(number: u64) -> String {
    format!("{number:020}\n")
}

/// Faults in the numbers of the existing runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::audit) struct Gaps {
    /// Runs that have the number of another one: number and both files.
    pub(in crate::audit) doubled: Vec<(u64, String, String)>,
    /// The first and the last of numbers in a row that no run has.
    pub(in crate::audit) missing: Vec<(u64, u64)>,
}

/// Holds the numbers that are there against the last one that was given. Those below the lowest
/// one that is there are left to what later runs saw: all that tells of them may be purged.
/// `explained` are the files whose absence a purge explains, or was told already.
pub(in crate::audit) fn gaps<'a>(
    runs: &[RunFile],
    counted: Counted,
    explained: impl Iterator<Item = &'a str>,
) -> Gaps {
    let mut gaps = Gaps::default();
    let mut there: BTreeMap<u64, &str> = BTreeMap::new();
    for run in runs {
        let Some(number) = number_of(run.name()) else {
            continue;
        };
        if let Some(other) = there.insert(number, run.name()) {
            gaps.doubled
                .push((number, other.to_owned(), run.name().to_owned()));
        }
    }
    let given = match counted {
        Counted::Last(last) => last,
        Counted::Nothing | Counted::Unreadable => 0,
    };
    // Where no run is left, only the last one is surely missed.
    let least = there.keys().next().copied().unwrap_or(given);
    let mut known: Vec<u64> = there.into_keys().collect();
    known.extend(explained.filter_map(number_of));
    known.sort_unstable();
    let mut due = least;
    for number in known {
        if number > due {
            gaps.missing.push((due, number.saturating_sub(1)));
        }
        due = due.max(number.saturating_add(1));
    }
    if due <= given && given > 0 {
        gaps.missing.push((due, given));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::{Counted, count_of, counted, next, number_of};
    use crate::store::StoreHome;

    #[test]
    fn a_runs_number_is_in_its_name() {
        let of = |name: &str| number_of(&format!("20300102T090000Z-{name}.jsonl"));
        assert_eq!(of("000012-00000000000000aa"), Some(12));
        assert_eq!(of("1234567-00000000000000aa"), Some(1_234_567));
        for none in [
            "00000000000000aa",
            "+12-00000000000000aa",
            "-00000000000000aa",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn a_number_is_more_than_was_ever_given_whatever_became_of_the_count() {
        let dir = tempfile::tempdir().unwrap();
        let store = StoreHome::from(dir.path()).wiki("docs");
        let told = || (counted(&*store).unwrap(), next(&*store).unwrap());
        assert_eq!(told(), (Counted::Nothing, 1));
        drop(store.begin_run("a.jsonl", &count_of(7)).unwrap());
        assert_eq!(told(), (Counted::Last(7), 8));
        // The count is of an older backup than the runs.
        let run = "20300102T090000Z-000009-00000000000000aa.jsonl";
        drop(store.begin_run(run, &count_of(7)).unwrap());
        assert_eq!(told(), (Counted::Last(7), 10));
        drop(store.begin_run("b.jsonl", "many, and as long\n").unwrap());
        assert_eq!(told(), (Counted::Unreadable, 10));
    }
}
