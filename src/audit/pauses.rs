//! A stop of all writes by an operator: a file in the audit directory.
//!
//! Every server there looks at this file before each write and once more in the moment in which
//! the attempt goes on record, so a pause needs no restart. What stands in the place of the file
//! and cannot be read as a pause counts as one: a stop that somebody damaged still stops.

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::Actor;
use crate::page::Date;

/// The file's name. No directory of a wiki has it: their names are in lower case.
pub(super) const NAME: &str = "PAUSED.json";
/// A larger file is none of ours, in bytes.
pub(super) const MOST: u64 = 16 << 10;

/// Where a pause of all writes stands, if there is one.
///
/// [`Pauses::default`] heeds none: so works an operator who takes back what led to the pause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pauses(Option<PathBuf>);

/// That writes are paused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pause {
    /// An operator said so.
    Told(Told),
    /// What stands in the place of the file cannot be read as a pause, for this reason.
    Unreadable(String),
}

/// What an operator said of a pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Since when.
    pub since: Date,
    /// Who paused.
    pub by: Actor,
    /// Why.
    pub reason: String,
}

impl Told {
    /// A pause from now on.
    #[must_use]
    pub fn now(by: Actor, reason: String) -> Self {
        Self {
            since: Date::from_instant(OffsetDateTime::now_utc()).unwrap_or_default(),
            by,
            reason,
        }
    }
}

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Told(Told { since, by, reason }) => {
                write!(f, "since {} by {}: {reason}", since.as_str(), by.as_str())
            }
            Self::Unreadable(why) => {
                write!(f, "because {NAME} in the audit directory {why}")
            }
        }
    }
}

impl Pauses {
    /// The pauses of an audit directory.
    #[must_use]
    pub fn of(dir: &Path) -> Self {
        Self(Some(dir.join(NAME)))
    }

    /// Whether writes are paused now: one look at the disk where they are not.
    #[must_use]
    pub fn look(&self) -> Option<Pause> {
        match read(self.0.as_deref()?) {
            Ok(told) => Some(Pause::Told(told)),
            Err(Unread::Missing) => None,
            Err(Unread::Bad(why)) => Some(Pause::Unreadable(why)),
        }
    }

    /// Where its file is; nowhere where none is heeded.
    pub(super) fn path(&self) -> Option<&Path> {
        self.0.as_deref()
    }
}

enum Unread {
    Missing,
    Bad(String),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            kind => Self::Bad(format!("cannot be read: {kind}")),
        }
    }
}

fn read(path: &Path) -> Result<Told, Unread> {
    let bad = |why: &str| Unread::Bad(why.to_owned());
    let found = match std::fs::symlink_metadata(path) {
        // Whoever may not enter the directory puts nothing on record there, and so sends nothing:
        // why not, the log says.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(Unread::Missing);
        }
        found => found?,
    };
    if !found.is_file() {
        return Err(bad("is not a file"));
    }
    // What takes its place meanwhile is not followed, and nothing in it is waited for.
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(CWD, path, how, Mode::empty()).map_err(io::Error::from)?;
    let file = std::fs::File::from(file);
    if !file.metadata()?.is_file() {
        return Err(bad("is not a file"));
    }
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MOST) {
        return Err(bad("is too large"));
    }
    serde_json::from_slice(&bytes).map_err(|_| bad("does not tell of a pause"))
}
