//! Toolsets: groups of tools that are offered or left out together.

use std::fmt;

use crate::nearest::{did_you_mean, nearest};

/// A group of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolset {
    /// The ten tools; the default.
    Pages,
    /// Undoing writes.
    Undo,
    /// The state of proposals.
    Proposals,
    /// Sets of changes.
    Drafts,
    /// The memories of clients.
    Memory,
    /// The comments of pages.
    Comments,
    /// The files beside the pages.
    Assets,
    /// Handing on a part of one's rights.
    Delegate,
    /// The operator's own checks.
    Checks,
    /// The other wikis of the server.
    Sites,
}

impl Toolset {
    /// All toolsets.
    pub const ALL: [Self; 10] = [
        Self::Pages,
        Self::Undo,
        Self::Proposals,
        Self::Drafts,
        Self::Memory,
        Self::Comments,
        Self::Assets,
        Self::Delegate,
        Self::Checks,
        Self::Sites,
    ];

    /// Its name in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Undo => "undo",
            Self::Proposals => "proposals",
            Self::Drafts => "drafts",
            Self::Memory => "memory",
            Self::Comments => "comments",
            Self::Assets => "assets",
            Self::Delegate => "delegate",
            Self::Checks => "checks",
            Self::Sites => "sites",
        }
    }

    /// Reads a comma-separated list of names, without duplicates.
    ///
    /// # Errors
    /// A sentence that names the unknown toolset.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, String> {
        let mut toolsets = Vec::new();
        for name in text.split(',').map(str::trim) {
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

impl fmt::Display for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
