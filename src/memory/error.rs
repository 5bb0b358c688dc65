//! Lists the errors of remembering, recalling and forgetting.

use std::io;

use crate::audit::AuditError;

/// A line of an import that cannot be taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1.
    pub line: usize,
    /// The fault, as the end of a sentence.
    pub why: String,
}

/// An error of remembering, recalling or forgetting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// There is no such memory of this owner.
    #[error("there is no such memory")]
    NoSuch,
    /// The owner has as much as it may.
    #[error("all room is taken: 1,000 memories and 4 MB of text are the most")]
    Full,
    /// The owner forgot or changed more in a month than is kept for restoring.
    #[error("too much was changed or forgotten within 30 days to keep it all for restoring")]
    ForgotTooMuch,
    /// There are as many owners as there may be.
    #[error("200 clients remember something in this wiki, which is the most")]
    TooManyOwners,
    /// Lines of an import that cannot be taken over.
    #[error("lines of the import are not good")]
    BadLines(Vec<BadLine>),
    /// Another process holds the store.
    #[error("another process works on the memories")]
    Busy,
    /// The file belongs to another user, is a link or no file, or lies where others may write.
    #[error("the file of the memories {0}")]
    NotOurs(&'static str),
    /// The file is damaged, or no database.
    #[error("the file of the memories is damaged")]
    Damaged,
    /// A newer program made the file.
    #[error("a newer version wrote the file of the memories")]
    Newer,
    /// The disk gave this error.
    #[error("the file of the memories cannot be used: {0}")]
    Io(io::ErrorKind),
    /// The change could not be put on record, so it was not made.
    #[error("{0}")]
    Audit(#[from] AuditError),
    /// Disk work broke off: a bug, or the end of the program.
    #[error("work on the memories broke off")]
    BrokenOff,
}

impl MemoryError {
    /// Advice for an operator.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoSuch => "`wikijs-gate memory list --all` has all that there are",
            Self::Full => "`wikijs-gate memory forget` takes some away",
            Self::ForgotTooMuch => {
                "wait, or have the operator remove what was forgotten for good: `wikijs-gate memory clear --client NAME --forgotten`"
            }
            Self::TooManyOwners => {
                "have the operator remove those of clients that are no more: `wikijs-gate memory clear --client NAME --for-good`"
            }
            Self::BadLines(_) => "correct these lines; nothing was imported",
            Self::Busy => "try again in a few seconds",
            Self::NotOurs(_) | Self::Io(_) => {
                "check memory.sqlite in the wiki's directory below WIKI_AUDIT_DIR, its owner and its rights; `wikijs-gate doctor` names it"
            }
            Self::Damaged => {
                "restore memory.sqlite in the wiki's directory below WIKI_AUDIT_DIR from a backup, or move it away to begin anew; `wikijs-gate doctor` names it"
            }
            Self::Newer => "use the newer version of this program",
            Self::Audit(error) => error.hint(),
            Self::BrokenOff => "this is a bug; please report it",
        }
    }
}

impl From<rusqlite::Error> for MemoryError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Is;
        tracing::error!(%error, "the store of memories failed");
        match error.sqlite_error_code() {
            Some(Is::DatabaseBusy | Is::DatabaseLocked) => Self::Busy,
            Some(Is::DiskFull) => Self::Io(io::ErrorKind::StorageFull),
            Some(
                Is::ReadOnly
                | Is::PermissionDenied
                | Is::CannotOpen
                | Is::AuthorizationForStatementDenied,
            ) => Self::Io(io::ErrorKind::PermissionDenied),
            Some(Is::SystemIoFailure) => Self::Io(io::ErrorKind::Other),
            _ => Self::Damaged,
        }
    }
}

impl From<io::Error> for MemoryError {
    fn from(error: io::Error) -> Self {
        tracing::error!(%error, "the file of the memories cannot be used");
        match error.kind() {
            io::ErrorKind::AlreadyExists => Self::NotOurs("is a link"),
            kind => Self::Io(kind),
        }
    }
}
