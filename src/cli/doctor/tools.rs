//! Computes what page, comment and asset tools can do with a key's rights: a pure function of them.

use serde::Serialize;

use crate::tools::ToolSelection;
use crate::wiki::PageRights;
use crate::wiki::Right::{
    self, DeletePages, ManageAssets, ManageComments, ManagePages, ReadAssets, ReadComments,
    ReadHistory, ReadPages, ReadSource, WriteAssets, WriteComments, WritePages, WriteScripts,
    WriteStyles,
};
use crate::words::words;

/// A tool and what it can do.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct ToolRights {
    pub(super) tool: &'static str,
    pub(super) can: Can,
    /// The parts that it cannot do, each with the right that it would take.
    pub(super) missing: Vec<String>,
}

words! {
    /// The extent to which a tool can be used.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub(super) enum Can: word {
        All = "all",
        Part = "part",
        Nothing = "nothing",
        /// A right that it needs could not be found out.
        Unknown = "unknown",
    }
}

/// A part of a tool, and the rights of which it needs one.
type ToolPart = (&'static str, &'static [Right]);
/// A tool, the rights that it needs, and those that parts of it need in addition.
type ToolNeeds = (&'static str, &'static [Right], &'static [ToolPart]);

/// The text of a page, by the layers of W1 and W2.
const CONTENT: ToolPart = ("content", &[ReadSource, WritePages]);
/// Fields that only a writer reads (W2).
const WHOLE: ToolPart = ("styles, scripts, dates of publication", &[WritePages]);
/// Fields that only these rights write (W24).
const STYLES: ToolPart = ("scriptCss", &[WriteStyles]);
const SCRIPTS: ToolPart = ("scriptJs", &[WriteScripts]);

const NEEDS: [ToolNeeds; 10] = [
    ("wikijs_search_pages", &[ReadPages], &[CONTENT]),
    ("wikijs_list_pages", &[ReadPages], &[]),
    ("wikijs_get_page_by_path", &[ReadPages], &[CONTENT, WHOLE]),
    ("wikijs_get_page_by_id", &[ReadPages], &[CONTENT, WHOLE]),
    ("wikijs_get_page_tree", &[ReadPages], &[]),
    ("wikijs_get_page_history", &[ReadHistory], &[]),
    ("wikijs_list_tags", &[ReadPages], &[]),
    ("wikijs_create_page", &[WritePages], &[STYLES, SCRIPTS]),
    (
        "wikijs_update_page",
        &[WritePages],
        &[("path, locale", &[ManagePages]), STYLES, SCRIPTS],
    ),
    // A page is kept whole before it is deleted, which needs write:pages (W2).
    (
        "wikijs_delete_page",
        &[WritePages, DeletePages],
        &[("trash", &[ManagePages])],
    ),
];

/// Of the toolset `comments`, by W30 to W32.
const OF_COMMENTS: [ToolNeeds; 4] = [
    (
        "wikijs_list_comments",
        &[ReadComments],
        &[("source", &[WriteComments, ManageComments])],
    ),
    ("wikijs_add_comment", &[ReadComments, WriteComments], &[]),
    (
        "wikijs_update_comment",
        &[ReadComments, ManageComments],
        &[],
    ),
    (
        "wikijs_delete_comment",
        &[ReadComments, ManageComments],
        &[],
    ),
];

/// Of the toolset `assets`, by W35 to W41.
const OF_ASSETS: [ToolNeeds; 5] = [
    ("wikijs_list_assets", &[ReadAssets], &[]),
    ("wikijs_get_asset", &[ReadAssets], &[]),
    ("wikijs_upload_asset", &[ReadAssets, WriteAssets], &[]),
    (
        "wikijs_rename_asset",
        &[ReadAssets, WriteAssets, ManageAssets],
        &[],
    ),
    ("wikijs_delete_asset", &[ReadAssets, ManageAssets], &[]),
];

/// Computes what these rights allow of the ten tools and of the offered comment and asset tools.
pub(super) fn with(rights: &PageRights, surface: &ToolSelection) -> Vec<ToolRights> {
    let others = OF_COMMENTS.iter().chain(&OF_ASSETS);
    let all = NEEDS
        .iter()
        .chain(others.filter(|(tool, ..)| surface.has(tool)));
    all.map(|need| one(need, rights)).collect()
}

fn one(&(tool, all, parts): &ToolNeeds, rights: &PageRights) -> ToolRights {
    let told = |can, missing| ToolRights { tool, can, missing };
    let without = |state: Option<bool>| -> Vec<String> {
        let some = all.iter().filter(|right| rights.has(**right) == state);
        some.map(|right| right.name().to_owned()).collect()
    };
    let refused = without(Some(false));
    if !refused.is_empty() {
        return told(Can::Nothing, refused);
    }
    let unknown = without(None);
    if !unknown.is_empty() {
        return told(Can::Unknown, unknown);
    }
    let parts = parts.iter().filter_map(|(part, any)| {
        let has: Vec<Option<bool>> = any.iter().map(|right| rights.has(*right)).collect();
        let right = any.first()?.name();
        if has.contains(&Some(true)) {
            None
        } else if has.contains(&None) {
            Some(format!("{part} ({right}, unknown)"))
        } else {
            Some(format!("{part} ({right})"))
        }
    });
    let parts: Vec<String> = parts.collect();
    let can = if parts.is_empty() {
        Can::All
    } else {
        Can::Part
    };
    told(can, parts)
}

#[cfg(test)]
mod tests {
    use super::{Can, NEEDS, OF_ASSETS, OF_COMMENTS, with};
    use crate::tools::{Registry, ToolSelection, Toolset};
    use crate::wiki::{PageRights, Right};

    #[test]
    fn each_tool_is_told_in_their_order() {
        for (toolset, needs) in [
            (Toolset::Pages, &NEEDS[..]),
            (Toolset::Comments, &OF_COMMENTS[..]),
            (Toolset::Assets, &OF_ASSETS[..]),
        ] {
            let registry = Registry::new(&ToolSelection::new(&[toolset])).expect("tools");
            let tools: Vec<&str> = registry.definitions().map(|tool| tool.name).collect();
            let told: Vec<&str> = needs.iter().map(|(tool, ..)| *tool).collect();
            assert_eq!(told, tools);
        }
    }

    #[test]
    fn a_tool_can_do_all_part_or_nothing_or_nobody_knows() {
        let can = |known: &[(Right, bool)]| -> Vec<Can> {
            let ten = ToolSelection::new(&[Toolset::Pages]);
            let told = with(&PageRights::new(known.iter().copied()), &ten);
            told.iter().map(|tool| tool.can).collect()
        };
        let all = Right::ALL.map(|right| (right, true));
        assert_eq!(can(&all), [Can::All; 10]);
        assert_eq!(can(&[]), [Can::Unknown; 10]);
        assert_eq!(
            can(&Right::ALL.map(|right| (right, false))),
            [Can::Nothing; 10]
        );
        let reader = Right::ALL.map(|right| (right, right == Right::ReadPages));
        assert_eq!(can(&reader)[..3], [Can::Part, Can::All, Can::Part]);
        let commenter = [
            (Right::ReadComments, true),
            (Right::WriteComments, true),
            (Right::ManageComments, false),
        ];
        let both = ToolSelection::new(&[Toolset::Pages, Toolset::Comments]);
        let told = with(&PageRights::new(commenter), &both);
        let can: Vec<Can> = told.iter().skip(10).map(|tool| tool.can).collect();
        assert_eq!(can, [Can::All, Can::All, Can::Nothing, Can::Nothing]);
    }
}
