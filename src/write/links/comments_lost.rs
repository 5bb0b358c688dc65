//! The comments that go with deleted pages, which nothing brings back (W34).

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};

use crate::change::{Change, Warning};
use crate::gates::ChangeSet;
use crate::page::PagePlace;
use crate::wiki::Wiki;

/// The time limit for counting them.
const PATIENCE: Duration = Duration::from_secs(5);
/// The number of pages that are asked about at once.
const AT_ONCE: usize = 4;

/// A warning for each change of a set, in order, that deletes a page with comments. Nothing is said
/// where this key reads none, or where the time is over.
pub(crate) async fn look(wiki: &Arc<Wiki>, set: &ChangeSet) -> Vec<Option<Warning>> {
    let mut warnings = vec![None; set.iter().count()];
    let mut places = Vec::new();
    for (at, one) in set.iter().enumerate() {
        places.extend(deleted(&one.change).map(|place| (at, place)));
    }
    let mut places = places.into_iter();
    // A key that may not read comments at one page seldom may at another.
    let Some((at, place)) = places.next() else {
        return warnings;
    };
    let counted = async {
        let Ok(count) = wiki.comment_count(&place).await else {
            return;
        };
        note(&mut warnings, at, count);
        let counts = places.map(|(at, place)| {
            let wiki = Arc::clone(wiki);
            async move { (at, wiki.comment_count(&place).await) }
        });
        let mut counts = stream::iter(counts).buffer_unordered(AT_ONCE);
        while let Some((at, count)) = counts.next().await {
            note(&mut warnings, at, count.unwrap_or_default());
        }
    };
    // What was counted in time is said.
    let _late = tokio::time::timeout(PATIENCE, counted).await;
    warnings
}

/// The place of a page that a change deletes.
fn deleted(change: &Change) -> Option<PagePlace> {
    let page = change.before().filter(|page| page.thing.is_none())?;
    change.after().is_none().then(|| page.place())
}

fn note(warnings: &mut [Option<Warning>], at: usize, count: usize) {
    let what = match count {
        0 => return,
        1 => "one comment goes with the page, and undo does not bring it back.".to_owned(),
        count => {
            format!("{count} comments go with the page, and undo brings none of them back.")
        }
    };
    if let Some(slot) = warnings.get_mut(at) {
        *slot = Some(Warning::new("cannot_return", what));
    }
}
