//! Settles the open attempts of killed runs by reading, and records their outcomes in this run
//! under the old calls.
//!
//! A reading proves what is there, not what the wiki may still do (W19). So the promised state is
//! *applied* and the old state is *unknown*. Of a mixture only the fields of the step count, since
//! somebody else may have written the page meanwhile.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{FutureExt as _, StreamExt as _, stream};
use parking_lot::RwLock;
use tokio::sync::{Mutex, OnceCell};

use crate::audit::{
    AuditError, AuditLog, AuditResult, Keep, KeptState, OpenAttempt, OpenSet, Outcome,
};
use crate::change::{Change, Operation, Proof};
use crate::meter::Counter;
use crate::page::{Field, PageState};
use crate::store::blocking;
use crate::wiki::{Wiki, WikiError};

use super::super::audit_entry::is_worth_keeping;
use super::super::stages::verify::expected::{CreationOrder, PageObservation, Promise};
use super::super::stages::verify::history::{HistoryEvidence, follow};
use super::super::stages::verify::seen_since;
use super::super::timeouts::Timeouts;
use super::super::undo::history_set;

/// The most attempts that one start takes up, the newest first.
const MOST: usize = 64;
/// Time after a try that left attempts of this run open until they are tried again.
const AGAIN: Duration = Duration::from_secs(30);
/// The number of attempts that are settled concurrently.
const AT_ONCE: usize = 4;

/// The reason of an outcome that a reading showed.
const FOUND: &str = "Found by reading the page in a later run.";
/// The reason of an unknown outcome for which nothing was read.
const LOST: &str =
    "Its kept states are lost or damaged, so the page could not be compared with them.";

/// The outcome of an attempt.
#[derive(Debug)]
struct RecoveredOutcome {
    outcome: Outcome,
    /// The id of the page that the attempt created, if it was found.
    id: Option<i64>,
    /// The page as the attempt left it, if that is not as promised.
    left: Option<PageState>,
}

/// The reason why an attempt stays open until the next start.
#[derive(Debug, thiserror::Error)]
enum StaysOpen {
    #[error(transparent)]
    Wiki(#[from] WikiError),
    #[error(transparent)]
    Audit(#[from] AuditError),
    #[error("the key cannot read what was written")]
    Unreadable,
}

/// Settles the open attempts of earlier runs once, with the server's own key; and those of this one that
/// there was no room to put on record, once there is.
#[derive(Debug)]
pub(crate) struct Recovery {
    wiki: Arc<Wiki>,
    audit: Arc<AuditLog>,
    patience: Timeouts,
    keep: Arc<RwLock<Keep>>,
    once: OnceCell<()>,
    /// The runs that had ended by the last look, and their lengths.
    ended: Mutex<Option<HashSet<(String, u64)>>>,
    /// The time of the last vain try to settle attempts of this run.
    tried: Mutex<Option<Instant>>,
    /// Attempts whose outcome stays unknown.
    pub(crate) unknown: Counter,
}

impl Recovery {
    pub(crate) fn new(
        wiki: Arc<Wiki>,
        audit: Arc<AuditLog>,
        patience: Timeouts,
        keep: Arc<RwLock<Keep>>,
    ) -> Self {
        Self {
            wiki,
            audit,
            patience,
            keep,
            once: OnceCell::new(),
            ended: Mutex::default(),
            tried: Mutex::default(),
            unknown: Counter::default(),
        }
    }

    /// Waits until the open attempts of earlier runs are settled as far as possible. Runs once, and
    /// again if there was no room to put outcomes on record; takes at most 1.5 times as long as
    /// settling one write.
    pub(crate) async fn done(&self) {
        let first = || async {
            if let Err(error) = self.ended_meanwhile().boxed().await {
                tracing::warn!(%error, "the runs that ended could not be listed");
            }
        };
        self.once.get_or_init(first).await;
        if !self.audit.unsettled.is_any() {
            return;
        }
        // Who comes second waits until the first is done.
        let mut tried = self.tried.lock().await;
        let is_due = tried.is_none_or(|tried| tried.elapsed() >= AGAIN);
        if !is_due || !self.audit.unsettled.is_any() || self.audit.go_on().await.is_err() {
            return;
        }
        self.in_time(None).await;
        if let Err(error) = self.audit.unsettled.forget_settled().await {
            tracing::warn!(%error, "what is settled of this run could not be looked for");
        }
        *tried = self.audit.unsettled.is_any().then(Instant::now);
    }

    /// Waits until the open attempts of runs that ended meanwhile are settled: what another server had sent may
    /// still be under way when its locks are free. `true` if any ended.
    ///
    /// # Errors
    /// If the runs cannot be listed, where servers elsewhere share the store.
    pub(crate) async fn ended_meanwhile(&self) -> AuditResult<bool> {
        // Who comes second waits until the first is done.
        let mut last = self.ended.lock().await;
        let runs = self.audit.runs.clone();
        let all = match blocking::<_, AuditError, _>(move || runs.all()).await {
            Err(error) if !self.audit.store().is_remote() => {
                // A file of somebody else among the runs stops no write here.
                tracing::warn!(%error, "the runs that ended meanwhile could not be listed");
                return Ok(false);
            }
            all => all?,
        };
        // Its length tells a run that ended from the same one, taken up again and ended later.
        let ended = all.iter().filter(|run| !run.is_locked);
        let ended: HashSet<_> = ended
            .map(|run| (run.name().to_owned(), run.length))
            .collect();
        let new = last.as_ref().map(|last| {
            let new = ended.difference(last);
            new.map(|(name, _)| name.clone()).collect::<HashSet<_>>()
        });
        let is_any = new.as_ref().is_none_or(|new| !new.is_empty());
        if is_any {
            self.in_time(new).await;
        }
        *last = Some(ended);
        Ok(is_any)
    }

    /// Settles what is open, if any of these runs, or of all, left something.
    async fn in_time(&self, among: Option<HashSet<String>>) {
        let longest = self.patience.settling * 3 / 2;
        match tokio::time::timeout(longest, self.recover(among)).await {
            Ok(Ok(()) | Err(AuditError::Ended)) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "attempts that are open could not be looked for");
            }
            Err(_) => {
                tracing::warn!("attempts that are open could not be settled in time");
            }
        }
    }

    async fn recover(&self, among: Option<HashSet<String>>) -> AuditResult<()> {
        let (unsettled, days) = (&self.audit.unsettled, Some(self.keep.read().days));
        if unsettled.left_open(days, among).await?.is_empty() {
            return Ok(());
        }
        // After waiting here, the outcomes of the process before us are on record.
        let _turn = self.audit.lock_recovery(self.patience.queueing).await?;
        let open = unsettled.left_open(days, None).await?;
        stream::iter(open.attempts.into_iter().rev().take(MOST))
            .for_each_concurrent(AT_ONCE, |attempt| self.take_up(attempt))
            .await;
        // A set ends once every attempted change of it has an outcome.
        for set in open.sets.into_iter().rev().take(MOST) {
            self.end_set(&set).await?;
        }
        Ok(())
    }

    /// Records the end of a set whose server ended first.
    async fn end_set(&self, open: &OpenSet) -> AuditResult<()> {
        let call = open.set;
        let sent = history_set::AttemptedChanges::of(self.audit.calls.of_set(call).await?);
        if sent.is_open() {
            return Ok(());
        }
        let outcome = sent.outcome();
        let mut entry = open.outcome(outcome);
        entry.decision = Some(history_set::INTERRUPTED.to_owned());
        let why = if self.audit.unsettled.is_any() {
            "There was no room for records"
        } else {
            "Its server ended"
        };
        let standing = match sent.aside().count() {
            0 => "",
            _ => " A page stands at its temporary place; undo brings it back.",
        };
        let applied = sent.applied();
        entry.reason = Some(format!(
            "{why} while it was sent; {applied} of its changes are applied.{standing}"
        ));
        if let Some((one, path)) = sent.aside().next() {
            entry.id = one.id;
            entry.aside = Some(path.clone());
        }
        self.audit.record(entry).await?;
        let outcome = outcome.as_str();
        tracing::warn!(%call, outcome, "a set that an earlier run left open is settled");
        Ok(())
    }

    async fn take_up(&self, attempt: OpenAttempt) {
        let (call, step) = (
            attempt.entry.call,
            attempt.entry.step.as_deref().unwrap_or_default(),
        );
        match self.settle_late(&attempt).await {
            Ok((Outcome::Applied, page)) => {
                tracing::warn!(%call, step, page, "an attempt that an earlier run left open was applied");
            }
            Ok((outcome, page)) => {
                if outcome == Outcome::Unknown {
                    self.unknown.add();
                }
                let outcome = outcome.as_str();
                tracing::warn!(%call, step, page, outcome, "an attempt that an earlier run left open is settled");
            }
            Err(StaysOpen::Audit(AuditError::Ended)) => {}
            Err(error) => {
                let page = attempt.entry.id;
                tracing::warn!(%call, step, page, %error, "an attempt of an earlier run stays open");
            }
        }
    }

    /// Settles an attempt and records it; returns its outcome and the page's id.
    async fn settle_late(
        &self,
        attempt: &OpenAttempt,
    ) -> Result<(Outcome, Option<i64>), StaysOpen> {
        if !attempt.may_be_sent {
            let mut entry = attempt.outcome(Outcome::NotApplied);
            let why = "There was no room for the record of the attempt, so nothing was sent.";
            entry.reason = Some(why.to_owned());
            self.audit.record(entry).await?;
            return Ok((Outcome::NotApplied, attempt.entry.id));
        }
        let (verdict, why) = match self.change_of(attempt).await? {
            Some(change) => (self.find_out(&change, attempt).await?, FOUND),
            None => (RecoveredOutcome::UNKNOWN, LOST),
        };
        let mut entry = attempt.outcome(verdict.outcome);
        entry.reason = Some(why.to_owned());
        entry.id = verdict.id.or(entry.id);
        if let Some(left) = &verdict.left {
            entry.found = Some(self.audit.states.keep(left).await?);
        }
        let page = entry.id;
        self.audit.record(entry).await?;
        Ok((verdict.outcome, page))
    }

    /// The change, made again from its kept states; `None` if they are lost.
    async fn change_of(&self, attempt: &OpenAttempt) -> AuditResult<Option<Change>> {
        let entry = &attempt.entry;
        let kept = async |name: Option<KeptState>| match name {
            Some(name) => self.audit.states.get(name).await.map(Some),
            None => Ok(None),
        };
        let change = match (kept(entry.before).await, kept(entry.after).await) {
            (Ok(before), Ok(after)) => Change::of_states(before, after),
            (Err(AuditError::Missing | AuditError::Damaged), _)
            | (Ok(_), Err(AuditError::Missing | AuditError::Damaged)) => None,
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        let is_written = entry.step.as_deref() == Some(Operation::Update.as_str());
        let change = change.map(|change| change.by_way_of(entry.aside.clone()));
        Ok(change.map(|change| change.rendered_anew(is_written)))
    }

    /// The age of an attempt, as far as it is sure: the clock of another machine tells none.
    fn age_of(&self, attempt: &OpenAttempt) -> Duration {
        if self.audit.store().is_remote() {
            Duration::ZERO
        } else {
            attempt.age()
        }
    }

    async fn find_out(
        &self,
        change: &Change,
        attempt: &OpenAttempt,
    ) -> Result<RecoveredOutcome, StaysOpen> {
        if let Some(expired) = self.wiki.expired() {
            return Err(expired.into());
        }
        let is_it = |step: &str| attempt.entry.step.as_deref() == Some(step);
        let step = change.steps().into_iter().find(|step| is_it(step.as_str()));
        let Some((step, promise)) = step.and_then(|step| Some((step, Promise::of(change, step)?)))
        else {
            return Ok(RecoveredOutcome::UNKNOWN);
        };
        let seen = self.last_seen(&promise, self.age_of(attempt)).await?;
        let age = time::Duration::try_from(attempt.age()).unwrap_or(time::Duration::MAX);
        let sent_at = self.wiki.now().saturating_sub(age);
        let is_kept = promise.is_kept(&seen);
        match (&promise, seen) {
            (Promise::Deleted { .. }, PageObservation::Gone) => Ok(RecoveredOutcome {
                outcome: Outcome::Applied,
                ..RecoveredOutcome::UNKNOWN
            }),
            (Promise::Created { .. }, PageObservation::Page(found))
                if found.made(sent_at) == CreationOrder::BeforeTheAttempt =>
            {
                Ok(RecoveredOutcome::UNKNOWN)
            }
            (_, PageObservation::Page(found)) if is_kept => {
                // A key that sees only half of a new page cannot tell it from another's.
                let is_unread = |field: &Field| found.proof.unverified.contains(field);
                if change.fields().iter().any(is_unread) {
                    return Err(StaysOpen::Unreadable);
                }
                Ok(RecoveredOutcome::kept(found.proof.found, change, step))
            }
            (Promise::Changed { before, after, .. }, PageObservation::Page(found)) => {
                // Somebody else may have written after it.
                let longest = self.patience.settling;
                if found.is_later_than(before)
                    && let HistoryEvidence::Applied(since) =
                        follow(&self.wiki, &promise, &found, sent_at, longest).await
                {
                    return Ok(RecoveredOutcome {
                        outcome: Outcome::Applied,
                        id: None,
                        left: Some(since.proof.found),
                    });
                }
                Ok(mixture(before, after, &found.proof))
            }
            (Promise::Created { .. } | Promise::Deleted { .. }, PageObservation::Page(_))
            | (Promise::Created { .. } | Promise::Changed { .. }, PageObservation::Gone) => {
                Ok(RecoveredOutcome::UNKNOWN)
            }
        }
    }

    /// The page as promised, or as it was seen twice, some time apart, once the wiki should be done
    /// with an attempt of this age.
    async fn last_seen(
        &self,
        promise: &Promise<'_>,
        age: Duration,
    ) -> Result<PageObservation, StaysOpen> {
        let wait = self.patience.settling.saturating_sub(age);
        let began = Instant::now();
        let mut last: Option<(PageObservation, Instant)> = None;
        loop {
            self.audit.check()?;
            let seen = promise.read(&self.wiki, None).await?;
            let since = seen_since(last.as_ref(), &seen, Instant::now());
            let is_final = began.elapsed() >= wait && since.elapsed() >= self.patience.apart;
            if is_final || promise.is_kept(&seen) {
                return Ok(seen);
            }
            last = Some((seen, since));
            tokio::time::sleep(self.patience.pause).await;
        }
    }
}

impl RecoveredOutcome {
    const UNKNOWN: Self = Self {
        outcome: Outcome::Unknown,
        id: None,
        left: None,
    };

    /// A page that is as a step promised.
    fn kept(found: PageState, change: &Change, step: Operation) -> Self {
        let promised = change.after_step(step);
        Self {
            outcome: Outcome::Applied,
            id: found.id,
            left: Some(found).filter(|found| is_worth_keeping(found, promised.as_deref())),
        }
    }
}

/// A page that is not as promised. Each field of the step that is not as before counts as written.
/// If it is not as promised either, somebody wrote it since; it counts as promised, so that an undo
/// finds the conflict.
fn mixture(before: &PageState, after: &PageState, proof: &Proof) -> RecoveredOutcome {
    let fields = before.difference(after);
    if fields.iter().all(|field| proof.differing.contains(field)) {
        return RecoveredOutcome::UNKNOWN;
    }
    let mut left = before.clone();
    for field in fields {
        if !proof.differing.contains(&field) {
            left.take(field, &proof.found);
        } else if !before.same(&proof.found, field) {
            left.take(field, after);
        }
    }
    RecoveredOutcome {
        outcome: Outcome::PartlyApplied,
        left: Some(left),
        ..RecoveredOutcome::UNKNOWN
    }
}

#[cfg(test)]
mod tests {
    use crate::gates::WritePolicy;
    use crate::write::testing::{Office, office, policy};

    #[tokio::test]
    async fn what_a_server_left_that_came_and_went_between_two_looks_is_settled() {
        let one = office();
        settles_what_others_left(&one).await;
        // So does a server that shares its store with others elsewhere.
        one.shares_store();
        settles_what_others_left(&one).await;
    }

    async fn settles_what_others_left(one: &Office) {
        let before = one.words("event").len();
        let mut beside = [(); 2].map(|()| Some(one.beside(policy(WritePolicy::Preview))));
        one.desk.recovered_since().await.unwrap();
        for (past, server) in beside.iter_mut().enumerate() {
            let server = server.take().unwrap();
            server.leaves_open().await;
            // It is killed.
            drop(server);
            one.desk.recovered_since().await.unwrap();
            let mut events = one.words("event");
            events.sort();
            assert_eq!(events.len() - before, 2 * (past + 1), "{events:?}");
            assert!(events.ends_with(&["outcome".to_owned()]), "{events:?}");
            // The attempt names no states, as if they were lost.
            assert!(one.words("reason").contains(&super::LOST.to_owned()));
        }
    }
}
