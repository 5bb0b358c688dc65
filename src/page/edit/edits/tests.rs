use proptest::prelude::*;

use super::{EditFault, MOST_BYTES, TextReplacement, apply_edits, replace_all, replaced};
use crate::page::{DiffersIn, TextPosition};

fn edit(old: &str, new: &str) -> TextReplacement {
    TextReplacement {
        old_text: old.to_owned(),
        new_text: new.to_owned(),
    }
}

fn place(line: usize, text: &str) -> TextPosition {
    TextPosition {
        line,
        text: text.to_owned(),
    }
}

#[test]
fn each_edit_sees_what_those_before_it_left() {
    let edits = [edit("a", "b"), edit("b", "c"), edit("c", "")];
    assert_eq!(apply_edits("a\r\n", &edits).as_deref(), Ok("\r\n"));
    assert_eq!(apply_edits("as it was", &[]).as_deref(), Ok("as it was"));
}

#[test]
fn a_text_that_is_there_more_than_once_is_told_with_its_lines() {
    assert_eq!(
        apply_edits("x aaa\ny", &[edit("y", "z"), edit("aa", "b")]),
        Err(EditFault::Ambiguous {
            index: 1,
            places: vec![place(1, "x aaa"), place(1, "x aaa")],
            more: false,
        })
    );
}

#[test]
fn at_most_ten_places_are_told() {
    let Err(EditFault::Ambiguous { places, more, .. }) =
        apply_edits(&"a\n".repeat(11), &[edit("a", "b")])
    else {
        panic!("eleven places are not one");
    };
    assert_eq!(places.last(), Some(&place(10, "a")));
    assert!(more);
}

#[test]
fn an_empty_text_is_nowhere() {
    let edited = apply_edits("a", &[edit("", "b")]);
    assert_eq!(edited, Err(EditFault::Empty { index: 0 }));
}

#[test]
fn a_new_text_gets_the_line_ends_of_a_page_of_crlf_unless_the_edit_has_some() {
    for (text, edits, expected) in [
        ("a\r\n", vec![edit("a", "x\ny")], "x\r\ny\r\n"),
        ("a\r\n", vec![edit("a\r\n", "x\ny\n")], "x\ny\n"),
        ("a\r\n", vec![edit("a", "x\r\ny\nz")], "x\r\ny\nz\r\n"),
        ("a\r\nb\n", vec![edit("a", "x\ny")], "x\ny\r\nb\n"),
        (
            "a\r\n",
            vec![edit("\r\n", "\n"), edit("a", "x\ny")],
            "x\ny\n",
        ),
    ] {
        let expected = Ok(expected);
        assert_eq!(apply_edits(text, &edits).as_deref(), expected, "{text:?}");
        let all = replace_all(text, &edits, &[]);
        assert_eq!(all.as_deref(), expected, "{text:?}");
    }
    // What stays counts, too.
    let all = replace_all(
        "a\nb\r\n",
        &[edit("b", "x\ny")],
        std::slice::from_ref(&(0..2)),
    );
    assert_eq!(all.as_deref(), Ok("a\nx\ny\r\n"));
}

#[test]
fn what_differs_in_line_endings_or_white_space_is_named() {
    let near = |text: &str, old: &str| match apply_edits(text, &[edit(old, "")]) {
        Err(EditFault::NotFound {
            differs_in, places, ..
        }) => (differs_in, places),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        near("one\r\ntwo\r\nthree\r\n", "two\nthree"),
        (Some(DiffersIn::LineEndings), vec![place(2, "two")])
    );
    assert_eq!(
        near("x\n\tfoo  bar\nbaz", "foo bar\n\n  baz"),
        (Some(DiffersIn::WhiteSpace), vec![place(2, "\tfoo  bar")])
    );
    assert_eq!(near("x", "y"), (None, vec![]));
    assert_eq!(near("x", " \n"), (None, vec![]));
    assert_eq!(near("", "y"), (None, vec![]));
}

#[test]
fn a_text_that_is_nowhere_names_the_lines_most_like_its_longest() {
    let text = "# Backup\n\nRun the job every night.\nRun it by hand before an upgrade.\n\nx\n";
    let nearest = |old: &str| match apply_edits(text, &[edit(old, "")]) {
        Err(EditFault::NotFound { nearest, .. }) => nearest,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        nearest("\nRun the jobs each night\n"),
        [place(3, "Run the job every night.")]
    );
    assert_eq!(nearest("Something else altogether"), []);
}

#[test]
fn a_fault_says_nothing_of_the_page() {
    let fault = apply_edits("secret secret", &[edit("secret", "")]).expect_err("twice");
    assert!(!fault.to_string().contains("secret"));
}

#[test]
fn a_text_is_replaced_wherever_it_stands_and_must_be_there_when_its_turn_comes() {
    let all = |edits: &[TextReplacement]| replace_all("a b a", edits, &[]);
    assert_eq!(
        all(&[edit("a", "b"), edit("b b", "c")]).as_deref(),
        Ok("c b")
    );
    let gone = all(&[edit("a", "b"), edit("a", "c")]);
    assert!(matches!(gone, Err(EditFault::NotFound { index: 1, .. })));
    assert_eq!(all(&[edit("", "c")]), Err(EditFault::Empty { index: 0 }));
}

#[test]
fn a_text_that_would_grow_beyond_any_page_is_not_made() {
    let (text, new) = ("a".repeat(3_000), "b".repeat(2_000));
    let refused = replace_all(&text, &[edit("a", &new)], &[]);
    assert_eq!(refused, Err(EditFault::TooLarge { index: 0 }));
    // What does not grow is made, however large it is.
    let large = "ab".repeat(MOST_BYTES);
    let made = replaced(&large, &[edit("ab", "b")], &[]).map(|(text, counts)| (text.len(), counts));
    assert_eq!(made, Ok((MOST_BYTES, vec![MOST_BYTES])));
}

#[test]
fn what_touches_a_kept_range_stays_and_all_pieces_together_stay_within_a_page() {
    let text = "a `a` a`";
    let all = |old, new| replace_all(text, &[edit(old, new)], std::slice::from_ref(&(2..5)));
    assert_eq!(all("a", "b").as_deref(), Ok("b `a` b`"));
    assert_eq!(all("a`", "b").as_deref(), Ok("a `a` b"));
    assert_eq!(all("`a`", "b"), Err(EditFault::OnlyKept { index: 0 }));
    assert_eq!(all("a `", "b"), Err(EditFault::OnlyKept { index: 0 }));
    let pieces: Vec<_> = (0..2_000).map(|at| at * 2 + 1..at * 2 + 2).collect();
    let refused = replace_all(
        &"ab".repeat(2_000),
        &[edit("a", &"c".repeat(3_000))],
        &pieces,
    );
    assert_eq!(refused, Err(EditFault::TooLarge { index: 0 }));
}

/// Number of occurrences of a text in another, overlapping ones included.
fn count(text: &str, sought: &str) -> usize {
    text.char_indices()
        .filter(|(at, _)| text.get(*at..).is_some_and(|rest| rest.starts_with(sought)))
        .count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn edits_do_what_counting_and_replacing_do(
        text in "[abä\r\n]{0,12}",
        edits in prop::collection::vec(("[abä\r\n]{0,2}", "[abcä\n]{0,3}"), 0..4),
    ) {
        let edits: Vec<TextReplacement> = edits.iter().map(|(old, new)| edit(old, new)).collect();
        let mut expected = Ok(text.clone());
        for (index, TextReplacement { old_text, new_text }) in edits.iter().enumerate() {
            let Ok(now) = &expected else { break };
            expected = match (old_text.is_empty(), count(now, old_text)) {
                (false, 1) => {
                    let returns = now.contains('\n')
                        && !now.replace("\r\n", "").contains(['\r', '\n'])
                        && !old_text.contains('\r');
                    let end = if returns { "\r\n" } else { "\n" };
                    Ok(now.replacen(old_text.as_str(), &new_text.replace('\n', end), 1))
                }
                (empty, times) => Err((index, empty, times)),
            };
        }
        match (apply_edits(&text, &edits), expected) {
            (Ok(ours), Ok(models)) => prop_assert_eq!(ours, models),
            (Err(EditFault::Empty { index }), Err((at, true, _))) => prop_assert_eq!(index, at),
            (Err(EditFault::NotFound { index, differs_in, places, nearest }), Err((at, false, 0))) => {
                prop_assert!(places.is_empty() || nearest.is_empty());
                prop_assert_eq!(index, at);
                prop_assert_eq!(differs_in.is_some(), !places.is_empty());
            }
            (Err(EditFault::Ambiguous { index, places, more }), Err((at, false, times))) => {
                prop_assert_eq!(index, at);
                prop_assert_eq!(places.len(), times.min(10));
                prop_assert_eq!(more, times > 10);
            }
            (ours, models) => prop_assert!(false, "{:?} {:?}", ours, models),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_text_makes_edits_panic(text in any::<String>(), old in any::<String>(), new in any::<String>()) {
        let cut: String = text.chars().skip(1).take(2).collect();
        let _ = apply_edits(&text, &[edit(&cut, &new), edit(&old, &new)]);
    }
}
