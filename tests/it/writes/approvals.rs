//! A person's approval: what is asked, what an answer is good for, and what is not an answer.

use std::time::SystemTime;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitResult, ElicitationAction, InputResponses,
    ProtocolVersion,
};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::prelude::*;
use crate::session::person::{Asking, BOTH, Generation, Person, answered, serve, serve_as, setup};

/// What the records say of approvals: the decision, or the approval that an attempt names.
fn approvals(records: &[Record]) -> Vec<String> {
    let mut said = Vec::new();
    for record in records {
        let event = serde_json::to_value(record.event).unwrap();
        match event.as_str().unwrap() {
            "approval" => said.push(record.decision.clone().unwrap()),
            "attempt" => {
                assert_eq!(record.decision.as_deref(), Some("person"));
                said.push(format!("sent under {}", record.confirms.unwrap()));
            }
            _ => {}
        }
    }
    said
}

fn description(id: i64, text: &str) -> Value {
    json!({ "id": id, "description": text })
}

/// A wiki, a server whose client asks a person, the person, and the home page.
async fn at_home(generation: Generation) -> (DemoWiki, Served<Asking>, Person, i64) {
    let wiki = sample_wiki().await;
    let (served, person) = serve(setup(&wiki), generation).await;
    let id = id_of(&wiki, "home");
    (wiki, served, person, id)
}

/// What becomes of another description of a page when the person answers so.
async fn described(
    asking: (&Served<Asking>, &mut Person),
    id: i64,
    text: &str,
    word: &str,
) -> Result<Value, Value> {
    answered(asking, UPDATE, description(id, text), word).await
}

/// The last approval on record, and what came after it.
fn last_two(records: &[Record]) -> (&Record, &Record) {
    let [.., approval, refusal] = records else {
        panic!("{records:?}");
    };
    (approval, refusal)
}

#[tokio::test]
async fn a_yes_sends_the_one_change_that_was_shown() {
    for generation in BOTH {
        let (wiki, served, mut person, id) = at_home(generation).await;
        let asking = async {
            let asked = person.is_asked().await;
            assert_eq!(mutations(&wiki).len(), 0);
            says(&asked.message, &format!("Operation: update, page {id}\n"));
            assert!(asked.message.contains("\n| en/home\nFields: description\n"));
            assert_eq!(asked.offered(), ["once", "page", "kind", "no"]);
            asked.answers("once");
        };
        let call = served.call(UPDATE, description(id, "New"));
        let applied = tokio::join!(call, asking).0.unwrap();
        applied.shows(json!({ "outcome": "applied", "warnings": null }));
        let written = wiki.with_store(|store| store.page(id).unwrap().description.clone());
        assert_eq!(written.as_deref(), Some("New"));

        let records = served.records();
        let under = applied["callId"].as_str().unwrap();
        let expected = match generation {
            Generation::Within => format!("once, sent under {under}"),
            Generation::Between => format!("asked, once, sent under {under}"),
        };
        assert_eq!(approvals(&records).join(", "), expected);

        // The next change is a question of its own.
        let refused = described((&served, &mut person), id, "Newer", "no").await;
        assert_eq!(refused.unwrap_err()["details"]["reason"], "no");
        assert_eq!(mutations(&wiki).len(), 1);
    }
}

#[tokio::test]
async fn a_page_or_a_kind_is_approved_for_the_writes_that_follow_and_each_names_it() {
    for generation in BOTH {
        let wiki = sample_wiki().await;
        let (served, mut person) = serve(setup(&wiki), generation).await;
        let (home, other) = (id_of(&wiki, "home"), id_of(&wiki, "releases/2-4"));
        let first = described((&served, &mut person), home, "1", "page").await;
        let page = first.unwrap()["callId"].clone();
        served.call(UPDATE, description(home, "2")).await.unwrap();
        assert!(person.is_left_alone());
        let second = described((&served, &mut person), other, "3", "kind").await;
        let kind = second.unwrap()["callId"].clone();
        served.call(UPDATE, description(other, "4")).await.unwrap();
        assert!(person.is_left_alone());
        // A create is another kind of write.
        let created = answered((&served, &mut person), CREATE, new_page("docs/new"), "kind").await;
        let create = created.unwrap()["callId"].clone();
        served.call(CREATE, new_page("docs/newer")).await.unwrap();
        assert!(person.is_left_alone());

        let said = approvals(&served.records());
        let sent = vec_of({ said.iter() }.filter_map(|one| one.strip_prefix("sent under ")));
        assert_eq!(json!(sent), json!([page, page, kind, kind, create, create]));
    }
}

#[tokio::test]
async fn an_approval_is_used_up_by_its_twentieth_write() {
    let (wiki, served, mut person, id) = at_home(Generation::Within).await;
    described((&served, &mut person), id, "0", "page")
        .await
        .unwrap();
    for write in 1..20 {
        let text = write.to_string();
        served.call(UPDATE, description(id, &text)).await.unwrap();
    }
    assert!(person.is_left_alone());
    let again = described((&served, &mut person), id, "20", "no").await;
    assert_eq!(again.unwrap_err()["code"], "APPROVAL_DENIED");
    assert_eq!(mutations(&wiki).len(), 20);
}

#[tokio::test]
async fn deletes_moves_styles_and_scripts_are_asked_about_every_time() {
    for generation in BOTH {
        let (wiki, served, mut person, id) = at_home(generation).await;
        let other = id_of(&wiki, "releases/2-4");
        described((&served, &mut person), id, "p", "page")
            .await
            .unwrap();
        described((&served, &mut person), other, "k", "kind")
            .await
            .unwrap();
        let sent = mutations(&wiki).len();
        for (tool, arguments) in json_rows::<(&str, Value)>(&json!([
            [DELETE, { "id": id }],
            [UPDATE, { "id": id, "path": "docs/elsewhere" }],
            [UPDATE, { "id": id, "path": "docs/else", "title": "T" }],
            [UPDATE, { "id": id, "scriptCss": "a { b: c }" }],
            [UPDATE, { "id": id, "scriptJs": "a()", "title": "T" }],
        ])) {
            let asking = async {
                let asked = person.is_asked().await;
                assert_eq!(asked.offered(), ["once", "no"]);
                // An answer that was not offered is none.
                asked.answers("kind");
            };
            let call = served.call(tool, arguments.clone());
            let error = tokio::join!(call, asking).0.unwrap_err();
            assert_eq!(error["details"]["reason"], "failed", "{arguments}");
        }
        assert_eq!(mutations(&wiki).len(), sent);
        let gone = answered((&served, &mut person), DELETE, json!({ "id": id }), "once").await;
        assert_eq!(gone.unwrap()["outcome"], "applied");
    }
}

#[tokio::test]
async fn without_a_session_there_is_only_once() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "home");
    let [old, new] = BOTH;
    let fleeting = || {
        let mut setup = setup(&wiki);
        setup.session = SessionId::fleeting("somebody");
        setup
    };
    let (served, mut person) = serve(fleeting(), new).await;
    for text in ["1", "2"] {
        let asking = async {
            let asked = person.is_asked().await;
            assert_eq!(asked.offered(), ["once", "no"]);
            asked.answers("once");
        };
        let call = served.call(UPDATE, description(id, text));
        tokio::join!(call, asking).0.unwrap();
    }
    // The old generation answers in its session, so without one nobody can.
    let (served, _person) = serve(fleeting(), old).await;
    fails(&served, UPDATE, description(id, "3"), "APPROVAL_DENIED").await;
}

#[tokio::test]
async fn whatever_is_not_a_yes_is_a_no() {
    let accept = || ElicitResult::new(ElicitationAction::Accept);
    let cancel = || ElicitResult::new(ElicitationAction::Cancel);
    let once = json!({ "answer": "once" });
    for generation in BOTH {
        let (wiki, served, mut person, id) = at_home(generation).await;
        for (result, reason) in [
            (accept().with_content(json!({ "answer": "no" })), "no"),
            (ElicitResult::new(ElicitationAction::Decline), "no"),
            (cancel(), "closed"),
            (cancel().with_content(once.clone()), "closed"),
            (accept(), "failed"),
            (accept().with_content(json!({})), "failed"),
            (accept().with_content(json!({ "answer": "yes" })), "failed"),
            (accept().with_content(json!({ "answer": true })), "failed"),
            (accept().with_content(json!("once")), "failed"),
        ] {
            let asking = async { person.is_asked().await.ends(result) };
            let call = served.call(UPDATE, description(id, "New"));
            let error = tokio::join!(call, asking).0.unwrap_err();
            assert_eq!(error["code"], "APPROVAL_DENIED");
            assert_eq!(error["details"]["reason"], reason);
            let records = served.records();
            let (approval, refusal) = last_two(&records);
            assert_eq!(approval.decision.as_deref(), Some(reason));
            assert_eq!(approval.standing, None);
            assert_eq!(refusal.code.as_deref(), Some("APPROVAL_DENIED"));
            assert_eq!(refusal.path.as_ref().unwrap().as_str(), "home");
        }
        assert_eq!(mutations(&wiki).len(), 0);
    }
}

#[tokio::test]
async fn no_answer_in_time_is_a_no() {
    for generation in BOTH {
        let wiki = sample_wiki().await;
        let mut setup = setup(&wiki);
        setup.thinking = Some(match generation {
            Generation::Within => Duration::from_millis(50),
            // The state that the client brings back counts until the next millisecond.
            Generation::Between => Duration::ZERO,
        });
        let (served, mut person) = serve(setup, generation).await;
        let id = id_of(&wiki, "home");
        let asking = async {
            let asked = person.is_asked().await;
            if generation == Generation::Within {
                return Some(asked);
            }
            let asked_at = SystemTime::now();
            while asked_at.elapsed().unwrap_or_default() < Duration::from_millis(2) {
                tokio::task::yield_now().await;
            }
            asked.answers("once");
            None
        };
        let call = served.call(UPDATE, description(id, "New"));
        let (error, asked) = tokio::join!(call, asking);
        assert_eq!(error.unwrap_err()["details"]["reason"], "timed_out");
        // A late answer is not used.
        if let Some(asked) = asked {
            asked.answers("once");
        }
        served.call(TAGS, json!({})).await.unwrap();
        assert_eq!(mutations(&wiki).len(), 0);
        let said = approvals(&served.records());
        assert_eq!(said.last().map(String::as_str), Some("timed_out"));
    }
}

/// A client that speaks the protocol line by line, to do what no library does.
struct Raw {
    lines: tokio::io::Lines<BufReader<tokio::io::ReadHalf<tokio::io::DuplexStream>>>,
    to: tokio::io::WriteHalf<tokio::io::DuplexStream>,
}

impl Raw {
    async fn connect(stream: tokio::io::DuplexStream) -> Self {
        let (from, to) = tokio::io::split(stream);
        let mut raw = Self {
            lines: BufReader::new(from).lines(),
            to,
        };
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "raw", "version": "1" },
        });
        raw.request(0, "initialize", params).await;
        raw.next().await;
        raw.send(json!({ "method": "notifications/initialized" }))
            .await;
        raw
    }

    async fn request(&mut self, id: i64, method: &str, params: Value) {
        let request = json!({ "id": id, "method": method, "params": params });
        self.send(request).await;
    }

    async fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let line = format!("{message}\n");
        self.to.write_all(line.as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

#[tokio::test]
async fn an_answer_after_the_call_was_cancelled_is_not_used() {
    let wiki = sample_wiki().await;
    let (app, dir, stream) = setup(&wiki).listen();
    let mut raw = Raw::connect(stream).await;
    let id = id_of(&wiki, "home");
    let update = json!({ "name": UPDATE, "arguments": description(id, "New") });
    raw.request(1, "tools/call", update.clone()).await;
    let question = raw.next().await;
    assert_eq!(question["method"], "elicitation/create");
    // Meanwhile the server answers.
    raw.request(2, "ping", json!({})).await;
    assert_eq!(raw.next().await["id"], 2);

    let params = json!({ "requestId": 1 });
    raw.send(json!({ "method": "notifications/cancelled", "params": params }))
        .await;
    // The client is told that it need not ask any longer.
    let told = raw.next().await;
    assert_eq!(told["method"], "notifications/cancelled");
    assert_eq!(told["params"]["requestId"], question["id"]);
    let answer = json!({ "action": "accept", "content": { "answer": "kind" } });
    raw.send(json!({ "id": question["id"], "result": answer }))
        .await;

    // The same call again is asked about: the answer counted for nothing.
    raw.request(3, "tools/call", update).await;
    let again = raw.next().await;
    assert_eq!(again["method"], "elicitation/create");
    app.writer.finish().await;
    assert_eq!(mutations(&wiki).len(), 0);
    assert_eq!(approvals(&records(dir.path())), ["cancelled"]);
}

#[tokio::test]
async fn a_page_that_changed_while_the_person_thought_is_a_conflict() {
    for generation in BOTH {
        let (wiki, served, mut person, id) = at_home(generation).await;
        let (ours, delete) = (description(id, "Ours"), json!({ "id": id }));
        for (tool, arguments) in [(UPDATE, ours), (DELETE, delete)] {
            let asking = async {
                let asked = person.is_asked().await;
                wiki.with_store(|store| store.page_mut(id).unwrap().title += "!");
                asked.answers("once");
            };
            let call = served.call(tool, arguments);
            let error = tokio::join!(call, asking).0.unwrap_err();
            assert_eq!(error["code"], "EDIT_CONFLICT");
            assert_eq!(error["details"]["fields"], json!(["title"]));
            says(&error["hint"], "call again; the person is asked");
        }
        let asking = async {
            let asked = person.is_asked().await;
            wiki.with_store(|store| store.page_mut(id).unwrap().path = "docs/new".to_owned());
            asked.answers("once");
        };
        let call = served.call(CREATE, new_page("docs/new"));
        let error = tokio::join!(call, asking).0.unwrap_err();
        assert_eq!(error["code"], "PAGE_EXISTS");
        assert_eq!(mutations(&wiki).len(), 0);
    }
}

#[tokio::test]
async fn nothing_is_held_up_while_a_person_thinks() {
    for generation in BOTH {
        let wiki = sample_wiki().await;
        let (served, mut person) = serve(setup(&wiki), generation).await;
        let id = id_of(&wiki, "releases/2-4");
        let meanwhile = async {
            let asked = person.is_asked().await;
            // A create needs the same turn as the delete, an update of its page the other.
            let created = answered((&served, &mut person), CREATE, new_page("docs/new"), "once");
            created.await.unwrap();
            let updated = described((&served, &mut person), id, "New", "once");
            updated.await.unwrap();
            asked.answers("once");
        };
        let call = served.call(DELETE, json!({ "id": id }));
        let (deleted, ()) = tokio::join!(call, meanwhile);
        assert_eq!(deleted.unwrap_err()["code"], "EDIT_CONFLICT");
        assert_eq!(mutations(&wiki).len(), 2);
    }
}

#[tokio::test]
async fn nobody_is_asked_about_what_is_not_going_to_be_sent() {
    for generation in BOTH {
        let wiki = sample_wiki().await;
        let id = id_of(&wiki, "home");
        let told = wiki.with_store(|store| store.page(id).unwrap().description.clone());
        for (name, value, expected) in [
            ("WIKI_MUTATIONS_ENABLED", "false", "MUTATIONS_DISABLED"),
            ("WIKI_DENIED_MUTATION_PATH_PREFIXES", "home", "PATH_DENIED"),
        ] {
            let (served, mut person) = serve(setup(&wiki).with(name, value), generation).await;
            fails(&served, UPDATE, description(id, "New"), expected).await;
            assert!(person.is_left_alone());
        }
        let dry = setup(&wiki).dry();
        let (served, mut person) = serve(dry, generation).await;
        let preview = served.call(UPDATE, description(id, "New")).await.unwrap();
        preview.shows(json!({ "preview": true, "confirm": null }));
        assert!(person.is_left_alone());

        let (served, mut person) = serve(setup(&wiki), generation).await;
        let unchanged = call_ok(&served, UPDATE, description(id, &told.unwrap())).await;
        assert_eq!(unchanged["outcome"], "unchanged");
        assert!(person.is_left_alone());
        assert_eq!(mutations(&wiki).len(), 0);
    }
}

#[tokio::test]
async fn a_confirm_counts_for_nothing_where_a_person_is_asked() {
    for generation in BOTH {
        let wiki = sample_wiki().await;
        let fallback = setup(&wiki).with("WIKI_CONFIRM_FALLBACK", "preview");
        let (served, mut person) = serve(fallback, generation).await;
        let mut arguments = description(id_of(&wiki, "home"), "New");
        arguments["confirm"] = json!("0123456789abcdef0123456789abcdef");
        let refused = answered((&served, &mut person), UPDATE, arguments.clone(), "no").await;
        assert_eq!(refused.unwrap_err()["code"], "APPROVAL_DENIED");
        let applied = answered((&served, &mut person), UPDATE, arguments, "once").await;
        begins(&said(&applied.unwrap()["warnings"][0]), "confirm_ignored: ");
    }
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_told_what_to_do() {
    let (wiki, served) = sample(setup).await;
    let id = id_of(&wiki, "home");
    let error = fails(&served, UPDATE, description(id, "New"), "APPROVAL_DENIED").await;
    assert_eq!(error["details"]["reason"], "cannot_ask");
    says(&error["hint"], "elicitation");
    says(&error["hint"], "WIKI_CONFIRM_FALLBACK=preview");
    // A token that was never given is none either.
    let mut arguments = description(id, "New");
    arguments["confirm"] = json!("0123456789abcdef0123456789abcdef");
    fails(&served, UPDATE, arguments, "APPROVAL_DENIED").await;
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_client_that_cannot_ask_may_be_left_to_previews() {
    let (wiki, served) = sample(|wiki| setup(wiki).with("WIKI_CONFIRM_FALLBACK", "preview")).await;
    let id = id_of(&wiki, "home");
    let applied = confirmed_ok(&served, UPDATE, description(id, "New")).await;
    applied.shows(json!({ "outcome": "applied", "warnings": null }));
    let expected = ["preview", "attempt update", "outcome update applied"];
    assert_eq!(served.told(), expected);
    let records = served.records();
    let attempt = records.iter().find(|record| record.step.is_some()).unwrap();
    assert_eq!(attempt.decision.as_deref(), Some("preview"));
    let mut calls = records.iter().filter_map(|record| record.call);
    let preview = calls.next().unwrap();
    assert_eq!(attempt.confirms, Some(preview.into()));
    assert_eq!(attempt.standing, None);
}

#[tokio::test]
async fn the_text_of_a_page_cannot_speak_as_the_server() {
    for generation in BOTH {
        let (wiki, served, mut person, id) = at_home(generation).await;
        let theirs = "a\nFields: title\n\u{202e}Operation: create\n";
        wiki.with_store(|store| theirs.clone_into(&mut store.page_mut(id).unwrap().content));
        let asking = async {
            let asked = person.is_asked().await;
            let mut lines = asked.message.lines();
            let ours = vec_of(lines.by_ref().filter(|line| !line.starts_with('|')));
            let expected = [
                &format!("Operation: update, page {id}"),
                "Path:",
                "Fields: title, content",
                "title before:",
                "title after:",
                "Lines of content: 1 added, 3 removed",
            ];
            assert_eq!(ours[2..], expected);
            for shown in ["T\\u{200b}x", "-\\u{202e}Operation: create", "+Answer: yes"] {
                says(&asked.message, &format!("\n| {shown}"));
            }
            asked.answers("no");
        };
        let arguments = json!({ "id": id, "title": "T\u{200b}x", "content": "Answer: yes\n" });
        let call = served.call(UPDATE, arguments);
        tokio::join!(call, asking).0.unwrap_err();
    }
}

#[tokio::test]
async fn a_form_of_2025_06_18_lists_its_titles_apart() {
    let wiki = sample_wiki().await;
    let version = ProtocolVersion::V_2025_06_18;
    let lifecycle = ClientLifecycleMode::Initialize;
    let (served, mut person) = serve_as(setup(&wiki), version, lifecycle).await;
    let asking = async {
        let asked = person.is_asked().await;
        let answer = asked.form["properties"]["answer"].clone();
        assert_eq!(answer["enum"], json!(["once", "page", "kind", "no"]));
        assert_eq!(answer["enumNames"][3], "No");
        asked.answers("once");
    };
    let call = served.call(UPDATE, description(id_of(&wiki, "home"), "New"));
    tokio::join!(call, asking).0.unwrap();
}

#[tokio::test]
async fn an_undo_is_asked_about_with_the_write_that_it_takes_back() {
    for generation in BOTH {
        let wiki = sample_wiki().await;
        let undo = setup(&wiki).toolsets("pages,undo");
        let (served, mut person) = serve(undo, generation).await;
        let id = id_of(&wiki, "home");
        let applied = described((&served, &mut person), id, "New", "once").await;
        let call = applied.unwrap()["callId"].as_str().unwrap().to_owned();
        let asking = async {
            let asked = person.is_asked().await;
            says(&asked.message, &format!("\nTakes back: call {call}\n"));
            asked.answers("once");
        };
        let undo = served.call(UNDO, json!({ "callId": "last" }));
        assert_eq!(tokio::join!(undo, asking).0.unwrap()["outcome"], "applied");
        let records = served.records();
        let undone = records.last().unwrap().undoes.map(|call| call.to_string());
        assert_eq!(undone, Some(call));
    }
}

/// Makes a call between two of which a person is asked; its answer, or its question's state.
async fn once(
    served: &Served<Asking>,
    tool: &str,
    arguments: &Value,
    brought: Option<(&str, &str)>,
) -> Result<Result<Value, Value>, String> {
    let mut request = CallToolRequestParams::new(tool.to_owned());
    request.arguments = Some(arguments.as_object().unwrap().clone());
    if let Some((state, word)) = brought {
        let answer = json!({ "action": "accept", "content": { "answer": word } });
        request = request
            .with_request_state(state)
            .with_input_responses(InputResponses::from([("answer".to_owned(), answer)]));
    }
    match served.client.peer().call_tool_once(request).await.unwrap() {
        CallToolResponse::Complete(result) => Ok(read(&result)),
        CallToolResponse::InputRequired(required) => Err(required.request_state.unwrap()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_state_counts_once_for_its_own_call_and_cannot_be_made() {
    let wiki = sample_wiki().await;
    let (served, _person) = serve(setup(&wiki), Generation::Between).await;
    let id = id_of(&wiki, "home");
    let ours = description(id, "New");
    let asked = || async { once(&served, UPDATE, &ours, None).await.unwrap_err() };
    let refused = |answer: Result<Result<Value, Value>, String>| {
        let error = answer.unwrap().unwrap_err();
        assert_eq!(error["code"], "APPROVAL_DENIED");
        error["details"]["reason"].as_str().unwrap().to_owned()
    };
    let state = asked().await;
    // For another call, another tool, forged, or cut.
    let forged = format!("{state}AAAA");
    for (tool, arguments, state) in [
        (UPDATE, description(id, "Other"), state.as_str()),
        (DELETE, json!({ "id": id }), &state),
        (UPDATE, ours.clone(), &forged),
        (UPDATE, ours.clone(), "rs1.x.y"),
        (UPDATE, ours.clone(), ""),
    ] {
        let answer = once(&served, tool, &arguments, Some((state, "once"))).await;
        assert_eq!(refused(answer), "not_ours", "{arguments} {state}");
    }
    // The first answer uses it up, a no as well as a yes.
    let no = once(&served, UPDATE, &ours, Some((&state, "no"))).await;
    assert_eq!(refused(no), "no");
    let replayed = once(&served, UPDATE, &ours, Some((&state, "once"))).await;
    assert_eq!(refused(replayed), "not_ours");
    assert_eq!(mutations(&wiki).len(), 0);

    // With its arguments in another order it is the same call.
    let both = json!({ "id": id, "description": "New" });
    let turned = json!({ "description": "New", "id": id });
    let state = once(&served, UPDATE, &both, None).await.unwrap_err();
    let applied = once(&served, UPDATE, &turned, Some((&state, "once"))).await;
    assert_eq!(applied.unwrap().unwrap()["outcome"], "applied");
    let replayed = once(&served, UPDATE, &both, Some((&state, "kind"))).await;
    assert_eq!(refused(replayed), "not_ours");
    assert_eq!(mutations(&wiki).len(), 1);

    // Another server's state is forged here.
    let (other, _person) = serve(setup(&wiki), Generation::Between).await;
    let theirs = description(id, "Theirs");
    let state = once(&other, UPDATE, &theirs, None).await.unwrap_err();
    let answer = once(&served, UPDATE, &theirs, Some((&state, "once"))).await;
    assert_eq!(refused(answer), "not_ours");
}

#[tokio::test]
async fn a_loss_is_shown_and_approved_once_alone_and_never_by_the_static_token() {
    let loss = "publishStartDate publishEndDate scriptCss scriptJs";
    let loss = vec_of(loss.split(' '));
    for generation in BOTH {
        let wiki = sample_wiki().await;
        wiki.set_editor_view_blocked(true);
        let id = id_of(&wiki, "releases/2-4");
        let writer = || Setup::writer(&wiki);
        let unread = json!({ "id": id, "title": "New" });
        let accepted = json!({ "id": id, "title": "New", "acceptLoss": loss });

        let (served, mut person) = serve(writer().with("WIKI_CONFIRM", "person"), generation).await;
        fails(&served, UPDATE, unread, "FIELD_UNREADABLE").await;
        let asking = async {
            let asked = person.is_asked().await;
            for field in &loss {
                says(&asked.message, field);
            }
            assert_eq!(asked.offered(), ["once", "no"]);
            asked.answers("once");
        };
        let call = served.call(UPDATE, accepted.clone());
        let applied = tokio::join!(call, asking).0.unwrap();
        assert_eq!(applied["outcome"], "applied");
        begins(&said(&applied["warnings"][0]), "loss_accepted:");

        let static_token = writer().with("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please");
        let static_token = static_token.serve().await;
        wiki.clear_requests();
        let mut confirmed = accepted;
        confirmed["title"] = json!("Newer");
        confirmed["confirm"] = json!("open-sesame-please");
        fails(&static_token, UPDATE, confirmed, "FIELD_UNREADABLE").await;
        assert_eq!(mutations(&wiki).len(), 0);
    }
}
