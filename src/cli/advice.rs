//! Hints for a person at the terminal: the hints of errors are written for agents.

use serde_json::Value;

use crate::error::{Code, Failure, sentence};

/// Phrases in hints that only agents need. A terminal shows the hints without these phrases.
const TELL: [&str; 4] = [
    "details.leftOut names the pages and the reasons. ",
    "Tell the user: ",
    "Tell the user that ",
    "Tell the user to ",
];

/// The hint of a failure, reworded for an operator where the agent's hint would mislead; of a
/// refusal by the level, with the line that set it.
pub(super) fn advice(failure: &Failure) -> String {
    let hint = hint(failure);
    let of = |name: &str| failure.details.get(name).and_then(Value::as_str);
    match (of("level"), of("setBy")) {
        (Some(level), Some(line)) => format!("{hint} The level is {level}, set by {line}."),
        _ => hint,
    }
}

fn hint(failure: &Failure) -> String {
    let hint = failure.hint.as_str();
    if failure.details.contains_key("merged") {
        return "Nothing was sent. Both changes fit into one: see `wikijs-gate proposals apply --merge`."
            .to_owned();
    }
    if hint == failure.code.hint()
        && let Some(own) = at_terminal(failure.code)
    {
        return own.to_owned();
    }
    if let Some(of_set) = of_set_in_part(failure) {
        return of_set;
    }
    let told = TELL.iter().find_map(|tell| hint.strip_prefix(tell));
    told.map_or_else(
        || hint.to_owned(),
        |told| sentence(told.trim_end_matches('.')),
    )
}

/// The way on from a set that was made in part.
fn of_set_in_part(failure: &Failure) -> Option<String> {
    let of = |name: &str| failure.details.get(name).and_then(Value::as_str);
    let (outcome, call) = (of("outcome")?, of("callId")?);
    failure.details.get("changes")?.as_array()?;
    Some(match outcome {
        "not_applied" => {
            "Nothing of the set is there. Try again: the preview is made anew.".to_owned()
        }
        "unknown" => format!(
            "Look at the page whose outcome is unknown. Then try again to make the rest, or take back what stays: `wikijs-gate undo {call} --on-conflict skip`."
        ),
        _ => format!(
            "`wikijs-gate undo {call} --on-conflict skip` takes back what stays; to make the rest, try again."
        ),
    })
}

/// An operator's hint for a code; `None` if the agent's hint fits.
const fn at_terminal(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::InvalidInput => "Correct what is named, then try again.",
        Code::PageNotFound => {
            "The page may have been moved or deleted; `wikijs-gate tool call wikijs_search_pages` finds pages."
        }
        Code::MutationsDisabled | Code::ApprovalDenied => "Nothing was sent.",
        Code::ConfirmRequired => {
            "Nothing was sent. Give the operator's token in the arguments of `tool call`, as confirm; other commands ask at a terminal without --yes."
        }
        Code::ConfirmMismatch => "Give the right token; for a changed call, leave confirm out.",
        Code::ConfirmExpired => "Try again: the preview is made anew.",
        Code::EditConflict => {
            "Nothing was sent. Try again: the preview is made of the page as it is now."
        }
        Code::AuditUnavailable => {
            "Nothing was sent. Look at WIKI_AUDIT_DIR or the database of WIKI_STORE; `wikijs-gate doctor` says more."
        }
        Code::WritesPaused => "Nothing was sent. `wikijs-gate resume` lets writes go on.",
        Code::RuleDenied => {
            "Nothing was sent. `wikijs-gate rules explain` says what the rules hold for."
        }
        Code::DelegationDenied => "docs/delegation.md says who makes delegates, and how.",
        Code::NothingToUndo => {
            "`wikijs-gate audit list --outcome applied` has the writes that there are."
        }
        Code::ProposalOutdated => {
            "Nothing was sent. What is still wanted can be proposed anew, of the page as it is."
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::advice;
    use crate::error::{Code, Failure};

    #[test]
    fn nobody_at_the_terminal_is_told_to_tell_the_user_or_to_call_again() {
        for code in Code::ALL {
            let told = advice(&Failure::new(*code, "x"));
            for word in ["the user", "without confirm", "details.changes"] {
                assert!(!told.contains(word), "{code}: {told}");
            }
        }
        let of_a_place = Failure::new(Code::WikiError, "x").hint("Tell the user to look at it.");
        assert_eq!(advice(&of_a_place), "Look at it.");
        let of_set = |outcome: &str| {
            let failure = Failure::new(Code::OutcomeUnknown, "x").hint("Look at details.changes.");
            let failure = failure.detail("outcome", outcome).detail("callId", "0a1b");
            advice(&failure.detail("changes", vec!["x"]))
        };
        let back = "`wikijs-gate undo 0a1b --on-conflict skip`";
        assert!(of_set("unknown").starts_with("Look at the page"));
        assert!(of_set("unknown").contains(back) && of_set("partly_applied").contains(back));
        assert!(!of_set("not_applied").contains("undo"));
        let of_a_level = Failure::new(Code::MutationsDisabled, "x")
            .detail("level", "off")
            .detail("setBy", "WIKI_READ_ONLY (environment)");
        assert_eq!(
            advice(&of_a_level),
            "Nothing was sent. The level is off, set by WIKI_READ_ONLY (environment)."
        );
    }
}
