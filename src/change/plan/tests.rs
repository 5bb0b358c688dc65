use serde_json::json;

use super::{Change, Operation, is_blank};
use crate::page::testing::{But as _, at, page};
use crate::page::{Attached, CommentOf, Field, Locale, NewPath, PagePath, PageState};

const AT: &str = "2026-01-01T00:00:00.000Z";

/// The page at another path.
fn titled(title: &str, page: PageState) -> PageState {
    page.but(|it| it.title = title.to_owned())
}

fn dated(page: PageState) -> PageState {
    page.but(|it| it.updated_at = Some(AT.to_owned().into()))
}

#[test]
fn each_kind_of_change_and_of_step_has_its_word() {
    let words = Operation::ALL.map(|one| (one.as_str(), one.to_string()));
    let expected = [
        "create",
        "update",
        "move",
        "delete",
        "add-comment",
        "change-comment",
        "delete-comment",
        "upload-asset",
        "rename-asset",
        "delete-asset",
    ]
    .map(|word| (word, word.to_owned()));
    assert_eq!(words, expected);
    for (step, word, rebuilds) in [
        (Operation::Create, "create", true),
        (Operation::Move, "move", true),
        (Operation::Update, "update", false),
        (Operation::Delete, "delete", true),
        (Operation::AddComment, "add-comment", false),
        (Operation::ChangeComment, "change-comment", false),
        (Operation::DeleteComment, "delete-comment", false),
        (Operation::UploadAsset, "upload-asset", true),
        (Operation::RenameAsset, "rename-asset", true),
        (Operation::DeleteAsset, "delete-asset", true),
    ] {
        assert_eq!((step.as_str(), step.rebuilds_tree()), (word, rebuilds));
    }
}

#[test]
fn a_change_takes_the_steps_that_it_needs_and_is_named_by_what_changes() {
    use Operation::{Create, Delete, Move, Update};
    let german = || page().but(|it| it.locale = Locale::as_stored("de"));
    // Its title is its last segment: the wiki's move gives it the new one.
    let named = |path: &str| titled(PagePath::as_stored(path).last_segment(), at(path));
    for (change, operation, steps) in [
        (Change::recreate(page()), Operation::Create, &[Create][..]),
        (Change::delete(page()), Operation::Delete, &[Delete]),
        (
            Change::between(page(), at("docs/b")),
            Operation::Move,
            &[Move],
        ),
        (Change::between(page(), german()), Operation::Move, &[Move]),
        (
            Change::between(page(), titled("B", page())),
            Operation::Update,
            &[Update],
        ),
        (
            Change::between(page(), titled("B", at("docs/b"))),
            Operation::Update,
            &[Move, Update],
        ),
        (Change::between(page(), page()), Operation::Update, &[]),
        (
            Change::between(named("docs/a"), titled("a", at("docs/b"))),
            Operation::Move,
            &[Move, Update],
        ),
        // Its new title is what the move gives it: but that is a change, and is written.
        (
            Change::between(named("docs/a"), named("docs/b")),
            Operation::Update,
            &[Move, Update],
        ),
        (
            Change::between(titled("x", at("docs/a")), titled("x", at("docs/b"))),
            Operation::Move,
            &[Move],
        ),
    ] {
        assert_eq!(change.operation(), operation, "{change:?}");
        assert_eq!(change.steps(), steps, "{change:?}");
        let rebuilds = steps.iter().any(|step| *step != Update);
        assert_eq!(change.rebuilds_tree(), rebuilds, "{change:?}");
        assert_eq!(change.moves(), steps.contains(&Move), "{change:?}");
    }
}

#[test]
fn a_move_leaves_the_page_at_its_new_place_with_the_title_that_the_wiki_gives_it() {
    let after = |title: &str, from: &str, to: &str| {
        let change = Change::between(titled(title, at(from)), titled("new", at(to)));
        change
            .after_step(Operation::Move)
            .map(|page| (page.title.clone(), page.path.to_string()))
    };
    let moved = |title: &str| Some((title.to_owned(), "docs/b".to_owned()));
    assert_eq!(after("A", "docs/a", "docs/b"), moved("A"));
    assert_eq!(after("a", "docs/a", "docs/b"), moved("b"));
    // After the last step the page is as asked for.
    let change = Change::between(page(), titled("B", at("docs/b")));
    let last = change.after_step(Operation::Update);
    assert_eq!(last.as_deref(), change.after());
    let create = Change::recreate(page());
    assert_eq!(
        create.after_step(Operation::Create).as_deref(),
        create.after()
    );
    assert_eq!(Change::delete(page()).after_step(Operation::Delete), None);
}

#[test]
fn a_change_knows_both_places_and_which_fields_change() {
    let places = |change: &Change| {
        let places = change.places();
        places
            .map(|(locale, path)| format!("{locale}/{path}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(places(&Change::delete(page())), ["en/docs/a"]);
    assert_eq!(places(&Change::recreate(page())), ["en/docs/a"]);
    let moved = Change::between(page(), at("docs/b"));
    assert_eq!(places(&moved), ["en/docs/a", "en/docs/b"]);
    assert_eq!(moved.fields(), [Field::Path]);
    // A new or deleted page has only those fields that are not empty.
    let fields = Change::delete(page()).fields();
    assert!(fields.contains(&Field::Title) && !fields.contains(&Field::Description));
    for (change, is_empty) in [
        (Change::between(page(), dated(page())), true),
        (moved, false),
        (Change::delete(page()), false),
        (Change::recreate(page()), false),
    ] {
        assert_eq!(change.is_empty(), is_empty, "{change:?}");
    }
}

#[test]
fn the_same_write_is_the_same_page_before_and_after_whenever_it_was_read() {
    let change = || Change::between(page(), at("docs/b"));
    let other_page = |page: PageState| page.but(|it| it.id = Some(2));
    for (other, is_same) in [
        (change(), true),
        (Change::between(dated(page()), at("docs/b")), true),
        (Change::between(other_page(page()), at("docs/b")), false),
        (Change::between(page(), other_page(at("docs/b"))), false),
        (Change::between(titled("B", page()), at("docs/b")), false),
        (Change::between(page(), titled("B", at("docs/b"))), false),
        (change().with_loss_of(vec![Field::Tags]), false),
        (Change::delete(page()), false),
        (Change::recreate(at("docs/b")), false),
    ] {
        assert_eq!(change().is_same_write(&other), is_same, "{other:?}");
        assert_eq!(other.is_same_write(&change()), is_same, "{other:?}");
    }
    assert!(Change::delete(page()).is_same_write(&Change::delete(page())));
    assert!(!Change::delete(page()).is_same_write(&Change::recreate(page())));
}

#[test]
fn a_loss_is_remembered_and_what_is_written_there_is_known() {
    let unknown =
        |page: PageState| page.but(|it| it.unknown = [Field::ScriptCss, Field::Tags].into());
    let change = Change::between(unknown(page()), unknown(at("docs/b")));
    let change = change.with_loss_of(vec![Field::ScriptCss]);
    assert_eq!(change.lost(), [Field::ScriptCss]);
    let left: Vec<Field> = change.after().unwrap().unknown.clone();
    assert_eq!(left, [Field::Tags]);
    assert_eq!(change.before().unwrap().unknown.len(), 2);
    assert_eq!(Change::delete(page()).lost(), []);
}

#[test]
fn a_page_goes_to_the_trash_unpublished_and_comes_back_as_a_new_one() {
    let place = NewPath::parse("trash/1-docs/a").unwrap();
    let change = Change::trash(dated(page()), place);
    let after = change.after().unwrap();
    assert_eq!(after.path.as_str(), "trash/1-docs/a");
    assert!(!after.is_published);
    assert_eq!((after.id, &after.updated_at), (Some(1), &None));
    assert_eq!(change.before(), Some(&dated(page())));
    let back = Change::recreate(dated(page()));
    let made = back.after().unwrap();
    assert_eq!((made.id, &made.updated_at), (None, &None));
    assert!(made.difference(&page()).is_empty());
}

#[test]
fn a_change_counts_the_texts_of_both_states() {
    let with = |content: usize, css: usize, js: usize| PageState {
        content: "x".repeat(content),
        script_css: "x".repeat(css),
        script_js: "x".repeat(js),
        ..page()
    };
    let delete = Change::delete(with(100, 20, 3));
    assert_eq!(delete.bytes(), 1_024 + 123);
    let update = Change::between(with(100, 20, 3), with(1, 0, 0));
    assert_eq!(update.bytes(), 2 * 1_024 + 124);
}

#[test]
fn two_states_make_the_change_that_leads_from_one_to_the_other() {
    let of = |before, after| Change::of_states(before, after);
    assert_eq!(of(None, None), None);
    assert_eq!(of(None, Some(page())), Some(Change::recreate(page())));
    assert_eq!(of(Some(page()), None), Some(Change::delete(page())));
    let both = of(Some(page()), Some(at("docs/b")));
    assert_eq!(both, Some(Change::between(page(), at("docs/b"))));
}

#[test]
fn styles_and_scripts_are_shown_as_differences_and_other_fields_by_their_values() {
    let after = PageState {
        script_css: "a {}\nb {}\n".to_owned(),
        content: "y\n".to_owned(),
        ..titled("B", page())
    };
    let change = Change::between(page(), after);
    let (diff, lines) = change.code_diff(Field::ScriptCss).unwrap();
    assert!(diff.contains("+a {}"), "{diff}");
    assert_eq!((lines.added, lines.removed), (2, 0));
    assert_eq!(change.code_diff(Field::Title), None);
    assert_eq!(change.code_diff(Field::Content), None);
    let values = serde_json::Value::from(change.values());
    assert_eq!(values["title"], json!({ "before": "A", "after": "B" }));
    assert_eq!(values["scriptCss"]["diff"], diff);
    assert_eq!(values["scriptCss"]["linesAdded"], 2);
    assert_eq!(values["scriptCss"]["linesRemoved"], 0);
    assert!(values.get("content").is_none(), "{values}");
}

#[test]
fn a_blank_value_is_an_empty_text_or_list_or_a_no() {
    for (value, expected) in [
        (json!(""), true),
        (json!([]), true),
        (json!(false), true),
        (json!("x"), false),
        (json!(["x"]), false),
        (json!(true), false),
    ] {
        assert_eq!(is_blank(&value), expected, "{value}");
    }
}

/// A comment on the page.
fn comment(id: Option<i64>, text: &str) -> PageState {
    PageState {
        content: text.to_owned(),
        thing: Some(Attached::Comment(CommentOf {
            id,
            reply_to: Some(3),
            ..CommentOf::default()
        })),
        ..page()
    }
}

#[test]
fn a_comment_is_changed_in_its_text_alone_wherever_its_page_is() {
    let added = Change::add(comment(None, "One"));
    assert_eq!(added.operation(), Operation::AddComment);
    assert_eq!(added.steps(), [Operation::AddComment]);
    assert_eq!(added.fields(), [Field::Content]);
    assert_eq!(json!(added.values()), json!({ "replyTo": { "after": 3 } }));
    assert_eq!((added.place_taken(), added.rebuilds_tree()), (None, false));

    let elsewhere = PageState {
        path: PagePath::as_stored("docs/elsewhere"),
        title: "Other".to_owned(),
        ..comment(Some(7), "Two")
    };
    let changed = Change::between(comment(Some(7), "One"), elsewhere.clone());
    assert_eq!(changed.operation(), Operation::ChangeComment);
    assert_eq!(changed.steps(), [Operation::ChangeComment]);
    assert_eq!(changed.fields(), vec![Field::Content]);
    assert!(!changed.moves());
    let same = Change::between(comment(Some(7), "Two"), elsewhere);
    assert!(same.is_empty() && same.steps().is_empty());

    let deleted = Change::delete(comment(Some(7), "One"));
    assert_eq!(deleted.operation(), Operation::DeleteComment);
    assert_eq!(deleted.steps(), [Operation::DeleteComment]);
    assert_eq!(deleted.place_left(), None);
    assert_eq!(deleted.leaves_for_good(), None);
    assert!(!deleted.is_same_write(&Change::delete(comment(Some(8), "One"))));
    assert!(!deleted.is_same_write(&Change::delete(page())));
}

#[test]
fn a_comment_that_comes_back_is_a_new_one_of_the_same_page() {
    let back = Change::recreate(comment(Some(7), "One"));
    let after = back.after().unwrap();
    assert_eq!(after.id, page().id);
    assert_eq!(after.thing.as_ref().unwrap().id(), None);
    let gone = Change::undo(None, Some(comment(Some(7), "One")), None, false);
    assert!(gone.is_err());
    let theirs = comment(Some(7), "Theirs");
    let ours = Some(comment(Some(7), "One"));
    assert!(Change::undo(None, ours.clone(), Some(theirs.clone()), false).is_err());
    let forced = Change::undo(None, ours, Some(theirs), true).unwrap();
    assert_eq!(forced.change.operation(), Operation::DeleteComment);
}
