//! Keeps runs as rows, one for what was appended at once.

use std::io;
use std::sync::Arc;

use super::faults::NO_RIGHTS;
use super::holder::Holder;
use super::statement::{Statement, column, synced, time_before_now, unsigned, unsynced};
use super::{Database, PostgresStore};
use crate::store::{Durability, ListedRun, RunBytes, RunWriter, Runs, StoreError, StoreResult};

/// The number of tries to append while the database does not answer in time.
const TRIES: usize = 2;
/// The most bytes that are appended at once.
const MOST_APPENDED: usize = 64 << 20;
/// The most bytes that may be missing between two rows.
const MOST_MISSING: usize = 64 << 20;
/// The fewest and the most bytes that are read at once.
const LEAST_READ: i64 = 16 << 10;
const MOST_READ: i64 = 256 << 10;
/// Lists the runs of a wiki. Nobody holds a run whose holder has been removed, or whose writer left it.
macro_rules! list {
    ($before:literal, $and_holder:literal) => {
        concat!(
            $before,
            "SELECT name, length, extract(epoch FROM clock_timestamp() - changed)::float8,
                EXISTS (SELECT FROM @.holder WHERE id = run.holder",
            $and_holder,
            ") FROM @.run AS run WHERE wiki = $1 ORDER BY name COLLATE \"C\""
        )
    };
}

const LIST: &str = list!("", "");
/// The same, where holders without renewal are removed first: none of them appends anything later.
const END_AND_LIST: &str = list!(
    "WITH ended AS (
        DELETE FROM @.holder WHERE @.is_past(until, lasts)
        AND id IN (SELECT holder FROM @.run WHERE wiki = $1) RETURNING id
    ) ",
    " AND id NOT IN (SELECT id FROM ended)"
);

impl Runs for PostgresStore {
    fn begin_run(&self, name: &str, count: &str) -> StoreResult<Box<dyn RunWriter>> {
        let id = getrandom::u64().map_err(|_| StoreError::BrokenOff)?;
        // Leaves the run when it is dropped, as it is if the answer is lost.
        let writer = RunRow {
            database: Arc::clone(&self.database),
            holder: self.database.holder()?,
            wiki: self.wiki.clone(),
            name: name.to_owned(),
            id: id.cast_signed(),
            length: 0,
        };
        let begun = writer
            .about(concat!(
                "WITH begun AS (
                    INSERT INTO @.run (wiki, name, holder, writer, changed)
                    SELECT $1, $2, id, $4, clock_timestamp() FROM @.holder WHERE id = $3 AND ",
                synced!(),
                " FOR KEY SHARE
                    ON CONFLICT (wiki, name) DO UPDATE SET changed = excluded.changed
                    WHERE run.writer = excluded.writer RETURNING wiki
                )
                INSERT INTO @.run_count (wiki, count) SELECT wiki, $5 FROM begun
                ON CONFLICT (wiki) DO UPDATE SET count = excluded.count RETURNING 1"
            ))
            .text(count);
        if !self.database.ask(begun).map_err(passing)?.is_empty() {
            return Ok(Box::new(writer));
        }
        if self.open_run(name)?.is_some() {
            return Err(StoreError::Io(io::ErrorKind::AlreadyExists));
        }
        writer.holder.set_gone();
        Err(StoreError::Overtaken)
    }

    fn runs(&self) -> StoreResult<Vec<ListedRun>> {
        let ask = |sql| {
            self.database
                .ask(Statement::new(sql).text(&self.wiki).long())
        };
        let rows = ask(END_AND_LIST).or_else(|error| match error {
            // A copy of the database, or a role that only reads.
            StoreError::Io(io::ErrorKind::ReadOnlyFilesystem) | NO_RIGHTS => ask(LIST),
            error => Err(error),
        });
        let runs = rows?;
        let runs = runs.iter().map(|row| {
            Ok(ListedRun {
                name: column(row, 0)?,
                length: unsigned(row, 1)?,
                changed: time_before_now(column(row, 2)?),
                is_held: Ok(column(row, 3)?),
            })
        });
        runs.collect()
    }

    fn open_run(&self, name: &str) -> StoreResult<Option<Box<dyn RunBytes>>> {
        let sql = "SELECT 1 FROM @.run WHERE wiki = $1 AND name = $2";
        let found = self.database.ask(self.about_named(sql, name))?;
        Ok(found.first().map(|_| -> Box<dyn RunBytes> {
            Box::new(RunRows {
                database: Arc::clone(&self.database),
                wiki: self.wiki.clone(),
                name: name.to_owned(),
                start: 0,
                bytes: Vec::new(),
                most: LEAST_READ,
            })
        }))
    }

    fn remove_run(&self, name: &str) -> StoreResult<bool> {
        let sql = concat!(
            "WITH ended AS (
                DELETE FROM @.holder WHERE @.is_past(until, lasts)
                AND id IN (SELECT holder FROM @.run WHERE wiki = $1 AND name = $2) RETURNING id
            )
            DELETE FROM @.run AS run WHERE wiki = $1 AND name = $2 AND ",
            synced!(),
            " AND NOT EXISTS (SELECT FROM @.holder WHERE id = run.holder AND id NOT IN (SELECT id FROM ended))
            RETURNING 1"
        );
        let removed = self.database.ask(self.about_named(sql, name).long())?;
        Ok(!removed.is_empty())
    }

    fn run_count(&self) -> StoreResult<Option<String>> {
        let sql = "SELECT count FROM @.run_count WHERE wiki = $1";
        let rows = self.database.ask(Statement::new(sql).text(&self.wiki))?;
        rows.first().map(|row| column(row, 0)).transpose()
    }
}

/// The writer of a run.
#[derive(Debug)]
struct RunRow {
    database: Arc<Database>,
    holder: Arc<Holder>,
    wiki: String,
    name: String,
    /// No other writer has it.
    id: i64,
    length: i64,
}

impl RunRow {
    /// About this run, with its holder and writer.
    fn about(&self, sql: &'static str) -> Statement {
        let asked = Statement::new(sql).text(&self.wiki).text(&self.name);
        asked.integer(self.holder.id).integer(self.id)
    }

    /// Appends, if the run is as long as we know and our holder is still there; it is locked against those that
    /// would remove it.
    fn appending(&self, lines: &[u8], until: Durability) -> Statement {
        macro_rules! append {
            ($durability:expr) => {
                concat!(
                    "WITH holder AS (SELECT id FROM @.holder WHERE id = $3 FOR KEY SHARE),
                    longer AS (
                        UPDATE @.run SET length = length + octet_length($6), changed = clock_timestamp()
                        WHERE wiki = $1 AND name = $2 AND writer = $4 AND length = $5
                        AND EXISTS (SELECT FROM holder) AND ",
                    $durability,
                    " RETURNING 1
                    )
                    INSERT INTO @.line (wiki, run, start, bytes) SELECT $1, $2, $5, $6 FROM longer
                    RETURNING 1"
                )
            };
        }
        let sql = match until {
            Durability::Synced => append!(synced!()),
            Durability::SyncedUnlessPaused => append!(concat!(synced!(), " AND @.is_unpaused()")),
            Durability::Soon => append!(unsynced!()),
        };
        self.about(sql).integer(self.length).bytes(lines)
    }

    /// Finds out why nothing was appended, and whether an earlier try had done it.
    fn was_appended(&self, lines: &[u8], until: Durability) -> StoreResult<()> {
        // A lock is a change, and what it finds is as synced as it has to be.
        let sql = concat!(
            "WITH own AS (
                SELECT length FROM @.run WHERE wiki = $1 AND name = $2 AND writer = $4 AND ",
            synced!(),
            " FOR KEY SHARE
            )
            SELECT EXISTS (SELECT FROM @.holder WHERE id = $3), EXISTS (
                SELECT FROM own, @.line WHERE wiki = $1 AND run = $2 AND start = $5 AND bytes = $6
            ), (SELECT length - $5 FROM own)"
        );
        let asked = self.about(sql).integer(self.length).bytes(lines);
        let rows = self.database.ask(asked)?;
        let row = rows.first().ok_or(StoreError::Replaced)?;
        let (is_held, is_there): (bool, bool) = (column(row, 0)?, column(row, 1)?);
        let more: Option<i64> = column(row, 2)?;
        if is_there {
            return Ok(());
        }
        if more.is_some_and(i64::is_negative) {
            // The database lost in a crash what needed not survive it: another run goes on.
            return Err(StoreError::Overtaken);
        }
        match (is_held, more, until) {
            (true, Some(0), Durability::SyncedUnlessPaused) => Err(StoreError::Paused),
            (true, ..) => Err(StoreError::Replaced),
            (false, ..) => {
                self.holder.set_gone();
                Err(StoreError::Overtaken)
            }
        }
    }
}

impl RunWriter for RunRow {
    fn append(&mut self, lines: &[u8], until: Durability) -> StoreResult<()> {
        let length = i64::try_from(lines.len()).unwrap_or(i64::MAX);
        if lines.len() > MOST_APPENDED {
            return Err(StoreError::Unfit("is too large"));
        }
        if lines.is_empty() {
            return Ok(());
        }
        let mut tries = 1..TRIES;
        loop {
            match self.database.ask(self.appending(lines, until)) {
                Ok(rows) if rows.is_empty() => self.was_appended(lines, until)?,
                Ok(_) => {}
                Err(StoreError::Unreachable) if tries.next().is_some() => continue,
                Err(error) => return Err(passing(error)),
            }
            self.length = self.length.saturating_add(length);
            return Ok(());
        }
    }
}

/// A refusal to take a record: it may pass, unless there is no room.
fn passing(error: StoreError) -> StoreError {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match error {
        StoreError::Io(StorageFull | QuotaExceeded | FileTooLarge) => error,
        StoreError::Io(_) => StoreError::NotReady(
            "refuses to take a record at the moment; the program's own log says why",
        ),
        error => error,
    }
}

impl Drop for RunRow {
    fn drop(&mut self) {
        let left = "UPDATE @.run SET holder = NULL WHERE wiki = $1 AND name = $2 AND holder = $3 AND writer = $4";
        self.database.give_back(&self.holder, self.about(left));
    }
}

/// The bytes of a run, read some at a time.
#[derive(Debug)]
struct RunRows {
    database: Arc<Database>,
    wiki: String,
    name: String,
    /// The offset of the bytes that were read last.
    start: u64,
    bytes: Vec<u8>,
    /// The number of bytes to read next, if it is read on.
    most: i64,
}

impl RunRows {
    /// Those of the bytes read last that begin at an offset.
    fn read_before(&self, start: u64) -> &[u8] {
        let skipped = start.checked_sub(self.start).map(usize::try_from);
        let skipped = skipped.and_then(Result::ok).unwrap_or(usize::MAX);
        self.bytes.get(skipped..).unwrap_or_default()
    }

    /// The number of bytes to read at an offset.
    fn next_size(&mut self, start: u64) -> i64 {
        let length = u64::try_from(self.bytes.len()).unwrap_or(u64::MAX);
        let is_read_on = length > 0 && self.start.saturating_add(length) == start;
        let size = if is_read_on { self.most } else { LEAST_READ };
        self.most = size.saturating_mul(4).min(MOST_READ);
        size
    }

    /// Reads from an offset: little where a record is looked up, more and more where the run is read on, and up to the
    /// end of the row they are in or as many more. In place of rows that somebody removed stands one line of zeros,
    /// as long as they were: it is no record, so the rest can be read and what is missing is named.
    fn read(&mut self, start: u64) -> StoreResult<()> {
        let sql = "WITH here AS (
                SELECT start, start + octet_length(bytes) > $3 AS is_there FROM @.line
                WHERE wiki = $1 AND run = $2 AND start <= $3 ORDER BY start DESC LIMIT 1
            )
            SELECT start + skipped, substring(bytes FROM skipped::int + 1 FOR $4::int8::int) FROM (
                SELECT start, bytes, greatest($3 - start, 0) AS skipped FROM @.line
                WHERE wiki = $1 AND run = $2 AND start >= coalesce((SELECT start FROM here), 0)
                AND start < greatest($3 + $4::int8, (
                    SELECT min(start) + 1 FROM @.line WHERE wiki = $1 AND run = $2 AND start > $3
                    AND NOT coalesce((SELECT is_there FROM here), false)
                ))
            ) AS part WHERE skipped < octet_length(bytes) ORDER BY 1";
        let offset =
            i64::try_from(start).map_err(|_| StoreError::Io(io::ErrorKind::InvalidInput))?;
        let asked = Statement::new(sql)
            .text(&self.wiki)
            .text(&self.name)
            .integer(offset)
            .integer(self.next_size(start));
        let rows = self.database.ask(asked)?;
        self.bytes.clear();
        self.start = start;
        for row in &rows {
            let bytes: &[u8] = column(row, 1)?;
            let before = unsigned(row, 0)?.checked_sub(start).map(usize::try_from);
            let missing = before.and_then(Result::ok);
            let missing = missing.and_then(|before| before.checked_sub(self.bytes.len()));
            let missing = missing.filter(|missing| *missing <= MOST_MISSING);
            if let Some(zeros) = missing.ok_or(StoreError::Replaced)?.checked_sub(1) {
                self.bytes.resize(self.bytes.len() + zeros, 0);
                self.bytes.push(b'\n');
            }
            self.bytes.extend_from_slice(bytes);
        }
        Ok(())
    }
}

impl RunBytes for RunRows {
    fn read_at(&mut self, start: u64, into: &mut [u8]) -> io::Result<usize> {
        if self.read_before(start).is_empty() {
            self.read(start).map_err(read_error)?;
        }
        let there = self.read_before(start);
        let count = there.len().min(into.len());
        if let (Some(into), Some(there)) = (into.get_mut(..count), there.get(..count)) {
            into.copy_from_slice(there);
        }
        Ok(count)
    }

    fn synced_length(&mut self) -> io::Result<u64> {
        // A lock is a change, and with it all earlier ones are synced.
        let sql = concat!(
            "SELECT length FROM @.run WHERE wiki = $1 AND name = $2 AND ",
            synced!(),
            " FOR KEY SHARE"
        );
        let asked = Statement::new(sql).text(&self.wiki).text(&self.name);
        let rows = self.database.ask(asked).map_err(read_error)?;
        let row = rows.first().ok_or(io::ErrorKind::NotFound)?;
        unsigned(row, 0).map_err(read_error)
    }
}

fn read_error(error: StoreError) -> io::Error {
    match error {
        StoreError::Io(kind) => kind.into(),
        error => io::Error::other(error),
    }
}
