//! The calls as a table for spreadsheets (RFC 4180).
//!
//! A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, and clients and
//! pages choose their own names. Such a cell is prefixed with an apostrophe.

use std::fmt::Write as _;

use crate::audit::Record;
use crate::cli::prelude::*;
use crate::view::CallView;

/// The default number of calls in a table.
pub(super) const USUAL_LIMIT: u16 = 10_000;

/// Characters that a spreadsheet may read as the start of a formula; some read the wide forms, too.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// The columns but for the members that every door shows as they are, which come last: of each its
/// name, where a call's JSON has its cell, and what it means.
const COLUMNS: &str = "\
time /time When the call began: RFC 3339, UTC.
call /call The id of the call.
outcome /outcome How the call ended, in the words above.
undone_by /undoneBy The call that took it back, if one did.
client /client/name The client's own name; empty where an operator ran a command.
client_version /client/version The client's own version.
subject /client/subject The identity that the client was authenticated as.
client_id /client/id The id of that client, which outlives its name and token.
address /client/address From where the client called.
actor /actor The user of the machine, where an operator ran a command.
proposer /proposer The client that had made the proposal, where somebody else decided on it.
tool /tool The tool or command.
operation /operation The kind of write, such as `create`, `move` or `upload-asset`.
page_id /id The id of the page.
locale /locale The locale of the page.
path /path The path of the page before the call.
new_path /newPath The path that the page was to get, where it moves.
gate /gate The gate that decided last.
decision /decision What that gate decided.
code /code The error code of the answer.
reason /reason Why, in words.
fields /fields The fields that change, with spaces between them.
lines_added /linesAdded The new lines of content.
lines_removed /linesRemoved The lines of content that go.
undoes /undoes The calls that it takes back, with spaces between them.
set /set The set of several changes that it is one of.
proposal /proposal The proposal that it made or decided on.
confirms /confirms The approval that it spent: the call of a preview or of a person's yes, or a proposal.
note /note Why it was asked for, in the caller's words.
ms /ms How long it took, in milliseconds.";

fn own_columns() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    COLUMNS.lines().filter_map(|line| {
        let (name, rest) = line.split_once(' ')?;
        let (place, meaning) = rest.split_once(' ')?;
        Some((name, place, meaning))
    })
}

/// The columns with what they mean, as Markdown.
pub(in crate::cli) fn columns() -> String {
    let mut table = String::from("| column | what it says |\n|---|---|\n");
    let own = own_columns().map(|(name, _, meaning)| (name, meaning));
    let shown = Record::SHOWN
        .iter()
        .map(|member| (member.name, member.meaning));
    for (name, meaning) in own.chain(shown) {
        // Writing to a string does not fail.
        let _ = writeln!(table, "| `{name}` | {meaning} |");
    }
    table
}

/// The first line, without its end.
pub(super) fn head() -> String {
    let shown = Record::SHOWN.iter().map(|member| member.name);
    let own = own_columns().map(|(name, ..)| name);
    separated(own.chain(shown), ",")
}

/// The line of a call, without its end.
pub(super) fn line(row: &CallView<'_>) -> String {
    let call = json!(row);
    let own = own_columns().map(|(_, place, _)| {
        // If a user of the machine acted, the client is this program.
        let is_told = row.actor.is_none() || !place.starts_with("/client");
        let value = call.pointer(place).filter(|_| is_told);
        let also = { row.also_undoes.iter() }.filter(|_| place == "/undoes");
        let words = value.map(text).into_iter();
        let words = words.chain(also.map(ToString::to_string));
        cell(&separated(words.filter(|word| !word.is_empty()), " "))
    });
    let shown = Record::SHOWN.iter().map(|member| cell(row.shown(member)));
    separated(own.chain(shown), ",")
}

/// A value in words; of a client its name to show.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(all) => separated(all.iter().map(text), " "),
        Value::Object(client) => {
            let name = client.get("subject").or_else(|| client.get("name"));
            name.map(text).unwrap_or_default()
        }
        other => other.to_string(),
    }
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
