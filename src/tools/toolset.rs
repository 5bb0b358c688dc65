//! Toolsets: groups of tools that are offered or left out together.

use crate::nearest::{did_you_mean, nearest};
use crate::words::words;

words! {
    /// A group of tools.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Toolset: name, ALL {
        /// The ten tools; the default.
        Pages = "pages",
        /// Undoing writes.
        Undo = "undo",
        /// The state of proposals.
        Proposals = "proposals",
        /// Sets of changes.
        Drafts = "drafts",
        /// The memories of clients.
        Memory = "memory",
        /// The comments of pages.
        Comments = "comments",
        /// The files beside the pages.
        Assets = "assets",
        /// Handing on a part of one's rights.
        Delegate = "delegate",
        /// The operator's own checks.
        Checks = "checks",
        /// The other wikis of the server.
        Sites = "sites",
    }
}

impl Toolset {
    /// Reads a comma-separated list of names, without duplicates.
    ///
    /// # Errors
    /// A sentence that names the unknown toolset.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, String> {
        let mut toolsets = Vec::new();
        for name in text.trim_end_matches(',').split(',').map(str::trim) {
            let toolset = Self::ALL
                .into_iter()
                .find(|toolset| toolset.name() == name)
                .ok_or_else(|| {
                    let names = Self::ALL.map(Self::name);
                    let meant = did_you_mean(nearest(name, names, 0.0));
                    let all = names.join(", ");
                    format!("has {name:?}, which is no toolset{meant}; there are {all}")
                })?;
            if !toolsets.contains(&toolset) {
                toolsets.push(toolset);
            }
        }
        Ok(toolsets)
    }
}
