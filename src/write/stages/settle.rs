//! What came of a step that was sent, found out by reading the page.

use std::time::Instant;

use time::OffsetDateTime;

use crate::audit::Outcome;
use crate::change::Proof;
use crate::notice::Notice;
use crate::page::{Date, Field};
use crate::wiki::{Sent, Wiki, WikiError};

pub(in crate::write) mod promise;
pub(in crate::write) mod trail;

use crate::write::patience::Patience;
use promise::{FoundPage, Made, Promise, Seen};
use trail::{ChangedSince, Trail, follow};

/// What came of a step.
#[derive(Debug)]
pub(in crate::write) struct Settled {
    pub(in crate::write) outcome: Outcome,
    /// The last reading's proof, where a page was found.
    pub(in crate::write) proof: Option<Proof>,
    /// Why the wiki did not answer with success.
    pub(in crate::write) cause: Option<WikiError>,
    /// What somebody else made of it since.
    pub(in crate::write) since: Option<Box<ChangedSince>>,
    /// Whether the answer of success named another page than the one that was made.
    pub(in crate::write) is_misnamed: bool,
    /// Whether anything went out.
    pub(in crate::write) was_sent: bool,
}

/// What the wiki said of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answered {
    Success,
    Refusal,
    Nothing,
}

/// A step that was sent, and what was answered.
struct Settling<'a> {
    wiki: &'a Wiki,
    promise: &'a Promise<'a>,
    patience: Patience,
    answered: Answered,
    cause: Option<WikiError>,
    new_id: Option<i64>,
    /// When it was sent, by the wiki's clock.
    sent_at: OffsetDateTime,
    began: Instant,
    /// What the history told of the page as it was written last.
    trail: Option<(Option<Date>, Trail)>,
}

/// Reads the page until what was sent is settled.
///
/// Success is applied once the page is read back as promised. A refusal is applied all the
/// same if it is (W19), and not applied if the page is as it was. Without an answer of the wiki's
/// own only the promised state ends the waiting early; the old state then means nothing, since
/// the wiki may still be working (W19). A mixture counts when it was seen twice, some time apart,
/// and where somebody else wrote since, the history is asked for what the step left.
pub(in crate::write) async fn settle(
    wiki: &Wiki,
    patience: Patience,
    promise: &Promise<'_>,
    sent: Sent,
    sent_at: OffsetDateTime,
) -> Settled {
    let (answered, cause, new_id) = match sent {
        Sent::NotSent(error) => {
            return Settled {
                was_sent: false,
                ..settled(Outcome::NotApplied, None, Some(error))
            };
        }
        Sent::Succeeded { id } => (Answered::Success, None, id),
        Sent::Refused(error) => (Answered::Refusal, Some(error), None),
        Sent::Open(error) => (Answered::Nothing, Some(error), None),
    };
    let settling = Settling {
        wiki,
        promise,
        patience,
        answered,
        cause,
        new_id,
        sent_at,
        began: Instant::now(),
        trail: None,
    };
    settling.run().await
}

impl Settling<'_> {
    async fn run(mut self) -> Settled {
        let mut stable: Option<(Seen, Instant)> = None;
        let mut waits = false;
        let longest = self.patience.settling + self.patience.apart;
        loop {
            // A reading has retries of its own, which must not outlast the settling.
            let left = longest.saturating_sub(self.began.elapsed());
            let reading = self.promise.read(self.wiki, self.new_id);
            let Ok(reading) = tokio::time::timeout(left, reading).await else {
                return self.unsettled(stable);
            };
            match reading {
                Ok(seen) => {
                    let since = match &stable {
                        Some((last, since)) if *last == seen => *since,
                        _ => Instant::now(),
                    };
                    let is_stable = since.elapsed() >= self.patience.apart;
                    if let Some(outcome) = self.outcome(&seen, is_stable).await {
                        return self.told(outcome, seen);
                    }
                    stable = Some((seen, since));
                }
                Err(error) => {
                    tracing::warn!(%error, "an outcome could not be read back yet");
                    stable = None;
                }
            }
            if self.began.elapsed() >= longest {
                return self.unsettled(stable);
            }
            if !std::mem::replace(&mut waits, true) {
                Notice::Settling.tell();
            }
            tokio::time::sleep(self.patience.pause).await;
        }
    }

    /// What a reading says, or nothing as long as another may say more.
    async fn outcome(&mut self, seen: &Seen, is_stable: bool) -> Option<Outcome> {
        if self.promise.is_taken(self.cause.as_ref()) {
            return self.taken(seen, is_stable);
        }
        if self.promise.is_kept(seen) && self.promise.is_ours(seen, self.sent_at) {
            return Some(Outcome::Applied);
        }
        let is_old = self.promise.is_old_state(seen);
        if self.answered == Answered::Refusal
            && is_old
            && (is_stable || is_final(self.cause.as_ref()))
        {
            return Some(Outcome::NotApplied);
        }
        if !is_stable && self.began.elapsed() < self.patience.settling {
            return None;
        }
        if let Seen::Page(found) = seen
            && is_stable
            && self.may_be_behind(found)
        {
            self.follow(found).await;
            if matches!(&self.trail, Some((_, Trail::Applied(_)))) {
                return Some(Outcome::Applied);
            }
        }
        match self.answered {
            Answered::Success | Answered::Refusal if is_stable => Some(self.mixture(seen)),
            Answered::Nothing if self.began.elapsed() >= self.patience.settling => {
                Some(if is_stable && !is_old {
                    self.mixture(seen)
                } else {
                    Outcome::Unknown
                })
            }
            _ => None,
        }
    }

    /// A create was refused since a page stands at its place, which was free just before. It may
    /// be its own: what stands before the wiki may have sent it twice.
    fn taken(&self, seen: &Seen, is_stable: bool) -> Option<Outcome> {
        let Seen::Page(found) = seen else {
            return is_stable.then_some(Outcome::NotApplied);
        };
        let is_same = self.promise.is_kept(seen);
        match found.made(self.sent_at) {
            Made::BeforeTheAttempt => Some(Outcome::NotApplied),
            // The first of two may still be at work on its page.
            _ if !is_same => is_stable.then_some(Outcome::NotApplied),
            Made::AfterTheAttempt if found.is_to_the_letter() => Some(Outcome::Applied),
            Made::AfterTheAttempt | Made::Unclear => Some(Outcome::Unknown),
        }
    }

    /// Whether the step may have been applied and somebody else's write come after it.
    fn may_be_behind(&self, found: &FoundPage) -> bool {
        match self.promise {
            Promise::Created { .. } => {
                found.is_answered || found.made(self.sent_at) == Made::AfterTheAttempt
            }
            Promise::Changed { before, .. } => found.is_later_than(before),
            Promise::Deleted { .. } => false,
        }
    }

    async fn follow(&mut self, found: &FoundPage) {
        let at = &found.proof.found.updated_at;
        if self.trail.as_ref().is_none_or(|(last, _)| last != at) {
            let limit = self.patience.settling;
            let trail = follow(self.wiki, self.promise, found, self.sent_at, limit).await;
            self.trail = Some((at.clone(), trail));
        }
    }

    /// A page that is neither as promised nor known to be as it was. A step happened only if a
    /// field that it was to change is seen as promised, or if the wiki says so and all is as it
    /// was but for the time of the last write, which nobody else moved: it keeps what a key may
    /// not write (W24). All else may be somebody else's.
    fn mixture(&self, seen: &Seen) -> Outcome {
        match (self.promise, seen) {
            (Promise::Changed { before, after, .. }, Seen::Page(found)) => {
                let asked = before.difference(after);
                let is_old = |field: &Field| before.same(&found.proof.found, *field);
                let others_wrote = matches!(&self.trail, Some((_, Trail::OthersWrote)));
                // Of new styles the wiki stores what it can (W25): less than all of them is ours, too.
                let lacks_rules = |field: &Field| {
                    *field == Field::ScriptCss && !found.proof.css_dropped.effective.is_empty()
                };
                let was_kept = found.is_later_than(before)
                    && !others_wrote
                    && found
                        .proof
                        .differing
                        .iter()
                        .all(|field| is_old(field) || lacks_rules(field));
                match self.answered {
                    _ if asked.iter().any(|field| found.shows(*field)) => Outcome::PartlyApplied,
                    Answered::Success if was_kept => Outcome::PartlyApplied,
                    Answered::Refusal if asked.iter().all(is_old) => Outcome::NotApplied,
                    _ => Outcome::Unknown,
                }
            }
            // The wiki says so, of this page.
            (Promise::Created { .. }, Seen::Page(found)) if found.is_answered => {
                Outcome::PartlyApplied
            }
            // A page that is still there after a delete, or gone, or never came: no field tells.
            (Promise::Created { .. } | Promise::Deleted { .. }, _) | (_, Seen::Gone) => {
                Outcome::Unknown
            }
        }
    }

    /// What cannot be known to be ours is not claimed: undo would take it away.
    fn told(self, outcome: Outcome, seen: Seen) -> Settled {
        if let (Outcome::Applied, Some((_, Trail::Applied(since)))) = (outcome, self.trail)
            && !self.promise.is_kept(&seen)
        {
            return Settled {
                proof: Some(since.proof.clone()),
                since: Some(since),
                ..settled(outcome, None, self.cause)
            };
        }
        let is_ours = self.promise.is_ours(&seen, self.sent_at);
        let is_misnamed =
            self.new_id.is_some() && matches!(&seen, Seen::Page(found) if !found.is_answered);
        Settled {
            is_misnamed: is_misnamed && matches!(self.promise, Promise::Created { .. }),
            ..settled(outcome, Some(seen).filter(|_| is_ours), self.cause)
        }
    }

    fn unsettled(self, stable: Option<(Seen, Instant)>) -> Settled {
        let last = stable.map(|(seen, _)| seen);
        let ours = last.filter(|seen| self.promise.is_ours(seen, self.sent_at));
        settled(Outcome::Unknown, ours, self.cause)
    }
}

/// Whether the wiki refuses with this before it begins to write.
const fn is_final(cause: Option<&WikiError>) -> bool {
    !matches!(
        cause,
        Some(WikiError::TreeRebuild | WikiError::Internal { .. }) | None
    )
}

fn settled(outcome: Outcome, seen: Option<Seen>, cause: Option<WikiError>) -> Settled {
    let proof = match seen {
        Some(Seen::Page(found)) => Some(found.proof),
        Some(Seen::Gone) | None => None,
    };
    Settled {
        outcome,
        proof,
        cause,
        since: None,
        is_misnamed: false,
        was_sent: true,
    }
}
