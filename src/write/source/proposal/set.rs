//! The changes of a proposed set that are still to be made.

use std::collections::HashSet;

use crate::audit::{Proposal, ProposedChange, Record};
use crate::change::{Change, Operation};
use crate::error::{Code, Failure};
use crate::gates::{ChangeSet, SetChange};
use crate::page::{Locale, PagePath, PageState};

use super::super::whole_page;
use super::outdated::{Outdated, held_against, is_free};
use super::{Call, Stopped, broke_off, values};
use crate::write::desk::Desk;
use crate::write::docket::unavailable;

/// The set that is left to be made: a change is done if it is on record as applied by this proposal
/// and the page is still as promised.
pub(super) async fn made(
    call: Call<'_>,
    proposal: &Proposal,
    merge: bool,
) -> Result<ChangeSet, Stopped> {
    let desk = call.desk;
    let on_record = desk.audit.proposal_on_record(proposal.id).await;
    let on_record = on_record.map_err(|error| unavailable(&error))?;
    let mut freed: HashSet<(Locale, PagePath)> = HashSet::new();
    let (mut changes, mut idle) = (Vec::new(), None);
    for one in proposal.changes() {
        let kept = desk.proposals.change_of(&one, proposal.key).await?;
        values::check(&kept, one.undoes)?;
        freed.extend(left_by(&kept));
        if is_done(desk, &one, &kept, &on_record.applied).await? {
            idle = Some(kept.target().clone());
            continue;
        }
        let change = fitting(desk, &one, kept, merge, &freed).await;
        let change = change.map_err(|failure| about(failure, &one))?;
        changes.push(SetChange {
            undoes: one.undoes,
            ..SetChange::from(change)
        });
    }
    if changes.is_empty() {
        let page = idle.ok_or_else(broke_off)?;
        changes.push(Change::between(page.clone(), page).into());
    }
    let set = ChangeSet::list(call.id, changes).ok_or_else(broke_off)?;
    Ok(set)
}

/// Checks that each change of an open set still fits its page; returns the failure of the first
/// that does not.
pub(in crate::write) async fn fits(
    desk: &Desk,
    changes: &[(ProposedChange, Change)],
) -> Result<(), Failure> {
    let mut freed = HashSet::new();
    for (one, kept) in changes {
        freed.extend(left_by(kept));
        let change = fitting(desk, one, kept.clone(), false, &freed).await;
        change.map_err(|failure| match changes {
            [_] => failure,
            _ => about(failure, one),
        })?;
    }
    Ok(())
}

/// The change of the page as it is now. A place that an earlier change frees is free.
async fn fitting(
    desk: &Desk,
    one: &ProposedChange,
    kept: Change,
    merge: bool,
    freed: &HashSet<(Locale, PagePath)>,
) -> Result<Change, Failure> {
    let change = match held_against(desk, one.undoes, kept).await {
        Ok(change) => change,
        Err(Outdated {
            merged: Some(merged),
            ..
        }) if merge => *merged,
        Err(outdated) => return Err(outdated.told()),
    };
    let place = change.after().map(place_of);
    if place.is_none_or(|place| !freed.contains(&place)) {
        is_free(desk, &change).await?;
    }
    Ok(change)
}

/// Whether it is on record as applied and the page is still as promised.
async fn is_done(
    desk: &Desk,
    one: &ProposedChange,
    kept: &Change,
    applied: &[Record],
) -> Result<bool, Failure> {
    let is_it = |record: &&Record| {
        record.operation == Some(one.operation)
            && record.before == one.before
            && record.after == one.after
    };
    let Some(record) = applied.iter().rev().find(is_it) else {
        return Ok(false);
    };
    let Some(id) = record.id.or(one.page) else {
        return Ok(false);
    };
    match (
        whole_page::to_write(&desk.wiki, id, kept.lost()).await,
        kept.after(),
    ) {
        (Ok(read), Some(after)) => Ok(after.difference(&read.page).is_empty()),
        (Err(failure), None) if failure.code == Code::PageNotFound => Ok(true),
        (Ok(_), None) => Ok(false),
        (Err(failure), _) if failure.code == Code::PageNotFound => Ok(false),
        (Err(failure), _) => Err(failure),
    }
}

/// The place that a change leaves.
fn left_by(change: &Change) -> Option<(Locale, PagePath)> {
    let leaves = change.moves() || change.operation() == Operation::Delete;
    change.before().filter(|_| leaves).map(place_of)
}

fn place_of(page: &PageState) -> (Locale, PagePath) {
    (page.locale.clone(), page.path.clone())
}

/// Adds to a failure which page of the set it is about.
fn about(failure: Failure, one: &ProposedChange) -> Failure {
    let failure = failure.detail("path", one.path.as_str());
    match one.page {
        Some(id) => failure.detail("id", id),
        None => failure,
    }
}
