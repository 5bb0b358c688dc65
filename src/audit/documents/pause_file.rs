//! An operator's stop of all writes: a document of all wikis of an audit directory.
//!
//! Every server there looks for it before each write and again when the attempt is recorded, so a
//! pause needs no restart. What cannot be read as a pause in its place counts as one: a damaged stop
//! still stops.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;
use serde::{Deserialize, Serialize};

use super::super::Actor;
use crate::page::Date;
use crate::store::{DocumentKind, Store, StoreError, StoreHome};

/// The file's name. No directory of a wiki has it: their names are in lower case.
pub(in crate::audit) const NAME: &str = "PAUSED.json";
/// The sources of a pause of all writes.
///
/// [`Pauses::default`] ignores pauses, for an operator who takes back what led to one.
#[derive(Debug, Clone, Default)]
pub struct Pauses {
    /// The place of the state of all wikis.
    place: Option<(StoreHome, Arc<dyn Store>)>,
    /// The reason this server's own writes are paused, if they are; shared by all clones.
    held: Arc<RwLock<Option<Arc<str>>>>,
    /// True if the record was asked since a pause was seen last, and tells of none that is in force.
    is_searched: Arc<AtomicBool>,
}

/// Two are equal if they look at the same place.
impl PartialEq for Pauses {
    fn eq(&self, other: &Self) -> bool {
        let home = |of: &Self| of.place.as_ref().map(|(home, _)| home.clone());
        home(self) == home(other)
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
    /// The database in which a pause would be cannot be asked, for this reason.
    Unreachable(String),
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
    pub fn now(by: Actor, reason: String) -> Self {
        Self {
            since: Date::now(),
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
            Self::Unreachable(why) => write!(f, "because it cannot be looked for: {why}"),
            Self::Unreadable(why) => {
                write!(f, "because the document of a pause, {NAME}, {why}")
            }
        }
    }
}

impl Pauses {
    /// The pauses of all wikis whose state lies there.
    pub fn new(home: impl Into<StoreHome>) -> Self {
        let home = home.into();
        let shared = home.shared();
        Self {
            place: Some((home, shared)),
            held: Arc::default(),
            is_searched: Arc::default(),
        }
    }

    /// Pauses the writes of this server alone, or ends that; says whether it changed anything.
    pub fn hold(&self, why: Option<&str>) -> bool {
        let mut held = self.held.write();
        if held.as_deref() == why {
            return false;
        }
        *held = why.map(Arc::from);
        true
    }

    /// The pause that is in force now, if there is one. Without a pause this is one look at the
    /// disk.
    pub fn look(&self) -> Option<Pause> {
        let store = self.store()?;
        let found = store.document(DocumentKind::Pause, "");
        if !matches!(found, Ok(None)) {
            self.is_searched.store(false, Ordering::Relaxed);
        }
        match found {
            Ok(Some(text)) => Some(match serde_json::from_slice(&text) {
                Ok(told) => Pause::Told(told),
                Err(_) => Pause::Unreadable("does not tell of a pause".to_owned()),
            }),
            Ok(None) => self.of_settings(),
            Err(StoreError::Unfit(why)) => Some(Pause::Unreadable(why.to_owned())),
            Err(error @ (StoreError::Unreachable | StoreError::NotReady(_))) => {
                Some(Pause::Unreachable(error.to_string()))
            }
            Err(error) => Some(Pause::Unreadable(format!("cannot be read: {error}"))),
        }
    }

    /// The pause of this server alone.
    pub(in crate::audit) fn of_settings(&self) -> Option<Pause> {
        let held = self.held.read();
        held.clone().map(Pause::Settings)
    }

    /// The place where it lies; `None` if pauses are ignored.
    pub(in crate::audit) fn store(&self) -> Option<&Arc<dyn Store>> {
        self.place.as_ref().map(|(_, store)| store)
    }

    /// True if the record may tell of a pause whose document is gone.
    pub(in crate::audit) fn is_to_search(&self) -> bool {
        self.place.is_some() && !self.is_searched.load(Ordering::Relaxed)
    }

    /// The record tells of no pause that is in force.
    pub(super) fn note_no_pause(&self) {
        self.is_searched.store(true, Ordering::Relaxed);
    }
}
