//! Who did it: operators' commands name the user of the machine, what is applied names who
//! proposed it, and what was refused names what it was about.

use wikijs_gate::audit::Actor;

use crate::prelude::*;

fn setup(wiki: &DemoWiki) -> Setup {
    Setup::scripter(wiki).dry().toolsets("pages,undo,proposals")
}

async fn run(wiki: &DemoWiki, served: &Served, arguments: &[&str]) -> Ended {
    Command::new(arguments)
        .at(&wiki.address(), &wiki.keys().scripter, served.dir.path())
        .writing()
        .quiet()
        .end()
        .await
}

async fn listed(wiki: &DemoWiki, served: &Served, arguments: &[&str]) -> Vec<Value> {
    let arguments = [&["audit", "list", "--json"], arguments].concat();
    let answer = run(wiki, served, &arguments).await.json();
    answer["calls"].as_array().unwrap().clone()
}

/// Who runs these tests, by the system's own word.
fn user() -> String {
    let told = std::process::Command::new("id")
        .arg("-un")
        .output()
        .unwrap();
    String::from_utf8(told.stdout).unwrap().trim().to_owned()
}

async fn propose(served: &Served, tool: &str, arguments: Value) -> String {
    let preview = served.call(tool, arguments).await.unwrap();
    preview["proposal"].as_str().unwrap().to_owned()
}

/// The last refusal on record.
fn refused(served: &Served) -> Record {
    let refusals = served.records().into_iter();
    let mut refusals = refusals.filter(|record| record.event == AuditEvent::Refusal);
    refusals.next_back().unwrap()
}

#[tokio::test]
async fn a_command_names_the_user_of_the_machine_and_whose_proposal_it_decides_on() {
    let (wiki, served) = sample(setup).await;
    let home = id_of(&wiki, "home");
    let first = propose(&served, UPDATE, json!({ "id": home, "title": "1" })).await;
    let second = propose(&served, CREATE, new_page("docs/x")).await;
    for arguments in [
        &["proposals", "apply", &first, "--yes"][..],
        &["proposals", "reject", &second, "--why", "no"],
        &["undo", "last", "--yes"],
        &[
            "tool",
            "call",
            UPDATE,
            "--args",
            &format!("{{\"id\": {home}, \"title\": \"2\"}}"),
            "--yes",
        ],
    ] {
        run(&wiki, &served, arguments).await.good();
    }
    let user = format!("user:{}", user());
    let records = served.records();
    let agent = records.iter().find_map(|record| record.client.clone());
    let agent = agent.unwrap().name;
    let mut by_commands = 0;
    for record in records.iter().filter(|record| record.call.is_some()) {
        let client = record.client.as_ref().unwrap();
        let actor = record.actor.as_ref().map(Actor::as_str);
        if client.name == "wikijs-gate" {
            by_commands += 1;
            let actor = actor.unwrap();
            assert_eq!(actor.split('/').next(), Some(user.as_str()), "{record:?}");
        } else {
            assert_eq!(actor, None, "{record:?}");
        }
        let decides = record.tool.as_ref().unwrap().starts_with("proposals ");
        let proposer = record.proposer.as_ref().map(|client| client.name.as_str());
        assert_eq!(proposer, decides.then_some(agent.as_str()), "{record:?}");
    }
    assert!(by_commands >= 8, "{by_commands}");

    // Both are shown, and found by.
    let rows = listed(&wiki, &served, &["--client", &user]).await;
    let tools = rows.iter().filter(|row| row["outcome"] != "preview");
    let tools: Vec<&str> = tools.map(|row| row["tool"].as_str().unwrap()).collect();
    let expected = [UPDATE, "undo", "proposals reject", "proposals apply"];
    assert_eq!(tools, expected);
    let of_agent = listed(&wiki, &served, &["--client", &agent]).await;
    let decided = of_agent.iter().filter(|row| row["actor"].is_string());
    assert_eq!(decided.count(), 3);
    let rejected = listed(&wiki, &served, &["--outcome", "rejected"]).await;
    assert_eq!(rejected.len(), 1);
    rejected[0].shows(json!({ "proposal": second.as_str(), "path": "docs/x" }));
    let call = rejected[0]["call"].as_str().unwrap();
    let shown = run(&wiki, &served, &["audit", "show", call]).await;
    for told in [
        format!("decided by    {user}"),
        format!("asked by      {agent}"),
        format!("call {call} rejected"),
    ] {
        assert!(shown.stdout.contains(&told), "{told}: {}", shown.told);
    }
    let list = run(&wiki, &served, &["audit", "list"]).await;
    for told in [
        format!("{user} for {agent}"),
        format!("proposals reject {second}"),
        format!("proposals apply {first}"),
        "rejected (operator)".to_owned(),
    ] {
        assert!(list.stdout.contains(&told), "{told}: {}", list.told);
    }
}

#[tokio::test]
async fn a_refused_apply_names_the_proposal_its_page_and_who_proposed_it() {
    let (wiki, served) = sample(setup).await;
    let home = id_of(&wiki, "home");
    let proposal = propose(&served, UPDATE, json!({ "id": home, "title": "1" })).await;
    wiki.with_store(|store| store.rewrite(home, |page| page.title = "Theirs".to_owned()));
    let ended = run(&wiki, &served, &["proposals", "apply", &proposal, "--yes"]).await;
    assert_eq!(ended.code, 3, "{}", ended.told);
    let record = refused(&served);
    assert_eq!(record.proposal.as_deref(), Some(proposal.as_str()));
    assert_eq!(record.id, Some(home));
    assert_eq!(record.path.as_ref().unwrap().as_str(), "home");
    assert!(record.operation.is_some() && record.proposer.is_some());
    let rows = listed(&wiki, &served, &["--outcome", "refused", "--path", "home"]).await;
    assert_eq!(rows.len(), 1);
    let list = run(&wiki, &served, &["audit", "list", "--outcome", "refused"]).await;
    let told = format!("proposals apply {proposal}");
    assert!(list.stdout.contains(&told), "{}", list.told);
    assert!(list.stdout.contains("en:home"), "{}", list.told);
    run(&wiki, &served, &["audit", "verify"]).await.good();
}

#[tokio::test]
async fn a_refused_undo_names_the_call_and_its_page() {
    let (wiki, served) = sample(|wiki| setup(wiki).with("WIKI_MUTATION_DRY_RUN", "false")).await;
    let home = id_of(&wiki, "home");
    let edit = json!({ "id": home, "title": "1" });
    let applied = served.confirmed(UPDATE, edit).await.unwrap();
    let call = applied["callId"].as_str().unwrap();
    wiki.with_store(|store| store.rewrite(home, |page| page.title = "Theirs".to_owned()));
    let setup = setup(&wiki).with("WIKI_MUTATIONS_ENABLED", "false");
    let disabled = setup.in_dir_of(&served).serve().await;
    for meant in [call, call.split_at(6).0, "last"] {
        let undo = json!({ "callId": meant });
        fails(&served, UNDO, undo.clone(), "EDIT_CONFLICT").await;
        let conflict = refused(&served);
        fails(&disabled, UNDO, undo, "MUTATIONS_DISABLED").await;
        for record in [conflict, refused(&served)] {
            assert_eq!(record.undoes.unwrap().to_string(), call, "{meant}");
            assert_eq!(record.id, Some(home));
            assert_eq!(record.path.as_ref().unwrap().as_str(), "home");
        }
    }
    // A refusal undoes nothing.
    let force = json!({ "callId": call, "force": true });
    is_applied(&served, UNDO, force).await;
    // A call that is not on record is named as far as somebody named it.
    let unknown = json!({ "callId": "0123456789abcdef" });
    served.call(UNDO, unknown).await.unwrap_err();
    let record = refused(&served);
    assert_eq!(record.undoes.unwrap().to_string(), "0123456789abcdef");
    assert_eq!(record.path, None);
}
