//! Two changes of one text, made into one where they do not touch.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

use crate::page::{Field, PageState};

/// How long each difference may be searched for; past that a coarser one is taken, which can
/// only make changes touch that a finer one would hold apart.
const PATIENCE: Duration = Duration::from_millis(200);

/// Lines of the base, and what stands in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Region<'a> {
    old: Range<usize>,
    new: Vec<&'a str>,
}

impl Region<'_> {
    /// Whether no unchanged line lies between the two.
    fn touches(&self, other: &Self) -> bool {
        self.old.start <= other.old.end && other.old.start <= self.old.end
    }
}

/// Merges two changes of one text, line by line; none if they touch.
///
/// Changes touch if they are of the same line or of neighbouring ones, with no unchanged line
/// between. The same change on both sides counts once. A line's ending is part of it. Which
/// side is whose makes no difference.
#[must_use]
pub fn merge(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let lines: Vec<&str> = base.split_inclusive('\n').collect();
    let regions = both(regions(&lines, ours), regions(&lines, theirs))?;
    let mut merged = String::with_capacity(ours.len().max(theirs.len()));
    let mut passed = 0;
    for region in regions {
        merged.extend(lines.get(passed..region.old.start)?.iter().copied());
        merged.extend(region.new);
        passed = region.old.end;
    }
    merged.extend(lines.get(passed..)?.iter().copied());
    Some(merged)
}

/// What one change makes of a page, made on top of what somebody else made of it meanwhile; none
/// if both changed a field, unless to the same or their changes of the text do not touch.
#[must_use]
pub fn merge_pages(before: &PageState, after: &PageState, now: &PageState) -> Option<PageState> {
    let is_place = |field: &Field| field.is_place();
    let theirs = before.difference(now);
    let mut merged = PageState {
        updated_at: None,
        ..now.clone()
    };
    for field in before.difference(after) {
        let is_theirs = theirs.contains(&field)
            || is_place(&field) && theirs.iter().any(is_place)
            || field == Field::Content && theirs.contains(&Field::Editor);
        if !is_theirs || after.same(now, field) {
            merged.take(field, after);
        } else if field == Field::Content && !theirs.contains(&Field::Editor) {
            merged.content = merge(&before.content, &after.content, &now.content)?;
        } else {
            return None;
        }
    }
    Some(merged)
}

/// What changed, in the order of the lines; regions of one side never touch.
fn regions<'a>(base: &[&str], changed: &'a str) -> Vec<Region<'a>> {
    let lines: Vec<&str> = changed.split_inclusive('\n').collect();
    let deadline = Some(Instant::now() + PATIENCE);
    let ops = capture_diff_slices_deadline(Algorithm::Myers, base, &lines, deadline);
    let mut regions: Vec<Region<'a>> = Vec::new();
    for op in ops.iter().filter(|op| op.tag() != DiffTag::Equal) {
        let old = op.old_range();
        let new = lines.get(op.new_range()).unwrap_or_default();
        match regions.last_mut() {
            Some(last) if last.old.end == old.start => {
                last.old.end = old.end;
                last.new.extend(new);
            }
            _ => regions.push(Region {
                old,
                new: new.to_vec(),
            }),
        }
    }
    regions
}

/// The regions of both sides in order; none if two touch that are not the same.
fn both<'a>(ours: Vec<Region<'a>>, theirs: Vec<Region<'a>>) -> Option<Vec<Region<'a>>> {
    let mut all = [ours, theirs].concat();
    all.sort_by_key(|region| (region.old.start, region.old.end));
    all.dedup();
    let apart = all.is_sorted_by(|one, next| !one.touches(next));
    apart.then_some(all)
}

#[cfg(test)]
mod tests;
