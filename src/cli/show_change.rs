//! A change for a person: its fields before and after, and the difference of its text.
//!
//! Text from the wiki is escaped: it must not steer the terminal.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use similar::{ChangeTag, TextDiff};

use super::confirmed::{Done, Shown};
use super::print::{self, Paint};
use crate::gates::LeftOut;
use crate::page::{Note, PagePath};
use crate::write::{Applied, Preview, SetAnswer};

/// How long the words of changed lines may be compared; past that more is marked than need be.
const PATIENCE: Duration = Duration::from_millis(100);
/// Lines that have less in common than this are not one line that changed.
const LEAST_LIKENESS: f32 = 0.4;

/// A preview: what, where, and all that changes.
pub(super) fn preview(preview: &Preview) -> Vec<String> {
    let mut lines = vec![format!(
        "{} {} ({})",
        preview.operation,
        print::place(&preview.target.locale, &preview.target.path),
        preview.target.url
    )];
    lines.extend(note(preview.notes.note.as_ref()));
    lines.extend(fields(&preview.changes));
    lines.extend(diff(&preview.diff));
    lines.extend(warnings(&preview.notes.warnings));
    lines
}

/// What an operator says yes to.
pub(super) fn shown(shown: &Shown) -> Vec<String> {
    match shown {
        Shown::One(one) => preview(one),
        Shown::Set(set) => {
            let mut lines = vec![format!("{} changes:", set.changes.len())];
            lines.extend(note(set.notes.note.as_ref()));
            for change in &set.changes {
                let place = print::place(&change.target.locale, &change.target.path);
                lines.push(format!(
                    "{} {place} ({})",
                    change.operation, change.target.url
                ));
                lines.extend(fields(&change.values));
                lines.extend(diff(&change.diff));
                lines.extend(warnings(&change.warnings));
            }
            lines.extend(left_out(&set.left_out));
            lines.extend(warnings(&set.notes.warnings));
            lines
        }
    }
}

/// What was done, in a line for each change.
pub(super) fn done(word: &str, done: &Done) {
    match done {
        Done::One(one) => applied(word, one),
        Done::Set(set) => set_done(word, set),
    }
}

/// The same for a program.
pub(super) fn done_json(done: &Done) -> Value {
    match done {
        Done::One(one) => applied_json(one),
        Done::Set(set) => set_json(set),
    }
}

/// A set that was done, in a line for each change.
fn set_done(word: &str, set: &SetAnswer) {
    for member in &set.members {
        let place = print::place(&member.target.locale, &member.target.path);
        print::line(&format!(
            "{}: {} {place}, call {}",
            member.word(),
            member.operation,
            member.call
        ));
    }
    print::line(&format!(
        "{word}: {} changes, set {}",
        set.members.len(),
        set.call
    ));
    print::lines(&left_out(&set.left_out));
    print::lines(&warnings(&set.notes.warnings));
}

/// The pages that were meant and that a set does not change, each with its reason.
fn left_out(pages: &[LeftOut]) -> Vec<String> {
    let line = |page: &LeftOut| {
        let path = page.path.as_ref().map_or("page", PagePath::as_str);
        // A page that was to be created has no id.
        let id = (page.id > 0).then(|| format!(" (id {})", page.id));
        let told = format!("{path}{}: {}", id.unwrap_or_default(), page.why);
        format!(
            "{} {}",
            print::painted("left out:", Paint::Yellow),
            print::harmless(&told)
        )
    };
    pages.iter().map(line).collect()
}

/// The same for a program.
fn set_json(set: &SetAnswer) -> Value {
    let changes = set.members.iter().map(|member| {
        json!({
            "outcome": member.word(),
            "operation": member.operation.as_str(),
            "target": member.target,
            "callId": member.call.to_string(),
        })
    });
    json!({
        "outcome": set.outcome.as_str(),
        "changes": changes.collect::<Vec<_>>(),
        "leftOut": set.left_out.iter().map(left_out_json).collect::<Vec<_>>(),
        "warnings": set.notes.warnings,
        "callId": set.call.to_string(),
    })
}

fn left_out_json(page: &LeftOut) -> Value {
    json!({ "id": page.id, "path": page.path.as_ref().map(PagePath::as_str), "why": page.why })
}

/// A write that was done, in a line.
fn applied(word: &str, applied: &Applied) {
    let id = applied
        .target
        .id
        .map_or_else(String::new, |id| format!(" (id {id})"));
    print::line(&format!(
        "{word}: {} {}{id}, call {}",
        applied.operation,
        print::place(&applied.target.locale, &applied.target.path),
        applied.call
    ));
    print::lines(&warnings(&applied.notes.warnings));
}

/// The same for a program.
fn applied_json(applied: &Applied) -> Value {
    json!({
        "outcome": if applied.is_unchanged { "unchanged" } else { "applied" },
        "operation": applied.operation.as_str(),
        "target": applied.target,
        "warnings": applied.notes.warnings,
        "callId": applied.call.to_string(),
    })
}

/// Why a write is wanted, in the words of whoever asked for it.
pub(super) fn note(note: Option<&Note>) -> Option<String> {
    note.map(|note| format!("  {}", print::harmless(&note.to_string())))
}

/// The fields that change, but content: values, or a difference.
pub(super) fn fields(changes: &Map<String, Value>) -> Vec<String> {
    let mut lines = Vec::new();
    for (field, values) in changes {
        if let Some(text) = values.get("diff").and_then(Value::as_str) {
            let count = |name| values.get(name).and_then(Value::as_u64).unwrap_or_default();
            lines.push(format!(
                "  {field}: lines +{} -{}",
                count("linesAdded"),
                count("linesRemoved")
            ));
            lines.extend(diff(text));
            continue;
        }
        let value = |name| {
            values
                .get(name)
                .map_or_else(|| "nothing".to_owned(), ToString::to_string)
        };
        lines.push(format!(
            "  {field}: {} -> {}",
            print::harmless(&value("before")),
            print::harmless(&value("after"))
        ));
    }
    lines
}

/// A unified difference; on a terminal in colour, with the words marked that differ within
/// changed lines.
pub(super) fn diff(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split_terminator('\n').collect();
    let mut rest = lines.as_slice();
    let mut shown = Vec::new();
    while let Some(first) = rest.first() {
        let (old, tail) = run(rest, '-');
        let (new, tail) = run(tail, '+');
        if old.is_empty() && new.is_empty() {
            shown.push(diff_line(first));
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        rest = tail;
        if !print::has_colour() || old.is_empty() || new.is_empty() {
            shown.extend(old.iter().chain(new).copied().map(diff_line));
            continue;
        }
        for (tag, words) in marked(old, new) {
            let (sign, plain, strong) = match tag {
                ChangeTag::Insert => ('+', Paint::Green, Paint::GreenWord),
                ChangeTag::Delete | ChangeTag::Equal => ('-', Paint::Red, Paint::RedWord),
            };
            let words = words.iter().map(|(is_marked, word)| {
                let paint = if *is_marked { strong } else { plain };
                print::painted(&print::harmless(word), paint)
            });
            let line: String = words.collect();
            shown.push(format!(
                "  {}{line}",
                print::painted(&sign.to_string(), plain)
            ));
        }
    }
    shown
}

/// One line of a difference, in colour on a terminal. What could steer the terminal is shown
/// escaped.
fn diff_line(text: &str) -> String {
    let text = print::harmless(text);
    let paint = match text.chars().next() {
        Some('+') => Paint::Green,
        Some('-') => Paint::Red,
        _ => Paint::Dim,
    };
    format!("  {}", print::painted(&text, paint))
}

/// Warnings.
pub(super) fn warnings(warnings: &[impl ToString]) -> Vec<String> {
    let line = |warning: &_| {
        format!(
            "{} {}",
            print::painted("warning:", Paint::Yellow),
            print::harmless(&ToString::to_string(warning))
        )
    };
    warnings.iter().map(line).collect()
}

/// The first lines with this sign, and what comes after them.
fn run<'a, 'b>(lines: &'a [&'b str], sign: char) -> (&'a [&'b str], &'a [&'b str]) {
    let is_other = |line: &&str| !line.starts_with(sign);
    lines.split_at(lines.iter().position(is_other).unwrap_or(lines.len()))
}

/// A line's words, and whether each is marked.
type Words<'a> = Vec<(bool, &'a str)>;

/// Lines that go and lines that come in their place, without their signs, with the words that
/// are in one of the two only.
fn marked<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(ChangeTag, Words<'a>)> {
    let bare = |line: &&'a str| line.get(1..).unwrap_or_default();
    let words = |lines: &[&'a str]| -> Vec<&'a str> {
        lines.iter().flat_map(|line| split(bare(line))).collect()
    };
    let (old_words, new_words) = (words(old), words(new));
    let diff = TextDiff::configure()
        .deadline(Instant::now() + PATIENCE)
        .diff_slices(&old_words, &new_words);
    let is_like = diff.ratio() >= LEAST_LIKENESS;
    let side = |tag: ChangeTag, lines: &[&'a str]| -> Vec<(ChangeTag, Words<'a>)> {
        let mut changes = diff
            .iter_all_changes()
            .filter(|change| matches!(change.tag(), ChangeTag::Equal) || change.tag() == tag)
            .map(|change| is_like && change.tag() == tag);
        lines
            .iter()
            .map(|line| {
                let words = split(bare(line)).map(|word| (changes.next().unwrap_or(false), word));
                (tag, words.collect())
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
    use similar::ChangeTag;

    use super::marked;

    fn told(old: &[&str], new: &[&str]) -> Vec<String> {
        marked(old, new)
            .into_iter()
            .map(|(tag, words)| {
                let words = words.into_iter().map(|(is_marked, word)| {
                    if is_marked {
                        format!("[{word}]")
                    } else {
                        word.to_owned()
                    }
                });
                let sign = if tag == ChangeTag::Insert { '+' } else { '-' };
                format!("{sign}{}", words.collect::<String>())
            })
            .collect()
    }

    #[test]
    fn only_the_words_that_differ_are_marked_in_a_changed_line() {
        assert_eq!(
            told(&["-the old größe, 1.5"], &["+the new größe, 1.6!"]),
            ["-the [old] größe, 1.[5]", "+the [new] größe, 1.[6][!]"]
        );
        assert_eq!(
            told(&["-one two", "-three"], &["+one 2", "+three", "+four"]),
            ["-one [two]", "-three", "+one [2]", "+three", "+[four]"]
        );
    }

    #[test]
    fn lines_with_little_in_common_have_no_marks() {
        assert_eq!(told(&["-abc"], &["+xyz"]), ["-abc", "+xyz"]);
        assert_eq!(told(&["-"], &["+new"]), ["-", "+new"]);
    }
}
