//! Shows a set without sending it: as a preview, as nothing to do, or as a merge.

use crate::audit::{CallId, HeldProposal, Outcome, ProposalId};
use crate::error::Code;
use crate::gates::{
    ChangeSet, Enabled, Gate, LinkLeft, Previewed, Refusal, SessionId, WritePolicy, paths,
};
use crate::page::{LineCounts, PageState};
use crate::wiki::Wiki;

use super::check::{SetCheck, diff_of};
use crate::write::answer::{Applied, Notes, Preview, WriteTarget};
use crate::write::audit_entry::{EntryBuilder, unavailable};
use crate::write::context::WriteContext;
use crate::write::source::conflict::{Stopped, with_merged};

/// Shows a set, with a token that confirms it; on record.
pub(in crate::write) async fn show(
    desk: &WriteContext,
    docket: &EntryBuilder,
    session: &SessionId,
    set: &ChangeSet,
    checked: SetCheck,
) -> Result<Preview, Refusal> {
    let token = keep(desk, docket, session, set).await?;
    Ok(preview(
        &desk.wiki,
        docket.call(),
        set,
        checked,
        (Some(token), None),
    ))
}

/// The refusal for changes that could not be made. If they could be merged with what was written
/// meanwhile, the merged change is shown, with a token to confirm it where tokens confirm. A merge
/// is never written unasked.
pub(in crate::write) async fn stopped(
    desk: &WriteContext,
    enabled: Enabled<'_>,
    docket: &EntryBuilder,
    session: &SessionId,
    Stopped { failure, merged }: Stopped,
) -> Refusal {
    let gate = match failure.code {
        Code::ConfirmExpired | Code::ConfirmMismatch => Gate::Confirm,
        _ => Gate::Change,
    };
    let Some(merged) = merged else {
        return Refusal::at(gate, failure);
    };
    let gives_tokens = matches!(enabled.policy().writes, WritePolicy::Preview);
    let merged = ChangeSet::single(docket.call(), *merged).noted(docket.note().cloned());
    let allowed = match paths(enabled, merged) {
        Ok(allowed) => allowed,
        Err(refusal) => return refusal,
    };
    let (diff, lines) = diff_of(&allowed.set().first().change);
    let token = if gives_tokens {
        let mut docket = docket.clone();
        docket.about(allowed.set());
        docket.counted(lines);
        match keep(desk, &docket, session, allowed.set()).await {
            Ok(token) => Some(token),
            Err(refusal) => return refusal,
        }
    } else {
        None
    };
    Refusal::at(gate, with_merged(failure, diff, lines, token))
}

/// Keeps a set under a token of its own, on record.
async fn keep(
    desk: &WriteContext,
    docket: &EntryBuilder,
    session: &SessionId,
    set: &ChangeSet,
) -> Result<Previewed, Refusal> {
    record(desk, docket, true).await?;
    desk.memory
        .preview(session, set.clone())
        .map_err(|failure| Refusal::at(Gate::Record, failure))
}

/// Puts a preview on record.
pub(super) async fn record(
    desk: &WriteContext,
    docket: &EntryBuilder,
    has_token: bool,
) -> Result<(), Refusal> {
    desk.audit
        .record(docket.preview(has_token))
        .await
        .map_err(|error| Refusal::at(Gate::Record, unavailable(&error)))
}

/// Says what a set would do.
pub(super) fn preview(
    wiki: &Wiki,
    call: CallId,
    set: &ChangeSet,
    checked: SetCheck,
    (confirm, proposal): (Option<Previewed>, Option<ProposalId>),
) -> Preview {
    let SetCheck {
        mut notes,
        diff,
        lines,
        each: _,
        facts: _,
    } = checked;
    let change = &set.first().change;
    if let Some(lost) = change.lost_for_good() {
        notes.warnings.insert(0, lost);
    }
    Preview {
        call,
        operation: change.operation(),
        target: target(wiki, change.target()),
        changes: change.values(),
        diff,
        lines,
        notes,
        confirm,
        proposal,
    }
}

/// Answers that the page is already as asked for; on record. A proposal then counts as applied.
pub(in crate::write) async fn nothing_to_do(
    desk: &WriteContext,
    docket: &EntryBuilder,
    set: &ChangeSet,
    notes: Notes,
    held: Option<HeldProposal>,
) -> Result<Applied, Refusal> {
    desk.audit
        .record(docket.outcome(Outcome::Unchanged, None, None))
        .await
        .map_err(|error| Refusal::at(Gate::Record, unavailable(&error)))?;
    is_applied(desk, docket, set, held).await?;
    let change = &set.first().change;
    let page = change.target();
    Ok(Applied {
        call: docket.call(),
        operation: change.operation(),
        is_unchanged: true,
        target: target(&desk.wiki, page),
        changed: Vec::new(),
        lines: LineCounts::default(),
        updated_at: page.updated_at.as_ref().map(|at| at.as_str().to_owned()),
        unverified: Vec::new(),
        unreadable: None,
        notes,
    })
}

/// A proposal with nothing left to do counts as applied.
pub(super) async fn is_applied(
    desk: &WriteContext,
    docket: &EntryBuilder,
    set: &ChangeSet,
    held: Option<HeldProposal>,
) -> Result<(), Refusal> {
    let Some(id) = set.proposal() else {
        return Ok(());
    };
    let held = match held {
        Some(held) => Ok(held),
        None => desk.proposals.hold_open(id).await,
    };
    let held = held.map_err(|failure| Refusal::at(Gate::Change, failure))?;
    desk.proposals.applied(held, docket).await;
    Ok(())
}

/// The links to moved pages that a set leaves as they are.
pub(super) fn links_left(set: &ChangeSet) -> Vec<LinkLeft> {
    set.links_left().cloned().collect()
}

/// The page that an answer is about.
pub(super) fn target(wiki: &Wiki, page: &PageState) -> WriteTarget {
    WriteTarget::of(page, wiki.url_of(page))
}

#[cfg(test)]
mod tests;
