//! Reports the calls of a delegate, by the record.

use std::sync::Arc;

use super::super::audit_entry::unavailable;
use super::super::context::WriteContext;
use super::handover::HandedOver;
use crate::audit::{AuditEvent, CallHistory, ClientId, Latest, Proposal};
use crate::error::Failure;

/// The most calls that are told one by one.
const MOST_CALLS: usize = 20;

/// A report on a delegate, as far as the asker may know it.
#[derive(Debug)]
pub struct DelegateReport {
    /// Its id.
    pub id: ClientId,
    /// Its name, after that of its maker.
    pub name: String,
    /// The time of its end, in RFC 3339.
    pub ended: String,
    /// The reason for its end.
    pub why: &'static str,
    /// The number of changes that it made or proposed.
    pub used: u32,
    /// The most changes that it might have made.
    pub writes: u32,
    /// The sets that it left open, whatever became of them, oldest first.
    pub sets: Vec<Proposal>,
    /// Its newest calls on record, the newest first.
    pub calls: Vec<CallHistory>,
    /// The number of its calls on record.
    pub all_calls: u64,
    /// The state of its memories.
    pub memories: HandedOver,
}

impl WriteContext {
    /// The sets of a client, its newest calls on record, and how many there are.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`; what the wiki says, where not everything may be read.
    pub async fn deeds_of(
        &self,
        id: ClientId,
    ) -> Result<(Vec<Proposal>, Vec<CallHistory>, u64), Failure> {
        let mut sets = self.proposals.all().await?;
        sets.retain(|set| set.client.id == Some(id));
        let log = Arc::clone(&self.audit);
        let read = tokio::task::spawn_blocking(move || {
            let mut latest = Latest::of(MOST_CALLS);
            let mut all = 0_u64;
            let read = log.calls(|call| {
                let is_its = call.client().is_some_and(|client| client.id == Some(id));
                let is_about_itself = call
                    .records
                    .iter()
                    .all(|record| record.event == AuditEvent::Delegation);
                if is_its && !is_about_itself {
                    all = all.saturating_add(1);
                    latest.add(call);
                }
            });
            read.map(|_| (latest.into_calls(), all))
        });
        let (calls, mut all) = match read.await {
            Ok(read) => read.map_err(|error| unavailable(&error))?,
            Err(_) => (Vec::new(), 0),
        };
        let mut admitted = Vec::new();
        for call in calls {
            if self.past.admits(&call).await? {
                admitted.push(call);
            }
        }
        // How much there is of what may not be read is not told either.
        if !self.wiki.scope().is_open() {
            all = u64::try_from(admitted.len()).unwrap_or(u64::MAX);
        }
        Ok((sets, admitted, all))
    }
}
