//! A person's approval for several writes, on the disk: over a restart, among servers, for whom, and its end.

use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use crate::http::hosted::initialize;
use crate::prelude::*;
use crate::session::person::{Asking, BOTH, Generation, Person, answered, serve, setup};
use crate::session::status::status;

fn title(id: i64, text: &str) -> Value {
    json!({ "id": id, "title": text })
}

/// Changes a page after the person said so much.
async fn allowed(served: &Served<Asking>, person: &mut Person, id: i64, scope: &str) -> String {
    let change = title(id, &format!("Allowed at {}", OffsetDateTime::now_utc()));
    let applied = answered((served, person), UPDATE, change, scope).await;
    applied.unwrap()["callId"].as_str().unwrap().to_owned()
}

/// Changes a page, and the person is not asked.
async fn is_covered<C: Service<RoleClient>>(served: &Served<C>, id: i64, text: &str) {
    let applied = served.call(UPDATE, title(id, text)).await.unwrap();
    assert_eq!(applied["outcome"], "applied", "{text}");
}

/// Tries to change a page, and the person is asked and says no.
async fn is_asked(served: &Served<Asking>, person: &mut Person, id: i64) {
    let change = title(id, "Not allowed");
    let refused = answered((served, person), UPDATE, change, "no").await;
    assert_eq!(refused.unwrap_err()["details"]["reason"], "no");
}

async fn approvals(wiki: &DemoWiki, dir: &TempDir, arguments: &[&str]) -> Ended {
    let arguments = [&["approvals"], arguments].concat();
    Command::operator(wiki, dir, &arguments).end().await
}

async fn listed(wiki: &DemoWiki, dir: &TempDir) -> Value {
    let ended = approvals(wiki, dir, &["list", "--json"]).await.good();
    ended.json()
}

fn document(dir: &Path, id: &str) -> PathBuf {
    wiki_dir(dir).join("approvals").join(format!("{id}.json"))
}

#[tokio::test]
async fn an_approval_holds_over_a_restart_and_each_write_names_it() {
    for generation in BOTH {
        let wiki = sample_wiki().await;
        let (served, mut person) = serve(setup(&wiki), generation).await;
        let (home, other) = (id_of(&wiki, "home"), id_of(&wiki, "releases/2-4"));
        let id = allowed(&served, &mut person, home, "page").await;
        let dir = Arc::clone(&served.dir);
        drop((served, person));
        let (served, mut person) = serve(setup(&wiki).in_dir(&dir), generation).await;
        is_covered(&served, home, "After a restart").await;
        assert!(person.is_left_alone());
        let told = status(&served).await;
        let own = &told["approvals"][0];
        let arguments =
            json!({ "scope": "page", "operation": "update", "page": home, "writesLeft": 18 });
        own.shows(arguments);
        assert!(own["endsAt"].is_string(), "{told}");
        is_asked(&served, &mut person, other).await;
        let records = served.records();
        let spent: Vec<String> = records
            .iter()
            .filter_map(|it| Some(it.standing.clone()? + " " + &it.confirms?.to_string()))
            .collect();
        let named = format!("page {id}");
        let expected = [named.as_str(), named.as_str()];
        assert_eq!(spent, expected, "attempt and outcome");
        let verify = Command::operator(&wiki, &*dir, &["audit", "verify"]);
        says(&verify.good().await.stdout, "holds");
    }
}

#[tokio::test]
async fn two_servers_share_the_twenty_writes_of_an_approval() {
    let wiki = sample_wiki().await;
    let (one, mut person) = serve(setup(&wiki), Generation::Within).await;
    let id = id_of(&wiki, "home");
    allowed(&one, &mut person, id, "kind").await;
    let (two, mut beside) = serve(setup(&wiki).in_dir(&one.dir), Generation::Within).await;
    for write in 1..20 {
        let server = if write % 2 == 0 { &one } else { &two };
        is_covered(server, id, &write.to_string()).await;
    }
    assert!(person.is_left_alone() && beside.is_left_alone());
    is_asked(&one, &mut person, id).await;
    is_asked(&two, &mut beside, id).await;
    assert_eq!(mutations(&wiki).len(), 20);
}

#[tokio::test]
async fn an_operator_sees_and_ends_approvals_while_servers_run() {
    let wiki = sample_wiki().await;
    let (served, mut person) = serve(setup(&wiki), Generation::Within).await;
    let (home, other) = (id_of(&wiki, "home"), id_of(&wiki, "releases/2-4"));
    let empty = approvals(&wiki, &served.dir, &["list"]).await.good();
    says(&empty.stdout, "no approvals");
    let page = allowed(&served, &mut person, home, "page").await;
    let kind = allowed(&served, &mut person, other, "kind").await;
    let all = listed(&wiki, &served.dir).await;
    let of = |at: usize| &all["approvals"][at];
    of(0).shows(json!({ "id": page, "page": home, "path": "home", "operation": "update", "writesLeft": 19 }));
    of(1).shows(json!({ "id": kind, "writesLeft": 19 }));
    assert_eq!(of(1).get("page"), None);
    assert_eq!(of(0)["client"]["name"], "asking");
    let table = approvals(&wiki, &served.dir, &["list"]).await.good().stdout;
    says(&table, "update of en:home");
    says(&table, "update of any page");
    says(&table, "in 30 minutes");

    // The one that is named, the rest stands.
    let ended = approvals(&wiki, &served.dir, &["end", kind.split_at(6).0])
        .await
        .good();
    says(&ended.stdout, &format!("ended: {kind}"));
    is_covered(&served, home, "Of the page").await;
    is_asked(&served, &mut person, other).await;
    for wrong in ["nothing", page.split_at(3).0] {
        let refused = approvals(&wiki, &served.dir, &["end", wrong]).await;
        assert_eq!(refused.code, 2, "{}", refused.told);
    }
    let unasked = approvals(&wiki, &served.dir, &["end", "--all"]).await;
    assert_eq!(unasked.code, 2);
    says(&unasked.stderr, "--yes");
    is_covered(&served, home, "Still").await;
    let ended = approvals(&wiki, &served.dir, &["end", "--all", "--yes", "--json"])
        .await
        .good();
    assert_eq!(
        serde_json::from_str::<Value>(&ended.stdout).unwrap(),
        json!({ "ended": [page] })
    );
    is_asked(&served, &mut person, home).await;
    assert_eq!(listed(&wiki, &served.dir).await["approvals"], json!([]));

    // Both ends are on record, as the operator's.
    let records = served.records();
    let ended = records
        .iter()
        .filter(|it| it.decision.as_deref() == Some("ended"));
    let told: Vec<_> = ended
        .map(|it| {
            assert!(it.actor.is_some());
            (it.id, it.reason.clone().unwrap())
        })
        .collect();
    let reason = |id: &str, scope: &str| format!("the approval {id} of asking, for this {scope}");
    let expected = [
        (None, reason(&kind, "kind")),
        (Some(home), reason(&page, "page")),
    ];
    assert_eq!(told, expected);
    let verify = Command::operator(&wiki, &*served.dir, &["audit", "verify"]);
    says(&verify.good().await.stdout, "holds");
}

#[tokio::test]
async fn under_other_gates_an_approval_has_ended() {
    for (name, value) in [
        ("WIKI_DENIED_MUTATION_PATH_PREFIXES", "secret"),
        ("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "home"),
        ("WIKI_CONFIRM_FALLBACK", "proposal"),
        ("WIKI_DENIED_READ_TAGS", "hidden"),
    ] {
        let wiki = sample_wiki().await;
        let (served, mut person) = serve(setup(&wiki), Generation::Within).await;
        let id = id_of(&wiki, "home");
        allowed(&served, &mut person, id, "kind").await;
        let dir = Arc::clone(&served.dir);
        let other = setup(&wiki).in_dir(&dir).with(name, value);
        let (under_others, mut beside) = serve(other, Generation::Within).await;
        assert_eq!(status(&under_others).await.get("approvals"), None, "{name}");
        is_asked(&under_others, &mut beside, id).await;
        // It does not come back with the gates under which it was given.
        is_asked(&served, &mut person, id).await;
        assert!(served.records().iter().all(|it| it.standing.is_none()));
    }
}

#[tokio::test]
async fn a_rule_is_a_gate_and_an_approval_that_a_rule_asked_for_holds_under_it() {
    let wiki = sample_wiki().await;
    let rule = |why: &str| {
        let rule = format!(
            "[[rules]]\nname = \"ask\"\npaths = [\"home\"]\nthen = \"person\"\nwhy = \"{why}\"\n"
        );
        Setup::admin(&wiki).with_tables(&rule)
    };
    let (served, mut person) = serve(rule("it is the first page"), Generation::Within).await;
    let id = id_of(&wiki, "home");
    let page = allowed(&served, &mut person, id, "page").await;
    is_covered(&served, id, "By the rule").await;
    let dir = Arc::clone(&served.dir);
    let (again, _) = serve(
        rule("it is the first page").in_dir(&dir),
        Generation::Within,
    )
    .await;
    is_covered(&again, id, "By the same rule").await;
    assert_eq!(listed(&wiki, &dir).await["approvals"][0]["id"], page);
    let (changed, mut beside) =
        serve(rule("for another reason").in_dir(&dir), Generation::Within).await;
    is_asked(&changed, &mut beside, id).await;
}

/// A session of this caller, which calls itself what the person's client calls itself.
async fn named_alike(server: &Hosted, caller: &Caller) -> Caller {
    let mut opening = initialize("2025-11-25");
    opening["params"]["clientInfo"] = json!({ "name": "asking", "version": "1" });
    let opened = server.post(caller, &opening).await;
    caller
        .clone()
        .with("mcp-session-id", &opened.headers["mcp-session-id"])
        .with("mcp-protocol-version", "2025-11-25")
}

#[tokio::test]
async fn nobody_else_on_the_directory_uses_an_approval() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let (served, mut person) = serve(setup(&wiki), Generation::Within).await;
    let id = id_of(&wiki, "home");
    allowed(&served, &mut person, id, "kind").await;
    let sent = mutations(&wiki).len();
    let beside = || setup(&wiki).in_dir(&served.dir);
    // Another client over standard input and output.
    let other = beside().serve().await;
    fails(&other, UPDATE, title(id, "Other"), "APPROVAL_DENIED").await;
    // A client without a name over HTTP, and a named one, with every word of the first one's.
    let nameless = beside().host().await;
    let alike = names.client("asking");
    let hosted = beside().naming(&names).host().await;
    for (server, caller) in [(&nameless, &Caller::default()), (&hosted, &alike)] {
        let session = named_alike(server, caller).await;
        for caller in [&session, caller] {
            let refused = server.call(caller, UPDATE, title(id, "Other")).await;
            assert_eq!(refused.unwrap_err()["code"], "APPROVAL_DENIED");
        }
        // A session that it makes up is none.
        let made_up = caller.clone().with("mcp-session-id", "test");
        let call = crate::http::hosted::call(UPDATE, title(id, "Other"));
        assert_eq!(server.post(&made_up, &call).await.status, 404);
    }
    assert_eq!(mutations(&wiki).len(), sent);
    is_covered(&served, id, "Whose it is").await;
}

/// Moves the times of an approval by so much: to it the clock went the other way.
fn moved(path: &Path, by: Duration) {
    let mut told: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    for name in ["given", "ends"] {
        let time = OffsetDateTime::parse(told[name].as_str().unwrap(), &Rfc3339).unwrap() + by;
        told[name] = time.format(&Rfc3339).unwrap().into();
    }
    fs::write(path, told.to_string()).unwrap();
}

#[tokio::test]
async fn no_clock_brings_an_approval_back_or_ends_it_by_more_than_it_went_back() {
    let wiki = sample_wiki().await;
    let (served, mut person) = serve(setup(&wiki), Generation::Within).await;
    let id = id_of(&wiki, "home");
    // Its end has come, or the clock went back by an hour: it is gone.
    for by in [Duration::minutes(-31), Duration::hours(1)] {
        let approval = allowed(&served, &mut person, id, "kind").await;
        let document = document(served.dir.path(), &approval);
        moved(&document, by);
        is_asked(&served, &mut person, id).await;
        assert!(!document.exists());
    }
    // The clock went back by ten minutes: it counts when they are over.
    let approval = allowed(&served, &mut person, id, "kind").await;
    let document = document(served.dir.path(), &approval);
    moved(&document, Duration::minutes(10));
    assert_eq!(status(&served).await.get("approvals"), None);
    is_asked(&served, &mut person, id).await;
    moved(&document, Duration::minutes(-10));
    is_covered(&served, id, "Ten minutes later").await;
}

#[tokio::test]
async fn a_damaged_approval_is_named_and_counts_as_none() {
    let wiki = sample_wiki().await;
    let (served, mut person) = serve(setup(&wiki), Generation::Within).await;
    let (home, other) = (id_of(&wiki, "home"), id_of(&wiki, "releases/2-4"));
    let damaged = allowed(&served, &mut person, home, "page").await;
    allowed(&served, &mut person, other, "page").await;
    let path = document(served.dir.path(), &damaged);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.split_at(text.len() / 2).0).unwrap();
    is_asked(&served, &mut person, home).await;
    is_covered(&served, other, "The rest goes on").await;
    let check = async || {
        Command::operator(&wiki, &*served.dir, &["store", "check"])
            .end()
            .await
    };
    let checked = check().await.exits(1);
    says(&checked.stdout, &format!("approval {damaged}: "));
    let list = listed(&wiki, &served.dir).await;
    assert_eq!(list["damaged"], json!([damaged]));
    assert_eq!(list["approvals"].as_array().unwrap().len(), 1);
    approvals(&wiki, &served.dir, &["end", &damaged])
        .await
        .good();
    let part = "1 proposal, draft or approval: whole";
    says(&check().await.good().stdout, part);
    // Nor does a file where their directory should be stop a write that a person confirms.
    let directory = path.parent().unwrap();
    fs::remove_dir_all(directory).unwrap();
    fs::write(directory, "").unwrap();
    allowed(&served, &mut person, other, "page").await;
    is_asked(&served, &mut person, other).await;
}

#[tokio::test]
async fn a_backup_holds_the_approvals() {
    let wiki = sample_wiki().await;
    let (served, mut person) = serve(setup(&wiki), Generation::Within).await;
    let id = allowed(&served, &mut person, id_of(&wiki, "home"), "kind").await;
    let copy = TempDir::new().unwrap();
    let to = copy.path().join("copy");
    let arguments = ["store", "backup", to.to_str().unwrap()];
    Command::operator(&wiki, &*served.dir, &arguments)
        .good()
        .await;
    let own = fs::read(document(served.dir.path(), &id)).unwrap();
    assert_eq!(fs::read(document(&to, &id)).unwrap(), own);
}
