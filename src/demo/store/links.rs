//! `pages.links`: which page links to which (W21).

use super::{PageRow, Store};
use crate::demo::access::Access;
use crate::demo::sql::LOCALES;

/// The links of one page.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::demo) struct PageLinks {
    pub(in crate::demo) id: i64,
    pub(in crate::demo) path: String,
    pub(in crate::demo) title: String,
    pub(in crate::demo) links: Vec<String>,
}

impl Store {
    /// The links of every page of a locale, oldest page first.
    pub(in crate::demo) fn links(&self, locale: &str, access: &Access) -> Vec<PageLinks> {
        self.pages()
            .filter(|page| page.locale == locale && access.may(&["read:pages"], &page.path))
            .map(|page| PageLinks {
                id: page.id,
                path: format!("{}/{}", page.locale, page.path),
                title: page.title.clone(),
                links: links_of(page),
            })
            .collect()
    }
}

/// Where a page's links lead within the wiki, each once.
fn links_of(page: &PageRow) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut in_code = false;
    for line in page.content.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for target in targets(line) {
            match resolve(page, target) {
                Some(link) if !found.contains(&link) => found.push(link),
                _ => {}
            }
        }
    }
    found
}

/// The targets of the links on a line, written in Markdown or in HTML.
fn targets(line: &str) -> Vec<&str> {
    let markdown = line
        .match_indices("](")
        .filter(|(at, _)| !is_image(line, *at))
        .filter_map(|(at, found)| line.get(at + found.len()..))
        .filter_map(|rest| rest.split([')', ' ']).next());
    let html = line
        .match_indices("href=\"")
        .filter_map(|(at, found)| line.get(at + found.len()..))
        .filter_map(|rest| rest.split('"').next());
    markdown.chain(html).collect()
}

/// Whether the bracket that closes at `at` is an image's.
fn is_image(line: &str, at: usize) -> bool {
    let before = line.get(..at).unwrap_or_default();
    before
        .rfind('[')
        .and_then(|open| before.get(..open))
        .is_some_and(|text| text.ends_with('!'))
}

/// Locale and path of a target; nothing for what leaves the wiki or the page.
fn resolve(page: &PageRow, target: &str) -> Option<String> {
    // One with a dot is a file's for the wiki: measured on 2.5.314.
    if target.contains('.') {
        return None;
    }
    let target = target.split(['#', '?']).next().unwrap_or_default();
    if target.is_empty() || target.starts_with("//") || target.contains(':') {
        return None;
    }
    let Some(absolute) = target.strip_prefix('/') else {
        return Some(format!("{}/{}", page.locale, beside(&page.path, target)));
    };
    let absolute = absolute.trim_end_matches('/');
    let locale = absolute.split('/').next().unwrap_or_default();
    if LOCALES.contains(&locale) {
        Some(absolute.to_owned())
    } else {
        Some(format!("{}/{absolute}", page.locale))
    }
}

/// A relative target, taken from the page itself as if it were a folder.
fn beside(path: &str, target: &str) -> String {
    let mut segments: Vec<&str> = path.split('/').collect();
    for segment in target.split('/') {
        if !segment.is_empty() {
            segments.push(segment);
        }
    }
    segments.join("/")
}

#[cfg(test)]
mod tests {
    use super::links_of;
    use crate::demo::store::PageRow;

    fn links(content: &str) -> Vec<String> {
        links_of(&PageRow {
            path: "docs/alpha".to_owned(),
            content: content.to_owned(),
            ..PageRow::default()
        })
    }

    #[test]
    fn an_absolute_link_has_its_locale_or_the_page_s() {
        assert_eq!(links("See [b](/en/docs/beta)."), ["en/docs/beta"]);
        assert_eq!(
            links("[b](/docs/beta#top) [d](/de/start)"),
            ["en/docs/beta", "de/start"]
        );
    }

    #[test]
    fn a_relative_link_takes_the_page_for_a_folder() {
        assert_eq!(
            links("[b](beta) [c](/gamma/)"),
            ["en/docs/alpha/beta", "en/gamma"]
        );
        assert!(links("[c](../gamma) [d](./delta) [e](e.md)").is_empty());
    }

    #[test]
    fn code_images_anchors_and_other_sites_are_no_links() {
        let content = "[a](#top) [b](https://example.org/x) ![i](/en/i)\n```\n[c](/en/c)\n```\n";
        assert!(links(content).is_empty());
    }
}
