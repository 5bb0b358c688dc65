//! Merges two changes of one text that do not overlap.

use std::ops::Range;

use crate::page::{Field, LineDiff, PageState, TextLines};

/// Lines of the base, and their replacement.
#[derive(Debug)]
struct Region<'a> {
    old: Range<usize>,
    new: &'a str,
}

/// Merges two changes of one text, line by line; `None` if they overlap.
///
/// Changes overlap if they affect the same line or neighbouring lines without an unchanged line
/// between, and do not come to the same text. A line's ending is part of it. The result
/// does not depend on which side is ours. Of texts that are too long to be compared in time, more
/// changes may seem to overlap than do.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let merged = merge_marked(base, ("", ours), ("", theirs));
    (merged.conflicts == 0).then_some(merged.text)
}

/// A merge in which overlapping changes are marked as Git does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    /// The text.
    pub text: String,
    /// The number of marked conflicts.
    pub conflicts: usize,
}

/// Merges two changes of one text line by line; where they overlap both stand between markers,
/// under these labels.
pub fn merge_marked(base: &str, ours: (&str, &str), theirs: (&str, &str)) -> Marked {
    let lines = TextLines::new(base);
    let sides = [regions(&lines, ours.1), regions(&lines, theirs.1)];
    let mut all: Vec<(usize, Region<'_>)> = Vec::new();
    for (side, regions) in sides.into_iter().enumerate() {
        all.extend(regions.into_iter().map(|region| (side, region)));
    }
    all.sort_by_key(|(_, region)| (region.old.start, region.old.end));
    let mut merged = Marked {
        text: String::with_capacity(ours.1.len().max(theirs.1.len())),
        conflicts: 0,
    };
    let mut passed = 0;
    for group in all.chunk_by(together()) {
        let (Some(start), Some(end)) = (
            group.iter().map(|(_, region)| region.old.start).min(),
            group.iter().map(|(_, region)| region.old.end).max(),
        ) else {
            continue;
        };
        merged.text.push_str(lines.text(passed..start));
        let [own, their] = [0, 1].map(|side| side_of(&lines, start..end, group, side));
        let is_of = |side| group.iter().any(|(own, _)| *own == side);
        match (is_of(0), is_of(1)) {
            (true, true) if own != their => {
                merged.conflicts += 1;
                for (mark, text) in [
                    (format!("<<<<<<< {}\n", ours.0), own),
                    ("=======\n".to_owned(), their),
                    (format!(">>>>>>> {}\n", theirs.0), String::new()),
                ] {
                    end_line(&mut merged.text);
                    merged.text.push_str(&mark);
                    merged.text.push_str(&text);
                }
            }
            (false, _) => merged.text.push_str(&their),
            _ => merged.text.push_str(&own),
        }
        passed = end;
    }
    merged.text.push_str(lines.text(passed..lines.count()));
    merged
}

/// A predicate for grouping: the next region touches one before it in its group. Regions come in
/// their order, so the end that reaches furthest is kept.
fn together<'a>() -> impl FnMut(&(usize, Region<'a>), &(usize, Region<'a>)) -> bool {
    let mut reaches = 0;
    move |one, next| {
        reaches = reaches.max(one.1.old.end);
        next.1.old.start <= reaches
    }
}

/// Lines of the base as one side changed them.
fn side_of(
    base: &TextLines,
    range: Range<usize>,
    group: &[(usize, Region<'_>)],
    side: usize,
) -> String {
    let mut text = String::new();
    let mut passed = range.start;
    for (_, region) in group.iter().filter(|(own, _)| *own == side) {
        text.push_str(base.text(passed..region.old.start));
        text.push_str(region.new);
        passed = region.old.end;
    }
    text.push_str(base.text(passed..range.end));
    text
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Applies a change on top of what somebody else wrote meanwhile; `None` if both changed a field,
/// unless to the same value or with changes of the text that do not overlap.
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

/// The changed regions in the order of the lines; regions of one side never touch.
fn regions<'a>(base: &TextLines, changed: &'a str) -> Vec<Region<'a>> {
    let lines = TextLines::new(changed);
    let regions = LineDiff::new(base, &lines).regions.into_iter();
    let region = |(old, new)| Region {
        old,
        new: lines.text(new),
    };
    regions.map(region).collect()
}

#[cfg(test)]
mod tests;
