//! What is wrong with a log.

use std::fmt;

use super::KeptState;
use super::chain::Broken;

/// One thing that is wrong with a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// The chain of a run does not hold.
    #[error("{run}, {broken}")]
    Broken {
        /// The run's file.
        run: String,
        /// Its first line that does not hold.
        broken: Broken,
    },
    /// A run's file is missing.
    #[error("{run} is missing: {witness} saw it, and no purge names it")]
    MissingRun {
        /// The run's file.
        run: String,
        /// Who saw it.
        witness: Witness,
    },
    /// A run is shorter than it was.
    #[error("{run} is shorter than {witness} saw it: {length} of {seen} bytes")]
    Shorter {
        /// The run's file.
        run: String,
        /// How long it is up to the end of its last whole line, in bytes.
        length: u64,
        /// How long it was.
        seen: u64,
        /// Who saw it.
        witness: Witness,
    },
    /// A run's lines hold, but are not those that were there.
    #[error("{run} was rewritten: {witness} saw another line end at byte {at}")]
    Rewritten {
        /// The run's file.
        run: String,
        /// Where the line ended.
        at: u64,
        /// Who saw it.
        witness: Witness,
    },
    /// A run's file bears another name than its lines: it is a copy, or was renamed.
    #[error("{run} is not the file of the run in its first line: a copy, or renamed")]
    Misnamed {
        /// The file.
        run: String,
    },
    /// A kept page is not what its name says.
    #[error("the kept page {state} was changed: its content does not match its name")]
    ChangedPage {
        /// Its name.
        state: KeptState,
    },
    /// A kept page is missing.
    #[error("the kept page {state} is missing: a record names it, and no purge does")]
    MissingPage {
        /// Its name.
        state: KeptState,
    },
}

impl Wrong {
    /// The word for it, for programs.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Broken { .. } => "broken",
            Self::MissingRun { .. } => "missing_run",
            Self::Shorter { .. } => "shorter",
            Self::Rewritten { .. } => "rewritten",
            Self::Misnamed { .. } => "misnamed",
            Self::ChangedPage { .. } => "changed_page",
            Self::MissingPage { .. } => "missing_page",
        }
    }

    /// The file that it is about.
    #[must_use]
    pub fn file(&self) -> String {
        match self {
            Self::Broken { run, .. }
            | Self::MissingRun { run, .. }
            | Self::Shorter { run, .. }
            | Self::Rewritten { run, .. }
            | Self::Misnamed { run } => run.clone(),
            Self::ChangedPage { state } | Self::MissingPage { state } => {
                format!("{state}.json.gz")
            }
        }
    }
}

/// Who saw a run as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Witness {
    /// Another run, when it began or purged.
    Run(String),
    /// The heads that were kept elsewhere.
    Heads,
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(run) => f.write_str(run),
            Self::Heads => f.write_str("the list of heads"),
        }
    }
}
