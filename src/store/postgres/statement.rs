//! Makes the statements that the database is asked, and reads the rows that it answers with.

use std::time::{Duration, SystemTime};

use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql, Type};

use crate::store::{Listed, StoreError, StoreResult};

/// The end of most questions.
const SHORT: Duration = Duration::from_secs(5);
/// The end of those about many rows.
const LONG: Duration = Duration::from_mins(1);

/// Stands in statements that must be there for good when they are answered, whatever database and role are set
/// to otherwise.
macro_rules! synced {
    () => {
        "set_config('synchronous_commit', CASE current_setting('synchronous_commit')
            WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) IS NOT NULL"
    };
}

/// Stands in statements whose loss in a crash of the database does no harm.
macro_rules! unsynced {
    () => {
        "set_config('synchronous_commit', 'off', true) IS NOT NULL"
    };
}

/// Stands in statements for what [`listed`] reads of a row.
macro_rules! listing {
    () => {
        "name, octet_length(bytes)::bigint, extract(epoch FROM clock_timestamp() - changed)::float8,
            (extract(epoch FROM changed) * 1000000)::bigint"
    };
}

pub(super) use {listing, synced, unsynced};

/// One statement, done whole or not at all. Doing it twice does no more than once.
#[derive(Debug)]
pub(super) struct Statement {
    /// `@.` stands for our schema.
    pub(super) sql: &'static str,
    parameters: Vec<(Box<dyn ToSql + Send + Sync>, Type)>,
    pub(super) limit: Duration,
    /// True if it waits for no other question.
    pub(super) is_urgent: bool,
}

impl Statement {
    pub(super) const fn new(sql: &'static str) -> Self {
        Self {
            sql,
            parameters: Vec::new(),
            limit: SHORT,
            is_urgent: false,
        }
    }

    /// May take longer, since it is about many rows.
    pub(super) const fn long(mut self) -> Self {
        self.limit = LONG;
        self
    }

    /// Waits for no other question, however many are asked.
    pub(super) const fn urgent(mut self) -> Self {
        self.is_urgent = true;
        self
    }

    /// Ends after this time at the latest.
    pub(super) const fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    pub(super) fn text(self, text: &str) -> Self {
        self.with(text.to_owned(), Type::TEXT)
    }

    pub(super) fn integer(self, number: i64) -> Self {
        self.with(number, Type::INT8)
    }

    pub(super) fn integers(self, numbers: Vec<i64>) -> Self {
        self.with(numbers, Type::INT8_ARRAY)
    }

    pub(super) fn seconds(self, seconds: f64) -> Self {
        self.with(seconds, Type::FLOAT8)
    }

    /// Bytes, which take their time.
    pub(super) fn bytes(mut self, bytes: &[u8]) -> Self {
        let megabytes = u64::try_from(bytes.len() >> 20).unwrap_or(u64::MAX);
        self.limit = self.limit.saturating_add(Duration::from_secs(megabytes));
        self.with(bytes.to_vec(), Type::BYTEA)
    }

    pub(super) fn flag(self, flag: bool) -> Self {
        self.with(flag, Type::BOOL)
    }

    fn with(mut self, parameter: impl ToSql + Send + Sync + 'static, kind: Type) -> Self {
        self.parameters.push((Box::new(parameter), kind));
        self
    }

    /// The parameters as the client takes them.
    pub(super) fn typed(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        let mut typed = Vec::<(&(dyn ToSql + Sync), Type)>::new();
        for (parameter, kind) in &self.parameters {
            typed.push((&**parameter, kind.clone()));
        }
        typed
    }
}

/// A column of a row.
pub(super) fn column<'row, T: FromSql<'row>>(row: &'row Row, at: usize) -> StoreResult<T> {
    row.try_get(at).map_err(|error| {
        tracing::error!(%error, "store: the database answered with something else");
        StoreError::Io(std::io::ErrorKind::InvalidData)
    })
}

/// A length or an offset.
pub(super) fn unsigned(row: &Row, at: usize) -> StoreResult<u64> {
    u64::try_from(column::<i64>(row, at)?)
        .map_err(|_| StoreError::Io(std::io::ErrorKind::InvalidData))
}

/// The time that is so many seconds ago.
pub(super) fn time_before_now(seconds: f64) -> SystemTime {
    let ago = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default();
    SystemTime::now()
        .checked_sub(ago)
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Rows of [`listing`].
pub(super) fn listed(rows: &[Row]) -> StoreResult<Vec<Listed>> {
    let listed = rows.iter().map(|row| {
        Ok(Listed {
            name: column(row, 0)?,
            length: unsigned(row, 1)?,
            changed: time_before_now(column(row, 2)?),
            version: unsigned(row, 3)?.into(),
        })
    });
    listed.collect()
}

/// The bytes in rows of length and bytes, which are null if they are more than asked for.
pub(super) fn whole(rows: &[Row]) -> StoreResult<Option<Vec<u8>>> {
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let bytes: Option<Vec<u8>> = column(row, 0)?;
    bytes.map(Some).ok_or(StoreError::Unfit("is too large"))
}
