//! Decides what an error of the database means.

use std::io::ErrorKind;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::store::StoreError;

/// Our tables are not there.
pub(super) const NO_TABLES: StoreError =
    StoreError::NotReady("has no tables of ours: run `wikijs-gate store migrate`");

/// Something of our tables is not there.
pub(super) const INCOMPLETE: StoreError = StoreError::NotReady(
    "lacks a table or column of ours: run `wikijs-gate store migrate`, and where that has nothing to do restore the schema from a backup",
);

/// The role may not do what is asked.
pub(super) const NO_RIGHTS: StoreError = StoreError::NotReady(
    "does not give this role a right that it needs: `wikijs-gate doctor` names those on our tables",
);

/// There is no password to log in with.
pub(super) const NO_PASSWORD: StoreError = StoreError::NotReady(
    "cannot be asked: its password cannot be read, and the program's own log says why; check store_password_file or store_password_command",
);

/// The reason why a question has no answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct AskFault {
    pub(super) error: StoreError,
    /// True if asking again may help. What was asked may have been done.
    pub(super) is_passing: bool,
    /// True if the connection can still be used.
    pub(super) keeps_connection: bool,
}

impl AskFault {
    /// The database is not there, or does not answer.
    pub(super) const AWAY: Self = Self {
        error: StoreError::Unreachable,
        is_passing: true,
        keeps_connection: false,
    };

    /// No second question helps.
    pub(super) const fn lasting(error: StoreError) -> Self {
        Self {
            error,
            is_passing: false,
            keeps_connection: true,
        }
    }

    /// The meaning of an error, which is written to the program's own log. What the database says beside its
    /// message is not: it may hold what is kept.
    pub(super) fn new(error: &Error) -> Self {
        let Some(told) = error.as_db_error() else {
            tracing::debug!(error = %with_causes(error), "store: a connection broke");
            return Self::AWAY;
        };
        let fault = Self::of_code(told.code());
        if !fault.is_passing {
            let (code, message) = (told.code().code(), told.message());
            tracing::error!(code, message, "store: the database refused something");
        }
        fault
    }

    fn of_code(code: &SqlState) -> Self {
        let lasting = |kind| Self::lasting(StoreError::Io(kind));
        match code.code() {
            // A transaction that was in the way of another; it is rolled back.
            "40001" | "40P01" => Self {
                keeps_connection: true,
                ..Self::AWAY
            },
            // Another server may have become the one that writes.
            "25006" => Self {
                keeps_connection: false,
                ..lasting(ErrorKind::ReadOnlyFilesystem)
            },
            "42501" => Self::lasting(NO_RIGHTS),
            "53100" => lasting(ErrorKind::StorageFull),
            "53200" | "53400" => lasting(ErrorKind::OutOfMemory),
            "57014" | "55P03" => lasting(ErrorKind::TimedOut),
            "23505" => lasting(ErrorKind::AlreadyExists),
            "22021" | "22P05" => lasting(ErrorKind::InvalidInput),
            "3F000" => Self::lasting(NO_TABLES),
            "42P01" | "42883" | "42703" => Self::lasting(INCOMPLETE),
            "3D000" => Self::lasting(StoreError::NotReady(
                "does not exist: make it by createdb, or correct its name in WIKI_STORE",
            )),
            code if code.starts_with("28") => Self::lasting(StoreError::NotReady(
                "does not let this role in: check its name, and store_password_file or store_password_command",
            )),
            // Broken connections, too many of them, a server that ends or begins.
            code if ["08", "57P", "533"]
                .iter()
                .any(|class| code.starts_with(class)) =>
            {
                Self::AWAY
            }
            _ => lasting(ErrorKind::Other),
        }
    }
}

/// A fault of the store's own lasts.
impl From<StoreError> for AskFault {
    fn from(error: StoreError) -> Self {
        Self::lasting(error)
    }
}

impl From<Error> for AskFault {
    fn from(error: Error) -> Self {
        Self::new(&error)
    }
}

/// An error with all that caused it.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text.push_str(": ");
        text.push_str(&next.to_string());
        cause = next.source();
    }
    text
}
