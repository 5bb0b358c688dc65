//! Models the refusal of a write at a gate.

use crate::error::Failure;

/// The gate at which a write was stopped, and the word for it on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// The arguments were invalid.
    Input,
    /// Writes are switched off.
    Enabled,
    /// The page could not be read, or the change could not be made from it.
    Change,
    /// The page's place, or its new place, may not be written.
    Paths,
    /// A rule of the operator denies it.
    Rules,
    /// Writes end as previews.
    DryRun,
    /// The write was not confirmed.
    Confirm,
    /// The operator's own yes at a terminal.
    Operator,
    /// The attempt could not be put on record, or other writes took too long.
    Record,
}

impl Gate {
    /// All gates, in the order in which a write meets them.
    pub const ALL: [Self; 9] = [
        Self::Input,
        Self::Enabled,
        Self::Change,
        Self::Paths,
        Self::Rules,
        Self::DryRun,
        Self::Confirm,
        Self::Operator,
        Self::Record,
    ];

    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Enabled => "enabled",
            Self::Change => "change",
            Self::Paths => "paths",
            Self::Rules => "rules",
            Self::DryRun => "dry_run",
            Self::Confirm => "confirm",
            Self::Operator => "operator",
            Self::Record => "record",
        }
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

impl Refusal {
    /// A refusal at a gate.
    #[must_use]
    pub const fn at(gate: Gate, failure: Failure) -> Self {
        Self { gate, failure }
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
