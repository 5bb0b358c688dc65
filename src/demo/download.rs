//! The source of a page as a file, with front matter (W1).

use super::store::PageRow;

/// The type of the file.
pub(super) fn content_type(page: &PageRow) -> &'static str {
    match page.content_type() {
        "html" => "text/html; charset=utf-8",
        "markdown" => "text/markdown; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    }
}

/// The file: what is known of the page, then its content; for `asciidoc` and plain text its
/// content alone. The values are
/// written bare, so a title with a line break breaks the front matter too.
pub(super) fn source(page: &PageRow) -> String {
    let tags = page.tags.join(", ");
    let published = page.is_published.to_string();
    let facts = [
        ("title", page.title.as_str()),
        (
            "description",
            page.description.as_deref().unwrap_or_default(),
        ),
        ("published", &published),
        ("date", &page.updated_at),
        ("tags", &tags),
        ("editor", &page.editor),
        ("dateCreated", &page.created_at),
    ];
    let lines: Vec<String> = facts
        .iter()
        .map(|(key, value)| format!("{key}: {value}"))
        .collect();
    let (open, close) = match page.content_type() {
        "markdown" => ("---", "---"),
        "html" => ("<!--", "-->"),
        // Other kinds of text have no front matter.
        _ => return page.content.clone(),
    };
    format!("{open}\n{}\n{close}\n\n{}", lines.join("\n"), page.content)
}
