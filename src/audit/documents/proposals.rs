//! The proposals: a document each, replaced whole, and decided by one at a time.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::super::{
    AuditError, AuditEvent, AuditLayout, AuditResult, CallId, Exclusions, Outcome, Proposal,
    ProposalId, ProposalState, Record, blocking, runs, scan,
};
use crate::page::Date;
use crate::store::{DocumentKind, Fence, HeldLease, LeaseMode, LeaseName, LeaseQueue, StoreError};

/// The most proposals that are kept.
const MOST: usize = 10_000;
/// The decision on the record of a set's other change.
pub const OTHER: &str = "proposed";

/// The document of a proposal: its name, and what it says.
pub(in crate::audit) type ProposalFile = (ProposalId, AuditResult<Proposal>);

/// A proposal that nobody else can decide while this is held.
#[derive(Debug)]
#[must_use = "the proposal is held only as long as this lives"]
pub struct HeldProposal {
    place: AuditLayout,
    proposal: Proposal,
    lease: HeldLease,
}

/// The log's records of a proposal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProposalOnRecord {
    /// The record of its making.
    pub made: Option<Record>,
    /// The records of the making of a set's other changes, in order.
    pub others: Vec<Record>,
    /// Calls that attempted to apply it; of a set, those of its changes.
    pub attempts: Vec<CallId>,
    /// The sets that these calls belong to, in the order of their first attempts.
    pub sets: Vec<CallId>,
    /// The call that applied all of a set that was to be applied.
    pub applied_whole: Option<CallId>,
    /// The changes of the set that this call left out, by their numbers from 0.
    pub left_out: Vec<usize>,
    /// The records that a change of a set was applied.
    pub applied: Vec<Record>,
    /// Its end, if a person rejected it, a later one replaced it or its client withdrew it.
    pub decided: Option<ProposalState>,
}

/// The proposals of a wiki.
#[derive(Debug, Clone)]
pub struct ProposalStore {
    pub(in crate::audit) place: AuditLayout,
    pub(in crate::audit) leases: LeaseQueue,
}

impl ProposalStore {
    /// Keeps a new proposal, completely on the disk. Its preview must be on record already; until its
    /// making is, nobody else finds it.
    ///
    /// # Errors
    /// If it is not surely kept; [`AuditError::Full`] beyond 10,000, [`AuditError::TooLarge`] beyond what
    /// is read again.
    pub async fn keep(&self, proposal: Proposal) -> AuditResult<()> {
        self.place
            .on(move |place| {
                if place.store.documents(DocumentKind::Proposal)?.len() >= MOST {
                    return Err(AuditError::Full);
                }
                write(place, &proposal, Fence::default())
            })
            .await
    }

    /// All proposals of the wiki, oldest first; skips files that are not ours, and open proposals whose
    /// making is not on record. Proposer and page come from that record, if there is one.
    ///
    /// # Errors
    /// If the directory or the runs cannot be read; a missing directory has none.
    pub async fn all(&self) -> AuditResult<Vec<Proposal>> {
        self.place
            .on(move |place| {
                let all = all(place)?;
                if all.is_empty() {
                    return Ok(all);
                }
                let made = makings(place)?;
                let by_record =
                    |proposal: Proposal| proposal_by(made.get(&proposal.id.to_string()), proposal);
                Ok(all.into_iter().filter_map(by_record).collect())
            })
            .await
    }

    /// One proposal, like those of [`Self::all`].
    ///
    /// # Errors
    /// [`AuditError::NoProposal`], [`AuditError::BadProposal`]; if the runs cannot be read.
    pub async fn get(&self, id: ProposalId) -> AuditResult<Proposal> {
        self.place
            .on(move |place| {
                let proposal = read(place, id)?;
                let made = on_record(place, id)?.made;
                proposal_by(made.as_ref(), proposal).ok_or(AuditError::NoProposal)
            })
            .await
    }

    /// One proposal as its document alone says it, for whoever asks often; nothing else is read.
    ///
    /// # Errors
    /// [`AuditError::NoProposal`], [`AuditError::BadProposal`]; if it cannot be read.
    pub async fn document(&self, id: ProposalId) -> AuditResult<Proposal> {
        self.place.on(move |place| read(place, id)).await
    }

    /// True if somebody is deciding on a proposal now.
    ///
    /// # Errors
    /// If that cannot be found out.
    pub async fn is_held(&self, id: ProposalId) -> AuditResult<bool> {
        self.place
            .on(move |place| {
                let name = LeaseName::document(DocumentKind::Proposal, &id.to_string());
                let lease = place.store.try_lease(&name, LeaseMode::Alone)?;
                Ok(lease.is_none())
            })
            .await
    }

    /// Those of these proposals whose files say that they are open.
    ///
    /// # Errors
    /// If a file cannot be read; a missing or damaged one is not open.
    pub async fn still_open(&self, ids: Vec<ProposalId>) -> AuditResult<HashSet<ProposalId>> {
        self.place
            .on(move |place| {
                let mut open = HashSet::new();
                for id in ids {
                    match read(place, id) {
                        Ok(proposal) if proposal.state == ProposalState::Open => {
                            open.insert(id);
                        }
                        Ok(_) | Err(AuditError::NoProposal | AuditError::BadProposal) => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(open)
            })
            .await
    }

    /// Holds a proposal in order to decide it: one holder among all processes that share the audit
    /// directory.
    ///
    /// # Errors
    /// [`AuditError::Busy`] after `wait`; otherwise as for [`Self::get`].
    pub async fn hold(&self, id: ProposalId, wait: Duration) -> AuditResult<HeldProposal> {
        let place = self.place.clone();
        let is_there = blocking(move || read(&place, id).map(drop));
        is_there.await?;
        let name = LeaseName::document(DocumentKind::Proposal, &id.to_string());
        let lease = self.leases.alone(&name, wait).await?;
        let place = self.place.clone();
        blocking(move || {
            Ok(HeldProposal {
                proposal: read(&place, id)?,
                place,
                lease,
            })
        })
        .await
    }

    /// The log's records of a proposal.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub async fn on_record(&self, id: ProposalId) -> AuditResult<ProposalOnRecord> {
        self.place.on(move |place| on_record(place, id)).await
    }
}

impl HeldProposal {
    /// The proposal.
    pub const fn proposal(&self) -> &Proposal {
        &self.proposal
    }

    /// Notes that it begins to be applied.
    ///
    /// # Errors
    /// If that is not surely on the disk.
    pub async fn begin(&mut self) -> AuditResult<()> {
        self.proposal.is_begun = true;
        let (place, proposal) = (self.place.clone(), self.proposal.clone());
        let fence = self.lease.fence();
        blocking(move || write(&place, &proposal, fence)).await
    }

    /// Sets its state.
    ///
    /// # Errors
    /// If that is not surely on the disk.
    pub async fn set(mut self, state: ProposalState) -> AuditResult<()> {
        self.proposal.state = state;
        blocking(move || write(&self.place, &self.proposal, self.lease.fence())).await
    }
}

/// A proposal by the record of its making; `None` if that is missing: an open one was not made to its
/// end, or not by us, while a decided one may outlive its records.
fn proposal_by(made: Option<&Record>, proposal: Proposal) -> Option<Proposal> {
    match made {
        Some(made) => Some(proposal.by(made)),
        None => (proposal.state != ProposalState::Open).then_some(proposal),
    }
}

/// The proposals on the disk.
pub(in crate::audit) fn all(place: &AuditLayout) -> AuditResult<Vec<Proposal>> {
    let mut all = Vec::new();
    for (id, read) in files(place)? {
        match read {
            Ok(proposal) => all.push(proposal),
            Err(AuditError::BadProposal) => {
                tracing::warn!(proposal = %id, "audit: the file of a proposal is passed over");
            }
            Err(error) => return Err(error),
        }
    }
    all.sort_by(|a, b| (a.created.as_str(), a.id).cmp(&(b.created.as_str(), b.id)));
    Ok(all)
}

/// Reads each file with the name of a proposal.
pub(in crate::audit) fn files(place: &AuditLayout) -> AuditResult<Vec<ProposalFile>> {
    let mut files = Vec::new();
    for listed in place.store.documents(DocumentKind::Proposal)? {
        let Ok(id) = listed.name.parse() else {
            continue;
        };
        match read(place, id) {
            // Purged meanwhile.
            Err(AuditError::NoProposal) => {}
            read => files.push((id, read)),
        }
    }
    Ok(files)
}

/// Removes a proposal, unless somebody is deciding it; returns whether it is gone.
pub(in crate::audit) fn remove(place: &AuditLayout, id: ProposalId) -> AuditResult<bool> {
    let name = id.to_string();
    let lease = LeaseName::document(DocumentKind::Proposal, &name);
    match place.store.try_lease(&lease, LeaseMode::Alone)? {
        Some(held) => {
            let kind = DocumentKind::Proposal;
            Ok(place.store.remove_held(held.fence(), kind, &name)?)
        }
        None => Ok(false),
    }
}

fn read(place: &AuditLayout, id: ProposalId) -> AuditResult<Proposal> {
    let json = match place
        .store
        .document(DocumentKind::Proposal, &id.to_string())
    {
        Err(StoreError::Unfit(_)) => return Err(AuditError::BadProposal),
        json => json?.ok_or(AuditError::NoProposal)?,
    };
    let proposal: Proposal = serde_json::from_slice(&json).map_err(|_| AuditError::BadProposal)?;
    if proposal.id != id || proposal.v > Proposal::VERSION {
        return Err(AuditError::BadProposal);
    }
    Ok(proposal)
}

fn write(place: &AuditLayout, proposal: &Proposal, fence: Fence) -> AuditResult<()> {
    let mut json = serde_json::to_vec_pretty(proposal).map_err(|_| AuditError::BrokenOff)?;
    json.push(b'\n');
    let (kind, name) = (DocumentKind::Proposal, proposal.id.to_string());
    if u64::try_from(json.len()).is_ok_and(|length| length > kind.most_bytes()) {
        return Err(AuditError::TooLarge);
    }
    Ok(place.store.write_held(fence, (kind, &name), &json)?)
}

/// The record of each proposal's making, by its id.
fn makings(place: &AuditLayout) -> AuditResult<HashMap<String, Record>> {
    let mut made = HashMap::new();
    scan(&runs(place)?, &["\"decision\":\"made\""], |record, _| {
        if let (true, Some(id)) = (is_making(&record), record.proposal.clone()) {
            made.entry(id).or_insert(record);
        }
    })?;
    Ok(made)
}

/// True if a record is of a proposal's making.
pub(in crate::audit) fn is_making(record: &Record) -> bool {
    record.event == AuditEvent::Proposal && record.decision.as_deref() == Some("made")
}

/// True if a record is of another change of a proposed set.
pub(in crate::audit) fn is_making_of_other(record: &Record) -> bool {
    record.event == AuditEvent::Preview && record.decision.as_deref() == Some(OTHER)
}

/// The end of a proposal that a record tells of.
fn ending(record: Record) -> Option<ProposalState> {
    let decided = Date::from(record.time);
    let reason = record.reason?;
    Some(match record.decision.as_deref()? {
        "rejected" => ProposalState::Rejected { decided, reason },
        "withdrawn" => ProposalState::Withdrawn {
            decided,
            withdrawn_by: reason.strip_prefix("by ")?.to_owned(),
        },
        _ => ProposalState::Replaced {
            decided,
            replaced_by: reason.strip_prefix("by ")?.parse().ok()?,
        },
    })
}

fn on_record(place: &AuditLayout, id: ProposalId) -> AuditResult<ProposalOnRecord> {
    let name = id.to_string();
    let mut found = ProposalOnRecord::default();
    scan(
        &runs(place)?,
        &[&format!("\"proposal\":\"{name}\"")],
        |record, _| {
            if record.proposal.as_deref() != Some(&name) {
                return;
            }
            match (record.event, record.decision.as_deref()) {
                _ if is_making(&record) => drop(found.made.get_or_insert(record)),
                _ if is_making_of_other(&record) => found.others.push(record),
                (AuditEvent::Outcome, _) if record.outcome == Some(Outcome::Applied) => {
                    if record.set.is_some() && record.set == record.call {
                        found.applied_whole = record.call;
                        let omitted = record.reason.as_deref().and_then(Exclusions::read);
                        found.left_out =
                            omitted.map_or_else(Vec::new, |omitted| omitted.numbers().to_vec());
                    } else if record.set.is_some() {
                        found.applied.push(record);
                    }
                }
                (AuditEvent::Proposal, Some("rejected" | "replaced" | "withdrawn")) => {
                    found.decided = ending(record).or(found.decided.take());
                }
                (AuditEvent::Attempt, _) => {
                    found.attempts.extend(record.call);
                    let set = record.set.filter(|set| !found.sets.contains(set));
                    found.sets.extend(set);
                }
                _ => {}
            }
        },
    )?;
    found.attempts.dedup();
    Ok(found)
}
