//! The numbers of runs: 1, 2, 3, …, in the order in which they begin.
//!
//! A run has its number in its file's name and in its first record, so that the heads that later
//! runs, purges and lists of heads hold tell it too.
//!
//! `runs.count` holds the last number that was given. A lease is held while one is given, so that no
//! two servers give the same. It is what shows that the newest runs are gone, which no later run
//! saw. Whoever rewrites the log can rewrite it as well.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::super::disk::layout::AuditLayout;
use super::super::{AuditError, FileHead};
use super::reader::RunFile;
use crate::store::local::fs;

/// A longer file holds no number of ours, in bytes.
const MOST: u64 = 64;

impl FileHead {
    /// The number of the run, if it has one.
    #[must_use]
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

/// The content of the file that counts runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::audit) enum Counted {
    /// There is no such file, or nothing in it yet.
    Nothing,
    /// The last number that was given.
    Last(u64),
    /// It holds no number.
    Unreadable,
}

/// Reads the count, as it is at this moment.
pub(in crate::audit) fn counted(place: &AuditLayout) -> Result<Counted, AuditError> {
    let path = place.count();
    match File::open(&path).and_then(|file| read(&file)) {
        Ok(counted) => Ok(counted),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Counted::Nothing),
        Err(error) => Err(AuditError::at(&path, "read the count of runs", &error)),
    }
}

fn read(file: &File) -> io::Result<Counted> {
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(match text.trim_end() {
        "" => Counted::Nothing,
        number => number.parse().map_or(Counted::Unreadable, Counted::Last),
    })
}

/// The count of runs, open for the one run that is just being made.
#[derive(Debug)]
pub(in crate::audit) struct RunCounter {
    path: PathBuf,
    file: File,
}

impl RunCounter {
    /// Only who has the lease to begin a run may give a number.
    pub(in crate::audit) fn open(place: &AuditLayout) -> Result<Self, AuditError> {
        let path = place.count();
        let file = fs::open_lock_file(&path)
            .map_err(|error| AuditError::at(&path, "open the count of runs", &error))?;
        Ok(Self { path, file })
    }

    /// The number of the run that is being made: one more than was ever given, as far as the count
    /// and the runs that are there tell.
    pub(in crate::audit) fn next(&self, runs: &Path) -> Result<u64, AuditError> {
        let failed =
            |error: io::Error| AuditError::at(&self.path, "read the count of runs", &error);
        let last = match read(&self.file).map_err(failed)? {
            Counted::Last(last) => last,
            Counted::Nothing => 0,
            Counted::Unreadable => {
                tracing::error!(path = %self.path.display(), "audit: the count of runs holds no number");
                0
            }
        };
        let listed = std::fs::read_dir(runs)
            .map_err(|error| AuditError::at(runs, "list the runs", &error))?;
        let names = listed.flatten().map(|entry| entry.file_name());
        let numbers = names.filter_map(|name| number_of(name.to_str()?));
        Ok(numbers.fold(last, u64::max).saturating_add(1))
    }

    /// Says that this number was given. It has the same length each time, so that whoever reads it
    /// meanwhile finds a number; a new count is on the disk before the first run has a record.
    pub(in crate::audit) fn give(self, number: u64) -> Result<(), AuditError> {
        let text = format!("{number:020}\n");
        let given = || {
            let is_new = self.file.metadata()?.len() == 0;
            self.file.write_all_at(text.as_bytes(), 0)?;
            if is_new {
                self.file.sync_all()?;
                self.path.parent().map_or(Ok(()), fs::sync_dir)?;
            }
            Ok(())
        };
        given().map_err(|error| AuditError::at(&self.path, "write the count of runs", &error))
    }
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
    use super::{AuditLayout, Counted, RunCounter, counted, number_of};

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
        let place = AuditLayout::new(dir.path(), "docs");
        let runs = place.runs();
        std::fs::create_dir_all(&runs).unwrap();
        let next = || RunCounter::open(&place).unwrap().next(&runs).unwrap();
        assert_eq!((counted(&place).unwrap(), next()), (Counted::Nothing, 1));
        RunCounter::open(&place).unwrap().give(7).unwrap();
        assert_eq!((counted(&place).unwrap(), next()), (Counted::Last(7), 8));
        // A run was made by a process that was killed before it counted it.
        std::fs::write(
            runs.join("20300102T090000Z-000009-00000000000000aa.jsonl"),
            "",
        )
        .unwrap();
        assert_eq!(next(), 10);
        std::fs::write(place.count(), "many").unwrap();
        assert_eq!(
            (counted(&place).unwrap(), next()),
            (Counted::Unreadable, 10)
        );
    }
}
