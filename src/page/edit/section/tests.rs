use proptest::prelude::*;

use super::{PartFault, SectionMode, edit_section, page_of_part, part_as_in, with_line_ends_of};
use crate::page::BlockKind;
use crate::page::markdown::sections::tests::{page, selectors};
use crate::page::{Outline, PartSelector};

fn part(name: &str) -> PartSelector {
    PartSelector::for_edit(name).expect(name)
}

fn edited(text: &str, name: &str, mode: SectionMode, content: &str) -> String {
    edit_section(text, &part(name), mode, content)
        .expect(name)
        .0
}

#[test]
fn content_is_held_apart_by_a_blank_line() {
    use SectionMode::{Append, InsertAfter, Prepend, Remove, Replace};
    let text = "# a\nA\n# b\n\nB\n\n# c";
    for (name, mode, content, expected) in [
        ("a", Append, "x", "# a\nA\n\nx\n\n# b\n\nB\n\n# c"),
        (
            "a",
            InsertAfter,
            "# x\n",
            "# a\nA\n\n# x\n\n# b\n\nB\n\n# c",
        ),
        ("b", Append, "x\n\n", "# a\nA\n# b\n\nB\n\nx\n\n# c"),
        ("a", Prepend, "x", "# a\n\nx\n\nA\n# b\n\nB\n\n# c"),
        ("b", Prepend, "\nx", "# a\nA\n# b\n\nx\n\nB\n\n# c"),
        ("a", Replace, "# x\n", "# x\n\n# b\n\nB\n\n# c"),
        ("b", Replace, "x", "# a\nA\n\nx\n\n# c"),
        ("c", Replace, "x", "# a\nA\n# b\n\nB\n\nx"),
        ("c", Append, "x\n", "# a\nA\n# b\n\nB\n\n# c\n\nx\n"),
        ("a", Remove, "ignored", "# b\n\nB\n\n# c"),
        ("b", Remove, "", "# a\nA\n# c"),
        ("b", Replace, "", "# a\nA\n# c"),
        ("b", Append, "", text),
    ] {
        let edited = edited(text, name, mode, content);
        assert_eq!(edited, expected, "{name} {mode:?}");
    }
}

#[test]
fn added_line_ends_are_of_the_pages_kind() {
    assert_eq!(
        edited("# a\r\nA\r\n# b\r\n", "a", SectionMode::Append, "x\ny"),
        "# a\r\nA\r\n\r\nx\r\ny\r\n\r\n# b\r\n"
    );
    let sent = "x\r\ny\nz";
    let mixed = edited("# a\r\nA\r\n# b\r\n", "a", SectionMode::Append, sent);
    assert_eq!(mixed, format!("# a\r\nA\r\n\r\n{sent}\r\n\r\n# b\r\n"));
    let mixed = edited("# a\r\nA\r\n\n# b\r\n", "a", SectionMode::Append, "x\ny");
    assert_eq!(mixed, "# a\r\nA\r\n\nx\ny\r\n\r\n# b\r\n");
    let edited = edited("# a\r\nA\n", "a", SectionMode::Append, "x");
    assert_eq!(edited, "# a\r\nA\n\nx\n");
}

#[test]
fn an_underlined_heading_is_not_run_into_the_text_before_it() {
    let text = "text\n# a\n\nb\n---\n";
    assert_eq!(
        edited(text, "heading:h1[0]", SectionMode::Remove, ""),
        "text\n"
    );
    let text = "text\n# a\n\n# b\n---\n";
    assert_eq!(
        edited(text, "a", SectionMode::Remove, ""),
        "text\n# b\n---\n"
    );
    let text = "text\n# a\n\nb\n===\n";
    let edited = edited(text, "a", SectionMode::Remove, "");
    assert_eq!(edited, "text\n\nb\n===\n");
}

#[test]
fn content_before_the_first_heading_stands_behind_the_front_matter() {
    let text = "---\ntitle: x\n---\nIntro\n# a";
    assert_eq!(
        edited(text, "section[0]", SectionMode::Prepend, "x"),
        "---\ntitle: x\n---\n\nx\n\nIntro\n# a"
    );
    assert_eq!(edited(text, "section[0]", SectionMode::Remove, ""), "# a");
}

/// Content appended to the section `A`, and the block that it stays behind.
fn appended(section: &str, content: &str) -> (String, Option<BlockKind>) {
    let text = format!("# A\n\n{section}\n\n# B\n");
    let (made, behind) = edit_section(&text, &part("A"), SectionMode::Append, content).unwrap();
    let made = made.strip_prefix("# A\n\n").unwrap();
    let made = made.strip_suffix("\n\n# B\n").expect("a blank line");
    (made.to_owned(), behind)
}

#[test]
fn a_row_goes_into_the_table_and_an_item_into_the_list_that_a_section_ends_with() {
    let table = "| a | b |\n|---|---|\n| 1 | x \\| y |";
    for (section, content, expected) in [
        (table, "| 2 | z |", "\n| 2 | z |"),
        (
            table,
            "\n| 2 | p \\| q |\n| 3 |\n",
            "\n| 2 | p \\| q |\n| 3 |",
        ),
        ("- a\n- b", "- c\n", "\n- c"),
        ("- a\n- b", "- c\n  more\n- d", "\n- c\n  more\n- d"),
        ("1. a\n2. b", "3. c", "\n3. c"),
        ("- a\n\n- b", "- c", "\n- c"),
        ("- a\n\n  ```\n  - no\n  ```", "- c", "\n- c"),
        (
            "> | a | b |\n> |---|---|\n> | 1 | 2 |",
            "| 3 | 4 |",
            "\n> | 3 | 4 |",
        ),
        (
            "- | a | b |\n  |---|---|\n  | 1 | 2 |",
            "| 3 | 4 |",
            "\n  | 3 | 4 |",
        ),
        ("- | a | b |\n  |---|---|\n  | 1 | 2 |", "- c", "\n- c"),
    ] {
        let expected = (format!("{section}{expected}"), None);
        let appended = appended(section, content);
        assert_eq!(appended, expected, "{section} + {content}");
    }
}

#[test]
fn a_row_stands_above_the_line_of_classes_and_the_text_that_end_a_table_in_wiki_js() {
    let rows = "| a | b |\n|---|---|\n| 1 | 2 |\n";
    for below in ["{.dense}", "Source: a book", "  {.dense}\nmore"] {
        let text = format!("{rows}{below}");
        let expected = format!("{rows}| 3 | 4 |\n{below}");
        let (made, behind) = appended(&text, "| 3 | 4 |");
        assert_eq!((made, behind), (expected.clone(), None), "{below}");
        let made = edited(&text, "block:table[0]", SectionMode::Append, "| 3 | 4 |");
        assert_eq!(made, expected, "{below}");
    }
    let quoted = "> | a |\n> |---|\n> | 1 |\n> {.dense}";
    let made = edited(quoted, "block:table[0]", SectionMode::Append, "| 2 |");
    assert_eq!(made, "> | a |\n> |---|\n> | 1 |\n> | 2 |\n> {.dense}");
}

#[test]
fn what_is_no_row_and_no_item_stands_behind_the_block_and_that_is_said() {
    let table = "| a | b |\n|---|---|\n| 1 | 2 |";
    let own_table = "| c |\n|---|\n| 3 |";
    for (section, content, kind) in [
        (table, "Text.", Some(BlockKind::Table)),
        (table, "- item", Some(BlockKind::Table)),
        (table, "| 1 | 2 | 3 |", Some(BlockKind::Table)),
        (table, "| 1 | 2 |\nText", Some(BlockKind::Table)),
        (table, own_table, Some(BlockKind::Table)),
        ("- a", "* b", Some(BlockKind::List)),
        ("- a", "1. b", Some(BlockKind::List)),
        ("- a", "Text.", Some(BlockKind::List)),
        (table, "## New", None),
        ("Text", "- a", None),
        ("```\n| a |\n|---|\n```", "| 1 |", None),
        ("    - code", "- a", None),
    ] {
        let expected = (format!("{section}\n\n{content}"), kind);
        let appended = appended(section, content);
        assert_eq!(appended, expected, "{section} + {content}");
    }
}

const BLOCKS: &str = "# A\r\n\r\nText\r\n- a\r\n- b\r\n\r\n| x |\r\n|---|\r\n| 1 |\r\n\r\n> | q |\r\n> |---|\r\n\r\n```\r\n| no |\r\n|---|\r\n```";

#[test]
fn a_block_is_changed_by_its_selector() {
    use SectionMode::{Append, InsertAfter, InsertBefore, Prepend, Remove, Replace};
    for (name, mode, content, old, new) in [
        (
            "A/block:table[0]",
            Append,
            "| 2 |",
            "| 1 |\r\n",
            "| 1 |\r\n| 2 |\r\n",
        ),
        (
            "block:table[0]",
            Prepend,
            "| 0 |",
            "| 1 |\r\n",
            "| 0 |\r\n| 1 |\r\n",
        ),
        (
            "block:table[1]",
            Append,
            "| 2 |",
            "> |---|\r\n",
            "> |---|\r\n> | 2 |\r\n",
        ),
        (
            "block:table[1]",
            Replace,
            "> | z |\n> |---|\n",
            "> | q |\r\n> |---|\r\n",
            "> | z |\r\n> |---|\r\n",
        ),
        (
            "block:table[0]",
            Append,
            "| 2 |\n| 3 |",
            "| 1 |\r\n",
            "| 1 |\r\n| 2 |\r\n| 3 |\r\n",
        ),
        ("block:list[0]", Prepend, "- 0", "- a\r\n", "- 0\r\n- a\r\n"),
        (
            "block:list[0]",
            Append,
            "- c\n",
            "- b\r\n",
            "- b\r\n- c\r\n",
        ),
        ("block:list[0]", Replace, "- z", "- a\r\n- b\r\n", "- z\r\n"),
        ("block:list[0]", Replace, "Z", "- a\r\n- b\r\n", "\r\nZ\r\n"),
        (
            "block:list[0]",
            InsertBefore,
            "Z",
            "- a\r\n",
            "\r\nZ\r\n\r\n- a\r\n",
        ),
        (
            "block:table[0]",
            InsertAfter,
            "Z",
            "| 1 |\r\n",
            "| 1 |\r\n\r\nZ\r\n",
        ),
        (
            "block:table[0]",
            Remove,
            "",
            "| x |\r\n|---|\r\n| 1 |\r\n",
            "",
        ),
        (
            "block:code[0]",
            InsertAfter,
            "Z",
            "```\r\n| no |\r\n|---|\r\n```",
            "```\r\n| no |\r\n|---|\r\n```\r\n\r\nZ",
        ),
        ("A", InsertBefore, "Z\n", "# A", "Z\r\n\r\n# A"),
    ] {
        let expected = BLOCKS.replacen(old, new, 1);
        let edited = edited(BLOCKS, name, mode, content);
        assert_eq!(edited, expected, "{name} {mode:?}");
    }
    for (name, mode, content) in [
        ("block:table[0]", Append, "text"),
        ("block:table[0]", Append, "| 1 | 2 |"),
        ("block:list[0]", Prepend, "1. a"),
        ("block:paragraph[0]", Append, "a"),
        ("block:code[0]", Prepend, "a"),
        ("block:table[1]", Replace, "text"),
        ("block:table[1]", Remove, ""),
        ("block:table[1]", InsertAfter, "a"),
    ] {
        let refused = edit_section(BLOCKS, &part(name), mode, content);
        assert!(
            matches!(refused, Err(PartFault::Unfit(_))),
            "{name} {mode:?}"
        );
    }
    let front = "---\nk: v\n---\nLead\n";
    let edited = edited(front, "section[0]", InsertBefore, "Z");
    assert_eq!(edited, "---\nk: v\n---\n\nZ\n\nLead\n");
}

#[test]
fn a_part_is_taken_from_another_text_by_its_heading_not_by_its_number() {
    let (old, new) = ("## X\n\n## A\n\nold\n\n\n", "## A\n\nnew\n\n## X\n");
    let taken = |name| part_as_in(new, old, &part(name)).unwrap().unwrap();
    assert_eq!(taken("h2[0]"), "## A\n\nold\n\n");
    assert_eq!(taken("A/block:paragraph[0]"), "old\n");
    let returns = part_as_in("## A\r\n\r\nnew\r\n", old, &part("A")).unwrap();
    assert_eq!(returns.as_deref(), Ok("## A\r\n\r\nold\r\n"));
    assert!(part_as_in(new, "# B\n", &part("A")).unwrap().is_err());
    assert!(part_as_in("# B\n", old, &part("A")).is_err());
}

#[test]
fn a_part_becomes_a_page_with_its_headings_lifted() {
    let text =
        "# One\n\n## Two\n\na\n\n### Three #x\n\n```\n### no\n```\n\nSet\n---\n\nb\n\n### Four\n";
    let page = |name, title| page_of_part(text, &part(name), title, "Other").unwrap();
    assert_eq!(
        page("Two", "Other"),
        "# Two\n\na\n\n## Three #x\n\n```\n### no\n```\n\n"
    );
    assert_eq!(
        page("Two", " two"),
        "a\n\n## Three #x\n\n```\n### no\n```\n\n"
    );
    assert_eq!(page("Set", "x"), "Set\n===\n\nb\n\n## Four\n");
    assert_eq!(page("block:code[0]", "x"), "```\n### no\n```\n");
    let front = page_of_part("---\nk: v\n---\nLead\n", &part("section[0]"), "x", "y");
    assert_eq!(front.as_deref(), Ok("Lead\n"));
}

#[test]
fn a_large_page_is_edited_in_time_in_proportion_to_it() {
    let text = format!("# A\n\n| a |\n|---|\n{}", "| 1 |\n".repeat(150_000));
    let rows = "| 2 |\n".repeat(1_000);
    let (made, _) = edit_section(&text, &part("A"), SectionMode::Append, &rows).unwrap();
    assert_eq!(made, text + &rows);
    let list = format!("# A\n\n{}", "- a\n".repeat(100_000));
    let (made, _) =
        edit_section(&list, &part("block:list[0]"), SectionMode::Append, "- b").unwrap();
    assert_eq!(made, list + "- b\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn all_outside_the_section_stays(
        text in page(),
        pick in any::<prop::sample::Index>(),
        content in "(# new|[ a]{0,2}|\r?\n){0,4}",
    ) {
        use SectionMode::{Append, InsertAfter, Prepend, Remove, Replace};
        let selectors = selectors(&text);
        prop_assume!(!selectors.is_empty());
        let selector = pick.get(&selectors);
        let section = Outline::new(&text).find(selector).unwrap();
        let end = section.range.end;
        for (mode, gone) in [
            (Replace, section.range.clone()),
            (Remove, section.range),
            (Append, end..end),
            (InsertAfter, end..end),
            (Prepend, section.body..section.body),
        ] {
            let (edited, _) = edit_section(&text, &selector.clone().into(), mode, &content).unwrap();
            let (before, after) = (text.get(..gone.start).unwrap(), text.get(gone.end..).unwrap());
            let new = edited.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            prop_assert!(new.is_some(), "{:?}: {:?}", mode, edited);
            let new = new.unwrap_or_default();
            let is_added = |c| c == '\r' || c == '\n';
            if mode == Remove {
                prop_assert!(new.chars().all(is_added));
            } else {
                let content = with_line_ends_of(&text, &[&content], &content);
                let around = new.split_once(&*content);
                prop_assert!(around.is_some(), "{:?}", new);
                prop_assert_eq!(new.trim_matches(is_added), content.trim_matches(is_added));
                prop_assert!(new.len() <= content.len() + 8);
            }
        }
    }

    #[test]
    fn a_paragraph_put_in_or_a_part_taken_out_leaves_the_other_headings(
        text in page(),
        pick in any::<prop::sample::Index>(),
    ) {
        let headings = |text: &str| -> Vec<(u8, String, usize)> {
            let outline = Outline::new(text);
            outline.headings.iter().map(|h| (h.level, h.text.clone(), h.lines.start)).collect()
        };
        let bare = |headings: Vec<(u8, String, usize)>| -> Vec<(u8, String)> {
            headings.into_iter().map(|(level, text, _)| (level, text)).collect()
        };
        let selectors = selectors(&text);
        prop_assume!(!selectors.is_empty());
        let selector = pick.get(&selectors);
        for mode in [SectionMode::Append, SectionMode::Prepend] {
            let (added, _) = edit_section(&text, &selector.clone().into(), mode, "plain words").unwrap();
            prop_assert_eq!(bare(headings(&added)), bare(headings(&text)), "{:?}", added);
        }
        let gone = Outline::new(&text).find(selector).unwrap().range;
        let mut left = headings(&text);
        left.retain(|(_, _, start)| !gone.contains(start));
        let (cut, _) = edit_section(&text, &selector.clone().into(), SectionMode::Remove, "").unwrap();
        prop_assert_eq!(bare(headings(&cut)), bare(left), "{:?}", cut);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_text_makes_sections_panic(text in "\\PC{0,40}|([#=>`~<!\\-\\[\\]{}|: \t\r\n\0ä\u{2028}]|\\PC){0,40}") {
        for selector in selectors(&text) {
            for mode in [SectionMode::Replace, SectionMode::Prepend, SectionMode::Append] {
                let _ = edit_section(&text, &selector.clone().into(), mode, &text);
            }
        }
    }
}
