//! The gate *dry run*: whether a write goes on or ends as its preview.

use super::paths::Allowed;
use super::policy::{ConfirmMode, Policy};
use crate::change::Change;

/// What becomes of a write that the earlier gates let through.
#[derive(Debug)]
#[must_use]
pub enum Verdict {
    /// It ends as a preview that nothing can confirm.
    DryRun(Allowed),
    /// It ends as a preview with a token that confirms it.
    Preview(Allowed),
    /// A person must be asked first.
    Ask(Allowed),
    /// It goes on to the gate *confirm*.
    Write(Cleared),
}

/// A change that is no dry run, and of which somebody has a preview where one is due.
#[derive(Debug)]
#[must_use]
pub struct Cleared {
    pub(super) allowed: Allowed,
}

impl Cleared {
    /// The change.
    #[must_use]
    pub const fn change(&self) -> &Change {
        self.allowed.change()
    }
}

impl Policy {
    /// Whether a call may come as far as being sent, with or without what confirms it: a
    /// token, a person's yes.
    #[must_use]
    pub const fn lets_out(&self, has_confirm: bool) -> bool {
        match self.confirm {
            _ if self.is_dry_run => false,
            ConfirmMode::Preview | ConfirmMode::Operator | ConfirmMode::Person { .. } => {
                has_confirm
            }
            ConfirmMode::Token(_) => true,
        }
    }
}

/// Decides whether a write goes on.
pub const fn dry_run(policy: &Policy, allowed: Allowed, has_confirm: bool) -> Verdict {
    if policy.lets_out(has_confirm) {
        Verdict::Write(Cleared { allowed })
    } else if policy.is_dry_run {
        Verdict::DryRun(allowed)
    } else if matches!(policy.confirm, ConfirmMode::Person { .. }) {
        Verdict::Ask(allowed)
    } else {
        Verdict::Preview(allowed)
    }
}
