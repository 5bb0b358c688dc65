//! Describes in words the operator's rules and check commands.

use super::finding::DoctorFinding;
use crate::checks::CheckCommand;
use crate::gates::Policy;
use crate::rules::BUILT_IN;
use crate::words::separated;

pub(super) fn found(policy: &Policy) -> Vec<DoctorFinding> {
    let rules = policy.rules.rules();
    let is_off = |name: &&str| !policy.rules.rules().any(|rule| rule.name == *name);
    let off: Vec<&str> = BUILT_IN.into_iter().filter(is_off).collect();
    let off = (!off.is_empty()).then(|| {
        let seen = format!("switched off: the built-in rules {}", off.join(", "));
        DoctorFinding::good(seen)
    });
    rules
        .map(|rule| DoctorFinding::good(rule.to_string()))
        .chain(off)
        .chain(policy.checks.iter().map(check))
        .collect()
}

fn check(check: &CheckCommand) -> DoctorFinding {
    if check.lacks_program() {
        let seen = format!(
            "{}; it cannot be run: its program or directory is not there",
            in_words(check)
        );
        let todo = "Install it, or name the whole path of the program in argv of [[checks]].";
        return DoctorFinding::wrong(seen, todo);
    }
    DoctorFinding::good(in_words(check))
}

/// A check in words; its arguments may hold what they should not.
fn in_words(check: &CheckCommand) -> String {
    let program = check.argv.first().map_or("", String::as_str);
    let paths = check.paths.as_ref().map_or_else(String::new, |paths| {
        format!(" at or below {}", separated(paths, ", "))
    });
    format!(
        "{}: {program} looks at changes of pages{paths}, for {} s at most",
        check.code(),
        check.timeout.as_secs()
    )
}
