//! The log as other rooms use it.

use std::mem;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use tokio::sync::{Mutex as Turns, OwnedMutexGuard};

use super::disk::blocking::{LONGEST_WAIT, blocking};
use super::run::own::OwnRun;
use super::{
    Anchoring, AuditEntry, AuditError, AuditEvent, AuditLayout, AuditResult, CallId, CallReader,
    DraftStore, FileHead, LogUpkeep, NoticeSlot, Pauses, ProposalStore, RunReader, StateStore,
    UnsettledWrites, WriteReader,
};
use crate::site::SiteName;
use crate::store::{HeldLease, LeaseName, LeaseQueue, Store, StoreHome};

/// Room in bytes needed to begin a run after one that had none: for its first record without the
/// heads of others, and some more.
const ROOM: usize = 64 * 1024;
/// Additional room in bytes for each existing run.
const ROOM_OF_HEAD: usize = 256;

/// The log of one wiki: it takes records, and its parts answer what is on record and keep what lies
/// beside it.
///
/// Clones share one run. Disk work runs on blocking threads and, once begun, completes even if the
/// caller is gone.
#[derive(Debug, Clone)]
pub struct AuditLog {
    parts: Arc<LogParts>,
    /// The calls on record.
    pub calls: CallReader,
}

/// The number of times that others may have had what a run of this process held, so that they may have settled
/// what it had begun.
#[derive(Debug, Clone, Default)]
pub struct TimesOvertaken(Arc<AtomicU64>);

impl TimesOvertaken {
    fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The number so far.
    pub fn so_far(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// A lease that is sure as long as there are no more than so many.
    pub fn lease_since(&self, so_far: u64) -> HeldLease {
        let times = self.clone();
        HeldLease::as_long_as(move || times.so_far() == so_far)
    }
}

impl Deref for AuditLog {
    type Target = LogParts;

    fn deref(&self) -> &LogParts {
        &self.parts
    }
}

/// The parts of a log, each for one purpose.
#[derive(Debug)]
pub struct LogParts {
    wiki: String,
    /// The site that the wiki is reached as.
    site: OnceLock<SiteName>,
    pub(super) place: AuditLayout,
    /// The pauses of all writes that this log heeds.
    pub pauses: Pauses,
    /// The leases of this wiki.
    pub leases: LeaseQueue,
    /// The runs.
    pub runs: RunReader,
    /// The writes on record.
    pub writes: WriteReader,
    /// The states of pages that are kept.
    pub states: StateStore,
    /// The proposals.
    pub proposals: ProposalStore,
    /// The drafts.
    pub drafts: DraftStore,
    /// The writes of this process that are not settled.
    pub unsettled: UnsettledWrites,
    /// The anchors of this run, if heads are anchored.
    pub anchoring: Arc<Anchoring>,
    /// The recipients of notices.
    pub notices: NoticeSlot,
    /// Checks and copies all of it.
    pub upkeep: LogUpkeep,
    /// Gives turns to write, first come, first served; the guard moves into the writing task,
    /// independent of the caller.
    state: Arc<Turns<LogState>>,
    /// The reason the log cannot be used, for [`AuditLog::check`], which never waits.
    over: RwLock<Option<AuditError>>,
    /// Counts when others may have had what a run of this process held.
    pub overtaken: TimesOvertaken,
}

#[derive(Debug)]
enum LogState {
    /// No event yet: no file.
    Fresh,
    Running(OwnRun),
    /// A write failed. The run stays held, since only this run can know the outcome of a write
    /// to the wiki that is still under way. If that may pass, the next record tries a new run.
    Failed(AuditError, Option<OwnRun>),
    Ended,
}

/// The lease to begin a run, where one may begin.
type RunLease = AuditResult<Option<HeldLease>>;

/// The proof that an attempt is on record and has reached the disk.
///
/// Only [`AuditLog::attempt`] makes one, and sending the write consumes it:
///
/// ```compile_fail,E0451
/// use wikijs_gate_core::audit::{CallId, OnRecord};
///
/// let forged = OnRecord { call: CallId::new().unwrap() };
/// ```
///
/// ```compile_fail,E0599
/// fn twice(proof: wikijs_gate_core::audit::OnRecord) -> [wikijs_gate_core::audit::OnRecord; 2] {
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
    pub const fn call(&self) -> CallId {
        self.call
    }
}

impl AuditLog {
    /// The log of a wiki where the state of all lies. Nothing is touched before the first event.
    pub fn new(home: impl Into<StoreHome>, wiki_name: &str) -> Self {
        let home = home.into();
        let pauses = Pauses::new(home.clone());
        Self::heeding(home, wiki_name, pauses)
    }

    /// The same log for an operator at a terminal, whose writes no pause stops, so that they can
    /// take back what led to it before others may write again.
    pub fn for_operator(home: impl Into<StoreHome>, wiki_name: &str) -> Self {
        Self::heeding(home.into(), wiki_name, Pauses::default())
    }

    fn heeding(home: StoreHome, wiki_name: &str, pauses: Pauses) -> Self {
        let place = AuditLayout::new(home, wiki_name);
        let leases = LeaseQueue::new(Arc::clone(&place.store));
        let (wiki, own) = (wiki_name.to_owned(), || place.clone());
        let calls = CallReader {
            place: own(),
            asks_index: false,
        };
        let parts = LogParts {
            site: OnceLock::new(),
            runs: RunReader { place: own() },
            writes: WriteReader { place: own() },
            states: StateStore::new(&place.store, &leases),
            proposals: ProposalStore {
                place: own(),
                leases: leases.clone(),
            },
            drafts: DraftStore {
                place: own(),
                leases: leases.clone(),
            },
            unsettled: UnsettledWrites {
                place: own(),
                left: Mutex::default(),
            },
            anchoring: Arc::new(Anchoring::new(&wiki, &place)),
            notices: NoticeSlot::new(&wiki),
            upkeep: LogUpkeep {
                wiki: wiki.clone(),
                place: own(),
                pauses: pauses.clone(),
                leases: leases.clone(),
            },
            state: Arc::new(Turns::new(LogState::Fresh)),
            over: RwLock::default(),
            overtaken: TimesOvertaken::default(),
            wiki,
            place,
            pauses,
            leases,
        };
        Self {
            parts: Arc::new(parts),
            calls,
        }
    }

    /// The same log, whose questions the index may answer: for those who show what is on record, never for
    /// what decides on a write.
    #[must_use]
    pub fn by_index(mut self) -> Self {
        self.calls.asks_index = true;
        self
    }

    /// The name of its wiki, made of its address.
    pub fn wiki(&self) -> &str {
        &self.wiki
    }

    /// Puts the name of a site on every record from now on.
    pub fn of_site(&self, site: SiteName) {
        // It is said once, before the first record.
        let _ = self.site.set(site);
    }

    /// The site that the wiki is reached as.
    pub fn site(&self) -> Option<&SiteName> {
        self.site.get()
    }

    /// Checks that the log still takes records. Costs nothing, and does not promise that the next
    /// record can be written.
    ///
    /// # Errors
    /// Why it takes none.
    pub fn check(&self) -> AuditResult<()> {
        self.over.read().clone().map_or(Ok(()), Err)
    }

    /// Begins a new run if the one before could not go on, for want of room or of its database, and there is now.
    ///
    /// # Errors
    /// Why the log takes no records.
    pub async fn go_on(&self) -> AuditResult<()> {
        if self.check().is_ok() {
            return Ok(());
        }
        self.parts
            .in_turn(true, |log, state, lease| match state {
                LogState::Failed(..) => log.follow(state, lease),
                LogState::Ended => Err(AuditError::Ended),
                LogState::Fresh | LogState::Running(_) => Ok(()),
            })
            .await
    }

    /// Checks that a record could be written now and that every file a server needs can be opened,
    /// by making and removing a file beside the log.
    ///
    /// # Errors
    /// Why not.
    pub async fn probe(&self) -> AuditResult<()> {
        self.go_on().await?;
        self.upkeep.check_open().await?;
        self.place
            .on(move |place| Ok(place.store.probe(4096)?))
            .await
    }

    /// Records an attempt: written and synced. Its event is [`AuditEvent::Attempt`], whatever the entry
    /// says. The states that it names must be kept already, and the leases under which it is sent held.
    ///
    /// # Errors
    /// If it is not surely on record, writes are paused at this moment, or others may have a lease by now
    /// ([`AuditError::Overtaken`]): nothing may be sent then.
    pub async fn attempt(&self, entry: AuditEntry, leases: &[HeldLease]) -> AuditResult<OnRecord> {
        let call = entry.call;
        let event = AuditEvent::Attempt;
        let entry = AuditEntry { event, ..entry };
        let attempt = async move {
            if self.pauses.is_to_search() {
                // Before the log's turn, since reading the record may take a while.
                let (pauses, place) = (self.pauses.clone(), self.place.clone());
                if let Some(pause) = blocking(move || pauses.in_force(&place)).await? {
                    return Err(AuditError::Paused(Box::new(pause)));
                }
            }
            if !leases.iter().all(HeldLease::is_sure) {
                return Err(AuditError::Overtaken);
            }
            self.parts
                .in_turn(true, move |log, state, lease| {
                    if let Some(pause) = log.pauses.of_settings() {
                        return Err(AuditError::Paused(Box::new(pause)));
                    }
                    let written = log.write(state, &entry, lease);
                    written.map_err(|error| match error {
                        AuditError::Paused(refused) => {
                            AuditError::Paused(log.pauses.look().map_or(refused, Box::new))
                        }
                        error => error,
                    })
                })
                .await?;
            Ok::<_, AuditError>(())
        };
        Box::pin(attempt).await?;
        Ok(OnRecord { call })
    }

    /// Records any other event; all but refusals and previews are synced.
    ///
    /// # Errors
    /// If it is not surely on record. [`AuditError::WrongEvent`] for events that only the log
    /// itself writes, and for an attempt, which has [`Self::attempt`].
    pub async fn record(&self, entry: AuditEntry) -> AuditResult<()> {
        match entry.event {
            AuditEvent::Start | AuditEvent::Attempt | AuditEvent::Closed => {
                Err(AuditError::WrongEvent)
            }
            AuditEvent::Refusal
            | AuditEvent::Preview
            | AuditEvent::Approval
            | AuditEvent::Outcome
            | AuditEvent::Proposal
            | AuditEvent::Pause
            | AuditEvent::Settings
            | AuditEvent::Memory
            | AuditEvent::Delegation
            | AuditEvent::Purge => {
                // Only a purge names any.
                self.anchoring.remove(&entry.removed);
                let counts = entry.event.is_synced();
                let notice = self.notices.notice_for(&entry);
                self.parts
                    .in_turn(true, move |log, state, lease| {
                        log.write(state, &entry, lease)
                    })
                    .await?;
                if counts {
                    self.anchoring.wake();
                }
                if let Some(notice) = notice {
                    self.notices.tell(&notice);
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
    pub async fn close(&self) -> AuditResult<()> {
        let closed = self.parts.in_turn(false, |log, state, _| {
            let closed = match state {
                LogState::Fresh | LogState::Ended => Ok(()),
                LogState::Running(run) => run.close(),
                LogState::Failed(why, _) => return Err(why.clone()),
            };
            closed.map_err(|error| log.fail(state, error))?;
            *state = LogState::Ended;
            log.set_over(Some(AuditError::Ended));
            Ok(())
        });
        let closed = closed.await;
        self.anchoring.anchor_now().await;
        self.notices.finish().await;
        closed
    }
}

impl LogParts {
    /// Waits for the right to create, move or delete in this wiki, which only one write has at a
    /// time (W19): in this process first come, first served, and across all processes that share
    /// the audit directory.
    ///
    /// A write that needs both locks takes the page's first.
    ///
    /// # Errors
    /// [`AuditError::Busy`] after `wait`.
    pub async fn lock_tree(&self, wait: Duration) -> AuditResult<HeldLease> {
        Ok(self.leases.alone(&LeaseName::TREE, wait).await?)
    }

    /// Waits for the right to update a page, in the same way.
    ///
    /// # Errors
    /// [`AuditError::Busy`] after `wait`.
    pub async fn lock_page(&self, id: i64, wait: Duration) -> AuditResult<HeldLease> {
        Ok(self.leases.alone(&LeaseName::page(id), wait).await?)
    }

    /// Waits for the right to settle open attempts, which only one run has at a time among all that
    /// share the audit directory.
    ///
    /// # Errors
    /// [`AuditError::Busy`] after `wait`.
    pub async fn lock_recovery(&self, wait: Duration) -> AuditResult<HeldLease> {
        Ok(self.leases.alone(&LeaseName::RECOVERY, wait).await?)
    }

    /// The place of the state of all wikis.
    pub const fn home(&self) -> &StoreHome {
        &self.place.home
    }

    /// The store of this wiki's mirror: a purge of one takes nothing from the other.
    pub fn mirror_store(&self) -> Arc<dyn Store> {
        self.place.mirror()
    }

    /// The place of all that belongs to this wiki.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.place.store
    }

    /// Runs work on the state of the log after all earlier work, to its end even if the caller is
    /// gone. It gets the lease to begin a run where it may have to begin one.
    async fn in_turn<W>(self: &Arc<Self>, may_begin: bool, work: W) -> AuditResult<()>
    where
        W: FnOnce(&LogParts, &mut LogState, &RunLease) -> AuditResult<()> + Send + 'static,
    {
        let state = Arc::clone(&self.state).lock_owned().await;
        if !(may_begin && matches!(*state, LogState::Fresh | LogState::Failed(..))) {
            return Box::pin(self.work_on(state, Ok(None), work)).await;
        }
        let log = Arc::clone(self);
        let begun = tokio::spawn(async move {
            let lease = log.leases.alone(&LeaseName::RUNS, LONGEST_WAIT).await;
            let lease = lease.map(Some).map_err(AuditError::from);
            log.work_on(state, lease, work).await
        });
        begun.await.unwrap_or(Err(AuditError::BrokenOff))
    }

    async fn work_on<W>(
        self: &Arc<Self>,
        mut state: OwnedMutexGuard<LogState>,
        lease: RunLease,
        work: W,
    ) -> AuditResult<()>
    where
        W: FnOnce(&LogParts, &mut LogState, &RunLease) -> AuditResult<()> + Send + 'static,
    {
        let log = Arc::clone(self);
        let done = blocking(move || {
            // If the work panics, the log stays in this failed state.
            let broken_off = LogState::Failed(AuditError::BrokenOff, None);
            let mut own = mem::replace(&mut *state, broken_off);
            let result = work(&log, &mut own, &lease);
            *state = own;
            result
        })
        .await;
        if let Err(why @ AuditError::BrokenOff) = &done {
            self.set_over(Some(why.clone()));
        }
        done
    }

    fn write(&self, state: &mut LogState, entry: &AuditEntry, lease: &RunLease) -> AuditResult<()> {
        match state {
            LogState::Running(_) => {}
            // Without a file nothing is lost, so a later record may try again.
            LogState::Fresh => {
                let mut run = self.make_run(lease)?;
                let started = start(self, &mut run, None);
                *state = LogState::Running(run);
                started.map_err(|error| self.fail(state, error))?;
            }
            LogState::Failed(why, _) => {
                // Others may have settled the attempt meanwhile, so its outcome is looked for first.
                let may_be_told =
                    *why == AuditError::Overtaken && entry.event == AuditEvent::Outcome;
                let mut followed = self.follow(state, lease);
                if may_be_told {
                    followed = followed.and(Err(AuditError::Overtaken));
                }
                followed.inspect_err(|_| self.unsettled.left.lock().lost(entry))?;
            }
            LogState::Ended => return Err(AuditError::Ended),
        }
        let LogState::Running(run) = state else {
            return Err(AuditError::BrokenOff);
        };
        match run.record(entry) {
            Ok(()) => {
                self.unsettled.left.lock().recorded(entry);
                Ok(())
            }
            // Detected before anything was written.
            Err(error @ (AuditError::TooLarge | AuditError::Paused(_))) => Err(error),
            Err(error) => {
                self.unsettled.left.lock().lost(entry);
                Err(self.fail(state, error))
            }
        }
    }

    /// Begins the run that follows one that could not go on, if what it lacked is there now. The new
    /// run's first record names the other one with its last hash.
    fn follow(&self, state: &mut LogState, lease: &RunLease) -> AuditResult<()> {
        let LogState::Failed(why, failed) = state else {
            return Ok(());
        };
        let Some(run) = failed.as_ref().filter(|_| why.may_pass()) else {
            return Err(why.clone());
        };
        match self.begin_after(run, lease) {
            Ok(new) => {
                tracing::warn!(
                    failed = run.name,
                    run = new.name,
                    "audit: a new run goes on with the record"
                );
                self.unsettled.left.lock().runs.extend(failed.take());
                *state = LogState::Running(new);
                self.set_over(None);
                Ok(())
            }
            Err(error) => {
                tracing::warn!(%error, "audit: the record cannot go on yet");
                Err(why.clone())
            }
        }
    }

    fn make_run(&self, lease: &RunLease) -> AuditResult<OwnRun> {
        let lease = lease.as_ref().map_err(Clone::clone)?;
        let lease = lease.as_ref().ok_or(AuditError::BrokenOff)?;
        let site = self.site.get().cloned();
        let heeds_pauses = self.pauses.store().is_some();
        OwnRun::make(&*self.place.store, &self.wiki, site, heeds_pauses, lease)
    }

    fn begin_after(&self, failed: &OwnRun, lease: &RunLease) -> AuditResult<OwnRun> {
        // A run that there is no room for would leave its file behind, so room is looked for first.
        let store = &*self.place.store;
        let runs = store.runs()?.len();
        store.probe(ROOM.saturating_add(runs.saturating_mul(ROOM_OF_HEAD)))?;
        let mut run = self.make_run(lease)?;
        start(self, &mut run, Some(failed.head()))?;
        Ok(run)
    }

    fn set_over(&self, why: Option<AuditError>) {
        if why.as_ref().is_some_and(|why| !why.may_pass()) {
            self.anchoring.end();
        }
        *self.over.write() = why;
    }

    /// Notes that a write failed, whose run stays held.
    fn fail(&self, state: &mut LogState, error: AuditError) -> AuditError {
        let why = match &error {
            AuditError::Io(kind) => AuditError::Failed(*kind),
            other => other.clone(),
        };
        self.set_over(Some(why.clone()));
        if why == AuditError::Overtaken {
            self.overtaken.add();
        }
        let failed = LogState::Failed(why.clone(), None);
        if let LogState::Running(run) = mem::replace(state, failed) {
            *state = LogState::Failed(why, Some(run));
        }
        error
    }
}

/// Writes the first record of a run, from which on its heads are anchored.
fn start(parts: &LogParts, run: &mut OwnRun, follows: Option<FileHead>) -> AuditResult<()> {
    let heads = run.start(&*parts.place.store, follows)?;
    parts.anchoring.begin(run.run, heads);
    Ok(())
}

#[cfg(test)]
mod tests;
