//! docs/formats.md: what lies on the disk, written from the types that read and write it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use wikijs_gate::page::Field;

use crate::house::docs::generated;

/// The members of a type, as a table: their names in JSON, and what their comments say.
fn members(file: &str, name: &str) -> String {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let source = fs::read_to_string(sources.join(file)).unwrap();
    let (_, body) = source
        .split_once(&format!("pub struct {name} {{\n"))
        .unwrap();
    let (body, _) = body.split_once("\n}\n").unwrap();
    let (mut meaning, mut own, mut is_rare) = (String::new(), None, false);
    let mut table = String::from("| member | meaning |\n|---|---|\n");
    for line in body.lines().map(str::trim) {
        if let Some(said) = line.strip_prefix("/// ") {
            let _ = write!(
                meaning,
                "{}{said}",
                if meaning.is_empty() { "" } else { " " }
            );
        } else if line.starts_with("#[serde") {
            is_rare |= line.contains("skip_serializing_if");
            if let Some((_, renamed)) = line.split_once("rename = \"") {
                own = renamed.split('"').next().map(str::to_owned);
            }
        } else if let Some(member) = line
            .strip_prefix("pub ")
            .or(line.strip_prefix("pub(super) "))
        {
            let member = member.split(':').next().unwrap();
            let shown = own.take().unwrap_or_else(|| camel_case(member));
            let rare = if is_rare { " *May be absent.*" } else { "" };
            let _ = writeln!(table, "| `{shown}` | {}{rare} |", plain(&meaning));
            (meaning, is_rare) = (String::new(), false);
        } else if line.starts_with("v:") {
            table.push_str("| `v` | The version of the line. |\n");
        }
    }
    table
}

/// A comment without its links to other items.
fn plain(comment: &str) -> String {
    comment
        .replace("[`", "`")
        .replace("`]", "`")
        .replace('|', "\\|")
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap().to_owned();
    for word in words {
        let (first, rest) = word.split_at(1);
        camel += &first.to_uppercase();
        camel += rest;
    }
    camel
}

#[test]
fn the_page_on_formats_says_what_the_types_are() {
    for (marker, file, name) in [
        ("record", "audit/entry/record.rs", "Record"),
        ("head", "audit/run/heads.rs", "FileHead"),
        ("proposal", "audit/documents/proposal.rs", "Proposal"),
        ("draft", "audit/documents/draft.rs", "Draft"),
        ("draft-change", "audit/documents/draft.rs", "DraftChange"),
        (
            "approval",
            "gates/approvals/standing.rs",
            "StandingApproval",
        ),
        ("pause", "audit/documents/pause_file.rs", "PauseInfo"),
        ("memory-line", "memory/line.rs", "MemoryLine"),
        ("memory", "memory/entry.rs", "Memory"),
    ] {
        generated(
            "docs/formats.md",
            marker,
            &members(file, name),
            str::to_owned,
        );
    }
    let fields: Vec<String> = Field::ALL
        .iter()
        .map(|field| format!("`{}`", field.name()))
        .collect();
    let text = format!("{}\n", fields.join(", "));
    generated("docs/formats.md", "fields", &text, str::to_owned);
}
