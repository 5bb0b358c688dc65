//! One thing that a check saw, and what to do about it.

use serde::Serialize;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FindingLevel {
    /// As it should be.
    Good,
    /// Not looked at.
    Skipped,
    /// It works, and is worth a thought.
    Warning,
    /// It does not work.
    Wrong,
}

/// One thing that was seen.
#[derive(Debug, Serialize)]
pub(super) struct DoctorFinding {
    pub(super) verdict: FindingLevel,
    pub(super) seen: String,
    /// The one thing to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) todo: Option<String>,
}

impl DoctorFinding {
    pub(super) fn good(seen: impl Into<String>) -> Self {
        Self::new(FindingLevel::Good, seen, None)
    }

    pub(super) fn skipped(reason: impl Into<String>) -> Self {
        Self::new(FindingLevel::Skipped, reason, None)
    }

    pub(super) fn warning<'a>(seen: impl Into<String>, todo: impl Into<Option<&'a str>>) -> Self {
        Self::new(FindingLevel::Warning, seen, todo.into())
    }

    pub(super) fn wrong<'a>(seen: impl Into<String>, todo: impl Into<Option<&'a str>>) -> Self {
        Self::new(FindingLevel::Wrong, seen, todo.into())
    }

    fn new(verdict: FindingLevel, seen: impl Into<String>, todo: Option<&str>) -> Self {
        Self {
            verdict,
            seen: seen.into(),
            todo: todo.map(str::to_owned),
        }
    }
}
