//! The gate *dry run*: whether a write goes on or ends as its preview.

use super::policy::{ConfirmMode, Policy};

/// What becomes of a write that the earlier gates let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It ends as a preview that nothing can confirm.
    DryRun,
    /// It ends as a preview with a token that confirms it.
    Preview,
    /// It goes on to the gate *confirm*.
    Write,
}

/// Decides whether a write goes on.
#[must_use]
pub const fn dry_run(policy: &Policy, has_confirm: bool) -> Verdict {
    match (policy.is_dry_run, &policy.confirm) {
        (true, _) => Verdict::DryRun,
        (false, ConfirmMode::Preview | ConfirmMode::Operator) if !has_confirm => Verdict::Preview,
        (false, _) => Verdict::Write,
    }
}
