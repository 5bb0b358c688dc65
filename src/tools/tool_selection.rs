//! The tool surface: which tools a server offers.

use super::any_tool::AnyTool;
use super::registry::{DuplicateTool, Registry, TOOLS};
use super::submit_draft::SubmitDraft;
use super::tool::Tool as _;
use super::toolset::Toolset;
use crate::custom::{NAME_FORM, is_custom_name};
use crate::nearest::{did_you_mean, nearest};

/// The tools that a server offers, in the order in which they are listed.
#[derive(Debug, Clone, Default)]
pub struct ToolSelection(pub(super) Vec<&'static AnyTool>, pub(super) CustomChoice);

/// The selection of custom tools that are offered.
#[derive(Debug, Clone, Default)]
pub(super) struct CustomChoice {
    /// The only ones; all, if it is absent.
    pub(super) only: Option<Vec<String>>,
    /// Those that are named, so that they must be there.
    pub(super) named: Vec<String>,
    /// Those that are left out.
    pub(super) excluded: Vec<String>,
    /// Our own tools that are left out by name: no recipe brings them back.
    pub(super) without: Vec<&'static str>,
    /// True if those that write are left out.
    pub(super) only_reading: bool,
}

/// The names of the tools of some toolsets.
pub fn tools_of(toolsets: &[Toolset]) -> impl Iterator<Item = &'static str> {
    let is_wanted = |tool: &&AnyTool| toolsets.contains(&tool.toolset);
    TOOLS.iter().filter(is_wanted).map(|tool| tool.name)
}

impl ToolSelection {
    /// The tools of some toolsets.
    pub fn new(toolsets: &[Toolset]) -> Self {
        let of_set = |set: &Toolset| TOOLS.iter().filter(|tool| tool.toolset == *set).collect();
        let known = toolsets.iter().flat_map::<Vec<_>, _>(of_set).collect();
        Self(known, CustomChoice::default())
    }

    /// True if it contains a tool.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| known.name == name)
    }

    /// Adds single tools, comma-separated.
    ///
    /// # Errors
    /// A fragment that names the unknown tool.
    pub fn add(&mut self, names: &str) -> Result<(), String> {
        let (tools, customs) = parse_list(names)?;
        self.1.named.extend(customs.iter().cloned());
        if let Some(only) = &mut self.1.only {
            only.extend(customs);
        }
        for tool in tools {
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
        let (excluded, customs) = parse_list(names)?;
        self.1.named.extend(customs.iter().cloned());
        self.1.excluded.extend(customs);
        self.1.without.extend(excluded.iter().map(|tool| tool.name));
        self.0
            .retain(|tool| excluded.iter().all(|excluded| excluded.name != tool.name));
        Ok(())
    }

    /// Offers of the custom tools only those that are added by name.
    #[must_use]
    pub fn of_single_tools(mut self) -> Self {
        self.1.only.get_or_insert_default();
        self
    }

    /// The first tool that another surface lacks.
    pub fn beyond(&self, other: &Self) -> Option<String> {
        let lacks = |tool: &&&'static AnyTool| !other.0.iter().any(|known| known.name == tool.name);
        let own = self.0.iter().find(lacks).map(|tool| tool.name.to_owned());
        let only = self.1.only.iter().flatten();
        own.or_else(|| only.into_iter().find(|name| !other.1.offers(name)).cloned())
    }

    /// True if it leaves out something that another selection offers and that can change the wiki;
    /// of custom tools, if it leaves out any.
    pub fn writes_less_than(&self, other: &Self) -> bool {
        let writes = |name: &str| {
            let known = TOOLS.iter().find(|known| known.name == name);
            known.is_some_and(|known| known.kind.writes())
        };
        let is_lost = |known: &&'static AnyTool| known.kind.writes() && !self.has(known.name);
        let (own, before) = (&self.1, &other.1);
        let has_fewer = match (&own.only, &before.only) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(own), Some(before)) => before.iter().any(|name| !own.contains(name)),
        };
        let is_new = |name: &&str| !before.without.contains(name) && writes(name);
        other.0.iter().any(is_lost)
            || has_fewer
            || own.excluded.iter().any(|name| before.offers(name))
            || own.without.iter().any(is_new)
            || (own.only_reading && !before.only_reading)
    }

    /// Leaves out of the custom tools what another surface leaves out, too.
    pub fn narrow_customs(&mut self, other: &Self) {
        let (own, other) = (&mut self.1, &other.1);
        if own.only.is_none() {
            own.only.clone_from(&other.only);
        }
        own.excluded.extend(other.excluded.iter().cloned());
        own.without.extend(&other.without);
        own.only_reading |= other.only_reading;
    }

    /// True if a custom tool is offered, if there is one of this name.
    pub fn offers_custom(&self, name: &str) -> bool {
        self.1.offers(name)
    }

    /// The custom tools that are named, so that a file must say them.
    pub fn named_customs(&self) -> &[String] {
        &self.1.named
    }

    /// True if a tool of a toolset is among them.
    pub fn has_any_of(&self, toolset: Toolset) -> bool {
        self.0.iter().any(|tool| tool.toolset == toolset)
    }

    /// Leaves out the tools of a toolset.
    pub fn leave_out(&mut self, toolset: Toolset) {
        self.0.retain(|tool| tool.toolset != toolset);
    }

    /// Leaves out every tool that can change the wiki.
    pub fn keep_reading(&mut self) {
        self.0.retain(|tool| !tool.kind.writes());
        self.1.only_reading = true;
    }

    /// True if a tool that can change the wiki is left.
    pub fn writes(&self) -> bool {
        self.0.iter().any(|tool| tool.kind.writes())
    }

    /// True if no tool is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty() && self.1.only.as_ref().is_none_or(Vec::is_empty)
    }
}

impl Registry {
    /// The tools of a selection.
    ///
    /// # Errors
    /// [`DuplicateTool`].
    pub fn new(selection: &ToolSelection) -> Result<Self, DuplicateTool> {
        let mut registry = Self::empty(selection.has(SubmitDraft::NAME));
        for tool in &selection.0 {
            registry.add_any(**tool)?;
        }
        Ok(registry)
    }
}

impl CustomChoice {
    /// True if a custom tool is offered.
    pub(super) fn offers(&self, name: &str) -> bool {
        let is_in = |names: &[String]| names.iter().any(|other| other == name);
        !is_in(&self.excluded) && self.only.as_deref().is_none_or(is_in)
    }
}

const PREFIX: &str = "wikijs_";

/// Our own tools of a list, and the names of custom ones.
fn parse_list(names: &str) -> Result<(Vec<&'static AnyTool>, Vec<String>), String> {
    let names = names.trim_end_matches(',').split(',').map(str::trim);
    let (customs, own): (Vec<&str>, Vec<&str>) = names.partition(|name| is_custom_name(name));
    let known = |name: &str| {
        TOOLS.iter().find(|tool| tool.name == name).ok_or_else(|| {
            if name.starts_with("custom") {
                let is_none = "which is no name of a custom tool; it must be";
                return format!("has {name:?}, {is_none} {NAME_FORM}");
            }
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
    let own: Result<_, _> = own.into_iter().map(known).collect();
    Ok((own?, customs.into_iter().map(str::to_owned).collect()))
}
