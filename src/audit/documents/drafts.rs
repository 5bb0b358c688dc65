//! The drafts: a document each, replaced whole, and changed by one at a time.

use std::time::{Duration, Instant};

use super::super::{
    AuditError, AuditLayout, AuditResult, Draft, DraftChange, DraftId, DraftName, DraftOwner,
    blocking,
};
use super::draft::VERSION;
use crate::page::Date;
use crate::store::{
    DocumentKind, Fence, HeldLease, LeaseMode, LeaseName, LeaseQueue, Listed, StoreError,
};

/// Time for which an unchanged draft is kept.
const LIES: Duration = Duration::from_hours(7 * 24);
/// The most drafts of one owner.
const MOST_OF_OWNER: usize = 20;
/// The most drafts of all.
const MOST: usize = 2_000;
/// The most changes of a draft.
const MAX_CHANGES: usize = 200;
/// Timeout while another call changes a draft.
const WAIT: Duration = Duration::from_secs(20);

/// A draft that nobody else can change while this is held.
#[derive(Debug)]
#[must_use = "the draft is held only as long as this lives"]
pub struct HeldDraft {
    place: AuditLayout,
    name: String,
    draft: Draft,
    lease: HeldLease,
}

/// The drafts of a wiki.
#[derive(Debug, Clone)]
pub struct DraftStore {
    pub(in crate::audit) place: AuditLayout,
    pub(in crate::audit) leases: LeaseQueue,
}

impl DraftStore {
    /// Holds a draft of this owner in order to change it; begins a missing draft, if allowed.
    ///
    /// # Errors
    /// [`AuditError::NoDraft`], if it may not be begun; [`AuditError::TooManyDrafts`];
    /// [`AuditError::Busy`].
    pub async fn hold(
        &self,
        owner: DraftOwner,
        name: DraftName,
        begins: bool,
    ) -> AuditResult<HeldDraft> {
        let asked = Instant::now();
        loop {
            let left = WAIT.saturating_sub(asked.elapsed());
            let (of, called) = (owner.clone(), name.clone());
            let found = self.place.on(move |place| find(place, &of, &called));
            let found = match found.await? {
                Some(found) => found.listed.name,
                None if begins => {
                    let lease = self.leases.alone(&LeaseName::DRAFTS, left).await?;
                    let (of, called) = (owner.clone(), name.clone());
                    let begun = self
                        .place
                        .on(move |place| begin(place, &of, &called, &lease));
                    begun.await?
                }
                None => return Err(AuditError::NoDraft),
            };
            // Otherwise it was ended meanwhile.
            if let Some(held) = self.hold_document(found, left).await? {
                return Ok(held);
            }
            if left.is_zero() {
                return Err(AuditError::Busy);
            }
        }
    }

    /// Holds the draft of this document; `None` if there is none any more.
    async fn hold_document(&self, name: String, wait: Duration) -> AuditResult<Option<HeldDraft>> {
        let lease = LeaseName::document(DocumentKind::Draft, &name);
        let lease = self.leases.alone(&lease, wait).await?;
        let place = self.place.clone();
        blocking(move || {
            Ok(read(&place, &name)?.map(|draft| HeldDraft {
                place,
                name,
                draft,
                lease,
            }))
        })
        .await
    }

    /// Ends a draft that was written or proposed as a whole, unless it was changed since.
    ///
    /// # Errors
    /// If its file cannot be read or removed.
    pub async fn end(&self, id: DraftId, revision: u64) -> AuditResult<()> {
        let found = self.place.on(move |place| {
            let mut all = files(place)?.into_iter();
            Ok(all.find(|file| file.id == id))
        });
        let Some(found) = found.await? else {
            return Ok(());
        };
        match self.hold_document(found.listed.name, Duration::ZERO).await {
            Ok(Some(held)) if held.draft.revision == revision => held.end().await,
            // Somebody changes it, so it is not the one that was written.
            Ok(_) | Err(AuditError::Busy) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The drafts of this owner that hold changes, by their names.
    ///
    /// # Errors
    /// If the directory cannot be read; a missing one has none.
    pub async fn of_owner(&self, owner: DraftOwner) -> AuditResult<Vec<Draft>> {
        self.place.on(move |place| {
            let (_, prefix) = owner.prefixes();
            let mut own = Vec::new();
            for file in files(place)?
                .into_iter()
                .filter(|file| file.owner == prefix)
            {
                match read(place, &file.listed.name) {
                    Ok(found) => own.extend(found.filter(|draft| !draft.changes.is_empty())),
                    Err(AuditError::BadDraft) => {
                        tracing::warn!(draft = %file.id, "audit: the file of a draft is passed over");
                    }
                    Err(error) => return Err(error),
                }
            }
            own.sort_by(|a: &Draft, b: &Draft| a.name.as_str().cmp(b.name.as_str()));
            Ok(own)
        })
        .await
    }

    /// Size in bytes of one draft of this owner once it is loaded, or of all its drafts.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub async fn bytes(&self, owner: DraftOwner, name: Option<DraftName>) -> AuditResult<usize> {
        self.place
            .on(move |place| {
                let counted = if let Some(name) = name {
                    find(place, &owner, &name)?.into_iter().collect()
                } else {
                    let (_, prefix) = owner.prefixes();
                    let own = files(place)?.into_iter();
                    own.filter(|file| file.owner == prefix).collect::<Vec<_>>()
                };
                let sizes = counted.iter().map(|file| file.listed.length);
                // A larger one is damaged, and not loaded.
                let sizes = sizes.filter(|length| *length <= DocumentKind::Draft.most_bytes());
                let bytes = sizes.fold(0, u64::saturating_add);
                Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
            })
            .await
    }

    /// A draft of this owner, by its name or id.
    ///
    /// # Errors
    /// [`AuditError::NoDraft`], or that it cannot be read.
    pub async fn get(&self, owner: DraftOwner, name: DraftName) -> AuditResult<Draft> {
        self.place
            .on(move |place| {
                let found = find(place, &owner, &name)?.ok_or(AuditError::NoDraft)?;
                read(place, &found.listed.name)?.ok_or(AuditError::NoDraft)
            })
            .await
    }
}

impl HeldDraft {
    /// The draft.
    pub const fn draft(&self) -> &Draft {
        &self.draft
    }

    /// Adds a change in place of the earlier one of its page; returns the new draft.
    ///
    /// # Errors
    /// [`AuditError::DraftFull`], or that it is not surely on the disk.
    pub async fn join(mut self, change: DraftChange) -> AuditResult<Draft> {
        self.draft.join(change);
        self.changed().await
    }

    /// The same without some changes.
    ///
    /// # Errors
    /// If that is not surely on the disk.
    pub async fn leave(mut self, is_it: impl Fn(&DraftChange) -> bool) -> AuditResult<()> {
        self.draft.changes.retain(|one| !is_it(one));
        self.changed().await.map(drop)
    }

    async fn changed(mut self) -> AuditResult<Draft> {
        self.draft.revision = self.draft.revision.saturating_add(1);
        self.draft.changed = Date::now();
        blocking(move || {
            write(&self.place, &self.name, &self.draft, self.lease.fence())?;
            Ok(self.draft)
        })
        .await
    }

    /// Ends it.
    ///
    /// # Errors
    /// If its document cannot be removed.
    pub async fn end(self) -> AuditResult<()> {
        blocking(move || {
            let store = &self.place.store;
            store.remove_held(self.lease.fence(), DocumentKind::Draft, &self.name)?;
            Ok(())
        })
        .await
    }
}

/// A new draft without changes, by its document; or the one that another call has begun.
fn begin(
    place: &AuditLayout,
    owner: &DraftOwner,
    name: &DraftName,
    lease: &HeldLease,
) -> AuditResult<String> {
    if let Some(begun) = find(place, owner, name)? {
        return Ok(begun.listed.name);
    }
    let there = files(place)?;
    let (counted, prefix) = owner.prefixes();
    let own = there.iter().filter(|file| file.owner.starts_with(&counted));
    if own.count() >= MOST_OF_OWNER || there.len() >= MOST {
        return Err(AuditError::TooManyDrafts);
    }
    let draft = Draft {
        v: VERSION,
        id: DraftId::new()?,
        name: name.clone(),
        owner: owner.clone(),
        created: Date::now(),
        changed: Date::now(),
        revision: 0,
        changes: Vec::new(),
    };
    let document = format!("{prefix}.{name}.{}", draft.id);
    write(place, &document, &draft, lease.fence())?;
    Ok(document)
}

/// The document of a draft, and the parts of its name.
struct DraftFile {
    listed: Listed,
    owner: String,
    name: String,
    id: DraftId,
}

impl DraftFile {
    fn new(listed: Listed) -> Option<Self> {
        let mut parts = listed.name.split('.');
        let (owner, name, id) = (parts.next()?, parts.next()?, parts.next()?);
        let (owner, name, id) = (owner.to_owned(), name.to_owned(), id.parse().ok()?);
        Some(Self {
            listed,
            owner,
            name,
            id,
        })
    }
}

/// The draft with this name or id.
fn find(
    place: &AuditLayout,
    owner: &DraftOwner,
    name: &DraftName,
) -> AuditResult<Option<DraftFile>> {
    let mut there = files(place)?;
    let (counted, prefix) = owner.prefixes();
    let is_named = |file: &DraftFile| file.owner == prefix && file.name == name.as_str();
    if let Some(at) = there.iter().position(is_named) {
        return Ok(Some(there.swap_remove(at)));
    }
    let Ok(id) = name.as_str().parse::<DraftId>() else {
        return Ok(None);
    };
    let mut there = there.into_iter();
    let taken_up = there.find(|file| file.id == id && file.owner.starts_with(&counted));
    let Some(taken_up) = taken_up else {
        return Ok(None);
    };
    let found = read(place, &taken_up.listed.name)?;
    let may = found.is_some_and(|draft| owner.may_take_up(&draft.owner));
    Ok(may.then_some(taken_up))
}

/// A draft by its name, and whether it can be read.
type CheckedDraft = (String, AuditResult<()>);

/// Reads each draft.
pub(in crate::audit) fn all(place: &AuditLayout) -> AuditResult<Vec<CheckedDraft>> {
    let files = files(place)?.into_iter();
    Ok(files
        .map(|file| (file.name, read(place, &file.listed.name).map(drop)))
        .collect())
}

/// The drafts; removes those that nobody changed for a week.
fn files(place: &AuditLayout) -> AuditResult<Vec<DraftFile>> {
    let mut files = Vec::new();
    for listed in place.store.documents(DocumentKind::Draft)? {
        if has_lain(&listed) {
            // One that cannot be removed is in nobody's way.
            let _ = remove_lain(place, &listed.name);
        } else {
            files.extend(DraftFile::new(listed));
        }
    }
    Ok(files)
}

fn has_lain(listed: &Listed) -> bool {
    listed.changed.elapsed().is_ok_and(|age| age > LIES)
}

/// Removes a draft that has lain for long, unless somebody is changing it.
fn remove_lain(place: &AuditLayout, name: &str) -> AuditResult<()> {
    let (store, kind) = (&place.store, DocumentKind::Draft);
    let lease = store.try_lease(&LeaseName::document(kind, name), LeaseMode::Alone)?;
    let still = || -> AuditResult<bool> {
        let mut now = store.documents(kind)?.into_iter();
        Ok(now.any(|it| it.name == name && has_lain(&it)))
    };
    if let Some(lease) = lease
        && still()?
    {
        store.remove_held(lease.fence(), kind, name)?;
    }
    Ok(())
}

/// The draft in a document; `None` if it does not exist any more.
fn read(place: &AuditLayout, name: &str) -> AuditResult<Option<Draft>> {
    let json = match place.store.document(DocumentKind::Draft, name) {
        Err(StoreError::Unfit(_)) => return Err(AuditError::BadDraft),
        json => json?,
    };
    let Some(json) = json else {
        return Ok(None);
    };
    let draft: Draft = serde_json::from_slice(&json).map_err(|_| AuditError::BadDraft)?;
    if draft.v > VERSION || draft.changes.len() > MAX_CHANGES {
        return Err(AuditError::BadDraft);
    }
    Ok(Some(draft))
}

fn write(place: &AuditLayout, name: &str, draft: &Draft, fence: Fence) -> AuditResult<()> {
    let json = serde_json::to_vec(draft).map_err(|_| AuditError::BrokenOff)?;
    let kind = DocumentKind::Draft;
    let is_long = u64::try_from(json.len()).is_ok_and(|length| length > kind.most_bytes());
    if is_long || draft.changes.len() > MAX_CHANGES {
        return Err(AuditError::DraftFull);
    }
    Ok(place.store.write_held(fence, (kind, name), &json)?)
}

#[cfg(test)]
mod tests;
