//! Holds the state that all requests of one demo wiki share.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::fault::Fault;
use super::head::Theme;
use super::keys::Keyring;
use super::reads::Reads;
use super::requests::RequestLog;
use super::store::{PageRow, Store};

/// Something that a test does to the store.
pub(super) type Hook = Box<dyn FnOnce(&mut Store) + Send>;

/// The behaviour of the wiki where a real one's depends on its load, its settings, or on other
/// people.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own, set by one control"
)]
pub(super) struct Behaviour {
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
    /// Something before the wiki keeps editors out.
    pub(super) editor_view_blocked: bool,
    /// True if the view that readers see is not found.
    pub(super) reader_view_blocked: bool,
    /// The additions of an administrator to every page.
    pub(super) theme: Theme,
    /// The pages that the view that readers see has in its cache, instead of those in the store.
    pub(super) cached_pages: Option<Vec<PageRow>>,
    /// True if the view that gives a page's source is not found.
    pub(super) source_view_blocked: bool,
    /// The times of comments.
    pub(super) comments: CommentTimes,
    /// Runs right before the next editor's view is answered.
    pub(super) next_editor_view: Option<Hook>,
    /// Runs right before the next mutation is applied.
    pub(super) next_mutation: Option<Hook>,
    /// Runs right before a later operation, after this many others.
    pub(super) later: Option<(usize, Hook)>,
}

/// The times at which comments were sent and written, by a clock that tests put forward.
#[derive(Default)]
pub(super) struct CommentTimes {
    /// The time by which the clock was put forward.
    pub(super) ahead: Duration,
    /// The start of the limit's window.
    window: Option<Instant>,
    /// The time of the last comment of the account of all keys.
    written: Option<Instant>,
}

/// One comment in this time for one address (W31).
const LIMIT: Duration = Duration::from_secs(15);
/// One comment in this time for one account (W31).
const DELAY: Duration = Duration::from_secs(30);

impl CommentTimes {
    fn now(&self) -> Instant {
        Instant::now() + self.ahead
    }
}

/// The wiki behind the handlers.
#[derive(Default)]
pub(super) struct Shared {
    store: Mutex<Store>,
    keyring: Mutex<Keyring>,
    behaviour: Mutex<Behaviour>,
    requests: Mutex<RequestLog>,
    /// The reads of pages' content.
    pub(super) reads: Reads,
}

impl Shared {
    pub(super) fn store(&self) -> MutexGuard<'_, Store> {
        lock(&self.store)
    }

    pub(super) fn keyring(&self) -> MutexGuard<'_, Keyring> {
        lock(&self.keyring)
    }

    pub(super) fn behaviour(&self) -> MutexGuard<'_, Behaviour> {
        lock(&self.behaviour)
    }

    /// Counts a comment that is sent; the limit holds whatever becomes of it.
    pub(super) fn take_comment(&self) -> Result<(), Fault> {
        let times = &mut self.behaviour().comments;
        let now = times.now();
        if let Some(left) = times
            .window
            .and_then(|began| (began + LIMIT).checked_duration_since(now))
            && !left.is_zero()
        {
            return Err(Fault::Limited(
                left.as_secs() + u64::from(left.subsec_nanos() > 0),
            ));
        }
        times.window = Some(now);
        Ok(())
    }

    /// True if the account's last comment was written or changed long enough ago.
    pub(super) fn may_comment(&self) -> bool {
        let times = &self.behaviour().comments;
        let now = times.now();
        times
            .written
            .is_none_or(|at| now.saturating_duration_since(at) >= DELAY)
    }

    /// A comment was written or changed now.
    pub(super) fn commented(&self) {
        let times = &mut self.behaviour().comments;
        times.written = Some(times.now());
    }

    pub(super) fn requests(&self) -> MutexGuard<'_, RequestLog> {
        lock(&self.requests)
    }
}

/// A test that panics while it holds the store must not take the wiki along.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
