//! Describes in words what may be read and written.

use super::finding::DoctorFinding;
use crate::audit::Pause;
use crate::cli::level::Levels;
use crate::gates::{Fallback, Policy, WritePolicy};
use crate::page::{Locale, PagePath, Prefix, ReadRule};
use crate::tools::ToolSelection;
use crate::words::{behind, joined, separated};

pub(super) fn found(policy: &Policy, surface: &ToolSelection) -> Vec<DoctorFinding> {
    let mut found = vec![
        DoctorFinding::good(levels(policy).in_words()),
        DoctorFinding::good(in_words(policy)),
    ];
    found.extend(
        policy
            .reads
            .rules()
            .map(|rule| DoctorFinding::good(reads(rule))),
    );
    if is_off(policy) {
        return found;
    }
    if !surface.writes() {
        found.push(DoctorFinding::good(
            "no tool that writes is offered to clients; undo and proposals apply are the operator's".to_owned(),
        ));
    }
    if policy.allowed.is_none() {
        found.push(DoctorFinding::warning(
            "no prefix is set: every page may be written",
            "Set WIKI_ALLOWED_MUTATION_PATH_PREFIXES.",
        ));
    }
    found
}

/// That writes are paused.
pub(super) fn paused(pause: Option<&Pause>) -> Option<DoctorFinding> {
    let pause = pause?;
    let advice = match pause {
        Pause::Told(_) | Pause::Unreadable(_) => "Run `wikijs-gate resume` to resume writes.",
        Pause::Settings(_) => "Correct the settings file, or restart the server.",
        Pause::Unreachable(_) => {
            "Look after the database of WIKI_STORE: writes go on by themselves once it answers."
        }
    };
    Some(DoctorFinding::warning(
        format!("all writes are paused {pause}"),
        advice,
    ))
}

/// The level of clients' writes, and of the operator's own commands.
fn levels(policy: &Policy) -> Levels {
    Levels::new(&policy.writes, &policy.set_by, policy.read_only.as_ref())
}

const fn is_off(policy: &Policy) -> bool {
    matches!(policy.writes, WritePolicy::Off)
}

/// A policy in words.
fn in_words(policy: &Policy) -> String {
    let place = policy
        .allowed
        .as_deref()
        .map_or_else(|| "everywhere".to_owned(), below);
    let but = behind(", but not ", &below(&policy.denied));
    let how = match &policy.writes {
        WritePolicy::Off => return "writes are off".to_owned(),
        WritePolicy::DryRun => return format!("previews only, of pages {place}{but}"),
        WritePolicy::Token(_) => "with the operator's token",
        WritePolicy::Preview => "each write with the token of its preview",
        WritePolicy::Person { fallback, .. } => match fallback {
            Fallback::None => "after a person's approval",
            Fallback::Preview => {
                "after a person's approval, or, where the client cannot ask, with the token of a preview"
            }
            Fallback::Proposal => {
                "after a person's approval, or, where the client cannot ask, as a proposal"
            }
        },
        WritePolicy::Review { .. } => "after a person's decision on the review page",
    };
    let trash = policy
        .trash
        .as_ref()
        .map_or_else(String::new, |_| "; there is a trash".to_owned());
    format!("may write {place}{but}, {how}{trash}")
}

/// A read rule in words.
fn reads(rule: &ReadRule) -> String {
    let place = rule
        .allowed()
        .map_or_else(|| "everywhere".to_owned(), below);
    let not_below = (!rule.denied().is_empty()).then(|| below(rule.denied()));
    let tags = joined(rule.tags(), "and");
    let not_tagged = (!tags.is_empty()).then(|| format!("tagged {tags}"));
    let but = separated([not_below, not_tagged].into_iter().flatten(), " or ");
    let but = behind(", but not ", &but);
    format!("may read pages {place}{but}; all others are as if they were not there")
}

/// `below docs/ in de and en, and below notes/`.
fn below(prefixes: &[Prefix]) -> String {
    let mut places: Vec<(&PagePath, Vec<&Locale>)> = Vec::new();
    for prefix in prefixes {
        let locale = prefix.locale.as_ref();
        match places
            .iter_mut()
            .find(|(path, locales)| *path == &prefix.path && locales.is_empty() == locale.is_none())
        {
            Some((_, locales)) => locales.extend(locale),
            None => places.push((&prefix.path, locale.into_iter().collect())),
        }
    }
    let place = |(path, locales): (&PagePath, Vec<&Locale>)| {
        let locales = behind(" in ", &joined(locales, "and"));
        format!("below {path}/{locales}")
    };
    joined(places.into_iter().map(place), "and")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{found, in_words, is_off, paused, reads};
    use crate::audit::Pause;
    use crate::gates::{Fallback, Policy, StaticToken, WritePolicy};
    use crate::page::{Prefix, ReadRule};
    use crate::tools::{ToolSelection, Toolset};

    fn prefixes(texts: &[&str]) -> Vec<Prefix> {
        let parsed = texts.iter().map(|text| Prefix::parse(text).expect(text));
        parsed.collect()
    }

    fn on() -> Policy {
        Policy {
            writes: WritePolicy::Preview,
            ..Policy::default()
        }
    }

    #[test]
    fn what_may_be_read_is_said_in_words() {
        let tags = ["Secret".to_owned(), "hr/*".to_owned()];
        let rule = ReadRule::new(Some(prefixes(&["docs"])), prefixes(&["docs/x"]), &tags);
        assert_eq!(
            reads(&rule),
            "may read pages below docs/, but not below docs/x/ or tagged Secret and hr/*; all others are as if they were not there"
        );
        assert_eq!(
            reads(&ReadRule::new(None, Vec::new(), &tags)),
            "may read pages everywhere, but not tagged Secret and hr/*; all others are as if they were not there"
        );
    }

    #[test]
    fn only_a_pause_that_resume_ends_is_told_to_be_ended_by_it() {
        let told = |pause| serde_json::to_string(&paused(Some(&pause))).unwrap();
        let damaged = told(Pause::Unreadable("does not tell of a pause".to_owned()));
        assert!(damaged.contains("wikijs-gate resume"), "{damaged}");
        let away = told(Pause::Unreachable(
            "the database does not answer".to_owned(),
        ));
        assert!(!away.contains("resume"), "{away}");
        assert!(away.contains("go on by themselves"), "{away}");
    }

    #[test]
    fn a_policy_is_told_in_words() {
        let person = |fallback| WritePolicy::Person {
            limit: Duration::ZERO,
            fallback,
        };
        let token = |text: &str| WritePolicy::Token(StaticToken::new(text.into()).expect("long"));
        for (policy, words) in [
            (Policy::default(), "writes are off"),
            (
                Policy {
                    writes: WritePolicy::DryRun,
                    ..on()
                },
                "previews only, of pages everywhere",
            ),
            (
                on(),
                "may write everywhere, each write with the token of its preview",
            ),
            (
                Policy {
                    allowed: Some(prefixes(&["de:docs", "en:docs", "notes"])),
                    writes: person(Fallback::None),
                    ..on()
                },
                "may write below docs/ in de and en and below notes/, after a person's approval",
            ),
            (
                Policy {
                    denied: prefixes(&["docs/secret"]),
                    writes: person(Fallback::Preview),
                    ..on()
                },
                "may write everywhere, but not below docs/secret/, after a person's approval, or, where the client cannot ask, with the token of a preview",
            ),
            (
                Policy {
                    allowed: Some(prefixes(&["docs", "de:docs"])),
                    writes: token("open sesame, please"),
                    ..on()
                },
                "may write below docs/ and below docs/ in de, with the operator's token",
            ),
        ] {
            assert_eq!(in_words(&policy), words);
        }
    }

    #[test]
    fn what_leaves_too_much_open_is_warned_of_where_writes_are_on() {
        let open = on();
        let narrow = Policy {
            allowed: Some(prefixes(&["docs"])),
            ..on()
        };
        let off = Policy {
            writes: WritePolicy::Off,
            ..on()
        };
        for (policy, findings) in [(open, 3), (narrow, 2), (off, 2)] {
            let found = |surface| found(&policy, &surface).len();
            assert_eq!(
                found(ToolSelection::new(&Toolset::ALL)),
                findings,
                "{policy:?}"
            );
            let mut reading = ToolSelection::new(&Toolset::ALL);
            reading.keep_reading();
            let more = usize::from(!is_off(&policy));
            assert_eq!(found(reading), findings + more, "{policy:?}");
        }
    }
}
