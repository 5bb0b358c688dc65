//! Removes the oldest kept states, ended runs and proposals, and records it before.
//!
//! **Age** is not counted from the clock but from the newest record that is a day older than the
//! clock. So a clock that jumped ahead makes nothing old until there is a day of records after the
//! jump. No record counts as older than the one above it, nor than the runs that its own run found,
//! so a clock that was set back makes nothing old either.
//!
//! A run is as old as its last record. A kept state is as old as the newest record that names it,
//! in any run: undo needs it as long as that record is of use. A state that no record names is as
//! old as its file. A proposal is as old as its last event; an open one is removed at the latest
//! with its states and records, without which it cannot be applied.
//!
//! **What always stays:** our own run and every run that a living process holds; a run in which a
//! newer program wrote; a state that was kept within the last hour, since the attempt that names it
//! may be about to be recorded (keeping touches the file, and a lock separates keeping from
//! removing). By days, a state stays as long as a record that names it is young enough. By bytes,
//! even a young state is removed if it is the oldest, and so is a proposal, unless its file was
//! written within the last hour.
//!
//! **The bound in bytes** counts only what can be removed. Otherwise a run that only grows would
//! push out all other records, and the whole would still be too large.
//!
//! **On record:** `purge` records name everything before it is removed. If a removed run has
//! `purge` records for files that a staying run still names, they are repeated.

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::{Duration, SystemTime};

use time::OffsetDateTime;

use super::disk::blocking::{LONGEST_WAIT, blocking};
use super::documents::proposals;
use super::run::{heads, numbers};
use super::{
    AuditEntry, AuditError, AuditEvent, AuditLayout, AuditLog, AuditResult, CallId, FileHead,
    KeptState, Proposal, ProposalId, ProposalState, RunFile, kept_states, scan,
};
use crate::store::{DocumentKind, Lease, LeaseMode, LeaseName, Listed};
use survey::LogInventory;
pub(super) use survey::named_by;

mod survey;

/// The shortest time for which a state is kept.
pub const GRACE: Duration = Duration::from_hours(1);
/// The most files that one record names; far from the longest line, also where names are long.
const FILES_A_RECORD: usize = 4096;
/// The most files that are removed while nobody can keep a state.
const AT_ONCE: usize = 64;

/// The limits of what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Older records and states are removed.
    pub days: u32,
    /// Older proposals are removed.
    pub proposal_days: u32,
    /// The most bytes of removable runs, kept states and proposals; 0 leaves only what must stay.
    pub bytes: u64,
}

/// The result of a purge: what was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purged {
    /// Number of runs.
    pub runs: u64,
    /// Number of kept states.
    pub pages: u64,
    /// Number of proposals.
    pub proposals: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

impl AuditLog {
    /// Removes what is too old, then the oldest until the rest is small enough. Each removal is
    /// recorded and synced first. Does nothing while another process purges this wiki's log.
    ///
    /// Disk work runs on blocking threads, and the log is held only for the record itself. Stops
    /// early when the log ends.
    ///
    /// # Errors
    /// If the log cannot be read or a removal cannot be recorded (nothing was removed then), or if
    /// something could not be removed.
    pub async fn purge(&self, keep: Keep) -> AuditResult<Purged> {
        self.purge_at(keep, OffsetDateTime::now_utc()).await
    }

    async fn purge_at(&self, keep: Keep, now: OffsetDateTime) -> AuditResult<Purged> {
        let log = self.clone();
        let plan = blocking(move || {
            log.place.store.sweep_leases()?;
            PurgePlan::make(&log, keep, now)
        })
        .await?;
        let Some(plan) = plan else {
            return Ok(Purged::default());
        };
        let call = CallId::new()?;
        for removed in plan.heads.chunks(FILES_A_RECORD) {
            let entry = AuditEntry {
                reason: Some(format!(
                    "older than {} days, or {} for proposals, or beyond {} bytes",
                    keep.days, keep.proposal_days, keep.bytes
                )),
                removed: removed.to_vec(),
                ..AuditEntry::new(call, AuditEvent::Purge)
            };
            self.record(entry).await?;
        }
        // What is anchored shall not be missed when the record of its purge is purged one day.
        self.anchoring.anchor_now().await;
        plan.carry_out(self).await
    }
}

/// States that were kept after this time stay.
fn spared_since() -> SystemTime {
    let now = SystemTime::now();
    now.checked_sub(GRACE).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Something that can be removed.
#[derive(Debug)]
enum PurgeItem {
    Run(RunFile),
    Page(KeptState),
    Proposal(ProposalId),
}

#[derive(Debug)]
struct Doomed {
    item: PurgeItem,
    length: u64,
    age: OffsetDateTime,
    is_old: bool,
}

/// The files to remove and their heads to record; holds the turn to purge.
#[derive(Debug)]
struct PurgePlan {
    doomed: Vec<Doomed>,
    heads: Vec<FileHead>,
    _turn: Lease,
}

impl PurgePlan {
    /// `None` if there is nothing to remove, or another process is purging.
    fn make(log: &AuditLog, keep: Keep, now: OffsetDateTime) -> AuditResult<Option<Self>> {
        let place = log.place.clone();
        let Some(turn) = turn(&place)? else {
            return Ok(None);
        };
        let mut survey = LogInventory::make(log, now)?;
        let oldest = survey.oldest(keep.days);
        let is_old = |age| oldest.is_some_and(|oldest| age < oldest);
        let going = survey.runs.iter().filter(|aged| aged.can_go());
        let mut items: Vec<Doomed> = going
            .map(|aged| Doomed {
                item: PurgeItem::Run(aged.run.clone()),
                length: aged.run.length,
                age: aged.age,
                is_old: is_old(aged.age),
            })
            .collect();
        let spared = spared_since();
        let pages = std::mem::take(&mut survey.pages);
        let pages = pages
            .into_iter()
            .filter(|(_, page)| page.modified <= spared);
        items.extend(pages.map(|(name, page)| {
            let age = page.named.unwrap_or_else(|| page.modified.into());
            Doomed {
                item: PurgeItem::Page(name),
                length: page.length,
                age,
                is_old: is_old(age),
            }
        }));
        let all = proposals::all(&place)?;
        let listed = place.store.documents(DocumentKind::Proposal)?.into_iter();
        let files: HashMap<String, Listed> = listed.map(|it| (it.name.clone(), it)).collect();
        let of_proposals = all.iter().map(|it| of_proposal(&files, it, &survey, keep));
        items.extend(of_proposals.filter_map(|(doomed, written)| {
            (doomed.is_old || written.is_some_and(|at| at <= spared)).then_some(doomed)
        }));
        // The index counts as well, but for what it could be made of at most.
        let runs = { survey.runs.iter() }.map(|aged| aged.run.length);
        let most = runs.fold(0, u64::saturating_add) / 2;
        let index = place.line_index().symlink_metadata();
        let index = index.map_or(0, |index| index.len()).min(most);
        let mut doomed = choose(items, keep.bytes.saturating_sub(index));
        // They go before what they lose: a purge that breaks off leaves none that cannot be applied.
        let losing = losing(&all, &doomed, &survey).into_iter();
        let losing = losing.map(|it| of_proposal(&files, it, &survey, keep).0);
        let losing: Vec<Doomed> = losing.collect();
        doomed.splice(0..0, losing);
        if doomed.is_empty() {
            return Ok(None);
        }
        let heads: AuditResult<Vec<_>> = doomed.iter().map(|it| it.head(&place)).collect();
        let mut heads = heads?;
        let runs = survey.runs.iter().map(|aged| &aged.run);
        heads.extend(repeated(runs, &heads)?);
        Ok(Some(Self {
            doomed,
            heads,
            _turn: turn,
        }))
    }

    async fn carry_out(self, log: &AuditLog) -> AuditResult<Purged> {
        let spared = spared_since();
        let (place, mut purged) = (log.place.clone(), Purged::default());
        let mut left = self.doomed.into_iter();
        // Files that were named but not removed yet are removed the next time.
        while !left.as_slice().is_empty() && log.check().is_ok() {
            let some: Vec<Doomed> = left.by_ref().take(AT_ONCE).collect();
            let held = log.leases.alone(&LeaseName::BLOBS, LONGEST_WAIT).await?;
            let place = place.clone();
            purged = blocking(move || {
                for doomed in &some {
                    doomed.remove(&place, spared, held.lease(), &mut purged)?;
                }
                place.store.sync_removed()?;
                Ok(purged)
            })
            .await?;
        }
        Ok(purged)
    }
}

impl Doomed {
    fn remove(
        &self,
        place: &AuditLayout,
        spared: SystemTime,
        held: &Lease,
        purged: &mut Purged,
    ) -> AuditResult<()> {
        let (is_gone, count) = match &self.item {
            PurgeItem::Page(name) => (
                kept_states::remove(&*place.store, *name, spared, held)?,
                &mut purged.pages,
            ),
            PurgeItem::Run(run) => (place.store.remove_run(run.name())?, &mut purged.runs),
            PurgeItem::Proposal(id) => (proposals::remove(place, *id)?, &mut purged.proposals),
        };
        if is_gone {
            *count = count.saturating_add(1);
            purged.bytes = purged.bytes.saturating_add(self.length);
        }
        Ok(())
    }

    fn head(&self, place: &AuditLayout) -> AuditResult<FileHead> {
        let (mut length, mut hash) = (self.length, None);
        let file = match &self.item {
            PurgeItem::Page(name) => format!("{name}.json.gz"),
            PurgeItem::Proposal(id) => format!("{id}.json"),
            PurgeItem::Run(run) => {
                match heads::last_line(&*place.store, run.name()) {
                    Err(AuditError::Io(io::ErrorKind::NotFound)) => {}
                    head => (length, hash) = head?,
                }
                run.name().to_owned()
            }
        };
        Ok(FileHead { file, length, hash })
    }
}

/// The turn to purge; `None` while another process has it, or without a log.
fn turn(place: &AuditLayout) -> AuditResult<Option<Lease>> {
    if !place.store.is_there() {
        return Ok(None);
    }
    Ok(place.store.try_lease(&LeaseName::PURGE, LeaseMode::Alone)?)
}

/// A proposal as a removable item, with the time of its file.
fn of_proposal(
    files: &HashMap<String, Listed>,
    proposal: &Proposal,
    survey: &LogInventory,
    keep: Keep,
) -> (Doomed, Option<SystemTime>) {
    let file = files.get(&proposal.id.to_string());
    let made = survey.makers.get(&proposal.id.to_string());
    // It was decided after it was made, whatever the clock said.
    let age = proposal.age().max(made.map(|(_, made)| *made));
    let age = age.unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let oldest = survey.oldest(keep.proposal_days);
    let doomed = Doomed {
        item: PurgeItem::Proposal(proposal.id),
        length: file.map_or(0, |file| file.length),
        age,
        is_old: oldest.is_some_and(|oldest| age < oldest),
    };
    (doomed, file.map(|file| file.changed))
}

/// The other open proposals that cannot be applied without the removed items.
fn losing<'a>(all: &'a [Proposal], doomed: &[Doomed], survey: &LogInventory) -> Vec<&'a Proposal> {
    let (mut states, mut runs, mut gone) = (HashSet::new(), HashSet::new(), HashSet::new());
    for doomed in doomed {
        match &doomed.item {
            PurgeItem::Page(name) => drop(states.insert(*name)),
            PurgeItem::Run(run) => drop(runs.insert(run.name())),
            PurgeItem::Proposal(id) => drop(gone.insert(*id)),
        }
    }
    let loses = |proposal: &&Proposal| {
        let maker = survey.makers.get(&proposal.id.to_string());
        let mut made_of = proposal.states();
        proposal.state == ProposalState::Open
            && !gone.contains(&proposal.id)
            && (made_of.any(|state| states.contains(state))
                || maker.is_some_and(|(run, _)| runs.contains(run.as_str())))
    };
    all.iter().filter(loses).collect()
}

/// Chooses what is too old, and the oldest of the rest until what stays is small enough.
fn choose(mut items: Vec<Doomed>, most: u64) -> Vec<Doomed> {
    let lengths = items.iter().map(|item| item.length);
    let mut whole = lengths.fold(0, u64::saturating_add);
    // Of equally old items, states are removed before the run that names them.
    items.sort_by_key(|item| (item.age, matches!(item.item, PurgeItem::Run(_))));
    items.retain(|item| {
        let goes = item.is_old || whole > most;
        if goes {
            whole = whole.saturating_sub(item.length);
        }
        goes
    });
    items
}

/// The entries to repeat: removals recorded in removed runs, of files that a staying run names.
fn repeated<'a>(
    runs: impl Iterator<Item = &'a RunFile>,
    heads: &[FileHead],
) -> AuditResult<Vec<FileHead>> {
    let going: HashSet<&str> = heads.iter().map(|head| head.file.as_str()).collect();
    let (going_runs, staying): (Vec<&RunFile>, Vec<&RunFile>) =
        runs.partition(|run| going.contains(run.name()));
    let mut gone: HashMap<String, FileHead> = HashMap::new();
    scan(going_runs, &["\"removed\""], |record, _| {
        for head in record.removed.into_iter().flatten() {
            if !going.contains(head.file.as_str()) {
                gone.insert(head.file.clone(), head);
            }
        }
    })?;
    if gone.is_empty() {
        return Ok(Vec::new());
    }
    let mut repeated = Vec::new();
    let staying_numbers: Vec<u64> = staying
        .iter()
        .filter_map(|run| numbers::number_of(run.name()))
        .collect();
    scan(staying, &[], |record, _| {
        let states = named_by(&record).map(|state| format!("{state}.json.gz"));
        let runs = record.runs.iter().flatten().map(|head| head.file.clone());
        let made = record.proposal.iter().map(|id| format!("{id}.json"));
        for file in states.chain(runs).chain(made) {
            repeated.extend(gone.remove(&file));
        }
    })?;
    // What lies between numbers that stay would be missed without.
    let numbers = staying_numbers.into_iter();
    if let Some(least) = numbers.min() {
        let between = |file: &String| numbers::number_of(file).is_some_and(|one| one > least);
        repeated.extend(
            gone.extract_if(|file, _| between(file))
                .map(|(_, head)| head),
        );
    }
    repeated.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(repeated)
}

#[cfg(test)]
mod tests;
