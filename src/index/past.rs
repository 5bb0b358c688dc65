//! Remembers the places of pages that an index knew and the wiki has no more: an index on the disk
//! tells a later process what went between the two (W18).

use std::collections::HashSet;

use rusqlite::{Connection, Row};
use time::OffsetDateTime;

use crate::page::{Locale, PagePath};
use crate::wiki::SeenPage;

/// The most removed pages that are remembered, the last removed.
const MOST: usize = 1_000;

pub(super) const TABLE: &str = "
    CREATE TABLE past (
        id INTEGER PRIMARY KEY, locale TEXT NOT NULL, path TEXT NOT NULL, tags TEXT NOT NULL,
        seen INTEGER NOT NULL
    );
";

/// The pages that the index has or had, with the time when they were seen last.
const KNOWN: &str = "
    SELECT id, locale, path, tags,
           CASE missing WHEN 0 THEN coalesce((SELECT at FROM look), 0) ELSE missing END
    FROM page
    UNION ALL
    SELECT id, locale, path, tags, seen FROM past
";

/// Remembers a page that is about to be removed.
pub(super) fn remember(change: &Connection, id: i64) -> rusqlite::Result<()> {
    change.execute(
        "REPLACE INTO past SELECT id, locale, path, tags, missing FROM page WHERE id = ?1",
        [id],
    )?;
    Ok(())
}

/// Forgets the pages that were seen last the longest ago, beyond what is remembered.
pub(super) fn forget_beyond(change: &Connection) -> rusqlite::Result<()> {
    change.execute(
        &format!(
            "DELETE FROM past WHERE id NOT IN
             (SELECT id FROM past ORDER BY seen DESC, id DESC LIMIT {MOST})"
        ),
        [],
    )?;
    Ok(())
}

fn known(row: &Row<'_>) -> rusqlite::Result<SeenPage> {
    let tags: String = row.get(3)?;
    let seen: i64 = row.get(4)?;
    Ok(SeenPage {
        id: row.get(0)?,
        locale: Locale::as_stored(row.get::<_, String>(1)?),
        path: PagePath::as_stored(row.get::<_, String>(2)?),
        tags: tags.lines().map(str::to_owned).collect(),
        time: OffsetDateTime::from_unix_timestamp(seen).unwrap_or(OffsetDateTime::UNIX_EPOCH),
    })
}

/// The ids of the pages that the index has or had.
pub(super) fn ids(db: &Connection) -> rusqlite::Result<HashSet<i64>> {
    let mut query = db.prepare("SELECT id FROM page UNION SELECT id FROM past")?;
    let ids = query.query_map([], |row| row.get(0))?;
    ids.collect()
}

/// Those of these pages that the index has or had.
pub(super) fn pages(db: &Connection, ids: &HashSet<i64>) -> rusqlite::Result<Vec<SeenPage>> {
    let mut query = db.prepare(KNOWN)?;
    let mut rows = query.query([])?;
    let mut pages = Vec::new();
    while let Some(row) = rows.next()? {
        if ids.contains(&row.get(0)?) {
            pages.push(known(row)?);
        }
    }
    Ok(pages)
}
