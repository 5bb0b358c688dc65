//! A tool's answer for people, by its shape. All text of the wiki is shown harmless.

use serde_json::Map;

use super::page::{self, text};
use crate::change::Warning;
use crate::cli::prelude::*;
use crate::cli::show_change;

/// The text for an empty list.
const NOTHING: &str = "nothing was found";

/// Prints an answer.
pub(super) fn print(answer: &Value) {
    let list = |name: &str| answer.get(name).and_then(Value::as_array);
    if answer.get("target").is_some() {
        print::lines(&write(answer));
    } else if let Some(nodes) = list("nodes") {
        tree(nodes);
    } else if let Some(hits) = list("hits") {
        hits_found(hits);
    } else if let Some(tags) = list("tags").filter(|tags| tags.iter().all(Value::is_object)) {
        columns(tags, &["pages", "tag"]);
    } else if let Some(entries) = list("entries") {
        columns(
            entries,
            &[
                "versionId",
                "versionDate",
                "action",
                "authorName",
                "changed",
            ],
        );
    } else if let Some(comparison) = answer.get("comparison") {
        compared(comparison);
    } else if let Some(pages) = list("pages") {
        if pages.iter().any(page::has_more) {
            for page in pages {
                page::print(page);
            }
        } else if pages.iter().any(|page| page.get(BROKEN).is_some()) {
            broken_links(pages);
        } else {
            let wanted = ["id", "locale", "path", "title", "updatedAt", "lastAuthor"];
            columns(pages, &wanted);
        }
    } else {
        page::print(answer);
    }
    remarks(answer);
    for (name, one, many) in [
        ("notShown", "more is not shown", "more are not shown"),
        (
            "hitsLeft",
            "more page has lines that match",
            "more pages have lines that match",
        ),
        (
            "otherLocales",
            "more is in another locale",
            "more are in other locales",
        ),
    ] {
        if let Some(count) = answer.get(name).and_then(Value::as_u64) {
            print::note(&print::counted(count, one, many));
        }
    }
    if let Some(cursor) = answer.get("nextCursor") {
        remark!("{} is the cursor of the next part", text(cursor));
    }
}

/// A failure's details besides its sentence, for a person.
pub(super) fn details(failure: &Failure, is_json: bool) {
    if is_json {
        return;
    }
    for (name, value) in &failure.details {
        // The level, and what is left out, are told with the sentence below.
        if is_sole_fault(value) || matches!(name.as_str(), "level" | "setBy" | "leftOut") {
            continue;
        }
        if let (Some(diff), "diff") = (value.as_str(), name.as_str()) {
            print::lines(&show_change::diff(diff));
        } else if let Some(items) = value
            .as_array()
            .filter(|items| items.iter().all(is_fault_or_page))
        {
            remark!("  {name}:");
            for item in items {
                remark!("    {}", fault_line(item));
            }
        } else {
            remark!("  {name}: {}", text(value));
        }
    }
}

/// True if a detail names the one faulty argument, which the failure's own sentence is about.
fn is_sole_fault(value: &Value) -> bool {
    let members = value.as_array().map(Vec::as_slice);
    matches!(members, Some([Value::Object(fault)]) if fault.len() == 1 && fault.contains_key("path"))
}

/// True if a detail is a fault of an argument, or a page.
fn is_fault_or_page(item: &Value) -> bool {
    let has = |name: &str| item.get(name).is_some();
    has("path") && (has("message") || has("locale"))
}

/// A fault of an argument, or a page, in a line.
fn fault_line(item: &Value) -> String {
    match item.get("message") {
        Some(message) => format!("{}: {}", member(item, "path"), text(message)),
        None => page_in_line(item),
    }
}

/// A page's title, place and id.
fn page_in_line(page: &Value) -> String {
    let title = print::painted(&member(page, "title"), Paint::Bold);
    format!("{title}  {}{}", place(page), id(page))
}

/// An id behind what it is of.
fn id(of: &Value) -> String {
    let id = of.get("id").map(|id| format!(" (id {id})"));
    id.unwrap_or_default()
}

fn place(page: &Value) -> String {
    format!("{}:{}", member(page, "locale"), member(page, "path"))
}

/// Rows of those members that any of them has.
fn columns(rows: &[Value], wanted: &[&'static str]) {
    if rows.is_empty() {
        print::line(NOTHING);
        return;
    }
    let is_there = |name: &&&'static str| rows.iter().any(|row| row.get(**name).is_some());
    let head: Vec<&'static str> = wanted.iter().filter(is_there).copied().collect();
    let mut table = Table::with(head.clone());
    for row in rows {
        table.row(head.iter().map(|name| member(row, name).into()).collect());
    }
    table.print();
}

fn hits_found(hits: &[Value]) {
    if hits.is_empty() {
        print::line(NOTHING);
    }
    for hit in hits {
        print::line(&page_in_line(hit));
        for name in ["description", "snippet"] {
            let told = member(hit, name);
            if !told.is_empty() {
                say!("  {}", print::painted(&told, Paint::Dim));
            }
        }
        let lines = hit.get("lines").and_then(Value::as_array);
        for line in lines.into_iter().flatten() {
            say!("  {}", text(line));
        }
        if let Some(left) = hit.get("linesLeft").and_then(Value::as_u64) {
            let left = print::counted(left, "more line", "more lines");
            say!("  … {left}");
        }
    }
}

/// The member of a page that holds its links that lead nowhere.
const BROKEN: &str = "brokenLinks";

/// Pages, each above its links that lead nowhere.
fn broken_links(pages: &[Value]) {
    for page in pages {
        print::line(&page_in_line(page));
        let links = page.get(BROKEN).and_then(Value::as_array);
        for link in links.into_iter().flatten() {
            let line = link
                .get("line")
                .map_or_else(String::new, |line| format!("line {}: ", text(line)));
            let written = member(link, "link");
            let written = match written.as_str() {
                "" => written,
                written => format!(" (written {written})"),
            };
            say!("  {line}{}{written}", member(link, "to"));
        }
        if let Some(left) = page.get("brokenLinksLeft") {
            say!("  … {} more", text(left));
        }
    }
}

/// An answer's remarks besides its list: what to do, what could not be read, what the index lacks.
fn remarks(answer: &Value) {
    let index = answer.get("index");
    let hints = [
        answer.get("hint"),
        index.and_then(|index| index.get("hint")),
    ];
    let notes = index.and_then(|index| index.get("notes"));
    let notes = notes.and_then(Value::as_array).into_iter().flatten();
    for told in hints.into_iter().flatten().chain(notes) {
        print::note(&text(told));
    }
    let unavailable = answer.get("unavailable").and_then(Value::as_object);
    for (name, why) in unavailable.into_iter().flatten() {
        remark!("{name} is not known: {}", text(why));
    }
}

/// The nodes of a tree, each below its parent.
fn tree(nodes: &[Value]) {
    let segments = |node: &Value| -> Vec<String> {
        member(node, "path").split('/').map(str::to_owned).collect()
    };
    let mut nodes: Vec<(Vec<String>, &Value)> =
        nodes.iter().map(|node| (segments(node), node)).collect();
    nodes.sort_by(|a, b| a.0.cmp(&b.0));
    let least = nodes.iter().map(|(segments, _)| segments.len()).min();
    let least = least.unwrap_or_default();
    for (segments, node) in nodes {
        let name = segments.last().map_or("", String::as_str);
        let is_folder = node.get("isFolder") == Some(&Value::Bool(true));
        let slash = if is_folder { "/" } else { "" };
        say!(
            "{}{}  {}{}",
            "  ".repeat(segments.len().saturating_sub(least)),
            print::painted(&format!("{name}{slash}"), Paint::Bold),
            member(node, "title"),
            id(node),
        );
    }
}

fn compared(comparison: &Value) {
    let state = |name: &str| {
        let state = comparison.get(name);
        let version = state.and_then(|state| state.get("versionId"));
        version.map_or_else(
            || "the page as it is".to_owned(),
            |id| format!("version {id}"),
        )
    };
    say!("{} -> {}", state("from"), state("to"));
    print::lines(&change(comparison));
}

/// A write or its preview, in lines.
pub(super) fn write(answer: &Value) -> Vec<String> {
    let target = answer.get("target").cloned().unwrap_or_default();
    let what = match answer.get("outcome") {
        Some(outcome) => text(outcome),
        None => "preview".to_owned(),
    };
    let id_name = match answer.get("callId") {
        Some(_) => "callId",
        None => "previewId",
    };
    let mut lines = vec![format!(
        "{}: {} {}{}, call {}",
        print::painted(&what, Paint::Bold),
        member(answer, "operation"),
        place(&target),
        id(&target),
        member(answer, id_name),
    )];
    if let Some(changed) = answer.get("changed") {
        lines.push(format!("  changed: {}", text(changed)));
    }
    for (name, told) in [
        ("undoes", "takes back the call"),
        ("replaces", "replaces the proposal"),
    ] {
        if let Some(value) = answer.get(name) {
            lines.push(format!("  {told} {}", text(value)));
        }
    }
    if answer.get("note").is_some() {
        lines.push(format!("  {}", member(answer, "note")));
    }
    lines.extend(change(answer));
    lines
}

/// Fields, difference and warnings.
fn change(of: &Value) -> Vec<String> {
    let none = Map::new();
    let changes = of.get("changes").and_then(Value::as_object);
    let mut lines = show_change::fields(changes.unwrap_or(&none));
    let diff = of.get("diff").and_then(Value::as_str);
    lines.extend(show_change::diff(diff.unwrap_or_default()));
    let warnings = of.get("warnings").and_then(Value::as_array);
    let warnings = warnings.into_iter().flatten().cloned();
    let warnings: Vec<Warning> = warnings
        .filter_map(|warning| serde_json::from_value(warning).ok())
        .collect();
    lines.extend(show_change::warnings(&warnings));
    lines
}

/// A member as text; empty if absent.
fn member(value: &Value, name: &str) -> String {
    value.get(name).map_or_else(String::new, text)
}
