//! Checks the pages of the documentation as a reader goes through them: the first page, the map, the links.

use wikijs_gate::gates::PolicyLevel;
use wikijs_gate::tools::{Registry, ToolSelection, Toolset};

use crate::prelude::*;

const README: &str = include_str!("../../../README.md");
const MAP: &str = include_str!("../../../docs/README.md");

/// Every page that people read, with its text.
fn pages() -> Vec<(PathBuf, String)> {
    let mut paths = files_ending(&root().join("docs"), "md");
    let at_root = fs::read_dir(root()).unwrap();
    paths.extend(
        at_root
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "md")),
    );
    paths.sort();
    let page = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    };
    paths.into_iter().map(page).collect()
}

/// The first cells and the rest of the table's rows below a heading.
fn rows<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let table = section.lines().filter(|line| line.starts_with('|'));
    table
        .skip(2)
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

#[test]
fn the_readme_has_its_sections_in_order_and_is_short() {
    let headings = vec_of(README.lines().filter_map(|line| line.strip_prefix("## ")));
    let wanted = [
        "Try it",
        "Install",
        "Connect",
        "Choose a level",
        "Why this one",
        "The ten tools",
        "Documentation",
    ];
    assert_eq!(headings, wanted);
    assert!(README.len() <= 8_000, "{} bytes", README.len());
    assert!(README.contains(&format!("Rust {}", env!("CARGO_PKG_RUST_VERSION"))));
}

#[test]
fn the_readme_names_the_ten_tools_in_at_most_eight_words_each() {
    let rows = rows(README, "The ten tools");
    let named: Vec<&str> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
    let registry = Registry::new(&ToolSelection::new(&[Toolset::Pages])).unwrap();
    let tools: Vec<&str> = registry.definitions().map(|tool| tool.name).collect();
    assert_eq!(named, tools);
    for row in &rows {
        assert!(row[1].split_whitespace().count() <= 8, "{row:?}");
    }
}

#[test]
fn the_readme_names_every_toolset_and_every_level_the_strictest_first() {
    for toolset in Toolset::ALL.into_iter().skip(1) {
        assert!(
            README.contains(&format!("`{}`", toolset.name())),
            "{toolset:?}"
        );
    }
    let rows = rows(README, "Choose a level");
    let named: Vec<&str> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
    assert_eq!(named, PolicyLevel::ALL.map(PolicyLevel::as_str));
}

#[test]
fn the_map_leads_to_every_page() {
    for path in files_ending(&root().join("docs"), "md") {
        let name = path.strip_prefix(root().join("docs")).unwrap();
        let link = format!("]({})", name.display());
        assert!(
            name == Path::new("README.md") || MAP.contains(&link),
            "{link}"
        );
    }
}

#[test]
fn every_page_begins_with_whom_it_is_for() {
    for path in files_ending(&root().join("docs"), "md") {
        // The guides are what the server gives to agents, word for word.
        if path.parent().is_some_and(|dir| dir.ends_with("guides")) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let mut lines = text.lines().filter(|line| !line.is_empty());
        assert!(lines.next().unwrap().starts_with("# "), "{path:?}");
        let first = lines.next().unwrap();
        assert!(first.starts_with("For "), "{path:?}: {first}");
    }
}

/// What the links of a text lead to, and the addresses of its pictures; code has none.
fn targets(text: &str) -> Vec<&str> {
    let mut code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            code = !code;
        }
        if code {
            continue;
        }
        for prose in line.split('`').step_by(2) {
            for (open, close) in [("](", ')'), ("src=\"", '"'), ("srcset=\"", '"')] {
                found.extend(prose.split(open).skip(1).filter_map(|rest| {
                    let target = rest.split(close).next()?;
                    (!target.contains("://")).then_some(target)
                }));
            }
        }
    }
    found
}

/// The addresses of a page's headings, as GitHub makes them.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let text = line.trim_start_matches('#').trim().to_lowercase();
            text.chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
        .collect()
}

#[test]
fn every_link_of_a_page_leads_somewhere() {
    let mut followed = 0;
    for (path, text) in pages() {
        // The guides are about links in pages of a wiki.
        if path.parent().is_some_and(|dir| dir.ends_with("guides")) {
            continue;
        }
        for target in targets(&text) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let place = if file.is_empty() {
                path.clone()
            } else {
                path.parent().unwrap().join(file)
            };
            assert!(place.exists(), "{path:?}: {target}");
            if !anchor.is_empty() {
                let anchors = anchors(&fs::read_to_string(&place).unwrap());
                assert!(anchors.contains(anchor), "{path:?}: {target}");
            }
            followed += 1;
        }
    }
    assert!(followed > 100, "{followed}");
}
