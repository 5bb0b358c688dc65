//! Leaves a set open: shows it without sending it, and keeps it for a person to apply later.

use crate::audit::ProposalId;
use crate::change::Warning;
use crate::gates::{ChangeSet, Refusal, SessionId};

use super::check::SetCheck;
use super::{batch_preview, show};
use crate::write::answer::{Preview, SetPreview};
use crate::write::audit_entry::EntryBuilder;
use crate::write::caller::Extent;
use crate::write::context::WriteContext;

/// The warning that a set was left open.
pub(crate) const PROPOSED: &str = "proposed";

/// Shows a set of many changes and keeps it for a person to apply later; on record.
pub(in crate::write) async fn open_set(
    desk: &WriteContext,
    docket: &mut EntryBuilder,
    session: &SessionId,
    set: &ChangeSet,
    mut checked: SetCheck,
) -> Result<SetPreview, Refusal> {
    let id = desk.proposals.keep_set(docket, session, set).await?;
    desk.submitted(set.draft()).await;
    checked.notes.warnings.push(proposed(desk, docket, id));
    Ok(batch_preview::preview(
        desk,
        docket,
        (set, Extent::Bounded),
        checked,
        (None, Some(id)),
    ))
}

fn proposed(desk: &WriteContext, docket: &EntryBuilder, id: ProposalId) -> Warning {
    let review = desk.policy.review.seen_from(docket.review());
    let message = match review.page_of(id) {
        Some(page) => format!("nothing was sent; people decide on it at {page}."),
        None => format!(
            "nothing was sent; the operator can apply it with `wikijs-gate proposals apply {id}`."
        ),
    };
    Warning::new(PROPOSED, message)
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
    } else {
        let (id, replaces) = desk
            .proposals
            .keep(docket, session, &set.first().change)
            .await?;
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
