use super::{MAX_RULES, failure_of, named, refused_although_applied, said_of};
use crate::audit::Outcome;
use crate::change::{Change, Operation, Proof};
use crate::error::Code;
use crate::page::testing::{But as _, page, titled};
use crate::page::{DroppedRules, PagePath, PageState};
use crate::wiki::WikiError;
use crate::write::stages::verify::Settled;
use crate::write::testing::proof;

/// The page with another title and style, and if it moves at another place.
fn after(moves: bool) -> PageState {
    PageState {
        path: PagePath::as_stored(if moves { "docs/b" } else { "docs/a" }),
        title: "B".to_owned(),
        script_css: "a{color:red}".to_owned(),
        ..page()
    }
}

fn update() -> Change {
    Change::between(page(), after(false))
}

fn words(settled: &Settled) -> Vec<String> {
    let said = said_of(settled).into_iter();
    said.map(|said| said.code.to_string()).collect()
}

#[test]
fn a_step_that_was_applied_is_no_failure_and_says_what_was_odd() {
    for outcome in [Outcome::Applied, Outcome::Unchanged] {
        let settled = Settled::sent(outcome, None, None);
        assert_eq!(failure_of(&settled, Operation::Update, &update()), None);
    }
    let applied = |cause| Settled::sent(Outcome::Applied, None, cause);
    assert_eq!(words(&applied(None)), Vec::<String>::new());
    assert_eq!(
        words(&applied(Some(WikiError::TreeRebuild))),
        ["wiki_index_incomplete"]
    );
    assert_eq!(
        words(&applied(Some(WikiError::PageExists))),
        ["answered_otherwise"]
    );
    assert_eq!(
        words(&applied(Some(WikiError::NotConnected))),
        ["answer_was_no_success"]
    );
    let misnamed = applied(None).but(|settled| settled.is_misnamed = true);
    assert_eq!(words(&misnamed), ["answered_otherwise"]);
    // A step that was not applied is a failure.
    let unknown = Settled::sent(Outcome::Unknown, None, Some(WikiError::TreeRebuild));
    assert_eq!(words(&unknown), Vec::<String>::new());
}

#[test]
fn only_a_refusal_of_an_applied_step_is_kept_beside_its_outcome() {
    let code = |outcome, cause| {
        let refusal = refused_although_applied(&Settled::sent(outcome, None, cause))?;
        assert!(refusal.message.starts_with("Answered with a refusal: "));
        Some(refusal.code)
    };
    let exists = || Some(WikiError::PageExists);
    assert_eq!(code(Outcome::Applied, exists()), Some(Code::PageExists));
    assert_eq!(code(Outcome::NotApplied, exists()), None);
    for cause in [None, Some(WikiError::TreeRebuild), Some(WikiError::Cut)] {
        assert_eq!(code(Outcome::Applied, cause), None);
    }
}

#[test]
fn a_step_that_was_refused_says_whether_it_was_sent_and_why() {
    let told = |was_sent| {
        let refused = Settled::sent(Outcome::NotApplied, None, Some(WikiError::PageExists))
            .but(|settled| settled.was_sent = was_sent);
        failure_of(&refused, Operation::Update, &update()).unwrap()
    };
    let (sent, unsent) = (told(true), told(false));
    assert_eq!(sent.code, Code::NotApplied);
    assert_eq!(unsent.code, Code::NotApplied);
    assert!(
        sent.message.starts_with("The write was not applied"),
        "{sent:?}"
    );
    assert!(
        unsent.message.starts_with("The write was not sent"),
        "{unsent:?}"
    );
    assert_eq!(sent.details["outcome"], "not_applied");
    assert_eq!(sent.details["operation"], "update");
    assert_eq!(sent.details["cause"], Code::PageExists.as_str());
}

#[test]
fn a_page_that_was_moved_before_is_partly_written_whatever_came_after() {
    let change = Change::between(page(), after(true));
    let refused = Settled::sent(Outcome::NotApplied, None, Some(WikiError::PageExists));
    let moved = failure_of(&refused, Operation::Update, &change).unwrap();
    assert_eq!(moved.code, Code::PartlyApplied);
    assert_eq!(moved.details["outcome"], "partly_applied");
    assert_eq!(
        moved.details["fields"],
        serde_json::json!(["title", "scriptCss"])
    );
    // This does not apply to the move itself, nor to a page that does not move.
    for (kind, change) in [(Operation::Move, &change), (Operation::Update, &update())] {
        let failure = failure_of(&refused, kind, change).unwrap();
        assert_eq!(failure.code, Code::NotApplied, "{kind:?}");
    }
}

#[test]
fn what_was_written_in_part_is_named_by_field_with_the_right_that_may_be_missing() {
    let found = titled("B");
    let partly = |found: &PageState| {
        let proof = proof(&after(false), found.clone());
        Settled::sent(Outcome::PartlyApplied, Some(proof), None)
    };
    let failure = failure_of(&partly(&found), Operation::Update, &update()).unwrap();
    assert_eq!(failure.code, Code::PartlyApplied);
    assert_eq!(failure.details["fields"], serde_json::json!(["scriptCss"]));
    assert_eq!(failure.details["rights"]["scriptCss"], "write:styles");
    assert!(!failure.details.contains_key("alsoChanged"), "{failure:?}");
    let others = PageState {
        description: "theirs".to_owned(),
        title: "C".to_owned(),
        ..page()
    };
    let failure = failure_of(&partly(&others), Operation::Update, &update()).unwrap();
    assert_eq!(
        failure.details["fields"],
        serde_json::json!(["title", "scriptCss"])
    );
    assert_eq!(
        failure.details["alsoChanged"],
        serde_json::json!(["description"])
    );
    assert!(
        failure.message.contains("neither as they were"),
        "{}",
        failure.message
    );
}

#[test]
fn nobody_claims_what_could_not_be_found_out() {
    for (cause, code) in [
        (None, None),
        (Some(WikiError::NotConnected), Some(Code::WikiUnavailable)),
    ] {
        let unknown = Settled::sent(Outcome::Unknown, None, cause);
        let failure = failure_of(&unknown, Operation::Update, &update()).unwrap();
        assert_eq!(failure.code, Code::OutcomeUnknown);
        assert_eq!(failure.details["outcome"], "unknown");
        let told = failure
            .details
            .get("cause")
            .and_then(|cause| cause.as_str());
        assert_eq!(told, code.map(Code::as_str));
    }
}

#[test]
fn what_the_wiki_made_of_styles_is_said_if_it_did_not_keep_them() {
    let stored = |idle: &[&str], css_minified| {
        let css_dropped = DroppedRules {
            idle: idle.iter().map(|rule| (*rule).to_owned()).collect(),
            effective: Vec::new(),
        };
        let proof = Proof {
            css_minified,
            css_dropped,
            ..proof(&page(), page())
        };
        Settled::sent(Outcome::Applied, Some(proof), None)
    };
    assert_eq!(words(&stored(&[], false)), Vec::<String>::new());
    assert_eq!(words(&stored(&[], true)), ["css_minified"]);
    for minified in [true, false] {
        let settled = stored(&["a{}", "b{}"], minified);
        let said = said_of(&settled);
        assert_eq!(words(&settled), ["css_rules_dropped"]);
        assert!(said[0].message.ends_with("stand: a{}, b{}."), "{said:?}");
    }
}

#[test]
fn the_first_rules_are_named_and_the_rest_is_counted() {
    let rules = |count: usize| {
        (0..count)
            .map(|rule| format!("r{rule}"))
            .collect::<Vec<_>>()
    };
    for (count, last) in [(1, "r0"), (MAX_RULES, "r19"), (MAX_RULES + 2, "2 more")] {
        let told = named(&rules(count));
        assert_eq!(told.len(), count.min(MAX_RULES + 1));
        assert_eq!(told.last().map(String::as_str), Some(last));
        assert_eq!(told[0], "r0");
    }
}

#[test]
fn a_page_that_the_wiki_left_as_it_was_is_told_apart_from_one_that_is_half_written() {
    let css = |css: &str| page().but(|it| it.script_css = css.to_owned());
    let made = |found: &PageState| found.clone().but(|page| page.id = Some(5));
    let updates = Change::between(page(), css("b{}"));
    let creates = Change::recreate(css("b{}"));
    let half = css("b{}").but(|page| page.title = "B".to_owned());
    let updates_both = Change::between(page(), half.clone());
    for (change, promised, found, says) in [
        // All that was asked for was kept as it was.
        (
            &updates,
            css("b{}"),
            page(),
            "kept these fields as they were: scriptCss.",
        ),
        (
            &updates_both,
            half.clone(),
            css("b{}"),
            "The write happened, but not in these fields: title.",
        ),
        // A create that is there has happened, whatever of it is missing.
        (
            &creates,
            css("b{}"),
            made(&page()),
            "The write happened, but not in these fields: scriptCss.",
        ),
        // Nothing was kept, but something is neither old nor new.
        (
            &updates_both,
            half.clone(),
            half.clone().but(|page| page.script_css = "c{}".to_owned()),
            "The write happened; these are neither as they were nor as it was to make them: scriptCss.",
        ),
        (
            &updates,
            css("b{}"),
            css("c{}"),
            "The wiki answered with success; these are neither as they were nor as it was to make them: scriptCss.",
        ),
        (
            &updates,
            css("b{}"),
            css("b{}").but(|page| page.description = "theirs".to_owned()),
            "The write happened; fields that it had nothing to do with are not as they were: description.",
        ),
    ] {
        let settled = Settled::sent(Outcome::PartlyApplied, Some(proof(&promised, found)), None);
        let failure = failure_of(&settled, Operation::Update, change).unwrap();
        assert!(failure.message.ends_with(says), "{}", failure.message);
        assert!(!failure.details.contains_key("cssRulesDropped"));
    }
}

#[test]
fn rules_that_the_wiki_drops_are_named_and_a_missing_right_only_where_the_old_text_stayed() {
    let dropped = proof(&after(false), after(false)).but(|it| {
        it.css_dropped = DroppedRules {
            effective: vec!["a b{}".to_owned()],
            idle: Vec::new(),
        }
    });
    let settled_so = |proof, cause| Settled::sent(Outcome::PartlyApplied, Some(proof), cause);
    let told = |settled: &Settled, change: &Change| {
        failure_of(settled, Operation::Update, change).unwrap()
    };
    let failure = told(&settled_so(dropped, None), &update());
    assert_eq!(
        failure.details["cssRulesDropped"],
        serde_json::json!(["a b{}"])
    );
    assert!(!failure.details.contains_key("rights"), "{failure:?}");
    let found = |css: &str| PageState {
        title: "B".to_owned(),
        script_css: css.to_owned(),
        ..page()
    };
    let creates = Change::recreate(after(false));
    for (change, css, cause, lacks) in [
        (&update(), "", None, true),
        (&update(), "z{}", None, false),
        (&creates, "", None, true),
        (&creates, "z{}", None, false),
        // The wiki said why.
        (&update(), "", Some(WikiError::PageExists), false),
    ] {
        let settled = settled_so(proof(&after(false), found(css)), cause);
        let failure = told(&settled, change);
        assert_eq!(
            failure.details.contains_key("rights"),
            lacks,
            "{css} {failure:?}"
        );
    }
    // The right to write pages is not what keeps a title.
    let nothing = settled_so(proof(&after(false), page()), None);
    let failure = told(&nothing, &update());
    assert_eq!(
        failure.details["fields"],
        serde_json::json!(["title", "scriptCss"])
    );
    assert_eq!(
        failure.details["rights"],
        serde_json::json!({ "scriptCss": "write:styles" })
    );
}
