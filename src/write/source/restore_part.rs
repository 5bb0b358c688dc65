//! Brings a part of the wiki back as it was seen at a time, as one set.

use std::sync::Arc;

use crate::change::{Change, Warning};
use crate::error::{Code, Failure};
use crate::gates::{ChangeSet, LeftOut, SetChange, TurnOf};
use crate::mirror::PageThen;
use crate::page::PageState;
use crate::wiki::Wiki;

use super::bulk::MAX_PAGES;
use super::order::in_order;
use super::restore::{lost, needed_of};
use super::undo_client::back;
use super::{ChangeSource, Made, WriteCall, again_if_same, checked, present};
use crate::write::audit_entry::EntryBuilder;
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
    async fn set(&self, call: WriteCall<'_>) -> Result<ChangeSet, Failure> {
        let (mut changes, mut left_out) = (Vec::new(), Vec::new());
        let mut pages = self.pages.iter();
        loop {
            while changes.len() < MAX_PAGES
                && let Some(page) = pages.next()
            {
                match change(call, page).await? {
                    Ok(change) => changes.push(change),
                    Err(why) => left_out.push(LeftOut {
                        id: Some(page.id),
                        path: Some(page.path.clone()),
                        why: why.into(),
                    }),
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
        let Some(set) = ChangeSet::list(call.id, changes) else {
            let told: Vec<_> = left_out.iter().map(LeftOut::as_detail).collect();
            let failure = nothing("Nothing of that part can be brought back.");
            return Err(failure.detail("leftOut", told));
        };
        Ok(set.going_on(true).without(left_out))
    }
}

/// The entry for the pages that are beyond a set.
fn others(count: usize) -> Option<LeftOut> {
    let why = format!(
        "a set has {MAX_PAGES} changes at most, and {count} pages more differ: ask again for these"
    );
    (count > 0).then(|| LeftOut {
        id: None,
        path: None,
        why: why.into(),
    })
}

/// The change of one page, or why there is none.
async fn change(
    call: WriteCall<'_>,
    page: &PageThen,
) -> Result<Result<SetChange, &'static str>, Failure> {
    if let Some(hindrance) = page.hindrance {
        return Ok(Err(hindrance));
    }
    let now = match present::page(call.past, page.id).await {
        Ok(now) => now,
        Err(failure) if failure.code == Code::FieldUnreadable => {
            return Ok(Err("this key cannot read back all of its fields"));
        }
        Err(failure) if failure.code == Code::PermissionDenied => {
            return Ok(Err("this key may not write it"));
        }
        Err(failure) => return Err(failure),
    };
    let change = back(now, page.steps.clone(), false);
    Ok(change.and_then(|(change, _)| told(page, change)))
}

/// A change with the warnings of what does not come back, if it makes a deleted page again; or why that
/// cannot be.
fn told(page: &PageThen, change: Change) -> Result<SetChange, &'static str> {
    let Some(made) = change.after().filter(|_| change.before().is_none()) else {
        let stay: Vec<&str> = page.unseen.iter().map(|field| field.name()).collect();
        let stay = (!stay.is_empty()).then(|| {
            let fields = stay.join(", ");
            let message = format!("nobody saw {fields} as they were then: they stay as they are.");
            Warning::new("not_seen", message)
        });
        return Ok(SetChange {
            warnings: stay.into_iter().collect(),
            ..SetChange::from(change)
        });
    };
    if !needed_of(&made.unknown).is_empty() {
        return Err("the key of the mirror could not read all of it when it was there");
    }
    let warnings = lost(page.id, page.seen, &made.unknown);
    let change = Change::recreate(PageState {
        unknown: Vec::new(),
        ..made.clone()
    });
    Ok(SetChange {
        warnings,
        ..SetChange::from(change)
    })
}

impl ChangeSource for RestorePart {
    fn tell(&self, _: &Wiki, record: &mut EntryBuilder) {
        record.is_set();
    }

    // Each of its changes takes a turn of its own.
    async fn turn(&self, _: WriteCall<'_>) -> TurnOf {
        TurnOf::default()
    }

    async fn made(&self, call: WriteCall<'_>) -> Made {
        Ok(checked(self.set(call).await?))
    }

    async fn shown_again(&self, call: WriteCall<'_>, shown: ChangeSet) -> Made {
        let own = self.set(call).await?;
        again_if_same(call, &own, shown).await
    }
}
