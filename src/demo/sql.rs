//! The limits of the database behind the wiki, and the texts of its refusals.
//!
//! The texts hold the whole statement with every value in it, as the real ones
//! do: nobody but an operator may ever see one (W5, W17).

use crate::demo::Fault;

/// Locales that the wiki knows.
pub(super) const LOCALES: &[&str] = &["en", "de"];

/// Editors that the wiki knows, each with the type of content that it writes.
const EDITORS: &[(&str, &str)] = &[
    ("markdown", "markdown"),
    ("asciidoc", "asciidoc"),
    ("ckeditor", "html"),
    ("code", "html"),
    ("wysiwyg", "html"),
    ("api", "yml"),
    ("redirect", "redirect"),
];

/// The longest text of a short column, in characters.
const SHORT: usize = 255;

/// The type of content that `editor` writes, if there is such an editor.
pub(super) fn content_type(editor: &str) -> Option<&'static str> {
    EDITORS
        .iter()
        .find(|(key, _)| *key == editor)
        .map(|(_, content_type)| *content_type)
}

/// The columns of any length; others hold no more than [`SHORT`] characters.
const LONG: [&str; 3] = ["content", "scriptCss", "scriptJs"];

/// One column of a row that is about to be written: its name in the table and its new value.
pub(super) type Column<'a> = (&'a str, &'a str);

/// Checks that the database takes these columns.
pub(super) fn check(table: &str, columns: &[Column<'_>]) -> Result<(), Fault> {
    for (name, value) in columns {
        if value.contains('\0') {
            let reason = "invalid byte sequence for encoding \"UTF8\": 0x00";
            return Err(fault("DataError", table, columns, reason));
        }
        if !LONG.contains(name) && value.chars().count() > SHORT {
            let reason = format!("value too long for type character varying({SHORT})");
            return Err(fault("DataError", table, columns, &reason));
        }
    }
    Ok(())
}

/// Checks that the wiki knows `locale`.
pub(super) fn check_locale(table: &str, columns: &[Column<'_>], locale: &str) -> Result<(), Fault> {
    if LOCALES.contains(&locale) {
        return Ok(());
    }
    Err(foreign_key(table, columns, "localecode"))
}

/// Checks that the wiki knows `editor`.
pub(super) fn check_editor(table: &str, columns: &[Column<'_>], editor: &str) -> Result<(), Fault> {
    if content_type(editor).is_some() {
        return Ok(());
    }
    Err(foreign_key(table, columns, "editorkey"))
}

/// The refusal of a row that refers to nothing.
pub(super) fn foreign_key(table: &str, columns: &[Column<'_>], key: &str) -> Fault {
    let reason = format!(
        "insert or update on table \"{table}\" violates foreign key constraint \"{table}_{key}_foreign\""
    );
    fault("ForeignKeyViolationError", table, columns, &reason)
}

fn fault(slug: &'static str, table: &str, columns: &[Column<'_>], reason: &str) -> Fault {
    let names: Vec<String> = columns.iter().map(|c| format!("\"{}\"", c.0)).collect();
    let values: Vec<String> = columns.iter().map(|c| format!("'{}'", c.1)).collect();
    let message = format!(
        "insert into \"{table}\" ({}) values ({}) returning \"id\" - {reason}",
        names.join(", "),
        values.join(", ")
    );
    Fault::Internal { slug, message }
}
