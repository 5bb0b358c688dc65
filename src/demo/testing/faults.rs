//! Makes the wiki slow, blocked or overtaken where a test says so.

use std::time::Duration;

use axum::http::HeaderMap;
use parking_lot::{Mutex, MutexGuard};
use tokio::time::sleep;

use super::reads::{Reads, UnderWay};
use super::requests::{OperationKind, RequestLog, SeenRequest};
use crate::demo::Fault;
use crate::demo::http::View;
use crate::demo::store::{PageRow, Store};
use crate::demo::views::Theme;

/// Something that a test does to the store.
pub(super) type Hook = Box<dyn FnOnce(&mut Store) + Send>;

/// The behaviour of the wiki where a real one's depends on its load, its settings, or on other
/// people.
#[derive(Default)]
pub(super) struct Faults {
    /// API access is switched off.
    pub(super) api_disabled: bool,
    /// The time before a mutation is applied.
    pub(super) write_delay: Duration,
    /// The time between the fields of an update and its tags.
    pub(super) tags_delay: Duration,
    /// The time between the version that an update keeps and its fields.
    pub(super) overlap: Duration,
    /// The time that a rebuild of the tree takes.
    pub(super) tree_time: Duration,
    /// Two rebuilds of the tree at once: only the first succeeds.
    pub(super) tree_conflicts: bool,
    /// The number of rebuilds under way.
    pub(super) rebuilding: usize,
    /// Search hits carry row ids of the index.
    pub(super) search_row_ids: bool,
    /// The views that something before the wiki keeps from everybody.
    pub(super) blocked: Vec<View>,
    /// The additions of an administrator to every page.
    pub(super) theme: Theme,
    /// The pages that the view that readers see has in its cache, instead of those in the store.
    pub(super) cached_pages: Option<Vec<PageRow>>,
    /// The time by which the clock of the limits for comments was put forward.
    pub(super) comments_ahead: Duration,
    /// Runs right before the next editor's view is answered.
    pub(super) next_editor_view: Option<Hook>,
    /// Runs right before the next mutation is applied.
    pub(super) next_mutation: Option<Hook>,
    /// Runs right before a later operation, after this many others.
    pub(super) later: Option<(usize, Hook)>,
}

impl Faults {
    /// The act of a test that waits for this operation; one that waits for a later one counts it.
    fn due(&mut self) -> Option<Hook> {
        match self.later.take() {
            Some((0, act)) => Some(act),
            waiting => {
                self.later = waiting.map(|(before, act)| (before.saturating_sub(1), act));
                None
            }
        }
    }
}

/// What tests set for one wiki, and what they see of it.
#[derive(Default)]
pub(in crate::demo) struct Testing {
    faults: Mutex<Faults>,
    requests: Mutex<RequestLog>,
    pub(super) reads: Reads,
}

/// A rebuild of the tree that is under way.
pub(in crate::demo) struct Rebuild<'a>(&'a Testing);

impl Drop for Rebuild<'_> {
    fn drop(&mut self) {
        self.0.faults().rebuilding -= 1;
    }
}

impl Testing {
    pub(super) fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock()
    }

    pub(super) fn requests(&self) -> MutexGuard<'_, RequestLog> {
        self.requests.lock()
    }

    /// Records an operation, and runs what is set for it before the wiki answers it.
    pub(in crate::demo) async fn before<'a>(
        &self,
        request: SeenRequest,
        headers: &HeaderMap,
        store: impl Fn() -> MutexGuard<'a, Store>,
    ) -> Option<UnderWay<'_>> {
        let (kind, pages) = (request.kind, request.content_reads());
        self.requests().push(request.with_headers(headers));
        let due = self.faults().due();
        if let Some(act) = due {
            run(act, &mut store());
        }
        if kind == OperationKind::Mutation {
            let delay = self.faults().write_delay;
            pause(delay).await;
            let hook = self.faults().next_mutation.take();
            if let Some(act) = hook {
                run(act, &mut store());
            }
        }
        if pages == 0 {
            return None;
        }
        Some(self.reads.begin(pages).await)
    }

    /// The same for the source of one page, which is no operation.
    pub(in crate::demo) async fn before_source(&self) -> UnderWay<'_> {
        self.reads.begin(1).await
    }

    /// The same for an editor's view, which is no operation either.
    pub(in crate::demo) fn before_editor_view(&self, store: &mut Store) {
        let hook = self.faults().next_editor_view.take();
        if let Some(act) = hook {
            run(act, store);
        }
    }

    /// Waits between the fields of an update and its tags.
    pub(in crate::demo) async fn before_tags(&self) {
        let delay = self.faults().tags_delay;
        pause(delay).await;
    }

    /// The time between the version that an update keeps and its fields, if they are two steps.
    pub(in crate::demo) fn overlap(&self) -> Option<Duration> {
        Some(self.faults().overlap).filter(|time| !time.is_zero())
    }

    /// Begins a rebuild of the tree. Of several at once only the first succeeds, if the wiki is of
    /// the kind where they get into each other's way; if it takes time, the tree is felled first.
    pub(in crate::demo) async fn rebuild(&self, fell: impl FnOnce()) -> Result<Rebuild<'_>, Fault> {
        let time = {
            let mut faults = self.faults();
            if faults.tree_conflicts && faults.rebuilding > 0 {
                return Err(Fault::error(
                    "Error when running job rebuild-tree: insert into \"pageTree\" (\"id\", \"path\") \
                     values (1, 'home') - duplicate key value violates unique constraint \
                     \"pageTree_pkey\"",
                ));
            }
            faults.rebuilding += 1;
            faults.tree_time
        };
        let rebuild = Rebuild(self);
        if !time.is_zero() {
            fell();
            sleep(time).await;
        }
        Ok(rebuild)
    }

    /// True if a view is not found.
    pub(in crate::demo) fn is_blocked(&self, view: View) -> bool {
        self.faults().blocked.contains(&view)
    }

    /// True if API access is switched off.
    pub(in crate::demo) fn is_api_disabled(&self) -> bool {
        self.faults().api_disabled
    }

    /// True if search hits carry row ids of the index.
    pub(in crate::demo) fn has_row_ids(&self) -> bool {
        self.faults().search_row_ids
    }

    /// The additions of an administrator to every page.
    pub(in crate::demo) fn theme(&self) -> Theme {
        self.faults().theme.clone()
    }

    /// The page at a place as the view that readers see has it in its cache.
    pub(in crate::demo) fn cached_page(&self, locale: &str, path: &str) -> Option<PageRow> {
        let faults = self.faults();
        let mut cached = faults.cached_pages.iter().flatten();
        let is_it = |page: &&PageRow| page.locale == locale && page.path == path;
        cached.find(is_it).cloned()
    }

    /// The time by which the clock of the limits for comments was put forward.
    pub(in crate::demo) fn comments_ahead(&self) -> Duration {
        self.faults().comments_ahead
    }
}

/// A hook of a test, and what follows from what it did to the pages.
fn run(act: Hook, store: &mut Store) {
    act(store);
    store.settle();
}

async fn pause(time: Duration) {
    if !time.is_zero() {
        sleep(time).await;
    }
}
