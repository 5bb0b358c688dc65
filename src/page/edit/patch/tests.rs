use proptest::prelude::*;
use similar::TextDiff;

use super::{PatchFault, apply_patch};
use crate::page::{DiffersIn, TextPosition, unified_diff};

fn applied(text: &str, patch: &str) -> String {
    apply_patch(text, patch).expect("the patch is of this text")
}

fn malformed(patch: &str) -> (usize, &'static str) {
    match apply_patch("a\nb\n", patch) {
        Err(PatchFault::Malformed { line, what }) => (line, what),
        other => panic!("{other:?}"),
    }
}

#[test]
fn hunks_apply_at_their_lines_with_or_without_headers_of_files() {
    let hunks = "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -4 +4,0 @@ a section\n-d\n";
    let text = "a\nb\nc\nd\ne\n";
    assert_eq!(applied(text, hunks), "A\nb\nc\ne\n");
    let with_headers = format!("diff --git a/x b/x\n--- a/x\n+++ b/x\n{hunks}");
    assert_eq!(applied(text, &with_headers), "A\nb\nc\ne\n");
}

#[test]
fn a_hunk_without_context_inserts_behind_its_line() {
    assert_eq!(applied("", "@@ -0,0 +1,2 @@\n+a\n+b"), "a\nb\n");
    assert_eq!(applied("a\nb\n", "@@ -0,0 +1 @@\n+x\n"), "x\na\nb\n");
    assert_eq!(applied("a\nb\n", "@@ -1,0 +2 @@\n+x\n"), "a\nx\nb\n");
    assert_eq!(applied("a\nb\n", "@@ -2,0 +3 @@\n+x\n"), "a\nb\nx\n");
    assert_eq!(applied("a\n", "@@ -1 +0,0 @@\n-a\n"), "");
}

#[test]
fn the_last_lines_ending_is_part_of_it() {
    let marker = "\\ No newline at end of file\n";
    let add = format!("@@ -1 +1 @@\n-a\n{marker}+a\n");
    assert_eq!(applied("a", &add), "a\n");
    assert!(apply_patch("a\n", &add).is_err());
    let take = format!("@@ -1 +1 @@\n-a\n+a\n{marker}");
    assert_eq!(applied("a\n", &take), "a");
    assert!(apply_patch("a", &take).is_err());
    // It would run into the line behind it.
    assert!(apply_patch("a\nb\n", &take).is_err());
    assert!(apply_patch("a", "@@ -1,0 +2 @@\n+b\n").is_err());
}

#[test]
fn a_removed_line_that_looks_like_a_header_is_a_line() {
    let applied = applied("-- x\n++ y\n", "@@ -1,2 +1 @@\n--- x\n ++ y\n");
    assert_eq!(applied, "++ y\n");
}

#[test]
fn an_empty_line_in_a_hunk_is_one_that_is_kept() {
    assert_eq!(
        applied("a\n\nb\n", "@@ -1,3 +1,2 @@\n a\n\n-b\n\n\n"),
        "a\n\n"
    );
    assert_eq!(applied("\r\nb\n", "@@ -1,2 +1 @@\n\r\n-b\n"), "\r\n");
}

#[test]
fn a_hunk_of_another_text_is_refused_with_the_lines_found() {
    let text = "1\n2\n3\n4\n5\nX\n7\n";
    let patch = "@@ -1 +1 @@\n-1\n+one\n@@ -5,2 +5 @@ part\n 5\n-6\n";
    let place = |line, text: &str| TextPosition {
        line,
        text: text.to_owned(),
    };
    assert_eq!(
        apply_patch(text, patch),
        Err(PatchFault::DoesNotApply {
            hunk: 2,
            header: "@@ -5,2 +5 @@ part".to_owned(),
            line: 6,
            found: vec![
                place(3, "3"),
                place(4, "4"),
                place(5, "5"),
                place(6, "X"),
                place(7, "7")
            ],
            // The lines that it means are where it says.
            nearest: Vec::new(),
            differs_in: None,
        })
    );
    // The lines are there, one further: that is not where the patch says.
    assert!(apply_patch("a\nb\n", "@@ -1 +1 @@\n-b\n+c\n").is_err());
}

#[test]
fn the_place_that_is_most_like_a_hunk_is_named() {
    let nearest = |text: &str, patch: &str| match apply_patch(text, patch) {
        Err(PatchFault::DoesNotApply { nearest, .. }) => nearest
            .into_iter()
            .map(|place| (place.line, place.text))
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let text = "x\nb\n\nx\na\nb\n  c\nd\n";
    let found = nearest(text, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    let expected = [
        (5, "a".to_owned()),
        (6, "b".to_owned()),
        (7, "  c".to_owned()),
    ];
    assert_eq!(found, expected);
    // No line is the same: the one most like the longest.
    let found = nearest(
        "one\nThe second line.\n",
        "@@ -1 +1 @@\n-The second line\n+x\n",
    );
    assert_eq!(found, [(2, "The second line.".to_owned())]);
    assert_eq!(nearest("", "@@ -1 +1 @@\n-a\n+x\n"), []);
    // Many lines that are all the same.
    let same = "a\n".repeat(300_000);
    let hunk = format!("@@ -1,1001 +1,1001 @@\n{}-b\n+c\n", " a\n".repeat(1_000));
    assert_eq!(nearest(&same, &hunk), []);
}

#[test]
fn a_hunk_beyond_the_end_is_refused() {
    for patch in ["@@ -9 +9 @@\n-a\n", "@@ -9,0 +9 @@\n+a\n"] {
        let patch = patch.replace("+9 @@\n-", "+9,0 @@\n-");
        let Err(PatchFault::DoesNotApply { line, found, .. }) = apply_patch("a\n", &patch) else {
            panic!("there is no line 9");
        };
        assert_eq!((line, found.len()), (2, 1));
    }
}

#[test]
fn what_differs_in_line_endings_or_white_space_is_named() {
    let differs = |text: &str| match apply_patch(text, "@@ -1,2 +1 @@\n a b\n-c\n") {
        Err(PatchFault::DoesNotApply { differs_in, .. }) => differs_in,
        other => panic!("{other:?}"),
    };
    assert_eq!(differs("a b\r\nc\r\n"), Some(DiffersIn::LineEndings));
    assert_eq!(differs("a b\nc"), Some(DiffersIn::LineEndings));
    assert_eq!(differs("a  b\nc\n"), Some(DiffersIn::WhiteSpace));
    assert_eq!(differs("a b\nd\n"), None);
    // Also elsewhere.
    assert_eq!(differs("x\r\na b\r\nc\r\n"), Some(DiffersIn::LineEndings));
    assert_eq!(differs("x\na b\nc\n"), None);
}

#[test]
fn a_faulty_patch_is_told_with_its_line() {
    assert_eq!(malformed(""), (0, "the patch has no hunk"));
    assert_eq!(malformed("--- a\n+++ b\n"), (2, "the patch has no hunk"));
    assert_eq!(malformed("Here it is:\n@@ -1 +1 @@\n").0, 1);
    assert_eq!(malformed("\n@@ 1 @@\n").0, 2);
    assert_eq!(malformed("@@ -0,1 +1 @@\n-a\n").1, "lines count from 1");
    assert_eq!(malformed("@@ -+1 +1 @@\n-a\n").0, 1);
    assert_eq!(malformed("@@ -1 +1 @@\n-a\n*b\n").0, 3);
    assert_eq!(malformed("@@ -1,2 +1 @@\n-a\n").0, 2);
    assert_eq!(malformed("@@ -1 +1 @@\n-a\n-b\n").0, 3);
    assert_eq!(malformed("@@ -1 +1 @@\n-a\n+b\n+c\n").0, 4);
    assert_eq!(malformed("@@ -1 +1 @@\n\\ No newline\n").0, 2);
    assert_eq!(malformed("@@ -1 +1 @@\n-a\n+b\n--- c\n+++ d\n").0, 4);
    assert_eq!(malformed("@@ -2 +2 @@\n-b\n+b\n@@ -1 +1 @@\n-a\n+a\n").0, 4);
}

#[test]
fn a_fault_says_nothing_of_the_page() {
    let fault = apply_patch("secret\n", "@@ -1 +1 @@ secret\n-a\n+b\n").expect_err("refused");
    assert!(!fault.to_string().contains("secret"));
}

/// Texts of a few different lines, so that lines repeat; with or without a last line feed.
fn text() -> impl Strategy<Value = String> {
    ("([ab\\-+@]?\r?\n){0,9}", "[ab]?").prop_map(|(lines, last)| lines + &last)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_difference_applies_to_the_text_that_it_is_of(a in text(), b in text(), context in 0..4_usize) {
        let diff = TextDiff::from_lines(&a, &b);
        let patch = diff.unified_diff().context_radius(context).to_string();
        if a == b {
            prop_assert!(patch.is_empty());
        } else {
            prop_assert_eq!(apply_patch(&a, &patch), Ok(b.clone()));
            prop_assert_eq!(apply_patch(&a, &unified_diff(&a, &b).0), Ok(b.clone()));
            let headed = diff.unified_diff().header("a/page", "b/page").to_string();
            prop_assert_eq!(apply_patch(&a, &headed), Ok(b));
        }
    }

    #[test]
    fn a_carriage_return_alone_ends_no_line(a in "([a\r]{0,2}\n?){0,9}", b in "([a\r]{0,2}\n?){0,9}") {
        if a != b {
            prop_assert_eq!(apply_patch(&a, &unified_diff(&a, &b).0), Ok(b));
        }
    }

    #[test]
    fn a_patch_applies_elsewhere_only_if_all_its_old_lines_are_there(
        a in text(), b in text(), other in text(),
    ) {
        let patch = TextDiff::from_lines(&a, &b).unified_diff().context_radius(9).to_string();
        // With all lines as context there is one text that it is of, save what follows.
        if let Ok(result) = apply_patch(&other, &patch) {
            let behind = other.strip_prefix(a.as_str());
            prop_assert!(behind.is_some(), "{:?}", patch);
            prop_assert_eq!(result, b + behind.unwrap_or_default());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_text_makes_a_patch_panic(
        text in any::<String>(),
        patch in "(@@ -[0-9]{1,20}(,[0-9])? \\+[0-9](,[0-9]{1,20})? @@|[-+ \\\\]?\\PC{0,3}|[-+ ab]{0,2}|\r?\n){0,9}",
    ) {
        let _ = apply_patch(&text, &patch);
        let _ = apply_patch(&patch, &text);
    }
}
