//! From a permit to an outcome: record the attempt, send, read back, record the outcome.

use std::sync::Arc;

use time::OffsetDateTime;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use crate::audit::{CallId, HeldProposal, Outcome};
use crate::change::{Change, Operation, Warning};
use crate::error::{Code, Failure, Result};
use crate::gates::{Gate, Gated, Permit, Refusal, Step};
use crate::notice;
use crate::page::{Attached, Date, Field, PageState};
use crate::trace;
use crate::wiki::{Sender, Sending, Wiki};

use super::outcome::{failure_of, said_of};
use super::record;
use super::verify::history::overwritten;
use super::verify::{Settled, not_sent, settle};
use crate::view::{ChangeView, WriteTarget};
use crate::write::memory::{Knowing, SharedReads};
use crate::write::{
    Applied, EntryBuilder, Family, Notes, Promise, SetCheck, Timeouts, WriteAnswer, WriteContext,
    WriteHistory, WriteLock,
};

/// The job of a write, beside its permit.
pub(crate) struct WriteJob {
    pub(crate) record: EntryBuilder,
    pub(crate) checked: SetCheck,
    /// The proposal that it applies.
    pub(crate) proposal: Option<HeldProposal>,
    pub(crate) lock: WriteLock,
    /// The session that will know the page as written.
    pub(crate) knowing: Option<Knowing>,
    /// The limits of its caller as a delegate.
    pub(crate) family: Option<Arc<dyn Family>>,
}

/// Carries out a permitted write in a task of its own: once begun, no cancellation, disconnect or
/// closed stdin may cut it short.
///
/// # Errors
/// The server is ending; nothing is sent then. The write's own outcome is the returned value.
pub(crate) async fn in_its_own_task(
    context: &Arc<WriteContext>,
    sender: &Arc<Sender>,
    permit: Permit,
    job: WriteJob,
) -> Gated<Result<WriteAnswer>> {
    let (own, sender) = (Arc::clone(context), Arc::clone(sender));
    let write = async move {
        let (mut record, lock) = (job.record, job.lock);
        let call = record.call();
        // Before it is sent: `last` means no older one while it is under way.
        own.memory.own_writes.note(record.session(), call).await;
        let steps = Steps::new(&own, &sender, &lock);
        let carried_out = steps.carry_out(permit, &mut record, job.checked, job.knowing);
        let answer = call.during(Box::pin(carried_out)).await;
        if let (Some(held), Ok(_)) = (job.proposal, &answer) {
            own.proposals.applied(held, &record).await;
        }
        own.write_ended().await;
        drop(lock);
        answer.map(|applied| WriteAnswer::Applied(Box::new(applied)))
    };
    let task = spawned(&context.house.tasks, write)?;
    Ok(task.await.unwrap_or_else(|_| Err(broke_off())))
}

/// Spawns a task for which the end of the server waits.
///
/// # Errors
/// The server is ending.
pub(super) fn spawned<T: Send + 'static>(
    tasks: &TaskTracker,
    work: impl Future<Output = T> + Send + 'static,
) -> Gated<JoinHandle<T>> {
    // From here on the end of the server waits for it, or it is refused.
    let awaited = tasks.token();
    if tasks.is_closed() {
        return Err(Refusal::at(Gate::Record, is_ending()));
    }
    let work = async move {
        let done = work.await;
        drop(awaited);
        done
    };
    let work = trace::traced_as_here(work.in_current_span());
    Ok(tasks.spawn(notice::told_as_here(work)))
}

/// Sends and settles the steps of permitted writes.
pub(super) struct Steps<'a> {
    sender: &'a Sender,
    lock: &'a WriteLock,
    past: &'a WriteHistory,
    reads: &'a SharedReads,
    patience: Timeouts,
}

impl<'a> Steps<'a> {
    pub(super) fn new(context: &'a WriteContext, sender: &'a Sender, lock: &'a WriteLock) -> Self {
        Self {
            sender,
            lock,
            past: &context.past,
            reads: &context.memory.reads,
            patience: context.patience,
        }
    }

    /// Sends one step after another, each recorded first and sent once; the next only after the
    /// previous was read back as applied.
    pub(super) async fn carry_out(
        &self,
        mut permit: Permit,
        record: &mut EntryBuilder,
        checked: SetCheck,
        knowing: Option<Knowing>,
    ) -> Result<Applied> {
        let (audit, sender) = (&self.past.audit, self.sender);
        let mut notes = checked.notes;
        let mut last: Option<Settled> = None;
        // A write uses one key from beginning to end.
        let sending = sender.pinned();
        if let Err(error) = record.keep_states(audit, permit.change()).await {
            return Err(record::failed(audit, record, error, permit.change(), None).await);
        }
        loop {
            let attempt = record::attempt(audit, record, &mut permit, &self.lock.0);
            let step = match record.stage("write.record", attempt).await {
                Ok(Some(step)) => step,
                Ok(None) => break,
                Err(error) => {
                    let (change, last) = (permit.change(), last.as_ref());
                    return Err(record::failed(audit, record, error, change, last).await);
                }
            };
            let (kind, change) = (step.kind(), permit.change());
            // Every step has a promise; without one nothing is sent.
            let Some(promise) = Promise::of(change, kind) else {
                return Err(broke_off());
            };
            let sent_at = sending.wiki().now();
            let settled = self.sent((&sending, record), step, &promise, sent_at).await;
            notes.warnings.extend(said_of(&settled));
            let failure = failure_of(&settled, kind, change);
            let step = (kind, change);
            let recorded = record::outcome(audit, record, step, &settled, failure.as_ref());
            let is_recorded = recorded.await;
            if let (Some(knowing), Some((id, at))) = (&knowing, own_text(&settled)) {
                self.reads.note_written(knowing, id, at).await;
            }
            notes.warnings.extend(ended(failure, is_recorded)?);
            if let Some(written) = may_overwrite(kind, &settled) {
                let warning =
                    overwritten((self.past, record.call()), change, written, sent_at).await;
                notes.warnings.extend(warning);
            }
            last = Some(settled);
        }
        let (wiki, call) = (&self.past.wiki, record.call());
        let mut applied = applied(wiki, call, permit.change(), last);
        applied.change.lines_added = checked.lines.added;
        applied.change.lines_removed = checked.lines.removed;
        Ok(Applied { notes, ..applied })
    }

    /// Sends a step, unless others may have a lease by now, and finds out its outcome.
    async fn sent(
        &self,
        (sending, record): (&Sending, &EntryBuilder),
        step: Step,
        promise: &Promise<'_>,
        sent_at: OffsetDateTime,
    ) -> Settled {
        let Some(step) = step.sure(&self.lock.0) else {
            return not_sent(None);
        };
        let sent = record.stage("write.send", sending.send(step)).await;
        let settled = settle(sending.wiki(), self.patience, promise, sent, sent_at);
        let mut settled = record.stage("write.verify", settled).await;
        if let Some(since) = settled.since.take() {
            settled.since = Some(Box::new(since.with_ours(self.past).await));
        }
        settled
    }
}

/// The answer about a change, with the page found after its last step; lines and notes are left to
/// be told.
pub(super) fn applied(
    wiki: &Wiki,
    call: CallId,
    change: &Change,
    last: Option<Settled>,
) -> Applied {
    let proof = last.and_then(|settled| settled.proof);
    let page = proof
        .as_ref()
        .map_or_else(|| change.target(), |proof| &proof.found);
    Applied {
        call,
        change: ChangeView {
            outcome: Some(Outcome::Applied),
            changed: change.fields(),
            ..ChangeView::bare(
                change.operation(),
                WriteTarget::new(page, wiki.url_of(page)),
            )
        },
        updated_at: page
            .updated_at
            .as_ref()
            .filter(|_| change.after().is_some())
            .map(|at| at.as_str().to_owned()),
        unreadable: change
            .thing()
            .filter(|_| change.before().is_none())
            .and_then(Attached::unreadable),
        unverified: proof.map(|proof| proof.unverified).unwrap_or_default(),
        notes: Notes::default(),
    }
}

/// The page as an update left it; other steps overwrite nothing that somebody wrote.
fn may_overwrite(kind: Operation, settled: &Settled) -> Option<&PageState> {
    let proof = settled.proof.as_ref().filter(|_| kind == Operation::Update);
    proof.map(|proof| &proof.found)
}

/// The end of a write whose step failed, or the warning that the outcome of a step is not on record.
fn ended(failure: Option<Failure>, is_recorded: bool) -> Result<Option<Warning>> {
    match (failure, is_recorded) {
        (Some(failure), true) => Err(failure),
        (Some(failure), false) => Err(failure.detail("outcomeRecorded", false)),
        (None, true) => Ok(None),
        (None, false) => Ok(Some(Warning::new(
            "outcome_not_recorded",
            "the write happened, but its outcome could not be put on record.",
        ))),
    }
}

/// The page whose text is as its own write left it, even in part, and the time of that state.
fn own_text(settled: &Settled) -> Option<(i64, &Date)> {
    let is_applied = matches!(settled.outcome, Outcome::Applied | Outcome::PartlyApplied);
    let proof = settled.proof.as_ref().filter(|_| is_applied)?;
    let found = &proof.found;
    // Of what belongs to a page, nobody keeps what a session knows.
    let is_own = !proof.differing.contains(&Field::Content) && found.thing.is_none();
    found.id.zip(found.updated_at.as_ref()).filter(|_| is_own)
}

/// The failure if the server takes no more writes.
pub(super) fn is_ending() -> Failure {
    Failure::new(
        Code::AuditUnavailable,
        "The server is ending; nothing was sent.",
    )
}

/// The failure if it is unknown how far a write came.
pub(crate) fn broke_off() -> Failure {
    Failure::new(
        Code::OutcomeUnknown,
        "The write broke off in the server itself; the audit log says how far it came.",
    )
    .detail("outcome", Outcome::Unknown.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::lock::WriteLock;
    use super::{Settled, Steps, ended, may_overwrite, own_text};
    use crate::audit::{HeldLease, Outcome};
    use crate::change::{Operation, Proof};
    use crate::error::{Code, Failure};
    use crate::page::testing::{But as _, page};
    use crate::page::{Field, PageState};
    use crate::write::testing::{self, Office, checked, office, permit, record, update};

    const AT: &str = "2026-01-01T00:00:00.000Z";

    #[test]
    fn a_step_that_failed_ends_the_write_and_says_if_that_is_not_on_record() {
        let failure = || Failure::new(Code::NotApplied, "Why.");
        assert_eq!(ended(Some(failure()), true), Err(failure()));
        let unrecorded = failure().detail("outcomeRecorded", false);
        assert_eq!(ended(Some(failure()), false), Err(unrecorded));
        assert_eq!(ended(None, true), Ok(None));
        let warning = ended(None, false).unwrap().unwrap();
        assert_eq!(warning.code, "outcome_not_recorded");
    }

    #[tokio::test]
    async fn nothing_is_sent_once_others_may_have_the_lease() {
        const OVERTAKEN: &str = "Other servers have taken over";
        for (looks, code, events, cause) in [
            // Before the attempt, after it, and never: then the wiki that is not there is asked.
            (0, Code::AuditUnavailable, vec!["refusal"], None),
            (1, Code::NotApplied, vec!["attempt", "outcome"], None),
            (
                2,
                Code::NotApplied,
                vec!["attempt", "outcome"],
                Some("WIKI_UNAVAILABLE"),
            ),
        ] {
            let office = office();
            let lock = WriteLock(vec![HeldLease::sure_for(looks)]);
            let sender = Office::sender();
            let steps = Steps::new(&office.desk, &sender, &lock);
            let permit = permit(update(1));
            let mut record = record(permit.set());
            let failure = steps.carry_out(permit, &mut record, checked(), None);
            let failure = Box::pin(failure).await.unwrap_err();
            assert_eq!(failure.code, code, "{looks}");
            assert_eq!(
                failure.message.contains(OVERTAKEN),
                cause.is_none(),
                "{failure}"
            );
            let told = failure
                .details
                .get("cause")
                .and_then(|cause| cause.as_str());
            assert_eq!(told, cause, "{looks}");
            assert_eq!(office.words("event"), events, "{looks}");
            let outcomes = office.words("outcome");
            let is_settled = outcomes.last().map(String::as_str) == Some("not_applied");
            assert_eq!(is_settled, looks > 0, "{outcomes:?}");
        }
    }

    #[test]
    fn what_was_overwritten_is_looked_for_behind_an_update_that_was_read_back() {
        let read_back = Settled::sent(Outcome::Applied, Some(proof(Vec::new(), found())), None);
        let written = may_overwrite(Operation::Update, &read_back);
        assert_eq!(written, Some(&found()));
        for kind in [Operation::Create, Operation::Move, Operation::Delete] {
            assert_eq!(may_overwrite(kind, &read_back), None, "{kind:?}");
        }
        let unread = Settled::sent(Outcome::Applied, None, None);
        assert_eq!(may_overwrite(Operation::Update, &unread), None);
    }

    /// True if the session knows the page after a step with this outcome.
    fn knows(outcome: Outcome, proof: Option<Proof>) -> bool {
        let settled = Settled::sent(outcome, proof, None);
        own_text(&settled) == Some((1, &AT.to_owned().into()))
    }

    fn proof(differing: Vec<Field>, found: PageState) -> Proof {
        testing::proof(&found.clone(), found).but(|it| it.differing = differing)
    }

    fn found() -> PageState {
        page().but(|it| it.updated_at = Some(AT.to_owned().into()))
    }

    #[test]
    fn a_session_knows_the_page_that_it_wrote_if_the_text_is_its_own() {
        for (outcome, expected) in [
            (Outcome::Applied, true),
            (Outcome::PartlyApplied, true),
            (Outcome::NotApplied, false),
            (Outcome::Unknown, false),
        ] {
            let is_known = knows(outcome, Some(proof(Vec::new(), found())));
            assert_eq!(is_known, expected, "{outcome:?}");
        }
        let partly = |field| knows(Outcome::PartlyApplied, Some(proof(vec![field], found())));
        assert!(partly(Field::Title));
        assert!(!partly(Field::Content));
    }

    #[test]
    fn a_session_knows_no_page_that_was_not_read_back() {
        assert!(!knows(Outcome::Applied, None));
        let undated = found().but(|it| it.updated_at = None);
        assert!(!knows(Outcome::Applied, Some(proof(Vec::new(), undated))));
        let nameless = found().but(|it| it.id = None);
        assert!(!knows(Outcome::Applied, Some(proof(Vec::new(), nameless))));
    }
}
