//! The changes of a proposed set that are still to be made.

use std::collections::HashSet;

use crate::audit::{Exclusions, Proposal, ProposedChange, Record};
use crate::change::Change;
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, LeftOut, LinkLeft, Omission, SetChange};
use crate::hex;
use crate::page::{PagePlace, PageState};

use super::super::target;
use super::needs::{self, Needs};
use super::outdated::{held_against, into_failure, is_free, is_midway, read_now};
use super::{WriteCall, broke_off, values};
use crate::wiki::Wiki;
use crate::write::source::digest::{DigestInput, digest};
use crate::write::{KeptChange, Proposals, Stopped, ToWrite, WriteHistory};

/// The reason why a change of a proposed set was not made.
pub(crate) const LEFT_OUT: &str = "a person left it out";

/// The changes of a proposal, each such as a call could have asked for.
pub(super) async fn kept(proposals: &Proposals, proposal: &Proposal) -> Result<Vec<KeptChange>> {
    let changes = proposals.changes_of(proposal).await?;
    for (one, change) in &changes {
        values::check(change, one.undoes)?;
    }
    Ok(changes)
}

/// The set that is left to be made: a change is done if it is on record as applied by this proposal
/// and the page is still as promised.
pub(super) async fn made(
    call: WriteCall<'_>,
    proposal: &Proposal,
    changes: Vec<KeptChange>,
    (merge, leave_out): (bool, &[usize]),
) -> Result<ChangeSet> {
    let wiki = call.wiki();
    let on_record = call.past.audit.proposals.on_record(proposal.id).await?;
    let omission = omission(wiki, &changes, leave_out).await?;
    let out = omission.as_ref().map_or(&[][..], |one| one.all.numbers());
    let (changes, left_out, links_left) = parted(wiki, changes, out).await?;
    for (one, kept) in &left_out {
        let is_begun = !on_record.sets.is_empty()
            && matches!(read_now(wiki, kept).await, Some(Ok(read)) if is_midway(kept, &read.page));
        if is_begun || is_done(wiki, one, kept, &on_record.applied).await? {
            return Err(about(is_made(), one));
        }
    }
    // What a later change leaves comes free, too: its page then steps aside first.
    let freed = freed_by(&changes);
    let (mut made, mut idle) = (Vec::new(), None);
    for (one, kept) in changes {
        if is_done(wiki, &one, &kept, &on_record.applied).await? {
            idle = Some(kept.target().clone());
            continue;
        }
        let read = read_now(wiki, &kept).await;
        let change = Box::pin(fitting(call.past, &one, (kept, read), merge, &freed)).await;
        let change = change.map_err(|outdated| about(into_failure(outdated), &one))?;
        made.push(SetChange::from(change).undoing(one.undoes));
    }
    if made.is_empty() {
        let page = idle.ok_or_else(broke_off)?;
        made.push(Change::between(page.clone(), page).into());
    }
    let set = ChangeSet::list(call.id, made).ok_or_else(broke_off)?;
    let left_out = left_out.into_iter();
    let left_out = left_out.map(|(one, _)| LeftOut::at(one.page, Some(one.path), LEFT_OUT));
    Ok(set.with(|batch| {
        batch.left_out = left_out.collect();
        batch.links_left = links_left;
        batch.omitted = omission;
    }))
}

/// The links that lead nowhere if these changes are left out, and what depends on them.
pub(crate) async fn links_left_without(
    wiki: &Wiki,
    changes: Vec<KeptChange>,
    leave_out: &[usize],
) -> Result<Vec<LinkLeft>> {
    let omission = omission(wiki, &changes, leave_out).await?;
    let out = omission.as_ref().map_or(&[][..], |one| one.all.numbers());
    let (_, _, links_left) = parted(wiki, changes, out).await?;
    Ok(links_left)
}

/// The changes that a person leaves out: those that were named, and those that depend on them.
pub(super) async fn omission(
    wiki: &Wiki,
    changes: &[KeptChange],
    leave_out: &[usize],
) -> Result<Option<Omission>> {
    let Some(asked) = Exclusions::new(leave_out.to_vec(), changes.len()) else {
        return Ok(None);
    };
    let asked = asked.numbers().to_vec();
    let fault =
        |message: &str| Failure::of_argument("leaveOut", message).detail("changes", changes.len());
    if asked.iter().any(|number| *number >= changes.len()) {
        return Err(fault("The proposal has no change of that number."));
    }
    let all = needs_of(wiki, changes).await.left_out_with(&asked);
    if all.len() == changes.len() {
        let message = "All changes of the proposal would be left out: some were named, and the others depend on these.";
        return Err(fault(message).hint("Reject the proposal instead."));
    }
    let all = Exclusions::new(all, changes.len());
    Ok(all.map(|all| Omission { asked, all }))
}

/// The dependencies between the changes of a proposal.
pub(crate) async fn needs_of(wiki: &Wiki, changes: &[KeptChange]) -> Needs {
    let told: Vec<(&Change, bool)> = changes
        .iter()
        .map(|(one, change)| (change, one.links_mended.is_some()))
        .collect();
    let site = if told.iter().any(|(_, only_mends)| *only_mends) {
        wiki.linked_site().await.ok()
    } else {
        None
    };
    Needs::of(&told, site.as_ref())
}

/// The changes that stay, those left out, and the links that will lead nowhere for it.
type Parted = (Vec<KeptChange>, Vec<KeptChange>, Vec<LinkLeft>);

/// Splits changes into those that stay, with the links as they are without the others, and those
/// left out.
async fn parted(wiki: &Wiki, changes: Vec<KeptChange>, out: &[usize]) -> Result<Parted> {
    if out.is_empty() {
        return Ok((changes, Vec::new(), Vec::new()));
    }
    let (mut stay, mut left_out) = (Vec::new(), Vec::new());
    for (number, change) in changes.into_iter().enumerate() {
        if out.contains(&number) {
            left_out.push(change);
        } else {
            stay.push(change);
        }
    }
    let mut links_left = Vec::new();
    let any_moves = |all: &[KeptChange]| all.iter().any(|(_, change)| change.moves());
    if any_moves(&left_out) || any_moves(&stay) {
        let site = wiki.linked_site().await?;
        let all: Vec<&Change> = left_out.iter().map(|(_, change)| change).collect();
        let mut anew = Vec::new();
        for (one, change) in stay {
            let change = if one.undoes.is_some() {
                change
            } else {
                let (change, left) = needs::without(change, &all, &site);
                links_left.extend(left);
                change
            };
            anew.push((one, change));
        }
        stay = anew;
        let moving: Vec<&Change> = stay.iter().map(|(_, change)| change).collect();
        for change in all {
            links_left.extend(needs::broken_in(change, &moving, &site));
        }
    }
    Ok((stay, left_out, links_left))
}

/// A change of an open proposal, held against its page as it is.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// It made on top of what was changed since, where it does not fit and the two do not touch.
    pub(crate) merged: Option<Box<Change>>,
    /// The reason why it does not fit.
    pub(crate) fault: Option<Failure>,
    /// True if this key may read its page.
    pub(crate) is_readable: bool,
}

/// Holds each change of an open proposal against its page, as long as the wiki answers.
pub(crate) async fn look(past: &WriteHistory, changes: &[KeptChange]) -> Vec<Looked> {
    let freed = freed_by(changes);
    let mut all = Vec::new();
    for (one, kept) in changes {
        let read = read_now(&past.wiki, kept).await;
        let is_readable = read.as_ref().is_none_or(Result::is_ok);
        let fits = Box::pin(fitting(past, one, (kept.clone(), read), false, &freed));
        let Err(outdated) = fits.await else {
            all.push(Looked {
                is_readable,
                ..Looked::default()
            });
            continue;
        };
        let merged = outdated.merged.clone();
        let fault = into_failure(outdated);
        let is_end = fault.code != Code::ProposalOutdated;
        all.push(Looked {
            merged,
            fault: Some(match changes {
                [_] => fault,
                _ => about(fault, one),
            }),
            is_readable,
        });
        if is_end {
            break;
        }
    }
    all
}

/// The digest of an open proposal as a person is shown it.
pub(crate) fn digest_of(proposal: &Proposal, changes: &[KeptChange], looked: &[Looked]) -> String {
    let merged = looked.iter().map(|one| one.merged.as_deref());
    let merged = merged.chain(std::iter::repeat(None));
    let shown = changes.iter().zip(merged);
    let shown = shown.map(|((_, kept), merged)| merged.unwrap_or(kept));
    let note = proposal.note.as_ref().map(ToString::to_string);
    let head = ("proposal", proposal.id.to_string(), note);
    hex::encode(&digest(&head, shown.map(DigestInput::from)))
}

/// The places that the changes leave.
fn freed_by(changes: &[KeptChange]) -> HashSet<PagePlace> {
    let left = changes.iter().filter_map(|(_, kept)| kept.place_left());
    left.collect()
}

/// The change of the page as it is now. A place that a change of the set frees is free.
pub(super) async fn fitting(
    past: &WriteHistory,
    one: &ProposedChange,
    (kept, read): (Change, Option<Result<ToWrite>>),
    merge: bool,
    freed: &HashSet<PagePlace>,
) -> Result<Change, Stopped> {
    let change = match Box::pin(held_against(past, one.undoes, kept, read)).await {
        Ok(change) => change,
        Err(Stopped {
            merged: Some(merged),
            ..
        }) if merge => *merged,
        Err(outdated) => return Err(outdated),
    };
    let place = change.after().map(PageState::place);
    if place.is_none_or(|place| !freed.contains(&place)) {
        is_free(&past.wiki, &change).await?;
    }
    Ok(change)
}

/// True if it is on record as applied and the page is still as promised.
async fn is_done(
    wiki: &Wiki,
    one: &ProposedChange,
    kept: &Change,
    applied: &[Record],
) -> Result<bool> {
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
    let state = PageState {
        id: Some(id),
        ..kept.target().clone()
    };
    let now = target::found(target::as_now(wiki, &state, kept.lost()).await)?;
    Ok(match (now, kept.after()) {
        (Some(now), Some(after)) => after.difference(&now).is_empty(),
        (now, after) => now.is_none() && after.is_none(),
    })
}

/// A change that is made cannot be left out.
fn is_made() -> Failure {
    Failure::of_argument(
        "leaveOut",
        "A change that shall be left out was made before, when the proposal was applied in part.",
    )
    .hint("Apply the rest with it, or take that change back with undo.")
}

/// Adds to a failure which page of the set it is about.
fn about(failure: Failure, one: &ProposedChange) -> Failure {
    let failure = failure.detail("path", one.path.as_str());
    failure.detail_if("id", one.page)
}
