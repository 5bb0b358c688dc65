//! The words that differ within changed lines.

use std::time::{Duration, Instant};

use similar::{ChangeTag, TextDiff};

/// Time limit for comparing more words than [`FEW`]; after it, more is marked than necessary.
const PATIENCE: Duration = Duration::from_millis(100);
/// So many words, old and new, are compared to the end: they always have the same marks.
const FEW: usize = 2_000;
/// Lines with less in common than this do not count as one changed line.
const LEAST_LIKENESS: f32 = 0.4;

/// A line that is removed or added, with the words that are in one of the two texts only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedLine<'a> {
    /// True if the line is added, false if it is removed.
    pub is_added: bool,
    /// Its words and what stands between them, and whether each is marked.
    pub words: Vec<(bool, &'a str)>,
}

/// Lines that are removed and lines that are added in their place, each marked; all removed ones
/// first. Lines that have little in common have no marks.
pub fn marked_lines<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<MarkedLine<'a>> {
    let words =
        |lines: &[&'a str]| -> Vec<&'a str> { lines.iter().flat_map(|line| split(line)).collect() };
    let (old_words, new_words) = (words(old), words(new));
    let mut comparison = TextDiff::configure();
    if old_words.len() + new_words.len() > FEW {
        comparison.deadline(Instant::now() + PATIENCE);
    }
    let diff = comparison.diff_slices(&old_words, &new_words);
    let is_like = diff.ratio() >= LEAST_LIKENESS;
    let side = |tag: ChangeTag, lines: &[&'a str]| -> Vec<MarkedLine<'a>> {
        let mut changes = diff
            .iter_all_changes()
            .filter(|change| matches!(change.tag(), ChangeTag::Equal) || change.tag() == tag)
            .map(|change| is_like && change.tag() == tag);
        lines
            .iter()
            .map(|line| {
                let words = split(line).map(|word| (changes.next().unwrap_or(false), word));
                MarkedLine {
                    is_added: tag == ChangeTag::Insert,
                    words: words.collect(),
                }
            })
            .collect()
    };
    let mut lines = side(ChangeTag::Delete, old);
    lines.extend(side(ChangeTag::Insert, new));
    lines
}

/// Words, and what stands between them.
fn split(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let is_word = rest.chars().next()?.is_alphanumeric();
        let end = if is_word {
            rest.find(|c: char| !c.is_alphanumeric())
        } else {
            rest.char_indices().nth(1).map(|(at, _)| at)
        };
        let (word, tail) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        rest = tail;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::marked_lines;

    fn told(old: &[&str], new: &[&str]) -> Vec<String> {
        marked_lines(old, new)
            .into_iter()
            .map(|line| {
                let words = line.words.into_iter().map(|(is_marked, word)| {
                    if is_marked {
                        format!("[{word}]")
                    } else {
                        word.to_owned()
                    }
                });
                let sign = if line.is_added { '+' } else { '-' };
                format!("{sign}{}", words.collect::<String>())
            })
            .collect()
    }

    #[test]
    fn only_the_words_that_differ_are_marked_in_a_changed_line() {
        assert_eq!(
            told(&["the old größe, 1.5"], &["the new größe, 1.6!"]),
            ["-the [old] größe, 1.[5]", "+the [new] größe, 1.[6][!]"]
        );
        assert_eq!(
            told(&["one two", "three"], &["one 2", "three", "four"]),
            ["-one [two]", "-three", "+one [2]", "+three", "+[four]"]
        );
    }

    #[test]
    fn lines_with_little_in_common_have_no_marks() {
        assert_eq!(told(&["abc"], &["xyz"]), ["-abc", "+xyz"]);
        assert_eq!(told(&[""], &["new"]), ["-", "+new"]);
    }
}
