//! Counts the recent writes of a client.

use std::collections::HashSet;

use time::OffsetDateTime;

use super::blocking::blocking;
use super::reader::{runs, scan};
use super::{AuditError, AuditLog, CallId, Client, Event};

impl AuditLog {
    /// How many writes were attempted since a time by clients with one of these names, or without
    /// names, by clients that have none. Only runs that were written since are read.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub async fn writes_since(
        &self,
        names: Vec<String>,
        since: OffsetDateTime,
    ) -> Result<u64, AuditError> {
        let place = self.place();
        blocking(move || {
            let is_meant = |client: &Client| {
                let own = client.names();
                if names.is_empty() {
                    return own.is_empty();
                }
                own.iter()
                    .any(|own| names.iter().any(|name| name.eq_ignore_ascii_case(own)))
            };
            let mut calls: HashSet<CallId> = HashSet::new();
            for run in runs(&place)? {
                if OffsetDateTime::from(run.modified) < since {
                    continue;
                }
                scan([&run], &["\"attempt\""], |told| {
                    let Ok(record) = told.record else { return };
                    let is_attempt = record.event == Event::Attempt;
                    let is_since = record.instant().is_some_and(|at| at >= since);
                    if is_attempt
                        && is_since
                        && record.client.as_ref().is_some_and(is_meant)
                        && let Some(call) = record.call
                    {
                        calls.insert(call);
                    }
                })?;
            }
            Ok(u64::try_from(calls.len()).unwrap_or(u64::MAX))
        })
        .await
    }
}
