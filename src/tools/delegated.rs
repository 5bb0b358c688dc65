//! Selects the tools that a delegate may have.

use super::registry::{TOOLS, ToolDefinition};
use super::toolset::Toolset;
use crate::write::DelegateKind;

/// The tool that reads old versions, which only some kinds have.
const HISTORY: &str = "wikijs_get_page_history";

/// True if a tool makes or ends delegates. No delegate or unnamed client has such a tool.
#[must_use]
pub fn is_of_delegation(tool: &ToolDefinition) -> bool {
    toolset(tool) == Some(Toolset::Delegate)
}

/// True if a delegate of this kind may have a tool.
#[must_use]
pub fn fits(kind: DelegateKind, tool: &ToolDefinition) -> bool {
    let reads = !tool.can_write() && toolset(tool) == Some(Toolset::Pages);
    match kind {
        DelegateKind::Researcher => reads && tool.name != HISTORY,
        DelegateKind::Analyst => reads,
        DelegateKind::Writer | DelegateKind::Custom => !is_of_delegation(tool),
    }
}

fn toolset(tool: &ToolDefinition) -> Option<Toolset> {
    let known = TOOLS.iter().find(|known| known.name == tool.name);
    known.map(|known| known.toolset)
}

#[cfg(test)]
mod tests {
    use super::{fits, is_of_delegation};
    use crate::tools::{Registry, ToolSelection, Toolset};
    use crate::write::DelegateKind;

    fn names(kind: DelegateKind) -> Vec<&'static str> {
        let registry = Registry::of(&ToolSelection::of(&Toolset::ALL)).unwrap();
        let fitting = registry.definitions().filter(|tool| fits(kind, tool));
        fitting.map(|tool| tool.name).collect()
    }

    #[test]
    fn each_kind_has_its_tools_and_none_delegates() {
        let research = names(DelegateKind::Researcher);
        assert_eq!(
            research,
            [
                "wikijs_search_pages",
                "wikijs_list_pages",
                "wikijs_get_page_by_path",
                "wikijs_get_page_by_id",
                "wikijs_get_page_tree",
                "wikijs_list_tags",
            ]
        );
        let analysis = names(DelegateKind::Analyst);
        assert_eq!(analysis.len(), research.len() + 1);
        assert!(analysis.contains(&"wikijs_get_page_history"));
        let registry = Registry::of(&ToolSelection::of(&Toolset::ALL)).unwrap();
        let of_delegation = registry.definitions().filter(|tool| is_of_delegation(tool));
        assert_eq!(of_delegation.count(), 2);
        let all = registry.definitions().count();
        assert_eq!(names(DelegateKind::Writer).len(), all - 2);
        assert_eq!(names(DelegateKind::Custom).len(), all - 2);
    }
}
