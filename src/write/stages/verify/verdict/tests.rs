use time::OffsetDateTime;
use time::macros::datetime;

use super::super::expected::{PageObservation, Promise};
use super::super::history::HistoryEvidence;
use super::{Says, SentStep, StepAnswer, Waited};
use crate::audit::Outcome;
use crate::change::{Change, Operation};
use crate::page::testing::But as _;
use crate::page::{Date, Field, PageState, testing};
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
    testing::page()
        .but(|it| it.updated_at = Some(Date::from("2026-01-01T11:00:00.000Z".to_owned())))
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
    let after = titled("B").but(|page| page.description = "new".to_owned());
    Change::between(page(), after)
}

fn found(promised: &PageState, page: PageState, unverified: Vec<Field>) -> PageObservation {
    let mut found = crate::write::testing::found(promised, page);
    found.proof.unverified = unverified;
    found.created_at = Some(Date::from("2026-01-01T12:00:00.100Z".to_owned()));
    PageObservation::Page(Box::new(found))
}

fn of_update(page: PageState) -> PageObservation {
    found(update().after().unwrap(), page, Vec::new())
}

fn says(
    change: &Change,
    kind: Operation,
    answered: StepAnswer,
    cause: Option<WikiError>,
    seen: &PageObservation,
    waited: Waited,
    trail: Option<&HistoryEvidence>,
) -> Says {
    let promise = Promise::of(change, kind).unwrap();
    let step = SentStep {
        promise: &promise,
        answered,
        cause,
        new_id: None,
        sent_at: SENT,
    };
    step.says(seen, waited, trail)
}

fn update_says(
    answered: StepAnswer,
    seen: &PageObservation,
    waited: Waited,
    trail: Option<&HistoryEvidence>,
) -> Says {
    let cause = match answered {
        StepAnswer::Success => None,
        StepAnswer::Refusal => Some(WikiError::TreeRebuild),
        StepAnswer::Nothing => Some(WikiError::Cut),
    };
    says(
        &update(),
        Operation::Update,
        answered,
        cause,
        seen,
        waited,
        trail,
    )
}

const ALL: [StepAnswer; 3] = [
    StepAnswer::Success,
    StepAnswer::Refusal,
    StepAnswer::Nothing,
];

#[test]
fn the_promised_state_is_applied_at_once_whatever_was_answered() {
    let seen = of_update(update().after().unwrap().clone());
    for answered in ALL {
        let said = update_says(answered, &seen, EARLY, None);
        assert_eq!(said, Says::Is(Outcome::Applied));
    }
}

#[test]
fn the_old_state_is_not_applied_after_a_refusal_alone() {
    let old = of_update(page());
    let is = |answered, waited| update_says(answered, &old, waited, None);
    let final_refusal = says(
        &update(),
        Operation::Update,
        StepAnswer::Refusal,
        Some(WikiError::NotFound),
        &old,
        EARLY,
        None,
    );
    assert_eq!(final_refusal, Says::Is(Outcome::NotApplied));
    // After a refusal that may have come late, the page must be seen twice.
    assert_eq!(is(StepAnswer::Refusal, EARLY), Says::Wait);
    assert_eq!(
        is(StepAnswer::Refusal, STABLE),
        Says::Is(Outcome::NotApplied)
    );
    // Without an answer it proves nothing, since the wiki may still be working (W19).
    assert_eq!(is(StepAnswer::Nothing, STABLE), Says::Wait);
    for waited in [OVER, BOTH] {
        assert_eq!(is(StepAnswer::Nothing, waited), Says::Is(Outcome::Unknown));
    }
    assert_eq!(is(StepAnswer::Success, EARLY), Says::Wait);
    assert_eq!(is(StepAnswer::Success, OVER), Says::Wait);
}

#[test]
fn a_mixture_counts_when_it_was_seen_twice_and_the_history_knows_no_more() {
    let half = of_update(titled("B"));
    for answered in ALL {
        assert_eq!(update_says(answered, &half, EARLY, None), Says::Wait);
        assert_eq!(update_says(answered, &half, STABLE, None), Says::AskHistory);
    }
    let trails = [
        HistoryEvidence::OthersWrote,
        HistoryEvidence::NobodyElse,
        HistoryEvidence::Unknown,
    ];
    for trail in &trails {
        for answered in [StepAnswer::Success, StepAnswer::Refusal] {
            let said = update_says(answered, &half, STABLE, Some(trail));
            assert_eq!(said, Says::Is(Outcome::PartlyApplied));
        }
        let open = |waited| update_says(StepAnswer::Nothing, &half, waited, Some(trail));
        assert_eq!(open(STABLE), Says::Wait);
        assert_eq!(open(BOTH), Says::Is(Outcome::PartlyApplied));
    }
    let said = update_says(StepAnswer::Nothing, &half, OVER, None);
    assert_eq!(said, Says::Is(Outcome::Unknown));
}

#[test]
fn fields_that_were_kept_are_the_wiki_s_doing_only_where_nobody_else_wrote() {
    // Written since, but every field of the step is as before (W24).
    let kept = of_update(titled("A"));
    let is = |answered, trail: &HistoryEvidence| update_says(answered, &kept, STABLE, Some(trail));
    assert_eq!(
        is(StepAnswer::Success, &HistoryEvidence::NobodyElse),
        Says::Is(Outcome::PartlyApplied)
    );
    assert_eq!(
        is(StepAnswer::Success, &HistoryEvidence::OthersWrote),
        Says::Is(Outcome::Unknown)
    );
    // A field that is neither as before nor as promised is somebody else's, or unknown.
    let foreign = of_update(titled("C"));
    for answered in [StepAnswer::Success, StepAnswer::Refusal] {
        assert_eq!(
            update_says(
                answered,
                &foreign,
                STABLE,
                Some(&HistoryEvidence::OthersWrote)
            ),
            Says::Is(Outcome::Unknown)
        );
    }
}

#[test]
fn a_page_that_stands_at_a_create_s_place_is_ours_only_if_made_since_and_to_the_letter() {
    let create = Change::recreate(page());
    let taken = |seen: &PageObservation, waited| {
        let (kind, cause) = (Operation::Create, Some(WikiError::PageExists));
        says(
            &create,
            kind,
            StepAnswer::Refusal,
            cause,
            seen,
            waited,
            None,
        )
    };
    let at = |created_at: &str, page: PageState, unverified| {
        let mut seen = found(create.after().unwrap(), page, unverified);
        if let PageObservation::Page(found) = &mut seen {
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
    let (applied, not_applied) = (Says::Is(Outcome::Applied), Says::Is(Outcome::NotApplied));
    assert_eq!(taken(&at(since, promised(), Vec::new()), EARLY), applied);
    assert_eq!(
        taken(&at(since, promised(), vec![Field::Content]), EARLY),
        not_applied
    );
    assert_eq!(
        taken(&at(unclear, promised(), Vec::new()), EARLY),
        not_applied
    );
    assert_eq!(
        taken(&at(before, promised(), Vec::new()), EARLY),
        not_applied
    );
    let other = at(since, titled("Other"), Vec::new());
    assert_eq!(taken(&other, EARLY), Says::Wait);
    assert_eq!(taken(&other, STABLE), not_applied);
    assert_eq!(taken(&PageObservation::Gone, EARLY), Says::Wait);
    assert_eq!(taken(&PageObservation::Gone, STABLE), not_applied);
}

#[test]
fn a_deleted_page_that_is_still_there_tells_nothing_without_an_answer() {
    let delete = Change::delete(page());
    let is = |answered, cause, seen: &PageObservation, waited| {
        says(
            &delete,
            Operation::Delete,
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
            is(answered, None, &PageObservation::Gone, EARLY),
            Says::Is(Outcome::Applied)
        );
    }
    assert_eq!(
        is(StepAnswer::Nothing, Some(WikiError::Cut), &there, BOTH),
        Says::Is(Outcome::Unknown)
    );
    assert_eq!(
        is(StepAnswer::Success, None, &there, STABLE),
        Says::Is(Outcome::Unknown)
    );
    let refused = Some(WikiError::Forbidden {
        right: "delete:pages",
    });
    assert_eq!(
        is(StepAnswer::Refusal, refused, &there, EARLY),
        Says::Is(Outcome::NotApplied)
    );
}

#[test]
fn a_refused_update_whose_fields_are_as_before_was_not_applied_whatever_else_was_written() {
    let elsewhere = titled("A").but(|page| page.content = "theirs\n".to_owned());
    let others = Some(&HistoryEvidence::OthersWrote);
    let is = |answered, page| update_says(answered, &of_update(page), STABLE, others);
    assert_eq!(
        is(StepAnswer::Refusal, elsewhere.clone()),
        Says::Is(Outcome::NotApplied)
    );
    assert_eq!(
        is(StepAnswer::Success, elsewhere),
        Says::Is(Outcome::Unknown)
    );
    let in_part = titled("A").but(|page| page.description = "theirs".to_owned());
    assert_eq!(is(StepAnswer::Refusal, in_part), Says::Is(Outcome::Unknown));
}

#[test]
fn styles_that_lack_rules_are_the_wiki_s_doing_and_other_styles_or_fields_are_not() {
    let after = PageState {
        title: "B".to_owned(),
        script_css: "a{color:red} b{color:blue}".to_owned(),
        ..page()
    };
    let change = Change::between(page(), after.clone());
    let is = |title: &str, css: &str, dropped: &[&str]| {
        let stored = titled(title).but(|page| page.script_css = css.to_owned());
        let mut seen = found(&after, stored, Vec::new());
        if let PageObservation::Page(found) = &mut seen {
            let dropped = dropped.iter().map(|rule| (*rule).to_owned());
            found.proof.css_dropped.effective = dropped.collect();
        }
        let (kind, trail) = (Operation::Update, Some(&HistoryEvidence::NobodyElse));
        says(
            &change,
            kind,
            StepAnswer::Success,
            None,
            &seen,
            STABLE,
            trail,
        )
    };
    let (partly, unknown) = (Says::Is(Outcome::PartlyApplied), Says::Is(Outcome::Unknown));
    assert_eq!(is("A", "a{color:red}", &["b"]), partly);
    assert_eq!(is("A", "z{}", &[]), unknown);
    assert_eq!(is("C", "a{color:red}", &["b"]), unknown);
    assert_eq!(is("A", "", &[]), partly);
}

#[test]
fn a_created_page_that_is_not_as_promised_is_ours_if_the_answer_named_it() {
    let create = Change::recreate(page());
    let is = |is_answered, created_at: &str, trail: Option<&HistoryEvidence>| {
        let mut seen = found(create.after().unwrap(), titled("Other"), Vec::new());
        if let PageObservation::Page(found) = &mut seen {
            found.is_answered = is_answered;
            found.created_at = Some(Date::from(created_at.to_owned()));
        }
        let kind = Operation::Create;
        says(
            &create,
            kind,
            StepAnswer::Success,
            None,
            &seen,
            STABLE,
            trail,
        )
    };
    let (since, unclear) = ("2026-01-01T12:00:00.100Z", "2026-01-01T11:58:00.000Z");
    // Somebody may have written to it since it was made.
    for (is_answered, created_at, expected) in [
        (true, since, Says::AskHistory),
        (true, unclear, Says::AskHistory),
        (false, since, Says::AskHistory),
        (false, unclear, Says::Is(Outcome::Unknown)),
    ] {
        assert_eq!(is(is_answered, created_at, None), expected);
    }
    let nobody = Some(&HistoryEvidence::NobodyElse);
    assert_eq!(is(true, since, nobody), Says::Is(Outcome::PartlyApplied));
    assert_eq!(is(false, since, nobody), Says::Is(Outcome::Unknown));
}

#[test]
fn a_refused_create_was_not_applied_if_nothing_is_there() {
    let create = Change::recreate(page());
    let is = |seen: &PageObservation| {
        let (kind, cause) = (Operation::Create, Some(WikiError::NotFound));
        let answered = StepAnswer::Refusal;
        says(&create, kind, answered, cause, seen, EARLY, None)
    };
    assert_eq!(is(&PageObservation::Gone), Says::Is(Outcome::NotApplied));
    let other = found(create.after().unwrap(), titled("Other"), Vec::new());
    assert_eq!(is(&other), Says::Wait);
}
