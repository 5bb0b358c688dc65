//! The links of HTML, with the bytes that the values of their attributes take.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::link::{Carrier, LinkKind};
use super::target::Writing;
use super::written::SourceLink;
use crate::page::html::{HtmlTag, HtmlToken, scan};
use crate::page::markdown::html_block::HtmlBlock;

/// Attributes that hold a link.
const LINKING: [&str; 3] = ["href", "src", "xlink:href"];

/// The links of a page's HTML, found piece after piece.
#[derive(Debug, Default)]
pub(super) struct HtmlLinks {
    pub(super) links: Vec<SourceLink>,
    /// Number of open `<code>` and `<pre>`, and of open `<a>`.
    code: usize,
    pre: usize,
    anchors: usize,
}

impl HtmlLinks {
    pub(super) const fn is_in_code(&self) -> bool {
        self.code > 0 || self.pre > 0
    }

    pub(super) const fn is_in_link(&self) -> bool {
        self.anchors > 0
    }

    /// The wiki looks for bare addresses paragraph by paragraph.
    pub(super) const fn begin_paragraph(&mut self) {
        self.anchors = 0;
    }

    /// Adds the links of a piece of HTML in a source.
    pub(super) fn add(&mut self, source: &str, html: &HtmlBlock) {
        scan(html.html(), |token, range| match token {
            HtmlToken::Open(tag) => {
                self.links_of(source, html, tag, range);
                self.count(tag, |count| *count += 1);
            }
            HtmlToken::Close(tag) => self.count(tag, |count| *count = count.saturating_sub(1)),
            HtmlToken::Text(_)
            | HtmlToken::Comment(_)
            | HtmlToken::Doctype
            | HtmlToken::Dropped => {}
        });
    }

    fn count(&mut self, tag: &HtmlTag, act: impl FnOnce(&mut usize)) {
        match tag.name() {
            "code" => act(&mut self.code),
            "pre" => act(&mut self.pre),
            "a" => act(&mut self.anchors),
            _ => {}
        }
    }

    fn links_of(&mut self, source: &str, html: &HtmlBlock, tag: &HtmlTag, range: Range<usize>) {
        let raw = html.html().get(range.clone()).unwrap_or_default();
        for name in LINKING {
            let Some(target) = tag.attributes.get(name) else {
                continue;
            };
            let (carrier, kind) = match (tag.name(), name) {
                ("a", "href") => (Carrier::Anchor, Some(LinkKind::Link)),
                ("area", "href") | ("iframe", "src") => (Carrier::Untouched, Some(LinkKind::Link)),
                ("a" | "area", "src") => (Carrier::Untouched, None),
                (_, "src") => (Carrier::Untouched, Some(LinkKind::Embedded)),
                _ => (Carrier::Untouched, None),
            };
            let value = value_of(raw, name).and_then(|value| {
                let start = html.source(range.start + value.start)?;
                Some(start..start + value.len())
            });
            let link = SourceLink {
                at: html.source(range.start).unwrap_or_default(),
                range: value,
                writing: Writing::Html,
                target: target.to_owned(),
                carrier,
                kind,
                is_reference: false,
                is_in_code: self.is_in_code(),
            };
            self.links.push(link.checked(source));
        }
    }
}

/// An attribute of a tag: its name, and its value in quotes or without. A name may begin with `=`.
static ATTRIBUTE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    const SPACE: &str = r" \t\n\f\r";
    let name = format!("([^{SPACE}/>][^{SPACE}/>=]*)");
    let value = format!(r#""([^"]*)"|'([^']*)'|([^{SPACE}>]*)"#);
    Regex::new(&format!("{name}(?:[{SPACE}]*=[{SPACE}]*(?:{value}))?")).ok()
});

/// The bytes of the value of an attribute in a tag; of several with its name the first counts.
fn value_of(tag: &str, wanted: &str) -> Option<Range<usize>> {
    let is_it = |found: &Captures<'_>| {
        let name = found.get(1);
        name.is_some_and(|name| name.as_str().eq_ignore_ascii_case(wanted))
    };
    let found = ATTRIBUTE.as_ref()?.captures_iter(tag).find(is_it)?;
    let end = found.get(0)?.end();
    let value = found.iter().skip(2).flatten().next();
    Some(value.map_or(end..end, |value| value.range()))
}

#[cfg(test)]
mod tests {
    use super::value_of;

    #[test]
    fn a_value_is_found_as_browsers_find_it() {
        for (tag, value) in [
            ("<a href=/b>", Some("/b")),
            ("<a\nhref = '/b' >", Some("/b")),
            ("<a title=\"href=/no\" HREF=\"/b\">", Some("/b")),
            ("<a x href=/b/>", Some("/b/")),
            ("<a data-href=/no =href=/no href=/b>", Some("/b")),
            ("<a href=/b href=/no>", Some("/b")),
            ("<a href>", Some("")),
            ("<a/href=\"\"/>", Some("")),
            ("<a title=href>", None),
            ("<href>", None),
        ] {
            let found = value_of(tag, "href").and_then(|range| tag.get(range));
            assert_eq!(found, value, "{tag}");
        }
    }
}
