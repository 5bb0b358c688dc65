//! Lists the errors of remembering, recalling and forgetting.

use std::io;

use crate::audit::AuditError;
use crate::store::StoreError;

/// An error of remembering, recalling or forgetting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// There is no such memory of this owner.
    #[error("there is no such memory")]
    NoSuch,
    /// The owner has as much as it may.
    #[error("all room is taken: 1,000 memories and 4 MB of text are the most")]
    Full,
    /// There are as many owners as there may be.
    #[error("200 clients remember something in this wiki, which is the most")]
    TooManyOwners,
    /// A line of an import that cannot be taken over.
    #[error("nothing was imported: line {line} {why}")]
    BadLine {
        /// Its number, from 1.
        line: usize,
        /// The fault, as the end of a sentence.
        why: String,
    },
    /// The peer server gave no answer that can be used.
    #[error("the peer server gave nothing: {0}")]
    Peer(String),
    /// A file belongs to another user, is a link or no file, or can be changed by others.
    #[error("the file of the memories {0}")]
    NotOurs(&'static str),
    /// This document, of one client, is damaged, or a newer version wrote it.
    #[error("the document {0} of the memories is damaged, or a newer version wrote it")]
    Damaged(String),
    /// The disk gave this error.
    #[error("the memories cannot be read or written: {0}")]
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
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoSuch => "`wikijs-gate memory list --all` has all that there are",
            Self::Full => "`wikijs-gate memory forget` takes some away",
            Self::TooManyOwners => {
                "have the operator remove those of clients that are no more: `wikijs-gate memory forget --client NAME --for-good`"
            }
            Self::BadLine { .. } => "correct this line, and import again",
            Self::Peer(_) => {
                "look at memory_peer and its token, and at the peer's own log; what was exchanged stays, and another call goes on from there"
            }
            Self::NotOurs(_) | Self::Io(_) => {
                "check where WIKI_STORE leads; on one machine the directory `memory` in the wiki's directory below WIKI_AUDIT_DIR, its owner and its rights; `wikijs-gate doctor` names it"
            }
            Self::Damaged(_) => {
                "restore it from a backup, on one machine the file of that name in the directory `memory`, which `wikijs-gate doctor` names, or move that away: its client begins anew then, and others keep theirs"
            }
            Self::Audit(error) => error.hint(),
            Self::BrokenOff => "this is a bug; please report it",
        }
    }
}

impl From<io::Error> for MemoryError {
    fn from(error: io::Error) -> Self {
        Self::Io(error.kind())
    }
}

impl From<StoreError> for MemoryError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unfit(why) => Self::NotOurs(why),
            StoreError::Io(kind) => Self::Io(kind),
            StoreError::BrokenOff => Self::BrokenOff,
            error => Self::Audit(error.into()),
        }
    }
}
