//! What belongs to a page and is no field of it.
//!
//! A [`PageState`](super::PageState) with a [`Thing`] is a state of that thing: place, title and
//! tags are those of its page, by which gates and read scopes go, and the content is the thing's own.

use serde::{Deserialize, Serialize};

use super::Date;

/// What a state is of, where it is not of the page itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Thing {
    /// A comment on the page.
    Comment(CommentOf),
}

/// What a comment has beside its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommentOf {
    /// Its id; none for a comment that is yet to be written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<i64>,
    /// The comment that it answers. It can be sent and never read back (W33).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reply_to: Option<i64>,
    /// Who wrote it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub author: Option<String>,
    /// When it was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub created_at: Option<Date>,
    /// The newest comment of its page before it: what was added since has a later id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub newest: Option<i64>,
}

impl Thing {
    /// Its own id, beside that of its page; none for what is yet to come.
    #[must_use]
    pub const fn id(&self) -> Option<i64> {
        match self {
            Self::Comment(comment) => comment.id,
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
        }
    }

    /// Whether both are the same thing of a page.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Comment(ours), Self::Comment(theirs)) => {
                ours.id == theirs.id && ours.reply_to == theirs.reply_to
            }
        }
    }

    /// The words for what was sent and can never be read back.
    #[must_use]
    pub const fn unreadable(&self) -> Option<&'static str> {
        match self {
            Self::Comment(comment) if comment.reply_to.is_some() => Some("replyTo"),
            Self::Comment(_) => None,
        }
    }
}
