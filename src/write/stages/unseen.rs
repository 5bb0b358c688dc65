//! What a change adds to a page that its readers will not see.

use std::fmt::Write as _;

use crate::change::Change;
use crate::page::{Format, HiddenText, PageState};

/// The most lines that are named of a kind.
const MAX_LINES: usize = 5;

/// What of a page's new content or styles its readers do not see, where that is more than before.
///
/// The words are our own: whoever decides on the change may be shown them as they are.
pub(super) fn unseen(change: &Change) -> Option<String> {
    let after = change.after()?;
    let is_same = |before: &&PageState| {
        before.content == after.content && before.script_css == after.script_css
    };
    if change.before().as_ref().is_some_and(is_same) {
        return None;
    }
    let after = hidden(after)?;
    let before = change.before().and_then(hidden).unwrap_or_default();
    let mut said = String::new();
    for ((kind, found), (_, old)) in after.kinds().into_iter().zip(before.kinds()) {
        if found.count > old.count {
            let separator = if said.is_empty() { "" } else { "; " };
            let lines: Vec<String> = found
                .lines
                .iter()
                .take(MAX_LINES)
                .map(usize::to_string)
                .collect();
            let more = if found.lines.len() > MAX_LINES {
                ", …"
            } else {
                ""
            };
            let _ = write!(
                said,
                "{separator}{kind}: {} (line {}{more})",
                found.count,
                lines.join(", ")
            );
        }
    }
    (!said.is_empty()).then(|| {
        format!("hidden_text: readers of the page will not see all of its content. {said}. This list is not exhaustive.")
    })
}

fn hidden(page: &PageState) -> Option<HiddenText> {
    let format = Format::of(None, Some(&page.editor));
    HiddenText::of(&page.content, format, Some(&page.script_css))
}
