//! Reads all records of a run, of a long one on several threads: parsing takes most of the time.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::super::{AuditError, AuditResult, Record, Unreadable};
use super::reader::{RunFile, for_each_line};

/// The least bytes of a run that are worth threads.
const WORTH_IT: u64 = 4 << 20;
/// Number of threads that parse.
const PARSERS: usize = 2;
/// Number of lines that are handed on at once, and of such batches that wait for a thread.
const BATCH: usize = 128;
const WAITING: usize = 4;
/// The most bytes of a batch, but for one long line.
const BATCH_BYTES: usize = 1 << 20;

type UnparsedLines = Vec<(u64, Result<Vec<u8>, Unreadable>)>;
type ParsedLines = Vec<(u64, Result<Record, Unreadable>)>;

/// Passes on each record of a run with the number of its line, in order. A run that was purged meanwhile
/// has none.
///
/// # Errors
/// If the file cannot be read to its end.
pub(in crate::audit) fn for_each_record(
    run: &RunFile,
    mut each: impl FnMut(u64, Result<Record, Unreadable>),
) -> AuditResult<()> {
    if run.length < WORTH_IT {
        return for_each_line(run, |number, line| {
            each(number, line.and_then(Record::parse));
        });
    }
    thread::scope(|scope| {
        let (texts, records): (Vec<_>, Vec<_>) = (0..PARSERS)
            .map(|_| {
                let (text, texts) = sync_channel::<UnparsedLines>(WAITING);
                let (record, records) = sync_channel::<ParsedLines>(WAITING);
                scope.spawn(move || parse(&texts, &record));
                (text, records)
            })
            .unzip();
        let reading = scope.spawn(move || read(run, &texts));
        for thread in records.iter().cycle() {
            // The first thread without a batch has had the last one.
            let Ok(batch) = thread.recv() else { break };
            for (number, record) in batch {
                each(number, record);
            }
        }
        // Whoever still waits to hand something on need not.
        drop(records);
        reading.join().unwrap_or(Err(AuditError::BrokenOff))
    })
}

/// Deals the lines out to the threads, one batch after another.
fn read(run: &RunFile, texts: &[SyncSender<UnparsedLines>]) -> AuditResult<()> {
    let mut next = texts.iter().cycle();
    let mut batch = UnparsedLines::new();
    let mut hand_on = |batch: &mut UnparsedLines| {
        if let Some(thread) = next.next() {
            // It is gone only if nobody wants the rest.
            let _ = thread.send(std::mem::take(batch));
        }
    };
    let mut bytes = 0_usize;
    for_each_line(run, |number, line| {
        bytes = bytes.saturating_add(line.as_ref().map_or(0, |line| line.len()));
        batch.push((number, line.map(<[u8]>::to_vec)));
        if batch.len() >= BATCH || bytes >= BATCH_BYTES {
            hand_on(&mut batch);
            bytes = 0;
        }
    })?;
    hand_on(&mut batch);
    Ok(())
}

fn parse(texts: &Receiver<UnparsedLines>, records: &SyncSender<ParsedLines>) {
    for batch in texts {
        let parsed = batch.into_iter();
        let parsed =
            parsed.map(|(number, line)| (number, line.and_then(|line| Record::parse(&line))));
        if records.send(parsed.collect()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::{WORTH_IT, for_each_record};
    use crate::audit::run::reader::for_each_line;
    use crate::audit::testing::Script;
    use crate::audit::{AuditEntry, AuditEvent, AuditLog, CallId, Record};

    #[test]
    fn a_long_run_is_read_in_order_by_several_threads() {
        let dir = tempfile::tempdir().unwrap();
        let start = datetime!(2030-01-01 00:00 UTC);
        let mut script = Script::begin(dir.path(), start, Vec::new());
        for _ in 0..20_000 {
            script.entry(
                start,
                &AuditEntry::new(CallId::new().unwrap(), AuditEvent::Refusal),
            );
        }
        script.kill();
        let log = AuditLog::new(dir.path(), "docs");
        let run = log.runs.all().unwrap().pop().unwrap();
        assert!(run.length > WORTH_IT);
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        for_each_line(&run, |number, line| {
            expected.push((number, line.and_then(Record::parse)));
        })
        .unwrap();
        for_each_record(&run, |number, record| found.push((number, record))).unwrap();
        assert_eq!(found.len(), 20_001);
        assert!(found == expected);
    }
}
