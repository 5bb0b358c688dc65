//! Decides which kept states a caller may see: nobody sees more than their key may read.
//!
//! A kept state holds a page as another key may have read it. Only here does it leave the log: for
//! the wiki key that made the write, and for a key that may read the page's place now.

use crate::audit::{AuditError, KeptState, KeyDigest, Proposal};
use crate::error::{Code, Failure, Result};
use crate::page::{PageReading, PageState};
use crate::render_budget;

use super::undo::history::{NOT_ON_RECORD, WriteHistory, nothing};

const PURGED: &str =
    "What the page was before is not kept any more: it is older, or more, than the record keeps.";
const BY_VERSION: &str = "The wiki may still have it: wikijs_get_page_history names the page's versions, and wikijs_update_page brings one back (fromVersion).";

impl WriteHistory {
    /// The key of the wiki, as it is on record.
    pub(super) fn key(&self) -> KeyDigest {
        self.wiki.key().digest_on_record()
    }

    /// The pages that a call with this key kept, if there are any.
    ///
    /// # Errors
    /// `NOTHING_TO_UNDO` if a purge removed one; `PERMISSION_DENIED` if our key is another one and may not
    /// read the pages' places.
    pub(super) async fn kept<const N: usize>(
        &self,
        names: [Option<KeptState>; N],
        key: Option<KeyDigest>,
    ) -> Result<[Option<PageState>; N]> {
        self.hold(names.into_iter().flatten().collect()).await?;
        let mut states = [const { None }; N];
        for (state, name) in states.iter_mut().zip(names) {
            let Some(name) = name else { continue };
            *state = Some(match self.audit.states.get(name).await {
                Err(AuditError::Missing) if self.audit.writes.is_purged(name).await? => {
                    return Err(nothing(PURGED).hint(BY_VERSION));
                }
                kept => kept?,
            });
        }
        // An unreadable page counts as not on record.
        let scope = self.wiki.scope();
        if states
            .iter()
            .flatten()
            .any(|state| !scope.admits_state(state))
        {
            return Err(nothing(NOT_ON_RECORD));
        }
        if key != Some(self.key()) {
            let mut seen: Vec<&PageState> = Vec::new();
            for state in states.iter().flatten() {
                let is_same_place = |other: &&PageState| is_same_place(other, state);
                if seen.iter().any(is_same_place) {
                    continue;
                }
                if !self.wiki.may_read(&state.locale, &state.path).await? {
                    return Err(self.unseen().await);
                }
                seen.push(state);
            }
        }
        Ok(states)
    }

    /// Takes room for kept states before they are loaded.
    ///
    /// # Errors
    /// `RATE_LIMITED`, if there is none for a while.
    pub(super) async fn hold(&self, names: Vec<KeptState>) -> Result<()> {
        let bytes = self.audit.states.bytes_of(names).await;
        render_budget::hold(bytes?).await?;
        Ok(())
    }

    /// True if a kept page may be read; `false` if that cannot be found out.
    ///
    /// # Errors
    /// `RATE_LIMITED`, if there is no room to look at it.
    pub(super) async fn admits_kept(&self, name: KeptState) -> Result<bool> {
        self.hold(vec![name]).await?;
        let state = self.audit.states.get(name).await;
        Ok(state.is_ok_and(|state| self.wiki.scope().admits_state(&state)))
    }

    /// True if this key may see a state that a call with another key kept, by the page as this key
    /// reads it.
    pub(super) async fn may_see(
        &self,
        state: &PageState,
        key: Option<KeyDigest>,
        now: &PageReading,
    ) -> Result<bool> {
        if !self.wiki.scope().admits_state(state) {
            return Ok(false);
        }
        if key == Some(self.key()) || (&state.locale, &state.path) == (&now.locale, &now.path) {
            return Ok(true);
        }
        Ok(self.wiki.may_read(&state.locale, &state.path).await?)
    }

    async fn unseen(&self) -> Failure {
        let failure = Failure::new(
            Code::PermissionDenied,
            "The write was made with another key, and nothing shows that this key may read the place of the page.",
        )
        .hint("Use the key that the write was made with, or one that may read and write the page's path; on the server's machine `wikijs-gate audit show` shows what was kept.");
        // For an unknown key the key is the cause to name; the missing right only follows from it.
        match self.wiki.is_guest().await {
            Some(true) => failure.detail("right", "read:source or write:pages"),
            Some(false) | None => failure,
        }
    }

    /// True if a proposal was made with this very key.
    pub fn made(&self, proposal: &Proposal) -> bool {
        proposal.key == Some(self.key())
    }
}

fn is_same_place(one: &PageState, other: &PageState) -> bool {
    one.locale == other.locale && one.path == other.path
}
