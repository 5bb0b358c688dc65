//! Forms of links that a move keeps, and links that it leaves.

use url::Url;

use super::super::mended::{MendedText, WhyLeft, mend_links};
use super::super::moves::{Moves, PartPage};
use super::{at, site};
use crate::page::SourceFormat;

fn mended_at(text: &str, page: &str, pairs: &[(&str, &str)], has_namespaces: bool) -> MendedText {
    let moves = pairs.iter().map(|(from, to)| (at(from), at(to))).collect();
    mend_links(
        text,
        SourceFormat::Markdown,
        &at(page),
        &moves,
        &site(has_namespaces),
    )
}

/// A page below docs, after the page docs/b has moved.
fn mended(text: &str) -> String {
    let mended = mended_at(text, "en:docs/a", &[("en:docs/b", "en:new/c")], true);
    assert_eq!(mended.left, [], "{text}");
    mended.text
}

#[test]
fn a_link_keeps_its_form() {
    for before in [
        "[x](/docs/b)",
        "[x](/en/docs/b)",
        "[x](/docs/b/)",
        "[x](/docs/b.md)",
        "[x](/docs/b?a=1#b)",
        "[x](../docs/b)",
        "[x](http://127.0.0.1:3100/docs/b)",
        "[x](http://127.0.0.1:3100/en/docs/b#x)",
        "<http://127.0.0.1:3100/docs/b>",
        "see http://127.0.0.1:3100/docs/b.",
        "[x](</docs/b> 't')",
        "[x]( /docs/b \"t\" )",
        "[x](/docs/b?a&amp;b)",
        "[x][r]\n\n[r]: /docs/b 't'\n",
        "[r]\n\n[R]:\n  </docs/b>\n",
        "> [r]\n>\n> [r]:\n> /docs/b\n",
        "[`x`](/docs/b) [a [b] c](/docs/b)",
        "<a href='/docs/b'>x</a>",
        "<div>\n<a class=x href=/docs/b>x</a></div>",
        "- > <div>\n  > <a href=\"/docs/b\">x</a></div>",
        "| x |\n|---|\n| [x](/docs/b) |",
        "[x](/e/en/docs/b)",
        "a\r\n[x](/docs/b)\r\nb",
    ] {
        let after = before.replace("/docs/b", "/new/c");
        assert_eq!(mended(before), after, "{before}");
    }
    for (before, after) in [
        ("[x](./b)", "[x](../new/c)"),
        ("[x](./b#v1.2)", "[x](../new/c#v1.2)"),
        ("[x](b.md)", "[x](../new/c.md)"),
        ("[x](/docs\\/b\\#y)", "[x](/new/c\\#y)"),
        ("[![i](./b.md)](/docs/b)", "[![i](../new/c.md)](/new/c)"),
        (
            "[x](/docs/b) ![i](./b.md =10x20)",
            "[x](/new/c) ![i](../new/c.md =10x20)",
        ),
    ] {
        assert_eq!(mended(before), after, "{before}");
    }
}

#[test]
fn what_is_no_link_stays() {
    for text in [
        "`[x](/docs/b)`",
        "```\n[x](/docs/b)\n```",
        "    [x](/docs/b)",
        "\\[x](/docs/b)",
        "<!-- [x](/docs/b) <a href=\"/docs/b\">x</a> -->",
        "/docs/b",
        "[[/docs/b]]",
        "[x] (/docs/b)",
        "$[x](/docs/b)$",
        "<script>\"<a href='/docs/b'>\"</script>",
        "[x](/docs/bb) [x](/docs/b/c)",
        "[x](https://elsewhere.example.org/docs/b)",
        "[x](mailto:docs/b)",
        "[x](#docs/b)",
        "[x](javascript:/docs/b)",
        "[r]: /docs/b",
        "`http://127.0.0.1:3100/docs/b`",
        "<a href=\"/y\">http://127.0.0.1:3100/docs/b</a>",
        "[x](/de/docs/b)",
        "[http://127.0.0.1:3100/docs/b](/y)",
    ] {
        assert_eq!(mended(text), text);
    }
}

#[test]
fn what_cannot_be_mended_surely_is_left_and_named() {
    for (text, to, why) in [
        ("a\n<code>[x](/docs/b)</code>", "en:new/c", WhyLeft::InCode),
        (
            "a\n<pre><a href='/docs/b'>x</a></pre>",
            "en:new/c",
            WhyLeft::InCode,
        ),
        ("a\n[x](/docs/b)", "en:new/c:d", WhyLeft::NoAddress),
        ("a\n[x](/docs/b)", "pt-br:new/c", WhyLeft::NoAddress),
        (
            "a\n[x](https://127.0.0.1/docs/b)",
            "en:new/c",
            WhyLeft::OtherAddress,
        ),
        (
            "a\n> x <a\n> href='/docs/b'>x</a>",
            "en:new/c",
            WhyLeft::NotFound,
        ),
    ] {
        let mended = mended_at(text, "en:docs/a", &[("en:docs/b", to)], true);
        assert_eq!(mended.text, text);
        let left: Vec<_> = mended.left.iter().map(|left| left.why).collect();
        assert_eq!(left, [why], "{text}");
        assert!(mended.left[0].line >= 2);
    }
    let mut named = site(true);
    named.address = Url::parse("https://wiki.example.org").unwrap();
    let moves: Moves = [(at("en:docs/b"), at("en:new/c"))].into_iter().collect();
    let text = "see wiki.example.org/docs/b, wiki.example.org/docs/c, www.wiki.example.org/docs/b";
    let mended = mend_links(
        text,
        SourceFormat::Markdown,
        &at("en:docs/a"),
        &moves,
        &named,
    );
    assert_eq!(mended.left.len(), 1);
    assert_eq!(mended.left[0].why, WhyLeft::OtherAddress);
    let text = "= Title\n\nlink:/docs/b[text], link:/docs/bb[text]\n";
    let mended = mend_links(
        text,
        SourceFormat::AsciiDoc,
        &at("en:docs/a"),
        &moves,
        &site(true),
    );
    assert_eq!((mended.left.len(), mended.left[0].line), (1, 3));
    assert_eq!(mended.left[0].why, WhyLeft::Format);
}

#[test]
fn pages_that_move_together_go_on_leading_to_each_other() {
    let pairs = [
        ("en:docs/a", "en:new/a"),
        ("en:docs/a/b", "en:new/a/b"),
        ("en:docs/c", "en:new/c"),
    ];
    for (before, after) in [
        // It leads right once the page is rendered where it goes.
        ("[x](b)", "[x](b)"),
        ("[x](./c)", "[x](./c)"),
        ("[x](/docs/a)", "[x](/new/a)"),
        ("[x](#here)", "[x](#here)"),
        ("[x](./d)", "[x](../docs/d)"),
        ("![x](../pic.png)", "![x](../pic.png)"),
        ("![x](pic.png)", "![x](/en/docs/pic.png)"),
        ("[x](/docs/d)", "[x](/docs/d)"),
    ] {
        let mended = mended_at(before, "en:docs/a", &pairs, true);
        assert_eq!(mended.text.as_str(), after, "{before}");
        assert_eq!(mended.left.len(), 0, "{before}");
    }
    let stale = |text| mended_at(text, "en:docs/a", &pairs, true).stale;
    assert_eq!(stale("a\n[x](b) [x](./c)\n\n[y](b)"), [2, 4]);
    assert_eq!(stale("[x](./c) [x](/docs/a) [y](other)"), [0_usize; 0]);
    // Two change places.
    let swapped = [("en:a1", "en:b1"), ("en:b1", "en:a1")];
    let mended = mended_at("[x](/a1) [y](/b1)", "en:c1", &swapped, false);
    assert_eq!(mended.text, "[x](/b1) [y](/a1)");
}

/// A page of the three parts, once docs/b was split into it, new/c and new/d.
fn split(text: &str, page: &str) -> MendedText {
    let before = "# B\n\n## One {#own}\n\n## Two\n\n## Both\n\n### \u{ff34}hree\n\n## Stays\n";
    let (c, d) = (at("en:new/c"), at("en:new/d"));
    let part = |place, title, text| PartPage { place, title, text };
    let parts = [
        part(&c, "One", "## Both\n"),
        part(&d, "D", "# Two\n\n## Both\n\n## \u{ff34}hree\n"),
    ];
    let place = at("en:docs/b");
    let moves = Moves::default().with_headings(&place, (before, "# B\n\n## Stays\n"), &parts);
    let site = site(true);
    mend_links(text, SourceFormat::Markdown, &at(page), &moves, &site)
}

#[test]
fn a_link_to_a_heading_follows_it_to_the_page_that_has_it_now() {
    for (page, before, after) in [
        ("docs/a", "/docs/b#two", "/new/d#two"),
        ("docs/a", "/en/docs/b?x=1#Two", "/en/new/d?x=1#Two"),
        ("docs/a", "./b.md#three", "../new/d.md#three"),
        ("docs/a", "/docs/b#two-1", "/new/d#two-1"),
        // The title of the new page.
        ("docs/a", "/docs/b?x=1#one", "/new/c?x=1"),
        ("docs/a", "/docs/b#stays", "/docs/b#stays"),
        ("docs/a", "/docs/b#neither", "/docs/b#neither"),
        ("docs/a", "/docs/b", "/docs/b"),
        ("docs/a", "/h/en/docs/b#two", "/h/en/docs/b#two"),
        ("docs/a", "#two", "#two"),
        ("docs/b", "#two", "/new/d#two"),
        ("docs/b", "#one", "/new/c"),
        ("docs/b", "#stays", "#stays"),
        ("new/d", "#two", "#two"),
        ("new/d", "#stays", "/docs/b#stays"),
        ("new/d", "#both", "#both"),
        ("new/c", "#two", "/new/d#two"),
        ("new/c", "#one", "/new/c"),
    ] {
        let mended = split(&format!("[x]({before} \"t\")"), &format!("en:{page}"));
        assert_eq!(
            mended.text,
            format!("[x]({after} \"t\")"),
            "{page} {before}"
        );
        assert_eq!(mended.left, []);
    }
}

#[test]
fn a_link_to_a_heading_that_several_new_pages_have_is_left_and_named() {
    let text = "[x](/docs/b#both) <code><a href=\"/docs/b#two\">x</a></code>";
    let mended = split(text, "en:docs/a");
    assert_eq!(mended.text, text);
    let why: Vec<_> = mended.left.iter().map(|left| left.why).collect();
    assert_eq!(why, [WhyLeft::SeveralPages, WhyLeft::InCode]);
}
