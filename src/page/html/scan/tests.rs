use std::fmt::Write as _;

use super::{HtmlToken, scan};
use proptest::prelude::*;

fn told(html: &str) -> String {
    let mut told = String::new();
    scan(html, |token, at| {
        let piece = match token {
            HtmlToken::Open(tag) => {
                let attributes = tag.attributes.iter();
                let attributes = attributes.map(|(name, value)| format!(" {name}={value}"));
                let attributes: Vec<String> = attributes.collect();
                format!("<{}{}>", tag.name(), attributes.concat())
            }
            HtmlToken::Close(tag) => format!("</{}>", tag.name()),
            HtmlToken::Comment(text) => format!("!{text}!"),
            HtmlToken::Doctype => "doctype".to_owned(),
            HtmlToken::Text(text) => text.to_string(),
            HtmlToken::Dropped => "dropped".to_owned(),
        };
        let _ = write!(told, "{piece}@{}-{}|", at.start, at.end);
    });
    told
}

#[test]
fn tags_are_read_as_browsers_read_them() {
    for (html, tokens) in [
        (
            "<div a=x\"><!-- c -->d",
            "<div a=x\">@0-10|! c !@10-20|d@20-21|",
        ),
        ("<A B='&lt;\"' b=2 C>e", "<a b=<\" b=2 c=>@0-19|e@19-20|"),
        ("<a b=\"c\"d=e/>", "<a b=c d=e/>@0-13|"),
        (
            "a<!-->b<!--->c<!--d--!>e",
            "a@0-1|!!@1-6|b@6-7|!!@7-13|c@13-14|!d!@14-23|e@23-24|",
        ),
        ("<?x?><!y></ z></>w", "!?x?!@0-5|!y!@5-9|! z!@9-14|w@14-18|"),
        ("<![CDATA[a]]>b", "![CDATA[a]]!@0-13|b@13-14|"),
        (
            "<svg><![CDATA[<a>]]><title><b></title></svg>",
            "<svg>@0-5|<a>@5-20|<title>@20-27|<b>@27-30|</title>@30-38|</svg>@38-44|",
        ),
        (
            "<script>a</b></script >c",
            "<script>@0-8|a</b>@8-13|</script>@13-23|c@23-24|",
        ),
        (
            "<script><!--<script></script>--></script>x",
            "<script>@0-8|<!--<script></script>-->@8-32|</script>@32-41|x@41-42|",
        ),
        (
            "<textarea><p>&amp;</textarea><p>",
            "<textarea>@0-10|<p>&@10-18|</textarea>@18-29|<p>@29-32|",
        ),
        ("<!DOCTYPE html>a < b & c", "doctype@0-15|a < b & c@15-24|"),
        (
            "&amplt;&#65&#x80;&#0;&notit;&nope;",
            "&lt;A€\u{FFFD}¬it;&nope;@0-34|",
        ),
        ("a\r\n<b\r\nc\r=d>e", "a\n@0-3|<b c=d>@3-12|e@12-13|"),
        ("a<b c", "a@0-1|dropped@1-5|"),
        ("a<b c=\"</b>", "a@0-1|dropped@1-11|"),
        ("a<!--b", "a@0-1|!b!@1-6|"),
        ("a<", "a<@0-2|"),
        ("a</", "a</@0-3|"),
        ("<title>a</tit", "<title>@0-7|a</tit@7-13|"),
    ] {
        assert_eq!(told(html), tokens, "{html}");
    }
}

proptest! {
    #[test]
    fn tokens_take_all_of_a_text_in_order(text in "([<>/a\"'!=ä\r\n\0 -]|<!--|-->|<script>|</script|<title|<svg>|<math>|<p>|<!\\[CDATA\\[|\\]\\]>|&amp;|&#x|<plaintext>){0,30}") {
        let mut end = 0;
        scan(&text, |_, at| {
            assert!(at.start == end && at.end > at.start, "{text:?} {at:?}");
            end = at.end;
            assert!(text.is_char_boundary(end), "{text:?}");
        });
        prop_assert_eq!(end, text.len());
    }
}
