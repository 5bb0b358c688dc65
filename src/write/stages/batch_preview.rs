//! Shows a set of one or many changes without sending it.

use crate::change::{Warning, cut};
use crate::gates::ChangeSet;
use crate::wiki::{Wiki, aside};
use crate::words::counted;

use super::check::{SetCheck, diff_of};
use crate::view::{ChangeView, SAMPLES};
use crate::write::answer::{MAX_LINES, Preview};
use crate::write::caller::Extent;
use crate::write::source::digest;

/// The most bytes of differences in a bounded preview, all changes together; a change without room
/// for its difference shows only the numbers of lines.
pub(crate) const MAX_DIFFS: usize = 32 * 1024;

/// Says what a set would do.
pub(crate) fn preview(wiki: &Wiki, set: &ChangeSet, checked: SetCheck, extent: Extent) -> Preview {
    let mut notes = checked.notes;
    // Once for all pages that it deletes.
    if let Some(lost) = set.iter().find_map(|one| one.change.lost_for_good()) {
        notes.warnings.insert(0, lost);
    }
    let changes = if set.is_list() {
        lines(wiki, set, &checked.each, extent)
    } else {
        let change = &set.first().change;
        vec![ChangeView {
            diff: checked.diff,
            lines_added: checked.lines.added,
            lines_removed: checked.lines.removed,
            ..ChangeView::new(change, wiki.url_of(change.target()))
        }]
    };
    let hidden = changes.iter().filter(|line| line.is_cut).count();
    if extent != Extent::Brief && hidden > 0 {
        notes.warnings.push(Warning::new(
            "diffs_not_shown",
            format!("the differences of {} have no room here; wikijs_get_change_set with id (previewId) shows them page by page.", counted(hidden, "change", "changes")),
        ));
    }
    Preview {
        call: set.id(),
        is_list: set.is_list(),
        pages: changes.len(),
        changes,
        outline: None,
        left_out: set.batch().left_out.clone(),
        links_left: set.links_left().cloned().collect(),
        draft: set.batch().draft.map(|mark| {
            let is_as_joined = digest::of_submitted(set) == mark.digest;
            (mark.digest, is_as_joined)
        }),
        lines: checked.lines,
        notes,
        confirm: None,
        proposal: None,
    }
}

/// The effect of each change of a set; the differences as far as there is room for them.
fn lines(wiki: &Wiki, set: &ChangeSet, each: &[Vec<Warning>], extent: Extent) -> Vec<ChangeView> {
    let (mut room, mut most) = match extent {
        Extent::Brief => (usize::MAX, SAMPLES),
        Extent::Bounded => (MAX_DIFFS, usize::MAX),
        Extent::Whole => (usize::MAX, usize::MAX),
    };
    let changes = set
        .iter()
        .zip(each.iter().map(Some).chain(std::iter::repeat(None)))
        .filter(|(one, _)| !one.change.is_empty());
    let mut lines: Vec<ChangeView> = changes
        .map(|(one, warnings)| {
            let change = &one.change;
            let links_mended = set.only_mends(one);
            // For a change that only mends links, their number says enough.
            let difference = change.content_difference();
            let lines = difference.counts();
            let is_cut = links_mended.is_none() && (most == 0 || difference.bytes() > room);
            most = most.saturating_sub(usize::from(links_mended.is_none()));
            let diff = if is_cut || links_mended.is_some() {
                String::new()
            } else {
                difference.unified()
            };
            drop(difference);
            room -= diff.len();
            ChangeView {
                diff,
                is_cut,
                lines_added: lines.added,
                lines_removed: lines.removed,
                links_mended,
                warnings: warnings.cloned().unwrap_or_default(),
                ..ChangeView::new(change, wiki.url_of(change.target()))
            }
        })
        .collect();
    if extent == Extent::Brief {
        ChangeView::sample(&mut lines);
    }
    lines
}

/// As many changes of a set as there is room for, in brief all; callers ask for the rest by number.
/// A difference that alone has no room is cut. Other calls go on while large ones are made.
pub(crate) fn lines_with_room(
    wiki: &Wiki,
    set: &ChangeSet,
    each: &[Vec<Warning>],
    extent: Extent,
) -> Vec<ChangeView> {
    let is_brief = extent == Extent::Brief;
    let extent = if is_brief { extent } else { Extent::Bounded };
    let mut lines = aside(set.bytes(), || lines(wiki, set, each, extent));
    if is_brief {
        return lines;
    }
    lines.truncate(MAX_LINES);
    if let Some(first) = lines.first_mut().filter(|line| line.is_cut) {
        first.diff = cut(diff_of(&set.first().change).0, &mut first.warnings);
        lines.truncate(1);
    }
    let fitting = lines.iter().skip(1).position(|line| line.is_cut);
    if let Some(fitting) = fitting {
        lines.truncate(fitting.saturating_add(1));
    }
    lines
}

#[cfg(test)]
mod tests;
