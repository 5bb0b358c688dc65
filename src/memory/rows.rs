//! The tables of the store, and what is asked of them.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::entry::{Memory, MemoryEnd, MemoryPage, MemoryType};
use super::error::MemoryError;
use super::moment::Timestamp;
use super::owner::MemoryOwner;
use super::{MOST, MOST_BYTES};
use crate::audit::MemoryId;
use crate::index::{columns, query_syntax};
use crate::page::{Locale, PagePath};

/// The most owners of one store.
const MOST_OWNERS: usize = 200;
/// The most forgotten and superseded memories of one owner, and the most bytes of their texts.
const MOST_GONE: usize = 2 * MOST;
const MOST_GONE_BYTES: usize = 2 * MOST_BYTES;

/// The words of what is not gone are in `term`, by the entry's row.
pub(super) const TABLES: &str = "
    CREATE TABLE owner (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
    CREATE TABLE entry (
        row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
        owner INTEGER NOT NULL REFERENCES owner (id),
        content TEXT NOT NULL, kind TEXT NOT NULL, importance INTEGER NOT NULL,
        page INTEGER, locale TEXT, path TEXT, author TEXT NOT NULL,
        created INTEGER NOT NULL, changed INTEGER NOT NULL,
        used INTEGER NOT NULL, uses INTEGER NOT NULL,
        gone INTEGER, gone_by TEXT, due INTEGER
    );
    CREATE INDEX entry_of_owner ON entry (owner);
    CREATE VIRTUAL TABLE term USING fts5(
        words, cjk, content='', contentless_delete=1, tokenize='ascii'
    );
";

const COLUMNS: &str = "entry.id, content, kind, importance, page, locale, path, author,
    created, changed, used, uses, gone, gone_by";

/// The number and size of an owner's memories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Memories.
    pub entries: usize,
    /// The bytes of their texts.
    pub bytes: usize,
    /// Those that were forgotten and can be restored.
    pub gone: usize,
    /// The bytes of their texts.
    pub gone_bytes: usize,
}

/// The rows of an open store, while nobody else changes them.
#[derive(Debug)]
pub struct MemoryRows<'a> {
    db: &'a Connection,
    /// The time at which this began.
    pub now: Timestamp,
}

impl<'a> MemoryRows<'a> {
    pub(super) const fn of(db: &'a Connection, now: Timestamp) -> Self {
        Self { db, now }
    }

    /// All owners, by name.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn owners(&self) -> Result<Vec<MemoryOwner>, MemoryError> {
        let mut query = self
            .db
            .prepare("SELECT key, name FROM owner ORDER BY name, key")?;
        let owners = query.query_map([], |row| {
            Ok(MemoryOwner {
                key: row.get(0)?,
                name: row.get(1)?,
            })
        })?;
        Ok(owners.collect::<Result<_, _>>()?)
    }

    /// The memories of an owner, gone or not, in the order of their making.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn of_owner(&self, owner: &str) -> Result<Vec<Memory>, MemoryError> {
        let mut query = self.db.prepare(&format!(
            "SELECT {COLUMNS} FROM entry JOIN owner ON owner.id = entry.owner
             WHERE owner.key = ?1 ORDER BY created, row"
        ))?;
        let rows = query.query_map([owner], memory)?;
        rows.map(|row| row?).collect()
    }

    /// A memory and its owner, gone or not.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn find(&self, id: MemoryId) -> Result<Option<(MemoryOwner, Memory)>, MemoryError> {
        let mut query = self.db.prepare(&format!(
            "SELECT {COLUMNS}, owner.key, owner.name FROM entry
             JOIN owner ON owner.id = entry.owner WHERE entry.id = ?1"
        ))?;
        let found = query.query_row([id.to_string()], |row| {
            let owner = MemoryOwner {
                key: row.get(14)?,
                name: row.get(15)?,
            };
            Ok((owner, memory(row)?))
        });
        let Some((owner, memory)) = found.optional()? else {
            return Ok(None);
        };
        Ok(Some((owner, memory?)))
    }

    /// The same if it is this owner's and not gone.
    ///
    /// # Errors
    /// [`MemoryError::NoSuch`].
    pub fn own(&self, owner: &str, id: MemoryId) -> Result<Memory, MemoryError> {
        let found = self.find(id)?;
        found
            .filter(|(of, memory)| of.key == owner && memory.gone.is_none())
            .map(|(_, memory)| memory)
            .ok_or(MemoryError::NoSuch)
    }

    /// The number and size of an owner's memories.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn usage(&self, owner: &str) -> Result<Usage, MemoryError> {
        let mut query = self.db.prepare(
            "SELECT count(*) FILTER (WHERE gone IS NULL),
                    coalesce(sum(octet_length(content)) FILTER (WHERE gone IS NULL), 0),
                    count(*) FILTER (WHERE gone IS NOT NULL),
                    coalesce(sum(octet_length(content)) FILTER (WHERE gone IS NOT NULL), 0)
             FROM entry JOIN owner ON owner.id = entry.owner WHERE owner.key = ?1",
        )?;
        let number = |row: &Row<'_>, at| -> rusqlite::Result<usize> {
            Ok(usize::try_from(row.get::<_, i64>(at)?).unwrap_or(usize::MAX))
        };
        Ok(query.query_row([owner], |row| {
            Ok(Usage {
                entries: number(row, 0)?,
                bytes: number(row, 1)?,
                gone: number(row, 2)?,
                gone_bytes: number(row, 3)?,
            })
        })?)
    }

    /// The memories of an owner that have words of a text, with how well they fit: more is better.
    /// Nothing in the text is syntax.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn with_words(
        &self,
        owner: &str,
        text: &str,
    ) -> Result<HashMap<MemoryId, f64>, MemoryError> {
        let Some(syntax) = query_syntax(text) else {
            return Ok(HashMap::new());
        };
        let mut query = self.db.prepare(
            "SELECT entry.id, -bm25(term) FROM term JOIN entry ON entry.row = term.rowid
             JOIN owner ON owner.id = entry.owner WHERE term MATCH ?1 AND owner.key = ?2",
        )?;
        let found = query.query_map([syntax.as_str(), owner], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, f64>(1)?))
        })?;
        let mut fitting = HashMap::new();
        for row in found {
            let (id, score) = row?;
            fitting.insert(id.parse().map_err(|_| MemoryError::Damaged)?, score);
        }
        Ok(fitting)
    }

    /// Adds a memory, or puts it in place of what has its id.
    ///
    /// # Errors
    /// That there is no room, or the disk's.
    pub fn put(&self, owner: &MemoryOwner, memory: &Memory) -> Result<(), MemoryError> {
        let of = self.id_of(owner)?;
        self.remove(memory.id)?;
        let page = memory.page.as_ref();
        self.db.execute(
            "INSERT INTO entry (id, owner, content, kind, importance, page, locale, path, author,
                created, changed, used, uses, gone, gone_by)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            params![
                memory.id.to_string(),
                of,
                memory.content,
                memory.kind.as_str(),
                memory.importance,
                page.map(|page| page.id),
                page.map(|page| page.locale.as_str()),
                page.map(|page| page.path.as_str()),
                memory.author,
                memory.created.0,
                memory.changed.0,
                memory.used.0,
                memory.uses,
                memory.gone.map(|gone| gone.at.0),
                memory
                    .gone
                    .and_then(|gone| gone.by)
                    .map(|by| by.to_string()),
            ],
        )?;
        if memory.gone.is_none() {
            let (words, cjk) = columns(&memory.content);
            self.db.execute(
                "INSERT INTO term (rowid, words, cjk) VALUES (?1, ?2, ?3)",
                params![self.db.last_insert_rowid(), words, cjk],
            )?;
        }
        Ok(())
    }

    /// Checks that an owner has no more than it may.
    ///
    /// # Errors
    /// [`MemoryError::Full`], [`MemoryError::ForgotTooMuch`].
    pub fn check_room(&self, owner: &str) -> Result<(), MemoryError> {
        let usage = self.usage(owner)?;
        if usage.entries > MOST || usage.bytes > MOST_BYTES {
            return Err(MemoryError::Full);
        }
        if usage.gone > MOST_GONE || usage.gone_bytes > MOST_GONE_BYTES {
            return Err(MemoryError::ForgotTooMuch);
        }
        Ok(())
    }

    /// Removes a memory for good; nothing happens if there is none.
    ///
    /// # Errors
    /// The disk's.
    pub fn remove(&self, id: MemoryId) -> Result<(), MemoryError> {
        let id = id.to_string();
        self.db.execute(
            "DELETE FROM term WHERE rowid IN (SELECT row FROM entry WHERE id = ?1)",
            [&id],
        )?;
        self.db.execute("DELETE FROM entry WHERE id = ?1", [&id])?;
        Ok(())
    }

    /// Removes owners that have nothing left.
    ///
    /// # Errors
    /// The disk's.
    pub fn sweep(&self) -> Result<(), MemoryError> {
        self.db.execute(
            "DELETE FROM owner WHERE id NOT IN (SELECT owner FROM entry)",
            [],
        )?;
        Ok(())
    }

    /// Notes that memories were recalled.
    ///
    /// # Errors
    /// The disk's.
    pub fn use_all(&self, ids: &[MemoryId]) -> Result<(), MemoryError> {
        let mut update = self
            .db
            .prepare("UPDATE entry SET used = ?1, uses = min(uses + 1, 1000000) WHERE id = ?2")?;
        for id in ids {
            update.execute(params![self.now.0, id.to_string()])?;
        }
        Ok(())
    }

    fn id_of(&self, owner: &MemoryOwner) -> Result<i64, MemoryError> {
        let known = self
            .db
            .query_row("SELECT id FROM owner WHERE key = ?1", [&owner.key], |row| {
                row.get(0)
            })
            .optional()?;
        if let Some(id) = known {
            self.db.execute(
                "UPDATE owner SET name = ?1 WHERE id = ?2",
                params![owner.name, id],
            )?;
            return Ok(id);
        }
        if self.owners()?.len() >= MOST_OWNERS {
            return Err(MemoryError::TooManyOwners);
        }
        self.db.execute(
            "INSERT INTO owner (key, name) VALUES (?1, ?2)",
            [&owner.key, &owner.name],
        )?;
        Ok(self.db.last_insert_rowid())
    }
}

/// A row of the columns; a value that this program does not write is damage.
fn memory(row: &Row<'_>) -> rusqlite::Result<Result<Memory, MemoryError>> {
    let id: String = row.get(0)?;
    let kind: String = row.get(2)?;
    let page: (Option<i64>, Option<String>, Option<String>) =
        (row.get(4)?, row.get(5)?, row.get(6)?);
    let by: Option<String> = row.get(13)?;
    let gone: Option<i64> = row.get(12)?;
    let (content, author) = (row.get(1)?, row.get(7)?);
    let importance: i64 = row.get(3)?;
    let uses: i64 = row.get(11)?;
    let (created, changed, last_use) = (row.get(8)?, row.get(9)?, row.get(10)?);
    let read = || {
        Some(Memory {
            id: id.parse().ok()?,
            content,
            kind: MemoryType::of(&kind)?,
            importance: u8::try_from(importance).ok()?,
            page: match page {
                (Some(id), Some(locale), Some(path)) => Some(MemoryPage {
                    id,
                    locale: Locale::as_stored(&locale),
                    path: PagePath::as_stored(&path),
                }),
                (None, None, None) => None,
                _ => return None,
            },
            author,
            created: Timestamp(created),
            changed: Timestamp(changed),
            used: Timestamp(last_use),
            uses: u32::try_from(uses).ok()?,
            gone: match gone {
                Some(at) => Some(MemoryEnd {
                    at: Timestamp(at),
                    by: by.map(|by| by.parse()).transpose().ok()?,
                }),
                None => None,
            },
        })
    };
    Ok(read().ok_or(MemoryError::Damaged))
}
