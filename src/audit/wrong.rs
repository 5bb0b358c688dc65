//! What is wrong with a log.

use std::fmt;

use super::chain::Broken;
use super::{KeptState, ProposalId};

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
    /// There are kept pages, and no run at all.
    #[error("no run is there, though pages were kept ({pages}), which only runs do")]
    NoRuns {
        /// How many kept pages there are.
        pages: u64,
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
    /// The file of a proposal is none.
    #[error("the proposal {id} cannot be read: its file is damaged, or a newer version wrote it")]
    BadProposal {
        /// Its id.
        id: ProposalId,
    },
    /// The file of a proposal says something else than the log.
    #[error("the proposal {id} was changed: its file is not as on record in {}", members.join(", "))]
    ChangedProposal {
        /// Its id.
        id: ProposalId,
        /// The members of the file that differ.
        members: Vec<&'static str>,
    },
    /// There is the file of a proposal, and nothing tells of its making.
    #[error("the proposal {id} is not on record: no record tells of its making")]
    UnrecordedProposal {
        /// Its id.
        id: ProposalId,
    },
    /// The file of a proposal is missing.
    #[error(
        "the file of the proposal {id} is missing: on record it is open, and no purge names it"
    )]
    MissingProposal {
        /// Its id.
        id: ProposalId,
    },
}

impl Wrong {
    /// The word for it, for programs.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Broken { .. } => "broken",
            Self::MissingRun { .. } => "missing_run",
            Self::NoRuns { .. } => "no_runs",
            Self::Shorter { .. } => "shorter",
            Self::Rewritten { .. } => "rewritten",
            Self::Misnamed { .. } => "misnamed",
            Self::ChangedPage { .. } => "changed_page",
            Self::MissingPage { .. } => "missing_page",
            Self::BadProposal { .. } => "bad_proposal",
            Self::ChangedProposal { .. } => "changed_proposal",
            Self::UnrecordedProposal { .. } => "unrecorded_proposal",
            Self::MissingProposal { .. } => "missing_proposal",
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
            Self::NoRuns { .. } => "runs".to_owned(),
            Self::ChangedPage { state } | Self::MissingPage { state } => {
                format!("{state}.json.gz")
            }
            Self::BadProposal { id }
            | Self::ChangedProposal { id, .. }
            | Self::UnrecordedProposal { id }
            | Self::MissingProposal { id } => format!("{id}.json"),
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
