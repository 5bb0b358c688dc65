//! Defines the errors of the store.

use std::io;

/// The result of work on the store.
pub type StoreResult<T> = Result<T, StoreError>;

/// An error of the store. It holds no path: paths go to the program's own log alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Something could not be read or written.
    #[error("{0}")]
    Io(io::ErrorKind),
    /// It belongs to another user of the machine (uid).
    #[error("it belongs to another user (uid {0})")]
    Foreign(u32),
    /// The file system gives no locks, so nobody can hold a lease.
    #[error("its file system gives no locks")]
    NoLocks,
    /// What has the name cannot be ours, for this reason: a link, a directory, too many bytes.
    #[error("it {0}")]
    Unfit(&'static str),
    /// A lease was not free within the time given.
    #[error("somebody else is still at work")]
    Busy,
    /// The bytes are not there as they were written: somebody removed or changed them.
    #[error("it was removed or changed by somebody else")]
    Replaced,
    /// The database is not as this program needs it, for this reason.
    #[error("the database {0}")]
    NotReady(&'static str),
    /// The database cannot be reached, or does not answer in time. Its own words go to the program's own
    /// log alone.
    #[error("the database cannot be reached")]
    Unreachable,
    /// The database counts this process as gone, since it was silent for too long: what it held may be held
    /// by others.
    #[error("others have taken over, since this process was silent for too long")]
    Overtaken,
    /// A pause is there, in which this is not appended.
    #[error("writes are paused")]
    Paused,
    /// The work broke off: a bug, or the end of the program.
    #[error("the work broke off")]
    BrokenOff,
}

impl From<StoreError> for String {
    fn from(error: StoreError) -> Self {
        error.to_string()
    }
}
