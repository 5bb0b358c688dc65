//! `wikijs_get_page_history`: who changed what on a page and when, how two states of it differ, or
//! who changed what on all pages since a given time.

use std::collections::BTreeMap;
use std::iter;

use super::changes::{self, RecentChanges};
use super::comparison::{self, Compare, MAX_VERSION, VersionComparison};
use super::prelude::*;
use crate::change::compare;
use crate::mirror::SeenVersion;
use crate::page::{Field, PageReading, escape_hidden};
use crate::wiki::HistoryEntry;

/// The number of entries that are compared with the preceding one.
const MAX_COMPARED: usize = 20;

/// The number of skipped entries beyond which seen states are not told: to merge them, all entries before
/// are asked for.
const MOST_MERGED: usize = 10_000;

/// The reason why an entry does not say what it changed.
const NOT_COMPARED: &str = "only the first 20 entries of an answer are compared, as far as the wiki gives them; go on with offset";

/// The tool.
pub(super) struct GetPageHistory;

/// The note for a page without entries, so that the empty list is not taken for a fault.
const NEVER_CHANGED: &str = "No change left a version behind; who wrote the page last: view metadata of wikijs_get_page_by_id.";

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[garde(range(min = 1, max = 2_147_483_647))]
    id: Option<i64>,
    /// Without id: changes since (2026-01-31) of all pages or below path; detail full: with diffs.
    #[garde(custom(rule::optional(rule::time)))]
    since: Option<String>,
    #[garde(custom(rule::optional(rule::text)))]
    path: Option<String>,
    /// Newest entries to skip.
    #[garde(range(max = 1_000_000))]
    offset: Option<u32>,
    /// Default 20.
    #[garde(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// Diff of two states, not entries.
    #[garde(dive)]
    compare: Option<Compare>,
}

/// Its answer.
#[derive(Debug, Default, Serialize)]
pub(super) struct Output {
    entries: Option<Vec<VersionEntry>>,
    total: Option<i64>,
    /// The reason why some entries do not say what they changed; the oldest one, which created the
    /// page, never does.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unavailable: BTreeMap<&'static str, &'static str>,
    comparison: Option<VersionComparison>,
    changes: Option<RecentChanges>,
    /// Advice on finding the author of a page that has no entries.
    hint: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct VersionEntry {
    version_id: i64,
    version_date: String,
    author_id: Option<i64>,
    author_name: String,
    /// True if this server wrote it, by its record.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ours: bool,
    by_call_id: Option<String>,
    /// initial, edit or move; seen: the wiki has no such version, and this server saw it
    action: String,
    moved_from: Option<String>,
    moved_to: Option<String>,
    /// Fields that differ from the version before, if there is one.
    changed: Option<Vec<&'static str>>,
    /// The state as this server saw it.
    seen: Option<SeenEntry>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SeenEntry {
    /// It restores tags, styles and scripts, too.
    version_id: i64,
    at: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_seen: Vec<&'static str>,
    /// The fields that no later look could read, with days.
    #[serde(skip_serializing_if = "String::is_empty")]
    seen_before: String,
}

/// A former state of a page, as the wiki has it or as the mirror saw it, or both.
type PastState = (HistoryEntry, Option<SeenVersion>);

/// The states that the mirror saw of a page before, the newest first; none where none is kept for this
/// caller, or so many entries are skipped.
async fn seen_versions(context: &ToolContext, id: i64, offset: usize) -> Result<Vec<SeenVersion>> {
    let mirror = context.mirror.as_ref();
    let Some(mirror) = mirror.filter(|_| offset <= MOST_MERGED) else {
        return Ok(Vec::new());
    };
    let now = context.wiki.page_by_id(id).await?;
    let mut seen = mirror.versions(&now, context.wiki.scope()).await?;
    seen.retain(|one| !one.is_present);
    Ok(seen)
}

/// The versions of the wiki, and between them by their times the states that none of these is. Those
/// older than all versions that were read are known to be no versions only with the whole history.
fn merged(entries: Vec<HistoryEntry>, seen: Vec<SeenVersion>, is_whole: bool) -> Vec<PastState> {
    let mut seen = seen.into_iter().peekable();
    let as_entry = |one: SeenVersion| {
        let entry = HistoryEntry {
            version_id: one.id,
            version_date: one.seen.updated.clone(),
            author_id: 0,
            author_name: one.seen.author.clone().unwrap_or_default(),
            action: "seen".to_owned(),
            moved_from: None,
            moved_to: None,
        };
        (entry, Some(one))
    };
    let mut told = Vec::new();
    for entry in entries {
        let date = &entry.version_date;
        let is_after = |one: &SeenVersion| {
            !one.seen.is_dated(date) && date.instant().is_some_and(|date| one.seen.since() > date)
        };
        while let Some(one) = seen.next_if(is_after) {
            told.push(as_entry(one));
        }
        let twin = seen.next_if(|one| one.seen.is_dated(date));
        told.push((entry, twin));
    }
    told.extend(seen.filter(|_| is_whole).map(as_entry));
    told
}

impl Tool for GetPageHistory {
    const NAME: &'static str = "wikijs_get_page_history";
    const DESCRIPTION: &'static str = "See who changed what of a page, or with since of all pages, newest first; an entry is a version that a later change left behind (the last change is in none: its author is in view metadata, its text in compare from the first versionId). Or compare two states (diff). To restore one: wikijs_update_page with fromVersion.";
    const ANSWER: &'static str = "Absent: 0, none. Not read: in unavailable.";
    const KIND: ToolKind = ToolKind::Read;
    const EXPLAINED: Explained = &[TITLE_GOES_INTO_PAGE];
    const TAKES_PAGE_NAME: bool = true;
    const SHOWS_CHANGES: bool = true;
    const MOST_BYTES: usize = TEXT_BYTES;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        let (offset, limit) = (input::count(input.offset, 0), input::count(input.limit, 20));
        let id = match (input.id, input.since.as_deref()) {
            (Some(id), None) if input.path.is_none() => id,
            (None, Some(since)) if input.compare.is_none() => {
                let path = input.path.as_deref();
                let changes = changes::since(&context, since, path, offset, limit).await?;
                return Ok(Output {
                    changes: Some(changes),
                    ..Output::default()
                });
            }
            (Some(_), _) => {
                let fault = "names one page; leave out since and path, or ask for them without id";
                return refuse("id", fault);
            }
            (None, Some(_)) => {
                return refuse(
                    "compare",
                    "takes the id of one page; leave it out, or since",
                );
            }
            (None, None) => {
                let fault = "is required, or page with a path or a title, or since for changes of all pages or those below path";
                return refuse("id", fault);
            }
        };
        if let Some(asked) = &input.compare {
            return Ok(Output {
                comparison: Some(comparison::between(&context, id, asked).await?),
                ..Output::default()
            });
        }
        let seen = seen_versions(&context, id, offset).await?;
        let from = if seen.is_empty() { offset } else { 0 };
        let history = (context.wiki).history(id, from, offset - from + limit + 1);
        let history = history.await?;
        let is_whole = from + history.entries.len() == history.total;
        let told = merged(history.entries, seen, is_whole);
        let beside = told
            .iter()
            .filter(|(entry, _)| entry.version_id > MAX_VERSION);
        let beside = beside.count();
        let total = history.total + beside;
        let told = told.into_iter().skip(offset - from).take(limit + 1);
        let told: Vec<PastState> = told.collect();
        let changed = changed(&context, id, &told).await;
        let dates = told.iter().map(|(entry, _)| entry.version_date.clone());
        let states = dates.map(|date| (id, date));
        let ours = context.desk.past().calls_that_left(states.collect()).await;
        let entries: Vec<VersionEntry> = { told.into_iter() }
            .zip(changed.into_iter().chain(iter::repeat(None)))
            .zip(ours)
            .take(limit)
            .map(|(((entry, seen), changed), ours)| VersionEntry {
                version_id: entry.version_id,
                version_date: entry.version_date.into(),
                author_id: Some(entry.author_id).filter(|id| *id != 0),
                author_name: escape_hidden(&entry.author_name),
                ours: ours.is_some(),
                by_call_id: ours.map(|call| call.to_string()),
                action: entry.action,
                moved_from: entry.moved_from,
                moved_to: entry.moved_to,
                changed,
                seen: seen.map(|one| SeenEntry {
                    version_id: one.id,
                    at: one.seen.seen.to_string(),
                    seen_before: one.seen.seen_before(),
                    not_seen: one.unseen.into_iter().map(Field::name).collect(),
                }),
            })
            .collect();
        let is_oldest = |at: usize| offset + at + 1 == total;
        let mut shown = entries.iter().enumerate();
        let is_compared = shown.all(|(at, entry)| entry.changed.is_some() || is_oldest(at));
        Ok(Output {
            entries: Some(entries),
            total: some_count(total),
            unavailable: (!is_compared)
                .then_some(("changed", NOT_COMPARED))
                .into_iter()
                .collect(),
            hint: (total == 0).then_some(NEVER_CHANGED),
            ..Output::default()
        })
    }
}

/// The fields that each of the newest entries changed compared with its predecessor, which follows
/// it in the list.
///
/// The versions come in one request, which can be large. If it fails, the entries are listed
/// without a comparison.
async fn changed(
    context: &ToolContext,
    page: i64,
    told: &[PastState],
) -> Vec<Option<Vec<&'static str>>> {
    let told = told.get(..=MAX_COMPARED).unwrap_or(told);
    if told.len() < 2 {
        return Vec::new();
    }
    match readings(context, page, told).await {
        Ok(readings) => compared(&readings),
        Err(failure) => {
            tracing::warn!(%failure, "the versions of a page could not be compared");
            Vec::new()
        }
    }
}

/// The page in these states, as far as the wiki and the mirror give them.
async fn readings(
    context: &ToolContext,
    page: i64,
    told: &[PastState],
) -> Result<Vec<Option<PageReading>>> {
    let is_wikis = |entry: &HistoryEntry| entry.version_id <= MAX_VERSION;
    let wikis = told.iter().filter(|(entry, _)| is_wikis(entry));
    let ids: Vec<i64> = wikis.map(|(entry, _)| entry.version_id).collect();
    let mut versions = context.wiki.versions(page, &ids).await?.into_iter();
    let mut readings = Vec::with_capacity(told.len());
    for (entry, seen) in told {
        let seen = match (seen, &context.mirror) {
            (Some(seen), Some(mirror)) => mirror.seen(seen).await?,
            _ => None,
        };
        readings.push(if is_wikis(entry) {
            let version = versions.next().flatten().map(|version| version.page);
            version.map(|version| seen.into_iter().fold(version, PageReading::or))
        } else {
            seen
        });
    }
    Ok(readings)
}

/// The fields in which each of these differs from the one that follows it.
fn compared(readings: &[Option<PageReading>]) -> Vec<Option<Vec<&'static str>>> {
    let neighbours = readings.iter().zip(readings.iter().skip(1));
    neighbours
        .map(|(newer, older)| {
            let change = compare(older.as_ref()?, newer.as_ref()?).change;
            Some(change.fields().into_iter().map(Field::name).collect())
        })
        .collect()
}
