//! Looks whether a change that was taken back is on the wiki again.

use crate::audit::CallId;
use crate::change::{Change, UndoFault};
use crate::error::{Code, Failure, Result};
use crate::page::PageState;
use crate::wiki::Wiki;

use super::{as_it_is, states_around};
use crate::write::source::present;
use crate::write::undo::history::WriteHistory;

/// The number of the newest versions of a page that are searched.
const NEWEST: usize = 20;

/// The present state of a change that was taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UndoneChangeState {
    /// It is gone.
    Gone,
    /// It is there again.
    There {
        /// The newest version of its page without it, if the history shows one.
        version: Option<i64>,
    },
    /// Somebody wrote the same fields since, so that nobody can tell.
    Changed,
}

/// Looks whether a change that an undo took back is on the wiki again.
///
/// # Errors
/// The page, or what is on record of it, could not be read.
pub(crate) async fn standing(
    past: &WriteHistory,
    call: CallId,
    by: CallId,
) -> Result<UndoneChangeState> {
    let story = past.story(&call.into(), None).await?;
    let (before, after) = states_around(past, &story).await?;
    let now = if before.is_some() && after.is_none() {
        match past.story(&by.into(), None).await?.id {
            Some(id) => present::by_id(&past.wiki, id).await?,
            None => None,
        }
    } else {
        as_it_is(past, &story, (before.as_ref(), after.as_ref()))
            .await?
            .1
    };
    let found = stands(before.clone(), after.clone(), now.clone());
    let (UndoneChangeState::There { .. }, Some(now)) = (found, now) else {
        return Ok(found);
    };
    let version = match now.id.filter(|_| now.thing.is_none()) {
        Some(id) => version_without(&past.wiki, id, (before, after), &now).await,
        None => None,
    };
    Ok(UndoneChangeState::There { version })
}

/// Finds out if a page shows a write, from the page before it, as it left it, and now.
fn stands(
    before: Option<PageState>,
    after: Option<PageState>,
    now: Option<PageState>,
) -> UndoneChangeState {
    let there = UndoneChangeState::There { version: None };
    match (before.is_some(), after.is_some(), now.is_some()) {
        // A page that was created is gone, or one that was deleted is there.
        (false, true, false) | (true, false, true) => UndoneChangeState::Gone,
        (false, true, true) | (true, false, false) => there,
        _ => match Change::undo(before, after, now, false) {
            Ok(undone) if !undone.change.is_empty() => there,
            Err(UndoFault::Changed(_)) => UndoneChangeState::Changed,
            Ok(_)
            | Err(
                UndoFault::Nothing
                | UndoFault::NotKnown(_)
                | UndoFault::Gone
                | UndoFault::Elsewhere,
            ) => UndoneChangeState::Gone,
        },
    }
}

/// The newest version of a page that does not show a write, as far as its history may be read.
async fn version_without(
    wiki: &Wiki,
    id: i64,
    (before, after): (Option<PageState>, Option<PageState>),
    now: &PageState,
) -> Option<i64> {
    let history = wiki.history(id, 0, NEWEST).await.ok()?;
    let ids: Vec<i64> = history.entries.iter().map(|one| one.version_id).collect();
    let versions = wiki.versions(id, &ids).await.ok()?;
    versions.into_iter().flatten().find_map(|version| {
        let number = version.id;
        let then = version.page.laid_over(now);
        let found = stands(before.clone(), after.clone(), Some(then));
        (found == UndoneChangeState::Gone).then_some(number)
    })
}

/// The failure if somebody else's write brought back what was taken back.
pub(crate) fn there_again(version: Option<i64>) -> Failure {
    let failure = Failure::new(
        Code::EditConflict,
        match version {
            Some(version) => format!(
                "The change was taken back, and a write of somebody else brought it back; version {version} of the page is without it."
            ),
            None => "The change was taken back, and a write of somebody else brought it back."
                .to_owned(),
        },
    );
    failure.detail_if("version", version)
}

#[cfg(test)]
mod tests {
    use super::{UndoneChangeState, stands};
    use crate::page::testing::with_content as with;

    #[test]
    fn a_change_is_there_again_if_it_could_be_taken_back_once_more() {
        let there = UndoneChangeState::There { version: None };
        let some = |content: &str| Some(with(content));
        for (before, after, now, expected) in [
            (
                some("a\n"),
                some("b\n"),
                some("a\n"),
                UndoneChangeState::Gone,
            ),
            (some("a\n"), some("b\n"), some("b\n"), there),
            (
                some("a\n"),
                some("b\n"),
                some("c\n"),
                UndoneChangeState::Changed,
            ),
            (
                some("a\nx\ny\n"),
                some("b\nx\ny\n"),
                some("b\nx\nz\n"),
                there,
            ),
            (
                some("a\nx\ny\n"),
                some("b\nx\ny\n"),
                some("a\nx\nz\n"),
                UndoneChangeState::Gone,
            ),
            (some("a\n"), some("b\n"), None, UndoneChangeState::Gone),
            (None, some("b\n"), None, UndoneChangeState::Gone),
            (None, some("b\n"), some("b\n"), there),
            (some("a\n"), None, some("a\n"), UndoneChangeState::Gone),
            (some("a\n"), None, None, there),
        ] {
            let told = format!("{before:?} {after:?} {now:?}");
            assert_eq!(stands(before, after, now), expected, "{told}");
        }
    }
}
