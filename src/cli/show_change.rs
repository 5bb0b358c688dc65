//! A change for a person: its fields before and after, and the difference of its text.
//!
//! Text from the wiki is escaped: it must not steer the terminal.

use serde_json::Map;

use super::pager;
use crate::cli::prelude::*;
use crate::gates::{LeftOut, LinkLeft};
use crate::page::{Note, PagePath, marked_lines};
use crate::view::ChangeView;
use crate::write::{Applied, AppliedWrite, Preview, SetAnswer};

/// A line that begins with a word in yellow.
pub(super) fn marked(word: &str, text: &str) -> String {
    let word = print::painted(word, Paint::Yellow);
    format!("{word} {}", print::harmless(text))
}

/// The preview that an operator is asked to confirm: what, where, and all that changes.
pub(super) fn shown(preview: &Preview) -> Vec<String> {
    let mut note = note(preview.notes.note.as_ref());
    let mut lines = Vec::new();
    if preview.is_list {
        lines.push(print::counted(preview.changes.len(), "change:", "changes:"));
        lines.extend(note.take());
    }
    for change in &preview.changes {
        lines.push(head(change));
        lines.extend(note.take());
        lines.extend(effect(change));
        lines.extend(warnings(&change.warnings));
    }
    lines.extend(left_out(&preview.left_out));
    lines.extend(links_left(&preview.links_left));
    lines.extend(warnings(&preview.notes.warnings));
    lines
}

/// The operation of a change, with its place and the page's address.
pub(super) fn head(change: &ChangeView) -> String {
    let target = &change.target;
    let place = print::place(&target.locale, &target.path);
    format!("{} {place} ({})", change.operation, target.url)
}

/// The fields of a change before and after, and the difference of its text.
pub(super) fn effect(change: &ChangeView) -> Vec<String> {
    let mut lines = fields(&change.values);
    lines.extend(diff(&change.diff));
    lines
}

/// True if a person agrees to what is shown, or said so before (`yes`); then it is printed, but for
/// programs.
pub(super) fn agrees(preview: &Preview, question: &str, said: (bool, bool)) -> bool {
    agrees_to(&shown(preview), question, said)
}

/// The same of what is shown in these lines.
pub(super) fn agrees_to(lines: &[String], question: &str, (yes, is_json): (bool, bool)) -> bool {
    if !yes {
        return pager::agrees(lines, question);
    }
    if !is_json {
        print::lines(lines);
    }
    true
}

/// Prints what was applied, in a line for each change.
pub(super) fn done(word: &str, done: &AppliedWrite) {
    match done {
        AppliedWrite::One(one) => applied(word, one),
        AppliedWrite::Set(set) => set_done(word, set),
    }
}

/// The same for a program.
pub(super) fn done_json(done: &AppliedWrite) -> Value {
    without_nulls(match done {
        AppliedWrite::One(one) => applied_json(one),
        AppliedWrite::Set(set) => set_json(set),
    })
}

/// A set that was done, in a line for each change.
fn set_done(word: &str, set: &SetAnswer) {
    for member in &set.members {
        let place = print::place(&member.target.locale, &member.target.path);
        say!(
            "{}: {} {place}, call {}",
            member.word(),
            member.operation,
            member.call
        );
        if let Some(why) = &member.not_taken_back {
            print::line(&print::harmless(&format!(
                "  not taken back: {}",
                why.message
            )));
        }
    }
    say!(
        "{word}: {}, set {}",
        print::counted(set.members.len(), "change", "changes"),
        set.call
    );
    print::lines(&left_out(&set.left_out));
    print::lines(&links_left(&set.links_left));
    print::lines(&warnings(&set.notes.warnings));
}

/// The pages that were meant and that a set does not change, each with its reason.
pub(super) fn left_out(pages: &[LeftOut]) -> Vec<String> {
    let line = |page: &LeftOut| {
        let path = page.path.as_ref().map_or("page", PagePath::as_str);
        let id = page.id.map(|id| format!(" (id {id})"));
        let told = format!("{path}{}: {}", id.unwrap_or_default(), page.why);
        marked("left out:", &told)
    };
    pages.iter().map(line).collect()
}

/// The links that will lead nowhere, each with its page and the reason.
fn links_left(links: &[LinkLeft]) -> Vec<String> {
    let line = |left: &LinkLeft| {
        let (locale, path) = &left.place;
        let link = match &left.link {
            Some((address, line)) => format!(", line {line}: {address}"),
            None => String::new(),
        };
        let told = format!("{locale}:{path}{link}: {}", left.why);
        marked("link left:", &told)
    };
    links.iter().map(line).collect()
}

/// The pages of a set that cannot be taken back, or that are left out of one of which nothing remains, each
/// with its reason; of a set that was made in part, what came of each change.
pub(super) fn not_changed(failure: &Failure) -> Vec<String> {
    let lines = |(name, word): (&'static str, &'static str)| {
        let pages = failure.details.get(name).and_then(Value::as_array);
        let line = move |one: &Value| {
            let text = |name| one.get(name).and_then(Value::as_str).unwrap_or("page");
            let rights = one.get("rights").and_then(Value::as_array);
            let rights = rights.map(|all| separated(all.iter().filter_map(Value::as_str), ", "));
            let why = rights.as_deref().unwrap_or(text("message"));
            marked(word, &format!("{}: {why}", text("path")))
        };
        pages.into_iter().flatten().map(line)
    };
    let kinds = [
        ("failed", "not taken back:"),
        ("leftOut", "left out:"),
        ("lacking", "lacks rights:"),
    ];
    let told = kinds.into_iter().flat_map(lines);
    told.chain(set_in_part(failure)).collect()
}

/// The changes of a set that was not applied in full, each with what came of it.
fn set_in_part(failure: &Failure) -> impl Iterator<Item = String> {
    let changes = failure.details.get("changes").and_then(Value::as_array);
    changes.into_iter().flatten().filter_map(|one| {
        let text = |name| one.get(name).and_then(Value::as_str);
        let outcome = text("outcome")?.replace('_', " ");
        let stands = text("standsAt").map(|path| format!(", it stands at {path}"));
        let why = text("why").map(|why| format!(": {why}"));
        let told =
            text("path")?.to_owned() + &stands.unwrap_or_default() + &why.unwrap_or_default();
        Some(marked(&format!("{outcome}:"), &told))
    })
}

/// The same for a program.
fn set_json(set: &SetAnswer) -> Value {
    let changes = set.members.iter().map(|member| {
        json!({
            "outcome": member.word(),
            "operation": member.operation.as_str(),
            "target": member.target,
            "callId": member.call.to_string(),
            "notTakenBack": member.not_taken_back,
        })
    });
    json!({
        "outcome": set.outcome.as_str(),
        "changes": changes.collect::<Vec<_>>(),
        "leftOut": set.left_out,
        "linksLeft": set.links_left.iter().map(link_left_json).collect::<Vec<_>>(),
        "warnings": set.notes.warnings,
        "callId": set.call.to_string(),
    })
}

fn link_left_json(left: &LinkLeft) -> Value {
    let link = left.link.as_ref();
    json!({
        "id": left.id,
        "locale": left.place.0.as_str(),
        "path": left.place.1.as_str(),
        "link": link.map(|(address, _)| address),
        "line": link.map(|(_, line)| line),
        "why": left.why,
    })
}

/// A write that was done, in a line.
fn applied(word: &str, applied: &Applied) {
    let change = &applied.change;
    let id = { change.target.id }.map_or_else(String::new, |id| format!(" (id {id})"));
    say!(
        "{word}: {} {}{id}, call {}",
        change.operation,
        print::place(&change.target.locale, &change.target.path),
        applied.call
    );
    print::lines(&warnings(&applied.notes.warnings));
}

/// The same for a program.
fn applied_json(applied: &Applied) -> Value {
    json!({
        "outcome": applied.change.outcome,
        "operation": applied.change.operation,
        "target": applied.change.target,
        "warnings": applied.notes.warnings,
        "callId": applied.call.to_string(),
    })
}

/// The reason for a write, in the words of the operator or agent that asked for it.
fn note(note: Option<&Note>) -> Option<String> {
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
        for line in marked_lines(&bare(old), &bare(new)) {
            let (sign, plain, strong) = if line.is_added {
                ('+', Paint::Green, Paint::GreenWord)
            } else {
                ('-', Paint::Red, Paint::RedWord)
            };
            let words = line.words.iter().map(|(is_marked, word)| {
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
    let told = warnings.iter().map(ToString::to_string);
    told.map(|told| marked("warning:", &told)).collect()
}

/// Lines of a difference without their signs.
fn bare<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let bare = |line: &&'a str| line.get(1..).unwrap_or_default();
    lines.iter().map(bare).collect()
}

/// The first lines with this sign, and what comes after them.
fn run<'a, 'b>(lines: &'a [&'b str], sign: char) -> (&'a [&'b str], &'a [&'b str]) {
    let is_other = |line: &&str| !line.starts_with(sign);
    lines.split_at(lines.iter().position(is_other).unwrap_or(lines.len()))
}
