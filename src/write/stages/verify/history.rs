//! Searches a page's history for a write, the state that it overwrote, and later writes.
//!
//! Each write keeps the state that it found as a version, dated by the time of that state. So if
//! somebody else wrote after us, our state is the version that their write left. If we overwrote
//! somebody else's state, it is the version that our write left. Two writes that overlap in the
//! wiki both keep the same state, and the text of one of them is kept nowhere. A write that fails
//! keeps a version as well.

use std::borrow::Cow;
use std::time::Duration;

use time::OffsetDateTime;

use crate::audit::CallId;
use crate::change::{Change, Operation, Proof, Warning};
use crate::page::{Date, Field, PageState, escaped};
use crate::wiki::{History, HistoryEntry, Version, Wiki, WikiError};

use super::expected::{FoundPage, Promise};
use crate::write::undo::history::WriteHistory;

/// The number of the newest versions that are searched.
const NEWEST: usize = 10;
/// The time limit for the search, since the caller of the write is waiting.
const LOOK_BACK: Duration = Duration::from_secs(3);
/// The time before our write was sent in which an overlapping one may have begun. Only milliseconds
/// lie between a write and the version that it keeps, but the sending time is known to a second of
/// the wiki's clock.
const OVERLAP: time::Duration = time::Duration::seconds(3);
/// The most characters of a name.
const NAME: usize = 128;

/// A step whose page somebody else wrote before we read it back.
#[derive(Debug)]
pub(crate) struct ChangedSince {
    /// The page as the step left it, as far as the version shows it.
    pub(crate) proof: Proof,
    /// The version that shows it.
    pub(super) version: i64,
    /// The fields that were changed since.
    pub(super) fields: Vec<Field>,
    /// The author and the time of the page's last write.
    pub(super) author: Option<String>,
    pub(super) at: Option<Date>,
    /// The call of ours that wrote it last, if our record has that write.
    pub(super) ours: Option<CallId>,
}

/// The history's evidence of a step that its page does not show.
#[derive(Debug)]
pub(crate) enum HistoryEvidence {
    /// A version has the page as the step left it.
    Applied(Box<ChangedSince>),
    /// No version has, and more than one write began since the page was read.
    OthersWrote,
    /// No version has, and at most one write began since.
    NobodyElse,
    /// The history cannot be read, or cannot show such a step.
    Unknown,
}

impl ChangedSince {
    /// The same with whether the last write was one of ours.
    pub(crate) async fn with_ours(self, past: &WriteHistory) -> Self {
        let ours = past.call_that_left(self.proof.found.id, self.at.as_ref());
        Self {
            ours: ours.await,
            ..self
        }
    }

    /// The warning.
    pub(crate) fn warning(&self) -> Warning {
        let who = who(self.author.as_deref(), self.ours);
        let at = self
            .at
            .as_ref()
            .and_then(Date::instant)
            .and_then(Date::from_instant);
        let at = at.map_or_else(String::new, |at| format!(" at {}", at.as_str()));
        let message = format!(
            "after this write somebody changed {}, and {who} wrote the page last{at}; version {} has it as this write left it.",
            Field::names(&self.fields).join(", "),
            self.version
        );
        Warning::new("changed_since", message)
    }
}

/// Names who wrote a state: the author that the wiki names, and our own call where it was ours.
fn who(author: Option<&str>, ours: Option<CallId>) -> String {
    let author = author.map_or_else(
        || "somebody".to_owned(),
        |author| format!("\"{}\"", escaped(author, NAME).replace('"', "'")),
    );
    match ours {
        Some(call) => format!("{author} (ours: the call {call})"),
        None => author,
    }
}

/// Searches the history for a step that the found page does not show.
pub(crate) async fn follow(
    wiki: &Wiki,
    promise: &Promise<'_>,
    found: &FoundPage,
    sent_at: OffsetDateTime,
    limit: Duration,
) -> HistoryEvidence {
    let look = look(wiki, promise, found, sent_at);
    match tokio::time::timeout(limit.min(LOOK_BACK), look).await {
        Ok(Ok(trail)) => trail,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the history of a page that was written could not be read");
            HistoryEvidence::Unknown
        }
        Err(_) => HistoryEvidence::Unknown,
    }
}

async fn look(
    wiki: &Wiki,
    promise: &Promise<'_>,
    found: &FoundPage,
    sent_at: OffsetDateTime,
) -> Result<HistoryEvidence, WikiError> {
    let (before, after, step) = match promise {
        Promise::Created { after } => (None, *after, Operation::Create),
        Promise::Changed {
            before,
            after,
            step,
            ..
        } => (Some(before.as_ref()), after.as_ref(), *step),
        Promise::Deleted { .. } => return Ok(HistoryEvidence::Unknown),
    };
    // The history is the page's own.
    let page = found.proof.found.id.filter(|_| after.thing.is_none());
    let Some(id) = page else {
        return Ok(HistoryEvidence::Unknown);
    };
    let read_at = before.and_then(|before| before.updated_at.as_ref());
    let read_at = read_at.and_then(Date::instant);
    if before.is_some() && read_at.is_none() {
        return Ok(HistoryEvidence::Unknown);
    }
    let history = wiki.history(id, 0, NEWEST).await?;
    let later = later(&history, read_at);
    let asked = asked(before, after);
    for version in wiki.versions(id, &later).await?.into_iter().flatten() {
        if holds(&version, after, &asked, step) {
            return Ok(HistoryEvidence::Applied(Box::new(as_written(
                &version, after, &asked, found,
            ))));
        }
    }
    if is_passed(&history, &later) {
        return Ok(HistoryEvidence::OthersWrote);
    }
    let same = of_time(&history, read_at);
    Ok(if overlap(wiki, id, &same, sent_at).await? {
        HistoryEvidence::OthersWrote
    } else {
        HistoryEvidence::NobodyElse
    })
}

/// The versions of states that are later than the one that was read; all of a page that was created,
/// which has no earlier state.
fn later(history: &History, read_at: Option<OffsetDateTime>) -> Vec<i64> {
    ids(history, |at| read_at.is_none() || at > read_at)
}

/// The versions of the state of one time.
fn of_time(history: &History, time: Option<OffsetDateTime>) -> Vec<i64> {
    ids(history, |at| at == time)
}

/// True if other writes began since the page was read, or may have: there are versions, and none of
/// them is shown.
const fn is_passed(history: &History, later: &[i64]) -> bool {
    !later.is_empty() || (history.entries.is_empty() && history.total > 0)
}

/// The ids of a history's versions of these times.
fn ids(history: &History, which: impl Fn(Option<OffsetDateTime>) -> bool) -> Vec<i64> {
    let is_one = |entry: &&HistoryEntry| which(entry.version_date.instant());
    let entries = history.entries.iter().filter(is_one);
    entries.map(|entry| entry.version_id).collect()
}

/// True if several of the versions of one state were kept about when a write was sent.
async fn overlap(
    wiki: &Wiki,
    id: i64,
    same: &[i64],
    sent_at: OffsetDateTime,
) -> Result<bool, WikiError> {
    if same.len() < 2 {
        return Ok(false);
    }
    let versions = wiki.versions(id, same).await?.into_iter().flatten();
    let kept: Vec<Date> = versions.map(|version| version.ended).collect();
    Ok(began_together(&kept, sent_at))
}

fn began_together(kept: &[Date], sent_at: OffsetDateTime) -> bool {
    let since = sent_at.saturating_sub(OVERLAP);
    let recent = kept.iter().filter_map(Date::instant);
    recent.filter(|at| *at >= since).count() > 1
}

fn asked(before: Option<&PageState>, after: &PageState) -> Vec<Field> {
    before.map_or_else(|| Field::ALL.into(), |before| before.difference(after))
}

/// True if a version is the page as a step left it. An update writes every field, a move its own.
fn holds(version: &Version, after: &PageState, asked: &[Field], step: Operation) -> bool {
    let shown = version.page.laid_over(after);
    let of_step = |field: &Field| match step {
        Operation::Aside | Operation::Move => asked.contains(field),
        _ => Field::restorable().any(|it| it == *field) || asked.contains(field),
    };
    Field::ALL
        .iter()
        .filter(|field| of_step(field))
        .all(|field| after.same(&shown, *field))
        // A field that versions do not keep proves nothing.
        && asked.iter().any(|field| field.is_in_versions())
}

fn as_written(
    version: &Version,
    after: &PageState,
    asked: &[Field],
    found: &FoundPage,
) -> ChangedSince {
    let now = &found.proof;
    let id = now.found.id;
    ChangedSince {
        version: version.id,
        fields: now.differing.clone(),
        author: found.author.clone(),
        at: now.found.updated_at.clone(),
        ours: None,
        proof: Proof {
            differing: Vec::new(),
            unverified: Field::ALL
                .into_iter()
                .filter(|field| {
                    !field.is_in_versions() && asked.contains(field) && !found.shows(*field)
                })
                .collect(),
            css_minified: now.css_minified,
            css_dropped: now.css_dropped.clone(),
            found: PageState {
                id,
                ..version.page.laid_over(after)
            },
        },
    }
}

/// A warning if a write may have overwritten others between its reading and its sending.
///
/// Only fields that a version keeps can be compared: not tags, styles or scripts. A version that an earlier
/// step of the same call left is no other write.
pub(crate) async fn overwritten(
    (past, call): (&WriteHistory, CallId),
    change: &Change,
    written: &PageState,
    sent_at: OffsetDateTime,
) -> Option<Warning> {
    let before = change
        .after_step(Operation::Move)
        .or_else(|| change.before().map(Cow::Borrowed))?;
    let id = before.id?;
    let looked = left_behind((past, call), id, &before, written, sent_at);
    let looked = tokio::time::timeout(LOOK_BACK, looked).await;
    match looked.unwrap_or(Err(WikiError::Timeout { after: LOOK_BACK })) {
        Ok(told) => told,
        Err(error) => {
            tracing::debug!(%error, "what a write overwrote could not be looked up");
            Some(not_checked())
        }
    }
}

async fn left_behind(
    (past, call): (&WriteHistory, CallId),
    id: i64,
    before: &PageState,
    written: &PageState,
    sent_at: OffsetDateTime,
) -> Result<Option<Warning>, WikiError> {
    let wiki = &*past.wiki;
    let history = wiki.history(id, 0, NEWEST).await?;
    let Some(left) = OverwriteCandidates::of(&history, before, written) else {
        return Ok(Some(not_checked()));
    };
    let versions = wiki.versions(id, &left.between).await?;
    for version in versions.into_iter().flatten() {
        if let Some(overwritten) = Overwritten::of(version, before, written) {
            let ours = past.call_that_left(Some(id), overwritten.at.as_ref()).await;
            if ours != Some(call) {
                return Ok(Some(overwritten.warning(ours)));
            }
        }
    }
    let is_overlapped = overlap(wiki, id, &left.same, sent_at).await?;
    Ok(is_overlapped.then(|| Warning::new(OVERWROTE, OVERLAPPED)))
}

/// The versions that may show what a write overwrote.
#[derive(Debug, PartialEq, Eq)]
struct OverwriteCandidates {
    /// Those of states between the one that was read and the one that was written.
    between: Vec<i64>,
    /// Those of the state that the write found. Somebody may have written after it as well.
    same: Vec<i64>,
}

impl OverwriteCandidates {
    /// `None` if the history does not reach back behind the write.
    fn of(history: &History, before: &PageState, written: &PageState) -> Option<Self> {
        let instant = |page: &PageState| page.updated_at.as_ref().and_then(Date::instant);
        let (read_at, written_at) = (instant(before), instant(written));
        let times = history.entries.iter();
        let mut times = times.map(|entry| entry.version_date.instant());
        let found_at = times.find(|at| *at < written_at)?;
        Some(Self {
            between: ids(history, |at| at < written_at && at > read_at),
            same: of_time(history, found_at),
        })
    }
}

/// A write by somebody else between our reading and our sending.
struct Overwritten {
    version: i64,
    at: Option<Date>,
    author: Option<String>,
    fields: Vec<&'static str>,
}

impl Overwritten {
    /// The fields of a version that are neither in the page as it was read nor in our own write: a
    /// version equal to that comes from a proxy that sent it twice.
    fn of(version: Version, before: &PageState, written: &PageState) -> Option<Self> {
        let theirs = version.page.laid_over(before);
        let differing = |page: &PageState| -> Vec<&'static str> {
            let fields = Field::restorable();
            let fields = fields.filter(|field| !page.same(&theirs, *field));
            fields.map(Field::name).collect()
        };
        let fields = differing(before);
        (!fields.is_empty() && !differing(written).is_empty()).then_some(Self {
            version: version.id,
            at: version.page.updated_at,
            author: version.page.author_name,
            fields,
        })
    }

    fn warning(&self, ours: Option<CallId>) -> Warning {
        let message = format!(
            "{} changed {} just before this write; version {} of the page has it.",
            who(self.author.as_deref(), ours),
            self.fields.join(", "),
            self.version
        );
        Warning::new(OVERWROTE, message)
    }
}

fn not_checked() -> Warning {
    const WHY: &str =
        "whether somebody wrote just before could not be read from the page's history.";
    Warning::new("overwrite_not_checked", WHY)
}

const OVERWROTE: &str = "overwrote_newer";
const OVERLAPPED: &str = "another write of this page began at the same time, from the same state; what the one that was overwritten wrote is in no version, so read the page before you go on.";

#[cfg(test)]
mod tests;
