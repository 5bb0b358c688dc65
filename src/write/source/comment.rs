//! Adds, changes or deletes a comment.

use std::time::Duration;

use crate::change::{Change, Operation, Warning};
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, TurnOf};
use crate::page::{
    Attached, CommentOf, Locale, PagePath, PageReading, PageState, check_comment, trimmed_comment,
};
use crate::wiki::{COMMENT_PAUSE, Wiki, WikiError};

use super::{Agreed, ChangeSource, ComparedSet, Made, WriteCall, target};
use crate::write::{ConflictCheck, EntryBuilder};

/// A write to the comments of a page.
#[derive(Debug, Clone)]
pub struct CommentWrite {
    /// The page.
    pub page: i64,
    /// The operation.
    pub what: ToComment,
}

/// An operation on a comment.
#[derive(Debug, Clone)]
pub enum ToComment {
    /// A new one.
    Add {
        /// Its text.
        content: String,
        /// The comment of the same page that it answers.
        reply_to: Option<i64>,
    },
    /// Another text for one.
    Change {
        /// Its id.
        id: i64,
        /// Its new text.
        content: String,
    },
    /// One goes.
    Delete {
        /// Its id.
        id: i64,
    },
}

impl CommentWrite {
    const fn operation(&self) -> Operation {
        match self.what {
            ToComment::Add { .. } => Operation::AddComment,
            ToComment::Change { .. } => Operation::ChangeComment,
            ToComment::Delete { .. } => Operation::DeleteComment,
        }
    }

    /// The state of a comment of which nothing but the page and the id is known.
    fn named(&self, of: CommentOf) -> PageState {
        let locale = Locale::as_stored("");
        let path = PagePath::as_stored("");
        let bare = PageReading::bare(Some(self.page), locale, path, String::new());
        PageState {
            thing: Some(Attached::Comment(of)),
            ..bare.or_blank()
        }
    }

    async fn change(&self, call: WriteCall<'_>) -> Result<Change> {
        let wiki = call.wiki();
        let of = |id: Option<i64>| CommentOf {
            id,
            ..CommentOf::default()
        };
        match &self.what {
            ToComment::Add { content, reply_to } => {
                if let Some(answered) = *reply_to {
                    // The wiki takes any number, and says nothing of one that is none (W33).
                    let there = target::as_now(wiki, &self.named(of(Some(answered))), &[]).await;
                    there.map_err(|failure| no_answered(failure, answered))?;
                }
                let new = PageState {
                    // The wiki stores it so (W30).
                    content: trimmed_comment(content).to_owned(),
                    ..self.named(CommentOf {
                        reply_to: *reply_to,
                        ..CommentOf::default()
                    })
                };
                target::at_its_page(wiki, Change::add(new)).await
            }
            ToComment::Change { id, content } => {
                let before = target::as_now(wiki, &self.named(of(Some(*id))), &[]).await?;
                let after = PageState {
                    content: trimmed_comment(content).to_owned(),
                    updated_at: None,
                    ..before.page.clone()
                };
                Ok(Change::between(before.page, after))
            }
            ToComment::Delete { id } => {
                let before = target::as_now(wiki, &self.named(of(Some(*id))), &[]).await?;
                Ok(Change::delete(before.page))
            }
        }
    }

    fn is_of(&self, shown: &ChangeSet) -> bool {
        let change = &shown.first().change;
        let Some(Attached::Comment(of)) = change.thing() else {
            return false;
        };
        let is_text = |text: &str| {
            let after = change.after();
            after.is_some_and(|after| after.content == trimmed_comment(text))
        };
        let is_it = match &self.what {
            ToComment::Add { content, reply_to } => is_text(content) && of.reply_to == *reply_to,
            ToComment::Change { id, content } => is_text(content) && of.id == Some(*id),
            ToComment::Delete { id } => of.id == Some(*id),
        };
        is_it
            && !shown.is_list()
            && shown.proposal().is_none()
            && change.operation() == self.operation()
            && change.target().id == Some(self.page)
    }
}

impl ChangeSource for CommentWrite {
    fn tell(&self, _: &Wiki, record: &mut EntryBuilder) {
        record.names(self.operation(), self.page);
    }

    async fn turn(&self, _: WriteCall<'_>) -> TurnOf {
        TurnOf::new(Some(self.page), false)
    }

    /// The limit of the wiki is told before it is hit.
    async fn said(&self, call: WriteCall<'_>, _: &ChangeSet) -> Vec<Warning> {
        let ToComment::Add { .. } = self.what else {
            return Vec::new();
        };
        let pause = COMMENT_PAUSE.as_secs();
        let next = match call.wiki().comment_pause() {
            Some(left) => format!("; the next from here in {} s", left.as_secs() + 1),
            None => String::new(),
        };
        vec![Warning::new(
            "comment_limit",
            format!(
                "the wiki takes one comment in 15 s from one address, all API keys together, and by default one in {pause} s of one account, which all API keys are{next}."
            ),
        )]
    }

    async fn made(&self, call: WriteCall<'_>) -> Made {
        if let ToComment::Add { content, .. } | ToComment::Change { content, .. } = &self.what
            && let Err(fault) = check_comment(content)
        {
            let message = format!("The comment's content {fault}.");
            return Err(Failure::of_argument("content", message).into());
        }
        let set = ChangeSet::single(call.id, self.change(call).await?);
        let conflict = match self.what {
            ToComment::Add { .. } => ConflictCheck::Checked,
            ToComment::Change { .. } | ToComment::Delete { .. } => ConflictCheck::None,
        };
        Ok(ComparedSet::of(set, conflict))
    }

    async fn agrees(&self, call: WriteCall<'_>, shown: &ChangeSet) -> Agreed {
        in_time(call.wiki(), shown)?;
        Ok(self.is_of(shown))
    }
}

/// Checks that the wiki would take a comment by now, if a change writes one.
///
/// # Errors
/// `RATE_LIMITED`: nothing is sent, and the token stays good.
pub(super) fn in_time(wiki: &Wiki, shown: &ChangeSet) -> Result<()> {
    let adds = shown.first().change.operation() == Operation::AddComment;
    match wiki.comment_pause().filter(|_| adds) {
        Some(left) => Err(too_soon(left)),
        None => Ok(()),
    }
}

fn too_soon(left: Duration) -> Failure {
    let error = WikiError::TooSoon {
        after: Some(left + Duration::from_secs(1)),
    };
    Failure::from(error).hint(
        "Nothing was sent. Wait details.retryAfterSeconds, then call again with the same confirm.",
    )
}

fn no_answered(failure: Failure, id: i64) -> Failure {
    if failure.code == Code::PageNotFound {
        return failure.detail("replyTo", id);
    }
    failure
}
