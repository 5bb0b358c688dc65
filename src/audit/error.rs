//! Defines the errors of writing and reading the audit log.

use std::io;

use super::Pause;
use crate::store::StoreError;
use crate::words::counted;

/// A result that ends in an [`AuditError`].
pub type AuditResult<T> = Result<T, AuditError>;

/// An error of writing or reading the audit log.
///
/// The messages are for outside, so they hold no disk path. The path goes only to the program's own
/// log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    /// A file or directory could not be made, written or read.
    #[error("the store of the record cannot be used: {0}")]
    Io(io::ErrorKind),
    /// The audit directory, or a file in it, belongs to another user.
    #[error("the audit directory, or a file in it, belongs to another user (uid {0})")]
    Foreign(u32),
    /// Others than its owner may write the audit directory.
    #[error("others than its owner may write the audit directory")]
    Exposed,
    /// Its file system gives no locks, without which servers would overwrite each other.
    #[error(
        "the audit directory is on a file system that gives no locks, which servers need in order to take turns"
    )]
    NoLocks,
    /// A server cannot open files that it needs.
    #[error("{} in the audit directory cannot be opened", counted(*.0, "file or directory", "files or directories"))]
    Closed(usize),
    /// The file of the active run was removed, replaced or cut.
    #[error("the audit log's file was removed or changed by somebody else")]
    Replaced,
    /// The database that the record is in is not as this program needs it.
    #[error("the database of the record {0}")]
    NotReady(&'static str),
    /// The database that the record is in cannot be reached.
    #[error("the database of the record cannot be reached")]
    Unreachable,
    /// Others have taken over what this server held.
    #[error("other servers have taken over, since this one was silent for too long")]
    Overtaken,
    /// An earlier write failed; nothing more can be put on record until restart.
    #[error("the audit log is closed since a write to it failed: {0}")]
    Failed(io::ErrorKind),
    /// The log was closed at the end of the run.
    #[error("the audit log is closed since the server is ending")]
    Ended,
    /// The record or the state is larger than a reader accepts.
    #[error("too large to be put on record")]
    TooLarge,
    /// The caller gave an event that only the log itself writes, or that has its own function.
    #[error("this event is not recorded that way")]
    WrongEvent,
    /// The system gave no randomness for a name.
    #[error("the system gives no randomness")]
    Randomness,
    /// An operator paused all writes.
    #[error("an operator paused all writes")]
    Paused(Box<Pause>),
    /// The lock was not free within the time given.
    #[error("another write to this wiki is still under way")]
    Busy,
    /// There is no kept state of this name.
    #[error("the kept state of the page is missing")]
    Missing,
    /// The kept state is not what its name says.
    #[error("the kept state of the page was changed or is damaged")]
    Damaged,
    /// There is no such proposal.
    #[error("there is no such proposal")]
    NoProposal,
    /// The proposal file is invalid, or a newer program wrote it.
    #[error("the file of the proposal is damaged, or a newer version wrote it")]
    BadProposal,
    /// No more proposals can be kept.
    #[error("as many proposals are kept as can be")]
    Full,
    /// No draft has this name.
    #[error("there is no such draft")]
    NoDraft,
    /// The file of a draft is damaged, or of a newer version.
    #[error("the file of the draft is damaged, or a newer version wrote it")]
    BadDraft,
    /// The draft has no room for more.
    #[error("the draft is full: 200 changes or 32 MB are the most")]
    DraftFull,
    /// The client has as many drafts as it may.
    #[error("this client has 20 drafts already, which is the most")]
    TooManyDrafts,
    /// The document of an approval is damaged, or of a newer version.
    #[error(
        "the file of the approval is damaged, can be changed by others, or is of a newer version"
    )]
    BadApproval,
    /// A document of the mirror, of this name, cannot be read.
    #[error("the mirror's document {0} is damaged, or a newer version wrote it")]
    BadMirror(String),
    /// A backup goes into an empty directory.
    #[error("a copy goes into an empty or missing directory, and this one holds something")]
    NotEmpty,
    /// The place of a backup cannot be written, for this reason.
    #[error("the directory of the copy cannot be written: {0}")]
    NoCopy(StoreError),
    /// Disk work broke off: a bug, or the end of the program.
    #[error("work on the record broke off")]
    BrokenOff,
}

impl AuditError {
    /// Advice for the operator.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io(_) => {
                "check that WIKI_AUDIT_DIR, or the database of WIKI_STORE, is there, may be written and has space"
            }
            Self::Foreign(_) => {
                "run this as the user whom WIKI_AUDIT_DIR belongs to; `wikijs-gate doctor` tells of files of others"
            }
            Self::NoLocks => "put WIKI_AUDIT_DIR on a local disk, or mount it so that flock works",
            Self::Exposed => "take that away with chmod -R go-w",
            Self::Closed(_) => "`wikijs-gate doctor` names them and says how to hand them over",
            Self::Failed(_) if self.is_no_room() => {
                "make room in WIKI_AUDIT_DIR, or in the database of WIKI_STORE; the record goes on by itself with the next write"
            }
            Self::Replaced | Self::Failed(_) => {
                "check space and rights of WIKI_AUDIT_DIR or of the database of WIKI_STORE, then restart the server"
            }
            Self::NotReady(_) => "set the database of WIKI_STORE up as docs/replicas.md says",
            Self::Unreachable => "check the database of WIKI_STORE; nothing was sent to the wiki",
            Self::Overtaken => "try again; if it happens often, look at the load of this machine",
            Self::Ended => "start the server again",
            Self::TooLarge => "write less at once",
            Self::WrongEvent | Self::BrokenOff => "this is a bug; please report it",
            Self::Randomness => "check the system's random number generator",
            Self::Busy => "try again later",
            Self::NotEmpty => "name another directory",
            Self::NoCopy(_) => "check its rights and space, or name another directory",
            Self::Paused(_) => "`wikijs-gate resume` lets writes go on",
            Self::NoProposal => "look at the proposals that there are",
            Self::BadProposal => "restore it from a backup of the store, or remove it",
            Self::Full => {
                "have the operator decide on proposals, or lower WIKI_PROPOSALS_KEEP_DAYS"
            }
            Self::NoDraft => {
                "a write with draft begins one; nobody's changes lie for more than 7 days"
            }
            Self::BadDraft => "remove the file, or begin a draft of another name",
            Self::BadMirror(_) => {
                "restore it from a backup of the store, or remove it: what it told of pages is lost then, and those that are there are seen anew"
            }
            Self::BadApproval => "it counts as none; `wikijs-gate approvals end` removes it",
            Self::DraftFull => "submit this draft, and go on in another",
            Self::TooManyDrafts => "submit a draft or discard one",
            Self::Missing | Self::Damaged => {
                "restore it from a backup of the store, or run audit verify"
            }
        }
    }

    /// True if there was no room for a record.
    fn is_no_room(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let is_full = |kind| matches!(kind, StorageFull | QuotaExceeded | FileTooLarge);
        matches!(self, Self::Io(kind) | Self::Failed(kind) if is_full(*kind))
    }

    /// True if the log can go on later with a new run: there was no room, its database was away or refused, or
    /// others took over what the run held.
    pub(super) fn may_pass(&self) -> bool {
        self.is_no_room()
            || matches!(
                self,
                Self::Unreachable | Self::Overtaken | Self::NotReady(_)
            )
    }
}

impl From<StoreError> for AuditError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Io(kind) => Self::Io(kind),
            StoreError::Foreign(owner) => Self::Foreign(owner),
            StoreError::NoLocks => Self::NoLocks,
            StoreError::Unfit(_) => Self::Io(io::ErrorKind::InvalidData),
            StoreError::Busy => Self::Busy,
            StoreError::Replaced => Self::Replaced,
            StoreError::NotReady(why) => Self::NotReady(why),
            StoreError::Unreachable => Self::Unreachable,
            StoreError::Overtaken => Self::Overtaken,
            StoreError::Paused => {
                Self::Paused(Box::new(Pause::Unreadable("is gone again".to_owned())))
            }
            StoreError::BrokenOff => Self::BrokenOff,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use rustix::io::Errno;

    use super::AuditError;
    use crate::store::StoreError;

    #[test]
    fn a_directory_on_a_file_system_without_locks_is_refused_by_name() {
        let refused = |code| {
            let error = io::Error::from_raw_os_error(code);
            let error = StoreError::at(Path::new("tree.lock"), "take a lease", &error);
            let error = AuditError::from(error);
            format!("{error}; {}", error.hint())
        };
        for code in [Errno::NOLCK, Errno::OPNOTSUPP, Errno::NOSYS] {
            let told = refused(code.raw_os_error());
            assert!(told.contains("a file system that gives no locks"), "{told}");
            assert!(told.contains("WIKI_AUDIT_DIR on a local disk"), "{told}");
        }
        let other = refused(Errno::IO.raw_os_error());
        assert!(!other.contains("locks"), "{other}");
    }
}
