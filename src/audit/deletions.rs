//! The pages that writes of ours deleted since a time.

use std::time::SystemTime;

use time::OffsetDateTime;

use super::blocking::blocking;
use super::place::Place;
use super::reader::{runs, scan};
use super::{AuditError, AuditLog, CallId, Event, KeyDigest, Outcome};
use crate::change::Operation;
use crate::page::{Locale, PagePath};

/// A page that a write of ours deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletion {
    /// The call that deleted it.
    pub call: CallId,
    /// The key that the call came with, where it is on record.
    pub key: Option<KeyDigest>,
    /// The page's id.
    pub id: i64,
    /// Its locale.
    pub locale: Locale,
    /// Its path.
    pub path: PagePath,
    /// When it was found to be gone.
    pub time: OffsetDateTime,
}

impl AuditLog {
    /// The pages that writes of ours deleted at a time or later, newest first.
    ///
    /// # Errors
    /// If the runs cannot be read; an invalid line is skipped.
    pub async fn deleted_since(&self, since: OffsetDateTime) -> Result<Vec<Deletion>, AuditError> {
        let place = self.place();
        blocking(move || deleted_since(&place, since)).await
    }
}

fn deleted_since(place: &Place, since: OffsetDateTime) -> Result<Vec<Deletion>, AuditError> {
    let mut runs = runs(place)?;
    // A run whose last write was before that time has no later records.
    runs.retain(|run| run.modified >= SystemTime::from(since));
    let mut deletions = Vec::new();
    scan(&runs, &["\"operation\":\"delete\""], |told| {
        let Ok(record) = told.record else { return };
        let is_deletion = record.event == Event::Outcome
            && record.operation == Some(Operation::Delete)
            && record.outcome == Some(Outcome::Applied);
        let Some(time) = record
            .instant()
            .filter(|time| is_deletion && *time >= since)
        else {
            return;
        };
        if let (Some(call), Some(id)) = (record.call, record.id)
            && let (Some(locale), Some(path)) = (record.locale, record.path)
        {
            deletions.push(Deletion {
                call,
                key: record.key,
                id,
                locale,
                path,
                time,
            });
        }
    })?;
    deletions.sort_by_key(|deletion| std::cmp::Reverse(deletion.time));
    Ok(deletions)
}
