//! The drafts of a caller: listing, showing and discarding. Adding to a draft and submitting it go
//! down the line of a write.

use crate::audit::{AuditError, CallId, Draft, DraftChange, DraftName, DraftOwner};
use crate::change::Change;
use crate::error::Failure;
use crate::gates::{ChangeSet, SetChange};
use crate::page::PagePlace;
use crate::render_budget;
use crate::wiki::aside;

use super::answer::SetLine;
use super::audit_entry::{EntryBuilder, unavailable};
use super::caller::Caller;
use super::context::WriteContext;
use super::source::draft::draft_failure;
use super::stages::batch_preview;

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
    pub async fn drafts(&self, caller: &Caller) -> Result<Vec<Draft>, Failure> {
        let owner = self.draft_owner(caller);
        self.hold_room(&owner, None).await?;
        let drafts = self.audit.drafts(owner).await;
        let mut admitted = Vec::new();
        for draft in drafts.map_err(|error| unavailable(&error))? {
            if self.admits_draft(&draft).await.is_ok() {
                admitted.push(draft);
            }
        }
        Ok(admitted)
    }

    /// Takes room for a draft before it is loaded, or for all drafts of an owner.
    ///
    /// # Errors
    /// `RATE_LIMITED`, if there is none for a while; `AUDIT_UNAVAILABLE`.
    pub(super) async fn hold_room(
        &self,
        owner: &DraftOwner,
        name: Option<&DraftName>,
    ) -> Result<(), Failure> {
        let bytes = self.audit.draft_bytes(owner.clone(), name.cloned()).await;
        render_budget::hold(bytes.map_err(|error| unavailable(&error))?).await?;
        Ok(())
    }

    /// Checks that every page of a draft may still be read; otherwise the failure is that of a
    /// missing draft.
    pub(super) async fn admits_draft(&self, draft: &Draft) -> Result<(), Failure> {
        for page in draft.changes.iter().filter_map(|one| one.before.as_ref()) {
            let admitted = self.wiki.admits_record(page.id, &page.locale, &page.path);
            if !admitted.await? {
                return Err(draft_failure(&AuditError::NoDraft));
            }
        }
        Ok(())
    }

    /// A draft of a caller, by its name or id, if every page of it may still be read.
    ///
    /// # Errors
    /// `INVALID_INPUT`, where there is none; what the wiki says.
    pub async fn draft(&self, caller: &Caller, name: DraftName) -> Result<Draft, Failure> {
        let owner = self.draft_owner(caller);
        self.hold_room(&owner, Some(&name)).await?;
        let draft = self.audit.draft(owner, name).await;
        let draft = draft.map_err(|error| draft_failure(&error))?;
        if draft.changes.is_empty() {
            return Err(draft_failure(&AuditError::NoDraft));
        }
        self.admits_draft(&draft).await?;
        Ok(draft)
    }

    /// The lines of a draft's changes, starting at this number: their effect on the pages as they
    /// were when the changes joined, as far as there is room for the differences.
    ///
    /// # Errors
    /// That the system gives no randomness.
    pub fn lines_of(&self, draft: Draft, from: usize) -> Result<Vec<SetLine>, Failure> {
        let changes = draft.changes.into_iter().skip(from);
        let changes = changes.filter_map(|one| {
            let change = Change::of_states(one.before, one.after)?;
            Some(change.with_loss_of(one.lost).into())
        });
        let id = CallId::new().map_err(|error| unavailable(&error))?;
        let set = ChangeSet::list(id, changes.collect());
        let bytes = set.as_ref().map_or(0, ChangeSet::bytes);
        let lines =
            set.map(|set| aside(bytes, || batch_preview::lines_with_room(&self.wiki, &set)));
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
    ) -> Result<Option<(usize, Vec<SetLine>)>, Failure> {
        let Some(set) = self.memory.shown(&caller.session, id) else {
            return Ok(None);
        };
        let changes: Vec<SetChange> = set.iter().cloned().collect();
        for page in changes.iter().filter_map(|one| one.change.before()) {
            if !self
                .wiki
                .admits_record(page.id, &page.locale, &page.path)
                .await?
            {
                return Ok(None);
            }
        }
        let all = changes.len();
        let rest = set.with_changes(changes.into_iter().skip(from).collect());
        let lines = if from < all {
            render_budget::hold(rest.bytes()).await?;
            aside(rest.bytes(), || {
                batch_preview::lines_with_room(&self.wiki, &rest)
            })
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
    ) -> Result<(usize, usize), Failure> {
        let owner = self.draft_owner(caller);
        let held = self.audit.hold_draft(owner, name.clone(), false).await;
        let held = held.map_err(|error| draft_failure(&error))?;
        let all = held.draft().changes.len();
        let gone = held
            .draft()
            .changes
            .iter()
            .filter(|one| which.is(one))
            .count();
        if gone == 0 {
            return Err(draft_failure(&AuditError::NoDraft));
        }
        let call = CallId::current_or_new().map_err(|error| unavailable(&error))?;
        let docket = EntryBuilder::open(call, caller, self.past.key());
        let recorded = self.audit.record(docket.discarded(&name)).await;
        recorded.map_err(|error| unavailable(&error))?;
        let left = all.saturating_sub(gone);
        let done = if left == 0 {
            held.end().await
        } else {
            held.leave(|one| which.is(one)).await
        };
        done.map_err(|error| draft_failure(&error))?;
        Ok((gone, left))
    }
}
