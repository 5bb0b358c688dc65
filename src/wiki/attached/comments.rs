//! The comments of a page.
//!
//! Measured on 2.5.314 (W30 to W34). The wiki lists the comments of a page for read:comments; the
//! source of one takes write:comments or manage:comments too, and a refused source makes the whole
//! comment null. A key without that right reads them as readers see them. No answer says to which
//! page a comment belongs or what it answers, so a comment is always looked up in its page's list.

use std::time::Duration;

use super::super::operations::generated::{
    CommentsIds, CommentsList, CommentsShown, comments_ids, comments_list, comments_shown,
};
use crate::page::{Date, PagePlace, PageReading, plain_text};
use crate::wiki::{Wiki, WikiError, WikiResult};

/// The interval at which the wiki takes comments of one account, which all API keys are, unless an
/// administrator set another one; the limit of an address ends before it (W31).
pub const COMMENT_PAUSE: Duration = Duration::from_secs(30);

/// A comment, as far as the key can read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Its id.
    pub id: i64,
    /// Its author; of an API key, the user of all API keys.
    pub author_name: String,
    /// Its source, in Markdown, if the key may read it.
    pub content: Option<String>,
    /// Its text as readers see it, without markup; only if the key may not read the source.
    pub text: Option<String>,
    /// The time at which it was written.
    pub created_at: Date,
    /// The time at which it was last changed.
    pub updated_at: Date,
}

impl Wiki {
    /// The comments of a page that was read, oldest first.
    ///
    /// # Errors
    /// [`WikiError::NotFound`] if the page may not be read; else see [`WikiError`].
    pub async fn comments(&self, page: &PageReading) -> WikiResult<Vec<Comment>> {
        let page = self.admitted_one(page.clone())?;
        let (locale, path) = (page.locale.as_str(), page.path.as_str());
        let listed = self
            .query::<CommentsList>(comments_list::Variables {
                locale: locale.to_owned(),
                path: path.to_owned(),
            })
            .await;
        match listed {
            Ok(data) => {
                let comments = data.comments.map(|comments| comments.list);
                let comments = comments.unwrap_or_default().into_iter().flatten();
                return Ok(comments
                    .map(|comment| Comment {
                        id: comment.id,
                        author_name: comment.author_name,
                        content: Some(comment.content),
                        text: None,
                        created_at: comment.created_at,
                        updated_at: comment.updated_at,
                    })
                    .collect());
            }
            Err(WikiError::Forbidden {
                right: "write:comments",
            }) => {}
            Err(error) => return Err(error),
        }
        let data = self
            .query::<CommentsShown>(comments_shown::Variables {
                locale: locale.to_owned(),
                path: path.to_owned(),
            })
            .await?;
        let comments = data.comments.map(|comments| comments.list);
        let comments = comments.unwrap_or_default().into_iter().flatten();
        Ok(comments
            .map(|comment| Comment {
                id: comment.id,
                author_name: comment.author_name,
                content: None,
                text: Some(plain_text(&comment.render).trim_end().to_owned()),
                created_at: comment.created_at,
                updated_at: comment.updated_at,
            })
            .collect())
    }

    /// Number of comments on the page at a place.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn comment_count(&self, (locale, path): &PagePlace) -> WikiResult<usize> {
        let data = self
            .query::<CommentsIds>(comments_ids::Variables {
                locale: locale.to_string(),
                path: path.to_string(),
            })
            .await?;
        let comments = data.comments.map(|comments| comments.list);
        Ok(comments.unwrap_or_default().into_iter().flatten().count())
    }

    /// Time until the wiki takes another comment from here, as far as we sent one ourselves.
    pub fn comment_pause(&self) -> Option<Duration> {
        let since = self.traffic().since_comment()?;
        COMMENT_PAUSE
            .checked_sub(since)
            .filter(|left| !left.is_zero())
    }
}
