//! Edits of a text that name the present text: `oldText` becomes `newText`.

use std::borrow::Cow;
use std::ops::Range;

use thiserror::Error;

use super::super::select::position::{MAX_PLACES, with_line_ends_of};
use crate::nearest::{most_alike, text_likeness};
use crate::page::{DiffersIn, TextPosition};

/// The most similar lines that are named.
const MAX_NEAREST: usize = 3;
/// The least similarity of such a line.
const LEAST_LIKENESS: f64 = 0.4;
/// The most bytes that a text may have after replacing all occurrences: no request to a wiki holds
/// more.
const MOST_BYTES: usize = 5 * 1024 * 1024;

/// One edit: a text that is in the page once, and its replacement, which gets the line ends of a page
/// that has only `\r\n` if both texts have only line feeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextReplacement {
    /// The present text, with its line endings as they are.
    pub old_text: String,
    /// The new text.
    pub new_text: String,
}

impl TextReplacement {
    /// The new text with the line ends that it gets in a text.
    fn new_text_for(&self, text: &str) -> Cow<'_, str> {
        with_line_ends_of(text, &[&self.old_text, &self.new_text], &self.new_text)
    }
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
    /// The text is only where it is to stay as it is: in code.
    #[error("the old text of edit {index} is in the page only in code")]
    OnlyKept {
        /// Index of the edit.
        index: usize,
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
/// `aaa`). Line endings are compared as they are. It takes time in proportion to the text for each
/// edit; the caller bounds their number.
///
/// # Errors
/// The first edit that cannot be made, with the places that say why.
pub fn apply_edits(text: &str, edits: &[TextReplacement]) -> Result<String, EditFault> {
    let mut text = text.to_owned();
    for (index, edit) in edits.iter().enumerate() {
        let at = only_place(&text, index, &edit.old_text)?;
        let new = edit.new_text_for(&text).into_owned();
        text.replace_range(at..at + edit.old_text.len(), &new);
    }
    Ok(text)
}

/// Makes edits in order, each on the result of those before it and at every occurrence of its old
/// text; what these ranges of the text touch stays as it is.
///
/// # Errors
/// The first edit whose old text is empty or not there, or that makes the text too large.
pub fn replace_all(
    text: &str,
    edits: &[TextReplacement],
    kept: &[Range<usize>],
) -> Result<String, EditFault> {
    if let Some(index) = edits.iter().position(|edit| edit.old_text.is_empty()) {
        return Err(EditFault::Empty { index });
    }
    let (replaced, counts) =
        replaced(text, edits, kept).map_err(|index| EditFault::TooLarge { index })?;
    let Some(index) = counts.iter().position(|count| *count == 0) else {
        return Ok(replaced);
    };
    let done = edits.get(..index).unwrap_or_default();
    let (before, _) = self::replaced(text, done, kept).unwrap_or_default();
    let sought = edits.get(index).map_or("", |edit| &edit.old_text);
    if before.contains(sought) {
        return Err(EditFault::OnlyKept { index });
    }
    Err(not_found(&before, index, sought))
}

/// A text with every occurrence of others replaced, in order, and how often each was; what these
/// ranges touch, in order and apart, stays as it is.
///
/// # Errors
/// The index of the edit that makes the text larger than any page. The size is checked first.
pub fn replaced(
    text: &str,
    edits: &[TextReplacement],
    kept: &[Range<usize>],
) -> Result<(String, Vec<usize>), usize> {
    let mut pieces = Vec::with_capacity(kept.len() * 2 + 1);
    let mut passed = 0;
    for kept in kept {
        pieces.push(Cow::Borrowed(
            text.get(passed..kept.start).unwrap_or_default(),
        ));
        pieces.push(Cow::Borrowed(text.get(kept.clone()).unwrap_or_default()));
        passed = kept.end;
    }
    pieces.push(Cow::Borrowed(text.get(passed..).unwrap_or_default()));
    let mut bytes = text.len();
    let mut counts = Vec::with_capacity(edits.len());
    for (index, edit) in edits.iter().enumerate() {
        let old = edit.old_text.as_str();
        let whole = if edit.new_text.contains('\n') {
            pieces.concat()
        } else {
            String::new()
        };
        let new = edit.new_text_for(&whole);
        // A search prepares the sought text, so pieces that are too short are not searched.
        let fits = |piece: &str| !old.is_empty() && piece.len() >= old.len();
        let times = |piece: &Cow<'_, str>| {
            if fits(piece) {
                piece.matches(old).count()
            } else {
                0
            }
        };
        let open = pieces.iter().step_by(2);
        let count: usize = open.map(times).sum();
        let grows = new.len().saturating_sub(old.len()).saturating_mul(count);
        if grows > 0 && bytes.saturating_add(grows) > MOST_BYTES {
            return Err(index);
        }
        for piece in pieces.iter_mut().step_by(2).filter(|piece| fits(piece)) {
            if piece.contains(old) {
                *piece = Cow::Owned(piece.replace(old, &new));
            }
        }
        bytes = pieces.iter().map(|piece| piece.len()).sum();
        counts.push(count);
    }
    Ok((pieces.concat(), counts))
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
pub(super) fn nearest_lines(text: &str, sought: &str) -> Vec<TextPosition> {
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
