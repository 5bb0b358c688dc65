//! `index.sqlite`: where the lines of a log are, by what they are about, and how many calls count alike.
//! Whoever asks for lines reads them, and the files alone are the truth. So the file may be removed at any
//! time, and what was read of a run is compared with the run before anything is added to it.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::fs;

/// Raised with every change of the tables or of the keys; an index of another version is made anew.
const VERSION: i64 = 5;
/// How SQLite's own files beside the index end.
const BESIDE: [&str; 4] = ["", "-journal", "-wal", "-shm"];
/// The longest wait while another process adds lines.
const BUSY: Duration = Duration::from_secs(5);
/// The size of SQLite's cache, in KiB.
const CACHE_KIB: i64 = 16 * 1024;

const TABLES: &str = "
    CREATE TABLE run (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, length INTEGER NOT NULL,
        hash BLOB NOT NULL, lines INTEGER NOT NULL, unreadable INTEGER NOT NULL, latest INTEGER NOT NULL
    );
    CREATE TABLE line (
        kind INTEGER NOT NULL, value INTEGER NOT NULL, run INTEGER NOT NULL, start INTEGER NOT NULL,
        number INTEGER NOT NULL, PRIMARY KEY (kind, value, run, start)
    ) WITHOUT ROWID;
    CREATE TABLE label (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
    CREATE TABLE call (
        call INTEGER PRIMARY KEY, began INTEGER NOT NULL, label INTEGER NOT NULL
    );
    CREATE INDEX call_by_beginning ON call (began, call);
    CREATE TABLE call_page (
        page INTEGER NOT NULL, call INTEGER NOT NULL, PRIMARY KEY (page, call)
    ) WITHOUT ROWID;
";

/// A subject of a line: its kind, by the numbers of who asks, and its value, whose order counts.
pub(crate) type LineKey = (u8, i64);

/// How far a run was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexedRun {
    /// Up to this byte.
    pub length: u64,
    /// The end of the run up to there, which has the hash of its last line.
    pub hash: Vec<u8>,
    /// Number of lines.
    pub lines: u64,
    /// Those of them that cannot be read.
    pub unreadable: u64,
    /// The latest time of a line so far, in nanoseconds.
    pub latest: i64,
}

/// A line that is added.
#[derive(Debug, Clone)]
pub(crate) struct IndexedLine {
    /// Its first byte.
    pub start: u64,
    /// Its number, from 1.
    pub number: u64,
    /// What it is about.
    pub keys: Vec<LineKey>,
}

/// A call, as all its lines so far tell it.
#[derive(Debug, Clone)]
pub(crate) struct IndexedCall {
    /// The call.
    pub call: i64,
    /// The time of its first line, in nanoseconds.
    pub began: i64,
    /// Its facts that are counted, in the asker's own words; calls of one label are counted together.
    pub label: String,
    /// The ids of the pages that it is about.
    pub pages: Vec<i64>,
}

/// An addition: the next lines of a run, and every call that they are of.
#[derive(Debug, Default)]
pub(crate) struct IndexedBatch {
    /// The lines.
    pub lines: Vec<IndexedLine>,
    /// The calls.
    pub calls: Vec<IndexedCall>,
}

/// Where a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinePlace {
    /// The name of the run.
    pub run: String,
    /// The line's first byte.
    pub start: u64,
    /// The line's number, from 1.
    pub number: u64,
}

/// Some calls by their beginnings: from a time, before a time, and before another call; of one page or of all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallRange {
    /// Begun then or later, in nanoseconds.
    pub since: i64,
    /// Begun before then.
    pub until: i64,
    /// Before this time and call.
    pub before: (i64, i64),
    /// About the page with this id.
    pub page: Option<i64>,
}

impl CallRange {
    /// The table of its calls. Those of a page are few, and are looked for by the page.
    fn table(&self) -> String {
        self.page.map_or_else(
            || "call".to_owned(),
            |page| {
                format!(
                    "(SELECT call FROM call_page WHERE page = {page}) CROSS JOIN call USING (call)"
                )
            },
        )
    }
}

/// An open index.
#[derive(Debug)]
pub(crate) struct LineIndex {
    database: Connection,
}

impl LineIndex {
    /// Opens the index at this path, if there is one that can be used.
    pub(crate) fn open(path: &Path) -> Option<Self> {
        let found = std::fs::symlink_metadata(path).ok()?;
        if !found.is_file() {
            return None;
        }
        let database = connect(path).ok()?;
        let version: i64 = database
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .ok()?;
        let others: i64 = database
            .query_row(
                "SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index')",
                [],
                |row| row.get(0),
            )
            .ok()?;
        (version == VERSION && others == 0).then_some(Self { database })
    }

    /// Makes an empty index in place of whatever is there.
    pub(crate) fn make(path: &Path) -> Option<Self> {
        remove(path);
        // Of a log in a database there may be no directory yet.
        let made = path.parent().map_or(Ok(()), fs::make_dir);
        let made = made.and_then(|()| fs::make_file(path));
        let made = made.map_err(|error| tracing::info!(%error, "store: there is no index"));
        made.ok()?;
        let database = connect(path).ok()?;
        database
            .execute_batch(&format!("{TABLES} PRAGMA user_version = {VERSION};"))
            .map_err(|error| tracing::warn!(%error, "store: the index cannot be made"))
            .ok()?;
        Some(Self { database })
    }

    /// How far each run was read.
    pub(crate) fn runs(&self) -> rusqlite::Result<HashMap<String, IndexedRun>> {
        let mut all = self
            .database
            .prepare("SELECT name, length, hash, lines, unreadable, latest FROM run")?;
        let rows = all.query_map([], |row| {
            let run = IndexedRun {
                length: row.get(1)?,
                hash: row.get(2)?,
                lines: row.get(3)?,
                unreadable: row.get(4)?,
                latest: row.get(5)?,
            };
            Ok((row.get(0)?, run))
        })?;
        rows.collect()
    }

    /// Adds the next lines of a run, which was read so far before; false if somebody else has added
    /// some meanwhile.
    pub(crate) fn add(
        &mut self,
        name: &str,
        before: Option<&IndexedRun>,
        after: &IndexedRun,
        batch: &IndexedBatch,
    ) -> rusqlite::Result<bool> {
        let adding = self
            .database
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let there: Option<u64> = adding
            .query_row("SELECT length FROM run WHERE name = ?", [name], |row| {
                row.get(0)
            })
            .optional()?;
        if there != before.map(|run| run.length) {
            return Ok(false);
        }
        adding.execute(
            "INSERT INTO run (name, length, hash, lines, unreadable, latest) VALUES (?, ?, ?, ?, ?, ?)
             ON CONFLICT (name) DO UPDATE SET length = excluded.length, hash = excluded.hash,
             lines = excluded.lines, unreadable = excluded.unreadable, latest = excluded.latest",
            params![
                name,
                after.length,
                after.hash,
                after.lines,
                after.unreadable,
                after.latest
            ],
        )?;
        let run: i64 = adding.query_row("SELECT id FROM run WHERE name = ?", [name], |row| {
            row.get(0)
        })?;
        insert(&adding, run, batch)?;
        adding.commit()?;
        Ok(true)
    }

    /// The lines with one of these keys, each once, in no order.
    pub(crate) fn lines(&self, keys: &[LineKey]) -> rusqlite::Result<Vec<LinePlace>> {
        let mut found = Vec::new();
        let mut one = self.database.prepare(
            "SELECT run.name, start, number FROM line JOIN run ON run.id = line.run
             WHERE kind = ? AND value = ?",
        )?;
        for key in keys {
            let rows = one.query_map(params![key.0, key.1], place)?;
            for row in rows {
                found.push(row?);
            }
        }
        found.sort_by(|a, b| (&a.run, a.start).cmp(&(&b.run, b.start)));
        found.dedup();
        Ok(found)
    }

    /// The lines of a kind by their values, from the greatest on, before another one; of equal values
    /// the one of the later run, and the later in it, comes first.
    pub(crate) fn downwards(
        &self,
        kind: u8,
        before: Option<&(i64, LinePlace)>,
        most: u32,
    ) -> rusqlite::Result<Vec<(i64, LinePlace)>> {
        // No name of a run is as great, and no number of a line.
        const LAST: (&str, u64) = ("~", i64::MAX.cast_unsigned());
        let mut some = self.database.prepare(
            "SELECT run.name, start, number, value FROM line JOIN run ON run.id = line.run
             WHERE kind = ?1 AND value <= ?2 AND (value, run.name, number) < (?2, ?3, ?4)
             ORDER BY value DESC, run.name DESC, number DESC LIMIT ?5",
        )?;
        let (value, (run, number)) = before.map_or((i64::MAX, LAST), |(value, place)| {
            (*value, (place.run.as_str(), place.number))
        });
        let rows = some.query_map(params![kind, value, run, number, most], |row| {
            Ok((row.get(3)?, place(row)?))
        })?;
        rows.collect()
    }

    /// The calls of a range, the newest first, at most as many; and how many there are in all.
    pub(crate) fn calls(
        &self,
        range: CallRange,
        most: usize,
    ) -> rusqlite::Result<(Vec<(i64, i64)>, u64)> {
        let table = range.table();
        let chosen =
            format!("FROM {table} WHERE began >= ?1 AND began < ?2 AND (began, call) < (?3, ?4)");
        let (began, call) = range.before;
        let bounds = [range.since, range.until, began, call];
        let count = format!("SELECT count(*) {chosen}");
        let count = self.database.query_row(&count, bounds, |row| row.get(0))?;
        let newest =
            format!("SELECT began, call {chosen} ORDER BY began DESC, call DESC LIMIT {most}");
        let mut newest = self.database.prepare(&newest)?;
        let rows = newest.query_map(bounds, |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok((rows.collect::<rusqlite::Result<_>>()?, count))
    }

    /// The labels of the calls of a range, each with the number of its calls.
    pub(crate) fn labels(&self, range: CallRange) -> rusqlite::Result<Vec<(String, u64)>> {
        // Read in the order of the table, which a plain comparison would not be.
        let table = range.table();
        let mut counts = self.database.prepare(&format!(
            "SELECT text, calls FROM label JOIN (
                SELECT label, count(*) AS calls FROM {table}
                WHERE +began >= ?1 AND +began < ?2 GROUP BY label
             ) ON id = label"
        ))?;
        let bounds = [range.since, range.until];
        let rows = counts.query_map(bounds, |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    }

    /// The calls from one to another, inclusive, in order, at most as many.
    pub(crate) fn calls_between(
        &self,
        first: i64,
        last: i64,
        most: u32,
    ) -> rusqlite::Result<Vec<i64>> {
        let mut some = self
            .database
            .prepare("SELECT call FROM call WHERE call BETWEEN ? AND ? ORDER BY call LIMIT ?")?;
        let rows = some.query_map(params![first, last, most], |row| row.get(0))?;
        rows.collect()
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let database = Connection::open(path)?;
    database.busy_timeout(BUSY)?;
    database.execute_batch(&format!(
        "PRAGMA journal_mode = DELETE; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -{CACHE_KIB};
         PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;"
    ))?;
    Ok(database)
}

fn insert(adding: &Transaction<'_>, run: i64, batch: &IndexedBatch) -> rusqlite::Result<()> {
    let mut line = adding.prepare("INSERT OR IGNORE INTO line VALUES (?, ?, ?, ?, ?)")?;
    for one in &batch.lines {
        for (kind, value) in &one.keys {
            line.execute(params![kind, value, run, one.start, one.number])?;
        }
    }
    let mut label = adding.prepare(
        "INSERT INTO label (text) VALUES (?) ON CONFLICT (text) DO UPDATE SET text = excluded.text
         RETURNING id",
    )?;
    let mut call = adding.prepare("INSERT OR REPLACE INTO call VALUES (?, ?, ?)")?;
    let mut page = adding.prepare("INSERT OR IGNORE INTO call_page VALUES (?, ?)")?;
    let mut labels: HashMap<&str, i64> = HashMap::new();
    for one in &batch.calls {
        let known = match labels.get(&*one.label) {
            Some(known) => *known,
            None => label.query_row([&one.label], |row| row.get(0))?,
        };
        labels.insert(&one.label, known);
        call.execute(params![one.call, one.began, known])?;
        for id in &one.pages {
            page.execute(params![id, one.call])?;
        }
    }
    Ok(())
}

fn place(row: &rusqlite::Row<'_>) -> rusqlite::Result<LinePlace> {
    Ok(LinePlace {
        run: row.get(0)?,
        start: row.get(1)?,
        number: row.get(2)?,
    })
}

/// Removes an index, whatever is in its place but a directory.
pub(crate) fn remove(path: &Path) {
    for ending in BESIDE {
        let mut beside = path.as_os_str().to_owned();
        beside.push(ending);
        // There is none, mostly.
        let _ = std::fs::remove_file(beside);
    }
}
