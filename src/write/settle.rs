//! What came of a step that was sent, found out by reading the page.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use crate::audit::Outcome;
use crate::change::{Change, Proof, StepKind, prove};
use crate::notice::Notice;
use crate::page::{Field, PageReading, PageState};
use crate::wiki::{Sent, Wiki, WikiError};

/// How long an outcome is waited for. Values, so that tests can make them short.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// How long the page is read after a time-out or a cut connection (W19).
    pub settling: Duration,
    /// How long between two readings.
    pub pause: Duration,
    /// How far apart two equal readings must be before they are believed.
    pub apart: Duration,
    /// How long other writes are waited for.
    pub queueing: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            settling: Duration::from_secs(20),
            pause: Duration::from_millis(250),
            apart: Duration::from_secs(1),
            queueing: Duration::from_secs(20),
        }
    }
}

/// What is promised of the page when a step is done.
pub(super) enum Promise<'a> {
    /// A page is there as it shall be.
    Created { after: &'a PageState },
    /// A page is as it shall be.
    Changed {
        /// As it is before this step, which may follow another.
        before: Cow<'a, PageState>,
        after: PageState,
        /// What cannot be read back, and whose loss was accepted.
        lost: &'a [Field],
    },
    /// A page is gone.
    Deleted { before: &'a PageState },
}

/// What came of a step.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) outcome: Outcome,
    /// The last reading's proof, where a page was found.
    pub(super) proof: Option<Proof>,
    /// Why the wiki did not answer with success.
    pub(super) cause: Option<WikiError>,
}

/// One reading of the page, as far as the outcome goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    Gone,
    Page(Box<Proof>),
}

/// What the wiki said of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answered {
    Success,
    Refusal,
    Nothing,
}

impl<'a> Promise<'a> {
    /// The promise of one step of a change; none where the change has no such step.
    pub(super) fn of(change: &'a Change, step: StepKind) -> Option<Self> {
        match (change.before(), change.after()) {
            (None, Some(after)) => Some(Self::Created { after }),
            (Some(before), None) => Some(Self::Deleted { before }),
            (Some(before), Some(_)) => Some(Self::Changed {
                before: if step == StepKind::Update && change.moves() {
                    Cow::Owned(change.after_step(StepKind::Move)?)
                } else {
                    Cow::Borrowed(before)
                },
                after: change.after_step(step)?,
                lost: change.lost(),
            }),
            (None, None) => None,
        }
    }

    pub(super) fn is_kept(&self, seen: &Seen) -> bool {
        match (self, seen) {
            (Self::Deleted { .. }, seen) => *seen == Seen::Gone,
            (Self::Created { .. } | Self::Changed { .. }, Seen::Page(proof)) => proof.holds(),
            (Self::Created { .. } | Self::Changed { .. }, Seen::Gone) => false,
        }
    }

    fn is_old_state(&self, seen: &Seen) -> bool {
        match (self, seen) {
            (Self::Created { .. }, seen) => *seen == Seen::Gone,
            (Self::Changed { before, .. }, Seen::Page(proof)) => before
                .difference(&proof.found)
                .iter()
                .all(|field| proof.unverified.contains(field)),
            (Self::Deleted { before }, Seen::Page(proof)) => {
                before.difference(&proof.found).is_empty()
            }
            (Self::Changed { .. } | Self::Deleted { .. }, Seen::Gone) => false,
        }
    }

    /// Whether the wiki refused a new page since another stands at its place. It looks before
    /// it writes anything (6002).
    const fn is_taken(&self, cause: Option<&WikiError>) -> bool {
        matches!(
            (self, cause),
            (Self::Created { .. }, Some(WikiError::PageExists))
        )
    }

    fn prove(&self, reading: &PageReading) -> Proof {
        match self {
            Self::Created { after } => prove(after, None, reading),
            Self::Changed { before, after, .. } => prove(after, Some(before), reading),
            // What is still there is compared with what was.
            Self::Deleted { before } => prove(before, None, reading),
        }
    }

    pub(super) async fn read(&self, wiki: &Wiki, new_id: Option<i64>) -> Result<Seen, WikiError> {
        let reading = match (self, new_id) {
            (Self::Created { .. }, Some(id)) => wiki.page_by_id(id).await,
            (Self::Created { after }, None) => wiki.page_by_path(&after.locale, &after.path).await,
            (Self::Changed { before, lost, .. }, _) => read_whole(wiki, before, lost).await,
            (Self::Deleted { before }, _) => read_whole(wiki, before, &[]).await,
        };
        match reading {
            Ok(reading) => Ok(Seen::Page(Box::new(self.prove(&reading)))),
            Err(WikiError::NotFound) => Ok(Seen::Gone),
            Err(error) => Err(error),
        }
    }

    /// Whether a page that was found is surely the one that was written. A new page is known
    /// by the id in the answer of success; without it another client's could stand there.
    fn is_ours(&self, seen: &Seen, new_id: Option<i64>) -> bool {
        match (self, seen) {
            (Self::Created { .. }, Seen::Page(proof)) => {
                new_id.is_some() || (proof.holds() && !proof.unverified.contains(&Field::Content))
            }
            _ => true,
        }
    }
}

async fn read_whole(
    wiki: &Wiki,
    page: &PageState,
    lost: &[Field],
) -> Result<PageReading, WikiError> {
    match page.id {
        Some(id) => wiki.whole_page(id, lost).await,
        None => Err(WikiError::NotFound),
    }
}

/// Reads the page until what was sent is settled.
///
/// Success is applied once the page is read back as promised. A refusal is applied all the
/// same if it is (W19), and not applied if the page is as it was. Without an answer only the
/// promised state ends the waiting early; the old state then means nothing, since the wiki
/// may still be working (W19). A mixture counts when it was seen twice, some time apart.
pub(super) async fn settle(
    wiki: &Wiki,
    patience: Patience,
    promise: &Promise<'_>,
    sent: Sent,
) -> Settled {
    let (answered, cause, new_id) = match sent {
        Sent::NotSent(error) => {
            return Settled {
                outcome: Outcome::NotApplied,
                proof: None,
                cause: Some(error),
            };
        }
        Sent::Succeeded { id } => (Answered::Success, None, id),
        Sent::Refused(error) => (Answered::Refusal, Some(error), None),
        Sent::Open(error) => (Answered::Nothing, Some(error), None),
    };
    let began = Instant::now();
    let mut stable: Option<(Seen, Instant)> = None;
    let mut waits = false;
    let longest = patience.settling + patience.apart;
    loop {
        // A reading has retries of its own, which must not outlast the settling.
        let left = longest.saturating_sub(began.elapsed());
        let Ok(reading) = tokio::time::timeout(left, promise.read(wiki, new_id)).await else {
            return settled(Outcome::Unknown, stable.map(|(seen, _)| seen), cause);
        };
        match reading {
            Ok(seen)
                if promise.is_kept(&seen)
                    && promise.is_ours(&seen, new_id)
                    && !promise.is_taken(cause.as_ref()) =>
            {
                return settled(Outcome::Applied, Some(seen), cause);
            }
            Ok(seen) => {
                let since = match &stable {
                    Some((last, since)) if *last == seen => *since,
                    _ => Instant::now(),
                };
                let is_stable = since.elapsed() >= patience.apart;
                let is_taken = promise.is_taken(cause.as_ref());
                let is_old = is_taken || promise.is_old_state(&seen);
                let outcome = match answered {
                    Answered::Refusal if is_old && (is_stable || is_final(cause.as_ref())) => {
                        Some(Outcome::NotApplied)
                    }
                    Answered::Success | Answered::Refusal if is_stable => {
                        Some(mixture(promise, &seen, answered))
                    }
                    Answered::Nothing if began.elapsed() >= patience.settling => {
                        Some(if is_stable && !is_old {
                            mixture(promise, &seen, answered)
                        } else {
                            Outcome::Unknown
                        })
                    }
                    _ => None,
                };
                if let Some(outcome) = outcome {
                    // What cannot be known to be ours is not claimed: undo would take it away.
                    let is_ours = !is_taken && promise.is_ours(&seen, new_id);
                    let outcome = match outcome {
                        Outcome::PartlyApplied if !is_ours => Outcome::Unknown,
                        outcome => outcome,
                    };
                    return settled(outcome, Some(seen).filter(|_| is_ours), cause);
                }
                stable = Some((seen, since));
            }
            Err(error) => {
                tracing::warn!(%error, "an outcome could not be read back yet");
                stable = None;
            }
        }
        if began.elapsed() >= longest {
            return settled(Outcome::Unknown, stable.map(|(seen, _)| seen), cause);
        }
        if !std::mem::replace(&mut waits, true) {
            Notice::Settling.tell();
        }
        tokio::time::sleep(patience.pause).await;
    }
}

/// Whether the wiki refuses with this before it begins to write.
const fn is_final(cause: Option<&WikiError>) -> bool {
    !matches!(
        cause,
        Some(WikiError::TreeRebuild | WikiError::Internal { .. }) | None
    )
}

/// A page that is neither as promised nor known to be as it was. Without the wiki's word for it
/// a step happened only if a field that it was to change is as promised: the others may be
/// somebody else's.
fn mixture(promise: &Promise<'_>, seen: &Seen, answered: Answered) -> Outcome {
    match (promise, seen) {
        (Promise::Changed { before, after, .. }, Seen::Page(proof))
            if answered != Answered::Success =>
        {
            let asked = before.difference(after);
            if asked.iter().any(|field| !proof.differing.contains(field)) {
                Outcome::PartlyApplied
            } else if answered == Answered::Refusal
                && asked.iter().all(|field| before.same(&proof.found, *field))
            {
                Outcome::NotApplied
            } else {
                Outcome::Unknown
            }
        }
        (Promise::Created { .. } | Promise::Changed { .. }, Seen::Page(_)) => {
            Outcome::PartlyApplied
        }
        // A page that is still there after a delete, or gone, or never came: no field tells.
        (Promise::Deleted { .. }, _) | (_, Seen::Gone) => Outcome::Unknown,
    }
}

fn settled(outcome: Outcome, seen: Option<Seen>, cause: Option<WikiError>) -> Settled {
    let proof = match seen {
        Some(Seen::Page(proof)) => Some(*proof),
        Some(Seen::Gone) | None => None,
    };
    Settled {
        outcome,
        proof,
        cause,
    }
}
