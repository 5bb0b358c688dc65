//! What a page's history shows of a write, of what it overwrote, and of what came after it.
//!
//! Each write keeps the state that it found as a version, dated by the time of that state. So a
//! write that somebody else's came after is found whole in the version that the other left; one
//! that overwrote another's has that one's state as the version that it left itself. Two that
//! overlap in the wiki keep the same state twice, and the text of one of them nowhere.

use std::time::Duration;

use crate::change::{Change, Proof, StepKind};
use crate::page::{Date, Field, PageState, escaped};
use crate::wiki::{History, HistoryEntry, Version, Wiki, WikiError};

use super::promise::{FoundPage, Promise};
use super::writer::Writer;

/// Among how many of the newest versions is looked.
const NEWEST: usize = 10;
/// How long. What is looked up after a write must not keep its caller waiting.
const LOOK_BACK: Duration = Duration::from_secs(3);
/// The most characters of a name.
const NAME: usize = 64;
/// What an update can change and no version keeps (W10).
const UNKEPT: [Field; 3] = [Field::Tags, Field::ScriptCss, Field::ScriptJs];

/// A step whose page somebody else wrote before it was read back.
#[derive(Debug)]
pub(super) struct ChangedSince {
    /// The page as the step left it, as far as the version shows it.
    pub(super) proof: Proof,
    /// The version that shows it.
    version: i64,
    /// The fields that are not so any more.
    fields: Vec<Field>,
    /// Who wrote the page last, and when.
    author: Option<String>,
    at: Option<Date>,
}

/// What the history tells of a step that is not to be seen on its page.
#[derive(Debug)]
pub(super) enum Trail {
    /// A version has the page as the step left it.
    Applied(Box<ChangedSince>),
    /// None has, and more than one write began since the page was read.
    OthersWrote,
    /// None has, and one write at most began since.
    NobodyElse,
    /// The history cannot be read, or tells nothing of such a step.
    Unknown,
}

impl ChangedSince {
    /// The warning.
    pub(super) fn told(&self) -> String {
        let names: Vec<&str> = self.fields.iter().map(|field| field.name()).collect();
        let by = self.author.as_ref().map_or_else(String::new, |author| {
            format!(" by \"{}\"", escaped(author, NAME).replace('"', "'"))
        });
        let at = self
            .at
            .as_ref()
            .and_then(Date::instant)
            .and_then(Date::from_instant);
        let at = at.map_or_else(String::new, |at| format!(" at {}", at.as_str()));
        format!(
            "changed_since: the write was applied, then {} was changed{by}{at}; version {} of the page has it as this write left it.",
            names.join(", "),
            self.version
        )
    }
}

/// Looks in the history for a step that is not to be seen on its page as it was found.
pub(super) async fn follow(
    wiki: &Wiki,
    promise: &Promise<'_>,
    found: &FoundPage,
    limit: Duration,
) -> Trail {
    match tokio::time::timeout(limit.min(LOOK_BACK), look(wiki, promise, found)).await {
        Ok(Ok(trail)) => trail,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the history of a page that was written could not be read");
            Trail::Unknown
        }
        Err(_) => Trail::Unknown,
    }
}

async fn look(wiki: &Wiki, promise: &Promise<'_>, found: &FoundPage) -> Result<Trail, WikiError> {
    let (before, after, step) = match promise {
        Promise::Created { after } => (None, *after, StepKind::Create),
        Promise::Changed {
            before,
            after,
            step,
            ..
        } => (Some(before.as_ref()), after, *step),
        Promise::Deleted { .. } => return Ok(Trail::Unknown),
    };
    let Some(id) = found.proof.found.id else {
        return Ok(Trail::Unknown);
    };
    let since = before.and_then(|before| before.updated_at.as_ref());
    let since = since.and_then(Date::instant);
    if before.is_some() && since.is_none() {
        return Ok(Trail::Unknown);
    }
    let history = wiki.history(id, 0, NEWEST).await?;
    let is_cut = history.total > history.entries.len();
    // What was kept since the page was read, the state that was read included.
    let kept: Vec<&HistoryEntry> = history
        .entries
        .iter()
        .filter(|entry| entry.version_date.instant() >= since)
        .collect();
    let later = kept.iter().copied();
    let later: Vec<i64> = later
        .filter(|entry| since.is_none() || entry.version_date.instant() > since)
        .map(|entry| entry.version_id)
        .collect();
    let asked = asked(before, after);
    for version in wiki.versions(id, &later).await?.into_iter().flatten() {
        if holds(&version, after, &asked, step) {
            return Ok(Trail::Applied(Box::new(as_written(
                version, after, &asked, found,
            ))));
        }
    }
    let is_all = kept.len() < history.entries.len() || !is_cut;
    Ok(if kept.len() > 1 || !is_all {
        Trail::OthersWrote
    } else {
        Trail::NobodyElse
    })
}

fn asked(before: Option<&PageState>, after: &PageState) -> Vec<Field> {
    before.map_or_else(|| Field::ALL.into(), |before| before.difference(after))
}

/// Whether a version is the page as a step left it. An update writes every field, a move its own.
fn holds(version: &Version, after: &PageState, asked: &[Field], step: StepKind) -> bool {
    let shown = version.clone().laid_over(after);
    let of_step = |field: &Field| match step {
        StepKind::Move => asked.contains(field),
        StepKind::Create | StepKind::Update | StepKind::Delete => {
            Version::FIELDS.contains(field) || asked.contains(field)
        }
    };
    Field::ALL
        .iter()
        .filter(|field| of_step(field))
        .all(|field| after.same(&shown, *field))
        // What no version keeps proves nothing.
        && asked.iter().any(|field| !UNKEPT.contains(field))
}

fn as_written(
    version: Version,
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
        proof: Proof {
            differing: Vec::new(),
            unverified: UNKEPT
                .into_iter()
                .filter(|field| asked.contains(field) && !found.shows(*field))
                .collect(),
            css_minified: now.css_minified,
            found: PageState {
                id,
                ..version.laid_over(after)
            },
        },
    }
}

impl Writer {
    /// What a write may have overwritten between its reading and its sending, as a warning.
    ///
    /// Only what a version keeps can be told: not tags, styles or scripts.
    pub(super) async fn overwritten(&self, change: &Change, written: &PageState) -> Option<String> {
        let before = change
            .after_step(StepKind::Move)
            .or_else(|| change.before().cloned())?;
        let (id, at) = (before.id?, written.updated_at.as_ref()?);
        let looked = tokio::time::timeout(LOOK_BACK, self.left_behind(id, at, &before, written));
        match looked
            .await
            .unwrap_or(Err(WikiError::Timeout { after: LOOK_BACK }))
        {
            Ok(told) => told,
            Err(error) => {
                tracing::debug!(%error, "what a write overwrote could not be looked up");
                Some(NOT_CHECKED.to_owned())
            }
        }
    }

    async fn left_behind(
        &self,
        id: i64,
        at: &Date,
        before: &PageState,
        written: &PageState,
    ) -> Result<Option<String>, WikiError> {
        let History { entries, .. } = self.wiki.history(id, 0, NEWEST).await?;
        let read_at = before.updated_at.as_ref().and_then(Date::instant);
        // Somebody may have written after us as well.
        let earlier: Vec<&HistoryEntry> = entries
            .iter()
            .filter(|entry| entry.version_date.instant() < at.instant())
            .collect();
        let Some(left) = earlier.first() else {
            return Ok(Some(NOT_CHECKED.to_owned()));
        };
        let unread: Vec<i64> = earlier
            .iter()
            .filter(|entry| entry.version_date.instant() > read_at)
            .map(|entry| entry.version_id)
            .collect();
        for version in self.wiki.versions(id, &unread).await?.into_iter().flatten() {
            let version_id = version.id;
            let theirs = version.laid_over(before);
            let differ = |page: &PageState| -> Vec<&str> {
                let fields = Version::FIELDS.into_iter();
                let fields = fields.filter(|field| !page.same(&theirs, *field));
                fields.map(Field::name).collect()
            };
            let fields = differ(before);
            // One that is as this write made it came of this write, sent twice by a proxy.
            if !fields.is_empty() && !differ(written).is_empty() {
                return Ok(Some(format!(
                    "overwrote_newer: somebody changed {} just before this write; version {version_id} of the page has it.",
                    fields.join(", ")
                )));
            }
        }
        let is_same = |entry: &&&HistoryEntry| entry.version_date.same(&left.version_date);
        Ok((earlier.iter().filter(is_same).count() > 1).then(|| OVERLAPPED.to_owned()))
    }
}

const NOT_CHECKED: &str = "overwrite_not_checked: whether somebody wrote just before could not be read from the page's history.";
const OVERLAPPED: &str = "overwrote_newer: somebody wrote the page at the same time as this write, and no version has the text of the one that was overwritten; read the page before you go on.";
