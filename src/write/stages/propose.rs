//! Leaves a set open: keeps it for a person to apply later.

use crate::audit::ProposalId;
use crate::change::Warning;
use crate::gates::{ChangeSet, Gate, Gated, Refusal};
use crate::notify::ReviewAddress;

use crate::write::{EntryBuilder, Notes, Proposals, drafts};

/// The warning that a set was left open.
pub const PROPOSED: &str = "proposed";

/// The warning that an undo was proposed before and waits.
pub const WAITS: &str = "waits_already";

/// Keeps a set as a proposal, if there is something to do; on record. A note says where people
/// decide on it.
pub(crate) async fn keep(
    proposals: &Proposals,
    review: &ReviewAddress,
    record: &mut EntryBuilder,
    set: &ChangeSet,
    notes: &mut Notes,
) -> Gated<Option<ProposalId>> {
    let audit = &proposals.past.audit;
    if set.is_nothing() {
        audit.record(record.preview(false)).await?;
        return Ok(None);
    }
    if let Some(id) = waiting(proposals, record, set).await? {
        let decided = decided(review, id);
        let message =
            format!("nothing was sent: this undo already waits as the proposal {id}; {decided}.");
        notes.warnings.push(Warning::new(WAITS, message));
        return Ok(Some(id));
    }
    let (id, replaces) = proposals.keep(record, set).await?;
    notes.replaces = replaces;
    drafts::submitted(audit, set.batch().draft).await;
    let message = format!("nothing was sent; {}.", decided(review, id));
    notes.warnings.push(Warning::new(PROPOSED, message));
    Ok(Some(id))
}

/// The open proposal of the same undo, on record; looked for only where the operator undoes: a
/// client's session replaces what it proposed before.
async fn waiting(
    proposals: &Proposals,
    record: &EntryBuilder,
    set: &ChangeSet,
) -> Gated<Option<ProposalId>> {
    if !record.is_of_operator() {
        return Ok(None);
    }
    let found = proposals.waiting_undo(record, set).await;
    let Some(id) = found.map_err(Refusal::by(Gate::Record))? else {
        return Ok(None);
    };
    proposals.past.audit.record(record.waits(id)).await?;
    Ok(Some(id))
}

/// Says how people decide on a proposal.
fn decided(review: &ReviewAddress, id: ProposalId) -> String {
    match review.page_of(id) {
        Some(page) => format!("people decide on it at {page}"),
        None => format!("the operator can apply it with `wikijs-gate proposals apply {id}`"),
    }
}

#[cfg(test)]
mod tests;
