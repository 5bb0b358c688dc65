//! Recorded writes, as far as a key may know them: calls, and pages as they were.

use std::iter;
use std::sync::Arc;

use time::OffsetDateTime;

use crate::audit::{
    AuditLog, CallHistory, CallHistoryError, CallId, CallSelector, Client, Proposal, StateOfPage,
};
use crate::error::{Code, Failure, Result};
use crate::page::{Date, Field, Locale, PagePath, PagePlace, PageReading};
use crate::wiki::Wiki;

/// The answer about a call that is not on record, or that the caller may not know.
pub(crate) const NOT_ON_RECORD: &str = "No write of that call is on record.";

/// A page on record, by its id and its place then.
pub(crate) type PlaceOnRecord<'a> = (Option<i64>, &'a Locale, &'a PagePath);

/// Recorded writes to a wiki, as far as a key may know them.
#[derive(Debug, Clone)]
pub struct WriteHistory {
    pub(crate) wiki: Arc<Wiki>,
    pub(crate) audit: Arc<AuditLog>,
}

impl WriteHistory {
    pub(crate) const fn new(wiki: Arc<Wiki>, audit: Arc<AuditLog>) -> Self {
        Self { wiki, audit }
    }

    /// The records of a call, if it is this client's.
    ///
    /// # Errors
    /// `NOTHING_TO_UNDO` if there is none, or several begin like that; `AUDIT_UNAVAILABLE`.
    pub async fn story(&self, call: &CallSelector, owner: Option<&Client>) -> Result<CallHistory> {
        let found = self.audit.calls.story_for(owner, call).await;
        let story = found.map_err(|error| match error {
            CallHistoryError::NotFound => nothing(NOT_ON_RECORD),
            CallHistoryError::NoneLeft => {
                nothing("No applied write is on record that was not taken back.")
            }
            CallHistoryError::Ambiguous { candidates, .. } => {
                let candidates: Vec<String> = candidates.iter().map(ToString::to_string).collect();
                nothing("Several calls begin like that.").detail("candidates", candidates)
            }
            CallHistoryError::Audit(error) => error.into(),
        })?;
        let may = self.admits(&story).await?;
        may.then_some(story).ok_or_else(|| nothing(NOT_ON_RECORD))
    }

    /// The calls of a set; none if this client did not make all of them.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`.
    pub(crate) async fn calls_of_set(
        &self,
        set: CallId,
        owner: Option<&Client>,
    ) -> Result<Vec<CallHistory>> {
        let mut calls = self.audit.calls.of_set(set).await?;
        if !calls.iter().all(|call| call.is_made_by(owner)) {
            calls.clear();
        }
        Ok(calls)
    }

    /// The place at which the last write of ours after a time left a page, or from which it deleted it.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`.
    pub(crate) async fn last_place(
        &self,
        id: i64,
        after: Option<OffsetDateTime>,
    ) -> Result<Option<PagePlace>> {
        let writes = self.audit.calls.of_pages(vec![id], after).await?;
        Ok(writes.last().and_then(|call| {
            let locale = call.latest(|record| record.locale.clone())?;
            Some((locale, call.place()?))
        }))
    }

    /// True if a caller may know of a call: it may read all its places, and the pages as they were
    /// and are.
    ///
    /// # Errors
    /// What the wiki says, where its pages have to be looked at.
    pub async fn admits(&self, story: &CallHistory) -> Result<bool> {
        let scope = self.wiki.scope();
        if scope.is_open() {
            return Ok(true);
        }
        let records = story.records.iter();
        let places = records.filter_map(|it| Some((it.id, it.locale.as_ref()?, it.path.as_ref()?)));
        let admits = self.admits_places(places.collect()).await?;
        if !admits || !scope.asks_for_tags() {
            return Ok(admits);
        }
        let found = story.records.iter().filter_map(|record| record.found);
        let kept = [story.before, story.after].into_iter().flatten();
        for kept in kept.chain(found) {
            if !self.admits_kept(kept).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The same for a proposal.
    pub(crate) async fn admits_proposal(&self, proposal: &Proposal) -> Result<bool> {
        if self.wiki.scope().is_open() {
            return Ok(true);
        }
        let places = proposal.changes().flat_map(|change| {
            let others = change.new_path.iter().chain(&change.aside);
            let paths = iter::once(&change.path).chain(others);
            paths.map(|path| (change.page, &change.locale, path))
        });
        self.admits_places(places.collect()).await
    }

    /// True if this key may read the places of all these pages on record.
    pub(crate) async fn admits_places(&self, places: Vec<PlaceOnRecord<'_>>) -> Result<bool> {
        for (page, locale, path) in places {
            if !self.wiki.admits_record(page, locale, path).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Completes an old version from the state that a write of ours found: with tags, styles and
    /// scripts, which the wiki does not keep in versions. Fields that the caller cannot read of the
    /// present page are left out, and so are states from places that its key may not read.
    pub async fn remember(&self, id: i64, then: &mut PageReading, now: &PageReading) {
        let Some(time) = then.updated_at.clone() else {
            return;
        };
        let (state, key) = match self.audit.writes.state_at(id, &time).await {
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
        // In old states that do not name unknown fields, an empty text may also mean that its loss
        // was accepted.
        let text = |text: String, now: &Option<String>| {
            now.as_ref().and(Some(text)).filter(|text| !text.is_empty())
        };
        let knows_css = state.knows(Field::ScriptCss);
        let knows_js = state.knows(Field::ScriptJs);
        then.tags = now.tags.as_ref().and(Some(state.tags));
        then.script_css = text(state.script_css, &now.script_css).filter(|_| knows_css);
        then.script_js = text(state.script_js, &now.script_js).filter(|_| knows_js);
    }

    /// The calls of ours that left these states of pages, in their order; `None` where the record
    /// has no such write.
    pub async fn calls_that_left(&self, states: Vec<StateOfPage>) -> Vec<Option<CallId>> {
        let count = states.len();
        match self.audit.writes.that_left(states).await {
            Ok(calls) => calls,
            Err(error) => {
                tracing::warn!(%error, "the record could not be asked for writes of ours");
                vec![None; count]
            }
        }
    }

    /// The same for one state, where its page and time are known.
    pub async fn call_that_left(&self, page: Option<i64>, at: Option<&Date>) -> Option<CallId> {
        let state = (page?, at?.clone());
        self.calls_that_left(vec![state]).await.pop().flatten()
    }
}

/// The failure that there is nothing to take back.
pub(crate) fn nothing(message: &str) -> Failure {
    Failure::new(Code::NothingToUndo, message)
}
