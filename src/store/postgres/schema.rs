//! Makes our tables, and checks that those of a database are ours and of this version.

use sha2::{Digest as _, Sha256};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

use super::faults::{AskFault, INCOMPLETE, NO_TABLES};
use super::statement::column;
use crate::store::{StoreError, StoreResult};

/// The statements that make the tables, oldest first. One that was released never changes.
const MIGRATIONS: [&str; 1] = [include_str!("migrations/0001.sql")];

/// A table that somebody else may have, too.
const A_TABLE: &str = "@.holder";
const MIGRATION_TABLE: &str = "@.wikijs_gate_migration";

/// The rights that the program needs in the schema $1 and has not, each in words. What is not there needs none.
pub(super) const MISSING_RIGHTS: &str = "
    SELECT 'USAGE on the schema ' || nspname FROM pg_namespace
    WHERE nspname = $1 AND NOT has_schema_privilege(oid, 'USAGE')
    UNION ALL
    SELECT right_ || ' on ' || relname FROM pg_class,
        unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS right_
    WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
        AND (relname IN ('blob', 'document', 'holder', 'lease', 'line', 'run', 'run_count')
            OR relname = 'wikijs_gate_migration' AND right_ = 'SELECT')
        AND NOT has_table_privilege(oid, right_)
    UNION ALL
    SELECT 'EXECUTE on ' || proname FROM pg_proc
    WHERE pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
        AND proname IN ('is_past', 'is_unpaused', 'may_change', 'try_lease')
        AND NOT has_function_privilege(oid, 'EXECUTE')
    ORDER BY 1";

/// The number of standby servers that are connected or that a slot waits for; no row if one of them is synchronous.
/// A role without `pg_read_all_stats` sees of a connection only that it is there.
pub(super) const ASYNCHRONOUS_STANDBYS: &str = "
    SELECT count(*)::text FROM (
        SELECT 1 FROM pg_stat_replication AS sender WHERE state IS DISTINCT FROM 'backup'
            AND NOT EXISTS (
                SELECT FROM pg_replication_slots WHERE slot_type = 'logical' AND active_pid = sender.pid
            )
        UNION ALL
        SELECT 1 FROM pg_replication_slots WHERE slot_type = 'physical' AND NOT active
    ) AS standby
    WHERE $1::text IS NOT NULL AND current_setting('synchronous_standby_names') = '' AND NOT pg_is_in_recovery()
    HAVING count(*) > 0";

/// A row if the database takes no changes.
pub(super) const READ_ONLY: &str = "
    SELECT 'x'::text WHERE $1::text IS NOT NULL AND current_setting('transaction_read_only')::bool";

const OLD: StoreError =
    StoreError::NotReady("has tables of an older version: run `wikijs-gate store migrate`");
const OTHER_ENCODING: StoreError = StoreError::NotReady("has another encoding than UTF8");
const OTHER_LEVEL: StoreError = StoreError::NotReady(
    "begins transactions at another level than `read committed`: set default_transaction_isolation for our role",
);
/// A table, function or index of that name is there.
const TAKEN: [SqlState; 2] = [SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_FUNCTION];
const FOREIGN: StoreError =
    StoreError::NotReady("has tables of somebody else under our names: give us another schema");

/// The version of the tables, before and now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// The version before; 0 if there were none.
    pub from: usize,
    /// The version now.
    pub to: usize,
}

/// A statement with our schema in it, whose name needs no quotes but may be a word of SQL.
pub(super) fn in_schema(sql: &str, schema: &str) -> String {
    sql.replace("@.", &format!("\"{schema}\"."))
}

/// Checks that a database has our tables, in this version, and works as we rely on.
pub(super) async fn check(client: &Client, schema: &str) -> Result<(), AskFault> {
    check_database(client).await?;
    match known_of(&applied(client, schema).await?)? {
        0 => Err(NO_TABLES.into()),
        known if known < MIGRATIONS.len() => Err(OLD.into()),
        _ => Ok(()),
    }
}

async fn check_database(client: &Client) -> Result<(), AskFault> {
    let sql = "SELECT current_setting('server_encoding'), current_setting('default_transaction_isolation')";
    let row = client.query_typed_one(sql, &[]).await?;
    let text = |at| column::<String>(&row, at);
    match (&*text(0)?, &*text(1)?) {
        ("UTF8", "read committed") => Ok(()),
        ("UTF8", _) => Err(OTHER_LEVEL.into()),
        _ => Err(OTHER_ENCODING.into()),
    }
}

/// The digests of the versions that were applied; none if there are no tables.
async fn applied(client: &Client, schema: &str) -> Result<Vec<Vec<u8>>, AskFault> {
    let sql = in_schema(
        "SELECT to_regclass($1) IS NOT NULL, to_regclass($2) IS NOT NULL",
        schema,
    );
    let names = [MIGRATION_TABLE, A_TABLE].map(|name| in_schema(name, schema));
    let found = client
        .query_typed_one(
            &sql,
            &[(&&*names[0], Type::TEXT), (&&*names[1], Type::TEXT)],
        )
        .await?;
    match (column(&found, 0)?, column(&found, 1)?) {
        (false, true) => return Err(FOREIGN.into()),
        (false, false) => return Ok(Vec::new()),
        (true, _) => {}
    }
    let sql = in_schema(
        "SELECT digest FROM @.wikijs_gate_migration ORDER BY number",
        schema,
    );
    let rows = client.query_typed(&sql, &[]).await;
    let rows = rows.map_err(|error| match AskFault::new(&error) {
        fault if fault.error == INCOMPLETE => FOREIGN.into(),
        fault => fault,
    })?;
    let digests = rows.iter().map(|row| column(row, 0));
    Ok(digests.collect::<StoreResult<_>>()?)
}

/// The number of applied versions, all of which this program knows.
fn known_of(applied: &[Vec<u8>]) -> StoreResult<usize> {
    for (digest, migration) in applied.iter().zip(MIGRATIONS) {
        if *digest != Sha256::digest(migration).as_slice() {
            return Err(StoreError::NotReady("has tables that another program made"));
        }
    }
    if applied.len() > MIGRATIONS.len() {
        return Err(StoreError::NotReady(
            "has tables of a newer version of this program",
        ));
    }
    Ok(applied.len())
}

/// Makes or brings up our tables, in one transaction that one process at a time has.
pub(super) async fn migrate(client: &mut Client, schema: &str) -> Result<Migrated, AskFault> {
    check_database(client).await?;
    let transaction = client.transaction().await?;
    let own: &[(&(dyn ToSql + Sync), Type)] = &[(&schema, Type::TEXT)];
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1 || '.wikijs_gate_migration', 0))";
    transaction.query_typed(lock, own).await?;
    // Making a schema needs a right that nobody needs who has one.
    let is_there = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1";
    if transaction.query_typed(is_there, own).await?.is_empty() {
        let make = format!("CREATE SCHEMA \"{schema}\"");
        transaction.batch_execute(&make).await?;
    }
    let from = known_of(&applied(transaction.client(), schema).await?)?;
    for (number, migration) in MIGRATIONS.iter().enumerate().skip(from) {
        let sql = in_schema(migration, schema);
        let made = transaction.batch_execute(&sql).await;
        made.map_err(|error| match (error.code(), AskFault::new(&error)) {
            (Some(code), _) if TAKEN.contains(code) => FOREIGN.into(),
            (_, fault) => fault,
        })?;
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        let note = in_schema(
            "INSERT INTO @.wikijs_gate_migration (number, digest) VALUES ($1 + 1, $2)",
            schema,
        );
        let digest = Sha256::digest(migration).to_vec();
        transaction
            .query_typed(&note, &[(&number, Type::INT8), (&digest, Type::BYTEA)])
            .await?;
    }
    transaction.commit().await?;
    Ok(Migrated {
        from,
        to: MIGRATIONS.len(),
    })
}
