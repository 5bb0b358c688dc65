//! Adds a change to a draft: nothing is sent, and nothing can be confirmed before the draft is
//! submitted.

use crate::audit::{AuditLog, DraftChange, HeldDraft};
use crate::error::Failure;
use crate::gates::{Gate, Gated, Refusal};

use crate::write::source::{Drafting, digest};
use crate::write::{EntryBuilder, Joined, WriteHistory, drafts};

/// Holds the draft that a change shall join.
pub(crate) async fn hold(past: &WriteHistory, drafting: &Drafting) -> Gated<HeldDraft> {
    let (owner, name) = (drafting.owner.clone(), drafting.draft.clone());
    let held = async {
        drafts::hold_room(&past.audit, &owner, Some(&name)).await?;
        let held = past.audit.drafts.hold(owner, name, true).await?;
        drafts::admit(past, held.draft()).await?;
        Ok::<_, Failure>(held)
    };
    held.await.map_err(Refusal::by(Gate::Input))
}

/// Puts a change into its draft; on record.
pub(crate) async fn join(
    audit: &AuditLog,
    record: &EntryBuilder,
    held: HeldDraft,
    drafting: &Drafting,
    change: DraftChange,
) -> Gated<Joined> {
    audit.record(record.joined(&drafting.draft)).await?;
    let draft = held.join(change).await?;
    Ok(Joined {
        digest: digest::of_draft(&draft.changes),
        id: draft.id,
        name: draft.name,
        changes: draft.changes.len(),
    })
}
