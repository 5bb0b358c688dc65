//! The links of a source, with the bytes that their targets take.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use regex::Regex;

use super::html::HtmlLinks;
use super::link::{Carrier, PageLink, addresses};
use super::target::Writing;
use super::written::SourceLink;
use crate::page::markdown::html_block::HtmlBlock;
use crate::page::markdown::outline::{has_marks, options};
use crate::page::select::position::lines_of;
use crate::page::{SourceFormat, has_too_many_signs};

/// All links of a source, in order: in Markdown, links, images, reference links, bare addresses and
/// those in its HTML; in HTML, `href` and `src`. None for other formats.
pub fn links(text: &str, format: SourceFormat) -> Vec<PageLink> {
    if format == SourceFormat::Markdown && !may_link(text) {
        return Vec::new();
    }
    let mut line_of = lines_of(text);
    let listed = all(text, format, "").into_iter().filter_map(|link| {
        Some(PageLink {
            kind: link.kind?,
            carrier: link.carrier,
            line: line_of(link.at),
            target: link.target,
        })
    });
    listed.collect()
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

/// True if a text in Markdown has a sign that every link needs. Parsing a long text takes many times
/// its size in memory.
fn may_link(text: &str) -> bool {
    has_marks(text) || text.contains("://")
}

/// The links of a source whose targets stand in it by themselves: definitions in place of the links
/// that refer to them. Of bare addresses without a scheme in Markdown, only those of this host are
/// included.
pub(super) fn written_links(text: &str, format: SourceFormat, host: &str) -> Vec<SourceLink> {
    let mut links = all(text, format, host);
    links.retain(|link| !link.is_reference);
    links
}

/// The links of a source in its order; none where the format is another.
fn all(text: &str, format: SourceFormat, host: &str) -> Vec<SourceLink> {
    let mut links = match format {
        SourceFormat::Markdown => Markdown::links(text, host),
        SourceFormat::Html => {
            let (mut html, mut whole) = (HtmlLinks::default(), HtmlBlock::default());
            whole.push(text, 0..text.len());
            html.add(text, &whole);
            html.links
        }
        SourceFormat::AsciiDoc | SourceFormat::Other => Vec::new(),
    };
    links.sort_by_key(|link| link.at);
    links
}

/// A link of Markdown that is open.
struct OpenLink {
    link_type: LinkType,
    carrier: Carrier,
    target: String,
    /// End of its visible text, as far as that was read.
    shown: usize,
}

/// The links of Markdown in the making.
#[derive(Default)]
struct Markdown<'a> {
    text: &'a str,
    host: &'a str,
    links: Vec<SourceLink>,
    html: HtmlLinks,
    open: Vec<OpenLink>,
    /// Number of open code blocks.
    code: usize,
    /// The block of HTML that is open.
    block: HtmlBlock,
    /// Text comes in pieces; an address may span several consecutive ones.
    run: Range<usize>,
    /// The targets of definitions that links name, or images alone.
    named: HashMap<String, Carrier>,
}

impl<'a> Markdown<'a> {
    fn links(text: &'a str, host: &'a str) -> Vec<SourceLink> {
        let mut reading = Self {
            text,
            // No other is taken for a link without a scheme.
            host: if has_ending(host) { host } else { "" },
            ..Self::default()
        };
        // Formulas hold no links. Front matter is text to the wiki, links and all.
        let options = options() | Options::ENABLE_MATH;
        let mut events = Parser::new_ext(text, options).into_offset_iter();
        for (event, range) in events.by_ref() {
            reading.event(event, range);
        }
        reading.end_run();
        // A definition stands in no element that is still open.
        reading
            .links
            .append(&mut std::mem::take(&mut reading.html).links);
        let named = std::mem::take(&mut reading.named);
        for (_, definition) in events.reference_definitions().iter() {
            if let Some(carrier) = named.get(definition.dest.as_ref()) {
                reading.definition(&definition.span, &definition.dest, *carrier);
            }
        }
        reading.links
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        if !matches!(event, Event::End(TagEnd::Link | TagEnd::Image))
            && let Some(open) = self.open.last_mut()
        {
            open.shown = open.shown.max(range.end);
        }
        if matches!(event, Event::Text(_)) && self.code == 0 {
            if self.run.end != range.start {
                self.end_run();
                self.run.start = range.start;
            }
            self.run.end = range.end;
            return;
        }
        self.end_run();
        match event {
            Event::Start(tag) => self.start(tag, &range),
            Event::End(TagEnd::Link | TagEnd::Image) => self.close(&range),
            Event::End(TagEnd::CodeBlock) => self.code = self.code.saturating_sub(1),
            Event::End(TagEnd::HtmlBlock) => {
                let block = std::mem::take(&mut self.block);
                self.html.add(self.text, &block);
            }
            Event::Html(_) => self.block.push(self.text, range),
            Event::InlineHtml(html) => {
                // In a quote the signs before its lines are left out.
                let mut piece = HtmlBlock::default();
                piece.add(range.start, &html);
                self.html.add(self.text, &piece);
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        let carrier = match tag {
            Tag::Image { .. } => Carrier::Untouched,
            _ => Carrier::Markdown,
        };
        match tag {
            Tag::Link {
                link_type,
                dest_url,
                ..
            }
            | Tag::Image {
                link_type,
                dest_url,
                ..
            } => self.open_link(link_type, dest_url.into_string(), carrier, range.start),
            Tag::CodeBlock(_) => self.code += 1,
            tag if begins_paragraph(&tag) => self.html.begin_paragraph(),
            _ => {}
        }
    }

    fn open_link(&mut self, link_type: LinkType, target: String, carrier: Carrier, at: usize) {
        if !matches!(
            link_type,
            LinkType::Inline | LinkType::Autolink | LinkType::Email
        ) {
            let named = self.named.entry(target.clone()).or_insert(carrier);
            if carrier == Carrier::Markdown {
                *named = carrier;
            }
        }
        self.open.push(OpenLink {
            link_type,
            carrier,
            target,
            shown: at,
        });
    }

    /// The end of a link. If the link names its target itself, the target follows the link's text.
    fn close(&mut self, range: &Range<usize>) {
        let Some(open) = self.open.pop() else { return };
        if let Some(around) = self.open.last_mut() {
            around.shown = around.shown.max(range.end);
        }
        let link = SourceLink::markdown(range.start, open.carrier, open.target);
        self.add(match open.link_type {
            LinkType::Inline => {
                let rest = self.text.get(open.shown..range.end).unwrap_or_default();
                let found = rest
                    .find("](")
                    .and_then(|at| target_at(self.text, open.shown + at + 2, range.end));
                SourceLink {
                    range: found,
                    ..link
                }
            }
            LinkType::Autolink => SourceLink {
                range: Some(range.start + 1..range.end - 1),
                writing: Writing::Plain,
                ..link
            },
            LinkType::Email => return,
            _ => SourceLink {
                is_reference: true,
                ..link
            },
        });
    }

    fn add(&mut self, link: SourceLink) {
        if is_refused(&link.target) {
            return;
        }
        let is_in_code = self.html.is_in_code();
        let link = SourceLink { is_in_code, ..link };
        self.links.push(link.checked(self.text));
    }

    /// A definition that links name, or images alone.
    fn definition(&mut self, span: &Range<usize>, target: &str, carrier: Carrier) {
        let raw = self.text.get(span.clone()).unwrap_or_default();
        let range =
            end_of_label(raw).and_then(|at| target_at(self.text, span.start + at, span.end));
        self.add(SourceLink {
            range,
            kind: None,
            ..SourceLink::markdown(span.start, carrier, target.to_owned())
        });
    }

    /// Bare addresses in text, and images with a size (`=100x50`) after their target, which other
    /// Markdown reads as text.
    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run.is_empty() {
            return;
        }
        let mut passed = run.start;
        let words = self.text.get(run.clone()).unwrap_or_default();
        let images = SIZED_IMAGE
            .iter()
            .flat_map(|form| form.captures_iter(words));
        for image in images {
            let (Some(whole), Some(target)) = (image.get(0), image.get(1)) else {
                continue;
            };
            let at = run.start + whole.start();
            self.addresses(passed..at);
            passed = run.start + whole.end();
            let range = run.start + target.start()..run.start + target.end();
            let target = Writing::Markdown.said(target.as_str());
            self.add(SourceLink {
                range: Some(range),
                ..SourceLink::markdown(at, Carrier::Untouched, target)
            });
        }
        self.addresses(passed..run.end);
    }

    fn addresses(&mut self, run: Range<usize>) {
        if !self.open.is_empty() || self.html.is_in_link() {
            return;
        }
        for range in addresses(self.text, run.clone()) {
            let address = self.text.get(range.clone()).unwrap_or_default();
            let target = Writing::Markdown.said(address);
            self.add(SourceLink {
                range: Some(range.clone()),
                ..SourceLink::markdown(range.start, Carrier::Markdown, target)
            });
        }
        if self.host.is_empty() {
            return;
        }
        // Without a scheme, the wiki assumes http, whatever its own is.
        let words = self.text.get(run.clone()).unwrap_or_default();
        for (at, host) in words.match_indices(self.host) {
            let before = words
                .get(..at)
                .and_then(|before| before.chars().next_back());
            let is_apart = before.is_none_or(|c| !c.is_alphanumeric() && !"/.@:-_".contains(c));
            let rest = words.get(at + host.len()..).unwrap_or_default();
            if is_apart && rest.starts_with(['/', ':']) {
                let rest = rest.chars().take(MAX_BARE);
                let rest: String = rest.take_while(|c| !c.is_whitespace()).collect();
                let rest = rest.trim_end_matches(|c: char| ".,;:!?'*)\"".contains(c));
                let target = format!("http://{host}{rest}");
                let at = run.start + at;
                self.add(SourceLink::markdown(at, Carrier::Markdown, target));
            }
        }
    }
}

/// True if the wiki looks for bare addresses anew from here on.
const fn begins_paragraph(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Paragraph | Tag::Heading { .. } | Tag::Item | Tag::TableCell
    )
}

/// The most characters that are looked at behind the host of an address without a scheme.
const MAX_BARE: usize = 1024;

/// True if a host is a name with a top-level domain, such as `example.org`.
fn has_ending(host: &str) -> bool {
    host.rsplit_once('.')
        .is_some_and(|(_, ending)| ending.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// True if Markdown makes no link of a target.
fn is_refused(target: &str) -> bool {
    let scheme = target.split(':').next().unwrap_or_default();
    let is = |name: &str| scheme.eq_ignore_ascii_case(name) && scheme.len() < target.len();
    ["javascript", "vbscript", "file", "data"]
        .into_iter()
        .any(is)
}

/// End of a definition's label, its colon included.
fn end_of_label(raw: &str) -> Option<usize> {
    let at = unescaped(raw, |byte| byte == b']')?;
    raw.get(at..)?.starts_with("]:").then_some(at + 2)
}

/// The target that stands at a place or behind the white space there, without its angle
/// brackets.
fn target_at(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let rest = text.get(start..end)?;
    // In a quote a line begins with marks.
    let is_between = |c: char| c.is_ascii_whitespace() || c == '>';
    let skipped = rest.find(|c| !is_between(c))?;
    let has_line = rest.get(..skipped)?.contains('\n');
    let skipped = if has_line {
        skipped
    } else {
        rest.find(|c: char| !c.is_ascii_whitespace())?
    };
    let start = start + skipped;
    let rest = text.get(start..end)?;
    if let Some(inner) = rest.strip_prefix('<') {
        return Some(start + 1..start + 1 + unescaped(inner, |byte| byte == b'>')?);
    }
    let mut open = 0_usize;
    let length = unescaped(rest, |byte| match byte {
        b'(' => {
            open += 1;
            false
        }
        b')' if open > 0 => {
            open -= 1;
            false
        }
        b')' => true,
        byte => byte <= b' ',
    });
    Some(start..start + length.unwrap_or(rest.len()))
}

/// The first byte that is meant, and not behind a backslash.
fn unescaped(raw: &str, mut is_meant: impl FnMut(u8) -> bool) -> Option<usize> {
    let mut is_escaped = false;
    raw.bytes().position(|byte| {
        let was_escaped = is_escaped;
        is_escaped = byte == b'\\' && !was_escaped;
        (!was_escaped || byte <= b' ') && is_meant(byte)
    })
}

/// An image with a size, and its target: `![x](target =100x50)`, `![x](target "title" =100x)`.
static SIZED_IMAGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"!\[[^\[]*\]\(\s*([^\s)]+)(?:\s[^)]*)? =[0-9]*%?x[0-9]*%?\s*\)").ok()
});

#[cfg(test)]
mod tests {
    use super::{SourceFormat, links, written_links};
    use crate::page::LinkKind;
    use proptest::prelude::*;

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
        for image in ["![x](/i)", "![x](/i =100x50)"] {
            let image = links(image, SourceFormat::Markdown);
            assert_eq!(
                (image[0].kind, &*image[0].target),
                (LinkKind::Embedded, "/i")
            );
        }
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

    proptest! {
        #[test]
        fn a_text_without_their_signs_has_no_links(text in "([a/:&;#!\\\\|`=~*_\\](){}$ -]|\n|    |> |https:/|www\\.a|&lt;|&#91;){0,24}") {
            prop_assert!(super::may_link(&text) || written_links(&text, SourceFormat::Markdown, "").is_empty());
        }

        #[test]
        fn every_link_stands_where_it_says(text in "(\\[a\\]\\(/b\\)|<a href=/b>|https://x/b|`|\n|    |> |- |<!--|-->|[ä ]|\\[r\\]: /c\n|\\[r\\]){0,24}") {
            for format in [SourceFormat::Markdown, SourceFormat::Html] {
                for link in written_links(&text, format, "") {
                    prop_assert!(text.get(link.at..).is_some_and(|link| !link.is_empty()));
                    prop_assert!(link.range.is_none_or(|range| range.start >= link.at));
                }
                let listed = super::all(&text, format, "").into_iter();
                let listed = listed.filter(|link| link.kind.is_some());
                for (link, written) in links(&text, format).into_iter().zip(listed) {
                    let before = text.get(..written.at).unwrap();
                    prop_assert_eq!(&link.target, &written.target);
                    prop_assert_eq!(link.line, 1 + before.matches('\n').count());
                    prop_assert!(written.range.is_none_or(|range| text.get(range).is_some()));
                }
            }
        }
    }
}
