//! The links of a page's source, and where they lead.
//!
//! What the wiki's link graph knows, measured on 2.5.314: links, reference links and bare
//! addresses of Markdown, `<a href>` of HTML; nothing of a link with a dot anywhere behind the
//! site's address (`../x`, `./x`, `x.md`, `/x#v1.2`), which the wiki takes for a file, and
//! nothing in code or comments. What it takes for a page is a link relative to the page as if
//! that were a folder; what it takes for a file, browsers follow, relative to the page's folder,
//! and a page answers there too, also behind `.md`, `.html` and `.txt`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use url::Url;

use super::super::model::path::RESERVED;
use crate::page::PagePath;
use crate::words::words;

/// Names of a file at whose address the wiki answers with a page.
pub(in crate::page) const PAGE_ENDINGS: [&str; 3] = [".md", ".html", ".txt"];
/// First segments of an address that the wiki reserves besides [`RESERVED`].
pub(in crate::page) const OWN_ADDRESSES: [&str; 2] = ["graphql", "healthz"];

/// The kind of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// It leads readers away.
    Link,
    /// It shows a file in the page.
    Embedded,
}

words! {
    /// The construct that holds a link: it decides what the wiki makes of the target.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Carrier: as_str, ALL {
        /// A link of Markdown: percent-encoded, then rewritten by the wiki.
        Markdown = "markdown",
        /// `<a href>` of HTML, which the wiki rewrites.
        Anchor = "anchor",
        /// Left unchanged for browsers: images of Markdown, `src`, `href` of other elements.
        Untouched = "untouched",
    }
}

impl Carrier {
    /// The carrier of this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == word)
    }
}

/// A link of a page's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLink {
    /// Its kind.
    pub kind: LinkKind,
    /// The construct that holds it.
    pub carrier: Carrier,
    /// Its line, from 1.
    pub line: usize,
    /// Its target, as written.
    pub target: String,
}

/// Addresses, and the scheme of those that the wiki makes links of.
static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(https?)?://[^\s<>"|`]*"#).ok());

/// The bytes of bare addresses in a text.
pub(super) fn addresses(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let words = text.get(range.clone()).unwrap_or_default();
    let all = ADDRESS.iter().flat_map(|form| form.captures_iter(words));
    let found = all.filter_map(|found| found.get(1).and(found.get(0)));
    let bytes = found.map(|found| {
        let start = range.start + found.start();
        start..start + without_marks(found.as_str()).len()
    });
    bytes.collect()
}

/// An address without the marks of the sentence around it; brackets that it opens itself it
/// keeps.
fn without_marks(address: &str) -> &str {
    let count = |bracket: char| address.matches(bracket).count();
    let mut surplus = count(')').saturating_sub(count('('));
    let mut address = address;
    loop {
        address = address.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*']);
        match address.strip_suffix(')') {
            Some(inner) if surplus > 0 => {
                surplus -= 1;
                address = inner;
            }
            _ => return address,
        }
    }
}

/// True if a link may lead to a page of the wiki, judged by its target alone, without the page that
/// it stands on.
pub fn may_lead_to_page(target: &str, wiki: &Url) -> bool {
    let target = target.trim();
    let is_here = target.is_empty() || target.starts_with('#');
    // Most addresses lead elsewhere, and parsing one is expensive.
    let is_elsewhere = target.contains("//") && {
        let host = wiki.host_str().unwrap_or_default();
        !target.to_ascii_lowercase().contains(host)
    };
    !is_here && !is_elsewhere && !has_other_scheme(target)
}

/// True if a target begins with a scheme other than a web address's. The wiki treats some of these
/// as paths below the page; people do not.
pub(in crate::page) fn has_other_scheme(target: &str) -> bool {
    let scheme = target.split(':').next().unwrap_or_default();
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme
        && scheme.len() < target.len()
        && !["http", "https"]
            .iter()
            .any(|web| scheme.eq_ignore_ascii_case(web))
}

/// True if a link's target can be the place of a page: the wiki's link graph also counts the wiki's
/// own addresses as pages.
pub fn can_be_linked(path: &PagePath) -> bool {
    let path = path.as_str();
    let first = path.split('/').find(|part| !part.is_empty());
    // One letter: the wiki's views, such as /e/… and /t/….
    let is_own = first.is_some_and(|first| {
        RESERVED.contains(&first)
            || OWN_ADDRESSES.contains(&first)
            || first.starts_with('_')
            || first.chars().count() == 1
    });
    let named = PAGE_ENDINGS.iter().find_map(|end| path.strip_suffix(end));
    !is_own && !named.unwrap_or(path).contains('.')
}

#[cfg(test)]
mod tests {
    use super::may_lead_to_page;
    use url::Url;

    #[test]
    fn a_target_that_cannot_lead_to_a_page_is_told_without_its_page() {
        let wiki = Url::parse("https://wiki.example.org/base/").unwrap();
        for (target, may) in [
            ("/docs/b", true),
            ("../b.md", true),
            ("?x=1", true),
            ("HTTPS://WIKI.example.org/base/docs/b", true),
            ("https://elsewhere.example.org/docs/b", false),
            ("//elsewhere.example.org/docs/b", false),
            ("mailto:a@example.org", false),
            ("javascript:alert(1)", false),
            ("#top", false),
            (" ", false),
        ] {
            assert_eq!(may_lead_to_page(target, &wiki), may, "{target}");
        }
    }
}
