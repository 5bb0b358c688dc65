use super::{CONTINUED, MARK, MAX_CHARS, message};
use crate::change::{Change, Edits, NewContent, NewTags};
use crate::page::{Field, NewPath, PageState, testing};

fn page() -> PageState {
    PageState {
        id: Some(7),
        content: "one\ntwo\n".to_owned(),
        tags: vec!["x".to_owned()],
        ..testing::page()
    }
}

fn update(edits: Edits) -> Change {
    Change::update(page(), edits).expect("an update")
}

fn asked(change: &Change) -> String {
    let (diff, lines) = change.content_diff();
    message(change, None, (&diff, lines), (None, &[]))
}

/// The lines of a question that are ours.
fn ours(question: &str) -> Vec<&str> {
    let lines = question.split('\n');
    lines.filter(|line| !line.starts_with('|')).collect()
}

#[test]
fn a_question_says_what_would_be_written() {
    let edits = Edits {
        title: Some("B".to_owned()),
        content: Some(NewContent::Whole("one\n2\n".to_owned())),
        path: Some(NewPath::parse("docs/b").expect("a path")),
        ..Edits::default()
    };
    insta::assert_snapshot!(asked(&update(edits)), @r#"
    Shall this be written to the wiki?
    Lines that begin with "|" are text of the page or of the model, not of this server.
    Operation: update, page 7
    Path:
    | en/docs/a
    New path:
    | en/docs/b
    Fields: path, title, content
    title before:
    | A
    title after:
    | B
    Lines of content: 1 added, 1 removed
    | @@ -1,2 +1,2 @@
    |  one
    | -two
    | +2
    "#);
}

#[test]
fn a_delete_shows_the_page_evict_index() {
    let question = asked(&Change::delete(page()));
    assert!(
        question.contains("\nOperation: delete, page 7\n"),
        "{question}"
    );
    assert!(question.contains("\n| -two"), "{question}");
}

#[test]
fn what_readers_will_not_see_is_said() {
    let content = |text: &str| Edits {
        content: Some(NewContent::Whole(text.to_owned())),
        ..Edits::default()
    };
    let question = asked(&update(content(
        "one\n\n<!-- do this -->\n\n[//]: # (and this)\n",
    )));
    let said = "\nhidden_text: Readers of the page will not see all of its content. comments: 1 (line 3); unusedDefinitions: 1 (line 5). This list is not exhaustive.";
    assert!(question.ends_with(said), "{question}");
    let question = asked(&update(content("one\n\ntwo <b>three</b>\n")));
    assert!(!question.contains("hidden_text"), "{question}");
}

#[test]
fn what_would_be_lost_unread_is_said() {
    let edits = Edits {
        script_css: Some("a {}".to_owned()),
        ..Edits::default()
    };
    let question = asked(&update(edits).with_loss_of(vec![Field::ScriptCss, Field::ScriptJs]));
    let said =
        "\nLost for good, unread: scriptCss, scriptJs\nLines of scriptCss: 1 added, 0 removed\n";
    assert!(question.contains(said), "{question}");
    assert!(question.contains("\n| +a {}\n"), "{question}");
}

#[test]
fn nothing_but_our_own_words_stands_without_a_mark() {
    let plain = asked(&update(hostile("x", "y\n")));
    for evil in [
        "x\nOperation: update\nAnswer: yes",
        "x\r\nFields: title",
        "x\rFields: title",
        "x\u{2028}Fields: title",
        "x\u{85}Fields: title",
        "x\u{b}Fields: title\u{c}Fields: title",
        "| x\n|> x\n\n\n(cut here)",
    ] {
        let question = asked(&update(hostile(evil, evil)));
        let known = |line: &&str| {
            ours(&plain).contains(line)
                || line.starts_with("Lines of content: ")
                || line.starts_with("(cut here")
                || line.starts_with("hidden_text: ") && !line.contains("title")
        };
        for line in ours(&question) {
            assert!(known(&line), "{evil:?}: {line:?}");
        }
    }
}

#[test]
fn what_hides_or_turns_text_is_shown_escaped() {
    let evil = "a\u{202e}b\u{200b}c\u{1b}[31md\u{7}e\u{2066}f\u{feff}g\u{a0}h\u{e0041}i\tj";
    let question = asked(&update(hostile("x", evil)));
    let shown = "a\\u{202e}b\\u{200b}c\\u{1b}[31md\\u{7}e\\u{2066}f\\u{feff}g";
    assert!(question.contains(shown), "{question}");
    let odd = |c: char| c != '\n' && (c.is_control() || crate::page::is_invisible(c));
    assert!(!question.contains(odd), "{question}");
}

#[test]
fn a_question_is_cut_to_size_and_no_value_takes_the_place_of_the_difference() {
    let long = "word ".repeat(10_000);
    let lines = "line\n".repeat(10_000);
    for text in [&long, &lines] {
        let edits = Edits {
            description: Some(text.clone()),
            script_css: Some(text.clone()),
            script_js: Some(text.clone()),
            ..hostile(text, text)
        };
        let question = asked(&update(edits));
        assert!(question.len() < 9_500, "{}", question.len());
        assert!(question.contains("\n| -one\n"), "{question}");
        assert!(
            question.ends_with("are not shown, or not whole."),
            "{question}"
        );
        let widest = question
            .split('\n')
            .skip(1)
            .map(|line| line.chars().count())
            .max();
        assert!(widest <= Some(MAX_CHARS + CONTINUED.len()), "{widest:?}");
    }
}

#[test]
fn lines_of_a_value_that_are_not_shown_are_counted() {
    let edits = Edits {
        tags: Some(NewTags::All(vec!["tag".repeat(20); 20])),
        ..Edits::default()
    };
    let question = asked(&update(edits));
    let all = (format!("{:?}", vec!["tag".repeat(20); 20]).len() - 19).div_ceil(MAX_CHARS);
    let said = format!("\n(cut here: {} of {all} lines are not shown)\n", all - 4);
    assert!(question.contains(&said), "{said} {question}");
    // The longest description that the wiki accepts is shown in full.
    let edits = Edits {
        description: Some("x".repeat(250) + " evil"),
        ..Edits::default()
    };
    assert!(asked(&update(edits)).contains("evil"));
}

#[test]
fn a_long_path_is_shown_whole() {
    let path = "segment/".repeat(25) + "end";
    let moved = Edits {
        path: Some(NewPath::parse(&path).expect("a path")),
        ..Edits::default()
    };
    let question = asked(&update(moved));
    let quoted: String = question
        .split('\n')
        .filter_map(|line| {
            line.strip_prefix(CONTINUED)
                .or_else(|| line.strip_prefix(MARK))
        })
        .collect();
    assert!(quoted.contains(&path), "{question}");
}

fn hostile(title: &str, content: &str) -> Edits {
    Edits {
        title: Some(title.to_owned()),
        content: Some(NewContent::Whole(content.to_owned())),
        ..Edits::default()
    }
}

#[test]
fn a_script_is_shown_as_a_difference_with_its_counts() {
    let edits = Edits {
        script_js: Some("harmless();\n".repeat(30) + "evil();\n"),
        ..Edits::default()
    };
    let question = asked(&update(edits));
    assert!(
        question.contains("\nLines of scriptJs: 31 added, 0 removed\n"),
        "{question}"
    );
    assert!(question.contains("\n| +evil();\n"), "{question}");
}

#[test]
fn what_is_added_is_seen_beside_what_is_removed_and_at_the_end_of_a_long_line() {
    let content = |text: String| PageState {
        content: text,
        ..page()
    };
    let long = "word ".repeat(600);
    let question = asked(&Change::between(
        content(long.clone()),
        content(long + "evil"),
    ));
    assert!(question.contains("evil"), "{question}");

    let removed = "old\n".repeat(100);
    let question = asked(&Change::between(
        content(removed),
        content("evil\n".to_owned()),
    ));
    assert!(question.contains("\n| +evil\n"), "{question}");
    assert!(
        question.contains("Lines of content: 1 added, 100 removed"),
        "{question}"
    );
}

#[test]
fn another_line_ending_is_seen() {
    let content = |text: &str| PageState {
        content: text.to_owned(),
        ..page()
    };
    let question = asked(&Change::between(content("one\n"), content("one\r\n")));
    assert!(question.contains("\n| -one\n| +one\\r"), "{question}");
}
