//! Brings a part of the wiki back as it was seen at a time, as one set.

use std::sync::Arc;

use crate::change::{Change, Warning};
use crate::error::Result;
use crate::gates::{ChangeSet, LeftOut, SetChange};
use crate::mirror::PageThen;
use crate::page::{Field, PageState};
use crate::words::counted;

use super::bulk::MAX_PAGES;
use super::order::in_order;
use super::restore::{lost, needed_of, seen_before};
use super::undo_client::{back, list};
use super::{ChangeSource, Made, WriteCall, checked, present};
use crate::write::undo::history::nothing;

/// Pages that shall be as they were. What was written since elsewhere in a text stays; a page that was
/// changed in the same places is left out. A set has 200 changes at most; the next one has the others.
#[derive(Debug, Clone)]
pub struct RestorePart {
    /// The pages, in order.
    pub pages: Arc<[PageThen]>,
    /// Number of others that differ and were not loaded.
    pub more: usize,
}

impl RestorePart {
    async fn set(&self, call: WriteCall<'_>) -> Result<ChangeSet> {
        let (mut changes, mut left_out) = (Vec::new(), Vec::new());
        let mut pages = self.pages.iter();
        loop {
            while changes.len() < MAX_PAGES
                && let Some(page) = pages.next()
            {
                match change(call, page).await? {
                    Ok(change) => changes.push(change),
                    Err(why) => {
                        left_out.push(LeftOut::at(Some(page.id), Some(page.path.clone()), why));
                    }
                }
            }
            let (ordered, taken) = in_order(call.wiki(), changes).await?;
            changes = ordered;
            // Others come in place of those that cannot be made.
            let is_full = taken.is_empty() || pages.as_slice().is_empty();
            left_out.extend(taken);
            if is_full {
                break;
            }
        }
        left_out.extend(others(pages.as_slice().len().saturating_add(self.more)));
        let otherwise = nothing("Nothing of that part can be brought back.").hint("Name another time, or bring single pages back: deleted ones from the bin, others by a version of their history.");
        let set = list(call, changes, left_out, otherwise)?;
        Ok(set.with(|batch| batch.goes_on = true))
    }
}

/// The entry for the pages that are beyond a set.
fn others(count: usize) -> Option<LeftOut> {
    let why = format!(
        "a set has {MAX_PAGES} changes at most, and {}: ask again for the rest",
        counted(count, "page more differs", "pages more differ")
    );
    (count > 0).then(|| LeftOut::at(None, None, why))
}

/// The change of one page, or why there is none.
async fn change(call: WriteCall<'_>, page: &PageThen) -> Result<Result<SetChange, &'static str>> {
    if let Some(hindrance) = page.hindrance {
        return Ok(Err(hindrance));
    }
    let now = present::page(call.past, page.id).await.map(Ok);
    let now = now.or_else(|failure| present::left_out(failure).map(Err))?;
    let change = now.and_then(|now| back(now, page.steps.clone(), false));
    Ok(change.and_then(|(change, _)| told(page, change)))
}

/// A change with the warnings of what does not come back, if it makes a deleted page again; or why that
/// cannot be.
fn told(page: &PageThen, change: Change) -> Result<SetChange, &'static str> {
    let made = change.after().filter(|_| change.before().is_none());
    let (change, warnings) = match made.cloned() {
        Some(made) if !needed_of(&made.unknown).is_empty() => {
            return Err("the key of the mirror could not read all of it when it was there");
        }
        Some(made) => {
            let lost = lost(page.id, page.seen.as_ref(), &made.unknown);
            let unknown = Vec::new();
            (Change::recreate(PageState { unknown, ..made }), lost)
        }
        None => {
            let stay = (!page.unseen.is_empty()).then(|| {
                let fields = Field::names(&page.unseen).join(", ");
                let message =
                    format!("nobody saw {fields} as they were then: they stay as they are.");
                Warning::new("not_seen", message)
            });
            let before = page.seen.as_ref().and_then(seen_before);
            (change, stay.into_iter().chain(before).collect())
        }
    };
    Ok(SetChange::from(change).warned(warnings))
}

impl ChangeSource for RestorePart {
    async fn made(&self, call: WriteCall<'_>) -> Made {
        Ok(checked(self.set(call).await?))
    }
}
