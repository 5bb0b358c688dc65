//! Keeps blobs as rows.

use std::time::SystemTime;

use super::PostgresStore;
use super::statement::{Statement, column, listed, listing, synced, whole};
use crate::store::{Blobs, Listed, StoreResult};

/// Seconds for which a question may be under way: what was renewed so much before a time counts as renewed
/// after it.
const UNDER_WAY: f64 = 10.0;

impl Blobs for PostgresStore {
    fn put_blob(&self, name: &str, bytes: &[u8]) -> StoreResult<u64> {
        let sql = concat!(
            "INSERT INTO @.blob (wiki, name, bytes, changed) SELECT $1, $2, $3, clock_timestamp() WHERE ",
            synced!(),
            " ON CONFLICT (wiki, name) DO UPDATE SET bytes = excluded.bytes, changed = excluded.changed"
        );
        self.database
            .ask(self.about_named(sql, name).bytes(bytes))?;
        Ok(u64::try_from(bytes.len()).unwrap_or(u64::MAX))
    }

    fn renew_blob(&self, name: &str) -> StoreResult<bool> {
        let sql = concat!(
            "UPDATE @.blob SET changed = clock_timestamp() WHERE wiki = $1 AND name = $2 AND ",
            synced!(),
            " RETURNING 1"
        );
        Ok(!self.database.ask(self.about_named(sql, name))?.is_empty())
    }

    fn blob(&self, name: &str, most: u64) -> StoreResult<Option<Vec<u8>>> {
        let sql = "SELECT CASE WHEN octet_length(bytes) <= $3 THEN bytes END FROM @.blob
            WHERE wiki = $1 AND name = $2";
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        whole(
            &self
                .database
                .ask(self.about_named(sql, name).integer(most))?,
        )
    }

    fn end_of_blob(&self, name: &str, count: u32) -> StoreResult<Option<Vec<u8>>> {
        let sql = "SELECT substring(bytes FROM greatest(octet_length(bytes) - $3, 0)::int + 1) FROM @.blob
            WHERE wiki = $1 AND name = $2";
        let asked = self.about_named(sql, name).integer(count.into());
        let rows = self.database.ask(asked)?;
        rows.first().map(|row| column(row, 0)).transpose()
    }

    fn blobs(&self) -> StoreResult<Vec<Listed>> {
        let sql = concat!("SELECT ", listing!(), " FROM @.blob WHERE wiki = $1");
        let rows = self
            .database
            .ask(Statement::new(sql).text(&self.wiki).long())?;
        listed(&rows)
    }

    fn remove_blob(&self, name: &str, not_since: SystemTime) -> StoreResult<bool> {
        let ago = SystemTime::now().duration_since(not_since);
        let ago = ago.map_or_else(
            |ahead| -ahead.duration().as_secs_f64(),
            |ago| ago.as_secs_f64(),
        );
        let sql = concat!(
            "DELETE FROM @.blob WHERE wiki = $1 AND name = $2
            AND changed <= clock_timestamp() - make_interval(secs => $3) AND ",
            synced!(),
            " RETURNING 1"
        );
        let asked = self.about_named(sql, name).seconds(ago + UNDER_WAY);
        Ok(!self.database.ask(asked)?.is_empty())
    }

    fn sync_removed(&self) -> StoreResult<()> {
        // They are gone for good when they are removed.
        Ok(())
    }
}
