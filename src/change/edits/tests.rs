use super::{ContentFault, Edits, NewContent, NewTags};
use crate::page::testing::But as _;
use crate::page::{PartSelector, SectionMode, TextReplacement, testing::with_content as page};

fn section(content: &str, mode: SectionMode) -> NewContent {
    NewContent::Section {
        selector: PartSelector::for_edit("h2[0]").unwrap(),
        mode,
        content: content.to_owned(),
    }
}

fn replaces(old: &str, new: &str) -> NewContent {
    NewContent::Edits(vec![TextReplacement {
        old_text: old.to_owned(),
        new_text: new.to_owned(),
    }])
}

#[test]
fn a_source_is_changed_whole_by_replacements_by_a_patch_or_in_a_part() {
    let before = page("# A\n\n## B\n\nx\n");
    let patch = "@@ -5 +5 @@\n-x\n+y\n";
    for (content, expected) in [
        (NewContent::Whole("y\n".to_owned()), "y\n"),
        (replaces("x", "y"), "# A\n\n## B\n\ny\n"),
        (NewContent::Patch(patch.to_owned()), "# A\n\n## B\n\ny\n"),
        (section("", SectionMode::Remove), "# A\n"),
    ] {
        let told = format!("{content:?}");
        let content = content.onto(&before).unwrap();
        assert_eq!(content.trim_end(), expected.trim_end(), "{told}");
    }
}

#[test]
fn only_markdown_has_parts() {
    let part = || section("## B\n\ny\n", SectionMode::Replace);
    assert!(part().onto(&page("## B\n\nx\n")).is_ok());
    let html = page("<h2>B</h2>\n").but(|it| it.editor = "code".to_owned());
    assert_eq!(part().onto(&html), Err(ContentFault::NotMarkdown));
    // Whatever the format, words can be replaced.
    assert!(replaces("B", "C").onto(&html).is_ok());
}

#[test]
fn no_page_is_left_without_content_by_a_change_of_its_parts() {
    assert_eq!(replaces("x", "").onto(&page("x")), Err(ContentFault::Blank));
    // A page that was blank before may stay so.
    let blank = page(" \n");
    let kept = replaces(" ", " ").onto(&blank);
    assert_eq!(kept, Ok(" \n".to_owned()));
    assert_eq!(replaces(" ", " ").warning(&blank), None);
}

#[test]
fn tags_are_set_or_added_and_removed_and_the_others_stay() {
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    let before = words(&["a", "b"]);
    let some = |add: &[&str], remove: &[&str]| NewTags::Some {
        add: words(add),
        remove: words(remove),
    };
    for (tags, expected) in [
        (NewTags::All(words(&["c"])), words(&["c"])),
        (NewTags::All(Vec::new()), Vec::new()),
        (some(&["c"], &[]), words(&["a", "b", "c"])),
        (some(&["b", "c", "c"], &[]), words(&["a", "b", "c"])),
        (some(&[], &["a", "none"]), words(&["b"])),
        (some(&["a"], &["a"]), words(&["b", "a"])),
        // A sign before a tag is a way to write it.
        (some(&[], &["#a"]), words(&["b"])),
    ] {
        let told = format!("{tags:?}");
        assert_eq!(tags.onto(&before), expected, "{told}");
    }
    let mut adds = some(&["c"], &[]);
    assert_eq!(adds.given_mut(), &mut words(&["c"]));
    assert_eq!(NewTags::All(words(&["d"])).given_mut(), &mut words(&["d"]));
}

#[test]
fn a_tag_to_remove_is_the_page_s_own_with_its_sign_or_without() {
    let words =
        |words: &[&str]| -> Vec<String> { words.iter().map(|word| (*word).to_owned()).collect() };
    let (signed, plain) = (words(&["#x", "x", "y"]), words(&["x", "y"]));
    let remove = |tags: &[&str]| NewTags::Some {
        add: Vec::new(),
        remove: words(tags),
    };
    assert_eq!(remove(&["#x"]).onto(&signed), words(&["x", "y"]));
    assert_eq!(remove(&["#x"]).onto(&plain), words(&["y"]));
    assert_eq!(remove(&["#"]).onto(&plain), plain);
    let missing = remove(&["#x", "#z", "y"]);
    assert_eq!(missing.warning(&[&plain, &words(&["z"])]), None);
    assert_eq!(NewTags::All(words(&["z"])).warning(&[&plain]), None);
    let warning = missing.warning(&[&plain]).unwrap();
    assert_eq!(
        warning.to_string(),
        "tags_not_there: the page does not have these tags, so they were not removed: z. (tags)"
    );
    assert_eq!(remove(&["x"]).warning(&[&plain]), None);
}

#[test]
fn edits_that_ask_for_nothing_are_empty_and_those_of_a_part_name_it() {
    assert!(Edits::default().is_empty());
    let of = |content| Edits::default().but(|edits| edits.content = Some(content));
    let part = of(section("", SectionMode::Remove));
    assert!(!part.is_empty());
    let section = part.section();
    assert_eq!(section, Some(&PartSelector::for_edit("h2[0]").unwrap()));
    assert_eq!(of(NewContent::Whole("x".to_owned())).section(), None);
    assert_eq!(Edits::default().section(), None);
}

#[test]
fn a_field_whose_new_value_means_the_same_keeps_the_old_one_to_the_letter() {
    let date = |text: &str| Some(text.to_owned().into());
    let dated =
        page("x\n").but(|it| it.publish_start_date = "2026-01-01T00:00:00.000Z".to_owned().into());
    for (text, expected) in [
        ("2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00.000Z"),
        ("2026-01-02T00:00:00Z", "2026-01-02T00:00:00Z"),
    ] {
        let edits = Edits::default().but(|edits| edits.publish_start_date = date(text));
        let after = edits.onto(&dated).unwrap();
        assert_eq!(after.publish_start_date.as_str(), expected);
        assert_eq!(after.publish_end_date, dated.publish_end_date);
    }
}
