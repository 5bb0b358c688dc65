//! Loads and saves the pages that a mirror knows: documents of lines, so that a change rewrites one of
//! them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::pages::PageKey;
use crate::audit::{AuditError, AuditResult};
use crate::mirror::{MirrorTime, MirroredPage};
use crate::store::{DocumentKind, Fence, Store, StoreError};

/// Number of documents.
const DOCUMENTS: i64 = 64;
/// The document of the last look.
const LOOK: &str = "look";

/// The last look at the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct LastLook {
    /// The time at which it began.
    pub(super) at: MirrorTime,
    /// The digest of the key that it was by.
    pub(super) key: String,
    /// The last time at which states that are too old or too many were removed.
    pub(super) purged: Option<MirrorTime>,
    /// The time up to which the next purge counts ages: a clock that is ahead makes nothing old.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) counted: Option<MirrorTime>,
    /// The time before which pages may have been there that were forgotten since.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) forgotten: Option<MirrorTime>,
}

/// The pages that a mirror knows.
#[derive(Debug, Default)]
pub(super) struct KnownPages {
    pages: BTreeMap<PageKey, MirroredPage>,
    /// The documents that are not saved.
    changed: BTreeSet<i64>,
    /// That of the lease under which they are saved.
    fence: Fence,
    pub(super) look: Option<LastLook>,
}

impl KnownPages {
    /// Reads all of them.
    pub(super) fn load(store: &dyn Store) -> AuditResult<Self> {
        Self::load_to_change(store, Fence::default())
    }

    /// Reads all of them, to be saved under a lease.
    pub(super) fn load_to_change(store: &dyn Store, fence: Fence) -> AuditResult<Self> {
        let mut known = Self {
            fence,
            look: last_look(store)?,
            ..Self::default()
        };
        for number in 0..DOCUMENTS {
            known.read(store, number)?;
        }
        Ok(known)
    }

    /// Reads what can be read of them; says which documents are damaged.
    pub(super) fn load_undamaged(store: &dyn Store) -> AuditResult<(Self, Vec<AuditError>)> {
        let (mut known, mut damaged) = (Self::default(), Vec::new());
        for number in 0..DOCUMENTS {
            match known.read(store, number) {
                Err(fault @ AuditError::BadMirror(_)) => damaged.push(fault),
                read => read?,
            }
        }
        Ok((known, damaged))
    }

    /// Reads those that are kept together with this id.
    pub(super) fn load_beside(store: &dyn Store, id: i64) -> AuditResult<Self> {
        let mut known = Self::default();
        known.read(store, id.rem_euclid(DOCUMENTS))?;
        Ok(known)
    }

    fn read(&mut self, store: &dyn Store, number: i64) -> AuditResult<()> {
        let bad = || AuditError::BadMirror(name(number));
        let lines = match store.document(DocumentKind::Mirror, &name(number)) {
            Err(StoreError::Unfit(_)) => return Err(bad()),
            lines => lines?.unwrap_or_default(),
        };
        for line in lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let page: MirroredPage = serde_json::from_slice(line).map_err(|_| bad())?;
            self.pages.insert(page.key(), page);
        }
        Ok(())
    }

    /// Writes what changed.
    pub(super) fn save(&mut self, store: &dyn Store) -> AuditResult<()> {
        while let Some(number) = self.changed.first().copied() {
            let mut lines = Vec::new();
            for (key, page) in &self.pages {
                if document_of(key) == number {
                    serde_json::to_writer(&mut lines, page).map_err(|_| AuditError::BrokenOff)?;
                    lines.push(b'\n');
                }
            }
            let length = u64::try_from(lines.len()).unwrap_or(u64::MAX);
            if length > DocumentKind::Mirror.most_bytes() {
                return Err(AuditError::TooLarge);
            }
            store.write_held(self.fence, (DocumentKind::Mirror, &name(number)), &lines)?;
            self.changed.remove(&number);
        }
        Ok(())
    }

    /// Writes until when pages were forgotten, and then what changed.
    pub(super) fn save_forgotten(&mut self, store: &dyn Store) -> AuditResult<()> {
        if let Some(look) = self.look.clone() {
            self.looked(store, look)?;
        }
        self.save(store)
    }

    /// The time before which pages may have been there that were forgotten since.
    pub(super) fn forgotten(&self) -> Option<MirrorTime> {
        self.look.as_ref()?.forgotten
    }

    /// Notes that pages were forgotten that may have been there before a time.
    pub(super) fn forgot(&mut self, before: MirrorTime) {
        if let Some(look) = &mut self.look {
            look.forgotten = look.forgotten.max(Some(before));
        }
    }

    /// Writes when the list was looked at, once all that it told is saved.
    pub(super) fn looked(&mut self, store: &dyn Store, look: LastLook) -> AuditResult<()> {
        let json = serde_json::to_vec(&look).map_err(|_| AuditError::BrokenOff)?;
        store.write_held(self.fence, (DocumentKind::Mirror, LOOK), &json)?;
        self.look = Some(look);
        Ok(())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &MirroredPage> {
        self.pages.values()
    }

    pub(super) fn get(&self, key: &PageKey) -> Option<&MirroredPage> {
        self.pages.get(key)
    }

    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    /// A page to be changed.
    pub(super) fn change(&mut self, key: &PageKey) -> Option<&mut MirroredPage> {
        let page = self.pages.get_mut(key)?;
        self.changed.insert(document_of(key));
        Some(page)
    }

    pub(super) fn add(&mut self, page: MirroredPage) {
        let key = page.key();
        self.changed.insert(document_of(&key));
        self.pages.insert(key, page);
    }

    pub(super) fn remove(&mut self, key: &PageKey) -> Option<MirroredPage> {
        self.changed.insert(document_of(key));
        self.pages.remove(key)
    }
}

/// The last look at the list, if there was one.
pub(super) fn last_look(store: &dyn Store) -> AuditResult<Option<LastLook>> {
    match store.document(DocumentKind::Mirror, LOOK) {
        Ok(Some(json)) => Ok(serde_json::from_slice(&json).ok()),
        Ok(None) => Ok(None),
        Err(StoreError::Unfit(_)) => Err(AuditError::BadMirror(LOOK.to_owned())),
        Err(error) => Err(error.into()),
    }
}

const fn document_of((id, _): &PageKey) -> i64 {
    id.rem_euclid(DOCUMENTS)
}

fn name(number: i64) -> String {
    format!("{number:02x}")
}
