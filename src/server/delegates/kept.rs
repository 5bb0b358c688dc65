//! Keeps delegates in the store: a document each, named by the digest of its token, so that every server of
//! the store knows the same delegates.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use time::OffsetDateTime;

use super::delegate::{DelegateEndReason, DelegateRecord};
use crate::audit::{CallId, ClientId};
use crate::store::{
    DocumentKind, Lease, LeaseName, Store, StoreError, StoreHome, blocking, make_room, wait_for,
};

/// The kind of the documents.
const KIND: DocumentKind = DocumentKind::Delegate;
/// The most delegates of one client at the same time.
pub(in crate::server) const MOST_AT_ONCE: usize = 5;
/// The most documents, and the age above which one is removed. No delegate lasts as long: the document is
/// damaged, or its site is gone.
const MOST: usize = 10_000;
const OLDEST: Duration = Duration::from_hours(48);
/// Time to wait for whoever is changing a delegate.
const PATIENCE: Duration = Duration::from_secs(10);

/// The delegates of all servers of a store.
#[derive(Debug, Clone)]
pub struct KeptDelegates {
    store: Arc<dyn Store>,
    /// The delegates as they were read last, by their names and versions.
    read: Arc<Mutex<Arc<DelegatesRead>>>,
}

/// Delegates by the names and versions of their documents.
type DelegatesRead = HashMap<(String, u128), Arc<DelegateRecord>>;

/// An error of the delegates in a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DelegatesError {
    /// The store cannot be read or written.
    #[error("the delegates cannot be read or written: {0}")]
    Store(String),
    /// A document is no delegate.
    #[error("the document {name} of the delegates is none: it {fault}")]
    Damaged {
        /// Its name.
        name: String,
        /// Its fault.
        fault: String,
    },
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

impl From<StoreError> for DelegatesError {
    fn from(error: StoreError) -> Self {
        Self::Store(error.into())
    }
}

impl KeptDelegates {
    /// Those of the servers that keep their state there.
    #[must_use]
    pub fn new(home: &StoreHome) -> Self {
        Self {
            store: home.shared(),
            read: Arc::default(),
        }
    }

    /// The store of all of them.
    pub(in crate::server) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Does this on a blocking thread, as [`blocking`] does.
    pub(in crate::server) async fn on<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, DelegatesError> + Send + 'static,
    ) -> Result<T, DelegatesError> {
        let own = self.clone();
        blocking(move || work(&own)).await
    }

    /// All delegates, and the faults of damaged documents. Reads those alone that changed. Blocks.
    ///
    /// # Errors
    /// [`DelegatesError::Store`].
    pub fn all(&self) -> Result<(Vec<Arc<DelegateRecord>>, Vec<DelegatesError>), DelegatesError> {
        let (mut all, mut faults) = (Vec::new(), Vec::new());
        let (before, mut read) = (Arc::clone(&self.read.lock()), HashMap::new());
        for listed in self.store.documents(KIND)? {
            let key = (listed.name, listed.version);
            let known = before.get(&key).map(|one| Ok(Arc::clone(one)));
            match known.unwrap_or_else(|| self.find(&key.0)) {
                Ok(one) => {
                    read.insert(key, Arc::clone(&one));
                    all.push(one);
                }
                Err(error @ DelegatesError::Store(_)) => return Err(error),
                // It was removed meanwhile.
                Err(DelegatesError::Unknown) => {}
                Err(fault) => faults.push(fault),
            }
        }
        *self.read.lock() = Arc::new(read);
        all.sort_by_cached_key(|one| (one.client.created.clone(), one.id().to_string()));
        Ok((all, faults))
    }

    /// The delegate whose token has this digest, as it is at this moment. Blocks.
    ///
    /// # Errors
    /// [`DelegatesError`].
    pub(in crate::server) fn find(
        &self,
        digest: &str,
    ) -> Result<Arc<DelegateRecord>, DelegatesError> {
        let damaged = |fault: String| DelegatesError::Damaged {
            name: digest.to_owned(),
            fault,
        };
        let bytes = match self.store.document(KIND, digest) {
            Err(StoreError::Unfit(fault)) => return Err(damaged(fault.to_owned())),
            found => found?.ok_or(DelegatesError::Unknown)?,
        };
        // serde's own message could repeat what is there.
        let one: DelegateRecord = serde_json::from_slice(&bytes)
            .map_err(|_| damaged("is not of the form that a server writes".to_owned()))?;
        one.check()
            .map_err(|fault| damaged(format!("is not valid: {fault}")))?;
        if one.digest() != digest {
            return Err(damaged("has another delegate's name".to_owned()));
        }
        Ok(Arc::new(one))
    }

    /// Adds a delegate, unless its maker has too many.
    ///
    /// # Errors
    /// [`DelegatesError`].
    pub(in crate::server) fn add(&self, delegate: &DelegateRecord) -> Result<(), DelegatesError> {
        let maker = delegate.client.parent.ok_or(DelegatesError::Unknown)?;
        let turn = self.turn(&maker.to_string())?;
        let now = OffsetDateTime::now_utc();
        let (all, _) = self.all()?;
        let own = all.iter().filter(|one| one.client.parent == Some(maker));
        if own.filter(|one| one.lasts(now)).count() >= MOST_AT_ONCE {
            return Err(DelegatesError::TooMany);
        }
        make_room(&*self.store, KIND, "", (MOST, OLDEST))?;
        self.write(&turn, delegate)
    }

    /// Takes so many changes of a delegate, across all servers of the store.
    ///
    /// # Errors
    /// [`DelegatesError`].
    pub(in crate::server) fn take(&self, digest: &str, changes: u32) -> Result<(), DelegatesError> {
        self.change(digest, |one| {
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
        .map(drop)
    }

    /// True if a delegate has ended by the clock that all servers of the store have: what one server alone finds
    /// late, another may still let in. Blocks.
    ///
    /// # Errors
    /// [`DelegatesError::Store`].
    pub(in crate::server) fn has_ended(
        &self,
        one: &DelegateRecord,
    ) -> Result<bool, DelegatesError> {
        Ok(one.ended.is_some() || !one.lasts(self.store.now()?.into()))
    }

    /// Ends a delegate by this call; returns it as it is then. One that has ended keeps its end.
    ///
    /// # Errors
    /// [`DelegatesError`].
    pub(in crate::server) fn end(
        &self,
        digest: &str,
        why: DelegateEndReason,
        call: CallId,
    ) -> Result<DelegateRecord, DelegatesError> {
        let found = self.find(digest)?;
        if found.ended.is_some() {
            return Ok(Arc::unwrap_or_clone(found));
        }
        self.change(digest, |one| {
            if one.ended.is_none() {
                (one.ended, one.end_call) = (Some(why), Some(call));
            }
            Ok(())
        })
    }

    /// The same by the operator, by its name.
    ///
    /// # Errors
    /// [`DelegatesError`].
    pub fn revoke(&self, name: &str) -> Result<DelegateRecord, DelegatesError> {
        let (all, _) = self.all()?;
        let one = all.iter().find(|one| one.name() == name);
        self.end_revoked(one.ok_or(DelegatesError::Unknown)?)
    }

    /// The same for all delegates of a client.
    ///
    /// # Errors
    /// [`DelegatesError`].
    pub fn revoke_of(&self, maker: ClientId) -> Result<(), DelegatesError> {
        let (all, _) = self.all()?;
        let mut own = all.iter().filter(|one| one.client.parent == Some(maker));
        own.try_for_each(|one| self.end_revoked(one).map(drop))
    }

    fn end_revoked(&self, one: &DelegateRecord) -> Result<DelegateRecord, DelegatesError> {
        let call = CallId::new().map_err(|error| DelegatesError::Store(error.to_string()))?;
        self.end(one.digest(), DelegateEndReason::Revoked, call)
    }

    /// Removes a delegate: `true` for the first who does.
    pub(in crate::server) fn remove(&self, digest: &str) -> Result<bool, DelegatesError> {
        self.remove_held(&self.turn(digest)?, digest)
    }

    /// The same for whoever has the turn of it.
    pub(in crate::server) fn remove_held(
        &self,
        turn: &Lease,
        digest: &str,
    ) -> Result<bool, DelegatesError> {
        Ok(self.store.remove_held(turn.fence(), KIND, digest)?)
    }

    /// The turn of a delegate, if its document is still there.
    pub(in crate::server) fn turn_of(&self, digest: &str) -> Result<Option<Lease>, DelegatesError> {
        let turn = self.turn(digest)?;
        Ok(self.store.document(KIND, digest)?.map(|_| turn))
    }

    fn change(
        &self,
        digest: &str,
        change: impl FnOnce(&mut DelegateRecord) -> Result<(), DelegatesError>,
    ) -> Result<DelegateRecord, DelegatesError> {
        let turn = self.turn(digest)?;
        let mut one = Arc::unwrap_or_clone(self.find(digest)?);
        change(&mut one)?;
        self.write(&turn, &one)?;
        Ok(one)
    }

    fn write(&self, turn: &Lease, one: &DelegateRecord) -> Result<(), DelegatesError> {
        let bytes =
            serde_json::to_vec(one).map_err(|error| DelegatesError::Store(error.to_string()))?;
        let document = (KIND, one.digest());
        Ok(self.store.write_held(turn.fence(), document, &bytes)?)
    }

    fn turn(&self, name: &str) -> Result<Lease, StoreError> {
        wait_for(&*self.store, &LeaseName::document(KIND, name), PATIENCE)
    }
}

#[cfg(test)]
mod tests;
