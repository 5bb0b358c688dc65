//! Judges a sent step by one reading of its page: pure, so that each case is a test.

use time::OffsetDateTime;

use super::expected::{CreationOrder, FoundPage, PageObservation, Promise};
use super::history::HistoryEvidence;
use crate::audit::Outcome;
use crate::page::Field;
use crate::wiki::WikiError;

/// The wiki's answer to a step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StepAnswer {
    Success,
    Refusal,
    Nothing,
}

/// A step that was sent, and the facts of it beside its page.
pub(super) struct SentStep<'a> {
    pub(super) promise: &'a Promise<'a>,
    pub(super) answered: StepAnswer,
    pub(super) cause: Option<WikiError>,
    pub(super) new_id: Option<i64>,
    /// The time at which it was sent, by the wiki's clock.
    pub(super) sent_at: OffsetDateTime,
}

/// The wait for a page so far.
#[derive(Clone, Copy)]
pub(super) struct Waited {
    /// True if the page was seen the same twice, some time apart.
    pub(super) is_stable: bool,
    /// True if the time to wait is over.
    pub(super) is_over: bool,
}

/// The judgement of a reading.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// This is the outcome.
    Is(Outcome),
    /// Another reading may say more.
    Wait,
    /// The page's history may say more.
    AskHistory,
}
impl SentStep<'_> {
    /// True if the wiki itself said no before it began to write, so that nothing came of the step
    /// whatever its page looks like. That a place is taken is not such a word: the page there may
    /// be the step's own, if something between sent it twice.
    pub(super) fn is_refused(&self) -> bool {
        let cause = self.cause.as_ref();
        self.answered == StepAnswer::Refusal
            && cause.is_some_and(WikiError::is_refusal)
            && !self.promise.is_taken(cause)
    }

    /// True if the wiki itself said no, also because the place was taken: then the outcome is
    /// known, whatever cannot be read.
    pub(super) fn is_denied(&self) -> bool {
        self.is_refused()
            || (self.answered == StepAnswer::Refusal && self.promise.is_taken(self.cause.as_ref()))
    }

    /// Judges a reading, with the history's result for it, if there is one.
    pub(super) fn says(
        &self,
        seen: &PageObservation,
        waited: Waited,
        trail: Option<&HistoryEvidence>,
    ) -> Says {
        let Waited { is_stable, is_over } = waited;
        if self.promise.is_taken(self.cause.as_ref()) {
            return self.taken(seen, is_stable).map_or(Says::Wait, Says::Is);
        }
        if self.promise.is_kept(seen) && self.promise.is_ours(seen, self.sent_at) {
            return Says::Is(Outcome::Applied);
        }
        let is_old = self.promise.is_old_state(seen);
        if self.answered == StepAnswer::Refusal
            && is_old
            && (is_stable || is_final(self.cause.as_ref()))
        {
            return Says::Is(Outcome::NotApplied);
        }
        if !is_stable && !is_over {
            return Says::Wait;
        }
        if let PageObservation::Page(found) = seen
            && is_stable
            && self.may_be_behind(found)
        {
            match trail {
                None => return Says::AskHistory,
                Some(HistoryEvidence::Applied(_)) => return Says::Is(Outcome::Applied),
                Some(
                    HistoryEvidence::OthersWrote
                    | HistoryEvidence::NobodyElse
                    | HistoryEvidence::Unknown,
                ) => {}
            }
        }
        match self.answered {
            StepAnswer::Success | StepAnswer::Refusal if is_stable => {
                Says::Is(self.mixture(seen, trail))
            }
            StepAnswer::Nothing if is_over && is_stable && !is_old => {
                Says::Is(self.mixture(seen, trail))
            }
            StepAnswer::Nothing if is_over => Says::Is(Outcome::Unknown),
            StepAnswer::Success | StepAnswer::Refusal | StepAnswer::Nothing => Says::Wait,
        }
    }

    /// Judges a create that was refused because its place is taken, though it was free just before.
    /// The page may be its own: a proxy may have sent the request twice. Only a page that is surely
    /// its own counts as that; any other is somebody else's, and the refusal holds.
    fn taken(&self, seen: &PageObservation, is_stable: bool) -> Option<Outcome> {
        let PageObservation::Page(found) = seen else {
            return is_stable.then_some(Outcome::NotApplied);
        };
        let is_same = self.promise.is_kept(seen);
        match found.made(self.sent_at) {
            CreationOrder::BeforeTheAttempt => Some(Outcome::NotApplied),
            // The wiki may still be working on the first of two requests.
            _ if !is_same => is_stable.then_some(Outcome::NotApplied),
            CreationOrder::AfterTheAttempt if found.is_to_the_letter() => Some(Outcome::Applied),
            CreationOrder::AfterTheAttempt | CreationOrder::Unclear => Some(Outcome::NotApplied),
        }
    }

    /// True if somebody else's write may have come after an applied step.
    fn may_be_behind(&self, found: &FoundPage) -> bool {
        match self.promise {
            Promise::Created { .. } => {
                found.is_answered || found.made(self.sent_at) == CreationOrder::AfterTheAttempt
            }
            Promise::Changed { before, .. } => found.is_later_than(before),
            Promise::Deleted { .. } => false,
        }
    }

    /// Judges a page that is neither as promised nor known to be as before. A step happened only if
    /// one of its fields is as promised, or if the wiki reports success and only the time of the
    /// last write changed, by nobody else: the wiki keeps fields that a key may not write (W24).
    /// Anything else may be somebody else's.
    fn mixture(&self, seen: &PageObservation, trail: Option<&HistoryEvidence>) -> Outcome {
        match (self.promise, seen) {
            (Promise::Changed { before, after, .. }, PageObservation::Page(found)) => {
                let asked = before.difference(after);
                let is_old = |field: &Field| before.same(&found.proof.found, *field);
                let others_wrote = matches!(trail, Some(HistoryEvidence::OthersWrote));
                // The wiki stores only some rules of new styles (W25), so a part of them counts as
                // ours, too.
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
                    StepAnswer::Success if was_kept => Outcome::PartlyApplied,
                    StepAnswer::Refusal if asked.iter().all(is_old) => Outcome::NotApplied,
                    _ if self.is_refused() => Outcome::NotApplied,
                    _ => Outcome::Unknown,
                }
            }
            // The wiki reported success for this very page.
            (Promise::Created { .. }, PageObservation::Page(found)) if found.is_answered => {
                Outcome::PartlyApplied
            }
            _ if self.is_refused() => Outcome::NotApplied,
            // A page that is still there after a delete, gone, or never made: no field can tell.
            (Promise::Created { .. } | Promise::Deleted { .. }, _) | (_, PageObservation::Gone) => {
                Outcome::Unknown
            }
        }
    }
}

/// True if the wiki gives this answer before it begins to write.
const fn is_final(cause: Option<&WikiError>) -> bool {
    !matches!(
        cause,
        Some(WikiError::TreeRebuild | WikiError::Internal { .. }) | None
    )
}

#[cfg(test)]
mod tests;
