//! An operator's stop of all writes: a file in the audit directory.
//!
//! Every server there checks this file before each write and again when the attempt is recorded, so
//! a pause needs no restart. A file in its place that cannot be read as a pause counts as one: a
//! damaged stop still stops.

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustix::fs::{CWD, Mode, OFlags, openat};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::super::Actor;
use crate::page::Date;

/// The file's name. No directory of a wiki has it: their names are in lower case.
pub(in crate::audit) const NAME: &str = "PAUSED.json";
/// The largest file that can be ours, in bytes.
pub(in crate::audit) const MOST: u64 = 16 << 10;

/// The sources of a pause of all writes.
///
/// [`Pauses::default`] ignores pauses, for an operator who takes back what led to one.
#[derive(Debug, Clone, Default)]
pub struct Pauses {
    file: Option<PathBuf>,
    /// The reason this server's own writes are paused, if they are; shared by all clones.
    held: Arc<RwLock<Option<Arc<str>>>>,
}

/// Two are equal if they look at the same file.
impl PartialEq for Pauses {
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file
    }
}

impl Eq for Pauses {}

/// A pause of all writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pause {
    /// An operator said so.
    Told(PauseInfo),
    /// The settings file closes a gate, and is not in force yet, for this reason.
    Settings(Arc<str>),
    /// The file cannot be read as a pause, for this reason.
    Unreadable(String),
}

/// An operator's words about a pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseInfo {
    /// Since when.
    pub since: Date,
    /// The actor who paused.
    pub by: Actor,
    /// The reason.
    pub reason: String,
}

impl PauseInfo {
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
            Self::Told(PauseInfo { since, by, reason }) => {
                write!(f, "since {} by {}: {reason}", since.as_str(), by.as_str())
            }
            Self::Settings(why) => f.write_str(why),
            Self::Unreadable(why) => {
                write!(f, "because {NAME} in the audit directory {why}")
            }
        }
    }
}

impl Pauses {
    /// The pauses of an audit directory.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self {
            file: Some(dir.join(NAME)),
            held: Arc::default(),
        }
    }

    /// Pauses the writes of this server alone, or ends that; says whether it changed anything.
    pub fn hold(&self, why: Option<&str>) -> bool {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        if held.as_deref() == why {
            return false;
        }
        *held = why.map(Arc::from);
        true
    }

    /// The pause that is in force now, if there is one. Without a pause this is one look at the
    /// disk.
    #[must_use]
    pub fn look(&self) -> Option<Pause> {
        let file = self.file.as_deref()?;
        match read(file) {
            Ok(told) => Some(Pause::Told(told)),
            Err(PauseReadError::Missing) => {
                let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
                held.clone().map(Pause::Settings)
            }
            Err(PauseReadError::Bad(why)) => Some(Pause::Unreadable(why)),
        }
    }

    /// The place of its file; `None` if pauses are ignored.
    pub(in crate::audit) fn path(&self) -> Option<&Path> {
        self.file.as_deref()
    }
}

enum PauseReadError {
    Missing,
    Bad(String),
}

impl From<io::Error> for PauseReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            kind => Self::Bad(format!("cannot be read: {kind}")),
        }
    }
}

fn read(path: &Path) -> Result<PauseInfo, PauseReadError> {
    let bad = |why: &str| PauseReadError::Bad(why.to_owned());
    let found = match std::fs::symlink_metadata(path) {
        // A process that may not enter the directory cannot record there, so it sends nothing; the
        // log then says why.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(PauseReadError::Missing);
        }
        found => found?,
    };
    if !found.is_file() {
        return Err(bad("is not a file"));
    }
    // Follows no link and never blocks, whatever is put in its place meanwhile.
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
