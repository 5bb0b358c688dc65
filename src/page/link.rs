//! The links of a page's source, and where they lead.
//!
//! What the wiki's link graph knows, measured on 2.5.314: links, reference links and bare
//! addresses of Markdown, `<a href>` of HTML; nothing of a link with a dot anywhere behind the
//! site's address (`../x`, `./x`, `x.md`, `/x#v1.2`), which the wiki takes for a file, and
//! nothing in code or comments. What it takes for a page is a link relative to the page as if
//! that were a folder; what it takes for a file, browsers follow, relative to the page's folder,
//! and a page answers there too, also behind `.md`, `.html` and `.txt`.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Parser, Tag, TagEnd};
use url::Url;

use super::html::{Token, scan};
use super::locale::is_locale_like;
use super::outline::{Format, front_matter, options};
use super::path::RESERVED;
use super::place::line_feeds;
use super::reference::{percent_decoded, way_below};
use super::{Locale, PagePath};

/// Names of a file at whose address the wiki answers with a page.
pub(super) const PAGE_ENDINGS: [&str; 3] = [".md", ".html", ".txt"];
/// What else the wiki keeps for itself at the beginning of an address, beside [`RESERVED`].
pub(super) const OWN_ADDRESSES: [&str; 2] = ["graphql", "healthz"];

/// What a link does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// It leads readers away.
    Link,
    /// It shows a file in the page.
    Embedded,
}

/// A link of a page's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLink {
    /// What it does.
    pub kind: LinkKind,
    /// Its bytes: of Markdown the whole link, of HTML the tag.
    pub range: Range<usize>,
    /// Its line, from 1.
    pub line: usize,
    /// Where it leads, as it is written.
    pub target: String,
}

/// All links of a source, in its order: of Markdown links, images, reference links, bare
/// addresses and those of HTML in it; of HTML `href` and `src`. None where the format is another.
#[must_use]
pub fn links(text: &str, format: Format) -> Vec<PageLink> {
    let mut links = match format {
        Format::Markdown => of_markdown(text),
        Format::Html => of_html(text, 0..text.len()),
        Format::AsciiDoc | Format::Other => Vec::new(),
    };
    links.sort_by_key(|link| link.range.start);
    let (mut passed, mut line) = (0, 1);
    for link in &mut links {
        line += line_feeds(text.get(passed..link.range.start).unwrap_or_default());
        passed = link.range.start;
        link.line = line;
    }
    links
}

fn link(kind: LinkKind, range: Range<usize>, target: impl Into<String>) -> PageLink {
    PageLink {
        kind,
        range,
        line: 0,
        target: target.into(),
    }
}

fn of_markdown(text: &str) -> Vec<PageLink> {
    let start = front_matter(text);
    let body = text.get(start..).unwrap_or_default();
    let mut links = Vec::new();
    // How many links and blocks of code are open: an address in either is no link of its own.
    let mut closed_to_addresses = 0_usize;
    // Text comes in pieces; an address may lie in several that follow one another.
    let mut run = 0..0;
    for (event, range) in Parser::new_ext(body, options()).into_offset_iter() {
        let range = range.start + start..range.end + start;
        if let Event::Text(_) = event
            && closed_to_addresses == 0
        {
            if run.end != range.start {
                links.extend(addresses(text, run.clone()));
                run.start = range.start;
            }
            run.end = range.end;
            continue;
        }
        match event {
            Event::Start(tag) => {
                if closes_to_addresses(&tag) {
                    closed_to_addresses += 1;
                }
                match tag {
                    Tag::Link {
                        dest_url,
                        link_type,
                        ..
                    } if link_type != LinkType::Email => {
                        links.push(link(LinkKind::Link, range, dest_url.into_string()));
                    }
                    Tag::Image { dest_url, .. } => {
                        links.push(link(LinkKind::Embedded, range, dest_url.into_string()));
                    }
                    Tag::HtmlBlock => links.extend(of_html(text, range)),
                    _ => {}
                }
            }
            Event::End(TagEnd::Link | TagEnd::CodeBlock) => {
                closed_to_addresses = closed_to_addresses.saturating_sub(1);
            }
            Event::InlineHtml(_) => links.extend(of_html(text, range)),
            _ => {}
        }
    }
    links.extend(addresses(text, run));
    links
}

const fn closes_to_addresses(tag: &Tag<'_>) -> bool {
    matches!(tag, Tag::Link { .. } | Tag::CodeBlock(_))
}

/// Addresses that stand in a text by themselves.
pub(super) fn addresses(text: &str, range: Range<usize>) -> Vec<PageLink> {
    let words = text.get(range.clone()).unwrap_or_default();
    let ends = |c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '|' | '`');
    let mut found = Vec::new();
    let mut passed = 0;
    while let Some(at) = words
        .get(passed..)
        .and_then(|rest| rest.find("://"))
        .map(|at| passed + at)
    {
        let before = words.get(passed..at).unwrap_or_default();
        let scheme = ["https", "http"]
            .into_iter()
            .find(|scheme| before.ends_with(scheme));
        let rest = words.get(at..).unwrap_or_default();
        let length = rest.find(ends).unwrap_or(rest.len());
        if let Some(scheme) = scheme {
            let start = at - scheme.len();
            let address = words.get(start..at + length).unwrap_or_default();
            let address = without_marks(address);
            let bytes = range.start + start..range.start + start + address.len();
            found.push(link(LinkKind::Link, bytes, address));
        }
        passed = at + length;
    }
    found
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

/// The links of HTML that stands somewhere in a text.
fn of_html(text: &str, within: Range<usize>) -> Vec<PageLink> {
    let mut links = Vec::new();
    scan(
        text.get(within.clone()).unwrap_or_default(),
        |token, range| {
            let Token::Open(tag) = token else { return };
            let range = within.start + range.start..within.start + range.end;
            let attribute = |name| tag.attributes().get(name).map(str::to_owned);
            let (kind, target) = match tag.name() {
                "a" | "area" => (LinkKind::Link, attribute("href")),
                "iframe" => (LinkKind::Link, attribute("src")),
                _ => (LinkKind::Embedded, attribute("src")),
            };
            links.extend(target.map(|target| link(kind, range, target)));
        },
    );
    links
}

/// The page that a link leads to, as readers of the page at `from` follow it; none for a file,
/// a place on the same page, the wiki's own addresses, and other sites.
///
/// Anchors and queries are dropped. A link without a locale leads to the page's own.
#[must_use]
pub fn linked_page(
    target: &str,
    from: (&Locale, &PagePath),
    wiki: &Url,
) -> Option<(Locale, PagePath)> {
    let target = target.trim();
    let (way, is_absolute) = match scheme(target) {
        Some("http" | "https") => {
            // Most lead elsewhere, and reading an address costs.
            let host = wiki.host_str().unwrap_or_default();
            if !target.to_ascii_lowercase().contains(host) {
                return None;
            }
            let address = Url::parse(target).ok()?;
            (way_below(&address, wiki)?.to_owned(), true)
        }
        Some(_) => return None,
        None if target.starts_with("//") => return None,
        None => (target.to_owned(), target.starts_with('/')),
    };
    let path = way.split(['#', '?']).next().unwrap_or_default();
    if path.is_empty() && !is_absolute {
        return None;
    }
    let path = percent_decoded(path);
    let (locale, own) = from;
    let folder = own.folder();
    let mut segments: Vec<&str> = Vec::new();
    if !is_absolute {
        segments.push(locale.as_str());
        // One with a dot is a file's for the wiki, which leaves it to browsers.
        let base = match own.as_str() {
            _ if target.contains('.') => folder.as_str(),
            "home" => "",
            own => own,
        };
        segments.extend(base.split('/'));
    }
    append(&mut segments, &path);
    page_at(&segments, locale)
}

/// What stands before the first colon, if that begins an address.
fn scheme(target: &str) -> Option<&'static str> {
    let (scheme, _) = target.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_scheme.then(|| match scheme.to_ascii_lowercase().as_str() {
        "http" => "http",
        "https" => "https",
        _ => "other",
    })
}

/// Goes on from a place as browsers do.
fn append<'a>(segments: &mut Vec<&'a str>, path: &'a str) {
    for segment in path.split('/') {
        match segment {
            "." | "" => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
}

/// The page that an address of the wiki is of.
fn page_at(segments: &[&str], own: &Locale) -> Option<(Locale, PagePath)> {
    let mut rest: Vec<&str> = segments
        .iter()
        .copied()
        .filter(|segment| !segment.is_empty())
        .collect();
    let mut locale = own.clone();
    if let Some(first) = rest.first() {
        let is_own = RESERVED.contains(first) || OWN_ADDRESSES.contains(first);
        // One letter: the wiki's views, such as /e/… and /t/….
        if is_own || first.chars().count() == 1 || first.starts_with('_') {
            return None;
        }
        if is_locale_like(&first.to_lowercase()) {
            locale = Locale::as_stored(*first);
            rest.remove(0);
        }
    }
    if let Some(last) = rest.last_mut() {
        let named = PAGE_ENDINGS.iter().find_map(|end| last.strip_suffix(end));
        *last = named.unwrap_or(last);
    }
    let path = if rest.is_empty() {
        "home".to_owned()
    } else {
        rest.join("/")
    };
    (!path.contains('.')).then(|| (locale, PagePath::as_stored(path)))
}

/// Whether a place that the wiki's link graph names can be a page's: it takes its own addresses
/// for pages, too.
#[must_use]
pub fn can_be_linked(locale: &Locale, path: &PagePath) -> bool {
    let segments: Vec<&str> = path.as_str().split('/').collect();
    page_at(&segments, locale).is_some()
}

#[cfg(test)]
mod tests {
    use super::{LinkKind, linked_page, links};
    use crate::page::{Format, Locale, PagePath};
    use proptest::prelude::*;
    use url::Url;

    fn found(text: &str, format: Format) -> Vec<(usize, String)> {
        let links = links(text, format);
        let links = links.into_iter().filter(|link| link.kind == LinkKind::Link);
        links.map(|link| (link.line, link.target)).collect()
    }

    fn targets(text: &str) -> Vec<String> {
        let found = found(text, Format::Markdown).into_iter();
        found.map(|(_, target)| target).collect()
    }

    #[test]
    fn links_are_found_in_every_form_with_their_lines() {
        let text = "---\ntitle: [no](/no)\n---\n\n[a](/a \"t\") <https://wiki.example.org/b>\n\n> [c][ref] and ![i](/i)\n\n[ref]: /c\n\n- see https://wiki.example.org/d_e_f, or (https://wiki.example.org/g).\n\n<div>\n<a href='/h'>x</a></div>\n\nx <a href=\"/j\">y</a>\n\n| a |\n|---|\n| [k](k) |\n";
        assert_eq!(
            found(text, Format::Markdown),
            [
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
        let html = "<p>\n<a href=/a>x</a> <iframe src=\"/b\"></iframe><img src=/no></p>";
        assert_eq!(
            found(html, Format::Html),
            [(2, "/a".to_owned()), (2, "/b".to_owned())]
        );
        let image = links("![x](/i)", Format::Markdown);
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

    fn leads(target: &str, from: &str) -> Option<String> {
        let wiki = Url::parse("https://wiki.example.org/base/").unwrap();
        let (locale, from) = (Locale::as_stored("en"), PagePath::as_stored(from));
        let page = linked_page(target, (&locale, &from), &wiki);
        page.map(|(locale, path)| format!("{locale}/{path}"))
    }

    /// Each measured on 2.5.314 but for the wiki below a path.
    #[test]
    fn links_lead_where_readers_get_to() {
        for (target, page) in [
            ("/en/docs/b", Some("en/docs/b")),
            ("/docs/b", Some("en/docs/b")),
            ("/docs/b/", Some("en/docs/b")),
            ("/docs/b#top", Some("en/docs/b")),
            ("/docs/b?x=1", Some("en/docs/b")),
            ("/de/docs/b", Some("de/docs/b")),
            ("/docs/n%C3%A4", Some("en/docs/nä")),
            ("/docs/b.md", Some("en/docs/b")),
            ("/", Some("en/home")),
            ("/en", Some("en/home")),
            ("b", Some("en/docs/a/b")),
            ("b/c", Some("en/docs/a/b/c")),
            ("en/docs/b", Some("en/docs/a/en/docs/b")),
            ("./b", Some("en/docs/b")),
            ("../b", Some("en/b")),
            ("../../docs/c", Some("en/docs/c")),
            ("../../b", None),
            ("b.md", Some("en/docs/b")),
            ("b#v1.2", Some("en/docs/b")),
            (
                "https://wiki.example.org/base/en/docs/b#x",
                Some("en/docs/b"),
            ),
            ("HTTPS://WIKI.example.org/base/docs/b", Some("en/docs/b")),
            ("https://wiki.example.org/base", Some("en/home")),
            ("https://wiki.example.org/other/docs/b", None),
            ("https://elsewhere.example.org/base/docs/b", None),
            ("//docs/b", None),
            ("#top", None),
            ("?x=1", None),
            ("", None),
            ("/img.png", None),
            ("../img.png", None),
            ("/docs/v1.2", None),
            ("/e/en/docs/b", None),
            ("/t/tag", None),
            ("/i/1", None),
            ("/login", None),
            ("/_assets/x", None),
            ("mailto:a@example.org", None),
            ("javascript:alert(1)", None),
        ] {
            assert_eq!(leads(target, "docs/a").as_deref(), page, "{target}");
        }
        assert_eq!(leads("b", "home").as_deref(), Some("en/b"));
        assert_eq!(leads("./b", "home").as_deref(), Some("en/b"));
    }

    proptest! {
        #[test]
        fn every_link_stands_where_it_says(text in "(\\[a\\]\\(/b\\)|<a href=/b>|https://x/b|`|\n|    |> |- |<!--|-->|[ä ]|\\[r\\]: /c\n|\\[r\\]){0,24}") {
            for format in [Format::Markdown, Format::Html] {
                for link in links(&text, format) {
                    let before = text.get(..link.range.start).unwrap();
                    prop_assert!(text.get(link.range.clone()).is_some_and(|link| !link.is_empty()));
                    prop_assert_eq!(link.line, 1 + before.matches('\n').count());
                }
            }
        }

        #[test]
        fn no_target_leads_out_of_the_wiki(target in "(/|\\.\\.|\\.|a|en|%2F|%|#|\\?|:|ä|https?|//wiki.example.org|/base){0,12}") {
            let wiki = Url::parse("https://wiki.example.org/base").unwrap();
            let (locale, from) = (Locale::as_stored("en"), PagePath::as_stored("x/y"));
            if let Some((_, path)) = linked_page(&target, (&locale, &from), &wiki) {
                prop_assert!(!path.as_str().is_empty() && !path.as_str().starts_with('/'), "{target} {path}");
            }
        }
    }
}
