//! Keeps documents as rows.

use super::PostgresStore;
use super::statement::{Statement, column, listed, listing, synced, whole};
use crate::store::{DocumentKind, Documents, Fence, Listed, StoreError, StoreResult};

impl PostgresStore {
    /// The wiki of a kind: all have one pause.
    fn wiki_of(&self, kind: DocumentKind) -> &str {
        if kind == DocumentKind::Pause {
            ""
        } else {
            &self.wiki
        }
    }

    /// The name of a document of a kind: that of a kind with one document is empty.
    const fn name_of(kind: DocumentKind, name: &str) -> &str {
        match kind {
            DocumentKind::Pause | DocumentKind::AnchorFault => "",
            _ => name,
        }
    }

    /// Writes and removes a row of this size, of no kind.
    pub(super) fn write_probe(&self, size: usize) -> StoreResult<()> {
        let write = concat!(
            "INSERT INTO @.document (wiki, kind, name, bytes, changed)
            SELECT $1, '', '', $2, clock_timestamp() WHERE ",
            synced!(),
            " ON CONFLICT (wiki, kind, name) DO UPDATE SET bytes = excluded.bytes"
        );
        // The database makes small what repeats itself.
        let mut bytes = vec![0; size];
        getrandom::fill(&mut bytes).map_err(|_| StoreError::BrokenOff)?;
        let write = Statement::new(write).text(&self.wiki).bytes(&bytes);
        self.database.ask(write)?;
        let remove = "DELETE FROM @.document WHERE wiki = $1 AND kind = ''";
        self.database
            .ask(Statement::new(remove).text(&self.wiki))
            .map(drop)
    }

    /// About a document that is changed under a lease or none.
    fn held(
        &self,
        sql: &'static str,
        fence: Fence,
        (kind, name): (DocumentKind, &str),
    ) -> Statement {
        let asked = self.about(sql, kind).text(Self::name_of(kind, name));
        asked.integer(fence.holder).integer(fence.number)
    }

    fn about(&self, sql: &'static str, kind: DocumentKind) -> Statement {
        Statement::new(sql)
            .text(self.wiki_of(kind))
            .text(kind.word())
    }
}

impl Documents for PostgresStore {
    fn document(&self, kind: DocumentKind, name: &str) -> StoreResult<Option<Vec<u8>>> {
        let most = i64::try_from(kind.most_bytes()).unwrap_or(i64::MAX);
        let asked = self
            .about(
                "SELECT CASE WHEN octet_length(bytes) <= $4 THEN bytes END FROM @.document
                WHERE wiki = $1 AND kind = $2 AND name = $3",
                kind,
            )
            .text(Self::name_of(kind, name))
            .integer(most);
        whole(&self.database.ask(asked)?)
    }

    fn write_held(
        &self,
        fence: Fence,
        (kind, name): (DocumentKind, &str),
        bytes: &[u8],
    ) -> StoreResult<()> {
        let sql = concat!(
            "INSERT INTO @.document (wiki, kind, name, bytes, changed)
            SELECT $1, $2, $3, $6, clock_timestamp() WHERE @.may_change($2, $4, $5) AND ",
            synced!(),
            " ON CONFLICT (wiki, kind, name)
            DO UPDATE SET bytes = excluded.bytes, changed = excluded.changed RETURNING 1"
        );
        let asked = self.held(sql, fence, (kind, name)).bytes(bytes);
        let rows = self.database.ask(asked)?;
        rows.first().map(drop).ok_or(StoreError::Overtaken)
    }

    fn remove_held(&self, fence: Fence, kind: DocumentKind, name: &str) -> StoreResult<bool> {
        let sql = concat!(
            "WITH may AS MATERIALIZED (SELECT @.may_change($2, $4, $5) AS may), removed AS (
                DELETE FROM @.document WHERE wiki = $1 AND kind = $2 AND name = $3
                AND (SELECT may FROM may) AND ",
            synced!(),
            " RETURNING 1
            ) SELECT EXISTS (SELECT FROM removed) FROM may WHERE may"
        );
        let rows = self.database.ask(self.held(sql, fence, (kind, name)))?;
        column(rows.first().ok_or(StoreError::Overtaken)?, 0)
    }

    fn documents(&self, kind: DocumentKind) -> StoreResult<Vec<Listed>> {
        let sql = concat!(
            "SELECT ",
            listing!(),
            " FROM @.document WHERE wiki = $1 AND kind = $2"
        );
        listed(&self.database.ask(self.about(sql, kind).long())?)
    }
}
