//! Leaves a set open: shows it without sending it, and keeps it for a person to apply later.

use crate::audit::ProposalId;
use crate::change::Warning;
use crate::gates::{ChangeSet, Gate, Refusal, SessionId};

use super::check::SetCheck;
use super::{batch_preview, show};
use crate::write::answer::{Preview, SetPreview};
use crate::write::audit_entry::{EntryBuilder, unavailable};
use crate::write::caller::Extent;
use crate::write::context::WriteContext;

/// The warning that a set was left open.
pub(crate) const PROPOSED: &str = "proposed";

/// The warning that an undo was proposed before and waits.
pub(crate) const WAITS: &str = "waits_already";

/// Shows a set of many changes and keeps it for a person to apply later; on record.
pub(in crate::write) async fn open_set(
    desk: &WriteContext,
    docket: &mut EntryBuilder,
    session: &SessionId,
    set: &ChangeSet,
    mut checked: SetCheck,
) -> Result<SetPreview, Refusal> {
    let id = if let Some(id) = waiting(desk, docket, set).await? {
        checked.notes.warnings.push(waits(desk, docket, id));
        id
    } else {
        let id = desk.proposals.keep_set(docket, session, set).await?;
        desk.submitted(set.draft()).await;
        checked.notes.warnings.push(proposed(desk, docket, id));
        id
    };
    Ok(batch_preview::preview(
        desk,
        docket,
        (set, Extent::Bounded),
        checked,
        (None, Some(id)),
    ))
}

/// The open proposal of the same undo, on record; looked for only where the operator undoes: a
/// client's session replaces what it proposed before.
async fn waiting(
    desk: &WriteContext,
    docket: &EntryBuilder,
    set: &ChangeSet,
) -> Result<Option<ProposalId>, Refusal> {
    if !docket.is_of_operator() {
        return Ok(None);
    }
    let at_record = |failure| Refusal::at(Gate::Record, failure);
    let found = desk.proposals.waiting_undo(docket, set).await;
    let Some(id) = found.map_err(at_record)? else {
        return Ok(None);
    };
    let recorded = desk.audit.record(docket.waits(id)).await;
    recorded.map_err(|error| at_record(unavailable(&error)))?;
    Ok(Some(id))
}

fn proposed(desk: &WriteContext, docket: &EntryBuilder, id: ProposalId) -> Warning {
    let decided = decided(desk, docket, id);
    Warning::new(PROPOSED, format!("nothing was sent; {decided}."))
}

fn waits(desk: &WriteContext, docket: &EntryBuilder, id: ProposalId) -> Warning {
    let decided = decided(desk, docket, id);
    let message =
        format!("nothing was sent: this undo already waits as the proposal {id}; {decided}.");
    Warning::new(WAITS, message)
}

/// Says how people decide on a proposal.
fn decided(desk: &WriteContext, docket: &EntryBuilder, id: ProposalId) -> String {
    let review = desk.policy.review.seen_from(docket.review());
    match review.page_of(id) {
        Some(page) => format!("people decide on it at {page}"),
        None => format!("the operator can apply it with `wikijs-gate proposals apply {id}`"),
    }
}

/// Shows a change and keeps it for a person to apply later, if there is something to do; on record.
pub(in crate::write) async fn open(
    desk: &WriteContext,
    docket: &mut EntryBuilder,
    session: &SessionId,
    set: &ChangeSet,
    mut checked: SetCheck,
) -> Result<Preview, Refusal> {
    let proposal = if set.is_nothing() {
        show::record(desk, docket, false).await?;
        None
    } else if let Some(id) = waiting(desk, docket, set).await? {
        checked.notes.warnings.push(waits(desk, docket, id));
        Some(id)
    } else {
        let (id, replaces) = desk.proposals.keep(docket, session, set.first()).await?;
        checked.notes.replaces = replaces;
        checked.notes.warnings.push(proposed(desk, docket, id));
        Some(id)
    };
    Ok(show::preview(
        &desk.wiki,
        docket.call(),
        set,
        checked,
        (None, proposal),
    ))
}

#[cfg(test)]
mod tests;
