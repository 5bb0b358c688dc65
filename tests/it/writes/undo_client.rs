//! All that a client wrote since some time is taken back from the command line, as one set.

use crate::prelude::*;

fn setup(wiki: &DemoWiki) -> Setup {
    let setup = Setup::admin(wiki);
    setup.toolsets("pages,undo,drafts")
}

/// The name by which the client of the harness calls itself.
fn client(served: &Served) -> String {
    let records = served.records();
    let named = records.iter().find_map(|record| record.client.clone());
    named.unwrap().name
}

async fn operator(wiki: &DemoWiki, served: &Served, arguments: &[&str]) -> Ended {
    let command = Command::operator(wiki, served, arguments);
    command.writing().end().await
}

#[tokio::test]
async fn all_that_a_client_wrote_goes_back_as_one_set_each_page_in_one_change() {
    let wiki = sample_wiki().await;
    let before = timeless_pages(&wiki);
    let served = setup(&wiki).serve().await;
    let (home, other) = (id_of(&wiki, "home"), id_of(&wiki, "releases/2-4"));
    let moved = id_of(&wiki, "docs/configuration");
    let done = async |tool, arguments| served.confirmed(tool, arguments).await.unwrap();
    done(UPDATE, json!({ "id": home, "title": "One" })).await;
    let arguments = json!({ "id": home, "title": "Two", "addTags": ["x"] });
    done(UPDATE, arguments).await;
    done(CREATE, new_page("made/by-agent")).await;
    let arguments = json!({ "id": moved, "path": "docs/settings-moved" });
    done(UPDATE, arguments).await;
    let bulk = json!({ "ids": [home, other], "addTags": ["bulk"] });
    done(BULK, bulk).await;
    done(DELETE, json!({ "id": other })).await;
    // What the client took back itself needs nothing.
    let undone = done(UPDATE, json!({ "id": home, "description": "Other" })).await;
    let undo = json!({ "callId": undone["callId"] });
    done(UNDO, undo).await;
    let sent = mutations(&wiki).len();

    let name = client(&served);
    let words = [
        "undo", "--client", &name, "--since", "1h", "--yes", "--json",
    ];
    let taken = operator(&wiki, &served, &words).await.good().json();
    assert_eq!(taken["outcome"], "applied");
    // Four pages: three writes of one are one change.
    assert_eq!(taken["changes"].as_array().unwrap().len(), 4, "{taken}");
    assert_eq!(timeless_pages(&wiki), before);
    assert!(mutations(&wiki).len() <= sent + 5);

    // All of them count as taken back: there is nothing left, neither for the client nor by `last`.
    operator(&wiki, &served, &words).await.exits(3);
    let last = operator(&wiki, &served, &["undo", "last", "--yes"]).await;
    assert_eq!(last.code, 3, "{}", last.told);

    // The set goes back as any other.
    let whole = taken["callId"].as_str().unwrap();
    operator(&wiki, &served, &["undo", whole, "--yes"])
        .await
        .good();
    let title = wiki.with_store(|store| store.page(home).unwrap().title.clone());
    assert_eq!(title, "Two");
}

#[tokio::test]
async fn what_cannot_go_back_is_named_and_left_out_with_its_reason() {
    let (wiki, served) = sample(setup).await;
    let (home, other) = (id_of(&wiki, "home"), id_of(&wiki, "releases/2-4"));
    for id in [home, other] {
        let change = json!({ "id": id, "title": "Theirs" });
        served.confirmed(UPDATE, change).await.unwrap();
    }
    // Somebody else writes the same field.
    wiki.with_store(|store| {
        let page = store.page_mut(home).unwrap();
        "Somebody else's".clone_into(&mut page.title);
    });
    let name = client(&served);
    let words = ["undo", "--client", &name, "--since", "1h", "--yes"];
    let why =
        format!("left out: home (id {home}): somebody else changed what a write of it had changed");
    // Also where it is left to people, and again where it waits for them already.
    for _ in 0..2 {
        let command = Command::operator(&wiki, &served, &words).writing();
        let left = command.with("WIKI_CONFIRM", "review").end().await.exits(3);
        says(&left.stdout, &why);
    }
    let taken = operator(&wiki, &served, &words).await.good();
    assert!(taken.stdout.contains(&why), "{}", taken.told);
    let title = |id| wiki.with_store(|store| store.page(id).unwrap().title.clone());
    assert_eq!(title(home), "Somebody else's");
    assert_ne!(title(other), "Theirs");
    // Nothing is left that goes back: the same lines, and how to go on.
    let nothing = operator(&wiki, &served, &words).await.exits(3);
    says(&nothing.stderr, &why);
    says(&nothing.stderr, "`wikijs-gate undo CALL`");
}

#[tokio::test]
async fn nothing_is_taken_back_of_other_clients_or_of_before_then() {
    let (wiki, served) = sample(setup).await;
    let home = id_of(&wiki, "home");
    let change = json!({ "id": home, "title": "Theirs" });
    served.confirmed(UPDATE, change).await.unwrap();
    let sent = mutations(&wiki).len();
    let name = client(&served);
    for words in [
        [
            "undo",
            "--client",
            "somebody-else",
            "--since",
            "1h",
            "--yes",
        ],
        ["undo", "--client", &name, "--since", "2999-01-01", "--yes"],
    ] {
        let refused = operator(&wiki, &served, &words).await.exits(3);
        says(&refused.told, "No write of such a client");
    }
    for words in [
        &["undo", "--client", "x", "--yes"][..],
        &["undo", "--since", "1h", "--yes"],
        &["undo", "last", "--client", "x", "--since", "1h"],
        &["undo"],
    ] {
        operator(&wiki, &served, words).await.exits(2);
    }
    assert_eq!(mutations(&wiki).len(), sent);
}
