//! Defines the roles of named clients.

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// The role of a named client; each gives access to one address only.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Role: as_str, ALL {
        /// A program that calls tools, at `/mcp`.
        #[default]
        Agent = "agent",
        /// A person who decides on what waits, at `/review`.
        Reviewer = "reviewer",
        /// A person who reads all of the record and decides nothing, at `/review`.
        Auditor = "auditor",
        /// A program that collects metrics, at `/metrics`.
        Metrics = "metrics",
    }
}

impl Role {
    /// True if a person signs in with a link; everybody else sends a token with each request.
    pub const fn signs_in(self) -> bool {
        matches!(self, Self::Reviewer | Self::Auditor)
    }

    /// True for the role of clients that name none.
    pub const fn is_default(&self) -> bool {
        matches!(self, Self::Agent)
    }
}
