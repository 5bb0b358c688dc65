//! Finds out the outcome of a sent step by reading the page.

use std::time::{Duration, Instant};

use time::OffsetDateTime;

use crate::audit::Outcome;
use crate::change::Proof;
use crate::page::Date;
use crate::wiki::{MutationOutcome, Wiki, WikiError};

use crate::write::timeouts::Timeouts;
use expected::{FoundPage, PageObservation, Promise};
use history::{ChangedSince, HistoryEvidence, follow};
use verdict::{Says, SentStep, StepAnswer, Waited};

/// The outcome of a step.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) outcome: Outcome,
    /// The last reading's proof, if a page was found.
    pub(crate) proof: Option<Proof>,
    /// The reason why the wiki did not answer with success.
    pub(crate) cause: Option<WikiError>,
    /// Later changes by somebody else.
    pub(crate) since: Option<Box<ChangedSince>>,
    /// True if the wiki's success named another page than the one that was made.
    pub(crate) is_misnamed: bool,
    /// True if anything was sent.
    pub(crate) was_sent: bool,
}

impl Settled {
    /// A step that was sent and came to this end.
    pub(crate) const fn sent(
        outcome: Outcome,
        proof: Option<Proof>,
        cause: Option<WikiError>,
    ) -> Self {
        Self {
            outcome,
            proof,
            cause,
            since: None,
            is_misnamed: false,
            was_sent: true,
        }
    }
}

/// A step whose page is read until it is settled.
struct Settling<'a> {
    wiki: &'a Wiki,
    step: SentStep<'a>,
    patience: Timeouts,
    began: Instant,
    /// The result of the history, for the page's last write.
    trail: Option<(Option<Date>, HistoryEvidence)>,
}

/// Reads the page until the step's outcome is settled.
///
/// After success the step counts as applied once the page is read back as promised. After a refusal
/// it counts as applied, too, if the page is as promised (W19), and as not applied if the page is
/// as before. Without an answer of the wiki's own only the promised state ends the wait early; the
/// old state proves nothing, since the wiki may still be working (W19). A mixture counts if it was
/// seen twice, some time apart. If somebody else wrote since, the history shows what the step left.
/// A refusal that the wiki gives before it begins to write counts as not applied even where the page
/// cannot be read back.
pub(crate) async fn settle(
    wiki: &Wiki,
    patience: Timeouts,
    promise: &Promise<'_>,
    sent: MutationOutcome,
    sent_at: OffsetDateTime,
) -> Settled {
    let (answered, cause, new_id) = match sent {
        MutationOutcome::NotSent(error) => return not_sent(Some(error)),
        MutationOutcome::Succeeded { id } => (StepAnswer::Success, None, id),
        MutationOutcome::Refused(error) => (StepAnswer::Refusal, Some(error), None),
        MutationOutcome::Open(error) => (StepAnswer::Nothing, Some(error), None),
    };
    let step = SentStep {
        promise,
        answered,
        cause,
        new_id,
        sent_at,
    };
    let settling = Settling {
        wiki,
        step,
        patience,
        began: Instant::now(),
        trail: None,
    };
    settling.run().await
}

impl Settling<'_> {
    async fn run(mut self) -> Settled {
        let mut stable: Option<(PageObservation, Instant)> = None;
        let longest = self.patience.settling + self.patience.apart;
        loop {
            // A reading has retries of its own, which must not outlast the settling.
            let left = longest.saturating_sub(self.began.elapsed());
            let reading = self.step.promise.read(self.wiki, self.step.new_id);
            let Ok(reading) = tokio::time::timeout(left, reading).await else {
                return self.unsettled(stable);
            };
            match reading {
                Ok(seen) => {
                    let now = Instant::now();
                    let since = seen_since(stable.as_ref(), &seen, now);
                    let is_stable = is_stable(since, now, self.patience.apart);
                    if let Some(outcome) = self.outcome(&seen, is_stable).await {
                        return self.settled(outcome, seen);
                    }
                    stable = Some((seen, since));
                }
                // What this key may not read, no later reading shows it either.
                Err(error) if self.step.is_denied() && !error.is_passing() => {
                    return self.unsettled(None);
                }
                Err(error) => {
                    tracing::warn!(%error, "an outcome could not be read back yet");
                    stable = None;
                }
            }
            if self.began.elapsed() >= longest {
                return self.unsettled(stable);
            }
            tokio::time::sleep(self.patience.pause).await;
        }
    }

    /// The outcome by a reading; `None` if another reading may tell more.
    async fn outcome(&mut self, seen: &PageObservation, is_stable: bool) -> Option<Outcome> {
        loop {
            let waited = Waited {
                is_stable,
                is_over: self.began.elapsed() >= self.patience.settling,
            };
            match (self.step.says(seen, waited, self.trail_of(seen)), seen) {
                (Says::Is(outcome), _) => return Some(outcome),
                (Says::AskHistory, PageObservation::Page(found)) => self.follow(found).await,
                (Says::Wait | Says::AskHistory, _) => return None,
            }
        }
    }

    /// The result of the history for this very reading.
    fn trail_of(&self, seen: &PageObservation) -> Option<&HistoryEvidence> {
        let PageObservation::Page(found) = seen else {
            return None;
        };
        let (at, trail) = self.trail.as_ref()?;
        (*at == found.proof.found.updated_at).then_some(trail)
    }

    async fn follow(&mut self, found: &FoundPage) {
        let (step, limit) = (&self.step, self.patience.settling);
        let trail = follow(self.wiki, step.promise, found, step.sent_at, limit).await;
        self.trail = Some((found.proof.found.updated_at.clone(), trail));
    }

    /// A page that may not be ours is not claimed: undo would remove it.
    fn settled(self, outcome: Outcome, seen: PageObservation) -> Settled {
        if let (Outcome::Applied, Some((_, HistoryEvidence::Applied(since)))) =
            (outcome, self.trail)
            && !self.step.promise.is_kept(&seen)
        {
            return Settled {
                proof: Some(since.proof.clone()),
                since: Some(since),
                ..Settled::sent(outcome, None, self.step.cause)
            };
        }
        let is_ours = self.step.promise.is_ours(&seen, self.step.sent_at);
        let is_misnamed = self.step.new_id.is_some()
            && matches!(&seen, PageObservation::Page(found) if !found.is_answered);
        let proof = seen.proof().filter(|_| is_ours);
        Settled {
            is_misnamed: is_misnamed && matches!(self.step.promise, Promise::Created { .. }),
            ..Settled::sent(outcome, proof, self.step.cause)
        }
    }

    fn unsettled(self, stable: Option<(PageObservation, Instant)>) -> Settled {
        let last = stable.map(|(seen, _)| seen);
        let ours = last.filter(|seen| self.step.promise.is_ours(seen, self.step.sent_at));
        let outcome = if self.step.is_denied() {
            Outcome::NotApplied
        } else {
            Outcome::Unknown
        };
        Settled::sent(
            outcome,
            ours.and_then(PageObservation::proof),
            self.step.cause,
        )
    }
}

/// Since when the page has looked as in this reading.
pub(crate) fn seen_since(
    last: Option<&(PageObservation, Instant)>,
    seen: &PageObservation,
    now: Instant,
) -> Instant {
    match last {
        Some((last, since)) if last == seen => *since,
        _ => now,
    }
}

fn is_stable(since: Instant, now: Instant, apart: Duration) -> bool {
    now.saturating_duration_since(since) >= apart
}

/// The outcome of a step that was not sent: for this cause, or since others may have its leases by now.
pub(crate) fn not_sent(cause: Option<WikiError>) -> Settled {
    Settled {
        was_sent: false,
        ..Settled::sent(Outcome::NotApplied, None, cause)
    }
}

pub(crate) mod expected;
pub(crate) mod history;
#[cfg(test)]
mod tests;
mod verdict;
