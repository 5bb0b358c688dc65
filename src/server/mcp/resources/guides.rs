//! Guides: what an agent should know of the wiki and of this server before it writes.

use super::BuiltInResource;

const fn guide(
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    text: &'static str,
) -> BuiltInResource {
    BuiltInResource {
        uri,
        name,
        title,
        mime_type: "text/markdown",
        text: Some(text),
        about: None,
    }
}

pub(super) const MARKDOWN: BuiltInResource = guide(
    "wikijs://guide/markdown",
    "guide-markdown",
    "Guide: Markdown in Wiki.js",
    include_str!("../../../../docs/guides/markdown.md"),
);

pub(super) const PERMISSIONS: BuiltInResource = guide(
    "wikijs://guide/permissions",
    "guide-permissions",
    "Guide: permissions and keys",
    include_str!("../../../../docs/guides/permissions.md"),
);

pub(super) const EDITING: BuiltInResource = BuiltInResource {
    about: Some("wikijs_update_page"),
    ..guide(
        "wikijs://guide/editing",
        "guide-editing",
        "Guide: safe editing with this server",
        include_str!("../../../../docs/guides/editing.md"),
    )
};
