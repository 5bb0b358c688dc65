//! The tables that hold vectors of sections, with the models and the texts of a day; and what becomes of
//! them as pages change.

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use time::OffsetDateTime;

/// Days after which the vectors of a model that nobody uses are removed.
const UNUSED_DAYS: i64 = 7;

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

/// Takes so many texts of this day's, or as many as are left below the most; returns how many. Servers share an
/// index, so it is one change.
pub(super) fn spend(db: &mut Connection, texts: u32, most: u32) -> rusqlite::Result<u32> {
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let spent = "SELECT texts FROM meant_day WHERE day = ?1";
    let spent = change.query_row(spent, [today()], |row| row.get::<_, u32>(0));
    let spent = spent.optional()?.unwrap_or(0);
    let taken = texts.min(most.saturating_sub(spent));
    if taken > 0 {
        change.execute(
            "INSERT INTO meant_day VALUES (?1, ?2) ON CONFLICT (day) DO UPDATE SET texts = meant_day.texts + ?2",
            params![today(), taken],
        )?;
        change.execute("DELETE FROM meant_day WHERE day < ?1", [today()])?;
    }
    change.commit()?;
    Ok(taken)
}

/// The numbers that a model's vectors have, if the index has any.
pub(super) fn numbers(db: &Connection, model: &str) -> rusqlite::Result<Option<usize>> {
    let query = "SELECT numbers FROM meant_model WHERE model = ?1";
    let found = db.query_row(query, [model], |row| row.get(0));
    found.optional()
}

/// Notes that a model is in use, and the numbers of its vectors unless they are known; returns the known ones.
pub(super) fn note_model(db: &Connection, model: &str, now: usize) -> rusqlite::Result<usize> {
    let known = numbers(db, model)?.unwrap_or(now);
    db.execute(
        "REPLACE INTO meant_model VALUES (?1, ?2, ?3)",
        params![model, known, today()],
    )?;
    Ok(known)
}

/// Removes the vectors of models that no server uses any more.
pub(super) fn retire(db: &Connection, model: &str) -> rusqlite::Result<()> {
    let before = today() - UNUSED_DAYS;
    for table in ["meant", "meant_page", "meant_model"] {
        db.execute(
            &format!(
                "DELETE FROM {table} WHERE model IN
                 (SELECT model FROM meant_model WHERE used < ?1 AND model <> ?2)"
            ),
            params![before, model],
        )?;
    }
    let used = "UPDATE meant_model SET used = ?1 WHERE model = ?2";
    db.execute(used, params![today(), model])?;
    Ok(())
}

fn today() -> i64 {
    OffsetDateTime::now_utc()
        .unix_timestamp()
        .div_euclid(86_400)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::{TABLES, spend};

    #[test]
    fn a_day_has_so_many_texts() {
        let mut db = Connection::open_in_memory().unwrap();
        db.execute_batch(TABLES).unwrap();
        assert_eq!(spend(&mut db, 3, 4).unwrap(), 3);
        assert_eq!(spend(&mut db, 2, 4).unwrap(), 1);
        assert_eq!(spend(&mut db, 1, 4).unwrap(), 0);
        db.execute("UPDATE meant_day SET day = day - 1", [])
            .unwrap();
        assert_eq!(spend(&mut db, 4, 4).unwrap(), 4);
    }
}
