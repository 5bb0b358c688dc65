//! Defines the faults that a check of a log can find.

use std::fmt;

use super::super::entry::chain::ChainBreak;
use super::super::{AnchorWrong, ApprovalId, CallId, KeptState, ProposalId};

/// One thing that is wrong with a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogFinding {
    /// The chain of a run does not hold.
    #[error("{run}, {broken}")]
    Broken {
        /// The run's file.
        run: String,
        /// Its first line that does not hold.
        broken: ChainBreak,
    },
    /// A run's file is missing.
    #[error("{run} is missing: {witness} saw it, and no purge names it")]
    MissingRun {
        /// The run's file.
        run: String,
        /// The source that saw it.
        witness: Evidence,
    },
    /// Numbers of runs were given that no run has.
    #[error("{}: a number goes to a run that begins, and no purge names one", numbered(*first, *last))]
    MissingNumbers {
        /// The first.
        first: u64,
        /// The last.
        last: u64,
    },
    /// Two runs have one number.
    #[error("{run} has the number {number}, which is that of {other}: one of them was put there")]
    SameNumber {
        /// The run's file.
        run: String,
        /// The file of the other one.
        other: String,
        /// Their number.
        number: u64,
    },
    /// The file that counts runs is missing, or holds no number.
    #[error(
        "the count of runs (runs.count) is missing or holds no number, though runs have numbers"
    )]
    NoCount,
    /// A line of anchors is not what was written there.
    #[error("{file}, line {line}: {wrong}")]
    Anchor {
        /// The file of anchors.
        file: String,
        /// The line, from 1.
        line: u64,
        /// Its fault.
        wrong: AnchorWrong,
    },
    /// There are kept pages, and no run at all.
    #[error("no run is there, though pages were kept ({pages}), which only runs do")]
    NoRuns {
        /// Number of kept pages.
        pages: u64,
    },
    /// A run is shorter than it was.
    #[error("{run} is shorter than {witness} saw it: {length} of {seen} bytes")]
    Shorter {
        /// The run's file.
        run: String,
        /// Its length up to the end of its last whole line, in bytes.
        length: u64,
        /// Its length when it was seen, in bytes.
        seen: u64,
        /// The source that saw it.
        witness: Evidence,
    },
    /// A run's chain is valid, but its lines were replaced.
    #[error("{run} was rewritten: {witness} saw another line end at byte {at}")]
    Rewritten {
        /// The run's file.
        run: String,
        /// Offset of the end of the line that was seen, in bytes.
        at: u64,
        /// The source that saw it.
        witness: Evidence,
    },
    /// A run's file is not named like its lines: it was copied or renamed.
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
    /// A write names no approval, though something had to approve it.
    #[error("{run}, line {line}: the write of call {call} names no approval that it spent")]
    Unconfirmed {
        /// The run's file.
        run: String,
        /// The line of its attempt, from 1.
        line: u64,
        /// Its call.
        call: CallId,
    },
    /// A write names an approval that nobody gave.
    #[error(
        "{run}, line {line}: the write of call {call} names {approval} as its approval, and no record gives this approval"
    )]
    UnknownApproval {
        /// The run's file.
        run: String,
        /// The line of its attempt, from 1.
        line: u64,
        /// Its call.
        call: CallId,
        /// The approval that it names.
        approval: ApprovalId,
    },
    /// The proposal file is invalid.
    #[error("the proposal {id} cannot be read: its file is damaged, or a newer version wrote it")]
    BadProposal {
        /// Its id.
        id: ProposalId,
    },
    /// The proposal file differs from the log.
    #[error("the proposal {id} was changed: its file is not as on record in {}", members.join(", "))]
    ChangedProposal {
        /// Its id.
        id: ProposalId,
        /// The members of the file that differ.
        members: Vec<&'static str>,
    },
    /// There is a proposal file without a record of its making.
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

impl LogFinding {
    /// The word for it, for programs.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Broken { .. } => "broken",
            Self::MissingRun { .. } => "missing_run",
            Self::MissingNumbers { .. } => "missing_numbers",
            Self::SameNumber { .. } => "same_number",
            Self::NoCount => "no_count",
            Self::Anchor { .. } => "anchor",
            Self::NoRuns { .. } => "no_runs",
            Self::Shorter { .. } => "shorter",
            Self::Rewritten { .. } => "rewritten",
            Self::Misnamed { .. } => "misnamed",
            Self::ChangedPage { .. } => "changed_page",
            Self::MissingPage { .. } => "missing_page",
            Self::Unconfirmed { .. } => "unconfirmed",
            Self::UnknownApproval { .. } => "unknown_approval",
            Self::BadProposal { .. } => "bad_proposal",
            Self::ChangedProposal { .. } => "changed_proposal",
            Self::UnrecordedProposal { .. } => "unrecorded_proposal",
            Self::MissingProposal { .. } => "missing_proposal",
        }
    }

    /// The affected file.
    pub fn file(&self) -> String {
        match self {
            Self::Broken { run, .. }
            | Self::MissingRun { run, .. }
            | Self::Shorter { run, .. }
            | Self::Rewritten { run, .. }
            | Self::SameNumber { run, .. }
            | Self::Unconfirmed { run, .. }
            | Self::UnknownApproval { run, .. }
            | Self::Misnamed { run } => run.clone(),
            Self::MissingNumbers { .. } | Self::NoRuns { .. } => "runs".to_owned(),
            Self::NoCount => "runs.count".to_owned(),
            Self::Anchor { file, .. } => file.clone(),
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

/// That runs are missing, by their numbers.
fn numbered(first: u64, last: u64) -> String {
    if first == last {
        format!("run number {first} is missing")
    } else {
        format!("the runs number {first} to {last} are missing")
    }
}

/// A source that saw a run as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// Another run, when it began or purged.
    Run(String),
    /// The heads that were kept elsewhere.
    Heads,
    /// The anchors.
    Anchors,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(run) => f.write_str(run),
            Self::Heads => f.write_str("the list of heads"),
            Self::Anchors => f.write_str("an anchor"),
        }
    }
}
