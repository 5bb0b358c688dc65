//! Changes that were made in files, as one set.
//!
//! The files and their base states are not trusted: each change is compared with the page as it
//! is, and must be one that a call could ask for.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::audit::DraftChange;
use crate::change::Change;
use crate::error::{Code, Failure, Result};
use crate::gates::ChangeSet;
use crate::page::{PagePlace, PageState};

use super::bulk::MAX_PAGES;
use super::draft::set_of;
use super::{Agreed, ChangeSource, Made, WriteCall, checked};

/// The hint if a page was changed since it was pulled.
const PULL: &str = "Run `wikijs-gate files pull`, then push again.";

/// Changes that were made in files.
#[derive(Debug, Clone)]
pub struct Push {
    /// The changes, at most 200.
    pub changes: Arc<[DraftChange]>,
}

impl Push {
    async fn set(&self, call: WriteCall<'_>) -> Result<ChangeSet> {
        if self.changes.len() > MAX_PAGES {
            let message = format!("A set has at most {MAX_PAGES} changes; nothing was sent.");
            return Err(Failure::new(Code::TooLarge, message));
        }
        let set = set_of(call, self.changes.to_vec(), false).await;
        set.map_err(|failure| match failure.code {
            Code::EditConflict => since_pulled(failure).hint(PULL),
            Code::PageNotFound => failure.hint(PULL),
            _ => failure,
        })
    }
}

/// The same failure in the words of whoever pulled the page.
fn since_pulled(mut failure: Failure) -> Failure {
    if let Some(path) = failure.details.get("path").and_then(Value::as_str) {
        failure.message = format!("The page {path} was changed since it was pulled.");
    }
    failure
}

impl ChangeSource for Push {
    async fn made(&self, call: WriteCall<'_>) -> Made {
        Ok(checked(self.set(call).await?))
    }

    async fn agrees(&self, _: WriteCall<'_>, shown: &ChangeSet) -> Agreed {
        Ok(shown.is_list() && holds(shown, &self.changes))
    }
}

/// The page that a change is about, or the place of a new one.
type About = (Option<i64>, Option<PagePlace>);

/// True if the shown set is of these changes: it has each page and place of theirs, but for pages
/// that already were so, and beyond them only pages whose links it mends.
fn holds(shown: &ChangeSet, changes: &[DraftChange]) -> bool {
    let about = |change: &Change| -> About {
        let id = change.before().and_then(|page| page.id);
        (id, change.after().map(PageState::place))
    };
    let of_shown: BTreeSet<About> = shown.iter().map(|one| about(&one.change)).collect();
    let asked = changes.iter().map(|one| (one.page(), one.place()));
    let asked: BTreeSet<About> = asked.collect();
    let left_out = shown.batch().left_out.len();
    let missing = asked.difference(&of_shown).count();
    let more = of_shown.difference(&asked).count();
    missing <= left_out && (more == 0 || shown.batch().mending.is_some())
}
