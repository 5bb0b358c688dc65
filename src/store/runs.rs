//! Defines the runs of a log: bytes that only their writer appends to, read from any byte on.
//!
//! What a line is, its chain and its meaning belong to the room `audit`; here a run is bytes, and ends with
//! what was appended last.

use std::fmt::Debug;
use std::io::{self, Read, Seek, SeekFrom};
use std::time::SystemTime;

use super::StoreError;

/// The runs of a log, by their names, which sort by their beginning.
pub trait Runs {
    /// Makes an empty run, and replaces the text that counts the runs by one of the same length: name and text
    /// are kept for good before this returns. Whoever does holds the lease `LeaseName::RUNS`. The run
    /// is held until its writer is dropped or its process ends.
    fn begin_run(&self, name: &str, count: &str) -> Result<Box<dyn RunWriter>, StoreError>;

    /// All runs, sorted by name.
    fn runs(&self) -> Result<Vec<ListedRun>, StoreError>;

    /// The bytes of a run; `None` if there is none of this name.
    fn open_run(&self, name: &str) -> Result<Option<Box<dyn RunBytes>>, StoreError>;

    /// Removes a run that nobody holds; says whether it did. It is gone for good with
    /// `Blobs::sync_removed`.
    fn remove_run(&self, name: &str) -> Result<bool, StoreError>;

    /// The text that counts the runs, at most 64 bytes; `None` if none was written.
    fn run_count(&self) -> Result<Option<String>, StoreError>;
}

/// The one writer of a run.
pub trait RunWriter: Debug + Send + Sync {
    /// Appends bytes, whole lines but for a copy. If this fails it is not known whether they are there, and the writer is of no
    /// more use.
    ///
    /// [`StoreError::Overtaken`] says that nothing was appended, since others may hold what this process held,
    /// [`StoreError::Paused`] that nothing was, and that the writer can go on.
    fn append(&mut self, lines: &[u8], until: Durability) -> Result<(), StoreError>;
}

/// The time by which appended lines are there for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Before the call returns.
    Synced,
    /// Before the call returns, and not at all while a pause is there. Nobody can write one between the look
    /// for it and the end of the append.
    SyncedUnlessPaused,
    /// Soon, on its own.
    Soon,
}

/// The bytes of one run, which may grow while they are read.
pub trait RunBytes: Debug + Send {
    /// Reads from a byte on, as much as there is or fits; 0 at the end of what is there now.
    fn read_at(&mut self, start: u64, into: &mut [u8]) -> io::Result<usize>;

    /// The length now, of which all survives a power cut before this returns.
    fn synced_length(&mut self) -> io::Result<u64>;
}

/// A run, at the time of listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRun {
    /// The name.
    pub name: String,
    /// Its length in bytes.
    pub length: u64,
    /// The time of the last append.
    pub changed: SystemTime,
    /// True if its writer lives, or may live; an error if that cannot be told.
    pub is_held: Result<bool, StoreError>,
}

/// The bytes of a run, read one after another.
#[derive(Debug)]
pub struct RunStream {
    bytes: Box<dyn RunBytes>,
    at: u64,
}

impl RunStream {
    /// From the first byte on.
    pub fn new(bytes: Box<dyn RunBytes>) -> Self {
        Self { bytes, at: 0 }
    }

    /// The length now, of which all survives a power cut before this returns.
    pub(crate) fn synced_length(&mut self) -> io::Result<u64> {
        self.bytes.synced_length()
    }
}

impl Read for RunStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read_at(self.at, into)?;
        self.at = self
            .at
            .saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        Ok(read)
    }
}

impl Seek for RunStream {
    /// A run may grow, so nothing counts from its end.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(_) => None,
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
