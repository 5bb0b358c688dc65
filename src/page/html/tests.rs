//! Our tokens against those of another parser, `html5ever`, whose tree tells its tokenizer how
//! to go on, as in a browser.

use std::cell::RefCell;

use html5ever::tokenizer::{
    BufferQueue, TagKind, Token as Theirs, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use markup5ever_rcdom::{Handle, RcDom};
use proptest::prelude::*;

use super::{HtmlToken, scan};
use crate::page::testing::But as _;

/// A list of tokens, texts in a row as one.
#[derive(Debug, Default, PartialEq)]
struct TokenList(Vec<String>);

impl TokenList {
    fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.starts_with('"') => last.push_str(text),
            _ => self.0.push(format!("\"{text}")),
        }
    }

    fn tag(&mut self, sign: &str, name: &str, attributes: &[(String, String)]) {
        let mut attributes = attributes.to_vec();
        attributes.sort();
        self.0.push(format!("{sign}{name} {attributes:?}"));
    }
}

struct Recorder {
    tree: TreeBuilder<Handle, RcDom>,
    told: RefCell<TokenList>,
}

impl TokenSink for Recorder {
    type Handle = Handle;

    fn process_token(&self, token: Theirs, line: u64) -> TokenSinkResult<Handle> {
        let mut told = self.told.borrow_mut();
        match &token {
            Theirs::TagToken(tag) => {
                let is_start = tag.kind == TagKind::StartTag;
                let attributes = tag.attrs.iter().filter(|_| is_start).map(|attribute| {
                    (
                        attribute.name.local.to_string(),
                        attribute.value.to_string(),
                    )
                });
                let attributes: Vec<_> = attributes.collect();
                told.tag(if is_start { "<" } else { "</" }, &tag.name, &attributes);
            }
            Theirs::CommentToken(text) => told.0.push(format!("!{text}")),
            Theirs::CharacterTokens(text) => told.text(text),
            Theirs::NullCharacterToken => told.text("\0"),
            Theirs::DoctypeToken(_) => told.0.push("doctype".to_owned()),
            Theirs::EOFToken | Theirs::ParseError(_) => {}
        }
        drop(told);
        self.tree.process_token(token, line)
    }

    fn end(&self) {
        self.tree.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.tree
            .adjusted_current_node_present_but_not_in_html_namespace()
    }
}

fn theirs(html: &str) -> TokenList {
    let recorder = Recorder {
        tree: TreeBuilder::new(RcDom::default(), TreeBuilderOpts::default()),
        told: RefCell::default(),
    };
    let options = TokenizerOpts::default().but(|opts| opts.discard_bom = false);
    let tokenizer = Tokenizer::new(recorder, options);
    let queue = BufferQueue::default();
    queue.push_back(html.into());
    while let html5ever::TokenizerResult::Script(_) = tokenizer.feed(&queue) {}
    tokenizer.end();
    tokenizer.sink.told.take()
}

fn ours(html: &str) -> TokenList {
    let mut told = TokenList::default();
    scan(html, |token, _| match token {
        HtmlToken::Open(tag) => {
            let mut attributes: Vec<(String, String)> = Vec::new();
            for (name, value) in tag.attributes.iter() {
                if attributes.iter().all(|(there, _)| there != name) {
                    attributes.push((name.to_owned(), value.to_owned()));
                }
            }
            told.tag("<", tag.name(), &attributes);
        }
        HtmlToken::Close(tag) => told.tag("</", tag.name(), &[]),
        HtmlToken::Comment(text) => told.0.push(format!("!{text}")),
        HtmlToken::Text(text) => told.text(text),
        HtmlToken::Doctype => told.0.push("doctype".to_owned()),
        HtmlToken::Dropped => {}
    });
    told
}

/// Pieces of hostile HTML.
fn html() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "\u{e4}",
        "\u{1F600}",
        " ",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "\0",
        "<",
        ">",
        "/",
        "=",
        "\"",
        "'",
        "`",
        "&",
        ";",
        "<!--",
        "-->",
        "--!>",
        "<!-->",
        "<!--->",
        "<!",
        "<?",
        "</",
        "</ ",
        "<!DOCTYPE html>",
        "<![CDATA[",
        "]]>",
        "<p",
        "<div a=x\">",
        "<b c='",
        "<i d=\"",
        "<a href=/x>",
        "<A B C=D b=e>",
        "</p>",
        "</div x=y>",
        "<br/>",
        "<p hidden>",
        "<h1>",
        "</h1>",
        "<script>",
        "</script>",
        "</script ",
        "<style>",
        "</style>",
        "<textarea>",
        "</textarea>",
        "<title>",
        "</title",
        "<xmp>",
        "</xmp>",
        "<iframe>",
        "</iframe>",
        "<noscript>",
        "</noscript>",
        "<noembed>",
        "</noembed>",
        "<noframes>",
        "</noframes>",
        "<plaintext>",
        "<table>",
        "<td>",
        "&amp;",
        "&amp",
        "&lt",
        "&notit;",
        "&#65;",
        "&#x41",
        "&#0;",
        "&#x80;",
        "&#xD800;",
        "&#x110000;",
        "&CounterClockwiseContourIntegral;",
        "&nGt;",
        "&ngt",
        "&copy=",
        "&copy",
        "&colon;",
        "&NoBreak;",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24)
        .prop_map(|pieces| pieces.concat())
}

/// The same in drawings and formulas.
fn foreign() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "<svg>",
        "</svg>",
        "<svg/>",
        "<math>",
        "</math>",
        "<svg><g>",
        "<svg><g></g>",
        "<svg><g/>",
        "<style>",
        "</style>",
        "<script>",
        "</script>",
        "<textarea>",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "<p>",
        "</p>",
        "<b>",
        "<font>",
        "<font color=red>",
        "<xmp>",
        "</xmp>",
        "<path d='M0 0'/>",
        "&lt;",
        "<math><mrow>",
        "</br>",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..16)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) })]

    #[test]
    fn tags_and_texts_are_those_of_another_parser(html in html()) {
        prop_assert_eq!(ours(&html), theirs(&html));
    }

    #[test]
    fn drawings_and_formulas_are_those_of_another_parser(html in foreign()) {
        prop_assert_eq!(ours(&html), theirs(&html));
    }

    #[test]
    fn any_text_is_what_it_is_to_another_parser(html in any::<String>()) {
        prop_assert_eq!(ours(&html), theirs(&html));
    }
}
