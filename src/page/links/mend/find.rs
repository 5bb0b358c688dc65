//! The links of a source, with the bytes that their targets take.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use regex::Regex;

use super::super::link::{addresses, begins_paragraph};
use super::super::target::Writing;
use super::html::HtmlLinks;
use super::written::SourceLink;
use crate::page::markdown::html_block::HtmlBlock;
use crate::page::markdown::outline::options;
use crate::page::{Carrier, SourceFormat};

/// The links of a source in its order; none where the format is another. Of bare addresses without
/// a scheme in Markdown, only those of this host are included.
pub(super) fn written_links(text: &str, format: SourceFormat, host: &str) -> Vec<SourceLink> {
    let mut links = match format {
        SourceFormat::Markdown => Markdown::links(text, host),
        SourceFormat::Html => {
            let mut html = HtmlLinks::default();
            html.add(text, text, Some);
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
            links: Vec::new(),
            html: HtmlLinks::default(),
            open: Vec::new(),
            code: 0,
            block: HtmlBlock::default(),
            run: 0..0,
            named: HashMap::new(),
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
            Event::End(TagEnd::HtmlBlock) => self.html_block(),
            Event::Html(_) => self.block.push(self.text, range),
            Event::InlineHtml(html) => {
                let raw = self.text.get(range.clone()).unwrap_or_default();
                let is_whole = raw == html.as_ref();
                let place = |at: Range<usize>| {
                    is_whole.then(|| range.start + at.start..range.start + at.end)
                };
                let first = self.html.links.len();
                self.html.add(self.text, &html, place);
                self.place_in(first, range.start);
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
        let (found, writing) = match open.link_type {
            LinkType::Inline => {
                let rest = self.text.get(open.shown..range.end).unwrap_or_default();
                let found = rest
                    .find("](")
                    .and_then(|at| target_at(self.text, open.shown + at + 2, range.end));
                (found, Writing::Markdown)
            }
            LinkType::Autolink => (Some(range.start + 1..range.end - 1), Writing::Plain),
            // Their target is in their definition.
            _ => return,
        };
        self.add(range.start, found, writing, open.carrier, open.target);
    }

    fn add(
        &mut self,
        at: usize,
        range: Option<Range<usize>>,
        writing: Writing,
        carrier: Carrier,
        target: String,
    ) {
        if is_refused(&target) {
            return;
        }
        let mut link = SourceLink::checked(self.text, at, range, writing, carrier, target);
        link.is_in_code = self.html.is_in_code();
        self.links.push(link);
    }

    /// A definition that links name, or images alone.
    fn definition(&mut self, span: &Range<usize>, target: &str, carrier: Carrier) {
        let raw = self.text.get(span.clone()).unwrap_or_default();
        let found =
            end_of_label(raw).and_then(|at| target_at(self.text, span.start + at, span.end));
        let target = target.to_owned();
        self.add(span.start, found, Writing::Markdown, carrier, target);
    }

    fn html_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        let Some(start) = block.start() else {
            return;
        };
        let place = |at: Range<usize>| {
            let start = block.source(at.start)?;
            Some(start..start + (at.end - at.start))
        };
        let first = self.html.links.len();
        self.html.add(self.text, block.html(), place);
        self.place_in(first, start);
    }

    /// Links in HTML whose place is unknown begin where the HTML does.
    fn place_in(&mut self, first: usize, start: usize) {
        for link in self.html.links.iter_mut().skip(first) {
            link.at = link.at.max(start);
        }
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
            let range = Some(run.start + target.start()..run.start + target.end());
            let target = Writing::Markdown.said(target.as_str());
            self.add(at, range, Writing::Markdown, Carrier::Untouched, target);
        }
        self.addresses(passed..run.end);
    }

    fn addresses(&mut self, run: Range<usize>) {
        if !self.open.is_empty() || self.html.is_in_link() {
            return;
        }
        for address in addresses(self.text, run.clone()) {
            let range = Some(address.range.clone());
            let target = Writing::Markdown.said(&address.target);
            let at = address.range.start;
            self.add(at, range, Writing::Markdown, Carrier::Markdown, target);
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
                self.add(at, None, Writing::Plain, Carrier::Markdown, target);
            }
        }
    }
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
