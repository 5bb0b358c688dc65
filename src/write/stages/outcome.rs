//! Warnings and failures for each outcome of a step.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::audit::{AuditError, Outcome};
use crate::change::{Change, Operation, Proof, Warning, is_blank};
use crate::error::{Code, Failure, sentence};
use crate::page::{Field, escaped};
use crate::wiki::WikiError;

use super::verify::Settled;

/// The detail that names the path of a page that was moved before the rest of its write failed.
pub(crate) const MOVED_TO: &str = "movedTo";

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
            "what the write asks for is there, although it was answered with a refusal ({cause}); something between may have sent it twice or answered in the wiki's place, or somebody else wrote the same at that moment: look before you undo it."
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

/// The refusal with which an applied step was answered, for the record: what the step asks for may
/// be there by somebody else's hand.
pub(super) fn refused_although_applied(settled: &Settled) -> Option<Failure> {
    let cause = settled.cause.clone();
    let is_applied = settled.outcome == Outcome::Applied;
    let cause = cause.filter(|cause| is_applied && cause.is_refusal())?;
    let failure = Failure::from(cause);
    Some(Failure {
        message: format!("Answered with a refusal: {}", failure.message),
        ..failure
    })
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

impl Settled {
    /// The reason why the wiki did not answer with success, as a failure.
    fn failure(&self) -> Option<Failure> {
        self.cause.clone().map(Failure::from)
    }
}

/// The failure of a step that was not applied.
pub(super) fn failure_of(settled: &Settled, kind: Operation, change: &Change) -> Option<Failure> {
    let failure = match settled.outcome {
        Outcome::Applied | Outcome::Unchanged => return None,
        Outcome::NotApplied if kind == Operation::Update && change.moves() => {
            return Some(only_moved(settled, change));
        }
        Outcome::NotApplied => not_applied(settled),
        Outcome::PartlyApplied => partly_applied(settled, change),
        Outcome::Unknown if kind == Operation::Update && change.moves() => moved_to(
            unknown(
                settled,
                "The page was moved. Whether the rest of the write was applied could not be found out.",
            ),
            change,
        ),
        Outcome::Unknown => unknown(
            settled,
            "Whether the write was applied could not be found out.",
        ),
    };
    let failure = failure.detail("outcome", settled.outcome.as_str());
    Some(failure.detail("operation", change.operation().as_str()))
}

/// The failure of a change of which only the move was applied, with the fields that are missing.
pub(super) fn behind_the_move(failure: Failure, change: &Change) -> Failure {
    let ends = change.after_step(Operation::Move).zip(change.after());
    let missing = ends.map(|(moved, after)| moved.difference(after));
    failure
        .detail("fields", Field::names(missing.iter().flatten()))
        .detail("outcome", Outcome::PartlyApplied.as_str())
        .detail("operation", change.operation().as_str())
}

/// The failure if the page was moved but the rest was not applied.
fn only_moved(settled: &Settled, change: &Change) -> Failure {
    let cause = settled.failure();
    let why = cause.as_ref().map_or("", |cause| cause.message.as_str());
    let message = format!("The page was moved; the rest of the write was not applied. {why}");
    let mut failure = Failure::new(Code::PartlyApplied, message.trim_end());
    if let Some(cause) = cause {
        failure = failure.detail("cause", cause.code.as_str());
        failure.details.extend(cause.details);
    }
    behind_the_move(moved_to(failure, change), change)
}

fn not_applied(settled: &Settled) -> Failure {
    let what = if settled.was_sent {
        "The write was not applied, it changed nothing."
    } else {
        "The write was not sent, so it changed nothing."
    };
    let overtaken = AuditError::Overtaken;
    match settled.failure() {
        Some(cause) => {
            let hint = match cause.code {
                Code::RateLimited if settled.was_sent => {
                    "Wait, then begin anew: a preview's token is used up.".to_owned()
                }
                _ => cause.hint,
            };
            let mut failure = Failure::new(Code::NotApplied, format!("{what} {}", cause.message))
                .hint(hint)
                .detail("cause", cause.code.as_str());
            failure.details.extend(cause.details);
            failure
        }
        None if settled.was_sent => Failure::new(Code::NotApplied, what),
        None => Failure::new(
            Code::NotApplied,
            format!("{what} {}", sentence(&overtaken.to_string())),
        )
        .hint(sentence(overtaken.hint())),
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
    let message = parts_applied(proof, change, &missed, &others);
    let also = (!others.is_empty()).then(|| Field::names(&others));
    let mut failure = Failure::new(Code::PartlyApplied, message)
        .detail("fields", Field::names(&missed))
        .detail_if("alsoChanged", also);
    let dropped = proof.map(|proof| &proof.css_dropped.effective);
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
    failure.detail_if("cause", settled.failure().map(|cause| cause.code.as_str()))
}

/// Says which part of a step is on the page, by the fields that it missed and others that differ.
fn parts_applied(
    proof: Option<&Proof>,
    change: &Change,
    missed: &[Field],
    others: &[Field],
) -> String {
    let was_kept = |field: &Field| proof.is_some_and(|proof| was_kept(change, proof, *field));
    let (kept, altered): (Vec<Field>, Vec<Field>) = missed.iter().copied().partition(was_kept);
    let is_seen = change.fields().len() > missed.len() || change.before().is_none();
    let listed = |fields: &[Field]| Field::names(fields).join(", ");
    let mut message = match (is_seen, kept.is_empty()) {
        (true, true) => "The write happened".to_owned(),
        (false, true) => "The wiki answered with success".to_owned(),
        (true, false) => format!(
            "The write happened, but not in these fields: {}",
            listed(&kept)
        ),
        (false, false) => format!(
            "The wiki answered with success and kept these fields as they were: {}",
            listed(&kept)
        ),
    };
    if !altered.is_empty() {
        let altered = listed(&altered);
        let _ = write!(
            message,
            "; these are neither as they were nor as it was to make them: {altered}"
        );
    }
    if !others.is_empty() {
        let others = listed(others);
        let _ = write!(
            message,
            "; fields that it had nothing to do with are not as they were: {others}"
        );
    }
    message.push('.');
    message
}

/// True if the wiki left a field as it was; on a new page, blank.
fn was_kept(change: &Change, proof: &Proof, field: Field) -> bool {
    match change.before() {
        Some(before) => before.same(&proof.found, field),
        None => is_blank(&proof.found.value(field)),
    }
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
        .filter(|field| was_kept(change, proof, *field))
        .map(|field| (field.name().to_owned(), field.right_to_write().into()))
        .collect()
}

/// The same of a page that was moved, with its path now.
fn moved_to(failure: Failure, change: &Change) -> Failure {
    let path = change.after().map(|page| page.path.as_str());
    failure.detail_if(MOVED_TO, path)
}

fn unknown(settled: &Settled, what: &str) -> Failure {
    let cause = settled.failure();
    let why = cause.as_ref().map_or(
        "The wiki answered with success, but the page could not be read back as promised.",
        |cause| cause.message.as_str(),
    );
    let failure = Failure::new(Code::OutcomeUnknown, format!("{what} {why}"));
    failure.detail_if("cause", cause.map(|cause| cause.code.as_str()))
}

#[cfg(test)]
mod tests;
