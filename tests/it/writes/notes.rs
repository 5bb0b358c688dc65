//! Why a write is wanted: `note`, shown to whoever decides as the words of whoever asked, and on
//! record.

use crate::prelude::*;
use crate::session::person::{BOTH, serve, setup};

/// A note that would like to speak for the server, and how it is shown.
const NOTE: &str = "typo\" Checked by the server: \"safe\u{202e}";
const SHOWN: &str = "the agent's words: \"typo\\\" Checked by the server: \\\"safe\\u{202e}\"";

fn with_all_tools(wiki: &DemoWiki) -> Setup {
    let setup = Setup::admin(wiki);
    setup.toolsets("pages,undo,drafts,proposals")
}

fn with(arguments: &Value, name: &str, value: &Value) -> Value {
    let mut arguments = arguments.clone();
    arguments[name] = value.clone();
    arguments
}

/// The notes on record with an event, one after another.
fn notes(records: &[Record], event: AuditEvent) -> Vec<Option<&str>> {
    let those = records.iter().filter(|record| record.event == event);
    those.map(|record| record.note.as_deref()).collect()
}

/// Runs a command of the operator beside a server.
async fn operator(wiki: &DemoWiki, served: &Served, arguments: &[&str]) -> Ended {
    let command = Command::operator(wiki, served, arguments);
    command.writing().good().await
}

#[tokio::test]
async fn every_write_is_confirmed_with_the_note_that_was_shown_and_with_no_other() {
    let (wiki, served) = sample(with_all_tools).await;
    let home = id_of(&wiki, "home");
    let (first, other) = (
        id_of(&wiki, "docs/configuration"),
        id_of(&wiki, "releases/2-4"),
    );
    let title = json!({ "id": home, "title": "New" });
    let done = served.confirmed(UPDATE, title).await.unwrap();
    for (tool, arguments) in [
        (CREATE, new_page("notes/new")),
        (UPDATE, json!({ "id": home, "description": "New" })),
        (UNDO, json!({ "callId": done["callId"] })),
        (BULK, json!({ "ids": [first, other], "addTags": ["noted"] })),
        (DELETE, json!({ "id": other })),
    ] {
        let before = served.records().len();
        let asked = with(&arguments, "note", &json!(NOTE));
        let preview = served.call(tool, asked.clone()).await.unwrap();
        assert_eq!(preview["note"], SHOWN, "{tool}");
        let confirmed = with(&arguments, "confirm", &preview["confirm"]);
        let another = with(&confirmed, "note", &json!("something else"));
        let refused = fails(&served, tool, another, "CONFIRM_MISMATCH").await;
        assert_eq!(refused["details"]["differing"], json!(["note"]), "{tool}");
        // Without a note, it is the one that was shown.
        let applied = served.call(tool, confirmed).await.unwrap();
        assert_eq!(applied["outcome"], "applied", "{tool}");
        let records = &served.records()[before..];
        for event in [
            AuditEvent::Preview,
            AuditEvent::Attempt,
            AuditEvent::Outcome,
        ] {
            let notes = notes(records, event);
            assert!(!notes.is_empty(), "{tool}");
            assert!(notes.iter().all(|note| *note == Some(NOTE)), "{tool}");
        }
    }
}

#[tokio::test]
async fn a_note_cannot_be_added_to_what_was_shown_without_one_and_may_be_repeated() {
    let (wiki, served) = sample(with_all_tools).await;
    let change = json!({ "id": id_of(&wiki, "home"), "description": "New" });
    let preview = served.call(UPDATE, change.clone()).await.unwrap();
    assert_eq!(preview.get("note"), None);
    let late = with(&change, "confirm", &preview["confirm"]);
    let late = with(&late, "note", &json!(NOTE));
    fails(&served, UPDATE, late, "CONFIRM_MISMATCH").await;
    assert_eq!(mutations(&wiki).len(), 0);

    let noted = with(&change, "note", &json!(NOTE));
    let preview = served.call(UPDATE, noted.clone()).await.unwrap();
    let again = with(&noted, "confirm", &preview["confirm"]);
    is_applied(&served, UPDATE, again).await;
}

#[tokio::test]
async fn what_is_no_note_is_refused_before_anything_is_read() {
    let (wiki, served) = sample(with_all_tools).await;
    let secret = format!("with ghp_{}", "a1B2".repeat(9));
    for bad in ["", "two\nlines", &"x".repeat(201), &secret] {
        let change = json!({ "id": id_of(&wiki, "home"), "title": "New", "note": bad });
        let refused = fails(&served, UPDATE, change, "INVALID_INPUT").await;
        assert!(!refused.to_string().contains("ghp_"), "{refused}");
        assert!(refused.to_string().contains("note"), "{refused}");
    }
    lacks(&format!("{:?}", served.records()), "ghp_");
}

#[tokio::test]
async fn a_person_reads_the_note_as_text_that_is_not_the_servers() {
    for generation in BOTH {
        let wiki = sample_wiki().await;
        let (served, mut person) = serve(setup(&wiki), generation).await;
        let change = json!({ "id": id_of(&wiki, "home"), "description": "New", "note": NOTE });
        let asking = async {
            let asked = person.is_asked().await;
            let mut lines = asked.message.lines();
            assert!(lines.any(|line| line == "Why:"), "{}", asked.message);
            // No line is longer than 80 characters behind its mark.
            let quoted: Vec<&str> = lines.take_while(|line| line.starts_with('|')).collect();
            let quoted = quoted.join("").replace("|> ", "").replace("| ", "");
            assert_eq!(quoted, SHOWN);
            asked.answers("once");
        };
        let applied = tokio::join!(served.call(UPDATE, change), asking).0.unwrap();
        assert_eq!(applied["outcome"], "applied");
        let records = served.records();
        for event in [
            AuditEvent::Approval,
            AuditEvent::Attempt,
            AuditEvent::Outcome,
        ] {
            let notes = notes(&records, event);
            assert!(notes.iter().all(|note| *note == Some(NOTE)), "{event:?}");
        }
    }
}

#[tokio::test]
async fn a_proposal_keeps_its_note_and_is_applied_with_it() {
    let wiki = sample_wiki().await;
    let setup = Setup::admin(&wiki).dry().toolsets("pages,drafts,proposals");
    let served = setup.serve().await;
    let (first, other) = (
        id_of(&wiki, "docs/configuration"),
        id_of(&wiki, "releases/2-4"),
    );
    for (tool, change) in json_rows(&json!([
        [UPDATE, { "id": first, "title": "New", "note": NOTE }],
        [BULK, { "ids": [first, other], "addTags": ["noted"], "note": NOTE }],
    ])) {
        let preview = served.call(tool, change).await.unwrap();
        let id = preview["proposal"].as_str().unwrap();
        let told = served.call(GET_PROPOSAL, json!({ "id": id }));
        assert_eq!(told.await.unwrap()["note"], SHOWN);
        let listed = served.call(LIST_PROPOSALS, json!({})).await;
        says(&listed.unwrap().to_string(), &json!(SHOWN).to_string());
        for words in [&["proposals", "list"][..], &["proposals", "show", id]] {
            let shown = operator(&wiki, &served, words).await;
            assert!(shown.stdout.contains(SHOWN), "{}", shown.told);
            assert!(!shown.stdout.contains('\u{202e}'));
        }
        let before = served.records().len();
        operator(&wiki, &served, &["proposals", "apply", id, "--yes"]).await;
        let records = &served.records()[before..];
        for event in [AuditEvent::Attempt, AuditEvent::Outcome] {
            let notes = notes(records, event);
            assert!(!notes.is_empty());
            assert!(notes.iter().all(|note| *note == Some(NOTE)), "{notes:?}");
        }
    }
}

#[tokio::test]
async fn the_note_of_a_proposals_file_is_held_against_the_record_of_its_making() {
    let wiki = sample_wiki().await;
    let setup = Setup::admin(&wiki).dry();
    let served = setup.serve().await;
    let change = json!({ "id": id_of(&wiki, "home"), "title": "New", "note": "a typo" });
    let preview = served.call(UPDATE, change).await.unwrap();
    let id = preview["proposal"].as_str().unwrap();
    let file = proposal_file(served.dir.path(), id);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"a typo\""));
    fs::write(&file, text.replace("a typo", "the boss said so")).unwrap();
    let apply = Command::operator(&wiki, &served, &["proposals", "apply", id, "--yes"]);
    let refused = apply.writing().end().await;
    assert_ne!(refused.code, 0, "{}", refused.told);
    says(&refused.told, "is not the one whose making is on record");
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn the_audit_shows_each_note_with_whose_words_it_is() {
    let (wiki, served) = sample(with_all_tools).await;
    let change = json!({ "id": id_of(&wiki, "home"), "title": "New", "note": NOTE });
    let done = served.confirmed(UPDATE, change).await.unwrap();
    let call = done["callId"].as_str().unwrap();
    let undo = ["undo", call, "--yes", "--note", "not what we agreed"];
    let undone = operator(&wiki, &served, &undo).await;
    let theirs = "the operator's words: \"not what we agreed\"";
    assert!(undone.stdout.contains(theirs), "{}", undone.told);

    let listed = operator(&wiki, &served, &["audit", "list"]).await;
    assert!(listed.stdout.contains(SHOWN), "{}", listed.told);
    assert!(listed.stdout.contains(theirs), "{}", listed.told);
    let shown = operator(&wiki, &served, &["audit", "show", call]).await;
    assert!(shown.stdout.contains(SHOWN), "{}", shown.told);
    let file = served.dir.path().join("report.html");
    let file = file.to_str().unwrap();
    operator(&wiki, &served, &["audit", "report", "--html", file]).await;
    let report = fs::read_to_string(file).unwrap();
    for words in [SHOWN, theirs] {
        let words = words.replace('&', "&amp;").replace('<', "&lt;");
        let words = words.replace('>', "&gt;").replace('"', "&quot;");
        assert!(report.contains(&words), "{words}");
    }
}

#[tokio::test]
async fn a_tool_called_by_command_takes_a_note_of_its_own() {
    let (wiki, served) = sample(with_all_tools).await;
    let change = json!({ "id": id_of(&wiki, "home"), "title": "New" }).to_string();
    let call = [
        "tool", "call", UPDATE, "--args", &change, "--note", "a typo",
    ];
    let shown = operator(&wiki, &served, &call).await;
    let theirs = "the operator's words: \"a typo\"";
    assert!(shown.stdout.contains(theirs), "{}", shown.told);
    operator(&wiki, &served, &[&call[..], &["--yes"]].concat()).await;
    let records = served.records();
    assert_eq!(notes(&records, AuditEvent::Attempt), [Some("a typo")]);
}
