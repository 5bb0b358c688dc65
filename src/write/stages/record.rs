//! The record of a write: its attempt before it is sent, and its outcome.
//!
//! [`attempt`] records the next step of the write's permit and returns it. Only such a step can be
//! sent, and each only once.

use crate::audit::{AuditError, AuditLog, AuditResult, HeldLease};
use crate::change::{Change, Operation};
use crate::error::{Code, Failure};
use crate::gates::{Gate, Permit, Refusal, Step};

use super::outcome::{behind_the_move, refused_although_applied};
use super::verify::Settled;
use crate::write::audit_entry::{EntryBuilder, is_worth_keeping, record_or_log};

/// Records the attempt of a permit's next step, synced, and takes the step; `None` if no step is
/// left.
///
/// # Errors
/// The attempt is not surely on record, so nothing may be sent.
pub(super) async fn attempt(
    audit: &AuditLog,
    record: &EntryBuilder,
    permit: &mut Permit,
    leases: &[HeldLease],
) -> AuditResult<Option<Step>> {
    let Some(kind) = permit.upcoming() else {
        return Ok(None);
    };
    let on_record = audit.attempt(record.attempt(kind), leases).await?;
    Ok(permit.next_step(on_record))
}

/// Records the outcome of a step of a change; returns whether that succeeded.
pub(super) async fn outcome(
    audit: &AuditLog,
    record: &EntryBuilder,
    (kind, change): (Operation, &Change),
    settled: &Settled,
    failure: Option<&Failure>,
) -> bool {
    let refusal = refused_although_applied(settled);
    let mut entry = record.outcome(settled.outcome, Some(kind), failure.or(refusal.as_ref()));
    if let Some(proof) = &settled.proof {
        entry.id = proof.found.id.or(entry.id);
        if settled.outcome.took_effect() {
            entry.updated_at.clone_from(&proof.found.updated_at);
        }
        if is_worth_keeping(&proof.found, change.after_step(kind).as_deref()) {
            match audit.states.keep(&proof.found).await {
                Ok(found) => entry.found = Some(found),
                Err(error) => {
                    tracing::error!(%error, call = %record.call(), "the page as found could not be kept");
                }
            }
        }
    }
    record_or_log(audit, entry, "an outcome").await
}

/// The failure if the log fails: nothing more is sent; earlier steps stay applied.
pub(super) async fn failed(
    audit: &AuditLog,
    record: &EntryBuilder,
    error: AuditError,
    change: &Change,
    last: Option<&Settled>,
) -> Failure {
    let failure = Failure::from(error);
    let refusal = Refusal::at(Gate::Record, failure.clone());
    record_or_log(audit, record.refusal(&refusal), "a refusal").await;
    if last.is_none() {
        return failure;
    }
    let message = "The page was moved; then the audit log failed, and nothing more was sent.";
    behind_the_move(Failure::new(Code::PartlyApplied, message), change)
}

#[cfg(test)]
mod tests;
