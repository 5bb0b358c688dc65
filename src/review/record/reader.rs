//! Reads the record for somebody, on threads that may block, a few at a time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::super::auth::Reviewer;
use super::call::{AllChanged, read_changes};
use super::chart::Chart;
use super::visibility::RecordVisibility;
use crate::audit::{
    AuditError, AuditLog, AuditResult, CallFilter, CallGroup, CallHistory, CallId, CallSelector,
    CallStats, GroupLimits, Groups,
};
use crate::error::{Code, Failure, Result};
use crate::render_budget::{self, RenderBudgetExceeded};

/// The number of rows on a page of the list.
const ROWS: usize = 50;
/// The number of a set's changes that are read for a row.
const CHANGES_OF_ROW: usize = 50;
/// The most readings of the log for one page, where most of it may not be seen.
const MOST_READINGS: usize = 6;
/// The most changes of a set that are shown in detail.
const MOST_CHANGES: usize = 200;
/// The most bytes of differences on one page.
const MOST_BYTES: usize = 256 * 1024;
/// The most readers at once; each holds as much memory as a command of the operator.
const AT_ONCE: usize = 2;

/// Lets a few read at once.
#[derive(Debug, Clone)]
pub(crate) struct Readers(Arc<Semaphore>);

impl Default for Readers {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl Readers {
    /// A place among those who read at once, for as long as it is held.
    ///
    /// # Errors
    /// If none is free for a while.
    pub(crate) async fn place(&self) -> Result<OwnedSemaphorePermit> {
        let place = Arc::clone(&self.0).acquire_owned();
        match tokio::time::timeout(render_budget::PATIENCE, place).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => Err(RenderBudgetExceeded.into()),
        }
    }
}

/// A page of the list.
#[derive(Debug, Default)]
pub(super) struct CallListPage {
    pub groups: Groups,
    /// Figures of all calls that the filter takes, for whoever sees all of them.
    pub figures: Option<(CallStats, Chart)>,
}

/// The reason why the record is not read.
#[derive(Debug)]
pub(super) enum RecordReadError {
    /// Others read it, or compare large pages.
    Busy(Failure),
    /// Something else, in a sentence.
    Fault(String),
}

impl From<Failure> for RecordReadError {
    fn from(failure: Failure) -> Self {
        if failure.code == Code::RateLimited {
            Self::Busy(failure)
        } else {
            Self::Fault(failure.to_string())
        }
    }
}

impl From<AuditError> for RecordReadError {
    fn from(error: AuditError) -> Self {
        Self::Fault(error.to_string())
    }
}

/// The groups of a page of the list.
pub(super) async fn list(
    readers: &Readers,
    reviewer: &Reviewer,
    filter: &CallFilter,
    before: Option<CallId>,
) -> Result<CallListPage, RecordReadError> {
    let sight = RecordVisibility::load(reviewer).await?;
    let log = reviewer.bench.desk.audit().clone();
    let mut before = match before {
        None => None,
        Some(call) => Some(story_of(&log, call).await?),
    };
    let mut listed = CallListPage::default();
    let mut kept: Vec<CallGroup> = Vec::new();
    for _ in 0..MOST_READINGS {
        let (filter, source, own) = (filter.clone(), log.clone(), sight.clone());
        let from = before.take();
        let read = blocking(readers, move || {
            let mut counted = own.is_all().then(<(CallStats, Chart)>::default);
            let room = GroupLimits {
                groups: ROWS,
                changes: CHANGES_OF_ROW,
            };
            let sees = |call: &CallHistory| own.sees(call);
            let groups = source
                .calls
                .groups((&filter, from.as_ref()), &sees, room, |call| {
                    if let Some((figures, chart)) = &mut counted {
                        figures.count(call);
                        chart.count(call);
                    }
                })?;
            Ok(CallListPage {
                groups,
                figures: counted,
            })
        });
        listed = read.await?;
        for mut group in std::mem::take(&mut listed.groups.groups) {
            if sight.narrow(&mut group).await? {
                kept.push(group);
            }
        }
        match listed.groups.next {
            Some(next) if kept.len() < ROWS / 2 => {
                before = Some(story_of(&log, next).await?);
            }
            _ => break,
        }
    }
    listed.groups.groups = kept;
    Ok(listed)
}

async fn story_of(log: &AuditLog, call: CallId) -> Result<CallHistory, RecordReadError> {
    let story = log.calls.story(&CallSelector::from(call)).await;
    story.map_err(|fault| RecordReadError::Fault(fault.to_string()))
}

/// The group of calls that an id stands for, with its changes: a call's, a set's or a proposal's.
pub(super) async fn group(
    readers: &Readers,
    reviewer: &Reviewer,
    id: &str,
) -> Result<Option<CallGroup>, RecordReadError> {
    let sight = RecordVisibility::load(reviewer).await?;
    let log = reviewer.bench.desk.audit().clone();
    let (own, id) = (sight.clone(), id.to_owned());
    let read = blocking(readers, move || {
        log.calls.group(&id, &|call| own.sees(call), MOST_CHANGES)
    });
    let Some(mut group) = read.await? else {
        return Ok(None);
    };
    let is_there = sight.narrow(&mut group).await?;
    Ok(is_there.then_some(group))
}

/// The changes that the calls of a group made, as far as there is room on a page.
pub(super) async fn changed(
    readers: &Readers,
    reviewer: &Reviewer,
    group: &CallGroup,
) -> Result<AllChanged, RecordReadError> {
    let log = reviewer.bench.desk.audit().clone();
    let calls = group.all().filter(|call| call.pages() == 1);
    let calls: Vec<CallHistory> = calls.cloned().collect();
    // One call after another is rebuilt.
    let mut most = 0;
    for call in &calls {
        let states = call.states_around().into_iter().flatten();
        most = most.max(log.states.bytes_of(states.collect()).await?);
    }
    render_budget::hold(most).await.map_err(Failure::from)?;
    blocking(readers, move || {
        let mut left = MOST_BYTES;
        read_changes(&log, &calls, &mut left)
    })
    .await
}

async fn blocking<T: Send + 'static>(
    readers: &Readers,
    work: impl FnOnce() -> AuditResult<T> + Send + 'static,
) -> Result<T, RecordReadError> {
    let broken = || RecordReadError::Fault("the reading broke off".to_owned());
    let permit = readers.place().await?;
    // The work goes on though its reader hangs up, and counts as reading until it ends.
    let read = crate::blocking::run(move || {
        let done = work();
        drop(permit);
        done
    });
    Ok(read.await.ok_or_else(broken)??)
}
