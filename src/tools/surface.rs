//! The tool surface: which tools a server offers.

use super::nearest::{did_you_mean, nearest};
use super::registry::{Known, TOOLS};
use super::toolset::Toolset;

/// The tools that a server offers, in the order in which they are listed.
#[derive(Debug, Clone, Default)]
pub struct Surface(pub(super) Vec<&'static Known>);

impl Surface {
    /// The tools of some toolsets.
    #[must_use]
    pub fn of(toolsets: &[Toolset]) -> Self {
        let of_set = |set: &Toolset| TOOLS.iter().filter(|tool| tool.toolset == *set).collect();
        Self(toolsets.iter().flat_map::<Vec<_>, _>(of_set).collect())
    }

    /// Whether a tool is on it.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| known.name == name)
    }

    /// Adds single tools, comma-separated.
    ///
    /// # Errors
    /// A fragment that names the unknown tool.
    pub fn add(&mut self, names: &str) -> Result<(), String> {
        for tool in parse_list(names)? {
            if !self.0.iter().any(|known| known.name == tool.name) {
                self.0.push(tool);
            }
        }
        Ok(())
    }

    /// Leaves single tools out, comma-separated.
    ///
    /// # Errors
    /// A fragment that names the unknown tool.
    pub fn exclude(&mut self, names: &str) -> Result<(), String> {
        let excluded = parse_list(names)?;
        self.0
            .retain(|tool| excluded.iter().all(|excluded| excluded.name != tool.name));
        Ok(())
    }

    /// The first tool that another surface lacks.
    #[must_use]
    pub fn beyond(&self, other: &Self) -> Option<&'static str> {
        let lacks = |tool: &&&'static Known| !other.0.iter().any(|known| known.name == tool.name);
        self.0.iter().find(lacks).map(|tool| tool.name)
    }

    /// Leaves out every tool that can change the wiki.
    pub fn keep_reading(&mut self) {
        self.0.retain(|tool| !tool.kind.writes());
    }

    /// Whether a tool that can change the wiki is left.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.0.iter().any(|tool| tool.kind.writes())
    }

    /// Whether no tool is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

const PREFIX: &str = "wikijs_";

fn parse_list(names: &str) -> Result<Vec<&'static Known>, String> {
    let known = |name: &str| {
        TOOLS.iter().find(|tool| tool.name == name).ok_or_else(|| {
            // The common prefix would make all names look alike.
            let bare = |name: &'static str| name.trim_start_matches(PREFIX);
            let near = nearest(
                name.trim_start_matches(PREFIX),
                TOOLS.iter().map(|tool| bare(tool.name)),
                0.0,
            );
            let near = near.map(|bare| [PREFIX, bare].concat());
            format!("has {name:?}, which is no tool{}", did_you_mean(near))
        })
    };
    names.split(',').map(str::trim).map(known).collect()
}
