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

/// What is known of a step beside what its page shows.
struct Step<'a> {
    promise: &'a Promise<'a>,
    answered: Answered,
    cause: Option<WikiError>,
    new_id: Option<i64>,
    /// When it was sent, by the wiki's clock.
    sent_at: OffsetDateTime,
}

/// How long a reading of the page has been the same, and the step has been waited for.
#[derive(Clone, Copy)]
struct Waited {
    /// Whether the page was seen like that twice, some time apart.
    is_stable: bool,
    /// Whether it was waited for as long as it may be.
    is_over: bool,
}

/// What a reading says of a step.
#[derive(Debug, PartialEq, Eq)]
enum Says {
    /// This came of it.
    Is(Outcome),
    /// Another reading may say more.
    Wait,
    /// The page's history may say more.
    AskHistory,
}

/// A step whose page is read until it is settled.
struct Settling<'a> {
    wiki: &'a Wiki,
    step: Step<'a>,
    patience: Patience,
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
    let step = Step {
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
        let mut stable: Option<(Seen, Instant)> = None;
        let mut waits = false;
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
        loop {
            let waited = Waited {
                is_stable,
                is_over: self.began.elapsed() >= self.patience.settling,
            };
            match (self.step.says(seen, waited, self.trail_of(seen)), seen) {
                (Says::Is(outcome), _) => return Some(outcome),
                (Says::AskHistory, Seen::Page(found)) => self.follow(found).await,
                (Says::Wait | Says::AskHistory, _) => return None,
            }
        }
    }

    /// What the history told of this very reading.
    fn trail_of(&self, seen: &Seen) -> Option<&Trail> {
        let Seen::Page(found) = seen else { return None };
        let (at, trail) = self.trail.as_ref()?;
        (*at == found.proof.found.updated_at).then_some(trail)
    }

    async fn follow(&mut self, found: &FoundPage) {
        let (step, limit) = (&self.step, self.patience.settling);
        let trail = follow(self.wiki, step.promise, found, step.sent_at, limit).await;
        self.trail = Some((found.proof.found.updated_at.clone(), trail));
    }

    /// What cannot be known to be ours is not claimed: undo would take it away.
    fn told(self, outcome: Outcome, seen: Seen) -> Settled {
        if let (Outcome::Applied, Some((_, Trail::Applied(since)))) = (outcome, self.trail)
            && !self.step.promise.is_kept(&seen)
        {
            return Settled {
                proof: Some(since.proof.clone()),
                since: Some(since),
                ..settled(outcome, None, self.step.cause)
            };
        }
        let is_ours = self.step.promise.is_ours(&seen, self.step.sent_at);
        let is_misnamed =
            self.step.new_id.is_some() && matches!(&seen, Seen::Page(found) if !found.is_answered);
        Settled {
            is_misnamed: is_misnamed && matches!(self.step.promise, Promise::Created { .. }),
            ..settled(outcome, Some(seen).filter(|_| is_ours), self.step.cause)
        }
    }

    fn unsettled(self, stable: Option<(Seen, Instant)>) -> Settled {
        let last = stable.map(|(seen, _)| seen);
        let ours = last.filter(|seen| self.step.promise.is_ours(seen, self.step.sent_at));
        settled(Outcome::Unknown, ours, self.step.cause)
    }
}

impl Step<'_> {
    /// What a reading says, with what the history told of that reading, if it was asked.
    fn says(&self, seen: &Seen, waited: Waited, trail: Option<&Trail>) -> Says {
        let Waited { is_stable, is_over } = waited;
        if self.promise.is_taken(self.cause.as_ref()) {
            return self.taken(seen, is_stable).map_or(Says::Wait, Says::Is);
        }
        if self.promise.is_kept(seen) && self.promise.is_ours(seen, self.sent_at) {
            return Says::Is(Outcome::Applied);
        }
        let is_old = self.promise.is_old_state(seen);
        if self.answered == Answered::Refusal
            && is_old
            && (is_stable || is_final(self.cause.as_ref()))
        {
            return Says::Is(Outcome::NotApplied);
        }
        if !is_stable && !is_over {
            return Says::Wait;
        }
        if let Seen::Page(found) = seen
            && is_stable
            && self.may_be_behind(found)
        {
            match trail {
                None => return Says::AskHistory,
                Some(Trail::Applied(_)) => return Says::Is(Outcome::Applied),
                Some(Trail::OthersWrote | Trail::NobodyElse | Trail::Unknown) => {}
            }
        }
        match self.answered {
            Answered::Success | Answered::Refusal if is_stable => {
                Says::Is(self.mixture(seen, trail))
            }
            Answered::Nothing if is_over && is_stable && !is_old => {
                Says::Is(self.mixture(seen, trail))
            }
            Answered::Nothing if is_over => Says::Is(Outcome::Unknown),
            Answered::Success | Answered::Refusal | Answered::Nothing => Says::Wait,
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

    /// A page that is neither as promised nor known to be as it was. A step happened only if a
    /// field that it was to change is seen as promised, or if the wiki says so and all is as it
    /// was but for the time of the last write, which nobody else moved: it keeps what a key may
    /// not write (W24). All else may be somebody else's.
    fn mixture(&self, seen: &Seen, trail: Option<&Trail>) -> Outcome {
        match (self.promise, seen) {
            (Promise::Changed { before, after, .. }, Seen::Page(found)) => {
                let asked = before.difference(after);
                let is_old = |field: &Field| before.same(&found.proof.found, *field);
                let others_wrote = matches!(trail, Some(Trail::OthersWrote));
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

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;
    use time::macros::datetime;

    use super::promise::{FoundPage, Promise, Seen};
    use super::trail::Trail;
    use super::{Answered, Says, Step, Waited};
    use crate::audit::Outcome;
    use crate::change::{Change, Proof, StepKind};
    use crate::page::{Date, DroppedRules, Field, PageState, testing};
    use crate::wiki::WikiError;

    const SENT: OffsetDateTime = datetime!(2026-01-01 12:00:00 UTC);
    const EARLY: Waited = Waited {
        is_stable: false,
        is_over: false,
    };
    const STABLE: Waited = Waited {
        is_stable: true,
        is_over: false,
    };
    const OVER: Waited = Waited {
        is_stable: false,
        is_over: true,
    };
    const BOTH: Waited = Waited {
        is_stable: true,
        is_over: true,
    };

    fn page() -> PageState {
        PageState {
            updated_at: Some(Date::from("2026-01-01T11:00:00.000Z".to_owned())),
            ..testing::page()
        }
    }

    fn titled(title: &str) -> PageState {
        PageState {
            title: title.to_owned(),
            updated_at: Some(Date::from("2026-01-01T12:00:00.500Z".to_owned())),
            ..page()
        }
    }

    /// The title and the description change.
    fn update() -> Change {
        let after = PageState {
            description: "new".to_owned(),
            ..titled("B")
        };
        Change::between(page(), after)
    }

    fn found(promised: &PageState, page: PageState, unverified: Vec<Field>) -> Seen {
        Seen::Page(Box::new(FoundPage {
            proof: Proof {
                differing: promised.difference(&page),
                unverified,
                css_minified: false,
                css_dropped: DroppedRules::default(),
                found: page,
            },
            is_answered: false,
            created_at: Some(Date::from("2026-01-01T12:00:00.100Z".to_owned())),
            author: None,
        }))
    }

    fn of_update(page: PageState) -> Seen {
        found(update().after().unwrap(), page, Vec::new())
    }

    fn says(
        change: &Change,
        kind: StepKind,
        answered: Answered,
        cause: Option<WikiError>,
        seen: &Seen,
        waited: Waited,
        trail: Option<&Trail>,
    ) -> Says {
        let promise = Promise::of(change, kind).unwrap();
        let step = Step {
            promise: &promise,
            answered,
            cause,
            new_id: None,
            sent_at: SENT,
        };
        step.says(seen, waited, trail)
    }

    fn update_says(answered: Answered, seen: &Seen, waited: Waited, trail: Option<&Trail>) -> Says {
        let cause = match answered {
            Answered::Success => None,
            Answered::Refusal => Some(WikiError::TreeRebuild),
            Answered::Nothing => Some(WikiError::Cut),
        };
        says(
            &update(),
            StepKind::Update,
            answered,
            cause,
            seen,
            waited,
            trail,
        )
    }

    const ALL: [Answered; 3] = [Answered::Success, Answered::Refusal, Answered::Nothing];

    #[test]
    fn the_promised_state_is_applied_at_once_whatever_was_answered() {
        let seen = of_update(update().after().unwrap().clone());
        for answered in ALL {
            assert_eq!(
                update_says(answered, &seen, EARLY, None),
                Says::Is(Outcome::Applied)
            );
        }
    }

    #[test]
    fn the_old_state_is_not_applied_after_a_refusal_alone() {
        let old = of_update(page());
        let is = |answered, waited| update_says(answered, &old, waited, None);
        let final_refusal = says(
            &update(),
            StepKind::Update,
            Answered::Refusal,
            Some(WikiError::NotFound),
            &old,
            EARLY,
            None,
        );
        assert_eq!(final_refusal, Says::Is(Outcome::NotApplied));
        // After a refusal that may have come late, it must be seen twice.
        assert_eq!(is(Answered::Refusal, EARLY), Says::Wait);
        assert_eq!(is(Answered::Refusal, STABLE), Says::Is(Outcome::NotApplied));
        // Without an answer it means nothing, since the wiki may still be at work (W19).
        assert_eq!(is(Answered::Nothing, STABLE), Says::Wait);
        for waited in [OVER, BOTH] {
            assert_eq!(is(Answered::Nothing, waited), Says::Is(Outcome::Unknown));
        }
        assert_eq!(is(Answered::Success, EARLY), Says::Wait);
        assert_eq!(is(Answered::Success, OVER), Says::Wait);
    }

    #[test]
    fn a_mixture_counts_when_it_was_seen_twice_and_the_history_knows_no_more() {
        let half = of_update(titled("B"));
        for answered in ALL {
            assert_eq!(update_says(answered, &half, EARLY, None), Says::Wait);
            assert_eq!(update_says(answered, &half, STABLE, None), Says::AskHistory);
        }
        let trails = [Trail::OthersWrote, Trail::NobodyElse, Trail::Unknown];
        for trail in &trails {
            for answered in [Answered::Success, Answered::Refusal] {
                assert_eq!(
                    update_says(answered, &half, STABLE, Some(trail)),
                    Says::Is(Outcome::PartlyApplied)
                );
            }
            let open = |waited| update_says(Answered::Nothing, &half, waited, Some(trail));
            assert_eq!(open(STABLE), Says::Wait);
            assert_eq!(open(BOTH), Says::Is(Outcome::PartlyApplied));
        }
        assert_eq!(
            update_says(Answered::Nothing, &half, OVER, None),
            Says::Is(Outcome::Unknown)
        );
    }

    #[test]
    fn fields_that_were_kept_are_the_wiki_s_doing_only_where_nobody_else_wrote() {
        // Touched since, and all that was asked for is as it was (W24).
        let kept = of_update(titled("A"));
        let is = |answered, trail: &Trail| update_says(answered, &kept, STABLE, Some(trail));
        assert_eq!(
            is(Answered::Success, &Trail::NobodyElse),
            Says::Is(Outcome::PartlyApplied)
        );
        assert_eq!(
            is(Answered::Success, &Trail::OthersWrote),
            Says::Is(Outcome::Unknown)
        );
        // What is neither as it was nor as promised is somebody else's, or nobody knows.
        let foreign = of_update(titled("C"));
        for answered in [Answered::Success, Answered::Refusal] {
            assert_eq!(
                update_says(answered, &foreign, STABLE, Some(&Trail::OthersWrote)),
                Says::Is(Outcome::Unknown)
            );
        }
    }

    #[test]
    fn a_page_that_stands_at_a_create_s_place_is_ours_only_if_made_since_and_to_the_letter() {
        let create = Change::recreate(page());
        let taken = |seen: &Seen, waited| {
            let (kind, cause) = (StepKind::Create, Some(WikiError::PageExists));
            says(&create, kind, Answered::Refusal, cause, seen, waited, None)
        };
        let at = |created_at: &str, page: PageState, unverified| {
            let mut seen = found(create.after().unwrap(), page, unverified);
            if let Seen::Page(found) = &mut seen {
                found.created_at = Some(Date::from(created_at.to_owned()));
            }
            seen
        };
        let promised = || create.after().unwrap().clone();
        let (since, before, unclear) = (
            "2026-01-01T12:00:00.100Z",
            "2026-01-01T11:00:00.000Z",
            "2026-01-01T11:58:00.000Z",
        );
        let (applied, not_applied, unknown) = (
            Says::Is(Outcome::Applied),
            Says::Is(Outcome::NotApplied),
            Says::Is(Outcome::Unknown),
        );
        assert_eq!(taken(&at(since, promised(), Vec::new()), EARLY), applied);
        assert_eq!(
            taken(&at(since, promised(), vec![Field::Content]), EARLY),
            unknown
        );
        assert_eq!(taken(&at(unclear, promised(), Vec::new()), EARLY), unknown);
        assert_eq!(
            taken(&at(before, promised(), Vec::new()), EARLY),
            not_applied
        );
        let other = at(since, titled("Other"), Vec::new());
        assert_eq!(taken(&other, EARLY), Says::Wait);
        assert_eq!(taken(&other, STABLE), not_applied);
        assert_eq!(taken(&Seen::Gone, EARLY), Says::Wait);
        assert_eq!(taken(&Seen::Gone, STABLE), not_applied);
    }

    #[test]
    fn a_deleted_page_that_is_still_there_tells_nothing_without_an_answer() {
        let delete = Change::delete(page());
        let is = |answered, cause, seen: &Seen, waited| {
            says(
                &delete,
                StepKind::Delete,
                answered,
                cause,
                seen,
                waited,
                None,
            )
        };
        let there = found(&page(), page(), Vec::new());
        for answered in ALL {
            assert_eq!(
                is(answered, None, &Seen::Gone, EARLY),
                Says::Is(Outcome::Applied)
            );
        }
        assert_eq!(
            is(Answered::Nothing, Some(WikiError::Cut), &there, BOTH),
            Says::Is(Outcome::Unknown)
        );
        assert_eq!(
            is(Answered::Success, None, &there, STABLE),
            Says::Is(Outcome::Unknown)
        );
        let refused = Some(WikiError::Forbidden {
            right: "delete:pages",
        });
        assert_eq!(
            is(Answered::Refusal, refused, &there, EARLY),
            Says::Is(Outcome::NotApplied)
        );
    }
}
