//! How two texts differ, line by line.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use similar::{ChangeTag, TextDiff};

/// How long the search for a difference may take; after that, a coarser one is used.
const PATIENCE: Duration = Duration::from_millis(200);

/// How many lines a change adds and removes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Lines that are in the new text only.
    pub added: usize,
    /// Lines that are in the old text only.
    pub removed: usize,
}

/// The unified difference of two texts, three lines around each change, and its counts.
///
/// The difference is empty if the texts are the same.
#[must_use]
pub fn unified_diff(before: &str, after: &str) -> (String, LineCounts) {
    if before == after {
        return (String::new(), LineCounts::default());
    }
    // A line ends in a line feed alone, as everywhere here.
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<_>>();
    let (old, new) = (lines(before), lines(after));
    let diff = TextDiff::configure()
        .deadline(Instant::now() + PATIENCE)
        .diff_slices(&old, &new);
    let mut counts = LineCounts::default();
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => counts.added += 1,
            ChangeTag::Delete => counts.removed += 1,
            ChangeTag::Equal => {}
        }
    }
    let mut unified = String::new();
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        // Writing to a string cannot fail.
        let _ = writeln!(unified, "{}", hunk.header());
        for change in hunk.iter_changes() {
            let _ = write!(unified, "{}{}", change.tag(), change.value());
            if !change.value().ends_with('\n') {
                unified.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    (unified, counts)
}

#[cfg(test)]
mod tests {
    use super::{LineCounts, unified_diff};

    #[test]
    fn a_changed_line_is_one_added_and_one_removed() {
        let (diff, counts) = unified_diff("a\nb\nc\n", "a\nB\nc\n");
        assert_eq!(
            counts,
            LineCounts {
                added: 1,
                removed: 1
            }
        );
        assert_eq!(diff, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    }

    #[test]
    fn a_new_text_is_all_added() {
        assert_eq!(
            unified_diff("", "a\nb\n").1,
            LineCounts {
                added: 2,
                removed: 0
            }
        );
    }

    #[test]
    fn a_changed_ending_shows() {
        assert!(
            unified_diff("a\n", "a")
                .0
                .contains("No newline at end of file")
        );
    }
}
