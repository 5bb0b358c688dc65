//! The gate *paths*: every place that a change touches lies where it may be written.

use super::{ChangeSet, Enabled, Gate, Gated, Refusal};

/// A set all of whose places may be written.
#[derive(Debug)]
#[must_use]
pub struct AllowedSet<'p> {
    pub(super) enabled: Enabled<'p>,
    pub(super) set: ChangeSet,
}

impl AllowedSet<'_> {
    /// The set.
    pub const fn set(&self) -> &ChangeSet {
        &self.set
    }
}

/// Opens if each change of a set touches only places that [may be written](super::Policy::fault_of).
///
/// # Errors
/// `PATH_DENIED` or `PATH_NOT_ALLOWED`.
pub fn paths(enabled: Enabled<'_>, set: ChangeSet) -> Gated<AllowedSet<'_>> {
    let policy = enabled.policy;
    let fault = set.iter().find_map(|one| policy.fault_of(&one.change));
    match fault {
        Some(failure) => Err(Refusal::at(Gate::Paths, failure)),
        None => Ok(AllowedSet { enabled, set }),
    }
}
