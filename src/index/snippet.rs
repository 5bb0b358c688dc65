//! The lines of a page around a match.

use std::ops::Range;

use super::terms::Term;
use super::tokens::{WordToken, tokens};

/// The most bytes of the page that a snippet shows, its marks not counted.
const MAX_BYTES: usize = 240;
/// The greatest distance between the shown matches.
const SPAN: usize = 160;
/// The bytes of a page that are read at a time.
const PIECE: usize = 64 * 1024;

/// A part of a text around a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snippet {
    /// The part, each match between `«` and `»`, in one line.
    pub(super) text: String,
    /// The offset in the whole text at which its first match begins.
    pub(super) at: usize,
}

/// A match: where, and of which term.
type TermMatch = (Range<usize>, usize);

/// The part of a text with the most terms close together; the first such part. With
/// `around`, so many bytes on each side, in their own lines.
pub(super) fn snippet(text: &str, terms: &[Term], around: usize) -> Option<Snippet> {
    let mut best: Option<(usize, Vec<Range<usize>>)> = None;
    let mut start = 0;
    while start < text.len() {
        let end = piece_end(text, start);
        let piece = text.get(start..end)?;
        let found = matches(piece, terms);
        for (first, (range, _)) in found.iter().enumerate() {
            let near = found.iter().skip(first);
            let near: Vec<&TermMatch> = near
                .take_while(|(other, _)| other.end <= range.start + SPAN)
                .collect();
            let distinct = (0..terms.len())
                .filter(|term| near.iter().any(|(_, other)| other == term))
                .count();
            if best.as_ref().is_none_or(|(most, _)| distinct > *most) && distinct > 0 {
                let ranges = near
                    .iter()
                    .map(|(near, _)| near.start + start..near.end + start);
                best = Some((distinct, ranges.collect()));
            }
        }
        if best.as_ref().is_some_and(|(most, _)| *most == terms.len()) {
            break;
        }
        start = end;
    }
    let (_, ranges) = best?;
    let at = ranges.first()?.start;
    Some(Snippet {
        text: show(text, &ranges, around),
        at,
    })
}

/// The end of the piece that begins at `start`: after a line, if there is one.
fn piece_end(text: &str, start: usize) -> usize {
    let most = text.floor_char_boundary(start.saturating_add(PIECE));
    let line = text
        .get(start..most)
        .and_then(|piece| piece.rfind('\n'))
        .map_or(most, |at| start + at + 1);
    if most == text.len() { most } else { line }
}

fn matches(text: &str, terms: &[Term]) -> Vec<TermMatch> {
    let tokens: Vec<WordToken> = tokens(text).collect();
    let mut found: Vec<TermMatch> = Vec::new();
    for at in 0..tokens.len() {
        let rest = tokens.get(at..).unwrap_or_default();
        for (index, term) in terms.iter().enumerate() {
            if let Some(range) = match_of(rest, term)
                && found.last().is_none_or(|(last, _)| last.end <= range.start)
            {
                found.push((range, index));
            }
        }
    }
    found
}

/// The bytes of a term at the beginning of some tokens.
fn match_of(tokens: &[WordToken], term: &Term) -> Option<Range<usize>> {
    let held = tokens.get(..term.parts.len())?;
    let last = term.parts.len().checked_sub(1)?;
    let mut end = None;
    for (index, (token, part)) in held.iter().zip(&term.parts).enumerate() {
        let goes_on = index == last && term.is_prefix() && token.text.starts_with(part.as_str());
        let is_apart = term.is_cjk && end.is_some_and(|end| end != token.range.start);
        if is_apart || token.is_cjk != term.is_cjk || (token.text != *part && !goes_on) {
            return None;
        }
        end = Some(token.range.end);
    }
    Some(held.first()?.range.start..end?)
}

fn show(text: &str, matches: &[Range<usize>], around: usize) -> String {
    let (Some(first), Some(last)) = (matches.first(), matches.last()) else {
        return String::new();
    };
    let spare = MAX_BYTES.saturating_sub(last.end - first.start);
    let (start, end) = if around > 0 {
        let start = text.ceil_char_boundary(first.start.saturating_sub(around));
        let end = text.floor_char_boundary(last.end.saturating_add(around));
        (start, end)
    } else {
        let start = begin(text, first.start, spare / 3);
        let end = finish(text, last.end, spare - (first.start - start));
        (start, end)
    };
    let mut shown = String::new();
    let is_said = |part: Option<&str>| part.is_some_and(|part| !part.trim().is_empty());
    if is_said(text.get(..start)) {
        shown.push('…');
    }
    let mut at = start;
    for range in matches {
        shown.push_str(text.get(at..range.start).unwrap_or_default());
        shown.push('«');
        shown.push_str(text.get(range.clone()).unwrap_or_default());
        shown.push('»');
        at = range.end;
    }
    shown.push_str(text.get(at..end).unwrap_or_default());
    if is_said(text.get(end..)) {
        shown.push('…');
    }
    if around > 0 {
        return shown.trim().to_owned();
    }
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The offset to begin at, at most `most` bytes before a match: at a line, or else at a word.
fn begin(text: &str, at: usize, most: usize) -> usize {
    let low = text.ceil_char_boundary(at.saturating_sub(most));
    let before = text.get(low..at).unwrap_or_default();
    if low == 0 {
        return 0;
    }
    before
        .rfind('\n')
        .or_else(|| before.find(char::is_whitespace))
        .map_or(low, |space| text.ceil_char_boundary(low + space + 1))
}

/// The offset to end at, at most `most` bytes behind a match: at a line, or else at a word.
fn finish(text: &str, at: usize, most: usize) -> usize {
    let high = text.floor_char_boundary(at.saturating_add(most));
    let after = text.get(at..high).unwrap_or_default();
    if high == text.len() {
        return high;
    }
    after
        .rfind('\n')
        .or_else(|| after.rfind(char::is_whitespace))
        .map_or(high, |space| at + space)
}

#[cfg(test)]
mod tests {
    use super::super::terms::terms;
    use super::{MAX_BYTES, snippet};

    fn shown(text: &str, query: &str) -> String {
        snippet(text, &terms(query), 0).map_or_else(String::new, |snippet| snippet.text)
    }

    #[test]
    fn matches_are_marked_in_their_own_spelling() {
        assert_eq!(
            shown("# Café\n\nThe crème of it.\n", "CREME cafe"),
            "# «Café» The «crème» of it."
        );
        assert_eq!(shown("see db_down now", "db_do"), "see «db_down» now");
        assert_eq!(shown("每周会议记录。", "会议"), "每周«会议»记录。");
        assert_eq!(shown("京東", "東京"), "");
    }

    #[test]
    fn with_bytes_around_it_a_match_keeps_its_lines_and_is_cut_between_characters() {
        let text = "ü\nüüü one\n\n| two |\nneedle\nthree üüü\nü";
        let around = |bytes| snippet(text, &terms("needle"), bytes).map(|found| found.text);
        assert_eq!(around(4).as_deref(), Some("…o |\n«needle»\nthr…"));
        for bytes in 1..text.len() {
            let found = around(bytes).expect("a snippet");
            assert!(found.len() <= "needle«»……".len() + 2 * bytes, "{found}");
        }
        assert_eq!(around(usize::MAX), Some(text.replace("needle", "«needle»")));
    }

    #[test]
    fn the_part_with_most_terms_is_taken_and_it_is_bounded() {
        let far = "filler word ".repeat(100);
        let text = format!("alpha {far}\nalpha and beta\n{far}");
        let found = snippet(&text, &terms("alpha beta"), 0).expect("a snippet");
        assert!(found.text.contains("«alpha» and «beta»"), "{}", found.text);
        assert!(found.at > 1_000 && found.text.len() <= MAX_BYTES + 32);
        assert!(found.text.starts_with('…') && found.text.ends_with('…'));
    }

    #[test]
    fn a_page_without_spaces_is_cut_between_characters() {
        let text = format!("{}会议{}", "字".repeat(500), "符".repeat(500));
        assert!(shown(&text, "会议").contains("字«会议»符"));
    }

    #[test]
    fn a_match_deep_in_a_large_page_is_found() {
        let text = format!("{}needle here\n", "hay and hay\n".repeat(100_000));
        assert!(shown(&text, "needle").contains("«needle» here"));
    }
}
