//! The tables that hold vectors of sections, and what becomes of them as pages change.

use rusqlite::Connection;

pub(super) const TABLES: &str = "
    CREATE TABLE meant_page (id INTEGER NOT NULL, model TEXT NOT NULL, PRIMARY KEY (id, model)) WITHOUT ROWID;
    CREATE TABLE meant (id INTEGER NOT NULL, model TEXT NOT NULL, selector TEXT NOT NULL, digest BLOB NOT NULL,
        vector BLOB NOT NULL);
    CREATE INDEX meant_of_page ON meant (id, model);
    CREATE INDEX meant_of_text ON meant (digest, model);
    CREATE TABLE meant_model (model TEXT PRIMARY KEY, numbers INTEGER NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE meant_day (day INTEGER PRIMARY KEY, texts INTEGER NOT NULL);
";

/// A page was stored anew: its vectors count no more, and serve those of its sections that did not change.
pub(super) fn outdate(change: &Connection, id: i64) -> rusqlite::Result<()> {
    change
        .prepare("DELETE FROM meant_page WHERE id = ?1")?
        .execute([id])?;
    Ok(())
}

/// A page is gone.
pub(super) fn remove(change: &Connection, id: i64) -> rusqlite::Result<()> {
    outdate(change, id)?;
    change.execute("DELETE FROM meant WHERE id = ?1", [id])?;
    Ok(())
}
