//! About how a page's new text looks: for people who read text better than its markup. It decides
//! nothing, the difference does.
//!
//! `ammonia` takes out whatever could run, load or restyle; images become their addresses as text.
//! What costs more than its length before that (text that is too long, nested or tangled) is not
//! rendered.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use ammonia::{Builder, UrlRelative};
use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use url::Url;

use super::markup::{self, Frame};
use super::queue::place;
use crate::audit::ProposedChange;
use crate::words::words;

/// The longest text that is rendered, in bytes.
const MOST_BYTES: usize = 32 * 1024;
/// The deepest nesting of elements.
const MOST_DEEP: usize = 200;
/// The most open elements of a format, summed up over all tags: each is made anew within every
/// element that begins then.
const MOST_TANGLED: usize = 50_000;
/// Elements of a format, which stay open until they are closed.
const FORMATS: [&str; 14] = [
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
];
/// Elements that have no end, or that end where the next one begins.
const SHALLOW: [&str; 26] = [
    "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta",
    "option", "p", "param", "rp", "rt", "source", "tbody", "td", "tfoot", "th", "thead", "tr",
    "wbr",
];

words! {
    /// The reason why a text is not rendered.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum NotRenderedReason: message {
        /// It is too long.
        TooLong = "The text is too long to be rendered here.",
        /// Its elements are nested too deep, or overlap too often.
        Tangled = "The text's elements are nested too deep to be rendered here.",
        /// It is of a kind that is not rendered here.
        OtherKind = "Text of this editor is not rendered here.",
    }
}

/// The text of a page as HTML that neither runs nor loads anything.
pub(super) fn rendered(
    editor: &str,
    text: &str,
    address: &str,
) -> Result<String, NotRenderedReason> {
    if text.len() > MOST_BYTES {
        return Err(NotRenderedReason::TooLong);
    }
    let html = match editor {
        "markdown" => Cow::Owned(of_markdown(text)),
        "code" | "ckeditor" | "wysiwyg" => Cow::Borrowed(text),
        _ => return Err(NotRenderedReason::OtherKind),
    };
    if html.len() > 4 * MOST_BYTES {
        return Err(NotRenderedReason::TooLong);
    }
    if is_tangled(&html) {
        return Err(NotRenderedReason::Tangled);
    }
    Ok(in_its_order(&harmless(&html, address)))
}

/// The same, where what would turn round the order of its letters is shown escaped. A text from
/// right to left needs none of these.
fn in_its_order(html: &str) -> String {
    let turns = |c: &char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut shown = String::with_capacity(html.len());
    for c in html.chars() {
        if turns(&c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

fn of_markdown(text: &str) -> String {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES;
    let mut image: Option<String> = None;
    let events = Parser::new_ext(text, options).map(|event| match event {
        Event::Start(Tag::Image { dest_url, .. }) => {
            image = Some(dest_url.into_string());
            Event::Text("[image: ".into())
        }
        Event::End(TagEnd::Image) => {
            let address = image.take().unwrap_or_default();
            Event::Text(format!(" {address}]").into())
        }
        other => other,
    });
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, events);
    html
}

/// True if a browser's tree of it costs much more than its length.
fn is_tangled(html: &str) -> bool {
    let mut open: HashMap<String, usize> = HashMap::new();
    let (mut deep, mut formats, mut cost) = (0_usize, 0_usize, 0_usize);
    for tag in html.split('<').skip(1) {
        let (is_end, rest) = match tag.strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (false, tag),
        };
        let name: String = rest
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        let is_named = name.starts_with(|c: char| c.is_ascii_alphabetic());
        if !is_named || SHALLOW.contains(&&*name) {
            cost = cost.saturating_add(formats);
            continue;
        }
        let is_format = FORMATS.contains(&&*name);
        let own = open.entry(name).or_default();
        if !is_end {
            *own += 1;
            deep += 1;
            formats += usize::from(is_format);
        } else if *own > 0 {
            *own -= 1;
            deep -= 1;
            formats -= usize::from(is_format);
        }
        cost = cost.saturating_add(formats);
        if deep > MOST_DEEP || cost > MOST_TANGLED {
            return true;
        }
    }
    cost > MOST_TANGLED
}

/// Takes out whatever could run, load or restyle.
fn harmless(html: &str, address: &str) -> String {
    let relative = match Url::parse(address) {
        Ok(base) => UrlRelative::RewriteWithBase(base),
        Err(_) => UrlRelative::Deny,
    };
    let cleaned = Builder::default()
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(relative)
        .link_rel(Some("noopener noreferrer nofollow"))
        .attribute_filter(|element, attribute, value| match (element, attribute) {
            // Only characters that end no attribute, so that the address can become text below.
            ("img", "src") => Some(Cow::Owned(
                value.replace(['"', '<', '>', '&', '\'', ' '], "%20"),
            )),
            ("img", _) => None,
            _ => Some(Cow::Borrowed(value)),
        })
        .clean(html)
        .to_string();
    let mut parts = cleaned.split("<img");
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (tag, rest) = part.split_once('>').unwrap_or((part, ""));
        let source = tag.split('"').nth(1).unwrap_or_default();
        told.push_str("<code>[image: ");
        told.push_str(source);
        told.push_str("]</code>");
        told.push_str(rest);
    }
    told
}

/// The page.
pub(super) fn page(
    (back, one, address): (&str, &ProposedChange, &str),
    shown: &Result<String, NotRenderedReason>,
    frame: &Frame,
) -> Markup {
    let body = html! {
        main #main {
            p.back { a href=(frame.links().set(back)) { "← To the change" } }
            h1 { "About how " span.path { (place(&one.locale, &one.path)) } " will look" }
            p.warning {
                "This is approximate: the wiki renders it with its own style, scripts and macros. "
                "Nothing is loaded, images are their addresses. What is decided is the difference, not this view."
            }
            @match shown {
                Ok(html) => article.rendered dir="auto" { (PreEscaped(html)) },
                Err(why) => p.empty { (why.message()) },
            }
            p.more { a href=(address) rel="noopener noreferrer" target="_blank" { "The page in the wiki, as it is now" } }
        }
    };
    markup::page("As rendered", frame, &body)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{MOST_BYTES, NotRenderedReason, rendered};

    const HERE: &str = "https://wiki.example.com/en/docs/a";

    fn html(text: &str) -> String {
        rendered("code", text, HERE).unwrap()
    }

    #[test]
    fn what_runs_loads_or_restyles_is_taken_out() {
        for hostile in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "<svg onload=alert(1)><script>1</script></svg>",
            "<a href=\"javascript:alert(1)\">x</a>",
            "<a href=\" java\nscript:alert(1)\">x</a>",
            "<iframe src=https://evil.example></iframe>",
            "<object data=https://evil.example></object><embed src=https://evil.example>",
            "<style>body{display:none}</style><link rel=stylesheet href=https://evil.example>",
            "<p style=\"position:fixed;inset:0\" class=\"decide\" id=\"apply\">x</p>",
            "<form action=https://evil.example><input name=form_token><button>Apply</button></form>",
            "<meta http-equiv=refresh content=\"0; url=https://evil.example\"><base href=https://evil.example>",
            "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
            "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
            "<video src=https://evil.example poster=https://evil.example></video>",
            "<img src='https://evil.example/x\"><script>alert(1)</script>'>",
            "<details ontoggle=alert(1) open>x</details>",
        ] {
            for editor in ["code", "markdown"] {
                let shown = rendered(editor, hostile, HERE).unwrap();
                let shown = shown.to_lowercase();
                for bad in [
                    "<script",
                    "<img",
                    "<svg",
                    "<iframe",
                    "<object",
                    "<embed",
                    "<style",
                    "<link",
                    "<form",
                    "<input",
                    "<button",
                    "<meta",
                    "<base",
                    "<video",
                    "javascript:",
                    " style=",
                    " class=",
                    " id=",
                    "src=",
                ] {
                    // As text all of it may stand there.
                    assert!(!shown.contains(bad), "{hostile}: {shown}");
                }
                let tags = shown.split('<').filter_map(|tag| tag.split_once('>'));
                for (tag, _) in tags {
                    assert!(!tag.contains(" on"), "{hostile}: {shown}");
                }
            }
        }
    }

    #[test]
    fn text_keeps_its_form_and_images_become_their_addresses() {
        let shown = rendered(
            "markdown",
            "# A\n\n*b* [c](d) ![e](https://f.example/g.png)\n\n|x|\n|-|\n|y|\n",
            HERE,
        );
        let shown = shown.unwrap();
        for part in [
            "<h1>A</h1>",
            "<em>b</em>",
            "href=\"https://wiki.example.com/en/docs/d\"",
            "[image: e https://f.example/g.png]",
            "<td>y</td>",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert_eq!(
            html("<p><img alt=a src=\"https://x.example/y.png\"> z</p>"),
            "<p><code>[image: https://x.example/y.png]</code> z</p>"
        );
        assert_eq!(
            rendered("asciidoc", "x", HERE),
            Err(NotRenderedReason::OtherKind)
        );
    }

    #[test]
    fn what_would_cost_more_than_its_length_is_not_rendered() {
        let long = "x".repeat(5 << 20);
        assert_eq!(
            rendered("markdown", &long, HERE),
            Err(NotRenderedReason::TooLong)
        );
        let formats: Vec<String> = (0..1_000).map(|at| format!("<b a={at}>")).collect();
        let formats = formats.concat();
        for text in [
            "<div>".repeat(5_000),
            "<blockquote>".repeat(1_000),
            "<b><p>".repeat(1_000),
            format!("{formats}{}", "<p>".repeat(1_000)),
        ] {
            assert_eq!(
                rendered("code", &text, HERE),
                Err(NotRenderedReason::Tangled)
            );
        }
        let quotes = ">".repeat(MOST_BYTES);
        assert!(rendered("markdown", &quotes, HERE).is_err());
        // What is taken is rendered soon.
        let begun = Instant::now();
        for text in [
            "<p>".repeat(MOST_BYTES / 3),
            "<td>".repeat(MOST_BYTES / 4),
            "<li>".repeat(MOST_BYTES / 4),
            "</p>".repeat(MOST_BYTES / 4),
            "<table>".repeat(150),
            "<".repeat(MOST_BYTES),
            "&".repeat(MOST_BYTES),
        ] {
            let _ = rendered("code", &text, HERE);
        }
        assert!(
            begun.elapsed() < Duration::from_mins(1),
            "{:?}",
            begun.elapsed()
        );
    }
}
