//! Models the refusal of a write at a gate.

use crate::error::Failure;
use crate::words::words;

words! {
    /// The gate at which a write was stopped, and the word for it on record.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Gate: as_str, ALL {
        /// The arguments were invalid.
        Input = "input",
        /// Writes are switched off.
        Enabled = "enabled",
        /// The page could not be read, or the change could not be made from it.
        Change = "change",
        /// The page's place, or its new place, may not be written.
        Paths = "paths",
        /// A rule of the operator denies it.
        Rules = "rules",
        /// Writes end as previews.
        DryRun = "dry_run",
        /// The write was not confirmed.
        Confirm = "confirm",
        /// The operator's own yes at a terminal.
        Operator = "operator",
        /// The attempt could not be put on record, or other writes took too long.
        Record = "record",
    }
}

/// A stopped write.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The gate at which it was stopped.
    pub gate: Gate,
    /// The answer to the caller.
    pub failure: Failure,
}

/// The answer of a gate.
pub type Gated<T> = Result<T, Refusal>;

impl Refusal {
    /// A refusal at a gate.
    pub const fn at(gate: Gate, failure: Failure) -> Self {
        Self { gate, failure }
    }

    /// Makes refusals at a gate.
    pub fn by(gate: Gate) -> impl Fn(Failure) -> Self {
        move |failure| Self::at(gate, failure)
    }
}

#[cfg(test)]
mod tests {
    use super::Gate;

    #[test]
    fn each_gate_has_its_word_in_the_order_in_which_a_write_meets_them() {
        let words = Gate::ALL.map(Gate::as_str);
        assert_eq!(
            words,
            [
                "input", "enabled", "change", "paths", "rules", "dry_run", "confirm", "operator",
                "record"
            ]
        );
    }
}
