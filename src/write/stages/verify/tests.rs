use std::time::{Duration, Instant};

use time::OffsetDateTime;
use time::macros::datetime;

use super::expected::{FoundPage, PageObservation, Promise};
use super::history::{ChangedSince, HistoryEvidence};
use super::verdict::{SentStep, StepAnswer};
use super::{Settling, is_stable, seen_since, settle};
use crate::audit::Outcome;
use crate::change::{Change, Operation};
use crate::page::testing::{But as _, page, titled, with_content};
use crate::page::{Date, Field, PageState};
use crate::wiki::{MutationOutcome, WikiError};
use crate::write::testing::{Office, found, office, update};
use crate::write::timeouts::Timeouts;

const SENT: OffsetDateTime = datetime!(2026-01-01 12:00:00 UTC);
const MS: Duration = Duration::from_millis(1);

/// Readings are believed at once, and are over at once.
const SHORT: Timeouts = Timeouts {
    settling: Duration::ZERO,
    pause: Duration::ZERO,
    apart: Duration::ZERO,
    queueing: Duration::ZERO,
    answering: Duration::ZERO,
};
/// Readings go on for longer than any test.
const LONG: Timeouts = Timeouts {
    settling: Duration::from_mins(10),
    ..SHORT
};

fn date(second: &str) -> Date {
    Date::from(format!("2026-01-01T12:00:{second}.000Z"))
}

fn seen(promised: &PageState, page: PageState) -> PageObservation {
    PageObservation::Page(Box::new(found(promised, page)))
}

/// A step of an answer, of a page that is read with this patience.
fn settling<'a>(
    office: &'a Office,
    promise: &'a Promise<'a>,
    answered: StepAnswer,
    patience: Timeouts,
) -> Settling<'a> {
    Settling {
        wiki: &office.desk.wiki,
        step: SentStep {
            promise,
            answered,
            cause: Some(WikiError::Cut),
            new_id: None,
            sent_at: SENT,
        },
        patience,
        began: Instant::now(),
        trail: None,
    }
}

fn promise(change: &Change) -> Promise<'_> {
    let kind = *change.steps().first().unwrap();
    Promise::of(change, kind).unwrap()
}

#[test]
fn a_page_is_stable_once_it_has_looked_the_same_for_long_enough() {
    let then = Instant::now();
    let now = then + 10 * MS;
    let last = (PageObservation::Gone, then);
    let other = seen(&page(), page());
    assert_eq!(seen_since(None, &PageObservation::Gone, now), now);
    assert_eq!(seen_since(Some(&last), &PageObservation::Gone, now), then);
    assert_eq!(seen_since(Some(&last), &other, now), now);
    assert!(is_stable(then, now, 9 * MS));
    assert!(is_stable(then, now, 10 * MS));
    assert!(!is_stable(then, now, 11 * MS));
}

#[tokio::test]
async fn what_was_not_sent_is_not_applied_and_needs_no_reading() {
    let office = office();
    let (change, wiki) = (update(1), &office.desk.wiki);
    let sent = MutationOutcome::NotSent(WikiError::NotConnected);
    let settled = settle(wiki, LONG, &promise(&change), sent, SENT).await;
    assert_eq!(settled.outcome, Outcome::NotApplied);
    assert_eq!(settled.cause, Some(WikiError::NotConnected));
    assert!(!settled.was_sent && settled.proof.is_none());
}

#[tokio::test]
async fn a_page_that_cannot_be_read_is_tried_for_the_whole_time_and_its_outcome_is_unknown() {
    let office = office();
    let (change, wiki) = (update(1), &office.desk.wiki);
    let patience = Timeouts {
        settling: 30 * MS,
        apart: 20 * MS,
        pause: MS,
        ..SHORT
    };
    let began = Instant::now();
    let promise = promise(&change);
    let sent = MutationOutcome::Succeeded { id: None };
    let settled = Box::pin(settle(wiki, patience, &promise, sent, SENT)).await;
    assert!(began.elapsed() >= 50 * MS);
    assert_eq!(settled.outcome, Outcome::Unknown);
    assert!(settled.was_sent && settled.proof.is_none() && settled.cause.is_none());
}

#[tokio::test]
async fn a_reading_is_judged_by_how_long_the_page_was_read() {
    let office = office();
    let change = update(1);
    let promise = promise(&change);
    let promised = change.after().unwrap();
    let kept = seen(promised, promised.clone());
    let old = seen(promised, change.before().unwrap().clone());
    for (seen, patience, expected) in [
        (&kept, LONG, Some(Outcome::Applied)),
        (&old, LONG, None),
        (&old, SHORT, Some(Outcome::Unknown)),
    ] {
        let mut settling = settling(&office, &promise, StepAnswer::Nothing, patience);
        assert_eq!(settling.outcome(seen, false).await, expected);
        assert!(settling.trail.is_none());
    }
}

#[tokio::test]
async fn the_history_is_asked_once_for_each_time_of_the_page() {
    let office = office();
    let before = page().but(|it| it.updated_at = Some(date("01")));
    let after = titled("B");
    let change = Change::between(before, after.clone());
    let promise = promise(&change);
    let now = |second| {
        let page = PageState {
            title: "C".to_owned(),
            updated_at: Some(date(second)),
            ..page()
        };
        seen(&after, page)
    };
    let patience = SHORT.but(|times| times.settling = 100 * MS);
    let mut settling = settling(&office, &promise, StepAnswer::Success, patience);
    assert!(settling.trail_of(&now("02")).is_none());
    // Nobody tells the history, so nothing says what the step left.
    let told = settling.outcome(&now("02"), true).await;
    assert_eq!(told, Some(Outcome::Unknown));
    let told = settling.trail_of(&now("02"));
    assert!(matches!(told, Some(HistoryEvidence::Unknown)), "{told:?}");
    assert!(settling.trail_of(&now("03")).is_none());
    assert!(settling.trail_of(&PageObservation::Gone).is_none());
}

#[tokio::test]
async fn a_step_that_only_the_history_shows_is_proven_by_the_version() {
    let office = office();
    let change = update(1);
    let promise = promise(&change);
    let promised = change.after().unwrap();
    let other = || titled("C");
    let by_history = || {
        let mut settling = settling(&office, &promise, StepAnswer::Success, LONG);
        let since = ChangedSince {
            proof: found(promised, promised.clone()).proof,
            version: 7,
            fields: vec![Field::Title],
            author: None,
            at: None,
            ours: None,
        };
        settling.trail = Some((None, HistoryEvidence::Applied(Box::new(since))));
        settling
    };
    let settled = by_history().settled(Outcome::Applied, seen(promised, other()));
    assert_eq!(settled.outcome, Outcome::Applied);
    assert_eq!(settled.proof.unwrap().found, *promised);
    assert_eq!(settled.cause, Some(WikiError::Cut));
    assert!(settled.since.is_some() && settled.was_sent && !settled.is_misnamed);
    // The page itself is the better proof, and of what was not applied there is none.
    let settled = by_history().settled(Outcome::Applied, seen(promised, promised.clone()));
    assert!(settled.since.is_none());
    let settled = by_history().settled(Outcome::Unknown, seen(promised, other()));
    assert_eq!(settled.proof.unwrap().found, other());
    assert!(settled.since.is_none());
    // Nor without a version that shows it.
    let alone = settling(&office, &promise, StepAnswer::Success, LONG);
    let settled = alone.settled(Outcome::Applied, seen(promised, other()));
    assert_eq!(settled.proof.unwrap().found, other());
    let settled = settling(&office, &promise, StepAnswer::Success, LONG)
        .settled(Outcome::Unknown, PageObservation::Gone);
    assert!(settled.proof.is_none());
}

#[tokio::test]
async fn a_page_is_misnamed_if_success_named_another_one_for_a_create() {
    let office = office();
    let (create, update) = (Change::recreate(page()), update(1));
    let (created, updated) = (promise(&create), promise(&update));
    for (promise, named, is_answered, expected) in [
        (&created, Some(9), false, true),
        (&created, Some(9), true, false),
        (&created, None, false, false),
        (&updated, Some(9), false, false),
    ] {
        let mut settling = settling(&office, promise, StepAnswer::Success, LONG);
        settling.step.new_id = named;
        let found = FoundPage {
            is_answered,
            created_at: Some(date("01")),
            ..found(&page(), page())
        };
        let settled = settling.settled(Outcome::Applied, PageObservation::Page(Box::new(found)));
        assert_eq!(settled.is_misnamed, expected, "{named:?} {is_answered}");
        assert!(settled.proof.is_some());
    }
    let mut gone = settling(&office, &created, StepAnswer::Success, LONG);
    gone.step.new_id = Some(9);
    assert!(
        !gone
            .settled(Outcome::Unknown, PageObservation::Gone)
            .is_misnamed
    );
}

#[tokio::test]
async fn a_page_that_may_be_another_clients_proves_nothing() {
    let office = office();
    let change = Change::recreate(page());
    let promise = Promise::of(&change, Operation::Create).unwrap();
    let made = |created_at| {
        let found = found(&page(), page()).but(|it| it.created_at = created_at);
        PageObservation::Page(Box::new(found))
    };
    let long_ago = || Date::from("2025-01-01T12:00:00.000Z".to_owned());
    for (created_at, is_ours) in [(Some(date("01")), true), (Some(long_ago()), false)] {
        let one = settling(&office, &promise, StepAnswer::Nothing, LONG);
        let settled = one.settled(Outcome::Unknown, made(created_at.clone()));
        assert_eq!(settled.proof.is_some(), is_ours);
        let one = settling(&office, &promise, StepAnswer::Nothing, LONG);
        let settled = one.unsettled(Some((made(created_at), Instant::now())));
        assert_eq!(settled.outcome, Outcome::Unknown);
        assert_eq!(settled.proof.is_some(), is_ours);
        assert_eq!(settled.cause, Some(WikiError::Cut));
    }
    let one = settling(&office, &promise, StepAnswer::Nothing, LONG);
    assert!(one.unsettled(None).proof.is_none());
}

/// The wiki said no in its own words, so it did nothing, whatever this key may read of the page.
#[tokio::test]
async fn a_refusal_by_the_wiki_itself_is_never_an_unknown_outcome() {
    let office = office();
    let change = update(1);
    let promise = promise(&change);
    let refused = || {
        let mut settling = settling(&office, &promise, StepAnswer::Refusal, LONG);
        settling.step.cause = Some(WikiError::Forbidden {
            right: "write:pages",
        });
        settling
    };
    assert_eq!(refused().unsettled(None).outcome, Outcome::NotApplied);
    // Neither as before nor as promised: somebody else wrote meanwhile.
    let other = with_content("Theirs.");
    let theirs = seen(change.after().unwrap(), other);
    let outcome = refused().outcome(&theirs, true).await;
    assert_eq!(outcome, Some(Outcome::NotApplied));
    // No other answer says so.
    let open = settling(&office, &promise, StepAnswer::Refusal, LONG);
    assert_eq!(open.unsettled(None).outcome, Outcome::Unknown);
}
