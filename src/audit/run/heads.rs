//! The heads of files: what a later record holds of an earlier file.
//!
//! A head is told only of what is on the disk: after a power cut the file must be as long as told.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

use super::super::entry::chain;
use super::super::{AuditError, AuditResult, LineHash};
use super::lines::MAX_LINE;
use super::reader::{RunReader, stream, unread};
use crate::store::local::fs;
use crate::store::{RunStream, Store};

/// A file's state in a record: name, length and last hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHead {
    /// Its name: in `pages/` if it ends in `.json.gz`, in `proposals/` if in `.json`, else in `runs/`.
    pub file: String,
    /// Its length in bytes; of a run, up to the end of its last whole line. So the line that ends
    /// there has this hash even if the run continued.
    pub length: u64,
    /// The hash of the last whole line. There is none without such a line, for a kept state, whose name
    /// is its hash, and for a proposal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<LineHash>,
}

/// The line of `audit head`.
impl fmt::Display for FileHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hash = self
            .hash
            .map_or_else(|| "-".to_owned(), |hash| hash.to_string());
        write!(f, "{} {} {hash}", self.file, self.length)
    }
}

/// The heads of all runs, by name, except our own.
///
/// An unreadable run is listed with what is known of it: a partial head is worth more than a
/// refusal to start.
pub(in crate::audit) fn of_runs(store: &dyn Store, own: &str) -> AuditResult<Vec<FileHead>> {
    let mut heads = Vec::new();
    for run in store.runs()?.into_iter().filter(|run| run.name != own) {
        let (length, hash) = match last_line(store, &run.name) {
            Ok(last) => last,
            // A run may be removed after it was listed.
            Err(AuditError::Io(io::ErrorKind::NotFound)) => continue,
            Err(_) => (run.length, None),
        };
        heads.push(FileHead {
            file: run.name,
            length,
            hash,
        });
    }
    Ok(heads)
}

impl RunReader {
    /// The heads of all runs, by name: to keep them where nobody with write access to the log can
    /// change them. Blocks.
    ///
    /// # Errors
    /// If the runs cannot be listed.
    pub fn heads(&self) -> AuditResult<Vec<FileHead>> {
        of_runs(&*self.place.store, "")
    }
}

/// Offset of the end of a run's last whole line, and its hash; read from the run's end, and kept for good
/// before if that may not have happened yet.
pub(in crate::audit) fn last_line(
    store: &dyn Store,
    name: &str,
) -> AuditResult<(u64, Option<LineHash>)> {
    let mut run = stream(store, name)?;
    end_of(&mut run).map_err(|error| unread(name, &error))
}

fn end_of(run: &mut RunStream) -> io::Result<(u64, Option<LineHash>)> {
    let length = run.synced_length()?;
    // No line end of ours is further back than the longest line.
    let Some(end) = fs::last_line_end(run, length, MAX_LINE)? else {
        return Ok((0, None));
    };
    let trailer = u64::try_from(chain::TRAILER_LENGTH).unwrap_or(u64::MAX);
    let mut last = Vec::new();
    fs::read_range(run, end.saturating_sub(trailer), end, &mut last)?;
    let hash = chain::split(&last).map(|(_, hash)| hash);
    Ok((end.saturating_add(1), hash))
}

#[cfg(test)]
mod tests {
    use super::{FileHead, of_runs};
    use crate::audit::LineHash;
    use crate::audit::entry::chain;
    use crate::store::StoreHome;

    #[test]
    fn the_head_of_a_run_is_that_of_its_last_whole_line() {
        let dir = tempfile::tempdir().unwrap();
        let runs = dir.path().join("docs/runs");
        std::fs::create_dir_all(&runs).unwrap();
        let hash = LineHash::new(b"{");
        let line = format!("{{{}\n", chain::trailer(hash));
        let half = "x".repeat(20_000);
        for (name, content) in [
            ("whole.jsonl", format!("first\n{line}")),
            ("half.jsonl", format!("{line}{half}")),
            ("no-line.jsonl", half.clone()),
            ("empty.jsonl", String::new()),
            ("no-record.jsonl", "hello\n".to_owned()),
            ("own.jsonl", line.clone()),
            ("other.txt", line.clone()),
        ] {
            std::fs::write(runs.join(name), content).unwrap();
        }
        std::fs::create_dir(runs.join("directory.jsonl")).unwrap();

        let length = |text: &str| u64::try_from(text.len()).unwrap();
        let head = |file: &str, length: u64, hash: Option<LineHash>| FileHead {
            file: file.to_owned(),
            length,
            hash,
        };
        assert_eq!(
            of_runs(&*StoreHome::from(dir.path()).wiki("docs"), "own.jsonl").unwrap(),
            [
                head("empty.jsonl", 0, None),
                head("half.jsonl", length(&line), Some(hash)),
                head("no-line.jsonl", 0, None),
                head("no-record.jsonl", 6, None),
                head("whole.jsonl", 6 + length(&line), Some(hash)),
            ]
        );
    }
}
