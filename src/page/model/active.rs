//! The parts of a page's source that run in readers' browsers or make them load something from
//! other sites.

use pulldown_cmark::{Event, Parser, Tag as MarkdownTag, TagEnd};
use url::Url;

use super::super::css::tokens::{CssKind, CssTokens, decoded};
use super::super::html::{HtmlTag, HtmlToken, scan};
use super::super::markdown::html_block::HtmlBlock;
use super::super::markdown::outline::{has_marks, options};
use super::super::select::position::lines_of;
use crate::page::{SourceFormat, has_too_many_signs};

/// A part of a source that is more than text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Active {
    /// Its kind.
    pub kind: ActiveKind,
    /// A word that identifies it: an element, an attribute, or the host of an address.
    pub what: String,
    /// Its line, from 1.
    pub line: usize,
}

/// The effect of an active part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ActiveKind {
    /// It runs: a script, a handler, a `javascript:` address.
    Script,
    /// Browsers load it from another site by themselves: a picture, a style, a frame.
    Foreign,
}

/// Attributes whose addresses browsers load by themselves.
const LOADING: [&str; 5] = ["src", "poster", "data", "background", "xlink:href"];
/// Elements whose `href` browsers load by themselves; on others it is a link.
const LOADED_BY_HREF: [&str; 5] = ["link", "image", "use", "feimage", "base"];
/// Functions of a style sheet that load the addresses in their strings.
const LOADING_IN_CSS: [&str; 5] = ["url", "src", "image", "image-set", "-webkit-image-set"];
/// Schemes whose addresses run the code that follows.
const RUNNING: [&str; 3] = ["javascript:", "vbscript:", "data:text/html"];
/// The longest word that is shown, in characters.
const MOST_CHARS: usize = 80;

/// All active parts of a source, in order. Code that is only displayed does not count.
pub fn active(text: &str, format: SourceFormat, wiki: &Url) -> Vec<Active> {
    let mut found = ActiveCollector {
        wiki,
        active: Vec::new(),
    };
    match format {
        _ if !may_be_active(text, format) => {}
        SourceFormat::Markdown => found.markdown(text),
        _ => found.html(text, |at| at),
    }
    found.active.sort_by_key(|(at, _)| *at);
    let mut line_of = lines_of(text);
    let placed = found.active.into_iter().map(|(at, active)| Active {
        line: line_of(at),
        ..active
    });
    placed.collect()
}

/// True if a source has too many signs to be searched for active parts.
pub fn has_unchecked_active(text: &str, format: SourceFormat) -> bool {
    may_be_active(text, format) && has_too_many_signs(text, format)
}

/// True if a source has a sign that every active part needs.
fn may_be_active(text: &str, format: SourceFormat) -> bool {
    match format {
        SourceFormat::Markdown => has_marks(text),
        SourceFormat::Html => true,
        // It passes HTML through only between these marks.
        SourceFormat::AsciiDoc => text.contains("+++") || text.contains("pass:"),
        SourceFormat::Other => false,
    }
}

/// Finds what a style sheet loads from other sites.
pub fn active_styles(css: &str, wiki: &Url) -> Vec<Active> {
    let mut found = ActiveCollector {
        wiki,
        active: Vec::new(),
    };
    found.css(css, 0);
    found.active.into_iter().map(|(_, active)| active).collect()
}

struct ActiveCollector<'a> {
    wiki: &'a Url,
    /// Each with its byte offset.
    active: Vec<(usize, Active)>,
}

impl ActiveCollector<'_> {
    fn add(&mut self, kind: ActiveKind, what: impl AsRef<str>, at: usize) {
        let what = super::super::escaped(what.as_ref(), MOST_CHARS);
        // Its line in a page is counted when all are found.
        let line = 1;
        self.active.push((at, Active { kind, what, line }));
    }

    fn markdown(&mut self, text: &str) {
        // The wiki also renders the head of a page (it does not know YAML blocks).
        let mut block = HtmlBlock::default();
        for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
            match event {
                // In a quote, the source has the quote's marks between the lines of a tag.
                Event::Html(_) => block.push(text, range),
                Event::End(TagEnd::HtmlBlock) => {
                    let block = std::mem::take(&mut block);
                    self.html(block.html(), |at| block.source(at).unwrap_or(range.start));
                }
                Event::InlineHtml(html) => self.html(&html, |at| range.start + at),
                Event::Start(MarkdownTag::Link { dest_url, .. }) if runs(&dest_url) => {
                    self.add(ActiveKind::Script, scheme_of(&dest_url), range.start);
                }
                Event::Start(MarkdownTag::Image { dest_url, .. }) => {
                    self.address("img", &dest_url, range.start);
                }
                _ => {}
            }
        }
    }

    /// HTML; `source` maps a byte of it to its place in the page's text.
    fn html(&mut self, html: &str, source: impl Fn(usize) -> usize) {
        let mut is_in_style = false;
        scan(html, |token, range| {
            let at = source(range.start);
            match token {
                HtmlToken::Open(tag) => {
                    is_in_style = tag.name() == "style";
                    self.tag(tag, at);
                }
                HtmlToken::Text(css) if is_in_style => self.css(css, at),
                HtmlToken::Close(_) => is_in_style = false,
                _ => {}
            }
        });
    }

    fn tag(&mut self, tag: &HtmlTag, at: usize) {
        let element = tag.name();
        if element == "script" {
            self.add(ActiveKind::Script, "script", at);
        }
        for (name, value) in tag.attributes.iter() {
            match name {
                _ if is_handler(name) || name == "srcdoc" => {
                    self.add(ActiveKind::Script, name, at);
                }
                _ if runs(value) => self.add(ActiveKind::Script, scheme_of(value), at),
                "style" => self.css(value, at),
                "srcset" | "imagesrcset" => {
                    for one in value.split(',') {
                        let address = one.split_whitespace().next().unwrap_or_default();
                        self.address(element, address, at);
                    }
                }
                "href" if LOADED_BY_HREF.contains(&element) => self.address(element, value, at),
                name if LOADING.contains(&name) => self.address(element, value, at),
                "content" if element == "meta" => self.refresh(value, at),
                _ => {}
            }
        }
    }

    /// `<meta http-equiv="refresh" content="0; url=…">` leads readers away by itself.
    fn refresh(&mut self, content: &str, at: usize) {
        let lower = content.to_ascii_lowercase();
        let address = lower.split_once("url=").map_or("", |(_, address)| address);
        let address = address.trim_matches(['"', '\'', ' ']);
        if runs(address) {
            self.add(ActiveKind::Script, scheme_of(address), at);
        } else {
            self.address("meta refresh", address, at);
        }
    }

    /// What a style sheet or its declarations load: by `url(…)` and its like, or by `@import` with
    /// a string.
    fn css(&mut self, css: &str, at: usize) {
        let (mut place, mut name, mut was_import) = (at, String::new(), false);
        // Whether each open bracket is that of a function that loads.
        let mut loads = Vec::new();
        for (kind, piece) in CssTokens::of(css) {
            let is_import = was_import || name.eq_ignore_ascii_case("@import");
            was_import = false;
            match kind {
                CssKind::Word => name.push_str(piece),
                CssKind::Escape => name.push_str(&decoded(piece)),
                CssKind::Space | CssKind::Comment => {
                    was_import = is_import;
                    name.clear();
                }
                CssKind::Quoted => {
                    if is_import || loads.last() == Some(&true) {
                        self.address("style", piece.trim_matches(['"', '\'']), place);
                    }
                    name.clear();
                }
                CssKind::Mark | CssKind::Sign => {
                    let is_name = |one: &&str| name.eq_ignore_ascii_case(one);
                    match piece {
                        "(" => loads.push(LOADING_IN_CSS.iter().any(is_name)),
                        ")" => drop(loads.pop()),
                        _ => {}
                    }
                    name.clear();
                    name.push_str(if piece == "@" { piece } else { "" });
                }
            }
            place += piece.len();
        }
    }

    /// Adds an address that browsers load, if it belongs to another site.
    fn address(&mut self, by: &str, address: &str, at: usize) {
        let address: String = address.trim().chars().filter(|c| !c.is_control()).collect();
        // Only these can lead elsewhere; browsers treat a backslash as a slash.
        if !address.starts_with(['/', '\\']) && !address.contains(':') {
            return;
        }
        let Ok(url) = self.wiki.join(&address) else {
            return;
        };
        let host = url.host_str().unwrap_or_default();
        if host != self.wiki.host_str().unwrap_or_default() && !host.is_empty() {
            self.add(ActiveKind::Foreign, format!("{by} from {host}"), at);
        }
    }
}

/// True if an attribute holds a script: a handler, or what Wiki.js' own pages treat as one.
fn is_handler(name: &str) -> bool {
    let is_event = |on: &str| on.len() > 2 && on.bytes().all(|b| b.is_ascii_alphabetic());
    name.strip_prefix("on").is_some_and(is_event)
        || name == "v-html"
        || name.starts_with("v-on:")
        || name.len() > 1 && name.starts_with('@')
}

/// True if an address runs what follows its scheme. Browsers drop control characters and white
/// space first.
fn runs(address: &str) -> bool {
    let longest = 16;
    let bare: String = address
        .chars()
        .filter(|c| !c.is_control() && !c.is_whitespace())
        .take(longest)
        .collect::<String>()
        .to_ascii_lowercase();
    RUNNING.iter().any(|scheme| bare.starts_with(scheme))
}

fn scheme_of(address: &str) -> &'static str {
    let first = address.trim_start().chars().next();
    match first.map(|c| c.to_ascii_lowercase()) {
        Some('v') => "vbscript:",
        Some('d') => "data:text/html",
        _ => "javascript:",
    }
}

#[cfg(test)]
mod tests {
    use super::{ActiveCollector, ActiveKind, active, active_styles, has_marks};
    use crate::page::SourceFormat;
    use crate::page::testing::worked;
    use proptest::prelude::*;
    use url::Url;

    fn wiki() -> Url {
        Url::parse("https://wiki.example.org").unwrap()
    }

    fn found(text: &str, format: SourceFormat) -> Vec<(ActiveKind, String, usize)> {
        let found = active(text, format, &wiki()).into_iter();
        found.map(|one| (one.kind, one.what, one.line)).collect()
    }

    #[test]
    fn what_runs_is_found_in_every_form() {
        for (text, what) in [
            ("<script>x()</script>", "script"),
            ("text <script src=x.js></script>", "script"),
            ("<ScRiPt >x</script>", "script"),
            ("<a onclick=\"x()\">y</a>", "onclick"),
            ("<img src=x onerror=x()>", "onerror"),
            ("<svg onload=x()>", "onload"),
            ("<a href=\"java\tscript:x()\">y</a>", "javascript:"),
            ("<a href=' JavaScript:x()'>y</a>", "javascript:"),
            ("<form action=javascript:x()>", "javascript:"),
            ("<a href='data:text/html,x'>y</a>", "data:text/html"),
            ("<iframe srcdoc='<p>x'></iframe>", "srcdoc"),
            ("<p @click='x()'>y</p>", "@click"),
            ("<p v-html='x'>y</p>", "v-html"),
            ("[y](javascript:x())", "javascript:"),
            ("> <p\n> onclick=x()>y</p>", "onclick"),
            ("> a <b\n> onclick=x()>y</b>", "onclick"),
            ("- <p\n  onclick=x()>y</p>", "onclick"),
            (
                "<meta http-equiv=refresh content='0; url=javascript:x()'>",
                "javascript:",
            ),
        ] {
            let found = found(text, SourceFormat::Markdown);
            let whats: Vec<&str> = found.iter().map(|(_, what, _)| &**what).collect();
            assert_eq!(whats, [what], "{text}");
            assert_eq!(found[0].0, ActiveKind::Script);
        }
    }

    #[test]
    fn what_is_loaded_from_elsewhere_is_found_in_every_form() {
        for (text, by) in [
            ("![x](https://evil.example/x.png)", "img"),
            ("<img src=//evil.example/x>", "img"),
            ("<img src='/\\evil.example/x'>", "img"),
            ("<img src='\\\\evil.example/x'>", "img"),
            ("<img src='https:\\\\evil.example/x'>", "img"),
            ("---\nt: <img src=//evil.example/x>\n---\n", "img"),
            ("<img srcset='/a 1x, https://evil.example/b 2x'>", "img"),
            ("<iframe src='https://evil.example'></iframe>", "iframe"),
            (
                "<link rel=stylesheet href=https://evil.example/x.css>",
                "link",
            ),
            (
                "<p style='background:url(https://evil.example/x)'>y</p>",
                "style",
            ),
            ("<style>@import 'https://evil.example/x';</style>", "style"),
            (
                "<style>@\\69mport/**/'https://evil.example/x';</style>",
                "style",
            ),
            (
                "<style>@import url(\"https://evil.example/x\");</style>",
                "style",
            ),
            (
                "<p style='background:u\\72l(https://evil.example/x)'>y</p>",
                "style",
            ),
            (
                "<p style='background:image-set(type(\"a/b\") 1x, \"//evil.example/x\" 2x)'>y</p>",
                "style",
            ),
            ("<video poster=https://evil.example/x></video>", "video"),
        ] {
            let found = found(text, SourceFormat::Markdown);
            let whats: Vec<&str> = found.iter().map(|(_, what, _)| &**what).collect();
            assert_eq!(whats, [format!("{by} from evil.example")], "{text}");
            assert_eq!(found[0].0, ActiveKind::Foreign);
        }
        for (css, count) in [
            (
                "a{background:url( \"//evil.example/x\" )}b{background:url(/own.png)}",
                1,
            ),
            (
                "a{b:URL(\n//evil.example/x )}@import/**/'//evil.example'",
                2,
            ),
            ("a{b:\"c\r;d:url(//evil.example)", 1),
            ("a{b:url(c\\)d');e:url(//evil.example)", 1),
            (
                "/* url(//evil.example) */a{content:'url(//evil.example)'}",
                0,
            ),
            (
                "@namespace '//evil.example';a[href^='//evil.example']{b:attr(c, '//evil.example')}",
                0,
            ),
        ] {
            assert_eq!(active_styles(css, &wiki()).len(), count, "{css}");
        }
    }

    #[test]
    fn what_is_shown_or_stays_on_the_wiki_is_not_active() {
        for text in [
            "`<script>` and `onclick=` are words",
            "```html\n<script>x()</script>\n```",
            "    <script>x()</script>",
            "[a link](https://evil.example) and <https://evil.example>",
            "<a href=https://evil.example>y</a>",
            "![own](/x.png) ![own](https://wiki.example.org/x.png) ![own](x.png)",
            "javascript: is a scheme, onclick=1 an attribute",
            "<p class=onclick data-on=1 on=2>y</p>",
            "<!-- <script>x()</script> -->",
            "<img src='data:image/png;base64,AAAA'>",
        ] {
            assert_eq!(found(text, SourceFormat::Markdown), [], "{text}");
        }
        // No HTML in Markdown, and some in HTML.
        assert_eq!(found("<svg/onload=x()>", SourceFormat::Markdown), []);
        assert_eq!(found("<svg/onload=x()>", SourceFormat::Html).len(), 1);
        assert_eq!(
            found("= A\n\n<script>x</script>\n", SourceFormat::AsciiDoc),
            []
        );
        assert_eq!(
            found("++++\n<script>x</script>\n++++\n", SourceFormat::AsciiDoc).len(),
            1
        );
    }

    #[test]
    fn a_style_sheet_of_unended_addresses_is_looked_through_in_linear_time() {
        for mark in ["url(", "@import", "\\61", "u\\72l("] {
            let css = mark.repeat(100_000);
            let began = worked();
            assert_eq!(active_styles(&css, &wiki()), []);
            let took = worked().saturating_sub(began);
            assert!(took.as_secs() < 60, "{took:?}");
        }
    }

    #[test]
    fn its_line_is_told() {
        let text = "---\nt: 1\n---\n\none\n\n<p>\n<b onclick=x>y</b></p>\n\n![x](//e.example/x)\n";
        let lines: Vec<usize> = found(text, SourceFormat::Markdown)
            .into_iter()
            .map(|(_, _, line)| line)
            .collect();
        assert_eq!(lines, [8, 10]);
    }

    proptest! {
        #[test]
        fn a_text_without_brackets_has_nothing_active(text in r"([a/:&;#!|`=~*_\](){}$\n -]|javascript:|&lt;|&#91;){0,24}") {
            let wiki = wiki();
            let mut all = ActiveCollector { wiki: &wiki, active: Vec::new() };
            all.markdown(&text);
            prop_assert!(has_marks(&text) || all.active.is_empty());
        }

        #[test]
        fn no_text_is_too_strange(text in r#"[<>a-c="'/:()!\[\]@\n ]{0,80}"#) {
            for format in [SourceFormat::Markdown, SourceFormat::Html, SourceFormat::AsciiDoc] {
                let _ = found(&text, format);
            }
        }
    }
}
