//! The drafts of a caller: listing, showing and discarding. Adding to a draft and submitting it go
//! down the line of a write.

use crate::audit::{AuditError, AuditLog, CallId, Draft, DraftChange, DraftName, DraftOwner};
use crate::change::Change;
use crate::error::Result;
use crate::gates::{ChangeSet, DraftMark, SetChange};
use crate::page::PagePlace;
use crate::render_budget;
use crate::view::ChangeView;

use super::stages::batch_preview::lines_with_room;
use crate::write::{Caller, EntryBuilder, Extent, WriteContext, WriteHistory};

/// The part of a draft to discard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Discarded {
    /// All of it.
    All,
    /// The change of this page.
    Page(i64),
    /// The change that creates a page here.
    Place(PagePlace),
}

impl Discarded {
    fn is(&self, change: &DraftChange) -> bool {
        match self {
            Self::All => true,
            Self::Page(id) => change.page() == Some(*id),
            Self::Place(place) => change.page().is_none() && change.place().as_ref() == Some(place),
        }
    }
}

impl WriteContext {
    /// The drafts of a caller, those with changes.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`.
    pub async fn drafts(&self, caller: &Caller) -> Result<Vec<Draft>> {
        let owner = self.draft_owner(caller);
        hold_room(&self.audit, &owner, None).await?;
        let mut admitted = Vec::new();
        for draft in self.audit.drafts.of_owner(owner).await? {
            if admit(&self.past, &draft).await.is_ok() {
                admitted.push(draft);
            }
        }
        Ok(admitted)
    }

    /// A draft of a caller, by its name or id, if every page of it may still be read.
    ///
    /// # Errors
    /// `INVALID_INPUT`, where there is none; what the wiki says.
    pub async fn draft(&self, caller: &Caller, name: DraftName) -> Result<Draft> {
        load(&self.past, &self.draft_owner(caller), &name).await
    }

    /// The lines of a draft's changes, starting at this number: their effect on the pages as they
    /// were when the changes joined, as far as there is room for the differences.
    ///
    /// # Errors
    /// That the system gives no randomness.
    pub fn lines_of(&self, draft: Draft, from: usize, extent: Extent) -> Result<Vec<ChangeView>> {
        let changes = draft.changes.into_iter().skip(from);
        let changes = changes.filter_map(|one| {
            let change = Change::of_states(one.before, one.after)?;
            Some((change.with_loss_of(one.lost).into(), one.shown))
        });
        let (changes, shown): (_, Vec<_>) = changes.unzip();
        let id = CallId::new()?;
        let set = ChangeSet::list(id, changes);
        let lines = set.map(|set| lines_with_room(&self.wiki, &set, &shown, extent));
        Ok(lines.unwrap_or_default())
    }

    /// A set that was shown to this caller under this id and not sent yet: the number of its
    /// changes, and its changes starting at this number, as far as there is room for the
    /// differences. `None` if one of its pages may not be read any more.
    ///
    /// # Errors
    /// What the wiki says.
    pub async fn shown_set(
        &self,
        caller: &Caller,
        id: CallId,
        from: usize,
    ) -> Result<Option<(usize, Vec<ChangeView>)>> {
        let Some(set) = self.previews(caller).shown(id).await? else {
            return Ok(None);
        };
        let before = set.iter().filter_map(|one| one.change.before());
        let places = before.map(|page| (page.id, &page.locale, &page.path));
        if !self.past.admits_places(places.collect()).await? {
            return Ok(None);
        }
        let changes: Vec<SetChange> = set.iter().cloned().collect();
        let all = changes.len();
        let rest = set.with_changes(changes.into_iter().skip(from).collect());
        let lines = if from < all {
            render_budget::hold(rest.bytes()).await?;
            lines_with_room(&self.wiki, &rest, &[], caller.extent)
        } else {
            Vec::new()
        };
        Ok(Some((all, lines)))
    }

    /// Discards a draft, or one change of it; on record. Returns how many changes were discarded
    /// and how many are left.
    ///
    /// # Errors
    /// `INVALID_INPUT`, where there is none; `AUDIT_UNAVAILABLE`.
    pub async fn discard(
        &self,
        caller: &Caller,
        name: DraftName,
        which: &Discarded,
    ) -> Result<(usize, usize)> {
        let owner = self.draft_owner(caller);
        let held = self.audit.drafts.hold(owner, name.clone(), false).await?;
        let all = held.draft().changes.len();
        let changes = held.draft().changes.iter();
        let gone = changes.filter(|one| which.is(one)).count();
        if gone == 0 {
            return Err(AuditError::NoDraft.into());
        }
        let call = CallId::current_or_new()?;
        let record = EntryBuilder::open(call, caller, self.past.key());
        self.audit.record(record.discarded(&name)).await?;
        let left = all.saturating_sub(gone);
        if left == 0 {
            held.end().await?;
        } else {
            held.leave(|one| which.is(one)).await?;
        }
        Ok((gone, left))
    }
}

/// Takes room for a draft before it is loaded, or for all drafts of an owner.
///
/// # Errors
/// `RATE_LIMITED`, if there is none for a while; `AUDIT_UNAVAILABLE`.
pub(super) async fn hold_room(
    audit: &AuditLog,
    owner: &DraftOwner,
    name: Option<&DraftName>,
) -> Result<()> {
    let bytes = audit.drafts.bytes(owner.clone(), name.cloned()).await?;
    Ok(render_budget::hold(bytes).await?)
}

/// Checks that every page of a draft may still be read; otherwise the failure is that of a missing
/// draft.
pub(super) async fn admit(past: &WriteHistory, draft: &Draft) -> Result<()> {
    let before = draft.changes.iter().filter_map(|one| one.before.as_ref());
    let places = before.map(|page| (page.id, &page.locale, &page.path));
    let admits = past.admits_places(places.collect()).await?;
    Ok(admits.then_some(()).ok_or(AuditError::NoDraft)?)
}

/// A draft with changes, if every page of it may still be read.
///
/// # Errors
/// `INVALID_INPUT`, where there is none; what the wiki says.
pub(super) async fn load(
    past: &WriteHistory,
    owner: &DraftOwner,
    name: &DraftName,
) -> Result<Draft> {
    hold_room(&past.audit, owner, Some(name)).await?;
    let draft = past.audit.drafts.get(owner.clone(), name.clone()).await?;
    if draft.changes.is_empty() {
        return Err(AuditError::NoDraft.into());
    }
    admit(past, &draft).await?;
    Ok(draft)
}

/// Ends a draft that was written or proposed as a whole, unless it was changed since.
pub(super) async fn submitted(audit: &AuditLog, set: Option<DraftMark>) {
    let Some(mark) = set else { return };
    if let Err(error) = audit.drafts.end(mark.id, mark.revision).await {
        tracing::warn!(%error, draft = %mark.id, "a draft that was submitted could not be ended");
    }
}
