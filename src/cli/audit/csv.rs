//! The calls as a table for spreadsheets (RFC 4180).
//!
//! A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, and clients and
//! pages choose their own names. Such a cell is prefixed with an apostrophe.

use std::fmt::Write as _;

use crate::audit::{Actor, Client, Record};
use crate::change::Operation;
use crate::cli::print;
use crate::page::Field;
use crate::view::CallView;

/// The default number of calls in a table.
pub(super) const USUAL_LIMIT: u16 = 10_000;

/// Characters that a spreadsheet may read as the start of a formula; some read the wide forms, too.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// A column: its name, what it means, and its cell in a row.
type Column = (&'static str, &'static str, fn(&CallView<'_>) -> String);

/// The columns but for the members that every door shows as they are, which come last.
const COLUMNS: [Column; 30] = [
    ("time", "When the call began: RFC 3339, UTC.", |row| {
        row.time.to_owned()
    }),
    ("call", "The id of the call.", |row| row.call.to_string()),
    (
        "outcome",
        "How the call ended, in the words above.",
        |row| row.outcome.to_owned(),
    ),
    (
        "undone_by",
        "The call that took it back, if one did.",
        |row| text(row.undone_by),
    ),
    (
        "client",
        "The client's own name; empty where an operator ran a command.",
        |row| client(row, |client| client.name.clone()),
    ),
    ("client_version", "The client's own version.", |row| {
        client(row, |client| client.version.clone())
    }),
    (
        "subject",
        "The identity that the client was authenticated as.",
        |row| client(row, |client| text(client.subject.as_ref())),
    ),
    (
        "client_id",
        "The id of that client, which outlives its name and token.",
        |row| client(row, |client| text(client.id)),
    ),
    ("address", "From where the client called.", |row| {
        client(row, |client| text(client.address.as_ref()))
    }),
    (
        "actor",
        "The user of the machine, where an operator ran a command.",
        |row| text(row.actor.map(Actor::as_str)),
    ),
    (
        "proposer",
        "The client that had made the proposal, where somebody else decided on it.",
        |row| text(row.proposer.map(Client::shown)),
    ),
    ("tool", "The tool or command.", |row| text(row.tool)),
    (
        "operation",
        "`create`, `update`, `move` or `delete`.",
        |row| text(row.operation.map(Operation::as_str)),
    ),
    ("page_id", "The id of the page.", |row| text(row.id)),
    ("locale", "The locale of the page.", |row| text(row.locale)),
    ("path", "The path of the page before the call.", |row| {
        text(row.path)
    }),
    (
        "new_path",
        "The path that the page was to get, where it moves.",
        |row| text(row.new_path),
    ),
    ("gate", "The gate that decided last.", |row| text(row.gate)),
    ("decision", "What that gate decided.", |row| {
        text(row.decision)
    }),
    ("code", "The error code of the answer.", |row| {
        text(row.code)
    }),
    ("reason", "Why, in words.", |row| text(row.reason)),
    (
        "fields",
        "The fields that change, with spaces between them.",
        |row| words(row.fields.iter().map(|field| Field::name(*field))),
    ),
    ("lines_added", "The new lines of content.", |row| {
        row.lines_added.to_string()
    }),
    ("lines_removed", "The lines of content that go.", |row| {
        row.lines_removed.to_string()
    }),
    (
        "undoes",
        "The calls that it takes back, with spaces between them.",
        |row| words(row.undoes.iter().chain(row.also_undoes)),
    ),
    (
        "set",
        "The set of several changes that it is one of.",
        |row| text(row.set),
    ),
    (
        "proposal",
        "The proposal that it made or decided on.",
        |row| text(row.proposal),
    ),
    (
        "confirms",
        "The approval that it spent: the call of a preview or of a person's yes, or a proposal.",
        |row| text(row.confirms),
    ),
    (
        "note",
        "Why it was asked for, in the caller's words.",
        |row| text(row.note),
    ),
    ("ms", "How long it took, in milliseconds.", |row| {
        row.ms.to_string()
    }),
];

/// The columns with what they mean, as Markdown.
pub(in crate::cli) fn columns() -> String {
    let mut table = String::from("| column | what it says |\n|---|---|\n");
    let own = COLUMNS.map(|(name, meaning, _)| (name, meaning));
    let shown = Record::SHOWN
        .iter()
        .map(|member| (member.name, member.meaning));
    for (name, meaning) in own.into_iter().chain(shown) {
        // Writing to a string does not fail.
        let _ = writeln!(table, "| `{name}` | {meaning} |");
    }
    table
}

/// The first line, without its end.
pub(super) fn head() -> String {
    let shown = Record::SHOWN.iter().map(|member| member.name);
    let names: Vec<&str> = COLUMNS
        .map(|(name, ..)| name)
        .into_iter()
        .chain(shown)
        .collect();
    names.join(",")
}

/// The line of a call, without its end.
pub(super) fn line(row: &CallView<'_>) -> String {
    let own = COLUMNS.map(|(_, _, value)| cell(&value(row)));
    let shown = Record::SHOWN.iter().map(|member| cell(row.shown(member)));
    let cells: Vec<String> = own.into_iter().chain(shown).collect();
    cells.join(",")
}

fn text(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn words(all: impl Iterator<Item = impl ToString>) -> String {
    let all: Vec<String> = all.map(|word| word.to_string()).collect();
    all.join(" ")
}

fn client(row: &CallView<'_>, value: impl FnOnce(&Client) -> String) -> String {
    // If a user of the machine acted, the client is this program.
    let client = row.client.filter(|_| row.actor.is_none());
    client.map_or_else(String::new, value)
}

/// A cell: harmless on a terminal, no formula, quoted where it must be.
fn cell(text: &str) -> String {
    let shown = print::harmless(text);
    let prefix = if shown.trim_start().starts_with(FORMULA) {
        "'"
    } else {
        ""
    };
    if shown.contains([',', '"', '\t']) || shown.starts_with(' ') || shown.ends_with(' ') {
        format!("\"{prefix}{}\"", shown.replace('"', "\"\""))
    } else {
        format!("{prefix}{shown}")
    }
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn a_cell_is_quoted_where_its_text_would_break_the_row() {
        assert_eq!(cell("plain text"), "plain text");
        assert_eq!(cell(""), "");
        assert_eq!(cell("a,b"), "\"a,b\"");
        assert_eq!(cell("say \"x\""), "\"say \"\"x\"\"\"");
        // A line end is shown, so that each line is one call.
        assert_eq!(cell("a\r\nb"), "a\\u{d}\\u{a}b");
    }

    #[test]
    fn no_cell_begins_a_formula() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "＝1"] {
            let bare = cell(text);
            let bare = bare.trim_start_matches('"');
            assert!(bare.starts_with('\''), "{text:?}: {bare}");
        }
        assert_eq!(
            cell("=HYPERLINK(\"http://x\",\"y\")"),
            "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""
        );
        assert_eq!(cell("a=b"), "a=b");
    }
}
