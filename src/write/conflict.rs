//! No silent overwrite: is the page still the one that the caller knows?
//!
//! There is no compare-and-set in Wiki.js (W20): what is checked here can change until the
//! write arrives, one request later. What was overwritten in that window is found out
//! afterwards, from the version that the write left behind ([`Writer::overwritten`]).

use crate::change::{Change, StepKind};
use crate::error::{Code, Failure};
use crate::gates::SessionId;
use crate::page::{Date, Field, PageState};
use crate::wiki::{Version, WikiError};

use super::plan::Plan;
use super::prepare::{cut, short};
use super::writer::Writer;

/// What a change was held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConflictCheck {
    /// The time that the caller named, or of what its session last read, or its preview.
    Checked,
    /// Only the state that was read in this very call.
    None,
}

impl Writer {
    /// Holds the page as it is against the page that the caller knows.
    pub(super) async fn check_conflict(
        &self,
        session: &SessionId,
        plan: &Plan,
        page: &PageState,
    ) -> Result<ConflictCheck, Failure> {
        let (Some(id), Some(updated_at)) = (page.id, &page.updated_at) else {
            return Ok(ConflictCheck::None);
        };
        let known = match plan.if_updated_at() {
            Some(time) => Some(time.clone()),
            None if plan.changes_content() => self.reads.last(session, id),
            None => None,
        };
        let Some(known) = known else {
            return Ok(ConflictCheck::None);
        };
        let is_newer = match (updated_at.instant(), known.instant()) {
            (Some(now), Some(known)) => now > known,
            _ => !updated_at.same(&known),
        };
        if !is_newer {
            return Ok(ConflictCheck::Checked);
        }
        match self.wiki.version_at(id, &known).await {
            // Nothing was written since: a page that it links to came, went or moved.
            Ok(None) => Ok(ConflictCheck::Checked),
            Ok(Some(version)) => {
                let author = version.author_name.clone();
                Err(newer(&known, version.laid_over(page), page.clone()).detail("changedBy", author))
            }
            Err(WikiError::Forbidden { .. }) => Err(Failure::new(
                Code::EditConflict,
                "The page was changed since you read it; what changed cannot be shown without read:history.",
            )
            .hint("Read the page again, then make the change of what you find.")
            .detail("updatedAt", updated_at.as_str())),
            Err(error) => Err(error.into()),
        }
    }

    /// What a write may have overwritten between its reading and its sending, as a warning.
    ///
    /// Only what a version keeps can be told: not tags, styles or scripts.
    pub(super) async fn overwritten(&self, change: &Change, written: &PageState) -> Option<String> {
        let before = change
            .after_step(StepKind::Move)
            .or_else(|| change.before().cloned())?;
        let (id, at) = (before.id?, written.updated_at.as_ref()?);
        match self.left_behind(id, at).await {
            Ok(Some(version)) => {
                let version_id = version.id;
                let found = version.laid_over(&before);
                let fields: Vec<&str> = Version::FIELDS
                    .into_iter()
                    .filter(|field| !before.same(&found, *field))
                    .map(Field::name)
                    .collect();
                (!fields.is_empty()).then(|| {
                    format!(
                        "overwrote_newer: somebody changed {} just before this write; version {version_id} of the page has it.",
                        fields.join(", ")
                    )
                })
            }
            Ok(None) => None,
            Err(_) => Some(
                "overwrite_not_checked: whether somebody wrote just before could not be read from the page's history."
                    .to_owned(),
            ),
        }
    }

    async fn left_behind(&self, id: i64, at: &Date) -> Result<Option<Version>, WikiError> {
        let newest = self.wiki.history(id, 0, 1).await?;
        let is_ours = |date: &Date| match (date.instant(), at.instant()) {
            (Some(date), Some(at)) => date < at,
            _ => false,
        };
        match newest
            .entries
            .first()
            .filter(|entry| is_ours(&entry.version_date))
        {
            Some(entry) => self.wiki.version(id, entry.version_id).await,
            None => Ok(None),
        }
    }
}

/// The conflict of a page that was written since a time.
fn newer(known: &Date, base: PageState, now: PageState) -> Failure {
    let updated_at = now.updated_at.clone().unwrap_or_default();
    let since = Change::between(base, now);
    let fields: Vec<&str> = since.fields().into_iter().map(Field::name).collect();
    let (diff, _) = since.content_diff();
    Failure::new(Code::EditConflict, "The page was changed since you read it.")
        .hint("Look at details.changes and details.diff, then make the change of the page as it is now. Changed tags, styles and scripts are not shown.")
        .detail("fields", fields)
        .detail("changes", short(since.values(), &mut Vec::new()))
        .detail("diff", cut(diff, &mut Vec::new()))
        .detail("readAt", known.as_str())
        .detail("updatedAt", updated_at.as_str())
}
