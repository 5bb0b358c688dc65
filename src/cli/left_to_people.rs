//! Says why a command's write was left to people, and how they decide.

use super::level;
use crate::cli::prelude::*;
use crate::gates::{Policy, PolicyLevel};

/// One sentence about a write that was kept as a proposal.
pub(super) fn sentence(app: &App, proposal: &str) -> String {
    let why = why(app.desk.policy(), &app.desk.narrowed_policy(None, false));
    format!("nothing was written: {why}; `wikijs-gate proposals apply {proposal}` writes it")
}

/// Gives the reason why a write was kept as a proposal, from the policy of the settings and from
/// what is left of it for a command, which asks nobody.
fn why(settings: &Policy, met: &Policy) -> String {
    if met.writes.can_be_confirmed() {
        return "a rule leaves this to people".to_owned();
    }
    // The settings want a person's yes; only since nobody is asked is it a dry run here.
    let (policy, unasked) = if settings.writes.level() == PolicyLevel::Person {
        (settings, ", and nobody was asked")
    } else {
        (met, "")
    };
    format!("{}{unasked}", level::named(policy))
}

/// The end of a command that was to write and could only propose.
pub(super) fn refused(app: &App, proposal: &str) -> CommandError {
    Exit::refused(sentence(app, proposal))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::why;
    use crate::gates::{Fallback, Layer, Policy, SetBy, WritePolicy};

    fn policy(writes: WritePolicy) -> Policy {
        Policy {
            writes,
            set_by: SetBy::new("WIKI_CONFIRM", Layer::Environment),
            ..Policy::default()
        }
    }

    fn told(writes: WritePolicy) -> String {
        let settings = policy(writes).for_unattended(false);
        let met = settings.clone().for_caller(false);
        why(&settings, &met)
    }

    #[test]
    fn the_level_of_the_settings_is_named_though_a_command_asks_nobody() {
        let person = |fallback| WritePolicy::Person {
            limit: Duration::ZERO,
            fallback,
        };
        let unasked =
            "the level is person, set by WIKI_CONFIRM (environment), and nobody was asked";
        for (writes, expected) in [
            (person(Fallback::None), unasked),
            (person(Fallback::Proposal), unasked),
            (person(Fallback::Preview), "a rule leaves this to people"),
            (WritePolicy::Preview, "a rule leaves this to people"),
            (
                WritePolicy::DryRun,
                "the level is dry_run, set by WIKI_CONFIRM (environment)",
            ),
            (
                WritePolicy::Review {
                    limit: Duration::ZERO,
                },
                "the level is review, set by WIKI_CONFIRM (environment)",
            ),
        ] {
            assert_eq!(told(writes), expected);
        }
    }
}
