//! Stores facts of an indexed page beside its words: its links and its properties.

use rusqlite::{Connection, params};

use crate::page::{
    LinkKind, PageLink, PageReading, Property, SourceFormat, anchors, links, properties,
};

/// The most links of a page that are kept.
const MAX_LINKS: usize = 5_000;
/// Longer targets that do not lead away are pictures in themselves.
const MAX_TARGET: usize = 1_000;

pub(super) const TABLES: &str = "
    CREATE TABLE source (id INTEGER PRIMARY KEY);
    CREATE TABLE link (id INTEGER NOT NULL, line INTEGER NOT NULL, target TEXT NOT NULL,
        carrier TEXT NOT NULL);
    CREATE INDEX link_of_page ON link (id);
    CREATE TABLE within (id INTEGER NOT NULL, line INTEGER NOT NULL, target TEXT NOT NULL,
        carrier TEXT NOT NULL);
    CREATE INDEX within_page ON within (id);
    CREATE TABLE anchor (id INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (id, name))
        WITHOUT ROWID;
    CREATE TABLE property (id INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL);
    CREATE INDEX property_of_page ON property (id);
";
const TABLE_NAMES: [&str; 5] = ["source", "link", "within", "anchor", "property"];

/// Stores the facts of a page, in place of the earlier ones.
pub(super) fn put(
    change: &Connection,
    id: i64,
    page: &PageReading,
    text: Option<&str>,
) -> rusqlite::Result<()> {
    remove(change, id)?;
    let format = SourceFormat::detect(page.content_type.as_deref(), page.editor.as_deref());
    // Text as readers see it has none of the source's links and properties.
    let Some(text) = text.filter(|_| format != SourceFormat::Other) else {
        return Ok(());
    };
    change.execute("INSERT INTO source VALUES (?1)", [id])?;
    let (links, properties) = read(id, text, format);
    let mut insert = change.prepare("INSERT INTO link VALUES (?1, ?2, ?3, ?4)")?;
    let mut insert_within = change.prepare("INSERT INTO within VALUES (?1, ?2, ?3, ?4)")?;
    for link in links {
        let is_within = link.kind == LinkKind::Embedded || link.target.starts_with('#');
        let insert = if is_within {
            &mut insert_within
        } else {
            &mut insert
        };
        insert.execute(params![id, link.line, link.target, link.carrier.as_str()])?;
    }
    let mut insert = change.prepare("INSERT INTO anchor VALUES (?1, ?2)")?;
    if format == SourceFormat::Markdown
        && let Some(mut anchors) = anchors(text)
    {
        // Tells that all are known.
        anchors.insert(String::new());
        for name in anchors {
            insert.execute(params![id, name])?;
        }
    }
    let mut insert = change.prepare("INSERT INTO property VALUES (?1, ?2, ?3)")?;
    for (name, property) in properties {
        for value in property.values() {
            insert.execute(params![id, folded(&name), folded(value)])?;
        }
    }
    Ok(())
}

/// Drops the facts of a page.
pub(super) fn remove(change: &Connection, id: i64) -> rusqlite::Result<()> {
    for table in TABLE_NAMES {
        change.execute(&format!("DELETE FROM {table} WHERE id = ?1"), [id])?;
    }
    Ok(())
}

fn read(id: i64, text: &str, format: SourceFormat) -> (Vec<PageLink>, Vec<(String, Property)>) {
    // The parser panics on some texts; such a page must not keep the others out of the index.
    let links = std::panic::catch_unwind(|| links(text, format)).unwrap_or_else(|_| {
        tracing::warn!(id, "the links of a page could not be read");
        Vec::new()
    });
    let leads = |link: &PageLink| {
        let is_away = link.kind == LinkKind::Link && !link.target.starts_with('#');
        !link.target.is_empty() && (is_away || link.target.len() <= MAX_TARGET)
    };
    let links = links.into_iter().filter(leads).take(MAX_LINKS);
    (links.collect(), properties(text))
}

/// The form in which a property's names and values are compared.
pub(super) fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}
