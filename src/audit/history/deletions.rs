//! The pages that writes of ours deleted since a time.

use std::collections::{HashMap, HashSet};
use std::time::SystemTime;

use time::OffsetDateTime;

use super::super::run::reader::{for_each_line, runs, scan};
use super::super::{
    AuditEvent, AuditLayout, AuditResult, CallId, KeptState, KeyDigest, Outcome, Record,
    WriteReader,
};
use crate::change::Operation;
use crate::page::{Locale, PagePath};

/// A page as it was when the record told of it: when a write of ours deleted it, or last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageOnRecord {
    /// The page's id.
    pub id: i64,
    /// Its locale.
    pub locale: Locale,
    /// Its path.
    pub path: PagePath,
    /// The call that told of it.
    pub call: CallId,
    /// The key that the call came with, where it is on record.
    pub key: Option<KeyDigest>,
    /// Its kept state before that call.
    pub before: Option<KeptState>,
    /// Time of that call; of a deletion, time at which the page was found to be gone.
    pub time: OffsetDateTime,
}

/// The most pages that the record knows and that are gone; of more the newest.
const MOST_GONE: usize = 1_000;

impl WriteReader {
    /// The pages that writes of ours deleted at a time or later, newest first.
    ///
    /// # Errors
    /// If the runs cannot be read; an invalid line is skipped.
    pub async fn deleted_since(&self, since: OffsetDateTime) -> AuditResult<Vec<PageOnRecord>> {
        self.place
            .on(move |place| {
                let mut runs = runs(place)?;
                // A run whose last write was before that time has no later records.
                runs.retain(|run| run.modified >= SystemTime::from(since));
                let mut deletions = Vec::new();
                scan(&runs, &["\"operation\":\"delete\""], |record, _| {
                    let is_deletion = record.event == AuditEvent::Outcome
                        && record.operation == Some(Operation::Delete)
                        && record.outcome == Some(Outcome::Applied);
                    let page = PageOnRecord::new(record, false).filter(|_| is_deletion);
                    deletions.extend(page.filter(|page| page.time >= since));
                })?;
                deletions.sort_by_key(|page| std::cmp::Reverse(page.time));
                Ok(deletions)
            })
            .await
    }

    /// The pages that the record knows and that are not among these ids, without those that writes of
    /// ours deleted; the one that the record told of last comes first.
    ///
    /// # Errors
    /// If the runs cannot be read; an invalid line is skipped.
    pub async fn pages_not_among(&self, there: HashSet<i64>) -> AuditResult<Vec<PageOnRecord>> {
        self.place
            .on(move |place| pages_not_among(place, &there))
            .await
    }
}

fn pages_not_among(place: &AuditLayout, there: &HashSet<i64>) -> AuditResult<Vec<PageOnRecord>> {
    let mut gone: HashMap<i64, PageOnRecord> = HashMap::new();
    let mut deleted = HashSet::new();
    for run in &runs(place)? {
        for_each_line(run, |_, line| {
            // Nearly all lines are of pages that are there, and need not be parsed.
            let is_gone = |line: &&[u8]| page_id(line).is_some_and(|id| !there.contains(&id));
            let Some(Ok(record)) = line.ok().filter(is_gone).map(Record::parse) else {
                return;
            };
            if !is_of_page(&record) {
                return;
            }
            let was_applied = record.outcome == Some(Outcome::Applied);
            if was_applied && record.operation == Some(Operation::Delete) {
                deleted.extend(record.id);
            }
            let Some(mut page) = PageOnRecord::new(record, was_applied) else {
                return;
            };
            let known = gone.get(&page.id);
            if known.is_none_or(|known| known.time <= page.time) {
                // Not every record of a call names the state.
                let same = known.filter(|known| known.call == page.call);
                page.before = page.before.or(same.and_then(|known| known.before));
                gone.insert(page.id, page);
            }
        })?;
    }
    let mut gone: Vec<PageOnRecord> = gone
        .into_values()
        .filter(|page| !deleted.contains(&page.id))
        .collect();
    gone.sort_by_key(|page| std::cmp::Reverse(page.time));
    gone.truncate(MOST_GONE);
    Ok(gone)
}

/// The id of the page in a line: the first member `id` that is a number.
fn page_id(line: &[u8]) -> Option<i64> {
    const NAME: &str = "\"id\":";
    let text = std::str::from_utf8(line).ok()?;
    text.match_indices(NAME).find_map(|(at, _)| {
        let value = text.get(at.saturating_add(NAME.len())..)?;
        let end = value.find(|c: char| !c.is_ascii_digit())?;
        value.get(..end)?.parse().ok()
    })
}

/// True if a record tells of a page that existed.
fn is_of_page(record: &Record) -> bool {
    let of_page = matches!(
        record.operation,
        Some(Operation::Create | Operation::Update | Operation::Move | Operation::Delete)
    );
    of_page && !matches!(record.event, AuditEvent::Refusal)
}

impl PageOnRecord {
    fn new(record: Record, was_applied: bool) -> Option<Self> {
        let time = record.instant()?;
        let new_path = record.new_path.filter(|_| was_applied);
        Some(Self {
            id: record.id?,
            locale: record.locale?,
            path: new_path.or(record.path)?,
            call: record.call?,
            key: record.key,
            before: record.before,
            time,
        })
    }
}
