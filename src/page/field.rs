//! The thirteen fields that Wiki.js keeps of a page.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A field of a page that a write must not lose (W1, W2).
///
/// The order is that of [`crate::page::PageState`]; every list of fields is in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Field {
    /// The language the page is filed under.
    Locale,
    /// The path within the locale.
    Path,
    /// The title.
    Title,
    /// The one-line description.
    Description,
    /// The source text.
    Content,
    /// The editor, which decides how the source is read.
    Editor,
    /// The tags, as a set.
    Tags,
    /// Whether readers see the page.
    IsPublished,
    /// Whether the page is private; `update` ignores it (W13).
    IsPrivate,
    /// When readers begin to see the page.
    PublishStartDate,
    /// When readers cease to see the page.
    PublishEndDate,
    /// Styles of this page alone; minified when stored (W24).
    ScriptCss,
    /// Scripts of this page alone.
    ScriptJs,
}

impl Field {
    /// All thirteen, in order.
    pub const ALL: [Self; 13] = [
        Self::Locale,
        Self::Path,
        Self::Title,
        Self::Description,
        Self::Content,
        Self::Editor,
        Self::Tags,
        Self::IsPublished,
        Self::IsPrivate,
        Self::PublishStartDate,
        Self::PublishEndDate,
        Self::ScriptCss,
        Self::ScriptJs,
    ];

    /// The field's name in GraphQL, in tool arguments and on record.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Locale => "locale",
            Self::Path => "path",
            Self::Title => "title",
            Self::Description => "description",
            Self::Content => "content",
            Self::Editor => "editor",
            Self::Tags => "tags",
            Self::IsPublished => "isPublished",
            Self::IsPrivate => "isPrivate",
            Self::PublishStartDate => "publishStartDate",
            Self::PublishEndDate => "publishEndDate",
            Self::ScriptCss => "scriptCss",
            Self::ScriptJs => "scriptJs",
        }
    }

    /// The rights of which one suffices to read this field back, for an operator's eyes (W1, W2).
    #[must_use]
    pub const fn right_to_read(self) -> &'static str {
        match self {
            Self::Locale | Self::Path | Self::Title | Self::Description | Self::Tags => {
                "read:pages"
            }
            Self::Content => "read:source",
            Self::Editor
            | Self::IsPublished
            | Self::IsPrivate
            | Self::PublishStartDate
            | Self::PublishEndDate => "manage:pages with write:pages",
            Self::ScriptCss | Self::ScriptJs => "manage:pages or delete:pages",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
