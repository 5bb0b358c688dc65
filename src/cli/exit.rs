//! Every exit code, with a sentence each.

use std::process::ExitCode;

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It did what was asked for.
    Done,
    /// It failed.
    Failed,
    /// The command line or a setting is wrong.
    Usage,
    /// It was interrupted (SIGINT).
    Interrupted,
    /// It was told to end (SIGTERM).
    Terminated,
}

impl Exit {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// What the code means, for the documentation.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "Done.",
            Self::Failed => "Failed.",
            Self::Usage => "Wrong usage, or a setting that is missing or bad.",
            Self::Interrupted => "Interrupted (SIGINT).",
            Self::Terminated => "Told to end (SIGTERM).",
        }
    }

    /// The number.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
