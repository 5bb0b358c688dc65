//! Shows a page to people: what it is, a line each, then its text.

use crate::cli::prelude::*;

/// The members that are texts of lines of their own; a page is asked for one of them.
const TEXTS: [&str; 3] = ["content", "rendered", "text"];

/// True if a page has more than fits into a line of a list.
pub(super) fn has_more(page: &Value) -> bool {
    let names = ["outline", "part", "error"];
    let mut names = TEXTS.iter().chain(&names);
    names.any(|name| page.get(*name).is_some())
}

/// Prints a page, or why it was refused.
pub(super) fn print(page: &Value) {
    for (name, value) in page.as_object().into_iter().flatten() {
        if TEXTS.contains(&name.as_str()) || name == "outline" {
            continue;
        }
        let name = print::painted(&format!("{name}:"), Paint::Dim);
        say!("{name} {}", text(value));
    }
    for line in headings(page).into_iter().chain(others(page)) {
        print::line(&line);
    }
    for told in TEXTS.iter().filter_map(|name| page.get(*name)?.as_str()) {
        print::line("");
        print::harmless_lines(told.lines());
    }
}

/// The parts of an outline besides its headings: blocks, images and links, and how many are left
/// out.
fn others(page: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let outline = page.get("outline").and_then(Value::as_object);
    for (name, value) in outline.into_iter().flatten() {
        if name == "headings" {
            continue;
        }
        let name = print::painted(&format!("{name}:"), Paint::Dim);
        match value.as_array() {
            Some(items) => {
                lines.push(name);
                lines.extend(items.iter().map(|item| format!("  {}", text(item))));
            }
            None => lines.push(format!("{name} {}", text(value))),
        }
    }
    lines
}

/// The outline, each heading below its own: a line says its level in its selector, `h2[3] …`.
fn headings(page: &Value) -> Vec<String> {
    let headings = page.pointer("/outline/headings").and_then(Value::as_array);
    let one = |heading: &Value| {
        let line = text(heading);
        let level = line.as_bytes().get(1).copied().filter(u8::is_ascii_digit);
        let indent = "  ".repeat(level.map_or(1, |level| usize::from(level - b'0')));
        format!("{indent}{line}")
    };
    headings.into_iter().flatten().map(one).collect()
}

/// A value in one line: text as it is, lists with commas, all else as JSON.
pub(super) fn text(value: &Value) -> String {
    let shown = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(|item| !item.is_object()) => {
            items.iter().map(text).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    print::harmless(&shown.replace('\n', " "))
}
