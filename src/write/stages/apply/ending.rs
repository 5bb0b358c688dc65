//! Answers a caller by the way in which the sending of its set ended.

use crate::audit::Outcome;
use crate::change::Warning;
use crate::error::{Code, Failure};
use crate::write::answer::{SetAnswer, SetMember, SetOutcome};

/// The end of the sending of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SetEnd {
    /// All is applied.
    Applied,
    /// A change was not applied; the applied ones stay, as asked for.
    Kept,
    /// A change was not applied; all applied ones were taken back.
    TakenBack,
    /// A change was not applied, and not all applied ones could be taken back.
    NotAllTakenBack,
    /// The outcome of a change is unknown; nothing more was sent.
    Unknown,
    /// The server ends.
    Interrupted,
}

impl SetEnd {
    /// The end of a set of which a change failed; `None` if the applied changes have to be taken
    /// back first.
    pub(super) const fn after(failed: Code, keeps: bool, is_any_there: bool) -> Option<Self> {
        match (failed, keeps, is_any_there) {
            (Code::OutcomeUnknown, _, _) => Some(Self::Unknown),
            (_, _, false) => Some(Self::TakenBack),
            (_, true, true) => Some(Self::Kept),
            (_, false, true) => None,
        }
    }

    /// The outcome for callers, and the outcome on record. `is_any_there` says whether something of
    /// the set is on the wiki.
    pub(super) const fn outcomes(self, is_any_there: bool) -> (SetOutcome, Outcome) {
        match (self, is_any_there) {
            (Self::Applied, _) => (SetOutcome::Applied, Outcome::Applied),
            (Self::Kept | Self::NotAllTakenBack, _) => {
                (SetOutcome::PartlyApplied, Outcome::PartlyApplied)
            }
            (Self::TakenBack, _) => (SetOutcome::NotApplied, Outcome::NotApplied),
            (Self::Unknown, _) => (SetOutcome::Unknown, Outcome::Unknown),
            (Self::Interrupted, true) => (SetOutcome::Interrupted, Outcome::PartlyApplied),
            (Self::Interrupted, false) => (SetOutcome::Interrupted, Outcome::NotApplied),
        }
    }
}

/// Adds the warnings that are not there yet.
pub(super) fn add_new(known: &mut Vec<Warning>, warnings: Vec<Warning>) {
    for warning in warnings {
        if !known.contains(&warning) {
            known.push(warning);
        }
    }
}

/// The failure of a set that was not applied in full.
pub(super) fn failure_of(answer: &SetAnswer) -> Option<Failure> {
    let applied = answer.members.iter().filter(|one| one.is_there()).count();
    let all = answer.members.len();
    let cause = answer.members.iter().find_map(|one| one.failure.as_ref());
    let why = cause.map_or("", |cause| cause.message.as_str());
    let (code, message) = match answer.outcome {
        SetOutcome::Applied | SetOutcome::Applying | SetOutcome::Unchanged => return None,
        SetOutcome::NotApplied => (
            cause
                .filter(|_| !answer.members.iter().any(|one| one.taken_back.is_some()))
                .map_or(Code::NotApplied, |cause| cause.code),
            format!("A change of the set was not applied; nothing of the set stays. {why}"),
        ),
        SetOutcome::PartlyApplied => (
            Code::PartlyApplied,
            format!("A change of the set was not applied; {applied} of {all} changes stay. {why}"),
        ),
        SetOutcome::Unknown => (
            Code::OutcomeUnknown,
            format!(
                "What came of a change of the set could not be found out; nothing more was sent, and {applied} of {all} changes stay. {why}"
            ),
        ),
        SetOutcome::Interrupted => (
            Code::PartlyApplied,
            format!(
                "The server ended, or stood still for long, while the set was sent; {applied} of {all} changes stay."
            ),
        ),
    };
    let changes: Vec<_> = answer.members.iter().map(SetMember::as_detail).collect();
    let hint = match answer.outcome {
        SetOutcome::Unknown => {
            "Look at details.changes, and at the page of the change whose outcome is unknown. Call again without confirm for what is left, or have the others taken back by the set's callId with onConflict: \"skip\"."
        }
        SetOutcome::NotApplied => {
            "Look at details.changes; nothing of the set is there to be taken back. Call again without confirm for a new preview."
        }
        _ => {
            "Look at details.changes. Call again without confirm for what is left, or have the set taken back by its callId."
        }
    };
    let failure = Failure::new(code, message.trim_end())
        .hint(hint)
        .detail("outcome", answer.outcome.as_str())
        .detail("changes", changes);
    Some(failure.detail_if("cause", cause.map(|cause| cause.code.as_str())))
}

#[cfg(test)]
mod tests {
    use super::{SetEnd, add_new, failure_of};
    use crate::audit::{CallId, Outcome};
    use crate::change::{Operation, Warning};
    use crate::error::{Code, Failure};
    use crate::view::WriteTarget;
    use crate::write::answer::{Notes, SetAnswer, SetMember, SetOutcome};

    #[test]
    fn a_change_that_fails_ends_the_set_unless_something_has_to_go_back_first() {
        for (code, keeps, is_any_there, end) in [
            (Code::EditConflict, false, false, Some(SetEnd::TakenBack)),
            (Code::EditConflict, true, false, Some(SetEnd::TakenBack)),
            (Code::EditConflict, true, true, Some(SetEnd::Kept)),
            (Code::EditConflict, false, true, None),
            (Code::PartlyApplied, false, true, None),
            (Code::PartlyApplied, true, true, Some(SetEnd::Kept)),
            (Code::OutcomeUnknown, false, true, Some(SetEnd::Unknown)),
            (Code::OutcomeUnknown, true, true, Some(SetEnd::Unknown)),
            (Code::OutcomeUnknown, false, false, Some(SetEnd::Unknown)),
        ] {
            assert_eq!(
                SetEnd::after(code, keeps, is_any_there),
                end,
                "{code:?} {keeps}"
            );
        }
    }

    #[test]
    fn a_set_is_on_record_as_what_stays_of_it() {
        for (end, is_any_there, told, on_record) in [
            (SetEnd::Applied, true, "applied", Outcome::Applied),
            (SetEnd::Kept, true, "partly_applied", Outcome::PartlyApplied),
            (SetEnd::TakenBack, false, "not_applied", Outcome::NotApplied),
            (
                SetEnd::NotAllTakenBack,
                true,
                "partly_applied",
                Outcome::PartlyApplied,
            ),
            (SetEnd::Unknown, true, "unknown", Outcome::Unknown),
            (SetEnd::Unknown, false, "unknown", Outcome::Unknown),
            (
                SetEnd::Interrupted,
                true,
                "interrupted",
                Outcome::PartlyApplied,
            ),
            (
                SetEnd::Interrupted,
                false,
                "interrupted",
                Outcome::NotApplied,
            ),
        ] {
            let (outcome, recorded) = end.outcomes(is_any_there);
            assert_eq!((outcome.as_str(), recorded), (told, on_record), "{end:?}");
        }
    }

    #[test]
    fn a_warning_is_said_once() {
        let warning = |code: &'static str| Warning::new(code, "why.");
        let mut known = vec![warning("a")];
        add_new(&mut known, vec![warning("a"), warning("b"), warning("b")]);
        assert_eq!(known, [warning("a"), warning("b")]);
    }

    fn member(outcome: Option<Outcome>, is_back: bool, failed: Option<Code>) -> SetMember {
        SetMember {
            call: CallId::new().unwrap(),
            operation: Operation::Update,
            target: WriteTarget {
                id: Some(1),
                locale: "en".to_owned(),
                path: "docs/a".to_owned(),
                title: "A".to_owned(),
                ..WriteTarget::default()
            },
            outcome,
            taken_back: is_back.then(|| CallId::new().unwrap()),
            failure: failed.map(|code| Failure::new(code, "Because.")),
            not_taken_back: None,
            stands_at: None,
            is_sent: false,
        }
    }

    fn told(outcome: SetOutcome, members: Vec<SetMember>) -> Option<Failure> {
        failure_of(&SetAnswer {
            call: CallId::new().unwrap(),
            outcome,
            members,
            left_out: Vec::new(),
            links_left: Vec::new(),
            notes: Notes::default(),
        })
    }

    #[test]
    fn a_set_that_is_applied_or_still_on_its_way_is_no_failure() {
        for outcome in [
            SetOutcome::Applied,
            SetOutcome::Applying,
            SetOutcome::Unchanged,
        ] {
            let members = vec![member(Some(Outcome::Applied), false, None)];
            assert_eq!(told(outcome, members), None, "{outcome:?}");
        }
    }

    #[test]
    fn what_stays_says_why_in_a_member_of_its_own_and_is_not_the_cause() {
        let mut stays = member(Some(Outcome::Applied), false, None);
        stays.stays(&Failure::new(Code::EditConflict, "Somebody wrote."));
        let mut again = member(Some(Outcome::Applied), true, None);
        again.stays(&Failure::new(Code::EditConflict, "It is there again."));
        let failed = member(Some(Outcome::NotApplied), false, Some(Code::PageExists));
        assert!(stays.is_there() && again.is_there());
        let failure = told(SetOutcome::PartlyApplied, vec![stays, again, failed]).unwrap();
        assert_eq!(failure.details["cause"], "PAGE_EXISTS");
        assert!(failure.message.ends_with("2 of 3 changes stay. Because."));
        let changes = failure.details["changes"].as_array().unwrap();
        for (change, message) in changes
            .iter()
            .zip(["Somebody wrote.", "It is there again."])
        {
            assert_eq!(change["outcome"], "applied");
            assert_eq!(change.get("code"), None);
            assert_eq!(change["notTakenBack"]["code"], "EDIT_CONFLICT");
            assert_eq!(change["notTakenBack"]["message"], message);
        }
        assert!(changes[1]["takenBackBy"].is_string());
    }

    #[test]
    fn a_set_that_failed_counts_what_stays_and_names_each_change_and_the_cause() {
        let there = || member(Some(Outcome::Applied), false, None);
        let back = || member(Some(Outcome::Applied), true, None);
        let unsent = || member(None, false, None);
        let failed = |outcome, code| member(Some(outcome), false, Some(code));
        let conflict = || failed(Outcome::NotApplied, Code::EditConflict);
        for (outcome, members, code, says) in [
            // Where nothing had to go back, the cause is all that there is to tell.
            (
                SetOutcome::NotApplied,
                vec![conflict(), unsent()],
                Code::EditConflict,
                "nothing of the set stays. Because.",
            ),
            (
                SetOutcome::NotApplied,
                vec![back(), conflict()],
                Code::NotApplied,
                "nothing of the set stays. Because.",
            ),
            (
                SetOutcome::PartlyApplied,
                vec![there(), there(), conflict()],
                Code::PartlyApplied,
                "2 of 3 changes stay. Because.",
            ),
            (
                SetOutcome::PartlyApplied,
                vec![back(), there(), conflict()],
                Code::PartlyApplied,
                "1 of 3 changes stay. Because.",
            ),
            (
                SetOutcome::Unknown,
                vec![
                    there(),
                    failed(Outcome::Unknown, Code::OutcomeUnknown),
                    unsent(),
                ],
                Code::OutcomeUnknown,
                "1 of 3 changes stay. Because.",
            ),
            (
                SetOutcome::Interrupted,
                vec![there(), unsent()],
                Code::PartlyApplied,
                "1 of 2 changes stay.",
            ),
        ] {
            let cause = members.iter().find_map(|one| one.failure.as_ref());
            let cause = cause.map(|cause| cause.code.as_str());
            let words: Vec<&str> = members.iter().map(SetMember::word).collect();
            let failure = told(outcome, members.clone()).unwrap();
            assert_eq!(failure.code, code, "{words:?}");
            assert!(failure.message.ends_with(says), "{}", failure.message);
            assert_eq!(failure.details["outcome"], outcome.as_str());
            let named = failure.details["changes"].as_array().unwrap();
            let named: Vec<&str> = named
                .iter()
                .map(|one| one["outcome"].as_str().unwrap())
                .collect();
            assert_eq!(named, words);
            let told = failure
                .details
                .get("cause")
                .and_then(|cause| cause.as_str());
            assert_eq!(told, cause);
        }
    }
}
