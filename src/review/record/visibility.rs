//! Filters the record by what somebody may see: by the places on record, and by where pages are now.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use super::super::{Reviewer, decision};
use crate::audit::{CallGroup, CallHistory, CallVisibility, Record};
use crate::error::Result;

/// The part of the record that a reviewer may see.
#[derive(Debug, Clone)]
pub(super) struct RecordVisibility {
    reviewer: Reviewer,
    /// The proposals that they may see, by their ids.
    proposals: HashSet<String>,
    /// The pages that are now where they see nothing, wherever they were before.
    outside: Arc<HashSet<i64>>,
}

impl RecordVisibility {
    /// Finds the part of the record that this person may see.
    ///
    /// # Errors
    /// What keeps the proposals from being read.
    pub(super) async fn load(reviewer: &Reviewer) -> Result<Self> {
        let mut proposals = HashSet::new();
        let outside = reviewer.ids_outside(Some(Instant::now())).await?;
        if !reviewer.sees_all {
            let all = reviewer.bench.desk.proposals().all().await?.into_iter();
            let own = all.filter(|one| decision::is_within(reviewer, one, &outside));
            proposals.extend(own.map(|one| one.id.to_string()));
        }
        Ok(Self {
            reviewer: reviewer.clone(),
            proposals,
            outside: Arc::new(outside),
        })
    }

    /// True if they see everything.
    pub(super) const fn is_all(&self) -> bool {
        self.reviewer.sees_all
    }

    /// Decides if they may see a call, by the places that it names.
    pub(super) fn sees(&self, call: &CallHistory) -> CallVisibility {
        if self.is_all() {
            return CallVisibility::Yes;
        }
        let places_are_own = call.records.iter().all(|record| self.is_within(record));
        if !places_are_own {
            return CallVisibility::No;
        }
        let is_change_of_set = call.set.is_some() && !call.is_set();
        // A call about a whole set or proposal may name its first page alone.
        match call.latest(|record| record.proposal.as_deref()) {
            Some(proposal) if !is_change_of_set && self.proposals.contains(proposal) => {
                CallVisibility::Yes
            }
            Some(_) if !is_change_of_set => CallVisibility::No,
            _ if call.is_set() => CallVisibility::AsItsChanges,
            // What names no page is about the server.
            _ if call.records.iter().any(|record| record.path.is_some()) => CallVisibility::Yes,
            _ => CallVisibility::No,
        }
    }

    fn is_within(&self, record: &Record) -> bool {
        let (Some(locale), Some(path)) = (&record.locale, &record.path) else {
            return record.path.is_none() && record.new_path.is_none();
        };
        if record.id.is_some_and(|id| self.outside.contains(&id)) {
            return false;
        }
        let scope = self.reviewer.bench.wiki.scope();
        let paths = std::iter::once(path)
            .chain(&record.new_path)
            .chain(&record.aside);
        { paths }.all(|path| {
            self.reviewer.decides_about(locale, path) && scope.admits_place(locale, path)
        })
    }

    /// The calls of a group that they may see by the tags of their pages, too; whether any is left.
    ///
    /// # Errors
    /// What the wiki says where its pages have to be looked at.
    pub(super) async fn narrow(&self, group: &mut CallGroup) -> Result<bool> {
        if self.is_all() || self.reviewer.bench.wiki.scope().is_open() {
            return Ok(true);
        }
        let past = self.reviewer.bench.desk.past();
        let mut changes = Vec::new();
        for change in std::mem::take(&mut group.changes) {
            if past.admits(&change).await? {
                changes.push(change);
            }
        }
        let lost = group.of_changes > changes.len();
        group.keep_changes(changes);
        let mut calls = Vec::new();
        for call in std::mem::take(&mut group.calls) {
            if !(lost && call.is_set()) && past.admits(&call).await? {
                calls.push(call);
            }
        }
        if lost {
            for change in &mut group.changes {
                for record in &mut change.records {
                    (record.note, record.reason) = (None, None);
                }
            }
        }
        group.calls = calls;
        Ok(group.head().is_some())
    }
}
