//! The place of a new or moved page.

use crate::change::{Change, Warning};
use crate::error::{Code, Failure, Result};
use crate::page::{Field, PagePath, PageReading, PageState, escape_hidden};
use crate::wiki::{Wiki, WikiError};

/// True if another page stands at the place of a new or moved page.
pub(crate) async fn is_taken(wiki: &Wiki, change: &Change) -> Result<bool> {
    match look(wiki, change).await {
        Ok(_) => Ok(false),
        Err(failure) if failure.code == Code::PageExists => Ok(true),
        Err(failure) => Err(failure),
    }
}

/// Checks the place of a new or moved page.
///
/// Returns warnings.
///
/// # Errors
/// `PAGE_EXISTS` if the place is taken, `INVALID_INPUT` if the wiki has no such locale.
pub(crate) async fn look(wiki: &Wiki, change: &Change) -> Result<Vec<Warning>> {
    let takes_place = change.place_taken().is_some();
    let Some(after) = change.after().filter(|_| takes_place) else {
        return Ok(Vec::new());
    };
    let is_new = |before: &PageState| before.locale != after.locale;
    if change.before().is_none_or(is_new)
        && let Some(unknown) = wiki.unknown_locale(&after.locale).await
    {
        return Err(unknown.into());
    }
    // An unreadable page takes its place all the same; the answer says nothing else of it.
    let unbounded = wiki.unbounded();
    let there = match unbounded.pages_at(&after.locale, &after.path).await {
        Ok(there) => there,
        // A key that may not look learns it from the wiki's refusal.
        Err(WikiError::Forbidden { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let is_own = |there: &PageReading| change.before().is_some_and(|page| page.id == there.id);
    if let Some(page) = there
        .iter()
        .find(|page| page.path == after.path && !is_own(page))
    {
        if !wiki.scope().admits(page) {
            return Err(exists());
        }
        let free = wiki.free_path(&after.locale, &after.path).await;
        return Err(taken(page, free));
    }
    Ok(there
        .iter()
        .filter(|page| !is_own(page) && wiki.scope().admits(page))
        .map(|page| {
            let id = page.id.unwrap_or_default();
            let message = format!("page {id} stands at this path in other letter case.");
            Warning::new("path_differs_by_case", message).at(Field::Path, None)
        })
        .collect())
}

fn exists() -> Failure {
    Failure::new(Code::PageExists, "There already is a page at that path.")
}

fn taken(page: &PageReading, free: Option<PagePath>) -> Failure {
    let failure = exists()
        .detail("id", page.id)
        .detail("path", page.path.as_str())
        .detail("title", page.title.as_str());
    match free {
        Some(free) => failure
            .hint(format!(
                "Update the page that is there (wikijs_update_page with details.id), or choose another path (details.freePath is free: {}).",
                escape_hidden(free.as_str())
            ))
            .detail("freePath", free.as_str()),
        None => failure,
    }
}
