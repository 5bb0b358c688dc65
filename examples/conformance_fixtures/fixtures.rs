//! All that is fixed in the scenarios: `fixtures.json`, read.

use std::collections::BTreeMap;

use rmcp::model::{
    CallToolResult, ElicitRequestParams, InputRequests, Prompt, Resource, ResourceTemplate, Tool,
};
use serde::Deserialize;

/// What the scenarios look for, by name.
#[derive(Debug, Deserialize)]
pub(crate) struct Fixtures {
    pub(crate) tools: Vec<Tool>,
    /// Answers of tools that always answer the same.
    pub(crate) calls: BTreeMap<String, CallToolResult>,
    /// Questions to a person within a call (up to 2025-11-25).
    pub(crate) elicitations: BTreeMap<String, ElicitRequestParams>,
    /// Questions between calls (from 2026-07-28 on), round by round.
    pub(crate) rounds: BTreeMap<String, Vec<InputRequests>>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
    /// An image of one pixel, in base 64.
    pub(crate) image: String,
}

impl Fixtures {
    pub(crate) fn read() -> serde_json::Result<Self> {
        serde_json::from_str(include_str!("fixtures.json"))
    }
}
