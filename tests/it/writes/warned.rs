//! Every warning of a check at every door: what one of them shows, all show.

use wikijs_gate::change::CODES;

use crate::prelude::*;
use crate::review::Desk;
use crate::session::person::{self, Generation};

async fn wiki() -> DemoWiki {
    let long = "A line.\n".repeat(40);
    let wiki = wiki_of(&[
        ("docs/a", "# A\n\n[me](/docs/a) [b](./b)\n"),
        ("docs/b", "[a](./a)\n"),
        ("docs/long", &long),
        ("docs/old", "Old.\n"),
        ("docs/listed", "# List\n\n`word`\n\n- word\n"),
    ])
    .await;
    wiki.with_page(
        page("docs/tagged", "Tagged.\n")
            .but(|row| row.tags = vec!["one".to_owned(), "two".to_owned()]),
    );
    wiki.set_old_path(id_of(&wiki, "docs/old"), "old notes/release 2.4");
    wiki
}

/// A change that a check warns of: its code, the tool and its arguments.
type Warned<'a> = (&'a str, &'a str, Value);

/// One change for each code.
fn changes(wiki: &DemoWiki) -> Value {
    let id = |path: &str| id_of(wiki, path);
    let adds = |text: &str| {
        let edit = json!({ "oldText": "[a](./a)", "newText": format!("[a](./a)\n\n{text}") });
        json!({ "id": id("docs/b"), "edits": [edit] })
    };
    let new = |path: &str, title: &str, content: &str| json!({ "path": path, "title": title, "content": content });
    let in_html = |path: &str, title: &str, content: &str| {
        let mut page = new(path, title, content);
        page["editor"] = "ckeditor".into();
        page
    };
    let moved = |path: &str| json!({ "id": id("docs/a"), "path": path });
    let without_heading = json!([{ "oldText": "# A\n\n", "newText": "" }]);
    let words = json!([{ "oldText": "word", "newText": "term" }]);
    json!([
        ["dead_link", UPDATE, adds("[x](/docs/nowhere)")],
        ["same_title", CREATE, new("docs/twin", "Page docs b", "Twin.\n")],
        ["path_differs_by_case", CREATE, new("Docs/B", "Case", "Case.\n")],
        ["links_break", UPDATE, moved("docs/new")],
        ["own_links_break", UPDATE, moved("other/a")],
        ["literal_escapes", CREATE, new("docs/escaped", "Escaped", r"# One\n\nTwo")],
        ["markdown_in_html", CREATE, in_html("docs/html", "Html", "# One\n")],
        ["much_removed", UPDATE, { "id": id("docs/long"), "content": "Short.\n" }],
        ["heading_dropped", UPDATE, { "id": id("docs/a"), "edits": without_heading }],
        ["tags_dropped", UPDATE, { "id": id("docs/tagged"), "tags": [] }],
        ["script_added", UPDATE, adds("<script>look()</script>")],
        ["foreign_resource_added", UPDATE, adds("![x](https://elsewhere.example/x.png)")],
        ["hidden_text_added", UPDATE, adds("<!-- unseen -->")],
        ["secret_added", UPDATE, adds("AKIAQ3EGRZ5LJ7WXNM2B")],
        ["css_rules_dropped", UPDATE, { "id": id("docs/b"), "scriptCss": "a { b { color: red } }" }],
        ["cannot_return", DELETE, { "id": id("old notes/release 2.4") }],
        ["unpublished", UPDATE, { "id": id("docs/b"), "isPublished": false }],
        ["in_code", UPDATE, { "id": id("docs/listed"), "replaceAll": true, "edits": words }],
        ["not_in_block", UPDATE, { "id": id("docs/listed"), "section": "List", "sectionMode": "append",
                                   "sectionContent": "| a |" }],
    ])
}

/// The sentence with this code among the warnings of an answer.
fn sentence(answer: &Value, code: &str) -> String {
    let warnings = answer["warnings"].as_array().into_iter().flatten();
    let mut found = warnings.filter(|warning| warning["code"] == code);
    let found = found
        .next()
        .unwrap_or_else(|| panic!("no {code} in {answer}"));
    found["message"].as_str().unwrap().to_owned()
}

/// A text of HTML as a reader sees it.
fn read(html: &str) -> String {
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    let read = |html: String, (entity, sign)| html.replace(entity, sign);
    entities.into_iter().fold(html.to_owned(), read)
}

#[track_caller]
fn says_at(door: &str, text: &str, code: &str, sentence: &str) {
    assert!(
        text.contains(sentence),
        "{code} at {door}: {sentence:?} is not in: {text}"
    );
}

#[test]
fn the_table_has_every_code_of_a_check_once() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let changes = runtime.block_on(async { changes(&wiki().await) });
    let codes: Vec<(&str, &str, Value)> = json_rows(&changes);
    let codes = codes.into_iter().map(|(code, ..)| code);
    assert!(codes.eq(CODES), "{changes}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_warning_is_shown_to_the_agent_the_operator_the_reviewer_and_on_record() {
    let wiki = wiki().await;
    let key = wiki.keys().scripter.clone();
    let desk = Desk::with_key(wiki, key).await;
    let browser = desk.signed_in().await;
    let command =
        |arguments: &[&str]| Command::operator(&desk.wiki, desk.agent.dir.path(), arguments);
    for (code, tool, arguments) in json_rows::<Warned>(&changes(&desk.wiki)) {
        let preview = call_ok(&desk.agent, tool, arguments).await;
        let sentence = sentence(&preview, code);
        let id = preview["proposal"].as_str().unwrap();

        let asked = call_ok(&desk.agent, GET_PROPOSAL, json!({ "id": id })).await;
        assert_eq!(
            self::sentence(&asked, code),
            sentence,
            "{code}: wikijs_get_proposal"
        );
        let shown = command(&["proposals", "show", id, "--json"])
            .good()
            .await
            .json();
        // Another process may know more of the wiki's links.
        let anew = self::sentence(&shown, code);
        let shown = command(&["proposals", "show", id]).good().await;
        says_at("proposals show", &shown.stdout, code, &anew);
        let page = browser.open(&format!("/review/sets/{id}")).await;
        let page = read(&page.text);
        let known = if page.contains(&anew) {
            &anew
        } else {
            &sentence
        };
        says_at("the review page", &page, code, known);

        let call = preview["previewId"].as_str().unwrap();
        let shown = command(&["audit", "show", call]).good().await;
        says_at("audit show", &shown.stdout, code, code);
        let shown = command(&["audit", "show", call, "--json"]).good().await;
        says_at(
            "audit show --json",
            &shown.stdout,
            code,
            &format!("\"{code}\""),
        );
    }
}

#[tokio::test]
async fn every_warning_is_in_the_question_to_a_person() {
    let wiki = wiki().await;
    let setup = Setup::scripter(&wiki)
        .indexed()
        .with("WIKI_CONFIRM", "person");
    let (served, mut person) = person::serve(setup, Generation::Within).await;
    for (code, tool, arguments) in json_rows::<Warned>(&changes(&wiki)) {
        let asking = async {
            let asked = person.is_asked().await;
            let message = asked.message.clone();
            asked.answers("no");
            message
        };
        let (message, _) = tokio::join!(asking, served.call(tool, arguments));
        let named = message.contains(code)
            || code == "cannot_return" && message.contains("Cannot return: ");
        assert!(named, "{code} is not in: {message}");
    }
}

/// The changes of a draft that do not touch each other.
const TOGETHER: [&str; 5] = [
    "dead_link",
    "same_title",
    "much_removed",
    "tags_dropped",
    "cannot_return",
];

#[tokio::test]
async fn the_warnings_of_a_draft_are_shown_when_its_changes_join_and_when_it_is_submitted() {
    let wiki = wiki().await;
    let setup = Setup::scripter(&wiki).indexed().toolsets("pages,drafts");
    let served: Served = setup.serve().await;
    let changes = changes(&wiki);
    let together = json_rows::<Warned>(&changes).into_iter();
    let together = together.filter(|(code, ..)| TOGETHER.contains(code));
    let mut sentences = Vec::new();
    for (code, tool, mut arguments) in together {
        arguments["draft"] = json!("rework");
        let joined = call_ok(&served, tool, arguments).await;
        sentences.push((code, sentence(&joined, code)));
    }
    let submitted = call_ok(&served, SUBMIT, json!({ "draft": "rework" })).await;
    let warnings = submitted["warnings"].as_array().unwrap();
    let all: Vec<String> = warnings.iter().map(said).collect();
    for (code, sentence) in sentences {
        let is_said = all
            .iter()
            .any(|said| said.starts_with(code) && said.contains(&sentence));
        assert!(is_said, "{code}: {sentence:?} is not in {all:?}");
    }
}
