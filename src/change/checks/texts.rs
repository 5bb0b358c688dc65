//! Checks of a page's own texts.

use std::collections::HashSet;
use std::str::Lines;

use super::super::plan::Change;
use super::super::warning::{Warning, named, unchecked};
use crate::page::{
    Attached, Field, Heading, LineCounts, Outline, PageState, SourceFormat, StyleSheet, escaped,
    has_too_many_signs,
};

/// Fewer removed lines cause no warning.
const MANY_LINES: usize = 20;
/// The most characters of a rule in a warning.
const MOST_CHARS: usize = 120;

/// The warning that more than half of a page's lines, and more than a few, are removed.
pub(super) fn much_removed(change: &Change, lines: LineCounts) -> Option<Warning> {
    if lines.removed <= MANY_LINES {
        return None;
    }
    let before = change.before().filter(|_| change.after().is_some())?;
    let all = before.content.lines().count();
    (lines.removed.saturating_mul(2) > all).then(|| {
        let message = format!(
            "{} of the page's {all} lines go, {} come.",
            lines.removed.min(all),
            lines.added
        );
        Warning::new("much_removed", message).at(Field::Content, None)
    })
}

/// Warns of a dropped heading whose section keeps its text or gets other text, as when a section is
/// replaced by a text without a heading. Looks at the one stretch of lines that differs.
pub(super) fn heading_dropped(change: &Change) -> Option<Warning> {
    let (before, after) = (change.before()?, change.after()?);
    if before.same(after, Field::Content) {
        return None;
    }
    let (was, is) = (before.content.as_str(), after.content.as_str());
    let same = |(one, other): &(&str, &str)| one.lines().eq(other.lines());
    let alike = was.split_inclusive('\n').zip(is.split_inclusive('\n'));
    let (lead, start, start_is) = alike
        .take_while(same)
        .fold((0_usize, 0, 0), |(lead, was, is), (one, other)| {
            (lead + 1, was + one.len(), is + other.len())
        });
    let (was, is) = (was.get(start..)?, is.get(start_is..)?);
    let end = same_end(was, is);
    let was = was.get(..was.len().checked_sub(end)?)?;
    let is = is.get(..is.len().checked_sub(end)?)?;
    let (of_was, of_is) = (was.lines().count(), is.lines().count());
    let tail = was.lines().rev().zip(is.lines().rev());
    let tail = tail.take_while(|(one, other)| one == other).count();
    let first = |lines: Lines<'_>, count: usize| {
        let mut stretch = lines.take(count.saturating_sub(tail));
        let text = stretch.position(|line| !line.trim().is_empty())?;
        Some(lead.saturating_add(text).saturating_add(1))
    };
    let gone = match heading_at(before, first(was.lines(), of_was)?) {
        Ok(heading) => heading?,
        Err(unchecked) => return Some(unchecked),
    };
    let what = match first(is.lines(), of_is).map(|line| heading_at(after, line)) {
        Some(Err(unchecked)) => return Some(unchecked),
        Some(Ok(Some(_))) => return None,
        Some(Ok(None)) => "text without a heading comes in its place",
        None => {
            let lines = was.split_inclusive('\n');
            let to: usize = lines.take(of_was.saturating_sub(tail)).map(str::len).sum();
            let rest = before.content.get(start + to..gone.section.end)?;
            if rest.trim().is_empty() {
                return None;
            }
            "the text below it stays"
        }
    };
    let name = escaped(&gone.text, MOST_CHARS);
    let message = format!("The heading \"{name}\" goes, and {what}.");
    let warning = Warning::new("heading_dropped", message);
    Some(warning.at(Field::Content, Some(lead.saturating_add(1))))
}

/// The bytes of the lines with which two texts end alike, looked for by whole blocks.
fn same_end(one: &str, other: &str) -> usize {
    const BLOCK: usize = 4096;
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let same = one.rchunks(BLOCK).zip(other.rchunks(BLOCK));
    let same = same.take_while(|(one, other)| one == other);
    let bytes: usize = same.map(|(block, _)| block.len()).sum();
    // The first of these lines may begin before them.
    let mut last = one.iter().skip(one.len() - bytes);
    let begun = last.position(|byte| *byte == b'\n');
    begun.map_or(0, |at| bytes - at - 1)
}

/// The heading that begins in a line, or the warning that the page was not parsed, which it is only
/// if one may.
fn heading_at(page: &PageState, line: usize) -> Result<Option<Heading>, Warning> {
    let format = page.format();
    if !may_begin_heading(&page.content, line, format) {
        return Ok(None);
    }
    if has_too_many_signs(&page.content, format) {
        return Err(unchecked("heading_dropped"));
    }
    let outline = Outline::in_format(&page.content, format);
    let mut headings = outline.headings.iter();
    Ok(headings.find(|one| one.line == line).cloned())
}

/// True if a heading may begin in a line, by its signs and those of the lines below it: a `#`, a
/// line of `=` or `-` under a paragraph, or a tag.
fn may_begin_heading(text: &str, line: usize, format: SourceFormat) -> bool {
    let mut lines = text.split('\n').skip(line.saturating_sub(1));
    match format {
        SourceFormat::Markdown => {
            let is_blank = |line: &&str| !line.trim_matches([' ', '\t', '\r']).is_empty();
            // A carriage return alone ends a line of Markdown, too.
            let parts = lines.take_while(is_blank).flat_map(|line| line.split('\r'));
            parts.enumerate().any(|(at, part)| {
                let part = part.trim();
                let is_under = |sign: char| !part.is_empty() && part.chars().all(|c| c == sign);
                at == 0 && part.starts_with('#') || is_under('=') || is_under('-')
            })
        }
        SourceFormat::Html => lines.next().is_some_and(|line| line.contains('<')),
        SourceFormat::AsciiDoc | SourceFormat::Other => false,
    }
}

/// More tags go than come.
pub(super) fn tags_dropped(change: &Change) -> Option<Warning> {
    let (before, after) = (change.before()?, change.after()?);
    let [old, new] = [before, after].map(|page| page.tags.iter().collect::<HashSet<_>>());
    let gone = before.tags.iter().filter(|tag| !new.contains(tag));
    let gone: Vec<String> = gone.map(|tag| escaped(tag, MOST_CHARS)).collect();
    let come = after.tags.iter().filter(|tag| !old.contains(tag)).count();
    (gone.len() > come).then(|| {
        let message = format!(
            "{} of the page's tags go, {come} come: {}.",
            gone.len(),
            named(&gone)
        );
        Warning::new("tags_dropped", message).at(Field::Tags, None)
    })
}

/// Line breaks that were escaped once too often.
pub(super) fn literal_escapes(change: &Change) -> Option<Warning> {
    change.has_literal_escapes().then(|| {
        let message = r"The new text has \n as two characters and no line break; where lines were meant, send it again with line breaks.";
        Warning::new("literal_escapes", message).at(Field::Content, None)
    })
}

/// The warning that a page in HTML gets a line of Markdown, of which readers see the signs.
pub(super) fn markdown_in_html(change: &Change) -> Option<Warning> {
    let after = change.after().filter(|_| change.thing().is_none())?;
    let before = change.before().map_or("", |page| &page.content);
    if after.format() != SourceFormat::Html || after.content == before {
        return None;
    }
    let was: HashSet<&str> = before.lines().collect();
    let mut is_verbatim = false;
    let line = after.content.lines().position(|line| {
        if !line.contains('<') {
            return !is_verbatim && is_markdown(line) && !was.contains(line);
        }
        let lower = line.to_ascii_lowercase();
        let last = |tags: [&str; 4]| tags.into_iter().filter_map(|tag| lower.rfind(tag)).max();
        let (begin, end) = (last(VERBATIM), last(VERBATIM_ENDS));
        let is_found = !is_verbatim && begin.is_none() && is_markdown(line) && !was.contains(line);
        if begin.or(end).is_some() {
            is_verbatim = begin > end;
        }
        is_found
    })?;
    let message = "The page is written in HTML, and this line is Markdown: readers see its signs as they are. Send it as HTML.";
    let warning = Warning::new("markdown_in_html", message);
    Some(warning.at(Field::Content, Some(line + 1)))
}

/// The elements whose text is meant to the letter.
const VERBATIM: [&str; 4] = ["<pre", "<code", "<script", "<style"];
const VERBATIM_ENDS: [&str; 4] = ["</pre", "</code", "</script", "</style"];

/// True for a heading, the fence of a block of code, or a line with a link.
fn is_markdown(line: &str) -> bool {
    let line = line.trim_start();
    let text = line.trim_start_matches('#');
    let is_heading = (1..=6).contains(&(line.len() - text.len())) && text.starts_with(' ');
    let parts = line.split_once("](");
    let has_link = parts.is_some_and(|(text, way)| text.contains('[') && way.contains(')'));
    is_heading || line.starts_with("```") || has_link
}

/// Rules that the wiki will not store (W25).
pub(super) fn css_rules_dropped(change: &Change) -> Option<Warning> {
    let after = change.after()?;
    let before = change.before().map_or("", |page| &page.script_css);
    if after.script_css == before {
        return None;
    }
    let was: HashSet<String> = StyleSheet::parse(before).not_stored().into_iter().collect();
    let rules: Vec<String> = StyleSheet::parse(&after.script_css)
        .not_stored()
        .into_iter()
        .filter(|rule| !was.contains(rule))
        .map(|rule| escaped(&rule, MOST_CHARS))
        .collect();
    (!rules.is_empty()).then(|| {
        let message = format!(
            "The wiki stores no nested rule and none behind a brace too many: {}.",
            named(&rules)
        );
        Warning::new("css_rules_dropped", message).at(Field::ScriptCss, None)
    })
}

/// The warning that a page is not published any more.
pub(super) fn unpublished(change: &Change) -> Option<Warning> {
    let (before, after) = (change.before()?, change.after()?);
    (before.is_published && !after.is_published).then(|| {
        let message = "The page is not published any more: readers do not see it.";
        Warning::new("unpublished", message).at(Field::IsPublished, None)
    })
}

/// Warns of what undo cannot restore: a deleted comment or asset, or a page whose place cannot be
/// created again (W28).
pub(super) fn cannot_return(change: &Change) -> Option<Warning> {
    let is_gone = change.after().is_none();
    let lost = match change.thing() {
        Some(Attached::Comment(_)) if is_gone => {
            "undo can write the comment anew, under a new id: not its author, its time, what it \
             answers, nor what answers it."
        }
        Some(Attached::Asset(_)) if is_gone => {
            "undo can upload the bytes anew, under a new id: not the asset's author and times."
        }
        Some(Attached::Asset(asset)) if !asset.makes.is_empty() => {
            let made = asset.makes.iter().map(|one| escaped(one, MOST_CHARS));
            let made = made.collect::<Vec<_>>().join(", ");
            let message = format!(
                "folders are made right before the upload, and nothing can remove them: {made}. They stay when the upload is taken back."
            );
            return Some(Warning::new("cannot_return", message));
        }
        _ => {
            let why = change.leaves_for_good()?;
            let way = match change.before() {
                Some(page) if !page.path.can_be_made() => {
                    "can bring the page back only at another path"
                }
                _ => "cannot bring the page back",
            };
            return Some(Warning::new(
                "cannot_return",
                format!("{why}, so undo {way}."),
            ));
        }
    };
    Some(Warning::new("cannot_return", lost))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Outline, SourceFormat, may_begin_heading};

    proptest! {
        #[test]
        fn every_heading_begins_where_one_may(text in "(# |## |\n|\n\n|===|---|-|=|ab|> |- |1\\. |<h2>|</h2>|<h2|>|\r|\t|    |\u{a0}|\u{c}|\\[a\\]: /b){0,24}") {
            for format in [SourceFormat::Markdown, SourceFormat::Html] {
                for heading in Outline::in_format(&text, format).headings {
                    prop_assert!(may_begin_heading(&text, heading.line, format), "{:?}", heading);
                }
            }
        }
    }

    #[test]
    fn few_lines_of_a_plain_text_may_begin_a_heading() {
        let text = "a line\nanother\n\n# one\n\nunderlined\n===\n";
        let may = |line: &usize| may_begin_heading(text, *line, SourceFormat::Markdown);
        assert_eq!((1..=7).filter(may).collect::<Vec<_>>(), [4, 6, 7]);
    }
}
