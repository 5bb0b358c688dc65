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

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use regex::Regex;
use url::Url;

use super::super::html::{HtmlToken, scan};
use super::super::markdown::html_block::HtmlBlock;
use super::super::markdown::outline::{has_marks, options};
use super::super::model::path::RESERVED;
use super::super::select::position::lines_of;
use super::target::Writing;
use crate::page::{PagePath, SourceFormat, has_too_many_signs};
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
    /// Its bytes: of Markdown the whole link, of HTML the tag.
    pub range: Range<usize>,
    /// Its line, from 1.
    pub line: usize,
    /// Its target, as written.
    pub target: String,
}

/// All links of a source, in order: in Markdown, links, images, reference links, bare addresses and
/// those in its HTML; in HTML, `href` and `src`. None for other formats.
pub fn links(text: &str, format: SourceFormat) -> Vec<PageLink> {
    let mut links = match format {
        SourceFormat::Markdown if may_link(text) => of_markdown(text),
        SourceFormat::Html => of_html(text, Some),
        SourceFormat::Markdown | SourceFormat::AsciiDoc | SourceFormat::Other => Vec::new(),
    };
    links.sort_by_key(|link| link.range.start);
    let mut line_of = lines_of(text);
    for link in &mut links {
        link.line = line_of(link.range.start);
    }
    links
}

/// True if a source has too many signs to look for its links.
pub fn has_unchecked_links(text: &str, format: SourceFormat) -> bool {
    let may_link = match format {
        SourceFormat::Markdown => may_link(text),
        SourceFormat::Html => true,
        SourceFormat::AsciiDoc | SourceFormat::Other => false,
    };
    may_link && has_too_many_signs(text, format)
}

fn link(
    (kind, carrier): (LinkKind, Carrier),
    range: Range<usize>,
    target: impl Into<String>,
) -> PageLink {
    PageLink {
        kind,
        carrier,
        range,
        line: 0,
        target: target.into(),
    }
}

/// True if a text in Markdown has a sign that every link needs. Parsing a long text takes many times
/// its size in memory.
fn may_link(text: &str) -> bool {
    has_marks(text) || text.contains("://")
}

fn of_markdown(text: &str) -> Vec<PageLink> {
    let mut links = Vec::new();
    let mut block = HtmlBlock::default();
    // How many links and blocks of code are open: an address in either is no link of its own.
    let mut closed_to_addresses = 0_usize;
    // The same of `<a>`, paragraph by paragraph, as the wiki looks for addresses.
    let mut anchors = 0_usize;
    // Text comes in pieces; an address may span several consecutive ones.
    let mut run = 0..0;
    // Formulas hold no links. Front matter is text to the wiki, links and all.
    let options = options() | Options::ENABLE_MATH;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        if let Event::Text(_) = event
            && closed_to_addresses == 0
            && anchors == 0
        {
            if run.end != range.start {
                links.extend(bare(text, run.clone()));
                run.start = range.start;
            }
            run.end = range.end;
            continue;
        }
        match event {
            Event::Start(tag) => {
                if matches!(tag, Tag::Link { .. } | Tag::CodeBlock(_)) {
                    closed_to_addresses += 1;
                }
                if begins_paragraph(&tag) {
                    anchors = 0;
                }
                match tag {
                    Tag::Link {
                        dest_url,
                        link_type,
                        ..
                    } if link_type != LinkType::Email => {
                        let of = (LinkKind::Link, Carrier::Markdown);
                        links.push(link(of, range, dest_url.into_string()));
                    }
                    Tag::Image { dest_url, .. } => {
                        let of = (LinkKind::Embedded, Carrier::Untouched);
                        links.push(link(of, range, dest_url.into_string()));
                    }
                    _ => {}
                }
            }
            Event::End(TagEnd::Link | TagEnd::CodeBlock) => {
                closed_to_addresses = closed_to_addresses.saturating_sub(1);
            }
            Event::Html(_) => block.push(text, range),
            Event::End(TagEnd::HtmlBlock) => {
                let block = std::mem::take(&mut block);
                links.extend(of_html(block.html(), |tag| {
                    let last = tag.end.checked_sub(1)?;
                    Some(block.source(tag.start)?..block.source(last)? + 1)
                }));
            }
            Event::InlineHtml(html) => {
                let is_whole = text.get(range.clone()) == Some(html.as_ref());
                scan(&html, |token, _| match token {
                    HtmlToken::Open(tag) if tag.name() == "a" => anchors += 1,
                    HtmlToken::Close(tag) if tag.name() == "a" => {
                        anchors = anchors.saturating_sub(1);
                    }
                    _ => {}
                });
                links.extend(of_html(&html, |tag| {
                    // In a quote the signs before its lines are left out of the HTML.
                    let inner = range.start + tag.start..range.start + tag.end;
                    Some(if is_whole { inner } else { range.clone() })
                }));
            }
            _ => {}
        }
    }
    links.extend(bare(text, run));
    links
}

/// Addresses that stand in Markdown by themselves, with what their entities stand for.
fn bare(text: &str, range: Range<usize>) -> impl Iterator<Item = PageLink> {
    let found = addresses(text, range).into_iter();
    found.map(|link| PageLink {
        target: Writing::Markdown.said(&link.target),
        ..link
    })
}

/// True if the wiki looks for bare addresses anew from here on.
pub(in crate::page) const fn begins_paragraph(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Paragraph | Tag::Heading { .. } | Tag::Item | Tag::TableCell
    )
}

/// Addresses, and the scheme of those that the wiki makes links of.
static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(https?)?://[^\s<>"|`]*"#).ok());

/// Bare addresses in a text.
pub(in crate::page) fn addresses(text: &str, range: Range<usize>) -> Vec<PageLink> {
    let words = text.get(range.clone()).unwrap_or_default();
    let all = ADDRESS.iter().flat_map(|form| form.captures_iter(words));
    let found = all.filter_map(|found| found.get(1).and(found.get(0)));
    let of = (LinkKind::Link, Carrier::Markdown);
    found
        .map(|found| {
            let (address, start) = (without_marks(found.as_str()), range.start + found.start());
            link(of, start..start + address.len(), address)
        })
        .collect()
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

/// The links of HTML; `place` gives where in the source a range of it stands.
fn of_html(html: &str, place: impl Fn(Range<usize>) -> Option<Range<usize>>) -> Vec<PageLink> {
    let mut links = Vec::new();
    scan(html, |token, range| {
        let HtmlToken::Open(tag) = token else { return };
        let attribute = |name| tag.attributes.get(name).map(str::to_owned);
        let (of, target) = match tag.name() {
            "a" => ((LinkKind::Link, Carrier::Anchor), attribute("href")),
            "area" => ((LinkKind::Link, Carrier::Untouched), attribute("href")),
            "iframe" => ((LinkKind::Link, Carrier::Untouched), attribute("src")),
            _ => ((LinkKind::Embedded, Carrier::Untouched), attribute("src")),
        };
        links.extend(
            target
                .zip(place(range))
                .map(|(target, range)| link(of, range, target)),
        );
    });
    links
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
    use super::{LinkKind, links, may_lead_to_page};
    use crate::page::SourceFormat;
    use proptest::prelude::*;
    use url::Url;

    fn found(text: &str, format: SourceFormat) -> Vec<(usize, String)> {
        let links = links(text, format);
        let links = links.into_iter().filter(|link| link.kind == LinkKind::Link);
        links.map(|link| (link.line, link.target)).collect()
    }

    fn targets(text: &str) -> Vec<String> {
        let found = found(text, SourceFormat::Markdown).into_iter();
        found.map(|(_, target)| target).collect()
    }

    #[test]
    fn links_are_found_in_every_form_with_their_lines() {
        let text = "---\ntitle: [z](/z)\n---\n\n[a](/a \"t\") <https://wiki.example.org/b>\n\n> [c][ref] and ![i](/i)\n\n[ref]: /c\n\n- see https://wiki.example.org/d_e_f, or (https://wiki.example.org/g).\n\n<div>\n<a href='/h'>x</a></div>\n\nx <a href=\"/j\">y</a>\n\n| a |\n|---|\n| [k](k) |\n";
        assert_eq!(
            found(text, SourceFormat::Markdown),
            [
                // Front matter is text to the wiki.
                (2, "/z".to_owned()),
                (5, "/a".to_owned()),
                (5, "https://wiki.example.org/b".to_owned()),
                (7, "/c".to_owned()),
                (11, "https://wiki.example.org/d_e_f".to_owned()),
                (11, "https://wiki.example.org/g".to_owned()),
                (14, "/h".to_owned()),
                (16, "/j".to_owned()),
                (20, "k".to_owned()),
            ]
        );
        let quoted =
            "> <div\n> title=x><a\n> href=\"/a\">x</a></div>\n\n> y <a\n> href=\"/b\">x</a>";
        assert_eq!(
            found(quoted, SourceFormat::Markdown),
            [(2, "/a".to_owned()), (5, "/b".to_owned())]
        );
        let html = "<p>\n<a href=/a>x</a> <iframe src=\"/b\"></iframe><img src=/no></p>";
        assert_eq!(
            found(html, SourceFormat::Html),
            [(2, "/a".to_owned()), (2, "/b".to_owned())]
        );
        let image = links("![x](/i)", SourceFormat::Markdown);
        assert_eq!(image[0].kind, LinkKind::Embedded);
    }

    #[test]
    fn code_and_comments_hold_no_links() {
        for text in [
            "`[a](/b)`",
            "```\n[a](/b) https://wiki.example.org/x\n```\n",
            "    [a](/b)\n",
            "<!-- [a](/b) <a href=\"/b\">x</a> -->\n",
            "x <!-- <a href=\"/b\">x</a> --> y",
            "[a]: /b\n",
            "$[a](/b)$",
            "$$\n[a](/b)\n$$\n",
            "\\[a](/b)",
            "a@example.org <a@example.org>",
        ] {
            assert_eq!(targets(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn an_address_ends_where_its_sentence_goes_on() {
        assert_eq!(
            targets(
                "Go to **https://wiki.example.org/a**, `https://wiki.example.org/no`; xhttps://b, ://c"
            ),
            ["https://wiki.example.org/a", "https://b"]
        );
        assert_eq!(
            targets("(see https://wiki.example.org/a(b).) (https://wiki.example.org/c(d))."),
            [
                "https://wiki.example.org/a(b)",
                "https://wiki.example.org/c(d)"
            ]
        );
    }

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

    proptest! {
        #[test]
        fn a_text_without_their_signs_has_no_links(text in "([a/:&;#!\\\\|`=~*_\\](){}$ -]|\n|    |> |https:/|www\\.a|&lt;|&#91;){0,24}") {
            prop_assert!(super::may_link(&text) || super::of_markdown(&text).is_empty());
        }

        #[test]
        fn every_link_stands_where_it_says(text in "(\\[a\\]\\(/b\\)|<a href=/b>|https://x/b|`|\n|    |> |- |<!--|-->|[ä ]|\\[r\\]: /c\n|\\[r\\]){0,24}") {
            for format in [SourceFormat::Markdown, SourceFormat::Html] {
                for link in links(&text, format) {
                    let before = text.get(..link.range.start).unwrap();
                    prop_assert!(text.get(link.range.clone()).is_some_and(|link| !link.is_empty()));
                    prop_assert_eq!(link.line, 1 + before.matches('\n').count());
                }
            }
        }
    }
}
