//! The gate *dry run*: whether a write goes on or ends as its preview.

use super::policy::{ConfirmMode, Policy};

/// How far a policy lets any write go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It ends as a preview that no call can confirm; a person may apply it later.
    DryRun,
    /// It ends as a preview with a token that confirms it.
    Preview,
    /// A person must be asked first.
    Ask,
    /// It goes on to the gate *confirm*.
    Send,
}

/// Decides how far a write goes, with or without a confirmation: a preview's token or a person's
/// yes. The static token does not matter here, since the gate *enabled* has checked it.
#[must_use]
pub const fn dry_run(policy: &Policy, has_confirm: bool) -> Verdict {
    match policy.confirm {
        _ if policy.is_dry_run => Verdict::DryRun,
        ConfirmMode::Review { .. } => Verdict::DryRun,
        ConfirmMode::Token(_) => Verdict::Send,
        _ if has_confirm => Verdict::Send,
        ConfirmMode::Person { .. } => Verdict::Ask,
        ConfirmMode::Preview | ConfirmMode::Operator => Verdict::Preview,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Verdict, dry_run};
    use crate::gates::{ConfirmMode, Fallback, Policy, StaticToken};

    #[test]
    fn each_way_to_confirm_lets_a_write_come_as_far_as_what_it_brings() {
        let token = || ConfirmMode::Token(StaticToken::new("open sesame, please".into()).unwrap());
        let person = || ConfirmMode::Person {
            limit: Duration::from_secs(1),
            fallback: Fallback::None,
        };
        let review = ConfirmMode::Review {
            limit: Duration::from_secs(1),
        };
        for (confirm, without, with) in [
            (token(), Verdict::Send, Verdict::Send),
            (ConfirmMode::Preview, Verdict::Preview, Verdict::Send),
            (ConfirmMode::Operator, Verdict::Preview, Verdict::Send),
            (person(), Verdict::Ask, Verdict::Send),
            (review, Verdict::DryRun, Verdict::DryRun),
        ] {
            let mut policy = Policy {
                is_enabled: true,
                is_dry_run: false,
                confirm,
                ..Policy::default()
            };
            assert_eq!(dry_run(&policy, false), without, "{policy:?}");
            assert_eq!(dry_run(&policy, true), with, "{policy:?}");
            policy.is_dry_run = true;
            for has_confirm in [false, true] {
                assert_eq!(dry_run(&policy, has_confirm), Verdict::DryRun, "{policy:?}");
            }
        }
    }

    #[test]
    fn the_default_lets_nothing_out() {
        for has_confirm in [false, true] {
            assert_eq!(dry_run(&Policy::default(), has_confirm), Verdict::DryRun);
        }
    }
}
