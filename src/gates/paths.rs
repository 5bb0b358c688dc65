//! The gate *paths*: every place that a change touches lies where it may be written.

use super::{ChangeSet, Enabled, Gate, Gated, Policy, Refusal};

/// A set all of whose places may be written.
#[derive(Debug)]
#[must_use]
pub struct AllowedSet<'p> {
    pub(super) policy: &'p Policy,
    pub(super) set: ChangeSet,
    pub(super) has_token: bool,
}

impl AllowedSet<'_> {
    /// The set.
    pub const fn set(&self) -> &ChangeSet {
        &self.set
    }
}

/// Opens if each change of a set touches only places that [may be written](super::WriteScope::fault_of).
///
/// # Errors
/// `PATH_DENIED` or `PATH_NOT_ALLOWED`.
#[expect(
    clippy::needless_pass_by_value,
    reason = "a proof is used up by the gate it opens"
)]
pub fn paths(enabled: Enabled<'_>, set: ChangeSet) -> Gated<AllowedSet<'_>> {
    let Enabled { policy, has_token } = enabled;
    let places = policy.places();
    let fault = set.iter().find_map(|one| places.fault_of(&one.change));
    match fault {
        Some(failure) => Err(Refusal::at(Gate::Paths, failure)),
        None => Ok(AllowedSet {
            policy,
            set,
            has_token,
        }),
    }
}
