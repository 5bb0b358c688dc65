//! Follows the events of all runs as they are recorded.

use std::collections::{HashMap, VecDeque};
use std::io;

use super::super::{AuditError, AuditResult, Record, Records, RunReader, Unreadable, runs};

/// New records, after the last few existing ones.
#[derive(Debug)]
pub struct Tail {
    reader: RunReader,
    /// The progress of reading each run; `None` for an ended run.
    runs: HashMap<String, Option<Records>>,
}

impl RunReader {
    /// The last records, oldest first, and a reader of later ones. Blocks.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub fn tail(&self, count: usize) -> AuditResult<(Vec<Record>, Tail)> {
        let mut tail = Tail {
            reader: self.clone(),
            runs: HashMap::new(),
        };
        let mut last: VecDeque<Record> = VecDeque::new();
        tail.read(|record| {
            // Runs are read one after another; records of overlapping runs are sorted at the end.
            last.push_back(record);
            if last.len() > count.saturating_mul(2).saturating_add(1024) {
                shorten(&mut last, count);
            }
        })?;
        shorten(&mut last, count);
        Ok((last.into(), tail))
    }
}

fn shorten(last: &mut VecDeque<Record>, count: usize) {
    last.make_contiguous().sort_by(|a, b| a.time.cmp(&b.time));
    last.drain(..last.len().saturating_sub(count));
}

impl Tail {
    /// The records since the last call, oldest first. Blocks, but does not wait for records.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub fn news(&mut self) -> AuditResult<Vec<Record>> {
        let mut new = Vec::new();
        self.read(|record| new.push(record))?;
        new.sort_by(|a, b| a.time.cmp(&b.time));
        Ok(new)
    }

    fn read(&mut self, mut each: impl FnMut(Record)) -> AuditResult<()> {
        for run in runs(&self.reader.place)? {
            let records = match self.runs.remove(run.name()) {
                None => run.records().map(Some),
                Some(known) => Ok(known),
            };
            let mut records = match records {
                // Purged meanwhile.
                Err(AuditError::Io(io::ErrorKind::NotFound)) => continue,
                records => records?,
            };
            for record in records.iter_mut().flatten() {
                match record {
                    Ok(record) => each(record),
                    Err(Unreadable::Io(kind)) => return Err(AuditError::Io(kind)),
                    Err(_) => {}
                }
            }
            // The lock was checked before the run was read to its end.
            let rest = records.filter(|_| run.is_locked);
            self.runs.insert(run.name().to_owned(), rest);
        }
        Ok(())
    }
}
