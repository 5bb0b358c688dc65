//! Cleans up before every change: purges what was forgotten long ago, and corrects times that lie
//! in the future.
//!
//! A clock that runs ahead must not purge what it should not. So what is old enough is only marked at
//! first, and purged when it still is a day later; a clock that is put right in between loses
//! nothing.

use rusqlite::{Connection, params};

use super::error::MemoryError;
use super::moment::Timestamp;

/// The days during which a forgotten or superseded memory can be restored.
pub const KEPT_DAYS: i64 = 30;
/// The days that something must be due before it is purged, and the most that clocks may differ.
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
