use super::{MAX_DIFFS, lines, lines_with_room, preview};
use crate::change::{Change, Warning};
use crate::page::PageState;
use crate::page::testing::{But as _, page};
use crate::view::ChangeView;
use crate::write::answer::MAX_LINES;
use crate::write::caller::Extent;
use crate::write::testing::{checked, list, mending, office, update};

/// A change with a difference of this many bytes.
fn with_diff_of(bytes: usize) -> Change {
    let adds = |count: usize| {
        let after = page().but(|it| it.content = format!("x\n{}\n", "y".repeat(count)));
        Change::between(page(), after)
    };
    let least = adds(1).content_diff().0.len();
    let change = adds(bytes + 1 - least);
    assert_eq!(change.content_diff().0.len(), bytes);
    change
}

fn shown(lines: &[ChangeView]) -> Vec<bool> {
    for line in lines {
        assert_eq!(line.is_cut, line.diff.is_empty());
    }
    lines.iter().map(|line| !line.is_cut).collect()
}

#[test]
fn differences_are_shown_while_there_is_room_and_the_hidden_ones_are_counted() {
    assert_eq!(MAX_DIFFS, 32 << 10);
    let (office, half) = (office(), MAX_DIFFS / 2);
    for (bytes, expected) in [
        (vec![MAX_DIFFS], vec![true]),
        (vec![MAX_DIFFS + 1], vec![false]),
        (vec![half, half], vec![true, true]),
        (vec![half, half + 1], vec![true, false]),
        (vec![half, half + 1, half], vec![true, false, true]),
        (vec![MAX_DIFFS, 100, 100], vec![true, false, false]),
    ] {
        let set = list(bytes.iter().copied().map(with_diff_of).collect());
        let (wiki, extent) = (&office.desk.wiki, Extent::Bounded);
        let told = preview(wiki, &set, checked(), extent);
        assert_eq!(shown(&told.changes), expected, "{bytes:?}");
        assert_eq!(told.pages, bytes.len());
        let hidden = expected.iter().filter(|is_shown| !**is_shown).count();
        let warnings: Vec<&str> = told.notes.warnings.iter().map(|one| &*one.code).collect();
        if hidden == 0 {
            assert_eq!(warnings, Vec::<&str>::new());
        } else {
            assert_eq!(warnings, ["diffs_not_shown"]);
            let message = &told.notes.warnings[0].message;
            let count = ["of 1 change ", "of 2 changes "][hidden - 1];
            assert!(message.contains(count), "{message}");
        }
    }
}

#[test]
fn a_change_that_does_nothing_has_no_line_and_one_that_mends_links_no_difference() {
    let office = office();
    let id = |id: i64, change: &Change| {
        let numbered = |page: &PageState| page.clone().but(|it| it.id = Some(id));
        let (before, after) = (change.before().unwrap(), change.after().unwrap());
        Change::between(numbered(before), numbered(after))
    };
    let mending = mending(2, 3, Vec::new());
    let set = list(vec![
        id(1, &with_diff_of(100)),
        id(2, &with_diff_of(MAX_DIFFS + 1)),
        Change::between(page(), page()),
        update(4),
    ])
    .with(|batch| batch.mending = Some(mending));
    let each = [
        vec![Warning::new("first", "one.")],
        Vec::new(),
        vec![Warning::new("nobody", "sees this.")],
        vec![Warning::new("last", "two.")],
    ];
    let told = lines(&office.desk.wiki, &set, &each, Extent::Bounded);
    let told: Vec<_> = told
        .iter()
        .map(|line| {
            let codes: Vec<&str> = line.warnings.iter().map(|one| &*one.code).collect();
            (line.diff.is_empty(), line.is_cut, line.links_mended, codes)
        })
        .collect();
    let expected = [
        (false, false, None, vec!["first"]),
        (true, false, Some(3), vec![]),
        (true, false, None, vec!["last"]),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_part_of_a_set_ends_before_the_first_change_without_room_for_its_difference() {
    let office = office();
    let told = |changes: Vec<Change>| {
        lines_with_room(&office.desk.wiki, &list(changes), &[], Extent::Bounded)
    };
    let many = (0..=MAX_LINES).map(|_| update(1)).collect();
    assert_eq!(told(many).len(), MAX_LINES);
    let (small, large) = (|| with_diff_of(100), || with_diff_of(MAX_DIFFS + 1));
    assert_eq!(told(vec![small(), small(), large(), small()]).len(), 2);
    assert_eq!(told(vec![small(), large(), small()]).len(), 1);
    assert_eq!(told(vec![small(), small()]).len(), 2);
    // What has no room even alone is cut, and that is said.
    let alone = told(vec![large(), small()]);
    assert_eq!(alone.len(), 1);
    assert!(!alone[0].diff.is_empty() && alone[0].diff.len() < MAX_DIFFS);
    assert_eq!(alone[0].warnings.len(), 1);
}

#[test]
fn the_warnings_of_changes_without_room_in_an_answer_are_in_it() {
    let office = office();
    let many = (0..=MAX_LINES).map(|_| update(1)).collect();
    let set = list(many);
    let mut each = vec![Vec::new(); MAX_LINES];
    each.push(vec![Warning::new("dead_link", "it leads nowhere.")]);
    let preview = preview(&office.desk.wiki, &set, checked(), Extent::Whole)
        .but(|it| it.changes = lines(&office.desk.wiki, &set, &each, Extent::Bounded));
    let shown = preview.bounded(Extent::Bounded);
    assert_eq!(shown.changes.len(), MAX_LINES);
    let told: Vec<String> = shown
        .notes
        .warnings
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(told.len(), 2);
    assert_eq!(told[0], "dead_link: docs/a: it leads nowhere.");
    assert!(told[1].starts_with("changes_not_shown"), "{told:?}");
}
