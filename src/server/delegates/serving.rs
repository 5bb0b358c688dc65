//! Tells other processes of a store which servers over HTTP take delegates, and under which bounds. Each server
//! has a document, which counts while the server holds its lease.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::store::{DocumentKind, Lease, LeaseMode, LeaseName, Store, StoreError};

/// The kind of the documents.
const KIND: DocumentKind = DocumentKind::Server;

/// A server over HTTP that takes delegates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::server) struct ServerNotice {
    /// Its address, without a path.
    pub(in crate::server) address: String,
    /// The digest of what bounds callers at each of its sites; the name of the wiki of no table is empty.
    pub(in crate::server) bounds: BTreeMap<String, String>,
}

/// The notice of this server. Others see it as long as this server renews it.
#[derive(Debug)]
pub(in crate::server) struct PostedNotice {
    store: Arc<dyn Store>,
    name: String,
    lease: Option<Lease>,
    posted: Option<ServerNotice>,
}

impl PostedNotice {
    /// One that nobody sees yet.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub(in crate::server) fn new(store: Arc<dyn Store>) -> Result<Self, getrandom::Error> {
        Ok(Self {
            store,
            name: format!("{:016x}", getrandom::u64()?),
            lease: None,
            posted: None,
        })
    }

    /// Shows others what holds now; nothing if that is `None`. Blocks.
    pub(in crate::server) fn renew(
        &mut self,
        now: Option<&ServerNotice>,
    ) -> Result<(), StoreError> {
        let Some(now) = now else {
            self.posted = None;
            // Held until the document is gone.
            if let Some(_lease) = self.lease.take() {
                self.store.remove_document(KIND, &self.name)?;
            }
            return Ok(());
        };
        if !self.lease.as_ref().is_some_and(Lease::is_sure) {
            (self.lease, self.posted) = (None, None);
            let name = LeaseName::document(KIND, &self.name);
            self.lease = self.store.try_lease(&name, LeaseMode::Alone)?;
        }
        if self.lease.is_some() && self.posted.as_ref() != Some(now) {
            let bytes = serde_json::to_vec(now).unwrap_or_default();
            self.store.write_document(KIND, &self.name, &bytes)?;
            self.posted = Some(now.clone());
        }
        Ok(())
    }
}

/// The servers that run now. Removes the documents of killed ones. Blocks.
pub(in crate::server) fn running(store: &dyn Store) -> Result<Vec<ServerNotice>, StoreError> {
    let mut all = Vec::new();
    for one in store.documents(KIND)? {
        let name = LeaseName::document(KIND, &one.name);
        // Held until the document is gone, so that a server that comes back posts its own anew.
        if let Some(held) = store.try_lease(&name, LeaseMode::Alone)? {
            store.remove_held(held.fence(), KIND, &one.name)?;
            continue;
        }
        let found = store.document(KIND, &one.name)?.unwrap_or_default();
        all.extend(serde_json::from_slice::<ServerNotice>(&found));
    }
    Ok(all)
}
