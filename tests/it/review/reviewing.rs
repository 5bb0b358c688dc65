//! People decide on sets: changes are left out, and what is applied is what was shown.

use wikijs_gate::audit::{Client, ProposalId};
use wikijs_gate::error::{Code, Failure};
use wikijs_gate::server::App;
use wikijs_gate::write::{Apply, Caller, Review, WriteAnswer, WriteRequest};

use crate::prelude::*;

/// Three pages of docs, and two that link to them.
async fn section() -> DemoWiki {
    wiki_of(&[
        ("docs/a", "A\n"),
        ("docs/b", "[a](/docs/a)\n"),
        ("docs/c", "C\n"),
        ("x/both", "[a](/docs/a) [b](/docs/b)\n"),
        ("x/one", "[c](/docs/c)\n"),
    ])
    .await
}

fn setup(wiki: &DemoWiki) -> Setup {
    Setup::admin(wiki)
        .indexed()
        .toolsets("pages,drafts,proposals,undo")
        .dry()
}

/// Proposes that all of docs goes to guide, with the links to it.
async fn propose(served: &Served) -> String {
    let shown = json!({ "path": "docs", "moveTo": "guide" });
    let shown = served.call(BULK, shown).await.unwrap();
    shown["proposal"].as_str().unwrap().to_owned()
}

/// Runs a command as the operator.
async fn operator(wiki: &DemoWiki, served: &Served, arguments: &[&str]) -> Ended {
    Command::operator(wiki, served, arguments).end().await
}

/// The number that `proposals show` prints before the change of a page.
async fn number_of(wiki: &DemoWiki, served: &Served, id: &str, path: &str) -> String {
    let shown = operator(wiki, served, &["proposals", "show", id]).await;
    let line = |line: &&str| line.contains(&format!(" en:{path} "));
    let line = shown.stdout.lines().find(line);
    let line = line.unwrap_or_else(|| panic!("{}", shown.told));
    line.split_once('.').unwrap().0.to_owned()
}

/// The places and texts of all pages.
fn all(wiki: &DemoWiki) -> Vec<(String, String)> {
    let mut pages: Vec<_> = wiki.with_store(|store| {
        let pages = store.pages();
        let told = pages.map(|page| (page.path.clone(), page.content.clone()));
        told.collect()
    });
    pages.sort();
    pages
}

fn pages(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    let told = |(path, content): &(&str, &str)| ((*path).to_owned(), (*content).to_owned());
    expected.iter().map(told).collect()
}

#[tokio::test]
async fn a_person_leaves_a_change_out_and_what_depends_on_it_stays_out() {
    let (wiki, served) = with_server(section().await, setup).await;
    let id = propose(&served).await;
    let number = number_of(&wiki, &served, &id, "docs/c").await;
    let arguments = [
        "proposals",
        "apply",
        &id,
        "--leave-out",
        &number,
        "--yes",
        "--json",
    ];
    let applied = operator(&wiki, &served, &arguments).await.good();
    // docs/c stays, and with it the page that only links to it.
    let expected = [
        ("docs/c", "C\n"),
        ("guide/a", "A\n"),
        ("guide/b", "[a](/guide/a)\n"),
        ("x/both", "[a](/guide/a) [b](/guide/b)\n"),
        ("x/one", "[c](/docs/c)\n"),
    ];
    assert_eq!(all(&wiki), pages(&expected));
    let applied = applied.json();
    let result = &applied["results"][0];
    let why = "a person left it out";
    let left_out = json!([
        { "id": id_of(&wiki, "docs/c"), "path": "docs/c", "why": why },
        { "id": id_of(&wiki, "x/one"), "path": "x/one", "why": why },
    ]);
    assert_eq!(result["leftOut"], left_out, "{result}");

    // The agent is told, and the record says so.
    let told = served.call(GET_PROPOSAL, json!({ "id": id })).await;
    let told = told.unwrap();
    let paths: Vec<&Value> = told["leftOut"].as_array().unwrap().iter().collect();
    assert_eq!(told["state"], "applied");
    assert_eq!((&paths[0]["path"], paths.len()), (&json!("docs/c"), 2));
    let listed = served.call(LIST_PROPOSALS, json!({ "state": "applied" }));
    let listed = listed.await.unwrap();
    assert_eq!(listed["proposals"][0]["leftOut"], told["leftOut"]);
    let reason = |record: &&wikijs_gate::audit::Record| {
        record.event == AuditEvent::Proposal && record.decision.as_deref() == Some("applied")
    };
    let records = served.records();
    let decided = records.iter().find(reason).unwrap();
    begins(&decided.reason.as_deref().unwrap(), "left out: 2 of 5: ");
    let call = result["callId"].as_str().unwrap();
    let shown = operator(&wiki, &served, &["audit", "show", call]).await;
    says(&shown.stdout, "left out: 2 of 5: ");
    let shown = operator(&wiki, &served, &["proposals", "show", &id]).await;
    let marks = shown.stdout.matches(", left out").count();
    assert_eq!(marks, 2, "{}", shown.told);
    operator(&wiki, &served, &["audit", "verify"]).await.good();
}

#[tokio::test]
async fn links_to_what_is_left_out_lead_to_where_it_stays() {
    let (wiki, served) = with_server(section().await, setup).await;
    let id = propose(&served).await;
    let number = number_of(&wiki, &served, &id, "docs/a").await;
    let arguments = ["proposals", "apply", &id, "--leave-out", &number, "--yes"];
    operator(&wiki, &served, &arguments).await.good();
    let expected = [
        ("docs/a", "A\n"),
        ("guide/b", "[a](/docs/a)\n"),
        ("guide/c", "C\n"),
        ("x/both", "[a](/docs/a) [b](/guide/b)\n"),
        ("x/one", "[c](/guide/c)\n"),
    ];
    assert_eq!(all(&wiki), pages(&expected));
}

#[tokio::test]
async fn leaving_out_everything_or_what_is_not_there_is_refused() {
    let (wiki, served) = with_server(section().await, setup).await;
    let id = propose(&served).await;
    for (numbers, says) in [
        ("1,2,3,4,5", "Reject the proposal instead"),
        ("6", "no change of that number"),
    ] {
        let arguments = ["proposals", "apply", &id, "--leave-out", numbers, "--yes"];
        let refused = operator(&wiki, &served, &arguments).await;
        assert_ne!(refused.code, 0, "{}", refused.told);
        assert!(refused.told.contains(says), "{}", refused.told);
    }
    for arguments in [
        &["proposals", "apply", &id, "--leave-out", "0", "--yes"][..],
        &["proposals", "apply", "--all", "--leave-out", "1", "--yes"],
        &["proposals", "apply", &id, &id, "--leave-out", "1", "--yes"],
    ] {
        operator(&wiki, &served, arguments).await.exits(2);
    }
    let title = json!({ "id": id_of(&wiki, "docs/a"), "title": "One" });
    let single = served.call(UPDATE, title).await.unwrap();
    let single = single["proposal"].as_str().unwrap();
    let arguments = ["proposals", "apply", single, "--leave-out", "1", "--yes"];
    let refused = operator(&wiki, &served, &arguments).await;
    assert!(refused.told.contains("instead"), "{}", refused.told);
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn whoever_takes_the_left_out_out_of_the_file_is_found_out() {
    let (wiki, served) = with_server(section().await, setup).await;
    let id = propose(&served).await;
    let arguments = ["proposals", "apply", &id, "--leave-out", "1", "--yes"];
    operator(&wiki, &served, &arguments).await.good();
    let file = proposal_file(served.dir.path(), &id);
    let whole: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert!(whole["leftOut"].is_array(), "{whole}");
    for forged in [json!([]), json!([1]), json!([0, 1, 2])] {
        let mut changed = whole.clone();
        changed["leftOut"] = forged;
        fs::write(&file, serde_json::to_vec(&changed).unwrap()).unwrap();
        let verified = operator(&wiki, &served, &["audit", "verify"]).await;
        assert_ne!(verified.code, 0, "{}", verified.told);
    }
}

fn person() -> Caller {
    let session = SessionId::new("person");
    Caller::new("proposals apply", Client::default(), session)
}

async fn review(app: &App, id: &str) -> Review {
    let shown = app.desk.review(id.parse().unwrap(), |_| true).await;
    shown.unwrap().0
}

/// What becomes of a decision that carries the digest of what was shown.
async fn decide(app: &App, apply: Apply) -> Result<WriteAnswer, Failure> {
    let plan = WriteRequest::Proposal(apply);
    let token = match app.writer.write(person(), plan.clone(), None).await? {
        WriteAnswer::Preview(preview) => preview.confirm,
        WriteAnswer::Applied(_) | WriteAnswer::Set(_) => None,
    };
    let token = token.unwrap().token;
    app.writer.write(person(), plan, Some(token)).await
}

#[tokio::test]
async fn nothing_but_what_was_shown_is_applied() {
    let (wiki, served) = with_server(section().await, setup).await;
    let id = propose(&served).await;
    let (app, ..) = Setup::admin(&wiki).in_dir_of(&served).app();
    let proposal: ProposalId = id.parse().unwrap();
    let shown = review(&app, &id).await;
    assert_eq!(shown.digest.len(), 64);
    assert_eq!(review(&app, &id).await.digest, shown.digest);
    let c = shown
        .proposal
        .changes()
        .position(|one| one.path.as_str() == "docs/c");
    let c = c.unwrap();
    let left_out = shown.left_out_with(&[c]);
    assert_eq!(left_out.len(), 2);

    // Somebody writes a page meanwhile: what would be applied is another thing, merged or not.
    let one = id_of(&wiki, "docs/b");
    wiki.with_store(|store| store.page_mut(one).unwrap().title = "Theirs".to_owned());
    let merged = review(&app, &id).await;
    assert_ne!(merged.digest, shown.digest);
    let changed = merged.changes.iter().filter(|one| one.merged.is_some());
    assert_eq!(changed.count(), 1);
    for merge in [false, true] {
        let apply = Apply {
            merge,
            leave_out: vec![c],
            expects: Some(shown.digest.clone()),
            ..Apply::all_of(proposal)
        };
        let refused = decide(&app, apply).await.unwrap_err();
        assert_eq!(refused.code, Code::ProposalOutdated, "{refused:?}");
        assert!(refused.to_string().contains("shown"), "{refused}");
    }
    assert_eq!(mutations(&wiki).len(), 0);
    let apply = Apply {
        merge: true,
        leave_out: vec![c],
        expects: Some(merged.digest),
        ..Apply::all_of(proposal)
    };
    decide(&app, apply).await.unwrap();
    let title = wiki.with_store(|store| store.page(one).unwrap().title.clone());
    assert_eq!(title, "Theirs");
    let decided = review(&app, &id).await;
    assert_eq!(decided.proposal.state.left_out(), left_out);
}

#[tokio::test]
async fn a_token_counts_for_what_was_left_out_when_it_was_given() {
    let (wiki, served) = with_server(section().await, setup).await;
    let id = propose(&served).await;
    let (app, ..) = Setup::admin(&wiki).in_dir_of(&served).app();
    let without = |leave_out: Vec<usize>| {
        WriteRequest::Proposal(
            Apply::all_of(id.parse().unwrap()).but(|apply| apply.leave_out = leave_out),
        )
    };
    let shown = app.writer.write(person(), without(vec![0]), None).await;
    let Ok(WriteAnswer::Preview(shown)) = shown else {
        panic!("{shown:?}");
    };
    let token = shown.confirm.unwrap().token;
    let refused = app
        .writer
        .write(person(), without(vec![]), Some(token))
        .await;
    assert_eq!(refused.unwrap_err().code, Code::ConfirmMismatch);
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn an_operator_is_shown_all_differences_of_a_large_set_before_it_is_applied() {
    let text = |word: &str| format!("{word} line\n").repeat(2_000);
    let old = text("old");
    let wiki = wiki_of(&[("docs/a", &old), ("docs/b", &old), ("docs/c", &old)]).await;
    let served = setup(&wiki).serve().await;
    let ids = ["docs/a", "docs/b", "docs/c"].map(|path| id_of(&wiki, path));
    let replace = json!([{ "oldText": "old line", "newText": "new line"}]);
    let bulk = full(json!({ "ids": ids, "replaceAll": replace }));
    let shown = match served.call(BULK, bulk).await {
        Ok(shown) => shown,
        Err(error) => panic!("{error}"),
    };
    // An agent's answer is bounded.
    assert!(shown.to_string().contains("diffs_not_shown"), "{shown}");
    let id = shown["proposal"].as_str().unwrap();
    for arguments in [
        &["proposals", "show", id][..],
        &["proposals", "apply", id, "--yes"],
    ] {
        let told = operator(&wiki, &served, arguments).await.good();
        let added = told.stdout.lines();
        let added = added.filter(|line| line.contains("+new line"));
        assert_eq!(added.count(), 6_000, "{arguments:?}");
        assert!(!told.stdout.contains("diffs_not_shown"), "{arguments:?}");
    }
}
