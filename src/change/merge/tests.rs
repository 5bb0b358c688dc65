use proptest::prelude::*;

use super::{merge, merge_marked, merge_pages};
use crate::page::testing::But as _;
use crate::page::{Locale, PagePath, PageReading, PageState};

#[test]
fn changes_with_an_unchanged_line_between_are_both_made() {
    assert_eq!(
        merge("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC").as_deref(),
        Some("A\nb\nC")
    );
    assert_eq!(
        merge("a\nb\nc\n", "x\na\nb\nc\n", "a\nc\n").as_deref(),
        Some("x\na\nc\n")
    );
}

#[test]
fn neighbouring_changes_touch() {
    assert_eq!(merge("a\nb\nc\n", "A\nb\nc\n", "a\nB\nc\n"), None);
    assert_eq!(merge("a\nb\n", "a\nx\nb\n", "a\ny\nb\n"), None);
    assert_eq!(merge("a\nb\n", "a\nx\nb\n", "A\nb\n"), None);
    assert_eq!(merge("", "a\n", "b\n"), None);
}

#[test]
fn the_same_change_on_both_sides_counts_once() {
    assert_eq!(
        merge("a\nb\nc\n", "A\nb\nc\n", "A\nb\nC\n").as_deref(),
        Some("A\nb\nC\n")
    );
    assert_eq!(merge("a\n", "a\nb\n", "a\nb\n").as_deref(), Some("a\nb\n"));
}

#[test]
fn a_line_that_loses_its_ending_is_changed() {
    assert_eq!(merge("a\nb\n", "a\nb", "a\nb\nc\n"), None);
    assert_eq!(
        merge("a\nb\nc\n", "a\nb\nc", "a\r\nb\nc\n").as_deref(),
        Some("a\r\nb\nc")
    );
}

#[test]
fn texts_with_nothing_in_common_take_bounded_time() {
    let lines = |seed: u64| -> String {
        (0..40_000_u64)
            .map(|n| format!("{}\n", (n * 7919 + seed * n * n) % 9973))
            .collect::<Vec<_>>()
            .concat()
    };
    let (base, ours, theirs) = (lines(1), lines(2), lines(3));
    assert_eq!(merge(&base, &ours, &theirs), None);
}

/// Applies a fate to each line of the base: kept, removed, replaced, or with a line put before it.
fn changed(lines: &[String], fates: &[(usize, u8)]) -> String {
    let becomes = |(at, line): (usize, &String)| {
        let fate = fates.iter().find(|(place, _)| *place == at);
        match fate.map(|(_, fate)| fate) {
            Some(0) => String::new(),
            Some(1) => format!("new {line}"),
            Some(_) => format!("before {line}{line}"),
            None => line.clone(),
        }
    };
    let lines: Vec<String> = lines.iter().enumerate().map(becomes).collect();
    lines.concat()
}

fn text() -> impl Strategy<Value = String> {
    ("([ab]?\r?\n){0,7}", "[ab]?").prop_map(|(lines, last)| lines + &last)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn changes_held_apart_are_both_made(
        steps in prop::collection::vec((2..5_usize, 0..3_u8, any::<bool>()), 0..6),
    ) {
        let (mut at, mut ours, mut theirs) = (0, Vec::new(), Vec::new());
        for (step, fate, is_ours) in steps {
            at += step;
            if is_ours { ours.push((at, fate)) } else { theirs.push((at, fate)) }
        }
        let lines: Vec<String> = (0..at + 3).map(|n| format!("line {n}\n")).collect();
        let all = [ours.clone(), theirs.clone()].concat();
        prop_assert_eq!(
            merge(&lines.concat(), &changed(&lines, &ours), &changed(&lines, &theirs)),
            Some(changed(&lines, &all))
        );
    }

    #[test]
    fn sides_are_alike_and_one_change_alone_is_made(base in text(), x in text(), y in text()) {
        prop_assert_eq!(merge(&base, &x, &base), Some(x.clone()));
        prop_assert_eq!(merge(&base, &base, &x), Some(x.clone()));
        prop_assert_eq!(merge(&base, &x, &x), Some(x.clone()));
        prop_assert_eq!(merge(&base, &x, &y), merge(&base, &y, &x));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_text_makes_a_merge_panic(a in any::<String>(), b in any::<String>(), c in any::<String>()) {
        let _ = merge(&a, &b, &c);
    }
}

#[test]
fn fields_of_a_page_merge_unless_both_changed_them() {
    let page = |title: &str, tags: &[&str], path: &str, content: &str| PageState {
        content: content.to_owned(),
        editor: "markdown".to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        is_published: true,
        ..PageReading::bare(
            Some(1),
            Locale::as_stored("en"),
            PagePath::as_stored(path),
            title.to_owned(),
        )
        .or_blank()
    };
    let base = page("T", &[], "p", "a\nb\nc\n");
    let ours = page("Ours", &[], "p", "A\nb\nc\n");
    let theirs = page("T", &["x"], "p", "a\nb\nC\n");
    let both = page("Ours", &["x"], "p", "A\nb\nC\n");
    assert_eq!(merge_pages(&base, &ours, &theirs), Some(both.clone()));
    assert_eq!(merge_pages(&base, &theirs, &ours), Some(both));
    // The same on both sides counts once.
    assert_eq!(merge_pages(&base, &ours, &ours), Some(ours.clone()));
    let other_title = page("Theirs", &[], "p", "a\nb\nc\n");
    assert_eq!(merge_pages(&base, &ours, &other_title), None);
    let other_text = page("T", &[], "p", "B\nb\nc\n");
    assert_eq!(merge_pages(&base, &ours, &other_text), None);
    // A place is one field of two; a text belongs to its editor.
    let moved = page("T", &[], "q", "a\nb\nc\n");
    let other_locale = base
        .clone()
        .but(|page| page.locale = Locale::as_stored("de"));
    assert_eq!(merge_pages(&base, &moved, &other_locale), None);
    let converted = base.clone().but(|page| page.editor = "ckeditor".to_owned());
    assert_eq!(merge_pages(&base, &ours, &converted), None);
    // Fields beside them merge all the same.
    let only_text = page("T", &[], "p", "A\nb\nc\n");
    assert_eq!(merge_pages(&base, &only_text, &converted), None);
    let retitled = page("Ours", &[], "p", "a\nb\nc\n");
    for theirs in [&moved, &converted] {
        let both = theirs.clone().but(|page| page.title = "Ours".to_owned());
        assert_eq!(merge_pages(&base, &retitled, theirs), Some(both));
    }
    // Nobody wrote the merged page yet.
    let dated =
        theirs.but(|page| page.updated_at = Some("2026-01-01T00:00:00.000Z".to_owned().into()));
    let merged = merge_pages(&base, &retitled, &dated).unwrap();
    assert_eq!(merged.updated_at, None);
}

#[test]
fn overlapping_changes_are_marked_and_the_others_made() {
    let marked = merge_marked(
        "a\nb\nc\n",
        ("here", "a\nB\nc\nd\n"),
        ("wiki", "A\nb!\nc\n"),
    );
    assert_eq!(
        marked.text,
        "<<<<<<< here\na\nB\n=======\nA\nb!\n>>>>>>> wiki\nc\nd\n"
    );
    assert_eq!(marked.conflicts, 1);
    let marked = merge_marked("a", ("here", "b"), ("wiki", "c"));
    assert_eq!(marked.text, "<<<<<<< here\nb\n=======\nc\n>>>>>>> wiki\n");
}

proptest! {
    #[test]
    fn what_merges_is_not_marked_and_nothing_of_a_conflict_is_lost(
        base in "([a-c]\n){0,6}[a-c]?", ours in "([a-c]\n){0,6}[a-c]?", theirs in "([a-c]\n){0,6}[a-c]?",
    ) {
        let marked = merge_marked(&base, ("here", &ours), ("wiki", &theirs));
        let Some(merged) = merge(&base, &ours, &theirs) else {
            prop_assert!(marked.conflicts > 0);
            for line in ours.lines().filter(|line| !base.contains(*line)) {
                prop_assert!(marked.text.contains(line));
            }
            return Ok(());
        };
        prop_assert_eq!(marked.conflicts, 0);
        prop_assert_eq!(marked.text, merged);
    }
}
