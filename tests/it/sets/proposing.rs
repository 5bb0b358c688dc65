//! A caller proposes what it could confirm, and takes back what it proposed; a preview that nobody
//! confirmed is no proposal.

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};

use crate::prelude::*;

const ALL: &str = "pages,undo,proposals,drafts,comments,assets";
const TOKEN: &str = "open sesame, please";

fn setup(wiki: &DemoWiki) -> Setup {
    Setup::admin(wiki).toolsets(ALL)
}

/// A server whose rule leaves changes of the page `home` to people.
fn ruled(wiki: &DemoWiki, then: &str) -> Setup {
    let tables =
        format!("[[rules]]\nname = \"home\"\nthen = \"{then}\"\npaths = [\"home\", \"docs\"]\n");
    setup(wiki).with_tables(&tables)
}

/// Runs a command as the operator.
async fn operator(wiki: &DemoWiki, served: &Served, arguments: &[&str]) -> Ended {
    Command::operator(wiki, served.dir.path(), arguments)
        .end()
        .await
}

/// Proposes a write: the proposal's id.
async fn proposed(served: &Served, tool: &str, mut arguments: Value) -> String {
    arguments["propose"] = json!(true);
    let answer = served.checked(tool, arguments).await;
    let answer = answer.unwrap_or_else(|error| panic!("{tool}: {error}"));
    answer.shows(json!({ "outcome": "waiting", "confirm": null }));
    let id = answer["proposal"].as_str().unwrap();
    says(&answer["review"], id);
    id.to_owned()
}

async fn state(served: &Served, id: &str) -> Value {
    let answer = call_ok(served, GET_PROPOSAL, json!({ "id": id })).await;
    answer["state"].clone()
}

/// The ids of all open proposals.
async fn open(served: &Served) -> Vec<String> {
    let all = served.app.desk.proposals().all().await.unwrap();
    let open = all
        .into_iter()
        .filter(wikijs_gate::audit::Proposal::is_open);
    open.map(|one| one.id.to_string()).collect()
}

fn decisions(records: &[Record]) -> Vec<&str> {
    let decisions = records.iter().filter_map(|one| one.decision.as_deref());
    decisions.collect()
}

#[tokio::test]
async fn a_write_is_proposed_at_every_level_at_once_and_a_person_applies_it() {
    for (name, value) in [
        ("WIKI_CONFIRM", "preview"),
        ("WIKI_CONFIRM", "person"),
        ("WIKI_CONFIRM", "review"),
        ("WIKI_MUTATION_CONFIRM_TOKEN", TOKEN),
        ("WIKI_MUTATION_DRY_RUN", "true"),
    ] {
        let (wiki, served) = sample(|wiki| setup(wiki).with(name, value)).await;
        let home = id_of(&wiki, "home");
        // At the level `review` a call would wait for 50 seconds.
        let id = proposed(&served, UPDATE, json!({ "page": "home", "title": "Ours" })).await;
        assert_eq!(mutations(&wiki), [], "{value}");
        let records = served.records();
        assert_eq!(decisions(&records), ["propose", "made"], "{value}");
        let again = json!({ "id": home, "title": "Ours", "propose": true, "confirm": id });
        let heard = call_ok(&served, UPDATE, again).await;
        heard.shows(json!({ "outcome": "waiting", "proposal": id }));
        let ended = operator(&wiki, &served, &["proposals", "apply", &id, "--yes"]).await;
        assert_eq!(ended.code, 0, "{}", ended.told);
        let heard = call_ok(&served, UPDATE, json!({ "confirm": id })).await;
        heard.shows(json!({ "outcome": "applied", "proposal": id }));
        assert_eq!(mutations(&wiki).len(), 1, "{value}");
    }
}

#[tokio::test]
async fn every_tool_that_writes_proposes() {
    let wiki = wiki_of(&[("docs/a", "# A\n"), ("docs/b", "# B\n")]).await;
    let served = setup(&wiki).indexed().serve().await;
    let [a, b] = ["docs/a", "docs/b"].map(|path| id_of(&wiki, path));
    let written = is_applied(&served, UPDATE, json!({ "id": b, "title": "Other" })).await;
    let joins = json!({ "id": a, "title": "Drafted", "draft": "d" });
    call_ok(&served, UPDATE, joins).await;
    let before = mutations(&wiki).len();
    let bulk = json!({ "ids": [a, b], "addTags": ["x"] });
    let uploaded = json!({ "path": "a.csv", "text": "x" });
    for (tool, arguments) in [
        (CREATE, new_page("docs/c")),
        (UPDATE, json!({ "id": a, "title": "New" })),
        (DELETE, json!({ "id": b })),
        (BULK, bulk),
        (ADD_COMMENT, json!({ "id": a, "content": "Hello" })),
        (UPLOAD, uploaded),
        (UNDO, json!({ "callId": written["callId"] })),
        (SUBMIT, json!({ "draft": "d" })),
    ] {
        let id = proposed(&served, tool, arguments).await;
        assert_eq!(state(&served, &id).await, "open", "{tool}");
    }
    assert_eq!(mutations(&wiki).len(), before);
    // A tool that writes has the argument, whoever adds one.
    for tool in served.app.registry().definitions() {
        let has = tool.input["properties"].get("propose").is_some();
        let keeps = ["wikijs_discard_draft", WITHDRAW].contains(&tool.name);
        assert_eq!(has, tool.can_write() && !keeps, "{}", tool.name);
    }
}

#[tokio::test]
async fn a_proposal_passes_the_gates_that_a_preview_passes() {
    let (wiki, served) = sample(|wiki| {
        let denied = "[[rules]]\nname = \"no\"\nthen = \"deny\"\nfields = [\"title\"]\n";
        setup(wiki)
            .with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs")
            .with_tables(denied)
    })
    .await;
    let with = |path: &str, name: &str| {
        let mut arguments = json!({ "id": id_of(&wiki, path), "propose": true });
        arguments[name] = json!("Ours");
        arguments
    };
    fails(
        &served,
        UPDATE,
        with("home", "description"),
        "PATH_NOT_ALLOWED",
    )
    .await;
    fails(&served, UPDATE, with("docs", "title"), "RULE_DENIED").await;
    let off = setup(&wiki).with("WIKI_MUTATIONS_ENABLED", "false");
    let off = off.serve().await;
    let refused = fails(&off, UPDATE, with("docs", "title"), "MUTATIONS_DISABLED").await;
    refused["details"].shows(json!({ "level": "off" }));
    let read_only = setup(&wiki).with("WIKI_READ_ONLY", "true").serve().await;
    assert!(read_only.app.registry().find(UPDATE).is_none());
    operator(&wiki, &served, &["pause", "moving"]).await.good();
    let description = with("docs", "description");
    fails(&served, UPDATE, description, "WRITES_PAUSED").await;
    assert_eq!(open(&served).await, Vec::<String>::new());
}

#[tokio::test]
async fn what_changes_nothing_is_unchanged_and_no_proposal() {
    let (wiki, served) = sample(setup).await;
    let home = id_of(&wiki, "home");
    let title = wiki.with_store(|store| store.page(home).unwrap().title.clone());
    let same = json!({ "id": home, "title": title, "propose": true });
    let answer = call_ok(&served, UPDATE, same).await;
    answer.shows(json!({ "outcome": "unchanged", "proposal": null }));
    assert_eq!(open(&served).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_later_proposal_of_the_session_builds_on_the_earlier() {
    let (wiki, served) = with_server(wiki_of(&[("docs/a", "One\n\nTwo\n")]).await, setup).await;
    let a = id_of(&wiki, "docs/a");
    let edit =
        |old: &str, new: &str| json!({ "id": a, "edits": [{ "oldText": old, "newText": new }] });
    let first = proposed(&served, UPDATE, edit("One", "1")).await;
    let second = proposed(&served, UPDATE, edit("Two", "2")).await;
    assert_eq!(state(&served, &first).await, "replaced");
    let both = call_ok(&served, GET_PROPOSAL, json!({ "id": second })).await;
    says(&both["diff"], "+1\n");
    says(&both["diff"], "+2");
    // A later preview is of the page as it is.
    let preview = call_ok(&served, UPDATE, edit("Two", "3")).await;
    lacks(&preview["diff"], "+1\n");
}

#[tokio::test]
async fn a_proposal_whose_page_changes_is_outdated_and_merged_by_the_operator() {
    let (wiki, served) = with_server(wiki_of(&[("docs/a", "One\n\nTwo\n")]).await, setup).await;
    let a = id_of(&wiki, "docs/a");
    let edit =
        |old: &str, new: &str| json!({ "id": a, "edits": [{ "oldText": old, "newText": new }] });
    let id = proposed(&served, UPDATE, edit("One", "1")).await;
    is_applied(&served, UPDATE, edit("Two", "2")).await;
    assert_eq!(state(&served, &id).await, "outdated");
    let apply = ["proposals", "apply", &id, "--yes"];
    assert_eq!(operator(&wiki, &served, &apply).await.code, 3);
    let merge = [&apply[..], &["--merge"]].concat();
    operator(&wiki, &served, &merge).await.good();
    let now = wiki.with_store(|store| store.page(a).unwrap().content.clone());
    assert_eq!(now, "1\n\n2\n");
}

#[tokio::test]
async fn what_contradicts_a_proposal_is_refused_and_the_hint_works() {
    let (wiki, served) = sample(setup).await;
    let home = id_of(&wiki, "home");
    let title = json!({ "id": home, "title": "Ours" });
    let preview = call_ok(&served, UPDATE, title.clone()).await;
    let mut both = title.clone();
    both["confirm"] = preview["confirm"].clone();
    both["propose"] = json!(true);
    let refused = fails(&served, UPDATE, both.clone(), "INVALID_INPUT").await;
    says(&refused["message"], "propose with all other arguments");
    let joins = json!({ "id": home, "title": "Ours", "draft": "d", "propose": true });
    let refused = fails(&served, UPDATE, joins.clone(), "INVALID_INPUT").await;
    says(&refused["message"], "leave it out here");
    says(&refused["message"], "wikijs_submit_draft with propose");
    // Both refusals are on record, and neither used the token up or made a draft.
    let refusals = served.records().into_iter();
    let refusals = refusals.filter(|one| one.gate.as_deref() == Some("input"));
    assert_eq!(refusals.count(), 2);
    let mut alone = joins;
    alone.as_object_mut().unwrap().remove("propose");
    call_ok(&served, UPDATE, alone).await;
    proposed(&served, SUBMIT, json!({ "draft": "d" })).await;
    both.as_object_mut().unwrap().remove("propose");
    let applied = call_ok(&served, UPDATE, both).await;
    applied.shows(json!({ "outcome": "applied" }));
}

#[tokio::test]
async fn a_preview_that_a_rule_leaves_to_people_becomes_one_proposal_once_it_is_confirmed() {
    for then in ["review", "person"] {
        let (wiki, served) = sample(|wiki| ruled(wiki, then)).await;
        let title = json!({ "id": id_of(&wiki, "home"), "title": "Ours" });
        let preview = call_ok(&served, UPDATE, title.clone()).await;
        preview.shows(json!({ "proposal": null, "outcome": null }));
        let told = preview["warnings"].to_string();
        says(
            &told,
            "The rule home leaves this to a person: nothing was sent, and confirm makes it a proposal.",
        );
        assert_eq!(open(&served).await, Vec::<String>::new(), "{then}");
        let mut confirmed = title;
        confirmed["confirm"] = preview["confirm"].clone();
        let left = call_ok(&served, UPDATE, confirmed.clone()).await;
        left.shows(json!({ "outcome": "waiting" }));
        let id = left["proposal"].as_str().unwrap().to_owned();
        // The token is used up, and says for what.
        let again = fails(&served, UPDATE, confirmed, "CONFIRM_EXPIRED").await;
        says(&again["message"], &format!("which made the proposal {id}"));
        says(&again["hint"], &format!("call again with confirm {id}"));
        assert_eq!(open(&served).await, std::slice::from_ref(&id), "{then}");
        let again = json!({ "confirm": id });
        let heard = call_ok(&served, UPDATE, again).await;
        heard.shows(json!({ "outcome": "waiting", "proposal": id }));
        assert_eq!(mutations(&wiki), []);
    }
}

#[tokio::test]
async fn a_set_that_a_rule_leaves_to_people_says_so_with_its_number_and_waits_once_confirmed() {
    let wiki = wiki_of(&[("docs/a", "# A\n"), ("docs/b", "# B\n")]).await;
    let tables = "[[rules]]\nname = \"few\"\nthen = \"review\"\npages_over = 1\n";
    let served = setup(&wiki).indexed().with_tables(tables).serve().await;
    let ids = ["docs/a", "docs/b"].map(|path| id_of(&wiki, path));
    let tagged = json!({ "ids": ids, "addTags": ["x"] });
    let preview = call_ok(&served, BULK, tagged.clone()).await;
    let part = "The rule few (with more than 1 pages asked for)";
    says(&preview["verdict"], part);
    says(&preview["verdict"], "confirm makes it a proposal");
    lacks(&preview["verdict"], "confirm sends");
    assert_eq!(open(&served).await, Vec::<String>::new());
    let left = confirmed_ok(&served, BULK, tagged.clone()).await;
    left.shows(json!({ "outcome": "waiting", "pages": 2 }));
    // Proposed without a preview, it waits as well.
    proposed(&served, BULK, tagged).await;
    assert_eq!(open(&served).await.len(), 2);
    assert_eq!(mutations(&wiki), []);
}

#[tokio::test]
async fn a_number_that_no_change_has_is_refused_and_nothing_is_said_to_have_changed() {
    let wiki = wiki_of(&[("docs/a", "# A\n"), ("docs/b", "# B\n")]).await;
    let served = setup(&wiki).serve().await;
    let ids = ["docs/a", "docs/b"].map(|path| id_of(&wiki, path));
    let id = proposed(&served, BULK, json!({ "ids": ids, "addTags": ["x"] })).await;
    for (numbers, why) in [("9", "no change of that number"), ("1,2", "All changes")] {
        let apply = ["proposals", "apply", &id, "--yes", "--leave-out", numbers];
        let ended = operator(&wiki, &served, &apply).await;
        says(&ended.stderr, why);
        lacks(&ended.told, "changed since");
    }
}

#[tokio::test]
async fn the_static_token_submits_and_the_levels_that_leave_all_to_people_do_so_at_once() {
    for (name, value, confirm, outcome) in [
        (
            "WIKI_MUTATION_CONFIRM_TOKEN",
            TOKEN,
            Some(TOKEN),
            Some("waiting"),
        ),
        ("WIKI_MUTATION_DRY_RUN", "true", None, None),
    ] {
        let (wiki, served) = sample(|wiki| ruled(wiki, "review").with(name, value)).await;
        let mut title = json!({ "id": id_of(&wiki, "home"), "title": "Ours" });
        if let Some(confirm) = confirm {
            title["confirm"] = json!(confirm);
        }
        let answer = call_ok(&served, UPDATE, title).await;
        answer.shows(json!({ "outcome": outcome, "proposal": open(&served).await[0] }));
        let part = "The rule home leaves this to a person.";
        says(&answer["warnings"].to_string(), part);
    }
}

/// Withdraws a proposal that must be open.
async fn withdraws(served: &Served, id: &str) -> Value {
    let ended = served.checked(WITHDRAW, json!({ "id": id })).await;
    ended.unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test]
async fn a_client_withdraws_its_own_proposal_once_and_every_door_says_so() {
    let (wiki, served) = sample(setup).await;
    let home = id_of(&wiki, "home");
    let id = proposed(&served, UPDATE, json!({ "id": home, "title": "Ours" })).await;
    let ended = withdraws(&served, &id).await;
    ended.shows(json!({ "id": id, "state": "withdrawn", "withdrawnBy": "an unnamed client" }));
    assert_eq!(open(&served).await, Vec::<String>::new());
    let again = fails(&served, WITHDRAW, json!({ "id": id }), "PROPOSAL_OUTDATED").await;
    assert_eq!(again["message"], "The proposal was withdrawn already.");
    again["details"].shows(json!({ "state": "withdrawn", "withdrawnBy": "an unnamed client" }));
    let heard = call_ok(&served, UPDATE, json!({ "confirm": id })).await;
    heard.shows(json!({ "outcome": "withdrawn", "proposal": id }));
    let listed = call_ok(&served, LIST_PROPOSALS, json!({ "state": "withdrawn" })).await;
    listed["proposals"][0].shows(json!({ "id": id, "withdrawnBy": "an unnamed client" }));
    let applied = operator(&wiki, &served, &["proposals", "apply", &id, "--yes"]).await;
    assert_ne!(applied.code, 0, "{}", applied.told);
    for (arguments, told) in [
        (vec!["proposals", "list", "--all"], "withdrawn"),
        (vec!["proposals", "show", &id], "by an unnamed client"),
        (vec!["audit", "list", "--outcome", "withdrawn"], "withdrawn"),
        (vec!["audit", "verify"], ""),
    ] {
        let ended = operator(&wiki, &served, &arguments).await;
        assert_eq!(ended.code, 0, "{arguments:?}: {}", ended.told);
        assert!(ended.stdout.contains(told), "{arguments:?}: {}", ended.told);
    }
    let records = served.records();
    let withdrawn = records
        .iter()
        .find(|one| one.decision.as_deref() == Some("withdrawn"));
    let call = withdrawn.unwrap().call.unwrap().to_string();
    let shown = operator(&wiki, &served, &["audit", "show", &call]).await;
    shown.prints("an unnamed client withdrew it");
    // What was withdrawn is made anew, and builds on nothing of it.
    let anew = proposed(&served, UPDATE, json!({ "id": home, "title": "Anew" })).await;
    assert_ne!(anew, id);
    assert_eq!(mutations(&wiki), []);
}

#[tokio::test]
async fn nobody_withdraws_what_is_unknown_decided_or_somebody_elses() {
    let (wiki, served) = sample(setup).await;
    let home = id_of(&wiki, "home");
    let id = proposed(&served, UPDATE, json!({ "id": home, "title": "Ours" })).await;
    let unknown = "0123456789abcdef";
    let none = fails(&served, WITHDRAW, json!({ "id": unknown }), "INVALID_INPUT").await;
    let client = Implementation::new("other", "1");
    let client = ClientConfig::new(ClientCapabilities::default(), client);
    let beside = setup(&wiki).in_dir_of(&served);
    let initialize = ClientLifecycleMode::Initialize;
    let other = beside.serve_to(client, initialize).await;
    let theirs = fails(&other, WITHDRAW, json!({ "id": id }), "INVALID_INPUT").await;
    assert_eq!(theirs, none);
    for bad in ["", "x", "last"] {
        let error = fails(&served, WITHDRAW, json!({ "id": bad }), "INVALID_INPUT").await;
        assert_eq!(error, none);
    }
    // Nothing but its session tells a client without a token from one of the same name.
    let second = setup(&wiki).in_dir_of(&served).serve().await;
    let theirs = fails(&second, WITHDRAW, json!({ "id": id }), "INVALID_INPUT").await;
    assert_eq!(theirs, none);
    withdraws(&served, &id).await;
    assert_eq!(state(&served, &id).await, "withdrawn");
    let rejected = proposed(&served, UPDATE, json!({ "id": home, "title": "More" })).await;
    let reject = ["proposals", "reject", &rejected, "--why", "no"];
    operator(&wiki, &served, &reject).await;
    let arguments = json!({ "id": rejected });
    let refused = fails(&served, WITHDRAW, arguments, "PROPOSAL_OUTDATED").await;
    assert_eq!(refused["message"], "The proposal was rejected already.");
    says(&refused["hint"], "can be proposed anew");
    proposed(&served, UPDATE, json!({ "id": home, "title": "More" })).await;
}

#[tokio::test]
async fn what_may_be_written_is_not_withdrawn() {
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let served = Setup::at(&faulty.address(), &wiki.keys().admin)
        .toolsets(ALL)
        .with("WIKI_HTTP_WRITE_TIMEOUT_MS", "500")
        .serve()
        .await;
    let id = proposed(&served, UPDATE, json!({ "page": "home", "title": "Ours" })).await;
    // It is sent, and nobody learns what became of it.
    faulty.on_mutations(Fault::new(Reach::Never, Reply::Cut));
    let apply = ["proposals", "apply", &id, "--yes"];
    let applied = Command::operator(&wiki, served.dir.path(), &apply)
        .with("WIKI_BASE_URL", &faulty.address())
        .end()
        .await;
    assert_eq!(applied.code, 4, "{}", applied.told);
    assert_eq!(state(&served, &id).await, "open");
    let refused = fails(&served, WITHDRAW, json!({ "id": id }), "PROPOSAL_OUTDATED").await;
    says(&refused["message"], "some of it may be written");
    assert_eq!(state(&served, &id).await, "open");
    let told = served.records();
    assert!(
        told.iter()
            .all(|record| record.decision.as_deref() != Some("withdrawn"))
    );
}

#[tokio::test]
async fn a_withdrawal_beside_a_decision_has_one_outcome_on_record() {
    for delay in [0, 150] {
        let (wiki, served) = sample(setup).await;
        let id = proposed(&served, UPDATE, json!({ "page": "home", "title": "Ours" })).await;
        wiki.set_write_delay(Duration::from_millis(delay));
        let apply = ["proposals", "apply", &id, "--yes"];
        let (applied, withdrawn) = tokio::join!(
            operator(&wiki, &served, &apply),
            served.call(WITHDRAW, json!({ "id": id }))
        );
        let outcome = state(&served, &id).await;
        let is_applied = applied.code == 0;
        assert_ne!(
            is_applied,
            withdrawn.is_ok(),
            "{} {withdrawn:?}",
            applied.told
        );
        assert_eq!(outcome, if is_applied { "applied" } else { "withdrawn" });
        assert_eq!(mutations(&wiki).len(), usize::from(is_applied));
        let records = served.records();
        let ends = decisions(&records);
        let ends = ends
            .iter()
            .filter(|word| ["applied", "withdrawn"].contains(word));
        assert_eq!(ends.count(), 1);
        operator(&wiki, &served, &["audit", "verify"]).await.good();
    }
}
