//! Models comments and assets: changed like pages, no page fields.
//!
//! A [`PageState`](super::super::PageState) with a [`Attached`] is a state of that thing: place, title and
//! tags are those of its page, by which gates and read scopes go, and the content is the thing's own.
//! An asset belongs to no page: its place is its own, and its content says what its bytes are.

use serde::{Deserialize, Serialize};

use super::super::{Blob, Date, Field};

/// The comment or asset that a state is of, where it is not of the page itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Attached {
    /// A comment on the page.
    Comment(CommentOf),
    /// A file beside the pages.
    Asset(AssetOf),
}

impl Attached {
    /// The word for it.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Comment(_) => "comment",
            Self::Asset(_) => "asset",
        }
    }
}

/// Data of an asset besides its path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssetOf {
    /// Its id; none for an asset that is yet to come.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<i64>,
    /// The id of its folder, of which 0 is the root; none where that is yet to be made.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub folder: Option<i64>,
    /// The folders that are made for it, the outermost first. Nothing removes one again (W36).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub makes: Vec<String>,
    /// The MIME type that it was uploaded with.
    pub mime: String,
    /// Its bytes; the content of its state says what they are.
    pub bytes: Blob,
}

/// Data of a comment besides its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommentOf {
    /// Its id; none for a comment that is yet to be written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<i64>,
    /// The comment that it answers. It can be sent and never read back (W33).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reply_to: Option<i64>,
    /// Its author.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub author: Option<String>,
    /// The time at which it was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub created_at: Option<Date>,
    /// The newest comment of its page before it: what was added since has a later id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub newest: Option<i64>,
}

impl Attached {
    /// Its own id, beside that of its page; none for what is yet to come.
    pub const fn id(&self) -> Option<i64> {
        match self {
            Self::Comment(comment) => comment.id,
            Self::Asset(asset) => asset.id,
        }
    }

    /// True if a field of its state is its own, not its page's.
    pub const fn has_own(&self, field: Field) -> bool {
        match self {
            Self::Comment(_) => matches!(field, Field::Content),
            Self::Asset(_) => matches!(field, Field::Content | Field::Path),
        }
    }

    /// About how many bytes it takes in memory.
    pub fn size(&self) -> usize {
        match self {
            Self::Comment(_) => 0,
            Self::Asset(asset) => asset.bytes.size(),
        }
    }

    /// The same thing, as if it were yet to come.
    #[must_use]
    pub fn anew(self) -> Self {
        match self {
            Self::Comment(comment) => Self::Comment(CommentOf {
                id: None,
                author: None,
                created_at: None,
                ..comment
            }),
            Self::Asset(asset) => Self::Asset(AssetOf { id: None, ..asset }),
        }
    }

    /// Takes over what the content of another state stands for.
    pub(in crate::page) fn take_content(&mut self, from: &Self) {
        if let (Self::Asset(own), Self::Asset(from)) = (self, from) {
            own.mime.clone_from(&from.mime);
            own.bytes = from.bytes.clone();
        }
    }

    /// True if both are the same comment or asset.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Comment(ours), Self::Comment(theirs)) => {
                ours.id == theirs.id && ours.reply_to == theirs.reply_to
            }
            (Self::Asset(ours), Self::Asset(theirs)) => {
                ours.id == theirs.id && ours.makes == theirs.makes
            }
            (Self::Comment(_), Self::Asset(_)) | (Self::Asset(_), Self::Comment(_)) => false,
        }
    }

    /// The words for what was sent and can never be read back.
    pub const fn unreadable(&self) -> Option<&'static str> {
        match self {
            Self::Comment(comment) if comment.reply_to.is_some() => Some("replyTo"),
            Self::Comment(_) | Self::Asset(_) => None,
        }
    }
}
