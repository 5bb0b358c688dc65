//! Every exit code, with a sentence each.

use std::process::ExitCode;

use crate::error::Code;
use crate::words::words;

words! {
    /// The exit status of the program.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Exit: meaning, ALL {
        /// It did what was asked for.
        Done = "Done.",
        /// It failed.
        Failed = "Failed.",
        /// The command line or a setting is wrong.
        Usage = "Wrong usage, or a setting that is missing or bad.",
        /// A gate or a conflict refused.
        Refused = "Refused by a gate or a conflict; nothing was sent.",
        /// The outcome of a write is unknown, or it was applied in part.
        Unsettled = "The outcome of a write is unknown, or it was applied in part.",
        /// `audit verify` or `doctor` found something wrong.
        Wrong = "`audit verify` or `doctor` found something wrong.",
        /// `doctor` found warnings only.
        Warned = "`doctor` found warnings only.",
        /// It was interrupted (SIGINT).
        Interrupted = "Interrupted (SIGINT).",
        /// It was terminated (SIGTERM).
        Terminated = "Told to end (SIGTERM).",
    }
}

impl Exit {
    /// The number.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Unsettled => 4,
            Self::Wrong => 5,
            Self::Warned => 6,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// The exit that goes with a failure.
    pub const fn for_code(code: Code) -> Self {
        match code {
            Code::OutcomeUnknown | Code::PartlyApplied => Self::Unsettled,
            Code::MutationsDisabled
            | Code::WritesPaused
            | Code::ConfirmRequired
            | Code::ConfirmMismatch
            | Code::ConfirmExpired
            | Code::ApprovalDenied
            | Code::PathNotAllowed
            | Code::PathDenied
            | Code::RuleDenied
            | Code::CommandNotAllowed
            | Code::DelegationDenied
            | Code::EditConflict
            | Code::EditNotApplicable
            | Code::PageExists
            | Code::FieldUnreadable
            | Code::NothingToUndo
            | Code::ProposalOutdated => Self::Refused,
            Code::InvalidInput | Code::NotConfigured => Self::Usage,
            Code::PageNotFound
            | Code::AmbiguousPage
            | Code::SectionNotFound
            | Code::AmbiguousSection
            | Code::VersionNotFound
            | Code::PermissionDenied
            | Code::KeyRejected
            | Code::ApiDisabled
            | Code::RateLimited
            | Code::WikiUnavailable
            | Code::Timeout
            | Code::NotApplied
            | Code::TooLarge
            | Code::AuditUnavailable
            | Code::WikiError
            | Code::InternalError => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
