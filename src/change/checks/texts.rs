//! Checks of a page's own texts.

use super::super::plan::Change;
use super::super::warning::Warning;
use super::named::named;
use crate::page::{Field, Format, LineCounts, Outline, PageState, Sheet, Thing, escaped};

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
    let (was, is): (Vec<&str>, Vec<&str>) = (
        before.content.lines().collect(),
        after.content.lines().collect(),
    );
    let same = |(one, other): &(&&str, &&str)| one == other;
    let lead = was.iter().zip(&is).take_while(same).count();
    let most = was.len().min(is.len()).saturating_sub(lead);
    let tail = was.iter().rev().zip(is.iter().rev()).take(most);
    let tail = tail.take_while(same).count();
    let first = |lines: &[&str]| {
        let stretch = lines.get(lead..lines.len().saturating_sub(tail))?;
        let text = stretch.iter().position(|line| !line.trim().is_empty())?;
        Some(lead.saturating_add(text).saturating_add(1))
    };
    let outline = outline(before);
    let gone = first(&was)?;
    let gone = outline.headings().iter().find(|one| one.line == gone)?;
    let what = match first(&is) {
        Some(line) if outline_has(after, line) => return None,
        Some(_) => "text without a heading comes in its place",
        None => {
            let lines = before.content.split_inclusive('\n');
            let to: usize = lines
                .take(was.len().saturating_sub(tail))
                .map(str::len)
                .sum();
            let rest = before.content.get(to..gone.section.end)?;
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

fn outline(page: &PageState) -> Outline<'_> {
    Outline::in_format(&page.content, Format::of(None, Some(&page.editor)))
}

fn outline_has(page: &PageState, line: usize) -> bool {
    outline(page).headings().iter().any(|one| one.line == line)
}

/// More tags go than come.
pub(super) fn tags_dropped(change: &Change) -> Option<Warning> {
    let (before, after) = (change.before()?, change.after()?);
    let lacks = |page: &PageState, tag: &&String| !page.tags.contains(tag);
    let gone = before.tags.iter().filter(|tag| lacks(after, tag));
    let gone: Vec<String> = gone.map(|tag| escaped(tag, MOST_CHARS)).collect();
    let come = after.tags.iter().filter(|tag| lacks(before, tag)).count();
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

/// Rules that the wiki will not store (W25).
pub(super) fn css_rules_dropped(change: &Change) -> Option<Warning> {
    let after = change.after()?;
    let before = change.before().map_or("", |page| &page.script_css);
    if after.script_css == before {
        return None;
    }
    let was = Sheet::parse(before).not_stored();
    let rules: Vec<String> = Sheet::parse(&after.script_css)
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

/// What undo cannot bring back: the page leaves a place to which nothing can bring it back (W28).
pub(super) fn cannot_return(change: &Change) -> Option<Warning> {
    if let (Some(Thing::Comment(_)), None) = (change.thing(), change.after()) {
        return Some(Warning::new(
            "cannot_return",
            "undo can write the comment anew, under a new id: not its author, its time, what it \
             answers, nor what answers it.",
        ));
    }
    if let (Some(Thing::Asset(_)), None) = (change.thing(), change.after()) {
        return Some(Warning::new(
            "cannot_return",
            "undo can upload the bytes anew, under a new id: not the asset's author and times.",
        ));
    }
    if let Some(Thing::Asset(asset)) = change.thing()
        && !asset.makes.is_empty()
    {
        let made: Vec<String> = asset
            .makes
            .iter()
            .map(|one| escaped(one, MOST_CHARS))
            .collect();
        let made = made.join(", ");
        return Some(Warning::new(
            "cannot_return",
            format!(
                "folders are made last before the upload, and nothing can remove them: {made}. They stay when the upload is taken back."
            ),
        ));
    }
    change.leaves_for_good().then(|| {
        Warning::new(
            "cannot_return",
            "the wiki makes no page at this path any more, so undo can bring the page back only \
             at another path.",
        )
    })
}
