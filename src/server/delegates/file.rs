//! The file of delegates, beside that of the named clients: a line of JSON each, 0600, replaced as
//! a whole under a lock, so that every server of the file knows the same delegates.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use super::super::clients::lines_file::{LinesFile, read_lines};
use super::super::clients::tokens_fault::TokensFileError;
use super::delegate::{DelegateEnd, DelegateEndReason, DelegateRecord};
use crate::audit::ClientId;
use crate::write::Handover;

/// The most delegates of one client at the same time.
pub(in crate::server) const MOST_AT_ONCE: usize = 5;
/// The most ended delegates that are kept of each client.
const MOST_ENDED: usize = 5;
/// Time for which they are kept.
const TOLD_FOR: Duration = Duration::WEEK;
/// The most bytes of a line.
const MOST_OF_LINE: usize = 16 * 1024;
/// The most bytes of all lines: far less than what is read.
const MOST_BYTES: usize = 512 * 1024;

/// The file of delegates.
#[derive(Debug, Clone)]
pub struct DelegatesFile(LinesFile);

/// An error of the file of delegates.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DelegatesError {
    /// It cannot be used; the message is of the file.
    #[error("{0}")]
    File(String),
    /// There is no such delegate.
    #[error("there is no such delegate")]
    Unknown,
    /// It has ended.
    #[error("this delegate has ended")]
    Ended,
    /// Its maker has as many as there may be.
    #[error("a client has at most {MOST_AT_ONCE} delegates at once")]
    TooMany,
    /// There is no room for one more.
    #[error("there is no room for one more delegate")]
    NoRoom,
    /// It may not make so many changes more.
    #[error("this delegate may make {0} changes more")]
    Spent(u32),
}

impl From<TokensFileError> for DelegatesError {
    fn from(error: TokensFileError) -> Self {
        let told = error.to_string();
        Self::File(told.replace("the tokens file", "the file of delegates"))
    }
}

impl DelegatesFile {
    pub(in crate::server) const fn new(file: LinesFile) -> Self {
        Self(file)
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// All delegates, those that ended lately included; none if there is no file.
    ///
    /// # Errors
    /// [`DelegatesError::File`]; one bad line spoils the whole file.
    pub fn read(&self) -> Result<Vec<DelegateRecord>, DelegatesError> {
        Ok(delegates(&self.0.trusted()?)?)
    }

    /// Adds a delegate, unless its maker has too many. Those that ended long ago are forgotten.
    ///
    /// # Errors
    /// [`DelegatesError`].
    pub(in crate::server) fn add(&self, delegate: DelegateRecord) -> Result<(), DelegatesError> {
        self.change(move |all| {
            let now = OffsetDateTime::now_utc();
            let of_maker = |one: &&DelegateRecord| one.parent() == delegate.parent();
            let at_once = all.iter().filter(of_maker).filter(|one| one.lasts(now));
            if at_once.count() >= MOST_AT_ONCE {
                return Err(DelegatesError::TooMany);
            }
            forget(all, now);
            all.push(delegate);
            let bytes: Vec<usize> = all.iter().map(length).collect();
            let is_too_long = bytes.iter().any(|length| *length > MOST_OF_LINE);
            if is_too_long || bytes.iter().sum::<usize>() > MOST_BYTES {
                return Err(DelegatesError::NoRoom);
            }
            Ok(())
        })
    }

    /// Takes so many changes of a delegate, across all servers of the file.
    ///
    /// # Errors
    /// [`DelegatesError`].
    pub(in crate::server) fn take(&self, id: ClientId, changes: u32) -> Result<(), DelegatesError> {
        self.change(|all| {
            let found = all.iter_mut().find(|one| one.id() == id);
            let one = found.ok_or(DelegatesError::Unknown)?;
            if one.ended.is_some() {
                return Err(DelegatesError::Ended);
            }
            let left = one.writes.saturating_sub(one.used);
            if changes > left {
                return Err(DelegatesError::Spent(left));
            }
            one.used = one.used.saturating_add(changes);
            Ok(())
        })
    }

    /// Ends a delegate; returns it as it is then. One that has ended keeps its end.
    ///
    /// # Errors
    /// [`DelegatesError`].
    pub(in crate::server) fn end(
        &self,
        id: ClientId,
        why: DelegateEndReason,
        legacy: Handover,
    ) -> Result<DelegateRecord, DelegatesError> {
        self.end_one(|one| one.id() == id, why, legacy)
    }

    /// The same by the operator, by its id or name.
    ///
    /// # Errors
    /// [`DelegatesError`].
    pub fn revoke(&self, word: &str) -> Result<DelegateRecord, DelegatesError> {
        self.end_one(
            |one| one.is_called(word),
            DelegateEndReason::Revoked,
            Handover::default(),
        )
    }

    /// Notes that the end of a delegate is settled: `true` for the first who does.
    pub(in crate::server) fn settle(&self, id: ClientId) -> Result<bool, DelegatesError> {
        let mut is_first = false;
        self.change(|all| {
            let found = all.iter_mut().find(|one| one.id() == id);
            let one = found.ok_or(DelegatesError::Unknown)?;
            if let Some(ended) = one.ended.as_mut() {
                is_first = !ended.is_settled;
                ended.is_settled = true;
            }
            Ok(())
        })?;
        Ok(is_first)
    }

    fn end_one(
        &self,
        is_meant: impl Fn(&DelegateRecord) -> bool,
        why: DelegateEndReason,
        legacy: Handover,
    ) -> Result<DelegateRecord, DelegatesError> {
        let mut then = None;
        self.change(|all| {
            let found = all.iter_mut().find(|one| is_meant(one));
            let one = found.ok_or(DelegatesError::Unknown)?;
            if one.ended.is_none() {
                let now = OffsetDateTime::now_utc();
                let now = now.replace_nanosecond(0).unwrap_or(now);
                one.ended = Some(DelegateEnd {
                    at: now.format(&Rfc3339).unwrap_or_default(),
                    why,
                    is_settled: false,
                    legacy,
                });
            }
            then = Some(one.clone());
            Ok(())
        })?;
        then.ok_or(DelegatesError::Unknown)
    }

    fn change(
        &self,
        change: impl FnOnce(&mut Vec<DelegateRecord>) -> Result<(), DelegatesError>,
    ) -> Result<(), DelegatesError> {
        let mut refused = None;
        let changed = self.0.change(|text| {
            let mut all = delegates(text)?;
            if let Err(error) = change(&mut all) {
                refused = Some(error);
                return Err(TokensFileError::Unknown);
            }
            let line = |one: &DelegateRecord| serde_json::to_string(one).map_err(io::Error::from);
            let lines: Result<Vec<String>, io::Error> = all.iter().map(line).collect();
            Ok(lines?)
        });
        match (changed, refused) {
            (_, Some(error)) => Err(error),
            (Err(error), None) => Err(error.into()),
            (Ok(()), None) => Ok(()),
        }
    }
}

fn length(one: &DelegateRecord) -> usize {
    serde_json::to_string(one).map_or(usize::MAX / 1024, |line| line.len())
}

/// Forgets what ended long ago, and what is too much of it.
fn forget(all: &mut Vec<DelegateRecord>, now: OffsetDateTime) {
    let mut told = std::collections::HashMap::new();
    let mut kept = HashSet::new();
    // The newest are at the end.
    for one in all.iter().rev() {
        let is_settled = one.ended.as_ref().is_some_and(|ended| ended.is_settled);
        let is_old = one.span().is_ok_and(|(_, end)| now - end > TOLD_FOR);
        let count: &mut usize = told.entry(one.parent()).or_default();
        if is_settled {
            *count += 1;
        }
        if !is_old && (!is_settled || *count <= MOST_ENDED) {
            kept.insert(one.id());
        }
    }
    all.retain(|one| kept.contains(&one.id()));
}

/// All delegates of a file's text.
fn delegates(text: &str) -> Result<Vec<DelegateRecord>, TokensFileError> {
    let mut ids = HashSet::new();
    read_lines(text, "a server", |one: &DelegateRecord| {
        one.check()?;
        if !ids.insert(one.id()) {
            return Err("its id is there twice".to_owned());
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests;
