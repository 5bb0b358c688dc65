use std::collections::{BTreeMap, VecDeque};

use parking_lot::Mutex;

use super::{HiddenKind, HiddenText, HiddenTextCache, MOST};
use crate::page::{Occurrences, SourceFormat, escaped};

fn found(count: usize, lines: &[usize]) -> Occurrences {
    Occurrences {
        count,
        lines: lines.to_vec(),
    }
}

#[test]
fn what_is_hidden_is_counted_with_its_lines() {
    let text = "# A\u{202E}b\n\nx\u{200B}y\u{200B}\n<!-- one\n\ntwo --> and <span style=\"Display : NONE\">z</span>\n\n<div hidden>\n\n`<!-- shown -->`\n\n```\n<!-- shown -->\n```\n";
    assert_eq!(
        HiddenText::of(text, SourceFormat::Markdown, None),
        Some(HiddenText {
            is_unchecked: false,
            found: BTreeMap::from([
                (HiddenKind::InvisibleCharacters, found(2, &[3])),
                (HiddenKind::BidirectionalControls, found(1, &[1])),
                (HiddenKind::Comments, found(1, &[4])),
                (HiddenKind::HiddenElements, found(2, &[6, 8])),
            ])
        })
    );
    let hidden = HiddenText::of("<p>a<!-- b -->\n<!c>", SourceFormat::Html, None);
    assert_eq!(
        hidden.unwrap().found[&HiddenKind::Comments],
        found(2, &[1, 2])
    );
    assert_eq!(
        HiddenText::of("<!-- a -->", SourceFormat::Other, None),
        None
    );
}

#[test]
fn what_belongs_to_a_visible_character_hides_nothing() {
    for text in [
        "⚠️ 1️⃣ 👩‍👩‍👧 ❤️‍🔥 🏴\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F} 👍🏽",
        "می‌خواهم",
        "क्‍ष",
        "tab\tand\r\nline",
        "日本語 – “x” é 葛\u{E0100}",
        "Donau\u{AD}dampf\u{AD}schiff",
        "ภาษา\u{200B}ไทย",
        "שלום\u{200F} (ok)",
        "- a\n\n- [x] b\n- [X] c\n\nd\n\n1. [x] e\n\n2. f",
    ] {
        assert_eq!(
            HiddenText::of(text, SourceFormat::Markdown, None),
            None,
            "{text}"
        );
        assert!(!escaped(text, 100).contains('\\'), "{text}");
    }
}

#[test]
fn escaped_text_shows_what_is_hidden() {
    assert_eq!(
        escaped("a\u{202e}b\u{e0041}\nc", 100),
        "a\\u{202e}b\\u{e0041} c"
    );
    assert_eq!(escaped("abc", 2), "ab…");
    // Bytes in a row of variation selectors are no emoji's.
    let hidden = HiddenText::of("😀\u{FE0F}\u{FE01}\u{FE02}", SourceFormat::Other, None);
    let characters = &hidden.unwrap().found[&HiddenKind::InvisibleCharacters];
    assert_eq!(characters, &found(2, &[1]));
}

#[test]
fn a_page_s_own_css_hides_what_it_names() {
    let css = ".note .x, p#y { display: none } @media print { .z { display: none } }";
    for (html, is_hidden) in [
        ("<div class=note><b class='a x'>t</b></div>", true),
        ("<b class='a x'>t</b>", false),
        ("<p id=y>t", true),
        ("<p id=y style='display:block'>t", false),
        ("<div id=y>t</div><p class=z>t", false),
    ] {
        let hidden = HiddenText::of(html, SourceFormat::Html, Some(css));
        assert_eq!(hidden.is_some(), is_hidden, "{html} {hidden:?}");
        assert_eq!(HiddenText::of(html, SourceFormat::Html, None), None);
    }
}

#[test]
fn an_element_whose_tag_is_broken_over_lines_of_a_quote_is_hidden() {
    for text in [
        "> a <span\n> hidden>b</span>\n",
        "> <div\n> hidden>b</div>\n",
        "- a <span\n  hidden>b</span>\n",
    ] {
        let hidden = HiddenText::of(text, SourceFormat::Markdown, None);
        let elements = &hidden.unwrap().found[&HiddenKind::HiddenElements];
        assert_eq!(elements, &found(1, &[1]), "{text}");
    }
}

fn empty() -> HiddenTextCache {
    HiddenTextCache(Mutex::new(VecDeque::new()))
}

#[test]
fn what_was_found_is_told_of_the_same_text_format_and_styles_alone() {
    let last = empty();
    let text = "read once <!-- and again -->";
    let looks = |text, format, css| {
        let mut looks = false;
        last.or_look(text, format, css, || {
            looks = true;
            None
        });
        looks
    };
    assert!(looks(text, SourceFormat::Markdown, ""));
    assert!(!looks(text, SourceFormat::Markdown, ""));
    assert!(looks(
        "read once <!-- and again --",
        SourceFormat::Markdown,
        ""
    ));
    assert!(looks(text, SourceFormat::Other, ""));
    assert!(looks(text, SourceFormat::Markdown, "p { display: none }"));
    assert!(!looks(text, SourceFormat::Markdown, ""));
}

#[test]
fn no_more_than_so_many_texts_are_remembered() {
    let last = empty();
    for index in 0..MOST * 2 {
        last.or_look(&index.to_string(), SourceFormat::Html, "", || None);
    }
    assert_eq!(last.0.lock().len(), MOST);
}
