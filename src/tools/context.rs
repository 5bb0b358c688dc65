//! Gives tools access to the wiki, its index, the way to write, and the caller.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, watch};

use super::input;
use super::write_output::WriteOutput;
use crate::audit::{AuditError, ProposalId};
use crate::change::Warning;
use crate::error::{Code, Failure, Result};
use crate::index::{ContentIndex, Coverage};
use crate::mirror::Mirror;
use crate::notice::Progress;
use crate::page::{Locale, Note, PagePlace, PageReading, Whose};
use crate::wiki::{Wiki, WikiError};
use crate::write::{
    Became, Caller, Drafting, PendingSet, ReadExtent, WriteContext, WriteRequest, Writer,
};

/// The context of a tool's call: the wiki, the way to write to it, and the caller.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The wiki.
    pub wiki: Arc<Wiki>,
    /// The way of a write.
    pub writer: Arc<Writer>,
    /// The record of writes.
    pub desk: Arc<WriteContext>,
    /// The content index.
    pub index: Arc<ContentIndex>,
    /// The mirror of the wiki, if it is on.
    pub mirror: Option<Arc<Mirror>>,
    /// The caller.
    pub caller: Caller,
    /// The channel on which a long call reports its progress.
    pub progress: watch::Sender<Progress>,
}

impl ToolContext {
    /// The configured locale.
    pub(super) fn locale(&self) -> Locale {
        self.wiki.settings().default_locale.clone()
    }

    /// The place of a new page: in the locale of the text or the argument, else in the configured one.
    pub(super) fn new_place(&self, path: &str, locale: Option<&str>) -> Result<PagePlace> {
        let (locale, path) = input::new_place(&self.wiki, path, locale)?;
        let locale = locale.unwrap_or_else(|| self.locale());
        Ok((locale, path.into_path()))
    }

    /// The coverage of the content index, after a short wait during which the caller sees the
    /// progress.
    pub(super) async fn indexed(&self) -> Result<Coverage, WikiError> {
        let count = |pages| u32::try_from(pages).unwrap_or(u32::MAX);
        let tell = |done, of| {
            let (done, of) = (count(done), count(of));
            self.progress.send_replace(Progress { done, of });
        };
        self.index.ready(tell).await
    }

    /// Waits for permission to look through all texts or all links.
    ///
    /// # Errors
    /// `TIMEOUT` if it is not granted in time.
    pub(super) async fn turn(&self) -> Result<OwnedSemaphorePermit> {
        self.index.turn_to_scan().await.ok_or_else(|| {
            let message = "Other calls are searching all texts or links now, one at a time.";
            Failure::new(Code::Timeout, message)
                .hint("Call again in a few seconds, one call at a time.")
        })
    }

    /// Notes that the caller saw a page: its later change of the content is checked against that
    /// state.
    pub(super) async fn saw(&self, page: PageReading, sight: ReadExtent) {
        let session = &self.caller.session;
        self.desk.note_read(session, page, sight).await;
    }

    /// Makes the plan join a draft, if one is named.
    pub(super) fn joining(&self, draft: Option<&str>, plan: WriteRequest) -> Result<WriteRequest> {
        let Some(name) = draft else {
            return Ok(plan);
        };
        Ok(WriteRequest::Draft(Drafting {
            owner: self.desk.draft_owner(&self.caller),
            draft: input::draft(name)?,
            plan: Box::new(plan),
        }))
    }

    /// The state of a set that was left to people, after waiting at most this long for them. A caller
    /// that takes a task for an answer does not wait.
    ///
    /// # Errors
    /// As for [`WriteContext::became_of`].
    pub(super) async fn became_of(
        &self,
        set: ProposalId,
        limit: Option<Duration>,
    ) -> Result<PendingSet> {
        let Some(task) = &self.caller.task else {
            return self.desk.became_of(&self.caller, set, limit).await;
        };
        let left = self.desk.polled(&self.caller, set, |_| true).await?;
        let left = left.ok_or(AuditError::NoProposal)?;
        if let Became::Waiting(_) | Became::Applying { .. } = left.became {
            task.fill(set);
        }
        Ok(left)
    }

    /// The mirror.
    ///
    /// # Errors
    /// `NOT_CONFIGURED` if there is none for this caller.
    pub(super) fn mirror(&self) -> Result<&Mirror> {
        self.mirror.as_deref().ok_or_else(no_mirror)
    }

    /// Takes a plan through the gates, with the caller's reason; if that leaves it to people, waits
    /// for them.
    ///
    /// # Errors
    /// `INVALID_INPUT` if the note is invalid; what the gates, the record or the wiki say.
    pub(super) async fn write(
        mut self,
        plan: WriteRequest,
        note: Option<String>,
        confirm: Option<String>,
    ) -> Result<WriteOutput> {
        let whose = match self.caller.actor {
            Some(_) => Whose::Operator,
            None => Whose::Agent,
        };
        let note = note.map(|text| Note::parse(&text, whose)).transpose();
        self.caller.note = note.map_err(|fault| input::invalid_argument("note", fault))?;
        let caller = self.caller.clone();
        let policy =
            (self.desk).narrowed_policy(caller.narrowing.as_deref(), caller.asker.can_ask());
        let is_confirmed = confirm.is_some() && policy.writes.can_be_confirmed();
        let is_submitted = caller.proposes || is_confirmed;
        let limit = self.desk.waiting(&caller);
        let mut answer = self.writer.write(caller, plan, confirm).await?;
        if (limit.is_some() || is_submitted)
            && let Some((set, notes)) = answer.left_to_people()
        {
            match self.became_of(set, limit).await {
                Ok(left) => return Ok(WriteOutput::left_open(left, std::mem::take(notes))),
                // The set is left open all the same, and the preview names it.
                Err(failure) => notes
                    .warnings
                    .push(Warning::new("not_waited", failure.message)),
            }
        }
        Ok(WriteOutput::new(answer, self.caller.extent))
    }
}

fn no_mirror() -> Failure {
    let message = "This server keeps no mirror of the wiki, or none for a caller's own key.";
    Failure::new(Code::NotConfigured, message)
        .hint("Tell the user: WIKI_MIRROR=on keeps what was seen of pages, so that deleted ones can be brought back from then on.")
        .detail("missing", ["WIKI_MIRROR"].as_slice())
}
