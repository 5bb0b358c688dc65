//! Taking a write back, from what the audit log kept of it.

use serde_json::json;

use crate::audit::{CallSelector, CallStory, KeptState, Outcome, StoryError};
use crate::change::{Change, UndoFault};
use crate::error::{Code, Failure};
use crate::gates::Proposed;
use crate::page::{Field, PageState};
use crate::wiki::WikiError;

use super::docket::unavailable;
use super::plan::Undo;
use super::writer::Writer;

impl Writer {
    /// Makes the change that takes a write back, of the page as it is now.
    pub(super) async fn undo(&self, undo: &Undo) -> Result<Proposed, Failure> {
        let story = self.story(&undo.call).await?;
        if let Some(by) = story.undone_by {
            return Err(
                nothing("That write was taken back already.").detail("undoneBy", by.to_string())
            );
        }
        match story.outcome() {
            Some(Outcome::Applied | Outcome::PartlyApplied) => {}
            Some(Outcome::Unchanged | Outcome::NotApplied) => {
                return Err(nothing("That call changed nothing."));
            }
            Some(Outcome::Unknown) | None => {
                return Err(nothing(
                    "Whether that write was applied is not known; look at the page.",
                ));
            }
        }
        let before = self.kept(story.before()).await?;
        // Where the page was found otherwise than promised, that is what the write left.
        let after = match story.after() {
            Some(after) => self.kept(Some(story.found().unwrap_or(after))).await?,
            None => None,
        };
        let now = match (before.is_some() && after.is_none(), story.id()) {
            (false, Some(id)) => self.page_now(id).await?,
            _ => None,
        };
        let change = Change::undo(before, after.clone(), now.clone(), undo.force)
            .map_err(|fault| told(fault, after, now))?;
        Ok(Proposed {
            change,
            undoes: Some(story.call),
        })
    }

    /// What is on record of a call.
    pub(super) async fn story(&self, call: &CallSelector) -> Result<CallStory, Failure> {
        self.audit.story(call).await.map_err(|error| match error {
            StoryError::NotFound => nothing("No write of that call is on record."),
            StoryError::NoneLeft => {
                nothing("No applied write is on record that was not taken back.")
            }
            StoryError::Ambiguous { candidates, .. } => {
                let candidates: Vec<String> = candidates.iter().map(ToString::to_string).collect();
                nothing("Several calls begin like that.").detail("candidates", candidates)
            }
            StoryError::Audit(error) => unavailable(&error),
        })
    }

    async fn kept(&self, name: Option<KeptState>) -> Result<Option<PageState>, Failure> {
        match name {
            Some(name) => self
                .audit
                .kept(name)
                .await
                .map(Some)
                .map_err(|error| unavailable(&error)),
            None => Ok(None),
        }
    }

    async fn page_now(&self, id: i64) -> Result<Option<PageState>, Failure> {
        match self.whole_page(id).await {
            Ok(page) => Ok(Some(page)),
            Err(failure) if failure.code == Code::PageNotFound => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

fn nothing(message: &str) -> Failure {
    Failure::new(Code::NothingToUndo, message)
}

fn told(fault: UndoFault, left: Option<PageState>, now: Option<PageState>) -> Failure {
    match fault {
        UndoFault::Nothing => nothing("That write changed nothing."),
        UndoFault::Gone => Failure::from(WikiError::NotFound),
        UndoFault::Changed(fields) => {
            let names: Vec<&str> = fields.iter().copied().map(Field::name).collect();
            let failure = Failure::new(
                Code::EditConflict,
                "The page was changed since that write, in fields that the write changed.",
            )
            .hint("Look at details.changes; with force, these fields go back all the same.")
            .detail("fields", names);
            match (left, now) {
                (Some(left), Some(now)) => {
                    let since = Change::between(left, now);
                    failure
                        .detail("changes", json!(since.values()))
                        .detail("diff", since.content_diff().0)
                }
                _ => failure,
            }
        }
    }
}
