//! Brings a part of the wiki back as it was seen at a time, as one set.

use std::sync::Arc;

use crate::error::{Code, Failure};
use crate::gates::{ChangeSet, LeftOut, SetChange, TurnOf};
use crate::mirror::PageThen;
use crate::wiki::Wiki;

use super::bulk::MAX_PAGES;
use super::order::in_order;
use super::undo_client::back;
use super::{ChangeSource, Made, WriteCall, again, checked, present};
use crate::write::audit_entry::EntryBuilder;
use crate::write::undo::history::nothing;

/// Pages that shall be as they were. What was written since elsewhere in a text stays; a page that was
/// changed in the same places is left out.
#[derive(Debug, Clone)]
pub struct RestorePart {
    /// The pages, at most 200.
    pub pages: Arc<[PageThen]>,
}

impl RestorePart {
    async fn set(&self, call: WriteCall<'_>) -> Result<ChangeSet, Failure> {
        if self.pages.len() > MAX_PAGES {
            let message = format!("A set has at most {MAX_PAGES} changes; nothing was sent.");
            return Err(Failure::new(Code::TooLarge, message));
        }
        let (mut changes, mut left_out) = (Vec::new(), Vec::new());
        for page in &*self.pages {
            match change(call, page).await? {
                Ok(change) => changes.push(change),
                Err(why) => left_out.push(LeftOut {
                    id: Some(page.id),
                    path: Some(page.path.clone()),
                    why: why.into(),
                }),
            }
        }
        let (changes, taken) = in_order(call.wiki(), changes).await?;
        left_out.extend(taken);
        let Some(set) = ChangeSet::list(call.id, changes) else {
            let told: Vec<_> = left_out.iter().map(LeftOut::as_detail).collect();
            let failure = nothing("Nothing of that part can be brought back.");
            return Err(failure.detail("leftOut", told));
        };
        Ok(set.going_on(true).without(left_out))
    }
}

/// The change of one page, or why there is none.
async fn change(
    call: WriteCall<'_>,
    page: &PageThen,
) -> Result<Result<SetChange, &'static str>, Failure> {
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
    Ok(change.map(|(change, _)| SetChange::from(change)))
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
        let agrees = own.is_same_write(&shown) && shown.proposal().is_none();
        again(call, shown, agrees).await
    }
}
