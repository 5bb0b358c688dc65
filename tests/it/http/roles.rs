//! What a named client is for: each role opens its own door, people sign in with a link that
//! works once, and whatever ends is refused from that moment on.

use std::time::Duration;

use time::macros::datetime;
use wikijs_gate::audit::{ClientId, Role};
use wikijs_gate::review::SignIns;
use wikijs_gate::server::http::{
    ClientRecord, ClientRegistry, ClientToken, LastUses, NamedClient, TokensFile,
};

use crate::http::hosted::{Answer, call, rewrite, speaking};
use crate::prelude::*;

const URL: &str = "https://wiki-mcp.example.com";

/// The list of clients.
fn listed(names: &Names) -> Value {
    token(names, &["list", "--json"]).json()
}

/// Now and so much longer, as a line of the file says it.
fn later(by: time::Duration) -> String {
    let end = time::OffsetDateTime::now_utc() + by;
    end.format(&time::format_description::well_known::Rfc3339)
        .unwrap()
}

fn token(names: &Names, arguments: &[&str]) -> Ended {
    Command::new(&[&["token"], arguments].concat())
        .with("WIKI_SERVE_TOKENS_FILE", names.path().to_str().unwrap())
        .with("WIKI_AUDIT_DIR", names.dir.path().to_str().unwrap())
        .run()
}

/// The clients as a server has them that looks at the file once an hour.
fn clients(names: &Names) -> ClientRegistry {
    let hour = Duration::from_hours(1);
    let file = TokensFile::new(names.path());
    ClientRegistry::open(file, &names.dir.path().into(), hour, hour).unwrap()
}

/// The secret of the link that a command showed.
fn secret(made: &Ended) -> String {
    assert_eq!(made.code, 0, "{}", made.told);
    let link = made.stdout.trim();
    let secret = link.strip_prefix(&format!("{URL}/review/sign-in?link="));
    secret.unwrap_or_else(|| panic!("{link}")).to_owned()
}

fn reviewer(names: &Names) -> String {
    let bounds = ["--reviewer", "--prefixes", "docs", "--url", URL];
    secret(&token(names, &[&["new", "anna"], &bounds[..]].concat()))
}

fn sign_ins(names: &Names) -> SignIns {
    SignIns::new(&names.dir.path().into())
}

#[tokio::test]
async fn a_link_signs_in_once_as_the_person_it_was_made_for() {
    let names = Names::new();
    let secret = reviewer(&names);
    lacks(&fs::read_to_string(names.path()).unwrap(), &secret);
    let listed = listed(&names);
    let link = &listed["sessions"][0];
    assert_eq!(link["isUnusedLink"], true);
    assert_eq!(link["lastUse"], Value::Null);
    let sign_ins = sign_ins(&names);
    let before = fs::read(names.path()).unwrap();
    let (_, session) = sign_ins.take_link(&secret).await.unwrap().unwrap();
    // No server writes the file of clients.
    assert_eq!(fs::read(names.path()).unwrap(), before);
    let anna = clients(&names).by_id(session.client().unwrap()).unwrap();
    assert_eq!((&*anna.name, anna.role), ("anna", Role::Reviewer));
    let prefixes = anna.narrowing().prefixes.as_ref().unwrap()[0].to_string();
    assert_eq!(prefixes, "docs");
    assert!(!anna.may.may_apply_in_dry_run);
    assert_eq!(anna.id, names.file().read().unwrap()[0].id);
}

#[tokio::test]
async fn whoever_signed_in_is_out_as_soon_as_the_client_ends_or_is_taken_out() {
    let names = Names::new();
    reviewer(&names);
    let clients = clients(&names);
    let anna = names.file().read().unwrap()[0].id;
    let still = || clients.by_id(anna).is_some();
    assert!(still());
    let before = fs::read_to_string(names.path()).unwrap();
    let past = json!("2020-01-01T00:00:00Z");
    rewrite(&names.path(), |line| line["may"]["expires"] = past.clone());
    assert!(!still());
    fs::write(names.path(), format!("{before}nonsense\n")).unwrap();
    // Whoever was out stays out while the file is broken.
    assert!(!still());
    fs::write(names.path(), before).unwrap();
    assert!(still());
    let other = names.client("other");
    // With the client go its links.
    assert_eq!(token(&names, &["revoke", "anna"]).code, 0);
    assert!(!still());
    assert_eq!(sign_ins(&names).all(), Ok(Vec::new()));
    drop(other);
}

#[test]
fn a_role_takes_the_options_that_mean_something_to_it_and_no_second_role() {
    let names = Names::new();
    for (arguments, code) in [
        ("new ok --reviewer --may-apply-in-dry-run --url URL", 0),
        ("new all --auditor --url URL", 0),
        ("new watch --metrics", 0),
        ("new x --reviewer --auditor --url URL", 2),
        ("new x --reviewer --dry-run --url URL", 2),
        ("new x --auditor --prefixes docs --url URL", 2),
        ("new x --metrics --read-only", 2),
        ("new x --may-apply-in-dry-run", 2),
        // Nobody can say where that link leads.
        ("new x --reviewer", 2),
        ("new x --reviewer --url wiki", 2),
        ("new x --reviewer --url https://a:b@c", 2),
        ("link watch --url URL", 1),
        ("link nobody --url URL", 1),
        ("link all --url URL", 0),
    ] {
        let arguments = arguments.replace("URL", URL);
        token(&names, &vec_of(arguments.split(' '))).exits(code);
    }
    let listed = listed(&names);
    let role = |at: usize| listed["clients"][at]["role"].as_str().unwrap().to_owned();
    let expected = ["reviewer", "auditor", "metrics"];
    assert_eq!([role(0), role(1), role(2)], expected);
    let may = &names.file().read().unwrap()[0].may;
    assert!(may.may_apply_in_dry_run);
    assert!(!listed.to_string().contains("sha256"));
}

#[test]
fn a_link_leads_to_where_the_server_is_reached() {
    let names = Names::new();
    let link = |settings: &[(&str, &str)]| {
        let path = names.path();
        let name = format!("p{}", names.file().read().unwrap().len());
        let mut command = Command::new(&["token", "new", &name, "--auditor", "--json"])
            .with("WIKI_SERVE_TOKENS_FILE", path.to_str().unwrap())
            .with("WIKI_AUDIT_DIR", names.dir.path().to_str().unwrap());
        for (name, value) in settings {
            command = command.with(name, value);
        }
        let made = command.run().json();
        let link = made["signInLink"].as_str().unwrap().to_owned();
        link.split_once("/review").unwrap().0.to_owned()
    };
    let address = ("WIKI_SERVE_ADDRESS", "0.0.0.0:8765");
    let hosts = ("WIKI_SERVE_ALLOWED_HOSTS", "mcp.example.com,other");
    assert_eq!(link(&[address]), "http://127.0.0.1:8765");
    assert_eq!(link(&[address, hosts]), "https://mcp.example.com");
    // The address that notices and answers name, where a session is to be.
    let page = ("WIKI_REVIEW_URL", "https://pages.example.com/review");
    assert_eq!(link(&[address, hosts, page]), "https://pages.example.com");
}

#[test]
fn what_is_made_ends_after_90_days_unless_it_is_said_otherwise() {
    let names = Names::new();
    let days = |arguments: &[&str]| {
        let name = format!("c{}", names.file().read().unwrap_or_default().len());
        let made = token(&names, &[&["new", &name], arguments].concat());
        made.good();
        let client = names.file().read().unwrap().pop().unwrap();
        let ends = client.expires().unwrap();
        ends.map(|end| (end - time::OffsetDateTime::now_utc()).as_seconds_f64() / 86_400.0)
    };
    for (arguments, expected) in [
        (&[][..], Some(90.0)),
        (&["--metrics"], Some(90.0)),
        (&["--auditor", "--url", URL], Some(90.0)),
        (&["--expires", "7d"], Some(7.0)),
        (&["--expires", "never"], None),
    ] {
        assert_eq!(days(arguments).map(f64::round), expected, "{arguments:?}");
    }
    let end = |when: &str| {
        days(&["--expires", when]);
        let client = names.file().read().unwrap().pop().unwrap();
        client.expires().unwrap().unwrap()
    };
    for (when, at) in [
        ("2130-01-31", datetime!(2130-01-31 00:00 UTC)),
        ("2130-01-31T23:59:58Z", datetime!(2130-01-31 23:59:58 UTC)),
        ("2130-01-31T01:00:00+14:00", datetime!(2130-01-30 11:00 UTC)),
        ("2130-01-31t01:00:00z", datetime!(2130-01-31 01:00 UTC)),
    ] {
        assert_eq!(end(when), at, "{when}");
    }
}

#[tokio::test]
async fn each_role_opens_its_own_door_and_is_told_so_at_every_other() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let agent = names.client("agent");
    let metrics = ClientToken::new().unwrap();
    let watch = NamedClient::new("watch", Role::Metrics, Some(&metrics), Grant::default());
    names.file().add(watch.unwrap()).unwrap();
    let secret = reviewer(&names);
    let bearer = |text: &str| Caller::default().with("authorization", &format!("Bearer {text}"));
    let (metrics, by_link) = (bearer(metrics.reveal()), bearer(&secret));
    let server = Setup::editor(&wiki).naming(&names).host().await;
    for (caller, at_mcp, at_metrics, said) in [
        (&agent, 200, 200, ""),
        (&metrics, 403, 200, "this token is for /metrics alone"),
        (&by_link, 401, 401, "secret of a sign-in link"),
    ] {
        let answer = server.post(caller, &call(TREE, json!({}))).await;
        assert_eq!(answer.status, at_mcp, "{answer:?}");
        assert!(answer.body.contains(said), "{answer:?}");
        let answer = server.send("GET", "/metrics", caller, "").await;
        assert_eq!(answer.status, at_metrics, "{answer:?}");
    }
    // What was shown at a wrong door is not used up.
    assert!(sign_ins(&names).take_link(&secret).await.unwrap().is_some());
}

#[tokio::test]
async fn a_session_ends_with_its_token_and_the_refusal_says_so() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let own = names.client("own");
    let server = Setup::editor(&wiki).naming(&names).host().await;
    let session = server.open(&own).await;
    server.call(&session, TREE, json!({})).await.unwrap();
    let past = json!("2020-01-01T00:00:00Z");
    rewrite(&names.path(), |line| line["may"]["expires"] = past.clone());
    for caller in [&session, &own] {
        let answer = server.post(caller, &call(TREE, json!({}))).await;
        assert_eq!(answer.status, 401);
        says(&answer.body, "token has ended");
    }
}

/// Gives the only client an end two seconds from now.
fn ends_soon(names: &Names) -> time::OffsetDateTime {
    let end = time::OffsetDateTime::now_utc() + time::Duration::seconds(2);
    let format = &time::format_description::well_known::Rfc3339;
    let text = json!(end.format(format).unwrap());
    rewrite(&names.path(), |line| line["may"]["expires"] = text.clone());
    end
}

/// The answer is there when the server has ended the stream.
async fn stream_ends(stream: impl Future<Output = Answer>, end: time::OffsetDateTime) {
    let stream = tokio::time::timeout(Duration::from_secs(20), stream).await;
    assert_eq!(stream.unwrap().status, 200);
    assert!(time::OffsetDateTime::now_utc() >= end);
}

#[tokio::test]
async fn a_stream_that_is_open_ends_with_its_client() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let own = names.client("own");
    let server = Setup::editor(&wiki).naming(&names).host().await;
    let session = speaking(&server.open(&own).await);
    let end = ends_soon(&names);
    stream_ends(server.send("GET", "/mcp", &session, ""), end).await;
}

#[tokio::test]
async fn a_request_that_listens_ends_with_its_client_however_its_id_is_written() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let own = names.add("own", Grant::default());
    let server = Setup::editor(&wiki).naming(&names).host().await;
    let caller = speaking(&own)
        .with("mcp-protocol-version", "2026-07-28")
        .with("mcp-method", "subscriptions/listen");
    let listen = |id: &str| {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": {
            "notifications": { "toolsListChanged": true },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "modern", "version": "1" },
            },
        } });
        let id = format!("\"id\":{id}");
        message.to_string().replace("\"id\":7", &id)
    };
    let end = ends_soon(&names);
    let (one, other) = (listen("7"), listen("7.0"));
    tokio::join!(
        stream_ends(server.send("POST", "/mcp", &caller, &one), end),
        stream_ends(server.send("POST", "/mcp", &caller, &other), end),
    );
}

#[test]
fn a_line_of_an_agent_is_as_it_was_before_there_were_roles() {
    let names = Names::new();
    names.client("own");
    let line: Value = serde_json::from_str(&fs::read_to_string(names.path()).unwrap()).unwrap();
    let members = vec_of(line.as_object().unwrap().keys().map(String::as_str));
    assert_eq!(members, ["id", "name", "sha256", "created", "may"]);
}

#[test]
fn nothing_that_is_secret_shows_in_what_is_told_of_a_client() {
    fn shown(client: &ClientRecord) -> String {
        format!("{client:?}")
    }
    let names = Names::new();
    let secret = reviewer(&names);
    let id: ClientId = names.file().read().unwrap()[0].id;
    let client = clients(&names).by_id(id).unwrap();
    assert!(!shown(&client).contains(&secret));
}

/// The caller with the token that a command showed.
fn caller(made: &Ended) -> Caller {
    assert_eq!(made.code, 0, "{}", made.told);
    Caller::default().with("authorization", &format!("Bearer {}", made.stdout.trim()))
}

/// An end so many days from now.
fn in_days(days: i64) -> Grant {
    let end = later(time::Duration::days(days));
    Grant::default().but(|grant| grant.expires = Some(end))
}

#[tokio::test]
async fn a_rotated_client_is_the_same_by_both_tokens_on_every_server() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let old = names.client("own");
    let setup = || Setup::editor(&wiki).naming(&names);
    let servers = [setup().host().await, setup().host().await];
    let id = names.file().read().unwrap()[0].id;
    let made = token(&names, &["rotate", "own", "--keep-old", "1h"]);
    says(&made.stderr, "The old token ends in 60 minutes, at ");
    says(&made.stderr, "own expires in 90 days, at ");
    let new = caller(&made);
    let status = async |caller: &Caller| {
        [
            servers[0].status_of(caller).await,
            servers[1].status_of(caller).await,
        ]
    };
    assert_eq!(status(&old).await, [200; 2]);
    assert_eq!(status(&new).await, [200; 2]);
    assert_eq!(names.file().read().unwrap()[0].id, id);
    // The old token's time is over.
    let past = json!("2020-01-01T00:00:00Z");
    rewrite(&names.path(), |line| line["old"]["ends"] = past.clone());
    assert_eq!(status(&old).await, [401; 2]);
    assert_eq!(status(&new).await, [200; 2]);
    let newest = caller(&token(&names, &["rotate", "own", "--keep-old", "0"]));
    assert_eq!(status(&new).await, [401; 2]);
    assert_eq!(status(&newest).await, [200; 2]);
    assert_eq!(names.file().read().unwrap()[0].id, id);
}

#[test]
fn an_old_token_counts_on_for_a_day_and_never_beyond_its_end() {
    let names = Names::new();
    names.client("open");
    names.add("short", in_days(0));
    rewrite(&names.path(), |line| {
        if line["name"] == "short" {
            line["may"]["expires"] = json!(later(time::Duration::hours(2)));
        }
    });
    let told = |name: &str| {
        let made = token(&names, &["rotate", name, "--json"]).json();
        let format = &time::format_description::well_known::Rfc3339;
        let until = made["oldTokenUntil"].as_str().unwrap();
        let until = time::OffsetDateTime::parse(until, format).unwrap();
        ((until - time::OffsetDateTime::now_utc()).whole_minutes() + 30) / 60
    };
    assert_eq!(told("open"), 24);
    assert_eq!(told("short"), 2);
    for (arguments, code) in [
        (vec!["rotate", "nobody"], 1),
        (vec!["rotate", "open", "--keep-old", "soon"], 2),
        (vec!["rotate", "open", "--expires", "2020-01-01"], 2),
    ] {
        assert_eq!(token(&names, &arguments).code, code, "{arguments:?}");
    }
}

#[test]
fn a_link_is_for_a_client_that_is_there_at_an_address_that_is_good() {
    let names = Names::new();
    let told = token(&names, &["link", "nobody"]).exits(1);
    says(&told.stderr, "there is no client of this name");
    reviewer(&names);
    let told = Command::new(&["token", "link", "anna"])
        .with("WIKI_SERVE_TOKENS_FILE", names.path().to_str().unwrap())
        .with("WIKI_AUDIT_DIR", names.dir.path().to_str().unwrap())
        .with("WIKI_SERVE_ALLOWED_HOSTS", "gate.example.com")
        .with("WIKI_REVIEW_URL", "gate.example.com")
        .run()
        .exits(2);
    begins(&told.stderr, "error: WIKI_REVIEW_URL ");
}

#[tokio::test]
async fn a_rotated_person_gets_another_link_and_another_end() {
    let names = Names::new();
    reviewer(&names);
    rewrite(&names.path(), |line| {
        line["may"]["expires"] = in_days(3).expires.into();
    });
    let anna = names.file().read().unwrap().remove(0);
    let keep = ["rotate", "anna", "--keep-old", "1h", "--url", URL];
    token(&names, &keep).exits(2);
    // The address of the review page names its server, too.
    let page = format!("{URL}/review/");
    let second = secret(&token(&names, &["rotate", "anna", "--url", &page]));
    let client = names.file().read().unwrap().remove(0);
    assert_eq!(client.id, anna.id);
    assert_eq!(client.may.prefixes, Some(vec!["docs".to_owned()]));
    let left = client.expires().unwrap().unwrap() - time::OffsetDateTime::now_utc();
    assert!(left > time::Duration::days(89), "{left}");
    let (_, session) = sign_ins(&names).take_link(&second).await.unwrap().unwrap();
    assert_eq!(session.client(), Some(anna.id));
}

#[tokio::test]
async fn when_a_client_came_last_is_noted_by_every_server_and_listed() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let [one, other] = ["one", "other"].map(|name| names.client(name));
    names.client("never");
    let listed = || {
        let listed = listed(&names);
        let last = |at: usize| listed["clients"][at]["lastUse"].is_string();
        [last(0), last(1), last(2)]
    };
    assert!(token(&names, &["list"]).stdout.contains("  not known  "));
    let uses = LastUses::new(&names.dir.path().into());
    let count = || uses.all().map_or(0, |all| all.len());
    for (noted, caller) in [&one, &other].into_iter().enumerate() {
        let setup = Setup::editor(&wiki).naming(&names).in_dir(&names.dir);
        let server = setup.host().await;
        server.call(caller, TREE, json!({})).await.unwrap();
        // Nobody waits for the store but this test.
        let is_noted = async {
            while count() <= noted {
                tokio::task::yield_now().await;
            }
        };
        let limit = Duration::from_secs(20);
        tokio::time::timeout(limit, is_noted).await.unwrap();
    }
    assert_eq!(listed(), [true, true, false]);
    let told = token(&names, &["list"]).stdout;
    says(&told, "none yet");
    lacks(&told, "not known");
}

#[tokio::test]
async fn an_end_that_is_near_is_said_wherever_somebody_looks() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let soon = names.add("soon", in_days(9));
    let later = names.add("later", in_days(15));
    let told = token(&names, &["list"]);
    let notice = "soon ends in 9 days: `wikijs-gate token rotate soon` gives it another end.\n";
    assert_eq!(told.stderr, notice);
    let listed = listed(&names);
    let near = [0, 1].map(|at| listed["clients"][at]["endsSoon"].clone());
    assert_eq!(near, [json!(true), json!(false)]);
    let server = Setup::editor(&wiki).naming(&names).host().await;
    let status = async |caller: &Caller| {
        let read = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read",
            "params": { "uri": "wikijs://status" } });
        let message = server.post(caller, &read).await.message();
        let text = message["result"]["contents"][0]["text"].as_str().unwrap();
        let text = text.to_owned();
        serde_json::from_str::<Value>(&text).unwrap()["client"].clone()
    };
    let (own, other) = (status(&soon).await, status(&later).await);
    assert_eq!(own["name"], "soon");
    assert_eq!(other["name"], "later");
    let notice = own["notice"].as_str().unwrap();
    begins(&notice, "This client's token ends in 8 days. ");
    assert!(other["expiresAt"].is_string(), "{other}");
    assert!(other.get("notice").is_none(), "{other}");
    let ready: Value = serde_json::from_str(&server.get("/readyz").await.body).unwrap();
    assert_eq!(ready["clientsEndingSoon"], 1, "{ready}");
    let dir = TempDir::new().unwrap();
    let (key, audit) = (&wiki.keys().editor, dir.path().join("audit"));
    let doctor = Command::new(&["doctor"]).at(&wiki.address(), key, audit);
    let doctor = doctor.with("WIKI_SERVE_TOKENS_FILE", names.path().to_str().unwrap());
    let doctor = doctor.end().await.stdout;
    let part = "clients   good     the tokens file names 2 clients";
    says(&doctor, part);
    says(&doctor, "clients   warning  soon ends in 9 days, at ");
    assert!(!doctor.contains("later ends"), "{doctor}");
}

#[tokio::test]
async fn the_log_says_at_its_start_who_ends_soon() {
    use std::io::{BufRead as _, BufReader};
    let (wiki, names) = (sample_wiki().await, Names::new());
    names.add("soon", in_days(9));
    names.add("later", in_days(15));
    let dir = TempDir::new().unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_wikijs-gate"))
        .args(["serve", "--http", "127.0.0.1:0"])
        .env_clear()
        .envs([
            ("WIKI_BASE_URL", wiki.address().as_str()),
            ("WIKI_API_TOKEN", &wiki.keys().readonly),
            ("WIKI_AUDIT_DIR", dir.path().to_str().unwrap()),
            ("WIKI_SERVE_TOKENS_FILE", names.path().to_str().unwrap()),
            ("WIKI_LOG_FORMAT", "json"),
        ])
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut told = Vec::new();
    loop {
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        if line["fields"]["address"].is_string() {
            break;
        }
        if line["fields"]["client"].is_string() {
            told.push(line["fields"].clone());
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    told[0].shows(json!({ "client": "soon", "left": "8 days" }));
}

#[tokio::test]
async fn calls_and_writes_are_counted_by_client_and_its_role_is_on_record() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let [one, other] = ["one", "two"].map(|name| names.client(name));
    let server = Setup::editor(&wiki).naming(&names).host().await;
    let change = json!({ "id": id_of(&wiki, "home"), "title": "T" });
    server.applied(&one, UPDATE, change.clone()).await;
    server.ok(&other, TREE, json!({})).await;
    let made_up = change.but(|it| it["confirm"] = json!("made up"));
    server.call(&other, UPDATE, made_up).await.unwrap_err();
    let told = server.send("GET", "/metrics", &one, "").await.body;
    let of_clients = { told.lines() }.filter(|line| line.starts_with("wikijs_gate_client_"));
    let of_clients = vec_of(of_clients);
    let expected = [
        "wikijs_gate_client_calls_total{client=\"one\",outcome=\"ok\"} 2",
        "wikijs_gate_client_calls_total{client=\"two\",outcome=\"failed\"} 1",
        "wikijs_gate_client_calls_total{client=\"two\",outcome=\"ok\"} 1",
        "wikijs_gate_client_writes_total{client=\"one\",outcome=\"applied\"} 1",
    ];
    assert_eq!(of_clients, expected);
    let records = server.records().into_iter();
    let roles: Vec<_> = records.filter_map(|record| record.client?.role).collect();
    assert!(!roles.is_empty(), "{roles:?}");
    assert!(roles.iter().all(|role| *role == Role::Agent), "{roles:?}");
}
