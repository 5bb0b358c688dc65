//! Edits of a text that name the present text: `oldText` becomes `newText`.

use thiserror::Error;

use super::super::select::position::{DiffersIn, MAX_PLACES, TextPosition};
use crate::nearest::{most_alike, text_likeness};

/// The most similar lines that are named.
const MAX_NEAREST: usize = 3;
/// The least similarity of such a line.
const LEAST_LIKENESS: f64 = 0.4;
/// The most bytes that a text may have after replacing all occurrences: no request to a wiki holds
/// more.
const MOST_BYTES: usize = 5 * 1024 * 1024;

/// One edit: a text that is in the page once, and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextReplacement {
    /// The present text, with its line endings as they are.
    pub old_text: String,
    /// The new text.
    pub new_text: String,
}

/// The fault that stops all edits of a call.
///
/// `index` is the edit's place in the list, from 0; places are those of the text as the edits
/// before it left it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditFault {
    /// There is no text to look for.
    #[error("the old text of edit {index} is empty")]
    Empty {
        /// Index of the edit.
        index: usize,
    },
    /// The text is not there.
    #[error("the old text of edit {index} is not in the page")]
    NotFound {
        /// Index of the edit.
        index: usize,
        /// The only difference between these places and the text, if there are any.
        differs_in: Option<DiffersIn>,
        /// The first places with nearly that text, at most ten.
        places: Vec<TextPosition>,
        /// If there are none: the lines most similar to the longest line of the text, at most
        /// three, the most similar first.
        nearest: Vec<TextPosition>,
    },
    /// The text is there more than once.
    #[error("the old text of edit {index} is in the page more than once")]
    Ambiguous {
        /// Index of the edit.
        index: usize,
        /// The first places where it stands, at most ten.
        places: Vec<TextPosition>,
        /// True if there are more places.
        more: bool,
    },
    /// The text would become larger than any page.
    #[error("the text is too large with edit {index}")]
    TooLarge {
        /// Index of the edit.
        index: usize,
    },
}

/// Makes edits in order, each on the result of those before it.
///
/// Each old text must be there exactly once; places that overlap count apart (`aa` is twice in
/// `aaa`). Line endings are compared and kept as they are. It takes time in proportion to the
/// text for each edit; the caller bounds their number.
///
/// # Errors
/// The first edit that cannot be made, with the places that say why.
pub fn apply_edits(text: &str, edits: &[TextReplacement]) -> Result<String, EditFault> {
    let mut text = text.to_owned();
    for (index, edit) in edits.iter().enumerate() {
        let at = only_place(&text, index, &edit.old_text)?;
        text.replace_range(at..at + edit.old_text.len(), &edit.new_text);
    }
    Ok(text)
}

/// Makes edits in order, each on the result of those before it and at every occurrence of its old
/// text.
///
/// # Errors
/// The first edit whose old text is empty or not there, or that makes the text too large.
pub fn replace_all(text: &str, edits: &[TextReplacement]) -> Result<String, EditFault> {
    let mut text = text.to_owned();
    for (index, edit) in edits.iter().enumerate() {
        if edit.old_text.is_empty() {
            return Err(EditFault::Empty { index });
        }
        if !text.contains(&edit.old_text) {
            return Err(not_found(&text, index, &edit.old_text));
        }
        text = replaced(&text, edit).ok_or(EditFault::TooLarge { index })?;
    }
    Ok(text)
}

/// A text with every occurrence of another replaced; `None` if the result would be larger than any
/// page. The size is checked first.
#[must_use]
pub fn replaced(text: &str, edit: &TextReplacement) -> Option<String> {
    let grows = edit.new_text.len().saturating_sub(edit.old_text.len());
    let times = if grows == 0 {
        0
    } else {
        text.matches(&edit.old_text).count()
    };
    let bytes = text.len().saturating_add(grows.saturating_mul(times));
    (times == 0 || bytes <= MOST_BYTES).then(|| text.replace(&edit.old_text, &edit.new_text))
}

fn only_place(text: &str, index: usize, sought: &str) -> Result<usize, EditFault> {
    if sought.is_empty() {
        return Err(EditFault::Empty { index });
    }
    let found: Vec<usize> = occurrences(text, sought).take(MAX_PLACES + 1).collect();
    match found.as_slice() {
        [] => Err(not_found(text, index, sought)),
        [only] => Ok(*only),
        several => Err(EditFault::Ambiguous {
            index,
            places: several
                .iter()
                .take(MAX_PLACES)
                .map(|at| TextPosition::at(text, *at))
                .collect(),
            more: several.len() > MAX_PLACES,
        }),
    }
}

fn not_found(text: &str, index: usize, sought: &str) -> EditFault {
    let (differs_in, places) = nearly(text, sought);
    let nearest = if places.is_empty() {
        nearest_lines(text, sought)
    } else {
        Vec::new()
    };
    EditFault::NotFound {
        index,
        differs_in,
        places,
        nearest,
    }
}

/// The offsets of a non-empty text, overlapping ones too.
///
/// Each takes time in proportion to the text, so a caller takes a bounded number.
fn occurrences(text: &str, sought: &str) -> impl Iterator<Item = usize> {
    let step = sought.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text.get(from..)?.find(sought)?;
        from = at + step;
        Some(at)
    })
}

/// The places that differ from a text only in line endings or white space.
fn nearly(text: &str, sought: &str) -> (Option<DiffersIn>, Vec<TextPosition>) {
    for differs_in in DiffersIn::ALL {
        let rest_of = |text| -> String { differs_in.rest_of(text).map(|(_, c)| c).collect() };
        let (rest, sought) = (rest_of(text), rest_of(sought));
        if sought.is_empty() {
            continue;
        }
        let mut found = occurrences(&rest, &sought).take(MAX_PLACES).peekable();
        let mut places = Vec::new();
        let mut passed = 0;
        for (offset, c) in differs_in.rest_of(text) {
            if found.next_if_eq(&passed).is_some() {
                places.push(TextPosition::at(text, offset));
            }
            if found.peek().is_none() {
                break;
            }
            passed += c.len_utf8();
        }
        if !places.is_empty() {
            return (Some(differs_in), places);
        }
    }
    (None, Vec::new())
}

/// The lines most similar to the longest line of a text, which is its most distinctive one.
fn nearest_lines(text: &str, sought: &str) -> Vec<TextPosition> {
    let longest = sought.lines().max_by_key(|line| line.trim().len());
    let longest = longest.unwrap_or_default();
    let lines = text.lines().enumerate();
    let likeness = |(_, line): &(usize, &str)| text_likeness(longest, line);
    most_alike(lines, MAX_NEAREST, LEAST_LIKENESS, likeness)
        .into_iter()
        .map(|(index, line)| TextPosition::whole(index + 1, line))
        .collect()
}

#[cfg(test)]
mod tests;
