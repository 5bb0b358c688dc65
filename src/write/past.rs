//! What is on record of writes, as far as a key may know it: calls, and pages as they were.

use std::sync::Arc;

use crate::audit::{AuditLog, CallSelector, CallStory, Client, StoryError};
use crate::error::{Code, Failure};
use crate::page::{Field, PageReading};
use crate::wiki::Wiki;

use super::docket::unavailable;

/// What is on record of writes to a wiki, as far as a key may know it.
#[derive(Debug, Clone)]
pub struct Past {
    pub(super) wiki: Arc<Wiki>,
    pub(super) audit: Arc<AuditLog>,
}

impl Past {
    pub(super) const fn new(wiki: Arc<Wiki>, audit: Arc<AuditLog>) -> Self {
        Self { wiki, audit }
    }

    /// What is on record of a call, if it is this client's.
    ///
    /// # Errors
    /// `NOTHING_TO_UNDO` if there is none, or several begin like that; `AUDIT_UNAVAILABLE`.
    pub async fn story(
        &self,
        call: &CallSelector,
        owner: Option<&Client>,
    ) -> Result<CallStory, Failure> {
        let found = self.audit.story_for(owner, call).await;
        found.map_err(|error| match error {
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

    /// Adds to a page as it was what the wiki keeps of no version, where a write of ours found
    /// the page that way: tags, styles and scripts. Nothing is told that the caller cannot read
    /// of the page as it is, nor what stood at a place that its key may not read.
    pub async fn remember(&self, id: i64, then: &mut PageReading, now: &PageReading) {
        let Some(time) = then.updated_at.clone() else {
            return;
        };
        let (state, key) = match self.audit.found_at(id, &time).await {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "the records of a page could not be read");
                return;
            }
        };
        match self.may_see(&state, key, now).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                tracing::warn!(%error, "whether a key may see a kept page could not be found out");
                return;
            }
        }
        // In states of before fields were named unknown, empty may also mean that the loss of
        // the text was accepted.
        let text = |text: String, now: &Option<String>| {
            now.as_ref().and(Some(text)).filter(|text| !text.is_empty())
        };
        let knows_css = state.knows(Field::ScriptCss);
        let knows_js = state.knows(Field::ScriptJs);
        then.tags = now.tags.as_ref().and(Some(state.tags));
        then.script_css = text(state.script_css, &now.script_css).filter(|_| knows_css);
        then.script_js = text(state.script_js, &now.script_js).filter(|_| knows_js);
    }
}

/// There is nothing to take back.
pub(super) fn nothing(message: &str) -> Failure {
    Failure::new(Code::NothingToUndo, message)
}
