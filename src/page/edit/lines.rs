//! Compares two texts line by line, in little memory however long they are.

use std::fmt::Write as _;
use std::ops::Range;

use crate::page::{LineCounts, LineDiff, TextLines};

/// Number of unchanged lines shown around a change.
const AROUND: usize = 3;

/// The first line of a difference that shows more than differs. It begins as a line of `git diff`
/// does, so that whatever reads patches passes over it.
pub const COARSE: &str = "diff is coarse: the texts are too long to be compared in time, so lines that stay may be shown as removed and added";

/// Two texts with the lines that differ between them; holds a few bytes a line, not the difference.
#[derive(Debug)]
pub struct Difference<'a> {
    old: TextLines<'a>,
    new: TextLines<'a>,
    changed: LineDiff,
}

impl<'a> Difference<'a> {
    /// Compares two texts.
    pub fn new(before: &'a str, after: &'a str) -> Self {
        if before == after {
            let nothing = TextLines::new("");
            return Self {
                old: nothing.clone(),
                new: nothing,
                changed: LineDiff::default(),
            };
        }
        let (old, new) = (TextLines::new(before), TextLines::new(after));
        let changed = LineDiff::new(&old, &new);
        Self { old, new, changed }
    }

    /// Number of lines added and removed.
    pub fn counts(&self) -> LineCounts {
        self.changed.counts()
    }

    /// The length of the unified difference, in bytes.
    pub fn bytes(&self) -> usize {
        let mut bytes = 0;
        self.say(&mut |sign, line| bytes += sign.len() + line.len());
        bytes
    }

    /// The unified difference, three lines around each change. It is empty if the texts are the
    /// same. Of texts that are too long to be compared in time it says that it is coarse.
    pub fn unified(&self) -> String {
        // A long text is not copied again and again while it grows.
        let mut unified = String::with_capacity(self.bytes());
        self.say(&mut |sign, line| {
            unified.push_str(sign);
            unified.push_str(line);
        });
        unified
    }

    /// Says the unified difference, piece by piece.
    fn say(&self, say: &mut impl FnMut(&str, &str)) {
        if self.changed.is_coarse {
            say(COARSE, "\n");
        }
        let mut regions = self.changed.regions.as_slice();
        while !regions.is_empty() {
            // Regions with few unchanged lines between them are one hunk.
            let apart = |two: &[(Range<usize>, Range<usize>)]| match two {
                [(one, _), (next, _)] => next.start - one.end > 2 * AROUND,
                _ => false,
            };
            let end = regions.windows(2).position(apart);
            let (hunk, rest) = regions.split_at(end.map_or(regions.len(), |end| end + 1));
            self.say_hunk(hunk, say);
            regions = rest;
        }
    }

    fn say_hunk(&self, hunk: &[(Range<usize>, Range<usize>)], say: &mut impl FnMut(&str, &str)) {
        let (old, new) = (&self.old, &self.new);
        let (Some((first_old, first_new)), Some((last_old, last_new))) =
            (hunk.first(), hunk.last())
        else {
            return;
        };
        let before = AROUND.min(first_old.start);
        let after = AROUND.min(old.count().saturating_sub(last_old.end));
        let mut header = "@@ -".to_owned();
        // Writing to a string cannot fail.
        let _ = write_range(&mut header, first_old.start - before..last_old.end + after);
        header.push_str(" +");
        let _ = write_range(&mut header, first_new.start - before..last_new.end + after);
        say(&header, " @@\n");
        let mut say_lines = |sign, of: &TextLines, lines: Range<usize>| {
            for line in lines {
                let text = of.line(line);
                say(sign, text);
                if !text.ends_with('\n') {
                    say("", "\n\\ No newline at end of file\n");
                }
            }
        };
        let mut passed = first_old.start - before;
        for (of_old, of_new) in hunk {
            say_lines(" ", old, passed..of_old.start);
            say_lines("-", old, of_old.clone());
            say_lines("+", new, of_new.clone());
            passed = of_old.end;
        }
        say_lines(" ", old, passed..passed + after);
    }
}

/// The unified difference of two texts, and its counts.
pub fn unified_diff(before: &str, after: &str) -> (String, LineCounts) {
    let difference = Difference::new(before, after);
    (difference.unified(), difference.counts())
}

/// A range of lines as a hunk's header has it: an empty one is named by the line before it.
fn write_range(header: &mut String, lines: Range<usize>) -> std::fmt::Result {
    match lines.len() {
        1 => write!(header, "{}", lines.start + 1),
        0 => write!(header, "{},0", lines.start),
        many => write!(header, "{},{many}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use similar::TextDiff;

    use super::{COARSE, Difference, LineCounts, unified_diff};
    use crate::page::apply_patch;

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

    /// A long text whose lines differ from each other, but for every third.
    fn long(lines: usize) -> Vec<String> {
        let line = |at: usize| match at % 3 {
            0 => "\n".to_owned(),
            _ => format!("line {at}\n"),
        };
        (0..lines).map(line).collect()
    }

    #[test]
    fn few_changes_of_a_long_text_are_shown_exactly() {
        let old = long(60_000);
        let mut new = old.clone();
        for at in (1..60_000).step_by(3_001).rev() {
            new[at] = "other\n".to_owned();
            new.insert(at, "inserted\n".to_owned());
        }
        new.drain(30_000..30_500);
        new.truncate(59_000);
        let (old, new) = (old.concat(), new.concat());
        let (diff, counts) = unified_diff(&old, &new);
        assert!(!diff.contains(COARSE));
        assert_eq!(counts, Difference::new(&old, &new).counts());
        assert!(counts.added < 45 && counts.removed < 1_600, "{counts:?}");
        assert_eq!(apply_patch(&old, &diff), Ok(new));
    }

    #[test]
    fn a_difference_of_long_texts_without_a_common_line_says_that_it_is_coarse() {
        let text = |word: &str| {
            let lines: Vec<String> = (0..60_000).map(|at| format!("{word} {at}\n")).collect();
            lines.concat()
        };
        let (old, new) = (text("old"), text("new"));
        let (diff, counts) = unified_diff(&old, &new);
        assert_eq!(diff.lines().next(), Some(COARSE));
        assert_eq!((counts.added, counts.removed), (60_000, 60_000));
        assert_eq!(apply_patch(&old, &diff), Ok(new));
    }

    proptest! {
        #[test]
        fn a_difference_is_that_of_the_crate(old in "([ab\n]{0,3}\n){0,40}[ab]?", new in "([ab\n]{0,3}\n){0,40}[ab]?") {
            let (diff, counts) = unified_diff(&old, &new);
            prop_assert_eq!(diff.is_empty(), old == new);
            if old != new {
                prop_assert_eq!(apply_patch(&old, &diff), Ok(new.clone()));
            }
            prop_assert_eq!(Difference::new(&old, &new).bytes(), diff.len());
            let lines = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
            let (old, new) = (lines(&old), lines(&new));
            let (old, new): (Vec<&str>, Vec<&str>) = (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
            let theirs = TextDiff::configure().diff_slices(&old, &new);
            let added = theirs.iter_all_changes().filter(|change| change.tag() == similar::ChangeTag::Insert);
            prop_assert_eq!(added.count(), counts.added);
            let hunks = theirs.unified_diff().context_radius(3).iter_hunks().map(|hunk| hunk.header().to_string()).collect::<Vec<_>>();
            let own = diff.lines().filter(|line| line.starts_with("@@")).map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(own, hunks);
        }
    }
}
