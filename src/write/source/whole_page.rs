//! Reads a page in full before it is written.

use serde_json::{Map, Value};

use crate::error::{Code, Failure, Result};
use crate::page::{Field, PageReading, PageState};
use crate::wiki::{Right, Wiki};
use crate::write::lacking::{Lacking, denied};

/// A page read in full before it is written.
pub(crate) struct ToWrite {
    /// Every field that a write would overwrite.
    pub(crate) page: PageState,
    /// The fields that could not be read and may be lost; empty in `page`.
    pub(crate) lost: Vec<Field>,
    /// Its last author.
    pub(crate) author: Option<String>,
}

/// Reads every field that a write would overwrite, except those that may be lost.
///
/// # Errors
/// `PERMISSION_DENIED` if the key may not write the page, so that nothing need be lost for it;
/// `FIELD_UNREADABLE` if it may, but cannot read all of it.
pub(crate) async fn to_write(wiki: &Wiki, id: i64, accept_loss: &[Field]) -> Result<ToWrite> {
    read(wiki, id, accept_loss, Right::WritePages).await
}

/// Reads every field of a page that is to be deleted.
///
/// # Errors
/// As [`to_write`], for want of delete:pages.
pub(super) async fn to_delete(wiki: &Wiki, id: i64) -> Result<ToWrite> {
    read(wiki, id, &[], Right::DeletePages).await
}

/// Reads a page for what needs this right.
async fn read(wiki: &Wiki, id: i64, accept_loss: &[Field], right: Right) -> Result<ToWrite> {
    let reading = wiki.page_by_id(id).await?;
    let author = reading.author_name.clone();
    let reading = match reading.complete() {
        Ok(page) => {
            return Ok(ToWrite {
                page,
                lost: Vec::new(),
                author,
            });
        }
        Err(lacking) => *lacking,
    };
    // An expired key reads as a guest (W3), so its expiry is the cause to name.
    if let Some(expired) = wiki.expired() {
        return Err(expired.into());
    }
    if lacks(wiki, &reading, right).await? {
        return Err(denied(&Lacking::at_page(&reading, right.name())));
    }
    let unread = reading.unreadable().into_keys();
    let lost = unread
        .filter(|field| accept_loss.contains(field))
        .collect::<Vec<_>>();
    match reading.complete_but_for(&lost) {
        Some(page) if !lost.is_empty() => Ok(ToWrite { page, lost, author }),
        _ => Err(unreadable(&reading)),
    }
}

/// True if the key lacks a right at a page of which it could not read everything. The layer of
/// those who may write it alone names the author: without an author, the wiki refused that layer,
/// by the rule that an update goes by.
async fn lacks(wiki: &Wiki, reading: &PageReading, right: Right) -> Result<bool> {
    if right == Right::WritePages {
        return Ok(reading.author_name.is_none());
    }
    Ok(wiki.rights(reading).await?.has(right) == Some(false))
}

/// The failure of a write, by how much of the page could be read.
pub(super) fn unreadable(reading: &PageReading) -> Failure {
    let missing = reading.unreadable();
    let rights: Map<String, Value> = missing
        .iter()
        .map(|(field, right)| (field.name().to_owned(), (*right).into()))
        .collect();
    let failure = Failure::new(
        Code::FieldUnreadable,
        "This key cannot read back all fields of the page, and what it cannot read a write would overwrite.",
    )
    .detail("fields", Field::names(missing.keys()))
    .detail("rights", rights);
    if reading.author_name.is_some() && missing.keys().eq([&Field::ScriptCss]) {
        return failure.hint("Nothing was sent. Only the view that readers see (/{locale}/{path}) shows the styles as they are stored, and it does not prove them here: tell the user to let that view through, or to give the key read:pages and read:history, or the rights in details.rights. acceptLoss with scriptCss loses them.");
    }
    // A key that sees the author may write the page: the layer for such keys did not give the rest.
    if reading.author_name.is_some() && missing.contains_key(&Field::Editor) {
        failure.hint("Nothing was sent. The wiki's editor view (/e/…) of this page could not be read: tell the user to let it through where something before the wiki blocks it, or to give the key the rights in details.rights.")
    } else {
        failure
    }
}
