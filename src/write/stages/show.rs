//! Shows a set without sending it: as a preview, as nothing to do, or as a merge.

use crate::audit::{AuditLog, HeldProposal, Outcome};
use crate::error::{Code, Result};
use crate::gates::{
    ChangeSet, Enabled, Gate, Gated, Previewed, Previews, Refusal, WritePolicy, paths,
};

use super::check::diff_of;
use super::send::applied;
use crate::write::source::conflict::{Stopped, with_merged};
use crate::write::{EntryBuilder, Notes, Proposals, SetAnswer, SetOutcome, WriteAnswer, drafts};

/// Keeps a set under a token of its own, which confirms it; on record.
pub(crate) async fn keep(
    audit: &AuditLog,
    previews: &Previews,
    record: &EntryBuilder,
    set: &ChangeSet,
) -> Gated<Previewed> {
    audit.record(record.preview(true)).await?;
    let kept = previews.offer(record.session(), set.clone());
    kept.map_err(Refusal::by(Gate::Record))
}

/// The refusal for changes that could not be made. If they could be merged with what was written
/// meanwhile, the merged change is shown, with a token to confirm it where tokens confirm. A merge
/// is never written unasked.
pub(crate) async fn stopped(
    audit: &AuditLog,
    previews: &Previews,
    enabled: Enabled<'_>,
    record: &EntryBuilder,
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
    let merged = ChangeSet::single(record.call(), *merged).noted(record.note.clone());
    let allowed = match paths(enabled, merged) {
        Ok(allowed) => allowed,
        Err(refusal) => return refusal,
    };
    let (diff, lines) = diff_of(&allowed.set().first().change);
    let token = if gives_tokens {
        let mut record = record.clone();
        record.about(allowed.set());
        record.counted(lines);
        match keep(audit, previews, &record, allowed.set()).await {
            Ok(token) => Some(token),
            Err(refusal) => return refusal,
        }
    } else {
        None
    };
    Refusal::at(gate, with_merged(failure, diff, lines, token))
}

/// Answers that the pages are already as asked for; on record. A proposal then counts as applied,
/// and a draft as submitted.
pub(crate) async fn unchanged(
    proposals: &Proposals,
    record: &EntryBuilder,
    set: &ChangeSet,
    notes: Notes,
    held: Option<HeldProposal>,
) -> Gated<WriteAnswer> {
    let (wiki, audit) = (&proposals.past.wiki, &proposals.past.audit);
    let entry = if set.is_list() {
        record.end_of_set(Outcome::Unchanged)
    } else {
        record.outcome(Outcome::Unchanged, None, None)
    };
    audit.record(entry).await?;
    let is_applied = is_applied(proposals, record, set, held).await;
    is_applied.map_err(Refusal::by(Gate::Change))?;
    if set.is_list() {
        drafts::submitted(audit, set.batch().draft).await;
        return Ok(WriteAnswer::Set(Box::new(SetAnswer {
            call: record.call(),
            outcome: SetOutcome::Unchanged,
            members: Vec::new(),
            left_out: set.batch().left_out.clone(),
            links_left: Vec::new(),
            notes,
        })));
    }
    let mut applied = applied(wiki, record.call(), &set.first().change, None);
    applied.change.outcome = Some(Outcome::Unchanged);
    applied.notes = notes;
    Ok(WriteAnswer::Applied(Box::new(applied)))
}

/// A proposal with nothing left to do counts as applied.
async fn is_applied(
    proposals: &Proposals,
    record: &EntryBuilder,
    set: &ChangeSet,
    held: Option<HeldProposal>,
) -> Result<()> {
    let Some(id) = set.proposal() else {
        return Ok(());
    };
    let held = match held {
        Some(held) => held,
        None => proposals.hold_open(id).await?,
    };
    proposals.applied(held, record).await;
    Ok(())
}

#[cfg(test)]
mod tests;
