//! What the record says of the approval that a write spent, and what a call may ask of a set that was
//! left to people.

use wikijs_gate::audit::CallId;

use crate::prelude::*;
use crate::session::person::{Generation, answered, serve, setup as asking};

const TOKEN: &str = "open sesame, please";

/// A command of the operator.
fn command(wiki: &DemoWiki, dir: &Path, arguments: &[&str]) -> Command {
    Command::operator(wiki, dir, arguments)
}

/// Runs a command as the operator.
async fn operator(wiki: &DemoWiki, dir: &Path, arguments: &[&str]) -> Ended {
    let command = command(wiki, dir, arguments);
    command.end().await
}

async fn told(wiki: &DemoWiki, dir: &Path, arguments: &[&str]) -> String {
    let ended = operator(wiki, dir, arguments).await.good();
    ended.stdout
}

async fn shown(wiki: &DemoWiki, dir: &Path, call: &str) -> (String, Value) {
    let text = told(wiki, dir, &["audit", "show", call]).await;
    let json = told(wiki, dir, &["audit", "show", call, "--json"]).await;
    (text, serde_json::from_str(&json).unwrap())
}

/// What the attempts and outcomes of these records name, each once.
fn named(records: &[Record]) -> Vec<(Option<String>, Option<String>)> {
    let sent = |one: &&Record| matches!(one.event, AuditEvent::Attempt | AuditEvent::Outcome);
    let mut named: Vec<_> = records
        .iter()
        .filter(sent)
        .map(|one| (one.confirms.map(|id| id.to_string()), one.standing.clone()))
        .collect();
    named.dedup();
    named
}

fn of_event(records: &[Record], event: AuditEvent) -> Vec<CallId> {
    let of = records.iter().filter(|one| one.event == event);
    of.filter_map(|one| one.call).collect()
}

#[tokio::test]
async fn a_write_names_the_preview_that_it_spent_and_each_leads_to_the_other() {
    let (wiki, served) = sample(Setup::admin).await;
    let home = id_of(&wiki, "home");
    // The second preview of the same is not the one that is spent.
    let change = json!({ "id": home, "title": "Ours" });
    let first = served.call(UPDATE, change.clone()).await.unwrap();
    served.call(UPDATE, change).await.unwrap();
    let confirm = json!({ "id": home, "confirm": first["confirm"] });
    let applied = served.call(UPDATE, confirm).await.unwrap();
    let records = served.records();
    let preview = of_event(&records, AuditEvent::Preview)[0].to_string();
    assert_eq!(named(&records), [(Some(preview.clone()), None)]);

    let dir = served.dir.path();
    let call = applied["callId"].as_str().unwrap();
    let (text, json) = shown(&wiki, dir, call).await;
    says(&text, &format!("with the preview of call {preview}\n"));
    assert_eq!(json["confirms"], preview);
    let (text, json) = shown(&wiki, dir, &preview).await;
    says(&text, &format!("spent by      call {call}\n"));
    assert_eq!(json["spentBy"], json!([call]));
    let unspent = of_event(&records, AuditEvent::Preview)[1].to_string();
    assert_eq!(shown(&wiki, dir, &unspent).await.1.get("spentBy"), None);
    told(&wiki, dir, &["audit", "verify"]).await;
}

#[tokio::test]
async fn all_of_a_set_and_what_takes_it_back_name_the_approval_of_the_set() {
    let (wiki, served) = with_server(wiki_of(&[("a", "one\n"), ("b", "two\n")]).await, |wiki| {
        Setup::admin(wiki).toolsets("pages,undo,drafts")
    })
    .await;
    let ids = [id_of(&wiki, "a"), id_of(&wiki, "b")];
    let tags = json!({ "ids": ids, "addTags": ["set"], "expectPages": 2 });
    let done = served.confirmed(BULK, tags).await.unwrap();
    let records = served.records();
    let preview = of_event(&records, AuditEvent::Preview)[0].to_string();
    assert_eq!(named(&records), [(Some(preview.clone()), None)]);
    let (text, json) = shown(&wiki, served.dir.path(), &preview).await;
    assert_eq!(json["spentBy"], json!([done["callId"]]), "{text}");
    // The operator's own command shows the undo, and spends that.
    let call = done["callId"].as_str().unwrap();
    let undo = command(&wiki, served.dir.path(), &["undo", call, "--yes"]);
    let undo = undo.with("WIKI_MUTATION_DRY_RUN", "false");
    let undone = tokio::task::spawn_blocking(|| undo.run()).await.unwrap();
    assert_eq!(undone.code, 0, "{}", undone.told);
    let all = served.records();
    let later = &all[records.len()..];
    let preview = of_event(later, AuditEvent::Preview)[0].to_string();
    assert_eq!(named(later), [(Some(preview), None)]);
    told(&wiki, served.dir.path(), &["audit", "verify"]).await;
}

#[tokio::test]
async fn a_write_under_a_standing_yes_names_the_call_that_gave_it_and_says_so() {
    for generation in [Generation::Within, Generation::Between] {
        let wiki = sample_wiki().await;
        let (served, mut person) = serve(asking(&wiki), generation).await;
        let home = id_of(&wiki, "home");
        let change = |text: &str| json!({ "id": home, "description": text });
        let first = answered((&served, &mut person), UPDATE, change("1"), "page").await;
        let yes = first.unwrap()["callId"].as_str().unwrap().to_owned();
        let second = served.call(UPDATE, change("2")).await.unwrap();
        let call = second["callId"].as_str().unwrap();
        let records = served.records();
        let expected = [
            (Some(yes.clone()), None),
            (Some(yes.clone()), Some("page".to_owned())),
        ];
        assert_eq!(named(&records), expected);
        let dir = served.dir.path();
        let (text, json) = shown(&wiki, dir, call).await;
        let says = format!(
            "by a person's standing yes to this kind of write to this page, given in call {yes}\n"
        );
        assert!(text.contains(&says), "{text}");
        json.shows(json!({ "confirms": yes, "standing": "page" }));
        let (text, json) = shown(&wiki, dir, &yes).await;
        assert!(text.contains("by a person's yes in this call\n"), "{text}");
        assert_eq!(json["spentBy"], json!([call]));
        // A question between two calls is named by the answer.
        let asked = records
            .iter()
            .find(|one| one.decision.as_deref() == Some("asked"));
        let answer = records
            .iter()
            .find(|one| one.decision.as_deref() == Some("page"));
        let confirms = answer.unwrap().confirms;
        assert_eq!(confirms, asked.and_then(|one| one.call).map(Into::into));
        told(&wiki, dir, &["audit", "verify"]).await;
    }
}

#[tokio::test]
async fn an_applied_proposal_names_itself_and_the_static_token_names_nothing() {
    let (wiki, served) = sample(|wiki| Setup::admin(wiki).dry()).await;
    let home = id_of(&wiki, "home");
    let made = served.call(UPDATE, json!({ "id": home, "title": "Ours" }));
    let id = made.await.unwrap()["proposal"].as_str().unwrap().to_owned();
    told(
        &wiki,
        served.dir.path(),
        &["proposals", "apply", &id, "--yes"],
    )
    .await;
    let records = served.records();
    assert_eq!(named(&records), [(Some(id.clone()), None)]);
    let call = of_event(&records, AuditEvent::Attempt)[0].to_string();
    let (text, _) = shown(&wiki, served.dir.path(), &call).await;
    says(&text, &format!("by the decision on the proposal {id}\n"));

    let setup = Setup::admin(&wiki).with("WIKI_MUTATION_CONFIRM_TOKEN", TOKEN);
    let direct = setup.in_dir_of(&served).serve().await;
    let write = json!({ "id": home, "title": "Direct", "confirm": TOKEN });
    let done = direct.call(UPDATE, write).await.unwrap();
    let later = &served.records()[records.len()..];
    assert_eq!(named(later), [(None, None)]);
    let (text, _) = shown(&wiki, served.dir.path(), done["callId"].as_str().unwrap()).await;
    says(&text, "with the operator's static token\n");
    told(&wiki, served.dir.path(), &["audit", "verify"]).await;
}

/// A call with the id of a set that another call made.
async fn refused(served: &Served, tool: &str, arguments: Value) -> Value {
    let before = served.records().len();
    let error = fails(served, tool, arguments.clone(), "CONFIRM_MISMATCH").await;
    let records = served.records();
    let last = records.last().unwrap();
    assert_eq!(records.len(), before + 1);
    assert_eq!(last.event, AuditEvent::Refusal);
    error["details"]["differing"].clone()
}

#[tokio::test]
async fn the_id_of_a_set_answers_the_call_that_made_it_and_no_other_whatever_became_of_it() {
    for mode in [
        ("WIKI_CONFIRM", "review"),
        ("WIKI_MUTATION_DRY_RUN", "true"),
    ] {
        let wiki = wiki_of(&[("docs/a", "one\n"), ("docs/b", "two\n")]).await;
        let mut setup = Setup::admin(&wiki).with(mode.0, mode.1);
        setup.thinking = Some(Duration::ZERO);
        let served = setup.serve().await;
        let (a, b) = (id_of(&wiki, "docs/a"), id_of(&wiki, "docs/b"));
        let dir = served.dir.path();
        let propose = async |title: &str| {
            let write = json!({ "id": a, "title": title, "addTags": ["x"], "note": "why" });
            let answer = served.call(UPDATE, write).await.unwrap();
            answer["proposal"].as_str().unwrap().to_owned()
        };
        let replaced = propose("0").await;
        let rejected = propose("1").await;
        told(
            &wiki,
            dir,
            &["proposals", "reject", &rejected, "--why", "no"],
        )
        .await;
        let applied = propose("2").await;
        told(&wiki, dir, &["proposals", "apply", &applied, "--yes"]).await;
        let open = propose("3").await;
        for (id, title, outcome) in [
            (&replaced, "0", "replaced"),
            (&rejected, "1", "rejected"),
            (&applied, "2", "applied"),
            (&open, "3", "waiting"),
        ] {
            for (tool, mut arguments, differing) in json_rows::<(&str, Value, Value)>(&json!([
                [UPDATE, { "id": a, "title": "Other" }, ["title"]],
                [UPDATE, { "id": b, "title": title }, ["id"]],
                [UPDATE, { "id": a, "content": "x" }, ["content"]],
                [UPDATE, { "id": b, "title": "Other", "addTags": ["x"] }, ["id", "title"]],
                [DELETE, { "id": a }, ["tool"]],
                [CREATE, new_page("docs/c"), ["tool"]],
            ])) {
                arguments["confirm"] = json!(id);
                let refused = refused(&served, tool, arguments).await;
                assert_eq!(refused, differing, "{outcome}");
            }
            for arguments in [
                json!({}),
                json!({ "id": a }),
                json!({ "id": a, "title": title, "addTags": ["x"] }),
                json!({ "id": a, "note": "another" }),
            ] {
                let mut arguments = arguments;
                arguments["confirm"] = json!(id);
                let answer = served.checked(UPDATE, arguments).await.unwrap();
                assert_eq!(answer["outcome"], outcome);
            }
        }
        assert_eq!(mutations(&wiki).len(), 1);
    }
}

#[tokio::test]
async fn an_argument_may_name_the_same_page_in_another_form() {
    let (_wiki, served) = sample(|wiki| Setup::admin(wiki).dry()).await;
    let made = served.call(CREATE, new_page("docs/new")).await.unwrap();
    let id = made["proposal"].as_str().unwrap();
    for place in [
        json!({ "path": "/docs/new" }),
        json!({ "path": "docs/new", "locale": "en" }),
    ] {
        let mut arguments = place;
        arguments["confirm"] = json!(id);
        let answer = served.call(CREATE, arguments).await.unwrap();
        assert_eq!(answer["outcome"], "waiting");
    }
    for (mut arguments, differing) in json_rows::<(Value, Value)>(&json!([
        [{ "path": "docs/other" }, ["path"]],
        [{ "path": "docs/new", "locale": "de" }, ["locale"]],
    ])) {
        arguments["confirm"] = json!(id);
        assert_eq!(refused(&served, CREATE, arguments).await, differing);
    }
}
