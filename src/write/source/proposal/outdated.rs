//! Checks that a proposal still fits its page, and merges it if not, unless it overlaps with later
//! changes.

use serde_json::json;

use crate::audit::CallId;
use crate::change::{Change, cut, merge_pages, short};
use crate::error::{Code, Failure, Result};
use crate::page::{Date, PageState};
use crate::wiki::{Wiki, aside};

use crate::write::faults::with_difference;
use crate::write::links::new_place;
use crate::write::source::target;
use crate::write::source::undo::{self, UndoRequest};
use crate::write::{Stopped, ToWrite, WriteHistory};

/// Reads the page of a change as it is now; `None` of a change that makes its page.
pub(crate) async fn read_now(wiki: &Wiki, kept: &Change) -> Option<Result<ToWrite>> {
    let before = kept.before().filter(|page| page.is_there())?;
    Some(target::as_now(wiki, before, kept.lost()).await)
}

/// The change of the page as it is now ([`read_now`]), if the page is as it was or already as
/// proposed.
pub(crate) async fn held_against(
    past: &WriteHistory,
    undoes: Option<CallId>,
    kept: Change,
    read: Option<Result<ToWrite>>,
) -> Result<Change, Stopped> {
    if let Some(call) = undoes {
        let place = |page: Option<&PageState>| page.map(|page| page.path.clone());
        let path = place(kept.after()).filter(|path| place(kept.before()).as_ref() != Some(path));
        let undo = UndoRequest {
            force: true,
            path,
            ..UndoRequest::of(call)
        };
        let now = undo::change(past, &undo).await.map_err(gone)?.change;
        if !now.is_same_write(&kept) {
            return Err(since(kept.target(), now.target()).into());
        }
    }
    let change = match kept.before().zip(read) {
        None => target::at_its_page(&past.wiki, kept).await.map_err(gone)?,
        Some((before, read)) => {
            let read = read.map_err(gone)?;
            let (fresh, lost) = (read.page, read.lost);
            let is_as_it_was = lost == kept.lost() && before.difference(&fresh).is_empty();
            let is_done = kept
                .after()
                .is_some_and(|after| after.difference(&fresh).is_empty());
            if !is_as_it_was && !is_done && !is_midway(&kept, &fresh) {
                let merged = kept
                    .after()
                    .filter(|_| lost.is_empty() && undoes.is_none() && kept.thing().is_none())
                    .and_then(|after| aside(kept.bytes(), || merge_pages(before, after, &fresh)))
                    .map(|after| Box::new(Change::between(fresh.clone(), after)));
                let failure = aside(kept.bytes(), || since(before, &fresh));
                return Err(Stopped { failure, merged });
            }
            kept.on(fresh)
        }
    };
    Ok(change)
}

/// True if a page is as a step of its change leaves it, but for the last one: an earlier call of the same
/// proposal stopped there.
pub(super) fn is_midway(kept: &Change, now: &PageState) -> bool {
    let mut steps = kept.steps();
    steps.pop();
    let mut left = steps.into_iter().filter_map(|step| kept.after_step(step));
    left.any(|page| page.difference(now).is_empty())
}

/// Checks that the place of a new or moved page is still free.
pub(crate) async fn is_free(wiki: &Wiki, change: &Change) -> Result<()> {
    let looked = new_place::look(wiki, change).await;
    looked.map(drop).map_err(gone)
}

/// The failure for the caller, with the merged change.
pub(crate) fn into_failure(Stopped { failure, merged }: Stopped) -> Failure {
    let Some(merged) = merged else {
        return failure;
    };
    let (diff, lines) = aside(merged.bytes(), || merged.content_diff());
    let shown = json!({
        "changes": short(merged.values(), &mut Vec::new()),
        "diff": cut(diff, &mut Vec::new()),
        "linesAdded": lines.added,
        "linesRemoved": lines.removed,
    });
    failure
        .hint("details.merged is the proposal made on top of what was changed since; an operator can apply it with `wikijs-gate proposals apply --merge`.")
        .detail("merged", shown)
}

/// A missing page and a taken place count as changes since the proposal, too.
fn gone(failure: Failure) -> Failure {
    let message = match failure.code {
        Code::PageNotFound => "The page is gone since this was proposed.",
        Code::PageExists => "Another page came to that path since this was proposed.",
        Code::NothingToUndo => "The write that this takes back was taken back already.",
        _ => return failure,
    };
    Failure {
        details: failure.details,
        ..Failure::new(Code::ProposalOutdated, message)
    }
}

fn since(before: &PageState, now: &PageState) -> Failure {
    let failure = Failure::new(
        Code::ProposalOutdated,
        "The page was changed since this was proposed.",
    );
    let failure = with_difference(failure, &Change::between(before.clone(), now.clone()));
    failure.detail_if("updatedAt", now.updated_at.as_ref().map(Date::as_str))
}
