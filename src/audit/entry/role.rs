//! Defines the roles of named clients.

use serde::{Deserialize, Serialize};

/// The role of a named client; each gives access to one address only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A program that calls tools, at `/mcp`.
    #[default]
    Agent,
    /// A person who decides on what waits, at `/review`.
    Reviewer,
    /// A person who reads all of the record and decides nothing, at `/review`.
    Auditor,
    /// A program that collects metrics, at `/metrics`.
    Metrics,
}

impl Role {
    /// The word for it, as in the tokens file and on record.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Reviewer => "reviewer",
            Self::Auditor => "auditor",
            Self::Metrics => "metrics",
        }
    }

    /// True if a person signs in with a link; everybody else sends a token with each request.
    #[must_use]
    pub const fn signs_in(self) -> bool {
        matches!(self, Self::Reviewer | Self::Auditor)
    }

    /// True for the role of clients that name none.
    #[must_use]
    pub const fn is_default(&self) -> bool {
        matches!(self, Self::Agent)
    }
}
