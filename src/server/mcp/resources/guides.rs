//! Guides: what an agent should know of the wiki and of this server before it writes.

use super::{Own, Text};

const fn guide(
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    text: &'static str,
) -> Own {
    Own {
        uri,
        name,
        title,
        mime_type: "text/markdown",
        text: Text::Fixed(text),
        about: None,
    }
}

pub(super) const MARKDOWN: Own = guide(
    "wikijs://guide/markdown",
    "guide-markdown",
    "Guide: Markdown in Wiki.js",
    include_str!("../../../../docs/guides/markdown.md"),
);

pub(super) const PERMISSIONS: Own = guide(
    "wikijs://guide/permissions",
    "guide-permissions",
    "Guide: permissions and keys",
    include_str!("../../../../docs/guides/permissions.md"),
);

pub(super) const EDITING: Own = Own {
    about: Some("wikijs_update_page"),
    ..guide(
        "wikijs://guide/editing",
        "guide-editing",
        "Guide: safe editing with this server",
        include_str!("../../../../docs/guides/editing.md"),
    )
};
