use proptest::prelude::*;
use pulldown_cmark::{Event, Parser, Tag};

use super::{Outline, options};

fn headings(text: &str) -> Vec<(u8, String, usize)> {
    Outline::new(text)
        .headings
        .iter()
        .map(|heading| (heading.level, heading.text.clone(), heading.line))
        .collect()
}

fn heading(level: u8, text: &str, line: usize) -> (u8, String, usize) {
    (level, text.to_owned(), line)
}

#[test]
fn a_headings_text_is_plain() {
    assert_eq!(
        headings("# *A* `b` [c](d) &amp; \\* #\n\n## Tabs {.tabset}\n\nLong\ntitle\n===\n## \n#"),
        [
            heading(1, "A b c & *", 1),
            heading(2, "Tabs", 3),
            heading(1, "Long title", 5),
            heading(2, "", 8),
            heading(1, "", 9),
        ]
    );
}

/// What Wiki.js' own renderer (markdown-it 11 with markdown-it-attrs) left of each.
#[test]
fn attributes_behind_a_heading_are_those_that_wiki_js_reads() {
    for (text, title) in [
        ("## T {.x}", "T"),
        ("## T{.x}  ", "T"),
        ("## T {.x} #", "T"),
        ("## T # {.x}", "T #"),
        ("## T \\{.x\\}", "T"),
        ("## T &#123;.x}", "T"),
        ("## T *a* {foo=1}", "T a"),
        ("## T {a{b}", "T {a"),
        ("## T {.x} {.y}", "T {.x}"),
        ("## {.x}", ""),
        ("A\nb {.c}\n---", "A b"),
        ("A\n{.c}\n===", "A"),
        ("## T `{.x}`", "T {.x}"),
        ("## T *{.x}*", "T {.x}"),
        ("## T {}", "T {}"),
        ("## T {.}", "T {.}"),
        ("## T {#}", "T {#}"),
        ("## T {{v}}", "T {{v}}"),
        ("## T {a b} c}", "T {a b} c}"),
        ("## {#", "{#"),
    ] {
        let found = headings(text);
        let titles: Vec<&str> = found.iter().map(|(_, title, _)| &**title).collect();
        assert_eq!(titles, [title], "{text}");
    }
    assert_eq!(headings(">-a\n>  {.c}\n>-"), []);
}

#[test]
fn what_only_looks_like_a_heading_is_none() {
    for text in [
        "```\n# a\n```",
        "~~~ md\n# a\n\n# b\n~~~",
        "```\n# never closed",
        "    # indented",
        "<!--\n# a\n\n# b\n-->",
        "<div>\n# a\n</div>",
        "#tag",
        "####### seven",
        "---\ntitle: a\n# a comment\n---",
        "---\n# a comment\ntitle: a\n...",
        "---\r\ntitle: a\r\n\r\n# b\r\n---\r\n",
        "> # quoted\n{.is-info}",
        "- # an item\n  # in it",
        "| a |\n|---|\n| # |",
        "\n---\n",
        "",
    ] {
        assert_eq!(headings(text), [], "{text}");
    }
}

#[test]
fn what_stands_around_a_heading_does_not_hide_it() {
    for text in [
        "> a\n{.is-info}\n\n# x",
        "<!-- a -->\n# x",
        "- a\n- b\n{.links-list}\n# x",
        "   # x",
        "# x\r\n{.is-info}\r\n",
        "---\ntitle: a\n---\n# x",
        "---\nno front matter\n\n---\n\n# x\n\n---\n",
        "text\n# x",
        "<details>\n\n# x\n\n</details>",
    ] {
        let found = headings(text);
        assert!(found.iter().any(|(_, text, _)| text == "x"), "{text}");
    }
}

#[test]
fn a_section_ends_at_a_heading_of_its_level_or_a_higher_one() {
    let text = "# a\n### b\n## c\n### d\n# e\n";
    let sections: Vec<&str> = Outline::new(text)
        .headings
        .iter()
        .map(|heading| text.get(heading.section.clone()).unwrap())
        .collect();
    let expected = [
        "# a\n### b\n## c\n### d\n",
        "### b\n",
        "## c\n### d\n",
        "### d\n",
        "# e\n",
    ];
    assert_eq!(sections, expected);
    let parents: Vec<Option<usize>> = Outline::new(text)
        .headings
        .iter()
        .map(|h| h.parent)
        .collect();
    assert_eq!(parents, [None, Some(0), Some(0), Some(2), None]);
}

/// Blocks, and the heading that each is.
const BLOCKS: [(&str, Option<(u8, &str)>); 22] = [
    ("# A", Some((1, "A"))),
    ("## B {.tabset}", Some((2, "B"))),
    (" ## B *b* ##", Some((2, "B b"))),
    ("### A/B", Some((3, "A/B"))),
    ("###### é", Some((6, "é"))),
    ("Under\nline\n===", Some((1, "Under line"))),
    ("Under\n---", Some((2, "Under"))),
    ("text\n# A", Some((1, "A"))),
    ("```\n# no\n\n---\n```", None),
    ("~~~ md {.x}\n## no\n\n# no\n~~~", None),
    ("    # no\n\n    # no", None),
    ("<!--\n# no\n\n## no\n-->", None),
    ("<div>\n# no\n</div>", None),
    ("a *b*\n{.is-info}", None),
    ("> # no\n{.is-warning}", None),
    ("- # no\n- b\n\n  # no", None),
    ("1. a\n{.grid-list}", None),
    ("---", None),
    ("| a | b |\n|---|---|\n| # | c |", None),
    ("[^1]: note\n\n    # no", None),
    ("[a]: /b", None),
    ("#no", None),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn the_headings_are_those_that_were_put_there(
        blocks in prop::collection::vec(prop::sample::select(BLOCKS.to_vec()), 0..8),
        front in prop::sample::select(vec!["", "---\ntitle: # no\n\n# no\n---\n"]),
        line_end in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let (mut text, mut expected) = (front.to_owned(), Vec::new());
        for (block, heading) in blocks {
            let paragraph = usize::from(block.starts_with("text\n"));
            let line = 1 + text.matches('\n').count() + paragraph;
            expected.extend(heading.map(|(level, text)| (level, text.to_owned(), line)));
            text.push_str(block);
            text.push_str("\n\n");
        }
        prop_assert_eq!(headings(&text.replace('\n', line_end)), expected);
    }

    // No carriage return by itself: pulldown-cmark 0.13.6 breaks off at some in debug builds.
    #[test]
    fn no_code_block_lies_on_both_sides_of_a_heading(
        text in "([ >-]{0,4}([#=~`-]{1,3}|<!--|-->|<div>|[ab:]|\\{\\.c\\})? ?[#a`]{0,2}(\r?\n)?){0,9}",
    ) {
        let outline = Outline::new(&text);
        let body = text.get(outline.body..).unwrap();
        for (event, range) in Parser::new_ext(body, options()).into_offset_iter() {
            if let Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock) = event {
                // The white space that a block's last line leaves may lie behind it.
                let end = range.start + body.get(range.clone()).unwrap().trim_end().len();
                for heading in &outline.headings {
                    let start = heading.lines.start - outline.body;
                    prop_assert!(start <= range.start || end <= start, "{:?}", text);
                }
            }
        }
        let mut end = 0;
        for heading in &outline.headings {
            prop_assert!(end <= heading.lines.start && heading.lines.start < heading.lines.end);
            prop_assert!(heading.lines.end <= heading.section.end);
            end = heading.lines.end;
            let lines = text.get(heading.lines.clone()).unwrap();
            let first = lines.trim_start();
            // For the parser a carriage return alone ends a line.
            let underlined = lines.split(['\n', '\r']).skip(1).any(|line| line.trim_start().starts_with(['=', '-']));
            prop_assert!(first.starts_with('#') || underlined, "{:?}", lines);
        }
    }
}
