//! What is done before every change: what was forgotten long ago is purged, and times that lie in
//! the future are put right.
//!
//! A clock that runs ahead must not purge what it should not. So what is old enough is only marked at
//! first, and purged when it still is a day later; a clock that is put right in between loses
//! nothing.

use rusqlite::{Connection, params};

use super::error::MemoryError;
use super::moment::Timestamp;

/// How many days what was forgotten or superseded can be restored.
pub const KEPT_DAYS: i64 = 30;
/// How many days something must be due before it is purged, and how far clocks may differ.
const GRACE_DAYS: i64 = 1;

/// Does it, within a change.
pub(super) fn keep_up(db: &Connection, now: Timestamp) -> Result<(), MemoryError> {
    let ahead = now.plus_days(GRACE_DAYS).0;
    for column in ["created", "changed", "used", "gone"] {
        db.execute(
            &format!("UPDATE entry SET {column} = ?1 WHERE {column} > ?2"),
            params![now.0, ahead],
        )?;
    }
    let old = now.plus_days(-KEPT_DAYS).0;
    db.execute(
        "UPDATE entry SET due = NULL
         WHERE due IS NOT NULL AND (gone IS NULL OR gone >= ?1 OR due > ?2)",
        params![old, now.0],
    )?;
    db.execute(
        "DELETE FROM entry WHERE gone IS NOT NULL AND due <= ?1",
        [now.plus_days(-GRACE_DAYS).0],
    )?;
    db.execute(
        "UPDATE entry SET due = ?1 WHERE gone < ?2 AND due IS NULL",
        params![now.0, old],
    )?;
    Ok(())
}
