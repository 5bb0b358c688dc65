//! Adds a change to a draft: nothing is sent, and nothing can be confirmed before the draft is
//! submitted.

use crate::audit::HeldDraft;
use crate::change::Warning;
use crate::gates::{ChangeSet, Gate, Refusal};

use super::check::SetCheck;
use super::send::broke_off;
use super::show;
use crate::write::answer::{Joined, Preview};
use crate::write::audit_entry::{EntryBuilder, unavailable};
use crate::write::context::WriteContext;
use crate::write::source::Drafting;
use crate::write::source::draft::draft_failure;

/// Holds the draft that a change shall join.
pub(in crate::write) async fn hold(
    desk: &WriteContext,
    drafting: &Drafting,
) -> Result<HeldDraft, Refusal> {
    let (owner, name) = (drafting.owner.clone(), drafting.draft.clone());
    let room = desk.hold_room(&owner, Some(&name)).await;
    room.map_err(|failure| Refusal::at(Gate::Input, failure))?;
    let held = desk.audit.hold_draft(owner, name, true).await;
    let held = held.map_err(|error| Refusal::at(Gate::Input, draft_failure(&error)))?;
    let admitted = desk.admits_draft(held.draft()).await;
    admitted.map_err(|failure| Refusal::at(Gate::Input, failure))?;
    Ok(held)
}

/// Puts a change into its draft; on record.
pub(in crate::write) async fn join(
    desk: &WriteContext,
    docket: &EntryBuilder,
    held: Option<(HeldDraft, &Drafting)>,
    set: &ChangeSet,
    mut checked: SetCheck,
) -> Result<Preview, Refusal> {
    let Some((held, drafting)) = held else {
        return Err(Refusal::at(Gate::Record, broke_off()));
    };
    let recorded = desk.audit.record(docket.joined(&drafting.draft)).await;
    recorded.map_err(|error| Refusal::at(Gate::Record, unavailable(&error)))?;
    let joined = held.join(drafting.as_drafted(set)).await;
    let draft = joined.map_err(|error| Refusal::at(Gate::Record, draft_failure(&error)))?;
    checked.notes.warnings.push(Warning::new(
        "drafted",
        "nothing was sent; wikijs_submit_draft writes the draft.",
    ));
    checked.notes.joined = Some(Joined {
        id: draft.id,
        name: draft.name,
        changes: draft.changes.len(),
    });
    let call = docket.call();
    Ok(show::preview(&desk.wiki, call, set, checked, (None, None)))
}
