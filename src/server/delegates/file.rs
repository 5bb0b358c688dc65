//! The file of delegates, beside that of the named clients: a line of JSON each, 0600, replaced as
//! a whole under a lock, so that every server of the file knows the same delegates.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use time::OffsetDateTime;

use super::super::clients::lines_file::{LinesFile, read_lines};
use super::super::clients::tokens_fault::TokensFileError;
use super::delegate::{DelegateEndReason, DelegateRecord};
use crate::audit::ClientId;

/// The most delegates of one client at the same time.
pub(in crate::server) const MOST_AT_ONCE: usize = 5;

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

    /// All delegates; none if there is no file.
    ///
    /// # Errors
    /// [`DelegatesError::File`]; one bad line spoils the whole file.
    pub fn read(&self) -> Result<Vec<DelegateRecord>, DelegatesError> {
        Ok(delegates(&self.0.trusted()?)?)
    }

    /// Adds a delegate, unless its maker has too many.
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
            all.push(delegate);
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
    ) -> Result<DelegateRecord, DelegatesError> {
        self.end_one(|one| one.id() == id, why)
    }

    /// The same by the operator, by its name.
    ///
    /// # Errors
    /// [`DelegatesError`].
    pub fn revoke(&self, name: &str) -> Result<DelegateRecord, DelegatesError> {
        self.end_one(|one| one.name() == name, DelegateEndReason::Revoked)
    }

    /// Removes a delegate that has ended: `true` for the first who does.
    pub(in crate::server) fn remove(&self, id: ClientId) -> Result<bool, DelegatesError> {
        self.change(|all| {
            let before = all.len();
            all.retain(|one| one.id() != id);
            Ok(all.len() < before)
        })
    }

    fn end_one(
        &self,
        is_meant: impl Fn(&DelegateRecord) -> bool,
        why: DelegateEndReason,
    ) -> Result<DelegateRecord, DelegatesError> {
        self.change(|all| {
            let found = all.iter_mut().find(|one| is_meant(one));
            let one = found.ok_or(DelegatesError::Unknown)?;
            one.ended.get_or_insert(why);
            Ok(one.clone())
        })
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<DelegateRecord>) -> Result<T, DelegatesError>,
    ) -> Result<T, DelegatesError> {
        self.0.change(|text| {
            let mut all = delegates(text)?;
            let value = change(&mut all)?;
            let lines = all.iter().map(serde_json::to_string);
            let lines: Result<Vec<String>, _> = lines.collect();
            let lines = lines.map_err(|error| TokensFileError::from(io::Error::from(error)))?;
            Ok((lines, value))
        })
    }
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
