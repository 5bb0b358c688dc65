//! The tool that a caller of an unknown tool probably meant.

use crate::nearest::nearest;

/// Words of an invented tool name, and the tool that does this, with the argument for it.
const WORDS: &[(&str, &str)] = &[
    ("move rename", "wikijs_update_page with path"),
    (
        "restore revert rollback",
        "wikijs_update_page with fromVersion",
    ),
    ("publish unpublish", "wikijs_update_page with isPublished"),
    ("edit replace append insert", "wikijs_update_page"),
    ("patch modify change write", "wikijs_update_page"),
    ("undo", "wikijs_undo_write"),
    ("remove trash", "wikijs_delete_page"),
    ("add new make", "wikijs_create_page"),
    ("tag tags", "wikijs_list_tags"),
    ("history version versions diff", "wikijs_get_page_history"),
    ("revision revisions compare", "wikijs_get_page_history"),
    (
        "tree browse folder folders children",
        "wikijs_get_page_tree",
    ),
    ("find query grep search", "wikijs_search_pages"),
    ("list ls recent backlinks", "wikijs_list_pages"),
    ("read get fetch open view show", "wikijs_get_page_by_path"),
];

/// The least similarity of a name that is suggested.
const LIKENESS: f64 = 0.93;
/// The most characters of a name that are looked at.
const MAX_CHARS: usize = 64;

/// The offered tool that a name most likely meant, and the argument to use.
pub fn meant(name: &str, offered: &[&'static str]) -> Option<String> {
    let name: String = name.chars().take(MAX_CHARS).collect();
    let name = name.to_lowercase();
    let bare = |name: &str| name.strip_prefix("wikijs_").unwrap_or(name).to_owned();
    let own = bare(&name);
    let near = nearest(&own, offered.iter().map(|tool| bare(tool)), LIKENESS);
    if let Some(near) = near
        && let Some(tool) = offered.iter().find(|tool| bare(tool) == near)
    {
        return Some((*tool).to_owned());
    }
    let words: Vec<&str> = own.split(|c: char| !c.is_alphanumeric()).collect();
    let is_meant = |(meaning, does_it): &&(&str, &str)| {
        let tool = does_it.split(' ').next().unwrap_or_default();
        offered.contains(&tool) && meaning.split(' ').any(|word| words.contains(&word))
    };
    let meant = WORDS.iter().find(is_meant);
    meant.map(|(_, does_it)| (*does_it).to_owned())
}

#[cfg(test)]
mod tests {
    use super::{WORDS, meant};
    use crate::tools::registry::TOOLS;

    #[test]
    fn made_up_names_lead_to_the_tool_that_does_it() {
        let all: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        for (name, tool) in [
            ("wikijs_move_page", "wikijs_update_page with path"),
            ("rename-page", "wikijs_update_page with path"),
            ("wikijs_revert_page", "wikijs_update_page with fromVersion"),
            ("wikijs_edit_page", "wikijs_update_page"),
            ("wikijs_search_page", "wikijs_search_pages"),
            ("search_pages", "wikijs_search_pages"),
            ("wikijs_getPageByPath", "wikijs_get_page_by_path"),
            ("wikijs_get_page", "wikijs_get_page_by_path"),
            ("wikijs_get_tags", "wikijs_list_tags"),
            ("wikijs_page_versions", "wikijs_get_page_history"),
            ("wikijs_remove_page", "wikijs_delete_page"),
            ("wikijs_undo", "wikijs_undo_write"),
        ] {
            assert_eq!(meant(name, &all).as_deref(), Some(tool), "{name}");
        }
        assert_eq!(meant("wikijs_nothing", &all), None);
        assert_eq!(meant(&"x".repeat(1_000_000), &all), None);
    }

    #[test]
    fn only_what_is_offered_is_named() {
        assert_eq!(meant("wikijs_move_page", &["wikijs_list_pages"]), None);
    }

    #[test]
    fn every_tool_that_a_word_leads_to_is_one() {
        for (_, does_it) in WORDS {
            let tool = does_it.split(' ').next().expect("a tool");
            assert!(TOOLS.iter().any(|known| known.name == tool), "{tool}");
        }
    }
}
