//! Warnings and failures for each outcome of a step.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::audit::Outcome;
use crate::change::{Change, StepKind, Warning, is_blank};
use crate::error::{Code, Failure};
use crate::page::{Field, escaped};
use crate::wiki::WikiError;

use super::settle::Settled;

/// Warnings about an applied step.
pub(super) fn said_of(settled: &Settled) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if settled.outcome != Outcome::Applied {
        return warnings;
    }
    match &settled.cause {
        Some(WikiError::TreeRebuild) => warnings.push(Warning::new(
            "wiki_index_incomplete",
            "the wiki wrote the page but could not rebuild its page tree; \
             search index, storage and links may lag until the next write.",
        )),
        Some(cause) if cause.is_refusal() => warnings.push(Warning::new("answered_otherwise", format!(
            "what the write asks for is there, although it was answered with a refusal ({cause}); something between may have sent it twice, or answered in the wiki's place."
        ))),
        Some(cause) => warnings.push(Warning::new("answer_was_no_success", format!(
            "what the write asks for is there, although the answer was not success ({cause})."
        ))),
        None if settled.is_misnamed => warnings.push(Warning::new(
            "answered_otherwise",
            "the page is as asked for, although the answer of success named another page or none; something between may have answered in the wiki's place.",
        )),
        None => {}
    }
    warnings.extend(settled.since.as_ref().map(|since| since.warning()));
    match &settled.proof {
        Some(proof) if !proof.css_dropped.idle.is_empty() => warnings.push(Warning::new(
            "css_rules_dropped",
            format!(
                "the wiki did not store these rules, which have no effect where they stand: {}.",
                named(&proof.css_dropped.idle).join(", ")
            ),
        )),
        Some(proof) if proof.css_minified => warnings.push(Warning::new(
            "css_minified",
            "the wiki stored the styles in another form than they were sent.",
        )),
        _ => {}
    }
    warnings
}

/// The most dropped rules that are named.
const MAX_RULES: usize = 20;

/// The selectors of rules, as far as there is room.
fn named(rules: &[String]) -> Vec<String> {
    let mut named: Vec<String> = rules
        .iter()
        .take(MAX_RULES)
        .map(|rule| escaped(rule, 120))
        .collect();
    if rules.len() > MAX_RULES {
        named.push(format!("{} more", rules.len() - MAX_RULES));
    }
    named
}

/// The failure of a step that was not applied.
pub(super) fn failure_of(settled: &Settled, kind: StepKind, change: &Change) -> Option<Failure> {
    let failure = match settled.outcome {
        Outcome::Applied | Outcome::Unchanged => return None,
        Outcome::NotApplied if kind == StepKind::Update && change.moves() => {
            return Some(only_moved(settled, change));
        }
        Outcome::NotApplied => not_applied(settled),
        Outcome::PartlyApplied => partly_applied(settled, change),
        Outcome::Unknown => unknown(settled),
    };
    let failure = failure.detail("outcome", settled.outcome.as_str());
    Some(failure.detail("operation", change.operation().as_str()))
}

/// The fields that are still missing if only the move was applied.
pub(super) fn behind_the_move(change: &Change) -> Vec<&'static str> {
    change
        .after_step(StepKind::Move)
        .zip(change.after())
        .map(|(moved, after)| moved.difference(after))
        .unwrap_or_default()
        .into_iter()
        .map(Field::name)
        .collect()
}

/// The failure if the page was moved but the rest was not applied.
fn only_moved(settled: &Settled, change: &Change) -> Failure {
    let cause = settled.cause.clone().map(Failure::from);
    let why = cause.as_ref().map_or("", |cause| cause.message.as_str());
    let message = format!("The page was moved; the rest of the write was not applied. {why}");
    let mut failure = Failure::new(Code::PartlyApplied, message.trim_end());
    if let Some(cause) = cause {
        failure = failure.detail("cause", cause.code.as_str());
        failure.details.extend(cause.details);
    }
    failure
        .detail("fields", behind_the_move(change))
        .detail("outcome", Outcome::PartlyApplied.as_str())
        .detail("operation", change.operation().as_str())
}

fn not_applied(settled: &Settled) -> Failure {
    let what = if settled.was_sent {
        "The write was not applied, it changed nothing."
    } else {
        "The write was not sent, so it changed nothing."
    };
    match settled.cause.clone() {
        Some(cause) => {
            let cause = Failure::from(cause);
            let mut failure = Failure::new(Code::NotApplied, format!("{what} {}", cause.message))
                .hint(cause.hint)
                .detail("cause", cause.code.as_str());
            failure.details.extend(cause.details);
            failure
        }
        None => Failure::new(Code::NotApplied, what),
    }
}

/// The failure of a step that is on the page in part, or that the wiki reports as done while it
/// kept the old fields.
fn partly_applied(settled: &Settled, change: &Change) -> Failure {
    let asked = change.fields();
    let proof = settled.proof.as_ref();
    let differing = proof.iter().flat_map(|proof| &proof.differing);
    let (missed, others): (Vec<Field>, Vec<Field>) =
        differing.partition(|field| asked.contains(field));
    let was_kept = |field: &Field| match (change.before(), proof) {
        (Some(before), Some(proof)) => before.same(&proof.found, *field),
        (None, Some(proof)) => is_blank(&proof.found.value(*field)),
        (_, None) => false,
    };
    let (kept, altered): (Vec<Field>, Vec<Field>) =
        missed.iter().copied().partition(|field| was_kept(field));
    let is_seen = asked.len() > missed.len() || change.before().is_none();
    let mut message = match (is_seen, kept.is_empty()) {
        (true, true) => "The write happened".to_owned(),
        (true, false) => format!(
            "The write happened, but not in these fields: {}",
            names(&kept).join(", ")
        ),
        (false, _) => format!(
            "The wiki answered with success and kept these fields as they were: {}",
            names(&kept).join(", ")
        ),
    };
    if !altered.is_empty() {
        let altered = names(&altered).join(", ");
        let _ = write!(
            message,
            "; these are neither as they were nor as it was to make them: {altered}"
        );
    }
    if !others.is_empty() {
        let _ = write!(
            message,
            "; fields that it had nothing to do with are not as they were: {}",
            names(&others).join(", ")
        );
    }
    let mut failure =
        Failure::new(Code::PartlyApplied, format!("{message}.")).detail("fields", names(&missed));
    if !others.is_empty() {
        failure = failure.detail("alsoChanged", names(&others));
    }
    let dropped = settled
        .proof
        .as_ref()
        .map(|proof| &proof.css_dropped.effective);
    if let Some(dropped) = dropped.filter(|dropped| !dropped.is_empty()) {
        failure = failure
            .hint("Wiki.js stores no nested rules, no rules behind a brace too many and no at-rules that it does not know: what it dropped is in details.cssRulesDropped. Write these rules otherwise, or take the write back.")
            .detail("cssRulesDropped", named(dropped));
    }
    let rights = rights_missing(settled, change);
    if !rights.is_empty() {
        failure = failure
            .hint("The key may lack the right in details.rights; Wiki.js also drops styles that it cannot read. Read the page before you go on.")
            .detail("rights", rights);
    }
    match settled.cause.clone().map(Failure::from) {
        Some(cause) => failure.detail("cause", cause.code.as_str()),
        None => failure,
    }
}

fn names(fields: &[Field]) -> Vec<&'static str> {
    fields.iter().map(|field| field.name()).collect()
}

/// The rights without which the wiki reports success but keeps the old text (W24), for the fields
/// of the change that kept theirs.
fn rights_missing(settled: &Settled, change: &Change) -> Map<String, Value> {
    let Some(proof) = settled.proof.as_ref().filter(|_| settled.cause.is_none()) else {
        return Map::new();
    };
    change
        .fields()
        .into_iter()
        .filter(|field| field.is_code() && proof.differing.contains(field))
        .filter(|field| match change.before() {
            Some(before) => before.same(&proof.found, *field),
            None => proof.found.value(*field) == "",
        })
        .map(|field| (field.name().to_owned(), field.right_to_write().into()))
        .collect()
}

fn unknown(settled: &Settled) -> Failure {
    let cause = settled.cause.clone().map(Failure::from);
    let why = cause.as_ref().map_or(
        "The wiki answered with success, but the page could not be read back as promised.",
        |cause| cause.message.as_str(),
    );
    let failure = Failure::new(
        Code::OutcomeUnknown,
        format!("Whether the write was applied could not be found out. {why}"),
    );
    match cause {
        Some(cause) => failure.detail("cause", cause.code.as_str()),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::{failure_of, said_of};
    use crate::audit::Outcome;
    use crate::change::{Change, Proof, StepKind};
    use crate::error::Code;
    use crate::page::testing::page;
    use crate::page::{DroppedRules, PagePath, PageState};
    use crate::wiki::WikiError;
    use crate::write::stages::settle::Settled;

    /// The page with another title and style, and if it moves at another place.
    fn after(moves: bool) -> PageState {
        PageState {
            path: PagePath::as_stored(if moves { "docs/b" } else { "docs/a" }),
            title: "B".to_owned(),
            script_css: "a{color:red}".to_owned(),
            ..page()
        }
    }

    fn proof(promised: &PageState, found: &PageState) -> Proof {
        Proof {
            differing: promised.difference(found),
            unverified: Vec::new(),
            css_minified: false,
            css_dropped: DroppedRules::default(),
            found: found.clone(),
        }
    }

    fn settled(outcome: Outcome, proof: Option<Proof>, cause: Option<WikiError>) -> Settled {
        Settled {
            outcome,
            proof,
            cause,
            since: None,
            is_misnamed: false,
            was_sent: true,
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
            let settled = settled(outcome, None, None);
            assert_eq!(failure_of(&settled, StepKind::Update, &update()), None);
        }
        let applied = |cause| settled(Outcome::Applied, None, cause);
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
        let misnamed = Settled {
            is_misnamed: true,
            ..applied(None)
        };
        assert_eq!(words(&misnamed), ["answered_otherwise"]);
        // A step that was not applied is a failure.
        let unknown = settled(Outcome::Unknown, None, Some(WikiError::TreeRebuild));
        assert_eq!(words(&unknown), Vec::<String>::new());
    }

    #[test]
    fn a_step_that_was_refused_says_whether_it_was_sent_and_why() {
        let told = |was_sent| {
            let refused = Settled {
                was_sent,
                ..settled(Outcome::NotApplied, None, Some(WikiError::PageExists))
            };
            failure_of(&refused, StepKind::Update, &update()).unwrap()
        };
        let (sent, unsent) = (told(true), told(false));
        assert_eq!(
            (sent.code, unsent.code),
            (Code::NotApplied, Code::NotApplied)
        );
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
        let refused = settled(Outcome::NotApplied, None, Some(WikiError::PageExists));
        let moved = failure_of(&refused, StepKind::Update, &change).unwrap();
        assert_eq!(moved.code, Code::PartlyApplied);
        assert_eq!(moved.details["outcome"], "partly_applied");
        assert_eq!(
            moved.details["fields"],
            serde_json::json!(["title", "scriptCss"])
        );
        // This does not apply to the move itself, nor to a page that does not move.
        for (kind, change) in [(StepKind::Move, &change), (StepKind::Update, &update())] {
            let failure = failure_of(&refused, kind, change).unwrap();
            assert_eq!(failure.code, Code::NotApplied, "{kind:?}");
        }
    }

    #[test]
    fn what_was_written_in_part_is_named_by_field_with_the_right_that_may_be_missing() {
        let found = PageState {
            title: "B".to_owned(),
            ..page()
        };
        let partly = |found: &PageState| {
            let proof = proof(&after(false), found);
            settled(Outcome::PartlyApplied, Some(proof), None)
        };
        let failure = failure_of(&partly(&found), StepKind::Update, &update()).unwrap();
        assert_eq!(failure.code, Code::PartlyApplied);
        assert_eq!(failure.details["fields"], serde_json::json!(["scriptCss"]));
        assert_eq!(failure.details["rights"]["scriptCss"], "write:styles");
        assert!(!failure.details.contains_key("alsoChanged"), "{failure:?}");
        let others = PageState {
            description: "theirs".to_owned(),
            title: "C".to_owned(),
            ..page()
        };
        let failure = failure_of(&partly(&others), StepKind::Update, &update()).unwrap();
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
            let unknown = settled(Outcome::Unknown, None, cause);
            let failure = failure_of(&unknown, StepKind::Update, &update()).unwrap();
            assert_eq!(failure.code, Code::OutcomeUnknown);
            assert_eq!(failure.details["outcome"], "unknown");
            let told = failure
                .details
                .get("cause")
                .and_then(|cause| cause.as_str());
            assert_eq!(told, code.map(Code::as_str));
        }
    }
}
