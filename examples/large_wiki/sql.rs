//! The same pages as statements for `psql`, for a real Wiki.js 2.5 on `PostgreSQL`: through its API ten thousand
//! pages take hours, since each is rendered and rebuilds the tree.
//!
//! A wiki for tests alone: what it holds is dropped. All pages are of its locale `en`.

use std::fmt::Write as _;
use std::io::{self, Write};

use pulldown_cmark::{Parser, html};
use sha1::{Digest as _, Sha1};

use crate::pages;

/// Writes the statements that put so many pages in the place of all that are there.
pub(crate) fn write(to: &mut impl Write, count: usize) -> io::Result<usize> {
    writeln!(
        to,
        r#"\set ON_ERROR_STOP on
BEGIN;
TRUNCATE "pageTree", "pageTags", "pageLinks", "pageHistoryTags", "pageHistory", comments, tags, pages RESTART IDENTITY CASCADE;
COPY pages (id, path, hash, title, description, "isPublished", "publishStartDate", "publishEndDate", content, render, toc, "contentType", "createdAt", "updatedAt", "editorKey", "localeCode", "authorId", "creatorId", extra) FROM stdin;"#
    )?;
    let mut bytes = 0;
    let mut tags = Vec::new();
    for number in 0..count {
        let id = number + 1;
        let page = pages::page_in(number, count, Some("en"));
        bytes += page.content.len();
        let mut rendered = String::new();
        html::push_html(&mut rendered, Parser::new(&page.content));
        let hash = Sha1::digest(format!("en|{}|", page.path));
        let hash = hash.iter().fold(String::new(), |mut text, byte| {
            // A string takes any text.
            let _ = write!(text, "{byte:02x}");
            text
        });
        // A second apart, so that each has a place of its own in a list by time.
        let time = 1_735_689_600 + i64::try_from(number).unwrap_or_default();
        let time = time::OffsetDateTime::from_unix_timestamp(time).map_err(io::Error::other)?;
        let format =
            time::macros::format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].000Z");
        let time = time.format(&format).map_err(io::Error::other)?;
        let description = page.description.unwrap_or_default();
        let columns = [
            &id.to_string(),
            &page.path,
            &hash,
            &page.title,
            &description,
            "true",
            "",
            "",
            &page.content,
            &rendered,
            "[]",
            "markdown",
            &time,
            &time,
            "markdown",
            "en",
            "1",
            "1",
            r#"{"js":"","css":""}"#,
        ];
        let columns: Vec<String> = columns.into_iter().map(escaped).collect();
        writeln!(to, "{}", columns.join("\t"))?;
        tags.push((id, page.tags));
    }
    writeln!(to, "\\.")?;
    writeln!(
        to,
        "CREATE TEMPORARY TABLE tagged (page integer, tag text) ON COMMIT DROP;
COPY tagged FROM stdin;"
    )?;
    for (id, tags) in &tags {
        for tag in tags {
            writeln!(to, "{id}\t{}", escaped(tag))?;
        }
    }
    writeln!(
        to,
        r#"\.
INSERT INTO tags (tag, title, "createdAt", "updatedAt")
    SELECT DISTINCT tag, tag, '2025-01-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z' FROM tagged;
INSERT INTO "pageTags" ("pageId", "tagId")
    SELECT DISTINCT page, tags.id FROM tagged JOIN tags USING (tag);
INSERT INTO "pageLinks" (path, "localeCode", "pageId")
    SELECT DISTINCT link[1], 'en', id FROM pages, regexp_matches(content, '\(/en/([^)]+)\)', 'g') AS link;
SELECT setval('pages_id_seq', {count});
COMMIT;
ANALYZE;"#
    )?;
    Ok(bytes)
}

/// A value as `COPY` wants it.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('\t', "\\t");
    text.replace('\r', "\\r").replace('\n', "\\n")
}
