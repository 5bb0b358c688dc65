//! The log as other rooms use it.

use std::io::Write as _;
use std::mem;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, RwLock, Weak};
use std::time::Duration;

use tokio::sync::Mutex;

use super::anchors::Anchors;
use super::blocking::blocking;
use super::fs;
use super::locks::{PageLocks, lock_file, lock_page, lock_tree};
use super::notices::Notices;
use super::place::Place;
use super::run::OwnRun;
use super::{
    AuditError, CallId, Entry, Event, FileLock, KeptState, PageLock, Pauses, TreeLock, kept,
};
use crate::page::PageState;
use crate::site::SiteName;

/// The log of one wiki, with its kept states.
///
/// Clones share one run. Disk work runs on blocking threads and, once begun, completes even if the
/// caller is gone.
#[derive(Debug, Clone)]
pub struct AuditLog {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    wiki: String,
    /// The site that the wiki is reached as.
    site: OnceLock<SiteName>,
    place: Place,
    pauses: Pauses,
    /// Gives turns to write, first come, first served; the guard moves into the writing task,
    /// independent of the caller.
    state: Arc<Mutex<State>>,
    /// Why the log cannot be used any more, for [`AuditLog::check`], which never waits.
    over: OnceLock<AuditError>,
    kept_bytes: AtomicU64,
    tree: Arc<Mutex<()>>,
    pages: Arc<PageLocks>,
    anchors: OnceLock<Arc<Anchors>>,
    notices: RwLock<Option<Arc<Notices>>>,
}

/// A log that is not kept alive.
#[derive(Debug)]
pub(super) struct WeakLog(Weak<Shared>);

impl WeakLog {
    /// The log, as long as somebody else has it.
    pub(super) fn upgrade(&self) -> Option<AuditLog> {
        self.0.upgrade().map(|shared| AuditLog { shared })
    }
}

#[derive(Debug)]
enum State {
    /// No event yet: no file.
    Fresh,
    Running(OwnRun),
    /// A write failed. The file stays locked, since only this run can know the outcome of a write
    /// to the wiki that is still under way.
    Failed(AuditError, Option<OwnRun>),
    Ended,
}

/// The proof that an attempt is on record and has reached the disk.
///
/// Only [`AuditLog::attempt`] makes one, and sending the write consumes it:
///
/// ```compile_fail,E0451
/// use wikijs_mcp::audit::{CallId, OnRecord};
///
/// let forged = OnRecord { call: CallId::new().unwrap() };
/// ```
///
/// ```compile_fail,E0599
/// fn twice(proof: wikijs_mcp::audit::OnRecord) -> [wikijs_mcp::audit::OnRecord; 2] {
///     [proof.clone(), proof]
/// }
/// ```
#[derive(Debug)]
#[must_use = "a write that is not sent needs an outcome on record"]
pub struct OnRecord {
    call: CallId,
}

impl OnRecord {
    /// The call whose attempt is on record.
    #[must_use]
    pub const fn call(&self) -> CallId {
        self.call
    }
}

impl AuditLog {
    /// The log of a wiki in this audit directory. Nothing on the disk is touched before the
    /// first event.
    #[must_use]
    pub fn new(dir: &Path, wiki_name: &str) -> Self {
        Self::heeding(dir, wiki_name, Pauses::of(dir))
    }

    pub(super) fn heeding(dir: &Path, wiki_name: &str, pauses: Pauses) -> Self {
        Self {
            shared: Arc::new(Shared {
                wiki: wiki_name.to_owned(),
                site: OnceLock::new(),
                place: Place::new(dir, wiki_name),
                pauses,
                state: Arc::new(Mutex::new(State::Fresh)),
                over: OnceLock::new(),
                kept_bytes: AtomicU64::new(0),
                tree: Arc::default(),
                pages: Arc::default(),
                anchors: OnceLock::new(),
                notices: RwLock::default(),
            }),
        }
    }

    /// The name of the wiki whose log it is.
    #[must_use]
    pub fn wiki(&self) -> &str {
        &self.shared.wiki
    }

    /// Puts the name of a site on every record from now on.
    pub fn of_site(&self, site: SiteName) {
        // It is said once, before the first record.
        let _ = self.shared.site.set(site);
    }

    /// The site that the wiki is reached as.
    #[must_use]
    pub fn site(&self) -> Option<&SiteName> {
        self.shared.site.get()
    }

    /// Where this log looks for a pause of all writes.
    #[must_use]
    pub fn pauses(&self) -> &Pauses {
        &self.shared.pauses
    }

    /// Whether the log still takes records. Costs nothing, and does not promise that the next
    /// record can be written.
    ///
    /// # Errors
    /// Why it takes none until a restart.
    pub fn check(&self) -> Result<(), AuditError> {
        self.shared.over.get().cloned().map_or(Ok(()), Err)
    }

    /// Checks that a record could be written now and that every file a server needs can be opened,
    /// by making and removing a file beside the log.
    ///
    /// # Errors
    /// Why not.
    pub async fn probe(&self) -> Result<(), AuditError> {
        self.check()?;
        self.check_open().await?;
        let place = self.place();
        blocking(move || {
            let path = place.probe();
            let tried = fs::make_dir(&place.wiki)
                .and_then(|()| fs::open_lock_file(&path)?.write_all(&[b' '; 4096]))
                .and_then(|()| match std::fs::remove_file(&path) {
                    // Another server or another probe removed it first.
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
                    removed => removed,
                });
            tried.map_err(|error| AuditError::at(&path, "write", &error))
        })
        .await
    }

    /// Records an attempt: written and synced. Its event is [`Event::Attempt`], whatever the entry
    /// says. The states that it names must be kept already.
    ///
    /// # Errors
    /// If it is not surely on record, or writes are paused at this moment: nothing may be sent
    /// then.
    pub async fn attempt(&self, entry: Entry) -> Result<OnRecord, AuditError> {
        let call = entry.call;
        let event = Event::Attempt;
        let entry = Entry { event, ..entry };
        self.in_turn(move |shared, state| match shared.pauses.look() {
            Some(pause) => (state, Err(AuditError::Paused(Box::new(pause)))),
            None => shared.write(state, &entry),
        })
        .await?;
        Ok(OnRecord { call })
    }

    /// Records any other event; all but refusals and previews are synced.
    ///
    /// # Errors
    /// If it is not surely on record. [`AuditError::WrongEvent`] for events that only the log
    /// itself writes, and for an attempt, which has [`Self::attempt`].
    pub async fn record(&self, entry: Entry) -> Result<(), AuditError> {
        match entry.event {
            Event::Start | Event::Attempt | Event::Closed => Err(AuditError::WrongEvent),
            Event::Refusal
            | Event::Preview
            | Event::Approval
            | Event::Outcome
            | Event::Proposal
            | Event::Pause
            | Event::Settings
            | Event::Memory
            | Event::Delegation
            | Event::Purge => {
                if let (Event::Purge, Some(anchors)) = (entry.event, self.anchors()) {
                    anchors.remove(&entry.removed);
                }
                let counts = entry.event.is_synced();
                let notice = self.notices().and_then(|notices| notices.of(&entry));
                self.write(entry).await?;
                if counts {
                    self.wake_anchors();
                }
                if let Some(notice) = notice {
                    self.notify(&notice);
                }
                Ok(())
            }
        }
    }

    /// Ends the run: after all earlier entries the last record is written, if there was a first. No
    /// record is taken afterwards. Calling it again does no harm.
    ///
    /// # Errors
    /// If the last record could not be written, or an earlier write had failed.
    pub async fn close(&self) -> Result<(), AuditError> {
        let closed = self.in_turn(|shared, state| match state {
            State::Fresh | State::Ended => (shared.end(), Ok(())),
            State::Running(mut run) => match run.close() {
                Ok(()) => (shared.end(), Ok(())),
                Err(error) => (shared.fail(&error, Some(run)), Err(error)),
            },
            State::Failed(why, run) => (State::Failed(why.clone(), run), Err(why)),
        });
        let closed = closed.await;
        self.anchor_now().await;
        if let Some(notices) = self.notices() {
            notices.notifier().finish().await;
        }
        closed
    }

    /// Keeps a state of a page: completely on the disk before this returns. Equal states share a
    /// file; a damaged one is written again.
    ///
    /// # Errors
    /// If the state is not surely kept. The log itself stays usable.
    pub async fn keep(&self, state: &PageState) -> Result<KeptState, AuditError> {
        let (shared, state) = (Arc::clone(&self.shared), state.clone());
        blocking(move || {
            let kept = kept::keep(&shared.place, &state)?;
            let length = std::fs::metadata(shared.place.kept(kept)).map_or(0, |file| file.len());
            shared.kept_bytes.fetch_add(length, Ordering::Relaxed);
            Ok(kept)
        })
        .await
    }

    /// How many bytes of states this process has kept, repeated ones included.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.shared.kept_bytes.load(Ordering::Relaxed)
    }

    /// Reads a kept state back.
    ///
    /// # Errors
    /// [`AuditError::Missing`], or [`AuditError::Damaged`] if it is not what its name says.
    pub async fn kept(&self, name: KeptState) -> Result<PageState, AuditError> {
        let shared = Arc::clone(&self.shared);
        blocking(move || kept::kept(&shared.place, name)).await
    }

    /// How many bytes kept states take once they are loaded.
    ///
    /// # Errors
    /// [`AuditError::BrokenOff`].
    pub async fn bytes_of_states(&self, names: Vec<KeptState>) -> Result<usize, AuditError> {
        let shared = Arc::clone(&self.shared);
        blocking(move || {
            let sizes = names
                .into_iter()
                .map(|name| kept::size(&shared.place, name));
            Ok(sizes.fold(0, usize::saturating_add))
        })
        .await
    }

    /// Waits for the right to create, move or delete in this wiki, which only one write has at a
    /// time (W19): in this process first come, first served, and across all processes that share
    /// the audit directory.
    ///
    /// A write that needs both locks takes the page's first.
    ///
    /// # Errors
    /// [`AuditError::Busy`] after `wait`.
    pub async fn lock_tree(&self, wait: Duration) -> Result<TreeLock, AuditError> {
        lock_tree(&self.shared.place, &self.shared.tree, wait).await
    }

    /// Waits for the right to settle open attempts, which only one run has at a time among all that
    /// share the audit directory.
    ///
    /// # Errors
    /// [`AuditError::Busy`] after `wait`.
    pub async fn lock_recovery(&self, wait: Duration) -> Result<FileLock, AuditError> {
        lock_file(self.shared.place.recovery_lock(), wait).await
    }

    /// Waits for the right to update a page, which only one write has at a time: in this process
    /// first come, first served, and across all processes that share the audit directory.
    ///
    /// # Errors
    /// [`AuditError::Busy`] after `wait`.
    pub async fn lock_page(&self, id: i64, wait: Duration) -> Result<PageLock, AuditError> {
        lock_page(&self.shared.place, &self.shared.pages, id, wait).await
    }

    /// Where heads are anchored, if they are.
    pub(super) fn anchors(&self) -> Option<&Arc<Anchors>> {
        self.shared.anchors.get()
    }

    pub(super) fn notices_cell(&self) -> &RwLock<Option<Arc<Notices>>> {
        &self.shared.notices
    }

    pub(super) fn anchors_cell(&self) -> &OnceLock<Arc<Anchors>> {
        &self.shared.anchors
    }

    pub(super) fn downgrade(&self) -> WeakLog {
        WeakLog(Arc::downgrade(&self.shared))
    }

    /// Where it lies, for those who read it back.
    pub(super) fn place(&self) -> Place {
        self.shared.place.clone()
    }

    async fn write(&self, entry: Entry) -> Result<(), AuditError> {
        self.in_turn(move |shared, state| shared.write(state, &entry))
            .await
    }

    /// Runs work on the state of the log after all earlier work, to its end even if the caller is
    /// gone.
    async fn in_turn<W>(&self, work: W) -> Result<(), AuditError>
    where
        W: FnOnce(&Shared, State) -> (State, Result<(), AuditError>) + Send + 'static,
    {
        let mut state = Arc::clone(&self.shared.state).lock_owned().await;
        let shared = Arc::clone(&self.shared);
        let done = blocking(move || {
            // If the work panics, the log stays in this failed state.
            let broken_off = State::Failed(AuditError::BrokenOff, None);
            let (next, result) = work(&shared, mem::replace(&mut *state, broken_off));
            *state = next;
            result
        })
        .await;
        if let Err(why @ AuditError::BrokenOff) = &done {
            let _ = self.shared.over.set(why.clone());
        }
        done
    }
}

impl Shared {
    fn write(&self, state: State, entry: &Entry) -> (State, Result<(), AuditError>) {
        let mut run = match state {
            State::Running(run) => run,
            // Without a file nothing is lost, so a later record may try again.
            State::Fresh => match OwnRun::make(&self.place, &self.wiki, self.site.get().cloned()) {
                Err(error) => return (State::Fresh, Err(error)),
                Ok(mut run) => match run.start(&self.place) {
                    Err(error) => return (self.fail(&error, Some(run)), Err(error)),
                    Ok(heads) => {
                        if let Some(anchors) = self.anchors.get() {
                            anchors.begin(run.run(), heads);
                        }
                        run
                    }
                },
            },
            State::Failed(why, run) => return (State::Failed(why.clone(), run), Err(why)),
            State::Ended => return (State::Ended, Err(AuditError::Ended)),
        };
        match run.record(entry) {
            Ok(()) => (State::Running(run), Ok(())),
            // Detected before anything was written.
            Err(AuditError::TooLarge) => (State::Running(run), Err(AuditError::TooLarge)),
            Err(error) => (self.fail(&error, Some(run)), Err(error)),
        }
    }

    fn fail(&self, error: &AuditError, run: Option<OwnRun>) -> State {
        let why = match error {
            AuditError::Io(kind) => AuditError::Failed(*kind),
            other => other.clone(),
        };
        // Only the first reason counts.
        let _ = self.over.set(why.clone());
        State::Failed(why, run)
    }

    fn end(&self) -> State {
        let _ = self.over.set(AuditError::Ended);
        State::Ended
    }
}

#[cfg(test)]
mod tests;
