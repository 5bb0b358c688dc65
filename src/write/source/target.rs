//! Reads the current state of a change's target (page, comment or asset).

use crate::change::Change;
use crate::error::{Code, Failure, Result};
use crate::page::{Attached, Field, PageState};
use crate::wiki::{Wiki, WikiError};

use super::whole_page::{self, ToWrite};

/// Reads what a state is of, in full.
pub(crate) async fn as_now(
    wiki: &Wiki,
    state: &PageState,
    accept_loss: &[Field],
) -> Result<ToWrite> {
    let Some(thing) = &state.thing else {
        let id = state.id.ok_or(WikiError::NotFound)?;
        return Box::pin(whole_page::to_write(wiki, id, accept_loss)).await;
    };
    let seen = Box::pin(wiki.thing_now(state, None)).await;
    let seen = seen.map_err(|error| failure_of(thing, error))?;
    if !seen.is_readable {
        return Err(unreadable(thing));
    }
    Ok(ToWrite {
        page: seen.state,
        lost: Vec::new(),
        author: seen.author,
    })
}

/// The same; `None` if it is not there.
pub(super) async fn if_there(wiki: &Wiki, state: &PageState) -> Result<Option<PageState>> {
    found(as_now(wiki, state, &[]).await)
}

/// The page that was read; `None` if it is not there.
pub(super) fn found(read: Result<ToWrite>) -> Result<Option<PageState>> {
    match read {
        Ok(read) => Ok(Some(read.page)),
        Err(failure) if failure.code == Code::PageNotFound => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// A change that adds something to a page, at that page's place as it is now: gates go by that
/// place, whatever was kept of it. Other changes stay as they are.
///
/// # Errors
/// The failure of reading it, also if another asset has the name that one shall get.
pub(super) async fn at_its_page(wiki: &Wiki, change: Change) -> Result<Change> {
    match (change.before(), change.after()) {
        (None, Some(after)) if after.thing.is_some() => {
            let after = Box::pin(wiki.thing_to_add(after.clone())).await?;
            Ok(change.with_after(after))
        }
        (Some(before), Some(after))
            if matches!(after.thing, Some(Attached::Asset(_))) && before.path != after.path =>
        {
            match wiki.asset(&after.path).await {
                Ok(_) => Err(WikiError::AssetExists.into()),
                Err(WikiError::NotFound) => Ok(change),
                Err(error) => Err(error.into()),
            }
        }
        _ => Ok(change),
    }
}

/// The failure of reading a thing of a page.
pub(super) fn failure_of(thing: &Attached, error: WikiError) -> Failure {
    match (thing, error) {
        (Attached::Comment(_), WikiError::NotFound) => no_comment(),
        (Attached::Asset(_), WikiError::NotFound) => no_asset(),
        (_, error) => error.into(),
    }
}

/// The failure if a page has no such comment.
pub(super) fn no_comment() -> Failure {
    Failure::new(
        Code::PageNotFound,
        "The page has no such comment, or there is no such page.",
    )
    .hint("Check id (the page) and comment: wikijs_list_comments lists the comments of a page.")
}

/// The failure if no such asset is there.
pub fn no_asset() -> Failure {
    Failure::new(Code::PageNotFound, "There is no such asset.")
        .hint("Check path: wikijs_list_assets lists folders and assets.")
}

fn unreadable(thing: &Attached) -> Failure {
    match thing {
        Attached::Comment(_) => Failure::new(
            Code::FieldUnreadable,
            "This key cannot read the comment's source, and what it cannot read a write would overwrite.",
        )
        .detail("fields", ["content"].as_slice())
        .detail("rights", serde_json::json!({ "content": "write:comments" })),
        Attached::Asset(_) => Failure::new(
            Code::FieldUnreadable,
            "Nobody can download an asset of such a name, so it could not be brought back; Wiki.js takes the name for a page's.",
        )
        .hint("Nothing was sent. Tell the user: only a person can change it, on the wiki's own pages.")
        .detail("fields", ["content"].as_slice()),
    }
}
