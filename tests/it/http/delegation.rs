//! Delegation: a client hands on a part of its rights for a task, and never more than it has.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use wikijs_gate::server::http::{DelegateRecord, HttpLimits, KeptDelegates};

use crate::http::hosted::{call, rewrite, speaking};
use crate::prelude::*;
use crate::review::{Browser, reviewer};

const ALL: &str = "pages,undo,proposals,drafts,delegate";

async fn wiki() -> DemoWiki {
    wiki_of(&[
        ("home", "# Home\n"),
        ("docs/alpha", "# Alpha\n"),
        ("docs/beta", "# Beta\n"),
        ("hr/pay", "# Pay\n"),
    ])
    .await
}

fn serving(wiki: &DemoWiki, names: &Names) -> Setup {
    Setup::editor(wiki).toolsets(ALL).naming(names)
}

/// A wiki, the file of clients of its server, the server, and a client who may delegate.
async fn family() -> (DemoWiki, Names, Hosted, Caller) {
    let (wiki, names) = (wiki().await, Names::new());
    let maker = names.client("ci");
    let server = serving(&wiki, &names).host().await;
    (wiki, names, server, maker)
}

fn agent(answer: &Value) -> Caller {
    let token = answer["token"].as_str().unwrap();
    Caller::default().with("authorization", &format!("Bearer {token}"))
}

/// The delegates of a server's store.
fn kept(server: &Hosted) -> Vec<Arc<DelegateRecord>> {
    let (all, faults) = KeptDelegates::new(&server.dir.path().into()).all().unwrap();
    assert_eq!(faults, []);
    all
}

/// The document of a delegate.
fn path(server: &Hosted, made: &Value) -> PathBuf {
    let mut documents = fs::read_dir(server.dir.path().join("delegates")).unwrap();
    let name = made["delegate"].as_str().unwrap();
    let (_, own) = name.split_once('/').unwrap();
    let is_its = |path: &PathBuf| fs::read_to_string(path).unwrap().contains(own);
    documents
        .find_map(|it| Some(it.unwrap().path()).filter(is_its))
        .unwrap()
}

impl Hosted {
    async fn delegate(&self, maker: &Caller, arguments: Value) -> Value {
        self.call(maker, DELEGATE, arguments).await.unwrap()
    }

    async fn status(&self, caller: &Caller) -> u16 {
        let arguments = json!({ "path": "home" });
        self.post(caller, &call(BY_PATH, arguments)).await.status
    }
}

fn reason(refused: &Result<Value, Value>) -> &str {
    let error = refused.as_ref().unwrap_err();
    assert_eq!(error["code"], "DELEGATION_DENIED", "{error}");
    error["details"]["reason"].as_str().unwrap()
}

/// Waits as long as this is so.
async fn while_so(is_so: impl Fn() -> bool) {
    let look = async {
        while is_so() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let limit = Duration::from_secs(20);
    tokio::time::timeout(limit, look).await.unwrap();
}

/// Waits until the end of these delegates is settled, so that their documents are gone.
async fn settled(server: &Hosted, ended: &[&Value]) {
    let is_there = |one: &Arc<DelegateRecord>| ended.iter().any(|it| it["delegate"] == one.name());
    while_so(|| kept(server).iter().any(is_there)).await;
}

/// The records of ends, once there are so many: the reason of each, with the delegate's name.
async fn ends(server: &Hosted, count: usize) -> Vec<(String, String)> {
    let ended = || {
        let ended = server.records().into_iter().filter(|one| {
            one.event == AuditEvent::Delegation && one.decision.as_deref() == Some("ended")
        });
        vec_of(ended.map(|one| (one.client.unwrap().subject.unwrap(), one.reason.unwrap())))
    };
    while_so(|| ended().len() < count).await;
    ended()
}

/// Lets the time of a delegate be up.
fn expire(server: &Hosted, made: &Value) {
    rewrite(&path(server, made), |one| {
        one["client"]["may"]["expires"] = json!("2020-01-01T01:00:00Z");
    });
}

#[tokio::test]
async fn a_delegate_without_writes_reads_below_its_prefixes_and_does_nothing_else() {
    let (_wiki, _names, server, maker) = family().await;
    let wanted = json!({ "task": "look at the docs", "prefixes": ["docs"] });
    let made = server.delegate(&maker, wanted).await;
    begins(&made["delegate"], "ci/delegate-");
    let agent = agent(&made);
    let pages = [SEARCH, LIST, BY_PATH, BY_ID, TREE, HISTORY, TAGS];
    let sets = ["wikijs_list_bin", LIST_PROPOSALS, GET_PROPOSAL, CHANGE_SET];
    assert_eq!(server.tools(&agent).await, [&pages[..], &sets].concat());
    let (within, outside) = (json!({ "path": "docs/alpha" }), json!({ "path": "home" }));
    server.ok(&agent, BY_PATH, within).await;
    server
        .fails(&agent, BY_PATH, outside, "PAGE_NOT_FOUND")
        .await;
    // The token is kept nowhere.
    let token = made["token"].as_str().unwrap();
    let kept = fs::read_to_string(path(&server, &made)).unwrap();
    assert!(!kept.contains(token) && !kept.contains(token.get(4..).unwrap()));
}

#[tokio::test]
async fn a_writer_leaves_its_writes_open_and_they_are_its_own() {
    let (_wiki, _names, server, maker) = family().await;
    let wanted = json!({ "task": "write docs/new", "writes": 20, "prefixes": ["docs"] });
    let made = server.delegate(&maker, wanted).await;
    let agent = agent(&made);
    let written = server
        .call(&agent, CREATE, new_page("docs/new"))
        .await
        .unwrap();
    assert_eq!(written["preview"], true, "{written}");
    let proposal = written["proposal"].as_str().unwrap();
    server
        .fails(&agent, CREATE, new_page("new"), "PATH_NOT_ALLOWED")
        .await;
    let end = json!({ "delegate": made["delegate"] });
    let did = server.call(&maker, END, end).await.unwrap();
    assert_eq!(did["writesUsed"], 1, "{did}");
    // Its set waits on, and its maker sees it.
    let open = server.call(&maker, LIST_PROPOSALS, json!({}));
    assert_eq!(open.await.unwrap()["proposals"][0]["id"], proposal);
    assert_eq!(server.status(&agent).await, 401);
    let told: Vec<_> = server
        .records()
        .into_iter()
        .filter(|record| record.event == AuditEvent::Delegation)
        .map(|record| record.decision.unwrap())
        .collect();
    assert_eq!(told, ["made", "ended"]);
}

#[tokio::test]
async fn a_delegate_proposes_within_its_grant_alone_and_its_maker_may_withdraw_that() {
    let (wiki, names, server, maker) = family().await;
    let other = names.client("other");
    let wanted = json!({ "task": "t", "writes": 1, "sends": true, "prefixes": ["docs"] });
    let agent = agent(&server.delegate(&maker, wanted).await);
    let proposes = |path: &str| {
        let mut arguments = new_page(path);
        arguments["propose"] = json!(true);
        arguments
    };
    server
        .fails(&agent, CREATE, proposes("new"), "PATH_NOT_ALLOWED")
        .await;
    let own = server.ok(&agent, CREATE, proposes("docs/new")).await["proposal"].clone();
    server
        .fails(&agent, CREATE, proposes("docs/more"), "DELEGATION_DENIED")
        .await;
    let makers = server.ok(&maker, CREATE, proposes("new")).await["proposal"].clone();
    for (caller, id) in [(&agent, &makers), (&other, &own), (&other, &makers)] {
        let set = json!({ "id": id });
        server.fails(caller, WITHDRAW, set, "INVALID_INPUT").await;
    }
    for id in [own, makers] {
        let withdrawn = server.ok(&maker, WITHDRAW, json!({ "id": id })).await;
        withdrawn.shows(json!({ "state": "withdrawn", "withdrawnBy": "ci" }));
    }
    assert!(mutations(&wiki).is_empty());
}

#[tokio::test]
async fn the_tools_stay_within_their_budget_and_are_there_for_named_clients_alone() {
    let (wiki, names, server, maker) = family().await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let listed = server.post(&maker, &list).await.message();
    for name in [DELEGATE, END] {
        let tools = listed["result"]["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let bytes = tool.to_string().len();
        assert!(bytes <= 850, "{name} has {bytes} bytes: {tool}");
        assert_eq!(tool["annotations"]["readOnlyHint"], false);
        assert!(!tool.to_string().contains("oneOf"), "{tool}");
    }
    // Without names over HTTP they are not there.
    let nobody = Setup::editor(&wiki).toolsets(ALL);
    let open = nobody.host().await;
    let tools = open.tools(&Caller::default()).await;
    lacks(&tools.join(" "), "deleg");
    // Nor where each caller brings a key of its own, which a delegate would need.
    let setup = serving(&wiki, &names).with("WIKI_SERVE_CALLER_KEYS", "true");
    let keyed = setup.host().await;
    let caller = maker.with("x-wiki-api-token", &wiki.keys().editor);
    let tools = keyed.tools(&caller).await;
    lacks(&tools.join(" "), "deleg");
}

#[tokio::test]
async fn a_delegate_does_not_delegate_and_has_no_other_clients_delegates() {
    let (_wiki, names, server, maker) = family().await;
    let other = names.client("other");
    let wanted = json!({ "task": "t", "writes": 20 });
    let made = server.delegate(&maker, wanted).await;
    let delegate = agent(&made);
    let tools = server.tools(&delegate).await;
    lacks(&tools.join(" "), "deleg");
    let again = json!({ "task": "t" });
    let answer = server.post(&delegate, &call(DELEGATE, again)).await;
    let message = answer.message();
    begins(&message["error"]["message"], "unknown tool");
    // A tool of delegation cannot be handed on by name either.
    for writes in [0, 1] {
        let wanted = json!({ "task": "t", "writes": writes, "tools": [DELEGATE] });
        let refused = server.call(&maker, DELEGATE, wanted).await.unwrap_err();
        assert_eq!(refused["code"], "INVALID_INPUT", "{refused}");
    }
    let end = json!({ "delegate": made["delegate"] });
    server.fails(&other, END, end, "INVALID_INPUT").await;
    assert_eq!(server.status(&delegate).await, 200);
    // No page lies below what begins like a locale: its delegate could do nothing.
    let nowhere = json!({ "task": "t", "prefixes": ["/en/docs"] });
    let refused = server
        .fails(&maker, DELEGATE, nowhere, "INVALID_INPUT")
        .await;
    says(&refused["message"], "as in en:docs");
}

#[tokio::test]
async fn nothing_beyond_the_maker_is_handed_on() {
    let (wiki, names) = (wiki().await, Names::new());
    let maker = names.granted("ci", |may| {
        may.prefixes = some(["docs"]);
        may.read_prefixes = some(["docs", "home"]);
        may.tools = some([BY_PATH, CREATE, DELEGATE, END]);
    });
    let reader = names.granted("reader", |may| may.read_only = true);
    let proposer = names.granted("proposer", |may| may.dry_run = true);
    let server = serving(&wiki, &names).host().await;
    for (field, more) in [
        ("prefixes", json!({ "writes": 1, "prefixes": ["hr"] })),
        ("prefixes", json!({ "writes": 1, "prefixes": ["home"] })),
        ("prefixes", json!({ "prefixes": ["hr"] })),
        ("prefixes", json!({ "prefixes": ["a//b"] })),
        ("tools", json!({ "writes": 1, "tools": [DELETE] })),
        ("tools", json!({ "tools": ["wikijs_made_up"] })),
        ("writes", json!({ "tools": [CREATE] })),
        ("minutes", json!({ "minutes": 1441 })),
        ("minutes", json!({ "minutes": 0 })),
        ("task", json!({ "task": "two\nlines" })),
        ("task", json!({ "task": " " })),
    ] {
        let mut wanted = json!({ "task": "t" });
        let own = more.as_object().unwrap().clone();
        wanted.as_object_mut().unwrap().extend(own);
        let refused = server
            .fails(&maker, DELEGATE, wanted, "INVALID_INPUT")
            .await;
        assert_eq!(refused["details"]["fields"][0]["path"], field, "{more}");
        let (told, twice) = (refused["message"].to_string(), format!("{field} {field}"));
        assert!(!told.contains(&twice), "{told}");
    }
    let writer = json!({ "task": "t", "writes": 1 });
    let refused = server.call(&reader, DELEGATE, writer).await;
    assert_eq!(reason(&refused), "no_tools");
    server.ok(&reader, DELEGATE, json!({ "task": "t" })).await;
    // Whoever only proposes has a delegate that only proposes.
    let sends = json!({ "task": "t", "writes": 1, "sends": true });
    let made = server.delegate(&proposer, sends).await;
    let open = server
        .call(&agent(&made), CREATE, new_page("docs/new"))
        .await;
    assert!(open.unwrap().get("proposal").is_some());
    // A wider prefix than the maker's is what the maker has of it.
    let all = json!({ "task": "t", "writes": 1, "tools": [CREATE, BY_PATH], "prefixes": ["docs", "docs/alpha", "hr"] });
    let made = server.delegate(&maker, all).await;
    made.shows(json!({ "prefixes": ["docs"], "tools": [BY_PATH, CREATE] }));
    // None of the refused ones is there.
    assert_eq!(kept(&server).len(), 3);
}

#[tokio::test]
async fn a_maker_that_loses_rights_takes_them_from_its_delegates_at_once() {
    let (_wiki, names, server, maker) = family().await;
    let wanted = json!({ "task": "t", "sends": true, "writes": 9 });
    let delegate = agent(&server.delegate(&maker, wanted).await);
    let session = server.open(&delegate).await;
    let pay = json!({ "path": "hr/pay" });
    server.ok(&session, BY_PATH, pay.clone()).await;
    let narrow = |member: &str, value: Value| {
        rewrite(&names.path(), |line| line["may"][member] = value.clone());
    };
    narrow("readPrefixes", json!(["docs", "new"]));
    server.fails(&session, BY_PATH, pay, "PAGE_NOT_FOUND").await;
    let shown = server.ok(&session, CREATE, new_page("new/one")).await;
    assert!(shown.get("confirm").is_some(), "{shown}");
    // A preview that it was shown counts no more than its maker's rights do now.
    narrow("prefixes", json!(["docs"]));
    let mut confirmed = new_page("new/one");
    confirmed["confirm"] = shown["confirm"].clone();
    let refused = server.call(&session, CREATE, confirmed).await.unwrap_err();
    assert_eq!(refused["code"], "PATH_NOT_ALLOWED", "{refused}");
    narrow("dryRun", json!(true));
    let open = server.ok(&session, CREATE, new_page("docs/two")).await;
    assert!(open.get("proposal").is_some(), "{open}");
    narrow("readOnly", json!(true));
    let tools = server.tools(&session).await;
    assert!(!tools.contains(&CREATE.to_owned()), "{tools:?}");
    narrow("tools", json!([TAGS]));
    assert_eq!(server.tools(&session).await, [TAGS]);
    // What the maker gets back the delegate has again, and no more than it was given.
    narrow("tools", json!([BY_PATH, DELEGATE]));
    assert_eq!(server.tools(&session).await, [BY_PATH]);
}

#[tokio::test]
async fn a_delegate_ends_with_its_maker_with_its_makers_token_and_by_the_operator() {
    let (wiki, names) = (wiki().await, Names::new());
    let [one, other, third] = ["one", "other", "third"].map(|name| names.client(name));
    let server = serving(&wiki, &names).host().await;
    let wanted = json!({ "task": "t" });
    let first = server.delegate(&one, wanted.clone()).await;
    let second = server.delegate(&other, wanted.clone()).await;
    let last = server.delegate(&third, wanted).await;
    names.file().remove("one").unwrap();
    assert_eq!(server.status(&agent(&first)).await, 401);
    assert_eq!(server.status(&agent(&second)).await, 200);
    // Whoever holds a leaked token loses what they made with it.
    let token = |arguments: &[&str]| {
        let ended = Command::new(&[&["token"], arguments].concat())
            .with("WIKI_SERVE_TOKENS_FILE", names.path().to_str().unwrap())
            .with("WIKI_AUDIT_DIR", server.dir.path().to_str().unwrap())
            .run();
        assert_eq!(ended.code, 0, "{}", ended.told);
    };
    token(&["rotate", "other", "--keep-old", "1h"]);
    assert_eq!(server.status(&agent(&second)).await, 200);
    token(&["rotate", "other", "--keep-old", "0"]);
    assert_eq!(server.status(&agent(&second)).await, 401);
    let name = last["delegate"].as_str().unwrap();
    token(&["revoke", name]);
    assert_eq!(server.status(&agent(&last)).await, 401);
    assert_eq!(server.status(&third).await, 200);
    settled(&server, &[&last]).await;
    let told = [(name.to_owned(), "revoked by the operator".to_owned())];
    assert_eq!(ends(&server, 1).await, told);
}

#[tokio::test]
async fn six_at_once_are_too_many_and_an_ended_one_makes_room() {
    let (wiki, names, server, maker) = family().await;
    let wanted = json!({ "task": "t" });
    // At the same time, on two servers of one store.
    let other = serving(&wiki, &names).in_dir(&server.dir).host().await;
    let both = [
        &server, &other, &server, &other, &server, &other, &server, &other,
    ];
    let made = both.map(|server| server.call(&maker, DELEGATE, wanted.clone()));
    let made = futures_util::future::join_all(made).await;
    let (made, refused): (Vec<_>, Vec<_>) = made.into_iter().partition(Result::is_ok);
    assert_eq!((made.len(), refused.len()), (5, 3));
    for refused in &refused {
        assert_eq!(reason(refused), "too_many");
    }
    let first = made[0].as_ref().unwrap();
    let end = json!({ "delegate": first["delegate"] });
    other.ok(&maker, END, end.clone()).await;
    // Ended by one server, it calls no other, and is no delegate any more.
    assert_eq!(server.status(&agent(first)).await, 401);
    server.fails(&maker, END, end, "INVALID_INPUT").await;
    server.ok(&maker, DELEGATE, wanted.clone()).await;
    assert!(server.call(&maker, DELEGATE, wanted).await.is_err());
}

#[tokio::test]
async fn delegates_outlive_a_server_and_are_known_to_every_server_of_the_store() {
    let (wiki, names, server, maker) = family().await;
    // A server that looks at its files once an hour otherwise.
    let slow = serving(&wiki, &names)
        .in_dir(&server.dir)
        .host_within(HttpLimits {
            fresh: Duration::from_hours(1),
            ..LIMITS()
        })
        .await;
    let wanted = json!({ "task": "t", "writes": 2 });
    let made = server.delegate(&maker, wanted).await;
    let delegate = agent(&made);
    assert_eq!(slow.status(&delegate).await, 200);
    for (server, path) in [(&server, "docs/one"), (&slow, "docs/two")] {
        let open = server
            .call(&delegate, CREATE, new_page(path))
            .await
            .unwrap();
        assert!(open.get("proposal").is_some(), "{open}");
    }
    server.stop.cancel();
    server.ended.await.unwrap();
    let again = serving(&wiki, &names).in_dir(&server.dir).host().await;
    assert_eq!(again.status(&delegate).await, 200);
    // One store's delegates are nobody's at another.
    let elsewhere = serving(&wiki, &names).host().await;
    assert_eq!(elsewhere.status(&delegate).await, 401);
    // What it made before counts.
    for server in [&slow, &again] {
        let refused = server.call(&delegate, CREATE, new_page("docs/three")).await;
        assert_eq!(reason(&refused), "writes");
    }
    names.file().remove("ci").unwrap();
    assert_eq!(slow.status(&delegate).await, 401);
    assert_eq!(again.status(&delegate).await, 401);
}

#[tokio::test]
async fn a_server_of_another_wiki_on_the_store_neither_takes_a_delegate_nor_ends_it() {
    let (wiki_of_it, other, names) = (wiki().await, wiki().await, Names::new());
    let maker = names.client("ci");
    let server = serving(&wiki_of_it, &names).host().await;
    let elsewhere = serving(&other, &names).in_dir(&server.dir).host().await;
    let wanted = json!({ "task": "t" });
    let made = server.delegate(&maker, wanted.clone()).await;
    let delegate = agent(&made);
    assert_eq!(server.status(&delegate).await, 200);
    assert_eq!(elsewhere.status(&delegate).await, 401);
    let end = json!({ "delegate": made["delegate"] });
    elsewhere.fails(&maker, END, end, "INVALID_INPUT").await;
    server.stop.cancel();
    server.ended.await.unwrap();
    expire(&elsewhere, &made);
    // With the second one, the look that saw the first is over.
    for _ in 0..2 {
        let own = elsewhere.delegate(&maker, wanted.clone()).await;
        expire(&elsewhere, &own);
        settled(&elsewhere, &[&own]).await;
    }
    let left: Vec<_> = kept(&elsewhere).iter().map(|one| one.name()).collect();
    assert_eq!(left, [made["delegate"].as_str().unwrap()]);
    let again = serving(&wiki_of_it, &names).in_dir(&elsewhere.dir);
    let again = again.host().await;
    settled(&again, &[&made]).await;
}

#[tokio::test]
async fn a_delegate_whose_time_is_up_is_refused_and_its_end_goes_on_record_once() {
    let (_wiki, _names, server, maker) = family().await;
    let wanted = json!({ "task": "t", "minutes": 5 });
    let made = server.delegate(&maker, wanted.clone()).await;
    let later = server.delegate(&maker, wanted).await;
    let session = server.open(&agent(&made)).await;
    assert_eq!(server.status(&session).await, 200);
    expire(&server, &made);
    assert_eq!(server.status(&session).await, 401);
    settled(&server, &[&made]).await;
    let name = made["delegate"].as_str().unwrap().to_owned();
    let expected = [(name, "its time was up".to_owned())];
    assert_eq!(ends(&server, 1).await, expected);
    assert_eq!(server.status(&agent(&later)).await, 200);
}

#[tokio::test]
async fn an_end_that_cannot_be_put_on_record_is_put_there_by_the_next_server() {
    let (wiki, names, server, maker) = family().await;
    let made = server.delegate(&maker, json!({ "task": "t" })).await;
    let file = path(&server, &made);
    // Somebody takes the run's file away.
    for run in runs(server.dir.path()) {
        fs::remove_file(run).unwrap();
    }
    expire(&server, &made);
    let goes_on = || fs::read_to_string(&file).is_ok_and(|text| !text.contains("\"ended\""));
    while_so(goes_on).await;
    assert_eq!(server.status(&agent(&made)).await, 401);
    server.stop.cancel();
    server.ended.await.unwrap();
    let again = serving(&wiki, &names).in_dir(&server.dir).host().await;
    settled(&again, &[&made]).await;
    let name = made["delegate"].as_str().unwrap().to_owned();
    let expected = [(name, "its time was up".to_owned())];
    assert_eq!(ends(&again, 1).await, expected);
}

/// As a server leaves it that is killed between the record and the removal.
#[tokio::test]
async fn an_end_that_is_on_record_already_is_not_put_there_again() {
    let (_wiki, _names, server, maker) = family().await;
    let made = server.delegate(&maker, json!({ "task": "t" })).await;
    let file = path(&server, &made);
    let mut document: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let end = json!({ "delegate": made["delegate"] });
    server.call(&maker, END, end).await.unwrap();
    assert!(!file.exists());
    let records = server.records();
    let record = records
        .iter()
        .rfind(|it| it.event == AuditEvent::Delegation);
    document["ended"] = json!("ended");
    document["endCall"] = json!(record.unwrap().call.unwrap());
    fs::write(&file, document.to_string()).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    settled(&server, &[&made]).await;
    assert_eq!(ends(&server, 1).await.len(), 1);
}

#[tokio::test]
async fn what_a_delegate_remembered_goes_to_its_maker() {
    let (wiki, names) = (wiki().await, Names::new());
    let maker = names.client("ci");
    let setup = serving(&wiki, &names).toolsets("pages,memory,delegate");
    let server = setup.host().await;
    let remembering = async |name: &str| {
        let wanted = json!({ "task": "t", "writes": 20 });
        let made = server.delegate(&maker, wanted).await;
        for importance in [3, 7] {
            let content = format!("{name} {importance}");
            let memory = json!({ "content": content, "importance": importance });
            let told = server.call(&agent(&made), REMEMBER, memory).await;
            assert_eq!(told.unwrap()["state"], "remembered");
        }
        made
    };
    let recalled = async || {
        let told = server.call(&maker, RECALL, json!({})).await;
        let told = told.unwrap();
        let all = told["memories"].as_array().unwrap().iter();
        let mut all = vec_of(all.map(|one| one["content"].as_str().unwrap().to_owned()));
        all.sort();
        all
    };
    let usual = remembering("usual").await;
    assert_eq!(recalled().await, [""; 0]);
    let end = json!({ "delegate": usual["delegate"] });
    let told = server.call(&maker, END, end).await.unwrap();
    assert_eq!(told["memories"], 2);
    assert_eq!(recalled().await, ["usual 3", "usual 7"]);
    // One whose time is up ends the same way.
    let late = remembering("late").await;
    expire(&server, &late);
    settled(&server, &[&late]).await;
    assert_eq!(recalled().await, ["late 3", "late 7", "usual 3", "usual 7"]);
    let handed: Vec<Record> = server
        .records()
        .into_iter()
        .filter(|record| record.decision.as_deref() == Some("handed_over"))
        .collect();
    assert_eq!(handed.len(), 2, "{handed:#?}");
    let told = serde_json::to_string(&handed).unwrap();
    assert!(!told.contains("usual 7") && told.contains("sha256"));
}

#[tokio::test]
async fn a_family_counts_as_one_client() {
    let (wiki, names) = (wiki().await, Names::new());
    let maker = names.granted("ci", |may| may.rate = Some(6));
    let other = names.client("other");
    let rules = "[[rules]]\nname = \"busy\"\nthen = \"deny\"\nwrites_per_day_over = 0\nclients = [\"CI\"]\n";
    let server = serving(&wiki, &names).with_tables(rules).host().await;
    let wanted = json!({ "task": "t", "writes": 20, "sends": true });
    let delegate = agent(&server.delegate(&maker, wanted.clone()).await);
    let sibling = agent(&server.delegate(&maker, wanted).await);
    let mut new = new_page("docs/one");
    new["confirm"] = server.call(&delegate, CREATE, new.clone()).await.unwrap()["confirm"].clone();
    let applied = server.call(&delegate, CREATE, new).await.unwrap();
    assert_eq!(applied["outcome"], "applied", "{applied}");
    // The write of one is the write of all, and the rule that names the maker holds for each.
    for caller in [&sibling, &maker] {
        let denied = server.call(caller, CREATE, new_page("docs/two")).await;
        assert_eq!(denied.unwrap_err()["details"]["rule"], "busy");
    }
    server.ok(&other, CREATE, new_page("docs/two")).await;
    // Six requests of the family have come.
    for caller in [&maker, &delegate, &sibling] {
        assert_eq!(server.status(caller).await, 429);
    }
    assert_eq!(server.status(&other).await, 200);
    // On record each stands for itself, and for its maker.
    let write = server
        .records()
        .into_iter()
        .find(|one| one.event == AuditEvent::Attempt);
    let client = write.unwrap().client.unwrap();
    let maker_is = names.file().read().unwrap()[0].id;
    assert_eq!(client.parent, Some(maker_is));
    assert!(client.subject.unwrap().starts_with("ci/delegate-"));
}

#[tokio::test]
async fn a_maker_takes_back_what_its_delegate_wrote_and_no_delegate_anothers() {
    let (_wiki, _names, server, maker) = family().await;
    let wanted = json!({ "task": "t", "writes": 20, "sends": true });
    let delegate = agent(&server.delegate(&maker, wanted.clone()).await);
    let sibling = agent(&server.delegate(&maker, wanted).await);
    let confirmed = async |caller: &Caller, tool: &str, mut arguments: Value| {
        let shown = server.call(caller, tool, arguments.clone()).await?;
        arguments["confirm"] = shown["confirm"].clone();
        server.call(caller, tool, arguments).await
    };
    let own = confirmed(&maker, CREATE, new_page("docs/own"))
        .await
        .unwrap();
    let its = confirmed(&delegate, CREATE, new_page("docs/its"))
        .await
        .unwrap();
    let undo = |answer: &Value| json!({ "callId": answer["callId"] });
    for (caller, call) in [(&delegate, &own), (&sibling, &own), (&sibling, &its)] {
        let refused = server.call(caller, UNDO, undo(call)).await.unwrap_err();
        assert_eq!(refused["code"], "NOTHING_TO_UNDO", "{refused}");
    }
    let back = confirmed(&maker, UNDO, undo(&its)).await.unwrap();
    assert_eq!(back["outcome"], "applied", "{back}");
    // Drafts are each one's own.
    let mut draft = new_page("docs/draft");
    draft["draft"] = json!("plan");
    server.call(&maker, CREATE, draft).await.unwrap();
    let drafts = server.call(&delegate, CHANGE_SET, json!({})).await;
    assert_eq!(drafts.unwrap()["drafts"], json!([]));
}

#[tokio::test]
async fn a_maker_that_is_revoked_while_its_delegate_writes_ends_the_write() {
    let (wiki, names, server, maker) = family().await;
    let wanted = json!({ "task": "t", "writes": 20, "sends": true });
    let delegate = agent(&server.delegate(&maker, wanted.clone()).await);
    let mut new = new_page("docs/one");
    new["confirm"] = server.call(&delegate, CREATE, new.clone()).await.unwrap()["confirm"].clone();
    let clients = fs::read_to_string(names.path()).unwrap();
    // The call is past the guard when the wiki is asked.
    let file = names.file();
    wiki.before_operation(0, move |_| file.remove("ci").unwrap());
    let refused = server.call(&delegate, CREATE, new).await;
    assert_eq!(reason(&refused), "ended");
    assert!(mutations(&wiki).is_empty());
    assert_eq!(server.status(&delegate).await, 401);

    // In the middle of a set: what was sent is taken back, of the maker's own as well.
    fs::write(names.path(), &clients).unwrap();
    let delegate = agent(&server.delegate(&maker, wanted).await);
    for writer in [&delegate, &maker] {
        fs::write(names.path(), &clients).unwrap();
        let bulk = json!({ "path": "docs", "addTags": ["seen"], "expectPages": 2 });
        let mut confirmed = bulk.clone();
        confirmed["confirm"] = server.call(writer, BULK, bulk).await.unwrap()["confirm"].clone();
        let file = names.file();
        wiki.before_next_mutation(move |_| file.remove("ci").unwrap());
        let stopped = server.call(writer, BULK, confirmed).await;
        let stopped = stopped.unwrap_err();
        assert_eq!(stopped["code"], "NOT_APPLIED", "{stopped}");
        let tags = wiki.with_store(|store| {
            let pages = store.pages();
            pages.flat_map(|page| page.tags.clone()).collect::<Vec<_>>()
        });
        assert!(tags.is_empty(), "{tags:?}");
    }
}

#[tokio::test]
async fn a_maker_that_is_revoked_by_command_ends_its_delegates() {
    let (_wiki, names, server, maker) = family().await;
    let other = names.client("other");
    for maker in [&maker, &other] {
        server.delegate(maker, json!({ "task": "t" })).await;
    }
    let revoked = server.command(&names, &["token", "revoke", "ci"]);
    revoked.good().await;
    let lasting = |one: &&Arc<DelegateRecord>| one.lasts(time::OffsetDateTime::now_utc());
    let kept = kept(&server);
    let left: Vec<_> = kept.iter().filter(lasting).map(|one| one.name()).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    begins(&json!(left[0]), "other/");
}

/// What differs between two runs, in the words of the documentation.
fn steady(text: &str) -> String {
    [
        (r"wjs_[\w-]{43}", "wjs_…"),
        (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "2026-11-24T10:00:00Z"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d( UTC)?", "2026-11-24 10:00"),
        (r"-[0-9a-f]{8}\b", "-1a2b3c4d"),
        (r"\b[0-9a-f]{16}\b", "1a2b3c4d5e6f7081"),
        (r"in \d+ (minutes|hours?|days?)", "in 59 minutes"),
        (r" +\n", "\n"),
        (r"(\S) {2,}(\S)", "$1  $2"),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (found, told)| {
        let found = regex::Regex::new(found).unwrap();
        found.replace_all(&text, told).into_owned()
    })
}

#[tokio::test]
async fn the_walk_of_the_documentation_is_what_the_program_answers() {
    let (wiki, names) = (wiki().await, Names::new());
    let maker = names.client("planner");
    let server = serving(&wiki, &names).host().await;
    let show = |marker: &str, kind: &str, text: &str| {
        let text = steady(text);
        let block = format!("```{kind}\n{}\n```\n", text.trim_end());
        generated("docs/delegation.md", marker, &block, str::to_owned);
    };
    let json = |value: &Value| serde_json::to_string_pretty(value).unwrap();
    let wanted = json!({ "task": "rewrite the page about alpha", "prefixes": ["docs"], "tools": [BY_PATH, CREATE, UPDATE], "writes": 3 });
    let made = server.delegate(&maker, wanted.clone()).await;
    show("wanted", "json", &json(&wanted));
    show("made", "json", &json(&made));
    let delegate = agent(&made);
    let update = json!({ "id": id_of(&wiki, "docs/alpha"), "content": "# Alpha\n\nNew.\n" });
    let open = server.call(&delegate, UPDATE, update).await.unwrap();
    let told = json!({ "preview": open["preview"], "proposal": open["proposal"] });
    show("proposed", "json", &json(&told));
    let status = async |caller: &Caller| {
        let read = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": "wikijs://status" } });
        let told = server.post(caller, &read).await.message();
        let text = told["result"]["contents"][0]["text"].as_str().unwrap();
        let status: Value = serde_json::from_str(text).unwrap();
        status["client"].clone()
    };
    show("status_of_maker", "json", &json(&status(&maker).await));
    show(
        "status_of_delegate",
        "json",
        &json(&status(&delegate).await),
    );
    let tokens = names.path();
    let run = async |arguments: &[&str]| {
        Command::new(arguments)
            .with("WIKI_SERVE_TOKENS_FILE", tokens.to_str().unwrap())
            .with("WIKI_AUDIT_DIR", server.dir.path().to_str().unwrap())
            .toolsets(ALL)
            .good()
            .await
    };
    let list = run(&["token", "list"]).await;
    show("list", "console", &list.told);
    let list = run(&["token", "list", "--json"]).await.json();
    assert_eq!(list["delegates"][0]["parent"], list["clients"][0]["id"]);
    let end = json!({ "delegate": made["delegate"] });
    let did = server.call(&maker, END, end).await.unwrap();
    show("ended", "json", &json(&did));
    let refused = server
        .post(&delegate, &call(BY_PATH, json!({ "path": "home" })))
        .await;
    assert_eq!(refused.status, 401);
    show("refused", "text", &refused.body);
    // The set of an ended delegate waits on, and people see whose it is.
    let proposals = server.ok(&maker, LIST_PROPOSALS, json!({})).await;
    assert_eq!(
        proposals["proposals"][0]["id"], open["proposal"],
        "{proposals}"
    );
}

/// Waits until a session over stdio is answered with this, or is told another reason than these.
async fn over_stdio(alone: &Served, wanted: &Value, passing: &[&str]) -> Result<Value, Value> {
    let answered = async {
        loop {
            let made = alone.call(DELEGATE, wanted.clone()).await;
            if made.is_ok() || !passing.contains(&reason(&made)) {
                return made;
            }
            tokio::task::yield_now().await;
        }
    };
    let limit = Duration::from_secs(20);
    tokio::time::timeout(limit, answered).await.unwrap()
}

#[tokio::test]
async fn a_session_over_stdio_delegates_where_a_server_with_its_settings_runs_on_its_store() {
    let (wiki, names) = (wiki().await, Names::new());
    let alone = Setup::editor(&wiki).toolsets(ALL).serve().await;
    let wanted = json!({ "task": "write", "prefixes": ["docs"], "writes": 1 });
    let refused = alone.call(DELEGATE, wanted.clone()).await;
    assert_eq!(reason(&refused), "no_server");
    let server = serving(&wiki, &names).in_dir(&alone.dir).host().await;
    let made = over_stdio(&alone, &wanted, &["no_server"]).await.unwrap();
    assert_eq!(made["server"], format!("http://{}/mcp", server.address));
    begins(&made["delegate"], "stdio/delegate-");
    let delegate = agent(&made);
    let home = json!({ "path": "home" });
    server
        .fails(&delegate, BY_PATH, home, "PAGE_NOT_FOUND")
        .await;
    let written = server.call(&delegate, CREATE, new_page("docs/new")).await;
    assert!(written.unwrap().get("proposal").is_some());
    let more = server.call(&delegate, CREATE, new_page("docs/more")).await;
    assert_eq!(reason(&more), "writes");
    lacks(&server.tools(&delegate).await.join(" "), "deleg");
    // It is listed with the others, and ended by its maker as by the operator.
    let token = |arguments: &[&str]| {
        let ended = Command::new(&[&["token"], arguments].concat())
            .with("WIKI_SERVE_TOKENS_FILE", names.path().to_str().unwrap())
            .with("WIKI_AUDIT_DIR", alone.dir.path().to_str().unwrap())
            .run();
        assert_eq!(ended.code, 0, "{}", ended.told);
        ended.stdout
    };
    let name = made["delegate"].as_str().unwrap();
    // Its maker is none of the clients above it.
    assert!(token(&["list"]).contains(&format!("\n{name} ")));
    let end = json!({ "delegate": name });
    let ended = alone.call(END, end).await.unwrap();
    ended.shows(json!({ "writesUsed": 1, "memories": 0 }));
    assert_eq!(server.status(&delegate).await, 401);
    let second = over_stdio(&alone, &wanted, &[]).await.unwrap();
    token(&["revoke", second["delegate"].as_str().unwrap()]);
    assert_eq!(server.status(&agent(&second)).await, 401);
    // A server where other settings hold gives a delegate nothing.
    let third = over_stdio(&alone, &wanted, &[]).await.unwrap();
    assert_eq!(server.status(&agent(&third)).await, 200);
    let other = serving(&wiki, &names)
        .in_dir(&alone.dir)
        .with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs,hr")
        .host()
        .await;
    let unbound = call(BY_PATH, json!({ "path": "home" }));
    let unbound = other.post(&agent(&third), &unbound).await;
    assert_eq!(unbound.status, 401);
    says(&unbound.body, "made over stdio under other settings");
    server.stop.cancel();
    server.ended.await.unwrap();
    let refused = over_stdio(&alone, &wanted, &["no_server"]).await;
    assert_eq!(reason(&refused), "other_settings");
    other.stop.cancel();
    other.ended.await.unwrap();
    let refused = alone.call(DELEGATE, wanted).await;
    assert_eq!(reason(&refused), "no_server");
}

/// A client that became a person does not decide on what it, or a delegate of it, asked for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_decides_on_a_set_of_their_own_family() {
    let (wiki, names) = (wiki().await, Names::new());
    let maker = names.client("anna");
    let server = serving(&wiki, &names).host().await;
    let wanted = json!({ "task": "t", "writes": 20 });
    let made = server.delegate(&maker, wanted).await;
    let open = server
        .call(&agent(&made), CREATE, new_page("docs/new"))
        .await;
    let set = open.unwrap()["proposal"].as_str().unwrap().to_owned();
    let line = fs::read_to_string(names.path()).unwrap();
    let line: Value = serde_json::from_str(line.trim()).unwrap();
    names.file().remove("anna").unwrap();
    let url = format!("http://{}", server.address);
    let new = ["token", "new", "anna", "--reviewer", "--url", &url];
    server.command(&names, &new).good().await;
    rewrite(&names.path(), |own| own["id"] = line["id"].clone());
    let another = ["token", "link", "anna", "--url", &url];
    let anna = server.command(&names, &another).good().await;
    let (mut own, path) = Browser::led(anna.stdout.trim()).await;
    own.sign_in(&path).await;
    let shown = own.open(&format!("/review/sets/{set}")).await;
    assert!(shown.text.contains("a delegate of anna"), "{}", shown.text);
    assert!(shown.text.contains("somebody else decides"));
    assert!(!shown.text.contains("id=\"decide\""), "{}", shown.text);
    let other = reviewer(&server, &names, &["ben", "--reviewer"]).await;
    // The form that another is shown is of no use to her.
    let form = other.open(&format!("/review/sets/{set}")).await;
    let (digest, token) = (form.hidden("digest"), shown.hidden("form_token"));
    for decision in ["apply", "reject"] {
        let form = [
            ("form_token", &*token),
            ("digest", &*digest),
            ("decision", decision),
            ("reason", "no"),
        ];
        let refused = own.send(&format!("/review/sets/{set}"), &form).await;
        assert_eq!(refused.status, 403, "{}", refused.text);
        assert!(refused.text.contains("somebody else decides"));
    }
    let done = other.decide(&set, "apply", &[]).await;
    assert_eq!(done.status, 303, "{}", done.text);
    assert!(mutations(&wiki).len() == 1);
}

#[tokio::test]
async fn doctor_says_where_no_delegate_is_let_in_and_where_nobody_is_offered_the_toolset() {
    let (wiki, names, server, maker) = family().await;
    let wanted = json!({ "task": "t" });
    let made = server.delegate(&maker, wanted).await;
    let doctor = async |more: &[(&str, &str)]| {
        let mut command = Command::new(&["doctor"])
            .at(&wiki.address(), &wiki.keys().editor, server.dir.path())
            .toolsets(ALL);
        for (name, value) in more {
            command = command.with(name, value);
        }
        command.end().await.told
    };
    let tokens = names.path();
    let file = [("WIKI_SERVE_TOKENS_FILE", tokens.to_str().unwrap())];
    let told = doctor(&file).await;
    let nobody = "the toolset delegate is on, but";
    assert!(!told.contains(nobody), "{told}");
    assert!(doctor(&[]).await.contains(nobody));
    let keyed = [file[0], ("WIKI_SERVE_CALLER_KEYS", "true")];
    assert!(doctor(&keyed).await.contains(nobody));
    fs::write(path(&server, &made), "nonsense\n").unwrap();
    says(&doctor(&file).await, "a delegate is not let in");
}

#[tokio::test]
async fn a_stream_of_a_delegate_ends_with_it() {
    let (_wiki, _names, server, maker) = family().await;
    let made = server.delegate(&maker, json!({ "task": "t" })).await;
    let session = server.open(&agent(&made)).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = server.head("GET", "/mcp", &speaking(&session), "");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut begun = [0; 12];
    stream.read_exact(&mut begun).await.unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200");
    let end = json!({ "delegate": made["delegate"] });
    server.call(&maker, END, end).await.unwrap();
    // It ends long before the delegate's hour is over.
    let mut rest = Vec::new();
    let read = stream.read_to_end(&mut rest);
    let read = tokio::time::timeout(Duration::from_secs(20), read).await;
    assert!(read.is_ok(), "it did not end");
}

#[tokio::test]
async fn a_delegate_that_was_made_before_callers_needed_keys_is_held_to_its_bounds() {
    let (wiki, names, server, maker) = family().await;
    let wanted = json!({ "task": "t", "writes": 1 });
    let made = server.delegate(&maker, wanted).await;
    let setup = serving(&wiki, &names).in_dir(&server.dir);
    let keyed = setup.with("WIKI_SERVE_CALLER_KEYS", "true").host().await;
    let delegate = agent(&made).with("x-wiki-api-token", &wiki.keys().editor);
    keyed.ok(&delegate, CREATE, new_page("docs/one")).await;
    let refused = keyed.call(&delegate, CREATE, new_page("docs/two")).await;
    assert_eq!(reason(&refused), "writes");
    // Metrics and the review page are no delegate's.
    let metrics = server.send("GET", "/metrics", &agent(&made), "").await;
    assert_eq!(metrics.status, 403);
}

#[tokio::test]
async fn a_family_guesses_the_operators_token_as_one_client() {
    let (wiki, names) = (wiki().await, Names::new());
    let maker = names.client("ci");
    let server = serving(&wiki, &names)
        .with("WIKI_CONFIRM", "token")
        .with("WIKI_MUTATION_CONFIRM_TOKEN", "open sesame, please")
        .host()
        .await;
    let wanted = json!({ "task": "t", "writes": 20, "sends": true });
    let family = [
        agent(&server.delegate(&maker, wanted.clone()).await),
        agent(&server.delegate(&maker, wanted).await),
        maker,
    ];
    let mut guess = new_page("docs/new");
    guess["confirm"] = json!("open sesame");
    let mut codes = Vec::new();
    for caller in family.iter().cycle().take(12) {
        let refused = server.call(caller, CREATE, guess.clone()).await;
        let refused = refused.unwrap_err();
        codes.push(refused["code"].as_str().unwrap().to_owned());
    }
    let first = codes
        .iter()
        .position(|code| code == "RATE_LIMITED")
        .unwrap();
    // Five are free, whoever makes them.
    assert_eq!(first, 5, "{codes:?}");
}

#[tokio::test]
async fn a_document_that_cannot_be_trusted_lets_its_delegate_in_no_more_and_ends_none() {
    let (wiki, names) = (wiki().await, Names::new());
    let maker = names.client("ci");
    names.client("other");
    let server = serving(&wiki, &names).host().await;
    let wanted = json!({ "task": "t" });
    let made = server.delegate(&maker, wanted.clone()).await;
    let delegate = agent(&made);
    let sibling = agent(&server.delegate(&maker, wanted.clone()).await);
    let document = path(&server, &made);
    let give = |mode| {
        let allowed = fs::Permissions::from_mode(mode);
        fs::set_permissions(&document, allowed).unwrap();
    };
    // Another user of the machine may write it.
    give(0o620);
    assert_eq!(server.status(&delegate).await, 401);
    assert_eq!(server.status(&maker).await, 200);
    assert_eq!(server.status(&sibling).await, 200);
    server.delegate(&maker, wanted).await;
    give(0o600);
    assert_eq!(server.status(&delegate).await, 200);
    // One bad line of the tokens file revokes nobody for good.
    let good = fs::read_to_string(names.path()).unwrap();
    fs::write(names.path(), "nonsense\n").unwrap();
    assert_eq!(server.status(&delegate).await, 401);
    fs::write(names.path(), &good).unwrap();
    assert_eq!(server.status(&delegate).await, 200);
    // Nor does a file that is just being written.
    fs::write(names.path(), "").unwrap();
    assert_eq!(server.status(&delegate).await, 401);
    fs::write(names.path(), good).unwrap();
    assert_eq!(server.status(&delegate).await, 200);
    // Nothing that lies about has the token.
    let token = made["token"].as_str().unwrap();
    let tokens = names.path();
    let places = [tokens.parent().unwrap(), server.dir.path()];
    let mut files = 0;
    for file in places.into_iter().flat_map(files_below) {
        files += 1;
        let text = fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&text);
        assert!(!text.contains(token), "{}", file.display());
    }
    assert!(files > 3, "{files}");
}
