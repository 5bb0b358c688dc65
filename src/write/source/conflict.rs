//! No silent overwrite: checks that the page is still as the caller knows it.
//!
//! Wiki.js has no compare-and-set (W20): the page can change between this check and the write, one
//! request later. An overwrite in that window is found afterwards, in the version that the write
//! left behind ([`overwritten`]).
//!
//! [`overwritten`]: crate::write::stages::verify::history::overwritten

use std::sync::Arc;

use serde_json::json;

use crate::change::{Change, cut, merge};
use crate::error::{Code, Failure, Result};
use crate::gates::Previewed;
use crate::page::{Date, Field, LineCounts, PageReading, PageState};
use crate::wiki::{Since, Wiki, WikiError, aside};

use super::WriteCall;
use super::whole_page::ToWrite;
use crate::write::faults::with_difference;
use crate::write::memory::{Concerns, PageRead};

/// The number of the newest versions that are searched for a time.
const MAX_VERSIONS: usize = 100;

/// With which state a change was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConflictCheck {
    /// The state of its session's last read, or of its preview.
    Checked,
    /// The state of the time that the caller named.
    Named,
    /// Only the state that was read in this very call.
    None,
}

/// A change that could not be made.
#[derive(Debug)]
pub(crate) struct Stopped {
    /// The reason.
    pub(crate) failure: Failure,
    /// The same change on top of what was written meanwhile, if the two do not overlap.
    pub(crate) merged: Option<Box<Change>>,
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            merged: None,
        }
    }
}

/// Compares the page with what the caller knows of it: the time that it names, or for the part of the
/// content that shall change, if any does, the time at which its session saw it.
///
/// # Errors
/// `EDIT_CONFLICT`, with the change of `remake` on top of what was written meanwhile, if the two do
/// not overlap.
pub(super) async fn check(
    call: WriteCall<'_>,
    (named, concerns): (Option<&Date>, Option<Concerns>),
    read: &ToWrite,
    remake: impl FnOnce(PageState) -> Option<Change> + Send,
) -> Result<ConflictCheck, Stopped> {
    let page = &read.page;
    let (Some(id), Some(updated_at)) = (page.id, &page.updated_at) else {
        return Ok(ConflictCheck::None);
    };
    let seen = call.memory.reads.last(call.session, id).await;
    let of_session = || Some(seen.as_ref()?.known(concerns.as_ref()?));
    let Some(known) = named.or_else(of_session).cloned() else {
        return Ok(ConflictCheck::None);
    };
    let is_named = named.is_some();
    let checked = if is_named {
        ConflictCheck::Named
    } else {
        ConflictCheck::Checked
    };
    let is_newer = match (updated_at.instant(), known.instant()) {
        (Some(now), Some(known)) if is_named && now < known => return Err(ahead().into()),
        (Some(now), Some(known)) => now > known,
        _ => !updated_at.same(&known),
    };
    if !is_newer {
        return Ok(checked);
    }
    let Some(base) = base(call.wiki(), page, &known, seen).await? else {
        return Ok(checked);
    };
    let merged = merged(remake, &base, page);
    let failure = newer(&known, base, page.clone());
    let mut failure = failure.detail_if("changedBy", read.author.as_deref());
    if let Some(ours) = call.past.call_that_left(Some(id), Some(updated_at)).await {
        failure = failure
            .detail("ours", true)
            .detail("byCallId", ours.to_string());
    }
    Err(Stopped { failure, merged })
}

/// The page as it was at a time; `None` if it is still the same.
async fn base(
    wiki: &Wiki,
    page: &PageState,
    known: &Date,
    seen: Option<PageRead>,
) -> Result<Option<PageState>> {
    let unshown = |message| Err(unshown(page, message));
    if known.instant().is_none() {
        return unshown("The page is not the one that you name: its updatedAt is another.");
    }
    let id = page.id.unwrap_or_default();
    match wiki.written_since(id, known, MAX_VERSIONS).await {
        // Nothing was written since: a linked page was created, deleted or moved.
        Ok(Since::Nothing) => Ok(None),
        Ok(Since::Written(version)) => Ok(Some(version.page.laid_over(page))),
        Ok(Since::Unknown) => unshown(
            "The page was changed since you read it, so often that the change cannot be shown.",
        ),
        // If the session read the page at that time, its reading is the base.
        Err(WikiError::Forbidden { .. }) => {
            let is_of_then = |page: &Arc<PageReading>| {
                let at = page.updated_at.as_ref();
                at.is_some_and(|at| at.same(known))
            };
            match seen.and_then(|seen| seen.page).filter(is_of_then) {
                Some(seen) => {
                    let seen = seen.laid_over(page);
                    Ok((!seen.difference(page).is_empty()).then_some(seen))
                }
                None => unshown(
                    "The page was changed since you read it; what changed cannot be shown without read:history.",
                ),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// The failure for a time that the page never had: taken for a reading, it would let everything pass.
fn ahead() -> Failure {
    let message = "The argument ifUpdatedAt is later than the page's updatedAt, so it is of no reading of this page.";
    Failure::of_argument("ifUpdatedAt", message)
        .hint("Read the page again and pass the updatedAt of that answer as it is, or leave ifUpdatedAt out; the present time proves no reading.")
}

fn unshown(page: &PageState, message: &str) -> Failure {
    let updated_at = page.updated_at.clone().unwrap_or_default();
    Failure::new(Code::EditConflict, message)
        .hint("Read the page again, then make the change of what you find.")
        .detail("updatedAt", updated_at.as_str())
}

/// A merge of a change with somebody else's: only if both changed nothing but the content, and the
/// changes do not overlap.
fn merged(
    remake: impl FnOnce(PageState) -> Option<Change>,
    base: &PageState,
    now: &PageState,
) -> Option<Box<Change>> {
    let ours = remake(base.clone())?;
    let only_content = [Field::Content];
    if ours.fields() != only_content || base.difference(now) != only_content {
        return None;
    }
    let after = ours.after()?;
    let content = aside(ours.bytes(), || {
        merge(&base.content, &after.content, &now.content)
    })?;
    let after = PageState {
        content,
        updated_at: None,
        ..now.clone()
    };
    Some(Box::new(Change::between(now.clone(), after)))
}

/// Adds a merged change, and the token that confirms it, to a failure.
pub(crate) fn with_merged(
    failure: Failure,
    diff: String,
    lines: LineCounts,
    token: Option<Previewed>,
) -> Failure {
    let hint = match &token {
        Some(_) => {
            "details.merged is your change made on top of theirs: show its diff to the user, then call again with id and confirm alone, from details.merged."
        }
        None => {
            "details.merged is your change made on top of theirs: read the page again and make it so."
        }
    };
    let mut merged = json!({
        "diff": cut(diff, &mut Vec::new()),
        "linesAdded": lines.added,
        "linesRemoved": lines.removed,
    });
    if let (Some(token), Some(merged)) = (token, merged.as_object_mut()) {
        merged.insert("confirm".to_owned(), token.token.into());
        merged.insert("confirmExpiresAt".to_owned(), token.expires_at.into());
    }
    failure.hint(hint).detail("merged", merged)
}

/// The failure for a page that was written since a time.
fn newer(known: &Date, base: PageState, now: PageState) -> Failure {
    let updated_at = now.updated_at.clone().unwrap_or_default();
    let failure = Failure::new(Code::EditConflict, "The page was changed since you read it.")
        .hint("Look at details.changes and details.diff, then call again with the change made of the page as it is now, and ifUpdatedAt from details.updatedAt. Changed tags, styles and scripts are not shown.");
    with_difference(failure, &Change::between(base, now))
        .detail("readAt", known.as_str())
        .detail("updatedAt", updated_at.as_str())
}

/// The failure for a page that was written since a change of it was shown.
pub(crate) fn since_shown(previewed: PageState, fresh: PageState, next: &str) -> Failure {
    let updated_at = fresh.updated_at.clone();
    let message = format!(
        "The {} was changed since this write was shown.",
        previewed.word()
    );
    let failure = Failure::new(Code::EditConflict, message).hint(next);
    let failure = with_difference(failure, &Change::between(previewed, fresh));
    failure.detail_if("updatedAt", updated_at.as_ref().map(Date::as_str))
}
