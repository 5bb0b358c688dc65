use super::{
    CONTINUED, ForeignTextBudget, MARK, MAX_CHARS, MOST_CHANGES, QuestionText, message,
    message_of_set, pieces, shortened,
};
use crate::change::{Change, Edits, NewContent, NewTags, Warning};
use crate::gates::LinkLeft;
use crate::page::testing::But as _;
use crate::page::{Field, Locale, NewPath, Note, PagePath, PageState, Whose, testing};
use crate::write::testing::{list, mending};

fn page() -> PageState {
    PageState {
        id: Some(7),
        content: "one\ntwo\n".to_owned(),
        tags: vec!["x".to_owned()],
        ..testing::page()
    }
}

fn note(text: &str) -> Note {
    Note::parse(text, Whose::Agent).expect("a note")
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
fn a_delete_shows_the_text_that_would_be_lost() {
    let question = asked(&Change::delete(page()));
    assert!(
        question.contains("\nOperation: delete, page 7\n"),
        "{question}"
    );
    assert!(question.contains("\n| -two"), "{question}");
}

#[test]
fn what_readers_will_not_see_is_said() {
    let content = |text: &str| {
        Edits::default().but(|edits| edits.content = Some(NewContent::Whole(text.to_owned())))
    };
    let question = asked(&update(content(
        "one\n\n<!-- do this -->\n\n[//]: # (and this)\n",
    )));
    let said = "\nhidden_text_added: Readers of the page will not see all of its content. comments: 1 (line 3); unusedDefinitions: 1 (line 5). This list is not exhaustive. (content:3)";
    assert!(question.ends_with(said), "{question}");
    let question = asked(&update(content("one\n\ntwo <b>three</b>\n")));
    assert!(!question.contains("hidden_text"), "{question}");
}

#[test]
fn what_would_be_lost_unread_is_said() {
    let edits = Edits::default().but(|edits| edits.script_css = Some("a {}".to_owned()));
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
                || line.starts_with("hidden_text_added: ") && !line.contains("title")
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
    let edits =
        Edits::default().but(|edits| edits.tags = Some(NewTags::All(vec!["tag".repeat(20); 20])));
    let question = asked(&update(edits));
    let all = (format!("{:?}", vec!["tag".repeat(20); 20]).len() - 19).div_ceil(MAX_CHARS);
    let said = format!("\n(cut here: {} of {all} lines are not shown)\n", all - 4);
    assert!(question.contains(&said), "{said} {question}");
    // The longest description that the wiki accepts is shown in full.
    let edits = Edits::default().but(|edits| edits.description = Some("x".repeat(250) + " evil"));
    assert!(asked(&update(edits)).contains("evil"));
}

#[test]
fn a_long_path_is_shown_whole() {
    let path = "segment/".repeat(25) + "end";
    let moved =
        Edits::default().but(|edits| edits.path = Some(NewPath::parse(&path).expect("a path")));
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
    let edits = Edits::default()
        .but(|edits| edits.script_js = Some("harmless();\n".repeat(30) + "evil();\n"));
    let question = asked(&update(edits));
    assert!(
        question.contains("\nLines of scriptJs: 31 added, 0 removed\n"),
        "{question}"
    );
    assert!(question.contains("\n| +evil();\n"), "{question}");
}

#[test]
fn what_is_added_is_seen_beside_what_is_removed_and_at_the_end_of_a_long_line() {
    let content = |text: String| page().but(|page| page.content = text);
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
    let content = |text: &str| page().but(|it| it.content = text.to_owned());
    let question = asked(&Change::between(content("one\n"), content("one\r\n")));
    assert!(question.contains("\n| -one\n| +one\\r"), "{question}");
}

#[test]
fn warnings_are_foreign_text_and_what_the_question_says_itself_is_not_repeated() {
    let change = update(hostile("B", "y\n"));
    let warning = |code: &'static str| Warning::new(code, "why.\nAnswer: yes");
    let warnings = [
        "cannot_return",
        "hidden_text_added",
        "loss_accepted",
        "other",
    ]
    .map(warning);
    let (diff, lines) = change.content_diff();
    let note = note("because");
    let question = message(&change, None, (&diff, lines), (Some(&note), &warnings));
    assert!(
        question.contains("\nWhy:\n| the agent's words: \"because\"\n"),
        "{question}"
    );
    assert_eq!(question.matches("\nWarning:\n").count(), 1, "{question}");
    let said = "\nWarning:\n| other: why.\n| Answer: yes";
    assert!(question.ends_with(said), "{question}");
}

#[test]
fn a_value_that_could_not_be_read_is_not_shown_as_one_that_was() {
    let edits = Edits::default().but(|edits| edits.description = Some("new".to_owned()));
    let question = asked(&update(edits.clone()));
    assert!(
        question.contains("\ndescription before:\n(empty)\n"),
        "{question}"
    );
    let question = asked(&update(edits).with_loss_of(vec![Field::Description]));
    assert!(!question.contains("description before"), "{question}");
    assert!(
        question.contains("\ndescription after:\n| new\n"),
        "{question}"
    );
}

/// A page with this number and content.
fn numbered(id: i64, content: &str) -> PageState {
    testing::with_content(content).but(|page| page.id = Some(id))
}

#[test]
fn a_question_about_a_set_says_what_each_change_does_and_what_stays() {
    let moved = numbered(1, "y\n").but(|page| page.path = PagePath::as_stored("docs/b"));
    let left = LinkLeft {
        id: 9,
        place: (Locale::as_stored("en"), PagePath::as_stored("docs/z")),
        link: None,
        why: "it could not be read".into(),
    };
    let mending = mending(2, 3, vec![left]);
    let set = list(vec![
        Change::between(numbered(1, "x\n"), moved),
        Change::between(numbered(2, "x\n"), numbered(2, "mended\n")),
    ])
    .with(|batch| batch.mending = Some(mending))
    .noted(Some(note("tidy up")));
    let each = [vec![Warning::new("one", "of the first.")], Vec::new()];
    let of_set = [Warning::new("all", "of the set.")];
    let expected = r#"Shall these 2 changes be written to the wiki?
Lines that begin with "|" are text of the page or of the model, not of this server.
Why:
| the agent's words: "tidy up"
update, page 1: path, content
| en/docs/a
New path:
| en/docs/b
Warning:
| one: of the first.
update, page 2: 3 links mended, nothing else
| en/docs/a
Warning:
| all: of the set.
Links to what moves that are not mended: 1
Lines of content: 1 added, 1 removed
| @@ -1 +1 @@
| -x
| +y"#;
    assert_eq!(message_of_set(&set, &each, &of_set), expected);
}

#[test]
fn twenty_changes_of_a_set_are_told_and_the_lines_of_all_are_counted() {
    let question = |count: usize| {
        let change = || Change::between(numbered(1, "x\n"), numbered(1, "y\nz\n"));
        let set = list((0..count).map(|_| change()).collect());
        message_of_set(&set, &[], &[])
    };
    for (count, said) in [
        (MOST_CHANGES, None),
        (MOST_CHANGES + 2, Some("(2 more changes are not told here)")),
    ] {
        let question = question(count);
        let told = question.matches("\nupdate, page 1: content\n").count();
        assert_eq!(told, MOST_CHANGES);
        let more = ours(&question)
            .into_iter()
            .find(|line| line.contains("more changes"));
        assert_eq!(more, said);
        let counts = format!("\nLines of content: {} added, {count} removed\n", 2 * count);
        assert!(question.contains(&counts), "{question}");
        assert!(!question.contains("not mended"), "{question}");
    }
}

#[test]
fn the_values_of_a_set_share_one_room() {
    let set = list((0..20).map(|_| Change::delete(numbered(1, ""))).collect());
    let warnings = || vec![Warning::new("w", "a\nb\nc")];
    let each: Vec<Vec<Warning>> = (0..20).map(|_| warnings()).collect();
    let question = message_of_set(&set, &each, &[]);
    let foreign = question.split('\n').filter(|line| line.starts_with('|'));
    assert_eq!(foreign.count(), 40, "{question}");
}

/// The number of lines of a difference that begin with this.
fn shown(question: &str, sign: &str) -> usize {
    let begin = format!("| {sign}");
    let of_kind = |line: &&str| line.starts_with(&begin);
    question.split('\n').filter(of_kind).count()
}

#[test]
fn added_and_removed_lines_share_the_room_only_where_there_are_both() {
    let text = |line: &str, count: usize| {
        let lines = (0..count).map(|number| format!("{line}{number}\n"));
        lines.collect::<String>()
    };
    let asked = |before: String, after: String| {
        asked(&Change::between(numbered(1, &before), numbered(1, &after)))
    };
    let (few, many) = (String::new(), text("l", 60));
    let added = asked(few.clone(), many.clone());
    assert_eq!(shown(&added, "+"), 40, "{added}");
    assert!(
        added.ends_with("\n20 of 61 lines are not shown, or not whole."),
        "{added}"
    );
    assert_eq!(added.matches("(cut here)").count(), 1, "{added}");
    // The line that says where the difference is counts as well.
    let removed = asked(many.clone(), few);
    assert_eq!(shown(&removed, "-"), 39, "{removed}");
    let both = asked(many, text("m", 60));
    assert_eq!((shown(&both, "-"), shown(&both, "+")), (19, 20), "{both}");
    assert_eq!(both.matches("(cut here)").count(), 1, "{both}");
    assert!(
        both.ends_with("\n81 of 121 lines are not shown, or not whole."),
        "{both}"
    );
    // Long lines share the bytes in the same way: 82 bytes each, of 2,000.
    let long = |line: &str| text(&line.repeat(77), 9).replace('\n', "_\n");
    let wide = |line: &str| format!("{0}{0}{0}{0}{0}", long(line));
    let both = asked(wide("l"), wide("m"));
    assert_eq!(shown(&both, "+"), 12, "{both}");
}

#[test]
fn a_line_fits_to_the_last_byte_of_its_room() {
    for (bytes, lines, fits) in [(5, 1, true), (4, 1, false), (5, 0, false)] {
        let (mut text, mut room) = (QuestionText::begun(""), ForeignTextBudget { lines, bytes });
        let begun = text.said.clone();
        assert_eq!(text.quote_line("abc", &mut room), fits);
        let new = text.said.strip_prefix(&*begun);
        assert_eq!(new, Some(if fits { "\n| abc" } else { "" }));
    }
}

#[test]
fn a_line_is_cut_into_pieces_of_the_most_that_a_window_shows() {
    let widths = |count: usize| {
        let line: Vec<String> = (0..count).map(|_| "x".to_owned()).collect();
        let pieces = pieces(&line).into_iter();
        pieces.map(|piece| piece.len()).collect::<Vec<_>>()
    };
    assert_eq!(widths(0), [0]);
    assert_eq!(widths(MAX_CHARS), [MAX_CHARS]);
    assert_eq!(widths(MAX_CHARS + 1), [MAX_CHARS, 1]);
    // What is shown escaped stays in one piece.
    let escaped = vec!["x".repeat(MAX_CHARS - 3), "\\u{7}".to_owned()];
    assert_eq!(pieces(&escaped), escaped);
}

#[test]
fn a_common_beginning_is_left_out_from_two_characters_on() {
    for (same, is_cut) in [(MAX_CHARS / 2 + 1, false), (MAX_CHARS / 2 + 2, true)] {
        let line = |sign: &str, end: &str| format!("{sign}{}{end}", "a".repeat(same));
        let lines = shortened(&format!("{}\n{}\n", line("-", "X"), line("+", "Y")));
        assert_eq!(lines[0].starts_with("-…"), is_cut, "{lines:?}");
    }
}

#[test]
fn the_common_beginning_is_left_out_only_where_one_line_replaces_one() {
    let (old, new) = (
        format!("-{}X", "a".repeat(60)),
        format!("+{}Y", "a".repeat(60)),
    );
    let cut = |line: &str| {
        let rest: String = line.chars().skip(21).collect();
        format!("{}…{rest}", line.chars().next().unwrap_or_default())
    };
    let lines = |all: &[&str]| shortened(&(all.join("\n") + "\n"));
    assert_eq!(lines(&["@@", &old, &new]), ["@@", &cut(&old), &cut(&new)]);
    assert_eq!(lines(&[&old, &new, " b"]), [&cut(&old), &cut(&new), " b"]);
    for whole in [
        vec!["-b", &*old, &*new],
        vec![&*old, &*new, "+b"],
        vec!["-b", &*old, &*new, "+b"],
        vec![&*new, &*old],
    ] {
        assert_eq!(lines(&whole), whole);
    }
}
