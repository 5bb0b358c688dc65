//! The store in PostgreSQL, which any number of processes share.
//!
//! | table | for |
//! |---|---|
//! | `holder` | the processes that hold something, each with an end that it moves while it lives |
//! | `lease` | what they hold |
//! | `run`, `line`, `run_count` | the log: its runs, and their bytes as they were appended |
//! | `blob`, `document` | what has these names |
//! | `wikijs_gate_migration` | the versions of these tables |
//!
//! Each question is one statement, so that nothing is held while a process is silent, and a pooler may
//! give each another connection. Each may be asked twice: if a connection breaks, it is. Time is the database's.

mod blobs;
mod connections;
mod database;
mod documents;
mod faults;
mod holder;
mod leases;
mod runs;
mod schema;
mod statement;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub use database::Database;
#[cfg(test)]
use schema::Migrated;
use statement::{Statement, column};

use super::{Store, StoreResult};

/// The rows of one wiki.
#[derive(Debug)]
pub(crate) struct PostgresStore {
    database: Arc<Database>,
    wiki: String,
}

impl PostgresStore {
    /// The rows of a wiki, by its name; those that all wikis share have an empty one.
    pub(crate) fn new(database: Arc<Database>, wiki: &str) -> Self {
        Self {
            database,
            wiki: wiki.to_owned(),
        }
    }

    /// About the row of the wiki with this name.
    fn about_named(&self, sql: &'static str, name: &str) -> Statement {
        Statement::new(sql).text(&self.wiki).text(name)
    }
}

impl Store for PostgresStore {
    fn tidy(&self) -> StoreResult<Vec<String>> {
        // A statement is done whole or not at all.
        Ok(Vec::new())
    }

    fn is_there(&self) -> bool {
        true
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn probe(&self, size: usize) -> StoreResult<()> {
        self.write_probe(size)
    }

    fn now(&self) -> StoreResult<SystemTime> {
        let sql = "SELECT extract(epoch FROM clock_timestamp())::float8";
        let rows = self.database.ask(Statement::new(sql))?;
        let seconds = rows.first().map_or(Ok(0.0), |row| column(row, 0))?;
        let since = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        Ok(SystemTime::UNIX_EPOCH + since)
    }
}
