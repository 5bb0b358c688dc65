//! Reading anchors back: which heads they hold, and what is wrong with them.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use super::super::run::lines::{LineStatus, next_line};
use super::super::{FileHead, LogUpkeep, PublicKey, RunId};
use super::line::{Anchor, Signed};

/// Most faults are of one kind then, and more of them tell no more.
const MOST_WRONG: usize = 1_000;
const UNSIGNED: &str = "is not signed, though lines before it are";

/// The anchors of one wiki, as they were read.
#[derive(Debug, Default)]
pub struct AnchorsRead {
    /// Number of anchors that count.
    pub lines: u64,
    /// The time of the last one.
    pub last: Option<String>,
    /// Number of lines that were broken off.
    pub broken_off: u64,
    /// Number of anchors ignored as unsigned, or not signed by a given key.
    pub uncounted: u64,
    /// The ids of the keys that sign them.
    pub keys: BTreeSet<String>,
    /// True if a signature was checked for every anchor that counts.
    pub is_checked: bool,
    /// The lines that are wrong: file, number of the line, and what is wrong.
    pub wrong: Vec<(String, u64, String)>,
    pub(in crate::audit) heads: Vec<FileHead>,
    pub(in crate::audit) removed: Vec<FileHead>,
}

/// The part of a log that no anchor covers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnchorReport {
    /// Number of records after the last anchored one.
    pub unproven: u64,
    /// The time of the earliest of them.
    pub since: Option<String>,
}

impl LogUpkeep {
    /// Reads the anchors of this wiki out of files, in order; with keys, only what one of them
    /// signed counts. Blocks.
    ///
    /// # Errors
    /// If a file cannot be read: its place among the files, and why.
    pub fn read_anchors(
        &self,
        files: &[impl AsRef<Path>],
        keys: &[PublicKey],
    ) -> Result<AnchorsRead, (usize, io::ErrorKind)> {
        let mut reading = Reading {
            wiki: &self.wiki,
            keys,
            read: AnchorsRead {
                is_checked: !keys.is_empty(),
                ..AnchorsRead::default()
            },
            due: HashMap::new(),
        };
        for (index, file) in files.iter().enumerate() {
            let read = reading.file(file.as_ref());
            read.map_err(|error| (index, error.kind()))?;
        }
        Ok(reading.read)
    }
}

struct Reading<'a> {
    wiki: &'a str,
    keys: &'a [PublicKey],
    read: AnchorsRead,
    /// The number of the anchor that is due of each run.
    due: HashMap<RunId, u64>,
}

impl Reading<'_> {
    fn file(&mut self, path: &Path) -> io::Result<()> {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let name = name.to_string_lossy();
        let mut reader = BufReader::new(File::open(path)?);
        let mut buffer = Vec::new();
        let mut number = 0_u64;
        loop {
            let line = next_line(&mut reader, &mut buffer)?;
            number = number.saturating_add(1);
            let text = std::str::from_utf8(&buffer).unwrap_or("-");
            match line {
                LineStatus::End => return Ok(()),
                LineStatus::TooLong => {
                    self.wrong(&name, number, "is no anchor");
                    io::BufRead::skip_until(&mut reader, b'\n')?;
                }
                LineStatus::Whole | LineStatus::Rest if text.trim().is_empty() => {}
                LineStatus::Whole | LineStatus::Rest => self.line(&name, number, text),
            }
        }
    }

    fn line(&mut self, name: &str, number: u64, text: &str) {
        let Some((anchor, signed)) = Anchor::parse(text, self.keys) else {
            if Anchor::is_beginning(text) {
                self.read.broken_off = self.read.broken_off.saturating_add(1);
            } else {
                self.wrong(name, number, "is no anchor");
            }
            return;
        };
        if anchor.wiki != self.wiki {
            return;
        }
        if !self.keys.is_empty() && signed != Signed::Yes {
            // Those from before anchors were signed prove nothing, and accuse nobody.
            let is_before = signed == Signed::No && self.read.keys.is_empty();
            if !is_before {
                let key = anchor.key.as_deref().unwrap_or("none");
                let wrong = if signed == Signed::No {
                    UNSIGNED.to_owned()
                } else {
                    format!(
                        "has no signature of the given keys for what it says: it was changed, or signed by another key ({key})"
                    )
                };
                self.wrong(name, number, &wrong);
            }
            self.read.uncounted = self.read.uncounted.saturating_add(1);
            return;
        }
        if signed == Signed::No && !self.read.keys.is_empty() {
            self.wrong(name, number, UNSIGNED);
        }
        // A line that was written once more, since nobody knew that it was, does no harm.
        let due = self.due.get(&anchor.run).copied();
        if let Some(due) = due.filter(|due| anchor.seq > *due) {
            let (run, found) = (anchor.run, anchor.seq);
            let wrong = format!(
                "is anchor {found} of the run {run}, and those from {due} on are missing before it"
            );
            self.wrong(name, number, &wrong);
        }
        let next = anchor.seq.saturating_add(1).max(due.unwrap_or(0));
        self.due.insert(anchor.run, next);
        self.read.lines = self.read.lines.saturating_add(1);
        self.read.keys.extend(anchor.key);
        self.read.last = Some(anchor.time);
        self.read.heads.extend(anchor.heads);
        self.read.removed.extend(anchor.removed);
    }

    fn wrong(&mut self, file: &str, line: u64, wrong: &str) {
        if self.read.wrong.len() < MOST_WRONG {
            let wrong = (file.to_owned(), line, wrong.to_owned());
            self.read.wrong.push(wrong);
        }
    }
}
