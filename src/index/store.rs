//! The index itself: pages and their words in SQLite.
//!
//! Only `tokens` splits texts, so that a snippet can mark exactly what was found. FTS5 gets words
//! with spaces between; its tokenizer `ascii` splits there and never within a letter. Words are in
//! a table of FTS5 without content, and the text is stored once beside it. The index of the
//! server's own key is a file of SQLite's with a bounded cache, so that it takes a fixed part of
//! the server's memory however large the wiki is.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, Transaction, params};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use super::past;
use super::vector_tables;
use super::{columns, facts};
use crate::error::{Code, Failure, sentence};
use crate::page::{Date, Locale, Outline, PagePath, PageReading, SourceFormat};
use crate::private_files;

/// Raised with every change of the tables, or of what is read from a source for them; an index of
/// another version is rebuilt.
const VERSION: i64 = 7;
/// The endings of the names of an index's files.
pub(super) const BESIDE: [&str; 6] = ["", "-wal", "-shm", "-journal", ".lock", ".meaning"];
/// The size of SQLite's cache for the index, in KiB.
const CACHE_KIB: i64 = 16 * 1024;
/// The weight of a word by the column that it is in.
const WEIGHTS: &str = "10.0, 5.0, 5.0, 4.0, 3.0, 1.0, 6.0, 1.0";

/// One page as the list told of it, for [`reading`].
const LISTED: &str = "SELECT id, locale, path, title, description, tags, published, updated
    FROM page WHERE id = ?1 AND missing = 0";

const TABLES: &str = "
    CREATE TABLE page (
        id INTEGER PRIMARY KEY, mark BLOB NOT NULL, missing INTEGER NOT NULL DEFAULT 0,
        has_content INTEGER NOT NULL, locale TEXT NOT NULL, path TEXT NOT NULL,
        title TEXT NOT NULL, description TEXT NOT NULL, tags TEXT NOT NULL,
        published INTEGER NOT NULL, updated TEXT NOT NULL
    );
    CREATE TABLE look (at INTEGER NOT NULL);
    CREATE TABLE content (id INTEGER PRIMARY KEY, text TEXT NOT NULL, headings TEXT NOT NULL, format TEXT NOT NULL);
    CREATE VIRTUAL TABLE words USING fts5(
        title, headings, tags, path, description, body, cjk_top, cjk,
        content='', contentless_delete=1, tokenize='ascii'
    );
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
";

/// The index cannot be used. The cause goes to the program's own log: it may hold a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the content index cannot be used")]
pub struct IndexError;

/// The result of work on the index.
pub(super) type IndexResult<T> = Result<T, IndexError>;

impl From<IndexError> for Failure {
    fn from(error: IndexError) -> Self {
        Self::new(Code::InternalError, sentence(&error.to_string())).hint(
            "Tell the user: the server's log says why; the state directory may lack space or rights. Search with in: wiki meanwhile.",
        )
    }
}

impl From<rusqlite::Error> for IndexError {
    fn from(error: rusqlite::Error) -> Self {
        tracing::error!(%error, "the content index failed");
        Self
    }
}

impl From<io::Error> for IndexError {
    fn from(error: io::Error) -> Self {
        tracing::error!(%error, "the file of the content index cannot be used");
        Self
    }
}

/// The stored state of an indexed page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageMark {
    /// A digest of what the list said of it.
    pub(super) mark: Vec<u8>,
    /// True if its content could be read.
    pub(super) has_content: bool,
}

impl PageMark {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            mark: row.get(0)?,
            has_content: row.get(1)?,
        })
    }
}

/// The numbers of indexed pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct IndexCounts {
    /// Pages.
    pub(super) pages: usize,
    /// Those of them whose content could not be read.
    pub(super) without_content: usize,
}

/// A page's content, and where its headings stand.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    pub(super) text: String,
    headings: String,
    /// The word for the format of its source.
    pub(super) format: String,
}

/// The place of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Home {
    /// In a file that the next start uses again.
    File(PathBuf),
    /// In a file of mode 0600 without a name, with a bounded cache.
    Nameless,
    /// In memory.
    Memory,
}

/// An open index.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) db: Connection,
    /// The last comparison with the wiki's list.
    pub(super) seen: ListSync,
}

/// The last comparison of an index with the wiki's list.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ListSync {
    /// The time at which the last whole list was requested.
    pub(super) listed: Option<Instant>,
    /// The time at which the newest page of it was written.
    pub(super) newest: Option<OffsetDateTime>,
}

impl Store {
    /// Opens the index in a file, or a new one without a name. A file that is not an index, or is
    /// one of another version, is rebuilt.
    pub(super) fn open(home: &Home) -> IndexResult<Self> {
        let file = match home {
            Home::File(file) => file,
            Home::Nameless | Home::Memory => {
                // An empty name is SQLite's own word for a temporary database; its file is 0600
                // and loses its name as it is made.
                let name = if *home == Home::Memory {
                    ":memory:"
                } else {
                    ""
                };
                let db = Connection::open(name)?;
                db.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
                return Self::prepare(db);
            }
        };
        Self::open_file(file).or_else(|_| {
            remove(file)?;
            Self::open_file(file)
        })
    }

    fn open_file(file: &Path) -> IndexResult<Self> {
        if let Some(dir) = file.parent() {
            private_files::make_dirs(dir)?;
        }
        // We create the file for its mode and owner; SQLite gives its companion files the same.
        private_files::open(file)?;
        let db = Connection::open(file)?;
        db.busy_timeout(std::time::Duration::from_secs(5))?;
        db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")?;
        Self::prepare(db)
    }

    fn prepare(mut db: Connection) -> IndexResult<Self> {
        db.pragma_update(None, "cache_size", -CACHE_KIB)?;
        let change = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let version: i64 = change.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version == 0 {
            change.execute_batch(TABLES)?;
            change.execute_batch(facts::TABLES)?;
            change.execute_batch(past::TABLE)?;
            change.execute_batch(vector_tables::TABLES)?;
            change.pragma_update(None, "user_version", VERSION)?;
        } else if version != VERSION {
            return Err(IndexError);
        }
        change.commit()?;
        Ok(Self {
            db,
            seen: ListSync::default(),
        })
    }

    /// Its size in bytes.
    pub(super) fn bytes(&self) -> IndexResult<u64> {
        let number = |name| -> rusqlite::Result<u64> {
            self.db.pragma_query_value(None, name, |row| row.get(0))
        };
        Ok(number("page_count")?.saturating_mul(number("page_size")?))
    }

    /// The stored state of one page.
    pub(super) fn known_of(&self, id: i64) -> IndexResult<Option<PageMark>> {
        let query = "SELECT mark, has_content FROM page WHERE id = ?1";
        let known = self.db.query_row(query, [id], PageMark::read);
        Ok(known.optional()?)
    }

    /// All pages that are indexed, by id.
    pub(super) fn known(&self) -> IndexResult<HashMap<i64, PageMark>> {
        let mut query = self.db.prepare("SELECT mark, has_content, id FROM page")?;
        let rows = query.query_map([], |row| Ok((row.get(2)?, PageMark::read(row)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Notes which pages exist. A missing page is not found any more; when it is missing a second
    /// time, it is removed, and only its place is remembered.
    pub(super) fn look(&mut self, there: &HashSet<i64>) -> IndexResult<()> {
        let change = self.db.transaction()?;
        let before: Option<i64> = change
            .query_row("SELECT at FROM look", [], |row| row.get(0))
            .optional()?;
        let now = OffsetDateTime::now_utc().unix_timestamp();
        let missed: Vec<(i64, i64)> = {
            let mut query = change.prepare("SELECT id, missing FROM page")?;
            let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<Result<_, _>>()?
        };
        for (id, missing) in missed {
            match (there.contains(&id), missing) {
                (true, 0) => {}
                (true, _) => {
                    change.execute("UPDATE page SET missing = 0 WHERE id = ?1", [id])?;
                }
                (false, 0) => {
                    // Pages were there when the look before was taken, or when they were stored.
                    let seen = before.unwrap_or(now);
                    change.execute("UPDATE page SET missing = ?2 WHERE id = ?1", [id, seen])?;
                }
                (false, _) => {
                    past::remember(&change, id)?;
                    for table in ["page", "content"] {
                        change.execute(&format!("DELETE FROM {table} WHERE id = ?1"), [id])?;
                    }
                    change.execute("DELETE FROM words WHERE rowid = ?1", [id])?;
                    facts::remove(&change, id)?;
                    vector_tables::remove(&change, id)?;
                }
            }
        }
        past::forget_beyond(&change)?;
        change.execute("DELETE FROM look", [])?;
        change.execute("INSERT INTO look VALUES (?1)", [now])?;
        Ok(change.commit()?)
    }

    /// Stores pages, each in place of its earlier state, all or none.
    pub(super) fn put(&mut self, pages: &[PageReading]) -> IndexResult<()> {
        let change = self.db.transaction()?;
        for page in pages {
            Self::put_one(&change, page)?;
        }
        Ok(change.commit()?)
    }

    fn put_one(change: &Transaction<'_>, page: &PageReading) -> IndexResult<()> {
        let Some(id) = page.id else { return Ok(()) };
        let text = page.content.as_deref();
        let (names, places) = text.map(|text| headings(page, text)).unwrap_or_default();
        let description = page.description.as_deref().unwrap_or_default();
        let tags = page.tags.clone().unwrap_or_default().join("\n");
        let updated = page.updated_at.as_ref().map_or("", Date::as_str);
        let (title, cjk_title) = columns(&page.title);
        let (heads, cjk_heads) = columns(&names);
        let (tag_words, cjk_tags) = columns(&tags);
        let (path, cjk_path) = columns(page.path.as_str());
        let (about, cjk_about) = columns(description);
        let (body, cjk) = columns(text.unwrap_or_default());
        let cjk_top = [cjk_title, cjk_heads, cjk_tags, cjk_path, cjk_about].concat();
        change
            .prepare("DELETE FROM words WHERE rowid = ?1")?
            .execute([id])?;
        change
            .prepare(
                "INSERT INTO words (rowid, title, headings, tags, path, description, body, cjk_top, cjk)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                id, title, heads, tag_words, path, about, body, cjk_top, cjk
            ])?;
        change
            .prepare("REPLACE INTO page VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?
            .execute(params![
                id,
                mark(page),
                text.is_some(),
                page.locale.as_str(),
                page.path.as_str(),
                page.title,
                description,
                tags,
                page.is_published.unwrap_or(true),
                updated,
            ])?;
        change
            .prepare("REPLACE INTO content VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![
                id,
                text.unwrap_or_default(),
                places,
                format_word(page)
            ])?;
        facts::put(change, id, page, text)?;
        vector_tables::outdate(change, id)?;
        Ok(())
    }

    /// The numbers of indexed pages.
    pub(super) fn count(&self) -> IndexResult<IndexCounts> {
        let query =
            "SELECT count(*), coalesce(sum(has_content = 0), 0) FROM page WHERE missing = 0";
        Ok(self.db.query_row(query, [], |row| {
            Ok(IndexCounts {
                pages: row.get(0)?,
                without_content: row.get(1)?,
            })
        })?)
    }

    /// Pages that a query of FTS5 finds, the best first, with their scores; as many as wanted.
    pub(super) fn ranked(
        &self,
        syntax: &str,
        is_wanted: impl Fn(&PageReading) -> bool,
        limit: usize,
    ) -> IndexResult<Vec<(PageReading, f64)>> {
        let mut query = self.db.prepare(&format!(
            "SELECT rowid, -bm25(words, {WEIGHTS}) AS score FROM words WHERE words MATCH ?1
             ORDER BY score DESC, rowid"
        ))?;
        // Fetched one by one: few of the matching pages are used.
        let mut listed = self.db.prepare(LISTED)?;
        let mut rows = query.query([syntax])?;
        let mut found = Vec::new();
        while found.len() < limit
            && let Some(row) = rows.next()?
        {
            let page = listed.query_row([row.get::<_, i64>(0)?], reading);
            if let Some(page) = page.optional()?.filter(&is_wanted) {
                found.push((page, row.get(1)?));
            }
        }
        Ok(found)
    }

    /// A page that is indexed, as the list told of it.
    pub(super) fn listed(&self, id: i64) -> IndexResult<Option<PageReading>> {
        Ok(self.db.query_row(LISTED, [id], reading).optional()?)
    }

    /// All pages that are indexed, those changed last first.
    pub(super) fn newest_first(&self) -> IndexResult<Vec<PageReading>> {
        let mut query = self.db.prepare(
            "SELECT id, locale, path, title, description, tags, published, updated
             FROM page WHERE missing = 0 ORDER BY updated DESC, id",
        )?;
        let pages = query.query_map([], reading)?;
        Ok(pages.collect::<Result<_, _>>()?)
    }

    /// The content of a page.
    pub(super) fn content(&self, id: i64) -> IndexResult<Option<Content>> {
        let query = "SELECT text, headings, format FROM content WHERE id = ?1";
        let content = self.db.query_row(query, [id], |row| {
            Ok(Content {
                text: row.get(0)?,
                headings: row.get(1)?,
                format: row.get(2)?,
            })
        });
        Ok(content.optional()?)
    }

    /// The number of pages with a word, exactly as spelled.
    pub(super) fn pages_with(&self, word: &str) -> IndexResult<usize> {
        let query = "SELECT doc FROM vocabulary WHERE term = ?1";
        let pages = self.db.query_row(query, [word], |row| row.get(0));
        Ok(pages.optional()?.unwrap_or_default())
    }
}

impl Content {
    /// The selector of the section that holds a place of the text; `None` if the page has no
    /// headings.
    pub(super) fn section_at(&self, at: usize) -> Option<&str> {
        let mut places = self.headings.lines().filter_map(|line| {
            let (start, selector) = line.split_once(' ')?;
            Some((start.parse::<usize>().ok()?, selector))
        });
        places
            .rfind(|(start, _)| *start <= at)
            .map(|(_, selector)| selector)
    }
}

/// The texts of a page's headings, and for each a line with its place and selector.
fn headings(page: &PageReading, text: &str) -> (String, String) {
    let format = SourceFormat::detect(page.content_type.as_deref(), page.editor.as_deref());
    // The parser panics on some texts; such a page must not keep the others out of the index.
    let Ok(outline) = std::panic::catch_unwind(|| Outline::in_format(text, format)) else {
        tracing::warn!(id = page.id, "the headings of a page could not be read");
        return Default::default();
    };
    let named = outline.named_headings();
    let mut places = String::new();
    if outline
        .headings
        .first()
        .is_some_and(|first| first.lines.start > 0)
    {
        places.push_str("0 section[0]\n");
    }
    let mut texts = String::new();
    for (heading, named) in outline.headings.iter().zip(&named) {
        texts.push_str(&heading.text);
        texts.push('\n');
        // Writing to a string cannot fail.
        let _ = writeln!(places, "{} {}", heading.lines.start, named.selector);
    }
    (texts, places)
}

/// The word for the format of a page's source, which [`SourceFormat::detect`] reads.
fn format_word(page: &PageReading) -> &'static str {
    match SourceFormat::detect(page.content_type.as_deref(), page.editor.as_deref()) {
        SourceFormat::Markdown => "markdown",
        SourceFormat::Html => "html",
        SourceFormat::AsciiDoc => "asciidoc",
        SourceFormat::Other => "other",
    }
}

/// A digest of the list's entry for a page: it changes when the page does.
pub(super) fn mark(page: &PageReading) -> Vec<u8> {
    let told = format!(
        "{:?}",
        (
            (&page.locale, &page.path, &page.title, &page.description),
            (&page.tags, page.is_published, &page.updated_at),
        )
    );
    Sha256::digest(told).iter().take(16).copied().collect()
}

fn reading(row: &Row<'_>) -> rusqlite::Result<PageReading> {
    let tags: String = row.get(5)?;
    let mut page = PageReading::bare(
        Some(row.get(0)?),
        Locale::as_stored(row.get::<_, String>(1)?),
        PagePath::as_stored(row.get::<_, String>(2)?),
        row.get(3)?,
    );
    page.description = Some(row.get(4)?);
    page.tags = Some(tags.lines().map(str::to_owned).collect());
    page.is_published = Some(row.get(6)?);
    page.updated_at = Some(Date::from(row.get::<_, String>(7)?));
    Ok(page)
}

/// The file of an index and its possible companion files.
pub(super) fn files(file: &Path) -> impl Iterator<Item = PathBuf> {
    BESIDE.iter().map(|end| {
        let mut name = file.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    })
}

/// The number of pages in a disk index; never creates a file.
///
/// # Errors
/// There is no index in the file, or it cannot be read.
pub fn pages_in(file: &Path) -> rusqlite::Result<usize> {
    // With the right to write: the last connection merges the companion files.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags)?;
    counted(&db, "SELECT count(*) FROM page WHERE missing = 0")
}

/// The number of rows that a query counts.
pub(super) fn counted(db: &Connection, query: &str) -> rusqlite::Result<usize> {
    db.query_row(query, [], |row| row.get(0))
}

/// Removes an index on the disk and its companion files; returns whether there was one.
///
/// # Errors
/// A file cannot be removed.
pub(super) fn remove(file: &Path) -> io::Result<bool> {
    let mut was_there = false;
    for file in files(file) {
        match fs::remove_file(file) {
            Ok(()) => was_there = true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(was_there)
}
