//! Named clients over HTTP: each can only narrow what the server allows, and what belongs to
//! one is out of reach for all others.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command as Process, Stdio};

use wikijs_gate::server::http::{ClientConfirm, ClientToken, HttpLimits, Rotation};

use crate::http::hosted::{call, initialize, rewrite, speaking};
use crate::prelude::*;

async fn with_names(wiki: &DemoWiki, names: &Names) -> Hosted {
    Setup::editor(wiki).naming(names).host().await
}

fn bearer(token: &str) -> Caller {
    Caller::default().with("authorization", &format!("Bearer {token}"))
}

fn code(result: Result<Value, Value>) -> String {
    result.unwrap_err()["code"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_client_that_was_taken_out_is_out_though_another_line_is_broken() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let stays = names.client("stays");
    let kept = fs::read_to_string(names.path()).unwrap();
    let goes = names.client("goes");
    let server = with_names(&wiki, &names).await;
    let status = async |caller: &Caller| server.status_of(caller).await;
    assert_ne!(status(&goes).await, 401);
    fs::write(names.path(), format!("{kept}nonsense\n")).unwrap();
    assert_eq!(status(&goes).await, 401);
    assert_ne!(status(&stays).await, 401);
}

#[tokio::test]
async fn a_client_is_known_at_its_first_request() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    names.client("first");
    let setup = Setup::editor(&wiki).naming(&names);
    // With the limits of a server that runs: it looks at the file once a second by itself.
    let server = setup.host_within(HttpLimits::default()).await;
    let status = async |caller: &Caller| server.status_of(caller).await;
    let unknown = bearer(&format!("wjs_{}", "x".repeat(43)));
    let mut statuses = Vec::new();
    for number in 0..15 {
        // Whoever is nobody has just had the file looked at.
        assert_eq!(status(&unknown).await, 401);
        let client = names.client(&format!("client-{number}"));
        statuses.push(status(&client).await);
    }
    assert_eq!(statuses, [200; 15]);
    // So is one whose token was replaced.
    let token = ClientToken::new().unwrap();
    let rotation = Rotation {
        token: Some(&token),
        keep: Duration::ZERO,
        expires: None,
    };
    names.file().rotate("first", &rotation).unwrap();
    assert_eq!(status(&bearer(token.reveal())).await, 200);
}

#[tokio::test]
async fn a_refused_request_is_answered_without_an_id() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let server = with_names(&wiki, &names).await;
    let elsewhere = Caller::default().with("origin", "https://evil.example");
    for (caller, expected) in [(Caller::default(), 401), (elsewhere, 403)] {
        let answer = server.post(&caller, &call(TREE, json!({}))).await;
        assert_eq!(answer.status, expected);
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        let members: Vec<_> = body.as_object().unwrap().keys().collect();
        assert_eq!(members, ["jsonrpc", "error"]);
    }
}

#[tokio::test]
async fn nobody_calls_without_a_token_that_counts() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let end = "2020-01-01T00:00:00Z";
    let ended = names.granted("ended", |may| may.expires = Some(end.to_owned()));
    let good = names.client("good");
    let server = with_names(&wiki, &names).await;
    let header = |value: &str| Caller::default().with("authorization", value);
    let token = good.headers[0].1.clone();
    for caller in [
        Caller::default(),
        header(""),
        header("Bearer "),
        header("Bearer wjs_guess"),
        header(&token.replace("Bearer", "Basic")),
        header(token.split_at(token.len() - 1).0),
        ended,
    ] {
        let answer = server.post(&caller, &call(TREE, json!({}))).await;
        assert_eq!(answer.status, 401, "{caller:?}");
        assert_eq!(answer.headers["www-authenticate"], "Bearer");
        let metrics = server.send("GET", "/metrics", &caller, "").await;
        assert_eq!(metrics.status, 401);
    }
    assert_eq!(server.send("GET", "/metrics", &good, "").await.status, 200);
    server.call(&good, TREE, json!({})).await.unwrap();
}

#[tokio::test]
async fn a_session_is_unknown_to_every_other_client() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let (own, other) = (names.client("own"), names.client("other"));
    let server = with_names(&wiki, &names).await;
    let session = server.open(&own).await;
    let id = session.session();
    let stolen = other.with("mcp-session-id", id);
    let unknown = own.with("mcp-session-id", "00000000-0000-4000-8000-000000000000");
    for caller in [&stolen, &unknown] {
        let post = server.post(caller, &call(TREE, json!({}))).await;
        let get = server.send("GET", "/mcp", &speaking(caller), "").await;
        let delete = server.send("DELETE", "/mcp", caller, "").await;
        assert_eq!([post.status, get.status, delete.status], [404; 3]);
        // Nothing tells one that is another's from one that never was.
        let never = server.post(&unknown, &call(TREE, json!({}))).await;
        assert_eq!(post.body, never.body);
    }
    server.call(&session, TREE, json!({})).await.unwrap();
}

#[tokio::test]
async fn a_preview_counts_for_the_client_that_got_it_alone() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let (own, other) = (names.client("own"), names.client("other"));
    let server = with_names(&wiki, &names).await;
    let arguments = json!({ "id": id_of(&wiki, "home"), "title": "T" });
    let (own_session, other_session) = (server.open(&own).await, server.open(&own).await);
    for (giver, takers) in [
        (&own, vec![other.clone(), own_session.clone()]),
        (&own_session, vec![other, own.clone(), other_session]),
    ] {
        let preview = server.ok(giver, UPDATE, arguments.clone()).await;
        let confirmed = json!({ "id": arguments["id"], "confirm": preview["confirm"] });
        for taker in takers {
            let arguments = confirmed.clone();
            server
                .fails(&taker, UPDATE, arguments, "CONFIRM_EXPIRED")
                .await;
        }
    }
    assert!(mutations(&wiki).is_empty());
    server.applied(&own, UPDATE, arguments).await;
    let client = server.records().pop().unwrap().client.unwrap();
    assert_eq!(client.subject.as_deref(), Some("own"));
}

#[tokio::test]
async fn a_proposal_is_told_to_the_client_that_made_it_alone() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let (own, other) = (names.client("own"), names.client("other"));
    let setup = Setup::editor(&wiki).dry().toolsets("pages,proposals");
    let server = setup.naming(&names).host().await;
    let change = json!({ "id": id_of(&wiki, "home"), "title": "Ours" });
    let preview = server.call(&own, UPDATE, change).await.unwrap();
    let get = json!({ "id": preview["proposal"] });
    let told = async |caller: &Caller| {
        let listed = server.call(caller, LIST_PROPOSALS, json!({})).await;
        let one = server.call(caller, GET_PROPOSAL, get.clone()).await;
        (listed.unwrap()["proposals"].as_array().unwrap().len(), one)
    };
    let (listed, one) = told(&own).await;
    assert_eq!((listed, &one.unwrap()["state"]), (1, &json!("open")));
    let (listed, one) = told(&other).await;
    assert_eq!((listed, code(one)), (0, "INVALID_INPUT".to_owned()));
}

#[tokio::test]
async fn a_write_is_taken_back_by_whoever_made_it_alone() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let (own, other) = (names.client("own"), names.client("other"));
    let key = |caller: &Caller, key: &str| caller.clone().with("x-wiki-api-token", key);
    let (nobody, editor) = (Caller::default(), wiki.keys().editor.clone());
    let setup = Setup::editor(&wiki).toolsets("pages,undo").naming(&names);
    let hosted = setup.host().await;
    let setup = Setup::editor(&wiki).toolsets("pages,undo");
    let keyed = setup.with("WIKI_SERVE_CALLER_KEYS", "true").host().await;
    let both = Setup::editor(&wiki)
        .toolsets("pages,undo")
        .with("WIKI_SERVE_CALLER_KEYS", "true")
        .naming(&names)
        .host()
        .await;
    let id = id_of(&wiki, "home");
    for (server, maker, stranger, begin) in [
        (&hosted, own.clone(), other, "own"),
        (&keyed, key(&nobody, &editor), key(&nobody, "junk"), "key:"),
        (&both, key(&own, &editor), key(&own, "junk"), "own/key:"),
    ] {
        let change = json!({ "id": id, "title": begin });
        let written = server.applied(&maker, UPDATE, change).await;
        let subject = server.records().pop().unwrap().client.unwrap().subject;
        assert!(subject.unwrap().starts_with(begin));
        let call = written["callId"].as_str().unwrap();
        for meant in ["last", call, call.split_at(6).0] {
            let undo = json!({ "callId": meant });
            let refused = server.call(&stranger, UNDO, undo.clone()).await;
            assert_eq!(code(refused), "NOTHING_TO_UNDO", "{begin} {meant}");
            let preview = server.call(&maker, UNDO, undo).await.unwrap();
            assert!(preview["confirm"].is_string(), "{preview}");
        }
    }
}

#[tokio::test]
async fn what_people_applied_is_taken_back_by_the_client_that_asked_for_it_and_no_other() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let (own, other) = (names.client("own"), names.client("other"));
    let setup = || Setup::admin(&wiki).toolsets("pages,undo,proposals,drafts");
    let dry = setup().dry().naming(&names).host().await;
    let change = json!({ "id": id_of(&wiki, "home"), "title": "Asked for" });
    let preview = dry.call(&own, UPDATE, change).await.unwrap();
    let id = preview["proposal"].as_str().unwrap();
    let apply = ["proposals", "apply", id, "--yes"];
    let applied = Command::operator(&wiki, dry.dir.path(), &apply).writing();
    applied.end().await.good();
    let server = setup().in_dir(&dry.dir).naming(&names).host().await;
    let told = server.call(&own, GET_PROPOSAL, json!({ "id": id })).await;
    let applied_by = told.unwrap()["appliedBy"].clone();
    // A call of one change is shown as a set of one.
    let shown = json!({ "id": applied_by });
    let set = server.ok(&own, CHANGE_SET, shown.clone()).await;
    set.shows(json!({ "outcome": "applied", "callId": applied_by }));
    let refused = server.call(&other, CHANGE_SET, shown).await;
    assert_eq!(code(refused), "INVALID_INPUT");
    let undo = json!({ "callId": applied_by });
    let refused = server.call(&other, UNDO, undo.clone()).await;
    assert_eq!(code(refused), "NOTHING_TO_UNDO");
    let undone = server.applied(&own, UNDO, undo).await;
    assert_eq!(undone["outcome"], "applied", "{undone}");
}

/// What a client sees of its own: its newest write, and how many proposals.
async fn own(server: &Hosted, dry: &Hosted, caller: &Caller) -> (Result<Value, Value>, usize) {
    let last = server.call(caller, UNDO, json!({ "callId": "last" })).await;
    let listed = dry.call(caller, LIST_PROPOSALS, json!({})).await;
    (last, listed.unwrap()["proposals"].as_array().unwrap().len())
}

/// A server that writes and one in a dry run, with one record.
async fn two_servers(wiki: &DemoWiki, names: &Names, dir: &Arc<TempDir>) -> (Hosted, Hosted) {
    let setup = || {
        Setup::editor(wiki)
            .toolsets("pages,undo,proposals")
            .naming(names)
            .in_dir(dir)
    };
    let dry = setup().dry();
    (setup().host().await, dry.host().await)
}

/// One write and one proposal.
async fn act(wiki: &DemoWiki, server: &Hosted, dry: &Hosted, caller: &Caller) {
    let id = id_of(wiki, "home");
    let change = json!({ "id": id, "title": "Ours" });
    server.applied(caller, UPDATE, change).await;
    let change = json!({ "id": id, "title": "Proposed" });
    dry.call(caller, UPDATE, change).await.unwrap();
}

#[tokio::test]
async fn a_name_that_was_given_out_again_is_another_client() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let first = names.client("own");
    let (server, dry) = two_servers(&wiki, &names, &Arc::new(TempDir::new().unwrap())).await;
    act(&wiki, &server, &dry, &first).await;
    let (undone, proposals) = own(&server, &dry, &first).await;
    assert_eq!((undone.is_ok(), proposals), (true, 1));
    names.file().remove("own").unwrap();
    let second = names.client("own");
    let (undone, proposals) = own(&server, &dry, &second).await;
    assert_eq!((code(undone), proposals), ("NOTHING_TO_UNDO".to_owned(), 0));
}

#[tokio::test]
async fn a_client_keeps_what_is_its_own_under_another_token_and_another_name() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let old = names.client("own");
    let (server, dry) = two_servers(&wiki, &names, &Arc::new(TempDir::new().unwrap())).await;
    act(&wiki, &server, &dry, &old).await;
    let other = Names::new();
    let new = other.client("renamed");
    let line: Value = serde_json::from_str(&fs::read_to_string(other.path()).unwrap()).unwrap();
    rewrite(&names.path(), |client| {
        client["sha256"] = line["sha256"].clone();
        client["name"] = line["name"].clone();
    });
    let (undone, proposals) = own(&server, &dry, &new).await;
    assert_eq!((undone.is_ok(), proposals), (true, 1));
}

#[tokio::test]
async fn another_start_of_the_server_takes_a_client_for_the_same() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let caller = names.client("own");
    let dir = Arc::new(TempDir::new().unwrap());
    let (server, dry) = two_servers(&wiki, &names, &dir).await;
    act(&wiki, &server, &dry, &caller).await;
    let (server, dry) = two_servers(&wiki, &names, &dir).await;
    let (undone, proposals) = own(&server, &dry, &caller).await;
    assert_eq!((undone.is_ok(), proposals), (true, 1));
    let id = names.file().read().unwrap()[0].id;
    let on_record = server.records().into_iter().rev();
    let on_record = on_record.filter_map(|record| record.client);
    assert!({ on_record }.all(|client| client.id == Some(id)));
}

#[test]
fn a_line_without_an_id_is_no_client() {
    let names = Names::new();
    names.client("own");
    rewrite(&names.path(), |client| {
        drop(client.as_object_mut().unwrap().shift_remove("id"));
    });
    let error = names.file().read().unwrap_err().to_string();
    begins(&error, "line 1 of the tokens file is no client");
}

#[test]
fn an_id_that_is_there_twice_spoils_the_file() {
    let names = Names::new();
    names.client("one");
    let one = names.file().read().unwrap()[0].id;
    names.client("other");
    assert!(names.file().read().is_ok());
    rewrite(&names.path(), |client| client["id"] = json!(one));
    let error = names.file().read().unwrap_err().to_string();
    assert!(error.contains("its id is there twice"), "{error}");
}

#[tokio::test]
async fn a_question_for_a_person_is_answered_by_the_client_that_was_asked_alone() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let (own, other) = (names.client("own"), names.client("other"));
    let setup = Setup::editor(&wiki).with("WIKI_CONFIRM", "person");
    let server = setup.naming(&names).host().await;
    let arguments = json!({ "id": id_of(&wiki, "home"), "title": "T" });
    let mut message = call(UPDATE, arguments);
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        "io.modelcontextprotocol/clientInfo": { "name": "asking", "version": "1" },
    });
    let send = async |caller: &Caller, message: &Value| {
        let caller = caller
            .clone()
            .with("mcp-protocol-version", "2026-07-28")
            .with("mcp-method", "tools/call")
            .with("mcp-name", UPDATE);
        server.post(&caller, message).await.message()["result"].clone()
    };
    let asked = send(&own, &message).await;
    let mut answered = message.clone();
    answered["params"]["requestState"] = asked["requestState"].clone();
    answered["params"]["inputResponses"] =
        json!({ "answer": { "action": "accept", "content": { "answer": "once" } } });
    let stolen = send(&other, &answered).await;
    let code = &stolen["_meta"]["error"]["code"];
    assert_eq!(code, "APPROVAL_DENIED", "{stolen}");
    assert!(mutations(&wiki).is_empty());
    let applied = send(&own, &answered).await;
    let outcome = &applied["structuredContent"]["outcome"];
    assert_eq!(outcome, "applied", "{applied}");
}

#[tokio::test]
async fn a_client_may_do_less_than_the_server_and_never_more() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let reader = names.granted("reader", |may| may.read_only = true);
    let tools = names.granted("tools", |may| may.tools = some([LIST, CREATE]));
    let below = names.granted("below", |may| may.prefixes = some(["docs/x"]));
    let beside = names.granted("beside", |may| may.prefixes = some(["other"]));
    let dry = names.granted("dry", |may| may.dry_run = true);
    let person = names.granted("person", |may| may.confirm = Some(ClientConfirm::Person));
    let setup = Setup::editor(&wiki).with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs");
    let server = setup.naming(&names).host().await;
    let create =
        async |caller: &Caller, path: &str| server.call(caller, CREATE, new_page(path)).await;
    assert_eq!(server.tools(&reader).await.len(), 7);
    assert_eq!(server.tools(&tools).await, [LIST, CREATE]);
    for (caller, tool) in [(&reader, CREATE), (&tools, TREE)] {
        let message = server.post(caller, &call(tool, json!({}))).await.message();
        assert_eq!(message["error"]["message"], format!("unknown tool: {tool}"));
    }
    // Resources are pages too.
    let read = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/list" });
    let message = server.post(&tools, &read).await.message();
    let own = message["result"]["resources"].as_array().unwrap();
    let is_page = |of: &Value| of["uri"].as_str().unwrap().starts_with("wikijs://en/");
    assert!(!own.is_empty() && !own.iter().any(is_page), "{message}");
    let page = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read",
        "params": { "uri": "wikijs://en/docs" } });
    let message = server.post(&tools, &page).await.message();
    let message = &message["error"]["message"];
    assert_eq!(message, "this client may not read pages");
    assert!(server.post(&reader, &read).await.message()["result"]["resources"].is_array());
    assert!(create(&below, "docs/x/new").await.unwrap()["confirm"].is_string());
    assert_eq!(code(create(&below, "docs/new").await), "PATH_NOT_ALLOWED");
    for path in ["docs/new", "other/new"] {
        let code = code(create(&beside, path).await);
        assert_eq!(code, "PATH_NOT_ALLOWED", "{path}");
    }
    let shown = create(&dry, "docs/new").await.unwrap();
    assert_eq!(shown.get("confirm"), None);
    assert_eq!(code(create(&person, "docs/new").await), "APPROVAL_DENIED");
    assert!(mutations(&wiki).is_empty());
}

#[tokio::test]
async fn clients_come_and_go_while_the_server_runs() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let first = names.client("first");
    let server = with_names(&wiki, &names).await;
    let session = server.open(&first).await;
    let status = async |caller: &Caller| server.status_of(caller).await;
    let second = names.client("second");
    assert_eq!(status(&second).await, 200);
    // A line that is broken changes nothing for those that still stand in the file.
    let whole = fs::read_to_string(names.path()).unwrap();
    fs::write(names.path(), format!("{whole}{{\n")).unwrap();
    assert_eq!([status(&first).await, status(&second).await], [200; 2]);
    fs::write(names.path(), whole).unwrap();
    names.file().remove("first").unwrap();
    for (caller, expected) in [(&first, 401), (&session, 401), (&second, 200)] {
        assert_eq!(status(caller).await, expected, "{caller:?}");
    }
    // One of the same name is another client.
    let again = names.client("first");
    let id = session.session();
    let stolen = again.clone().with("mcp-session-id", id);
    assert_eq!(status(&stolen).await, 404);
    assert_eq!(status(&again).await, 200);
    fs::remove_file(names.path()).unwrap();
    assert_eq!(status(&again).await, 401);
}

#[tokio::test]
async fn after_five_wrong_confirm_tokens_a_client_waits_and_nobody_else_does() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let (own, other) = (names.client("own"), names.client("other"));
    let setup = Setup::admin(&wiki).with("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please");
    let server = setup.naming(&names).host().await;
    let id = id_of(&wiki, "home");
    let write = |confirm: &str| json!({ "id": id, "title": "x", "confirm": confirm });
    for number in 0..5 {
        // A session of its own each time changes nothing.
        let session = server.open(&other).await;
        let wrong = write(&format!("guess {number}"));
        server
            .fails(&session, UPDATE, wrong, "CONFIRM_MISMATCH")
            .await;
    }
    let right = write("open-sesame-please");
    let refused = server
        .fails(&other, UPDATE, right.clone(), "RATE_LIMITED")
        .await;
    assert_eq!(refused["details"]["retryAfterSeconds"], 1);
    let applied = server.ok(&own, UPDATE, right).await;
    assert_eq!(applied["outcome"], "applied");
    let metrics = server.send("GET", "/metrics", &own, "").await.body;
    says(&metrics, "\nwikijs_gate_wrong_confirm_tokens_total 5\n");
    let codes = server.records().into_iter();
    let codes: Vec<_> = codes.filter_map(|record| record.code).collect();
    let expected = [["CONFIRM_MISMATCH"; 5].as_slice(), &["RATE_LIMITED"]].concat();
    assert_eq!(codes, expected);
}

#[tokio::test]
async fn each_caller_key_sees_what_the_wiki_lets_it_see() {
    let wiki = sample_wiki().await;
    let docs = wiki.key_with(&["read:pages", "read:source"], "docs");
    let limits = LIMITS().but(|limits| limits.keys = 1);
    let setup = Setup::admin(&wiki).with("WIKI_SERVE_CALLER_KEYS", "true");
    let server = setup.host_within(limits).await;
    let with = |key: &str| Caller::default().with("x-wiki-api-token", key);
    let (admin, docs) = (with(&wiki.keys().admin), with(&docs));
    for _ in 0..2 {
        // With room for one key alone, each pushes the other out.
        server.ok(&admin, BY_PATH, json!({ "path": "home" })).await;
        let hidden = server.call(&docs, BY_PATH, json!({ "path": "home" })).await;
        assert!(["PAGE_NOT_FOUND", "PERMISSION_DENIED"].contains(&code(hidden).as_str()));
    }
    let status =
        async |caller: &Caller| server.post(caller, &initialize("2025-11-25")).await.status;
    // A client that signs in where it is told 401 would do so in vain.
    assert_eq!(status(&Caller::default()).await, 400);
    assert_eq!(status(&with("a key")).await, 400);
    // A session belongs to the key that it was opened with.
    let session = server.open(&admin).await;
    let id = session.session();
    assert_eq!(status(&docs.with("mcp-session-id", id)).await, 404);
    // Where keys are not asked for, one that is brought must not go unheeded.
    let plain = Setup::readonly(&wiki).host().await;
    let status = plain.post(&admin, &initialize("2025-11-25")).await.status;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn a_secret_of_this_server_in_the_place_of_a_key_goes_to_no_wiki() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let client = names.client("ci");
    let ci = client.headers[0].1.trim_start_matches("Bearer ");
    let link = "wjl_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
    let setup = Setup::admin(&wiki).with("WIKI_SERVE_CALLER_KEYS", "true");
    let server = setup.naming(&names).host().await;
    for (key, part) in [
        (ci, "a secret of this server, which never goes to the wiki"),
        (
            link,
            "a secret of this server, which never goes to the wiki",
        ),
        ("Bearer a.b.c", "the key alone, without Bearer"),
    ] {
        let caller = client.clone().with("x-wiki-api-token", key);
        let refused = server.post(&caller, &call(TREE, json!({}))).await;
        assert_eq!(refused.status, 400, "{key}");
        says(&refused.body, part);
    }
    for request in wiki.requests() {
        let headers = format!("{:?}", request.headers);
        lacks(&headers, ci);
        lacks(&headers, link);
    }
}

#[tokio::test]
async fn no_callers_key_leaves_an_index_on_the_disk() {
    let (wiki, dir) = (sample_wiki().await, TempDir::new().unwrap());
    let server = Setup::admin(&wiki)
        .with("WIKI_SERVE_CALLER_KEYS", "true")
        .with("WIKI_INDEX", "disk")
        .with("WIKI_INDEX_DIR", dir.path().to_str().unwrap())
        .host()
        .await;
    let search = json!({ "query": "linux", "in": "content" });
    for key in ["junk0", "junk1", &wiki.keys().readonly, &wiki.keys().admin] {
        let caller = Caller::default().with("x-wiki-api-token", key);
        // A key that is none is told so, or reads as a guest; either way nothing stays of it.
        let _ = server.call(&caller, SEARCH, search.clone()).await;
    }
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    let reader = Caller::default().with("x-wiki-api-token", &wiki.keys().readonly);
    let found = server.call(&reader, SEARCH, search).await;
    assert!(!found.unwrap()["hits"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn writes_with_callers_keys_are_in_one_log_and_end_before_it() {
    let wiki = sample_wiki().await;
    let setup = Setup::readonly(&wiki).with("WIKI_SERVE_CALLER_KEYS", "true");
    let server = setup.host().await;
    for (title, key) in [("A", &wiki.keys().admin), ("B", &wiki.keys().editor)] {
        let caller = Caller::default().with("x-wiki-api-token", key);
        let change = json!({ "id": id_of(&wiki, "home"), "title": title });
        server.applied(&caller, UPDATE, change).await;
    }
    server.stop.cancel();
    server.ended.await.unwrap();
    assert_eq!(runs(server.dir.path()).len(), 1);
    let records = records(server.dir.path());
    assert_eq!(records.last().unwrap().event, AuditEvent::Closed);
}

#[tokio::test]
async fn a_forged_forwarded_address_is_not_on_record() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let client = names
        .client("ci")
        .with("x-forwarded-for", "6.6.6.6, 192.0.2.7");
    for (trusted, expected) in [("10.0.0.0/8", "127.0.0.1"), ("127.0.0.1", "192.0.2.7")] {
        let setup = Setup::editor(&wiki).with("WIKI_SERVE_TRUSTED_PROXIES", trusted);
        let server = setup.naming(&names).host().await;
        let arguments = json!({ "id": id_of(&wiki, "home"), "title": "T" });
        server.call(&client, UPDATE, arguments).await.unwrap();
        let record = server.records().pop().unwrap().client.unwrap();
        assert_eq!(record.subject.as_deref(), Some("ci"));
        assert_eq!(record.address.as_deref(), Some(expected));
    }
}

#[tokio::test]
async fn no_token_or_key_is_in_a_log_at_its_most_talkative_nor_in_an_answer() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let dir = TempDir::new().unwrap();
    let client = names.client("ci");
    let mut child = Process::new(env!("CARGO_BIN_EXE_wikijs-gate"))
        .args(["serve", "--http", "127.0.0.1:0"])
        .env_clear()
        .envs([
            ("WIKI_BASE_URL", wiki.address().as_str()),
            ("WIKI_API_TOKEN", &wiki.keys().readonly),
            ("WIKI_AUDIT_DIR", dir.path().to_str().unwrap()),
            ("WIKI_SERVE_TOKENS_FILE", names.path().to_str().unwrap()),
            ("WIKI_SERVE_CALLER_KEYS", "true"),
            ("WIKI_LOG", "trace"),
            ("WIKI_LOG_FORMAT", "json"),
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut log = String::new();
    let address = loop {
        let mut line = String::new();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "{log}");
        log.push_str(&line);
        let told: Value = serde_json::from_str(&line).unwrap();
        if let Some(address) = told["fields"]["address"].as_str() {
            break address.parse().unwrap();
        }
    };
    let wrong = "Bearer wjs_plantedplantedplanted";
    let server = Remote(address);
    let caller = client.clone().with("x-wiki-api-token", &wiki.keys().editor);
    let good = server.post(&caller).await;
    assert!(good.contains("200 OK"), "{good}");
    let stranger = caller.clone().with("authorization", wrong);
    let refused = server.post(&stranger).await;
    assert!(refused.contains("401 "), "{refused}");
    let ended = Process::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(ended.unwrap().success());
    stderr.read_to_string(&mut log).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), &*output.stdout),
        (Some(143), &b""[..])
    );
    assert!(log.contains("\"id\":") && log.contains(TREE), "{log}");
    let token = client.headers[0].1.trim_start_matches("Bearer ").to_owned();
    let keys = wiki.keys();
    for secret in [&*token, "planted", &keys.editor, &keys.readonly] {
        for text in [&log, &good, &refused] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}

/// A server in another process.
struct Remote(std::net::SocketAddr);

impl Remote {
    async fn post(&self, caller: &Caller) -> String {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let body = call(TREE, json!({})).to_string();
        let mut request = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n",
            body.len()
        );
        for (name, value) in speaking(caller).headers {
            write!(request, "{name}: {value}\r\n").unwrap();
        }
        let mut stream = tokio::net::TcpStream::connect(self.0).await.unwrap();
        stream
            .write_all(format!("{request}\r\n{body}").as_bytes())
            .await
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let names = Names::new();
    let path = names.path();
    let token = |arguments: &[&str]| {
        let arguments = [&["token"], arguments].concat();
        Command::new(&arguments)
            .with("WIKI_SERVE_TOKENS_FILE", path.to_str().unwrap())
            .with("WIKI_AUDIT_DIR", names.dir.path().to_str().unwrap())
            .run()
    };
    let bounds = ["--prefixes", "docs/x", "--expires", "2h", "--rate", "30"];
    let made = token(&[&["new", "ci"][..], &bounds, &["--confirm", "person"]].concat());
    assert_eq!(made.code, 0, "{}", made.stderr);
    let secret = made.stdout.trim();
    assert!(secret.starts_with("wjs_") && secret.len() == 47, "{secret}");
    assert!(!fs::read_to_string(&path).unwrap().contains(secret));
    let listed = token(&["list"]);
    assert!(!listed.told.contains(secret));
    let part = "writes below docs/x, a person confirms, 30 a minute";
    says(&listed.stdout, part);
    // A time for people, whatever is in the file.
    says(&made.stderr, "\nIt expires in 2 hours, at ");
    says(&listed.stdout, "  in 2 hours, 20");
    let listed = token(&["list", "--json"]).json();
    listed["clients"][0].shows(json!({ "name": "ci", "expired": false }));
    assert_eq!(listed["clients"][0]["id"].as_str().unwrap().len(), 16);
    let made = token(&["new", "json", "--json"]).json();
    let again = token(&["list", "--json"]).json();
    assert_eq!(again["clients"][1]["id"], made["id"]);
    assert!(!listed.to_string().contains("sha256"));
    for (arguments, code) in [
        (vec!["new", "ci"], 1),
        (vec!["new", "a b"], 2),
        (vec!["new", "x", "--tools", "made_up"], 2),
        (vec!["new", "x", "--confirm", "preview"], 2),
        (vec!["new", "x", "--expires", "2020-01-01"], 2),
        (vec!["new", "x", "--expires", "soon"], 2),
        (
            vec!["new", "x", "--expires", "9999-12-31T23:59:59-12:00"],
            2,
        ),
        (vec!["new", "x", "--prefixes", "../a"], 2),
        (vec!["new", "x", "--rate", "0"], 2),
        (vec!["new", "x", "--expires", "Never"], 2),
        (vec!["revoke", "x"], 1),
        (vec!["revoke", "ci"], 0),
    ] {
        assert_eq!(token(&arguments).code, code, "{arguments:?}");
    }
    let missing = Command::new(&["token", "list"]).run().exits(2);
    missing.warns("WIKI_SERVE_TOKENS_FILE");
}

#[test]
fn what_of_a_grant_can_have_no_effect_is_said_when_it_is_made() {
    let names = Names::new();
    let path = names.path();
    let vain = |prefixes: &str, rate: &str| {
        let name = format!("{prefixes}-{rate}");
        let bounds = ["--prefixes", prefixes, "--rate", rate, "--expires", "never"];
        let made = Command::new(&[&["token", "new", &*name], &bounds[..]].concat())
            .with("WIKI_SERVE_TOKENS_FILE", path.to_str().unwrap())
            .with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs,en:team")
            .run()
            .good();
        let kept = "Keep this token: it is not shown again.\n";
        made.stderr.replace(kept, "")
    };
    assert_eq!(vain("docs", "600"), "");
    assert_eq!(vain("team", "1"), "");
    let expected = "--rate: WIKI_SERVE_RATE allows 600 a minute, which stays so\n\
         --prefixes: other lies outside WIKI_ALLOWED_MUTATION_PATH_PREFIXES; nothing can be written there\n";
    assert_eq!(vain("other", "99999"), expected);
    let new = |arguments: &[&str]| {
        Command::new(&[&["token", "new"], arguments].concat())
            .with("WIKI_SERVE_TOKENS_FILE", path.to_str().unwrap())
            .run()
    };
    // What is believed closed must not silently be open.
    let made = new(&["hr", "--denied-read-prefixes", "en/hr"]).good();
    says(
        &made.stderr,
        "--denied-read-prefixes has en/hr, which begins like a locale",
    );
    let made = new(&["far", "--sites", "nope"]).good();
    says(&made.stderr, "--sites: the settings file has no site nope");
    let listed = Command::new(&["token", "list"])
        .with("WIKI_SERVE_TOKENS_FILE", path.to_str().unwrap())
        .with("WIKI_AUDIT_DIR", path.parent().unwrap().to_str().unwrap())
        .run();
    says(&listed.good().stdout, "sees nope");
    let unknown = Command::new(&["token", "revoke", "nobody"])
        .with("WIKI_SERVE_TOKENS_FILE", path.to_str().unwrap())
        .with("WIKI_AUDIT_DIR", path.parent().unwrap().to_str().unwrap())
        .run();
    unknown.exits(1).warns("`wikijs-gate token list` has all");
    // Sessions over standard input and output are on record under that name.
    says(&new(&["stdio"]).exits(2).stderr, "choose another name");
}
