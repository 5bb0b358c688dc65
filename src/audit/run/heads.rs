//! The heads of files: what a later record holds of an earlier file.
//!
//! A head is told only of what is on the disk: after a power cut the file must be as long as told.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::entry::chain;
use super::super::{AuditError, LineHash};
use super::lines::MAX_LINE;
use super::reader::RunReader;
use crate::store::local::fs;

/// Time after which the system itself has written a file to the disk: half a minute is usual.
const WRITTEN_BACK: Duration = Duration::from_mins(10);

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

/// The heads of all runs in a directory, by name, except our own.
///
/// An unreadable file is listed with what is known of it: a partial head is worth more than a
/// refusal to start.
pub(in crate::audit) fn of_runs(directory: &Path, own: &str) -> io::Result<Vec<FileHead>> {
    let mut heads = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        let is_run = path
            .extension()
            .is_some_and(|extension| extension == "jsonl");
        let Ok(file) = entry.file_name().into_string() else {
            continue;
        };
        // A file may be removed after it was listed.
        let Ok(metadata) = std::fs::metadata(&path) else {
            continue;
        };
        if !is_run || file == own || !metadata.is_file() {
            continue;
        }
        let (length, hash) = last_line(&path).unwrap_or_else(|error| {
            tracing::warn!(path = %path.display(), %error, "audit: cannot read the end of a run");
            (metadata.len(), None)
        });
        heads.push(FileHead { file, length, hash });
    }
    heads.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(heads)
}

impl RunReader {
    /// The heads of all runs, by name: to keep them where nobody with write access to the log can
    /// change them. Blocks.
    ///
    /// # Errors
    /// If the directory cannot be read; a missing one has no runs.
    pub fn heads(&self) -> Result<Vec<FileHead>, AuditError> {
        let runs = self.place.runs();
        match of_runs(&runs, "") {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            read => read.map_err(|error| AuditError::at(&runs, "list the runs", &error)),
        }
    }
}

/// Offset of the end of a file's last whole line, and its hash; read from the file's end, and written to
/// the disk first if that may not have happened yet.
pub(in crate::audit) fn last_line(path: &Path) -> io::Result<(u64, Option<LineHash>)> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let length = metadata.len();
    let age = metadata.modified()?.elapsed().unwrap_or_default();
    // A system without such a call, as of a copy that may only be read, has nothing to write.
    if age < WRITTEN_BACK
        && let Err(error) = file.sync_data()
        && !matches!(
            error.kind(),
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::InvalidInput
        )
    {
        return Err(error);
    }
    // No line end of ours is further back than the longest line.
    let Some(end) = fs::last_line_end(&mut file, length, MAX_LINE)? else {
        return Ok((0, None));
    };
    let trailer = u64::try_from(chain::TRAILER_LENGTH).unwrap_or(u64::MAX);
    let mut last = Vec::new();
    fs::read_range(&mut file, end.saturating_sub(trailer), end, &mut last)?;
    let hash = chain::split(&last).map(|(_, hash)| hash);
    Ok((end.saturating_add(1), hash))
}

#[cfg(test)]
mod tests {
    use super::{FileHead, of_runs};
    use crate::audit::LineHash;
    use crate::audit::entry::chain;

    #[test]
    fn the_head_of_a_run_is_that_of_its_last_whole_line() {
        let dir = tempfile::tempdir().unwrap();
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
            std::fs::write(dir.path().join(name), content).unwrap();
        }
        std::fs::create_dir(dir.path().join("directory.jsonl")).unwrap();

        let length = |text: &str| u64::try_from(text.len()).unwrap();
        let head = |file: &str, length: u64, hash: Option<LineHash>| FileHead {
            file: file.to_owned(),
            length,
            hash,
        };
        assert_eq!(
            of_runs(dir.path(), "own.jsonl").unwrap(),
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
