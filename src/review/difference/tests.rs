use super::{DiffLineKind, DiffRow, MOST_MARKED, MOST_OF_ROW, plain_rows, side_by_side};
use crate::page::{COARSE, unified_diff};

fn rows(unified: &str) -> Vec<DiffRow<'_>> {
    super::rows(unified, 0..usize::MAX).collect()
}

/// `old|new sign words`, with marked words in brackets.
fn told(unified: &str) -> Vec<String> {
    let told = |row: &DiffRow| match row {
        DiffRow::Note(note) => format!("({note})"),
        DiffRow::Gap => "…".to_owned(),
        DiffRow::Line(line) => {
            let number = |number: Option<usize>| {
                number.map_or_else(String::new, |number| number.to_string())
            };
            let sign = match line.fate {
                DiffLineKind::Kept => ' ',
                DiffLineKind::Removed => '-',
                DiffLineKind::Added => '+',
            };
            let words = line.words.iter().map(|(is_marked, word)| {
                if *is_marked {
                    format!("[{word}]")
                } else {
                    (*word).to_owned()
                }
            });
            let end = if line.lacks_line_feed { "\\" } else { "" };
            format!(
                "{}|{} {sign}{}{end}",
                number(line.old),
                number(line.new),
                words.collect::<String>()
            )
        }
    };
    rows(unified).iter().map(told).collect()
}

#[test]
fn rows_have_the_numbers_of_both_texts_and_changed_words_are_marked() {
    let before = "a\nb\nthe old word\nd\ne\nf\ng\nh\ni\nj\nk\nlast";
    let after = "a\nb\nthe new word\nd\ne\nf\ng\nh\ni\nj\nk\nlast\n";
    let expected = [
        "1|1  a",
        "2|2  b",
        "3| -the [old] word",
        "|3 +the [new] word",
        "4|4  d",
        "5|5  e",
        "6|6  f",
        "…",
        "9|9  i",
        "10|10  j",
        "11|11  k",
        "12| -last\\",
        "|12 +last",
    ];
    assert_eq!(told(&unified_diff(before, after).0), expected);
}

#[test]
fn lines_that_look_like_signs_are_text() {
    let before = "-- a\n++ b\n@@ -1 +1 @@\n\\ no\n";
    let (diff, _) = unified_diff(before, "++ b\n@@ -1 +1 @@\n\\ no\n--- c\n");
    let expected = [
        "1| --- a",
        "2|1  ++ b",
        "3|2  @@ -1 +1 @@",
        "4|3  \\ no",
        "|4 +--- c",
    ];
    assert_eq!(told(&diff), expected);
}

#[test]
fn a_page_that_is_made_and_one_that_goes_have_one_side_only() {
    assert_eq!(told(&unified_diff("", "a\nb\n").0), ["|1 +a", "|2 +b"]);
    assert_eq!(told(&unified_diff("a\n", "").0), ["1| -a"]);
    assert_eq!(told(""), [""; 0]);
}

#[test]
fn a_long_line_has_several_rows_and_loses_nothing() {
    let line = "ä".repeat(MOST_OF_ROW);
    let (diff, _) = unified_diff("", &line);
    let rows = rows(&diff);
    assert_eq!(rows.len(), 2);
    let text: String = rows
        .iter()
        .flat_map(|row| match row {
            DiffRow::Line(line) => line.words.iter().map(|(_, word)| *word).collect(),
            DiffRow::Gap | DiffRow::Note(_) => Vec::new(),
        })
        .collect();
    assert_eq!(text, line);
}

#[test]
fn side_by_side_a_line_stands_beside_the_one_that_took_its_place() {
    let (diff, _) = unified_diff("a\nb\nc\n", "a\nB\nB2\nc\n");
    let rows = rows(&diff);
    let number = |row: Option<&DiffRow>| match row {
        Some(DiffRow::Line(line)) => line.old.or(line.new),
        _ => None,
    };
    let pairs = side_by_side(&rows);
    let pairs: Vec<_> = pairs
        .into_iter()
        .map(|(old, new)| (number(old), number(new)))
        .collect();
    let expected = [
        (Some(1), Some(1)),
        (Some(2), Some(2)),
        (None, Some(3)),
        (Some(3), Some(3)),
    ];
    assert_eq!(pairs, expected);
}

#[test]
fn some_rows_are_those_of_all_and_keep_the_marks_of_their_run() {
    let lines = |word: &str| -> String {
        let line = |at: usize| match at % 7 {
            0..3 => format!("the {word} line {at}\n"),
            _ => format!("line {at}\n"),
        };
        (0..90).map(line).collect()
    };
    let (diff, _) = unified_diff(&lines("old"), &lines("new"));
    let all = rows(&diff);
    for from in 0..all.len() {
        for end in [from, from + 1, from + 5, all.len()] {
            let some: Vec<DiffRow> = super::rows(&diff, from..end).collect();
            assert_eq!(
                some,
                all[from..end.min(all.len()).max(from)],
                "{from}..{end}"
            );
        }
    }
    assert_eq!(plain_rows(&diff).count(), all.len());
}

#[test]
fn a_run_that_is_too_long_is_not_held_and_has_no_marks() {
    let lines = |word: &str| {
        let lines = (0..MOST_MARKED / 8).map(|at| format!("{word} {at} is a line\n"));
        lines.collect::<Vec<_>>().concat()
    };
    let (old, new) = (lines("old"), lines("new"));
    let (diff, counts) = unified_diff(&old, &new);
    let all = rows(&diff);
    assert_eq!(all.len(), counts.added + counts.removed);
    let has_marks = |row: &DiffRow| matches!(row, DiffRow::Line(line) if line.words.len() > 1);
    assert!(!all.iter().any(has_marks));
    assert_eq!(all, plain_rows(&diff).collect::<Vec<_>>());
    // A short run behind it has its own.
    let (diff, _) = unified_diff(&format!("{old}a\nthe old\n"), &format!("{new}a\nthe new\n"));
    let all = rows(&diff);
    assert!(
        all[counts.added + counts.removed..].iter().any(has_marks),
        "{:?}",
        all.last()
    );
}

#[test]
fn what_is_said_of_the_whole_stands_before_the_first_hunk() {
    let (diff, _) = unified_diff("a\n", "b\n");
    let told = told(&format!("{COARSE}\n{diff}"));
    assert_eq!(told[0], format!("({COARSE})"));
    assert_eq!(told[1..], ["1| -a", "|1 +b"]);
    let cut = "@@ -1 +1,2 @@\n-a\n\\ From here on.\n+b\n";
    assert_eq!(self::told(cut), ["1| -a", "(From here on.)", "|1 +b"]);
}
