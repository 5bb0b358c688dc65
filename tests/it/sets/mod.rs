//! Sets of many changes: shown and confirmed as one, sent one after another, taken back together.

mod drafts;
mod in_brief;
mod proposals;
mod proposing;
mod set_faults;
mod set_review;
mod sets_together;
mod swaps;

use crate::prelude::*;

/// The ids of the pages that are so, in order.
fn ids(wiki: &DemoWiki, is_it: impl Fn(&PageRow) -> bool) -> Vec<i64> {
    let mut ids = wiki.with_store(|store| {
        let pages = store.pages().filter(|page| is_it(page));
        vec_of(pages.map(|page| page.id))
    });
    ids.sort_unstable();
    ids
}

/// The ids of the first pages of the sample, in order.
fn some(wiki: &DemoWiki, count: usize) -> Vec<i64> {
    let mut ids = ids(wiki, |page| page.editor == "markdown");
    ids.truncate(count);
    assert_eq!(ids.len(), count);
    ids
}

fn all(wiki: &DemoWiki) -> Vec<PageRow> {
    let timeless = |page: &PageRow| page.clone().but(|row| row.updated_at = String::new());
    let mut pages: Vec<PageRow> = wiki.with_store(|store| store.pages().map(timeless).collect());
    pages.sort_by_key(|page| page.id);
    pages
}

fn tagged(wiki: &DemoWiki, tag: &str) -> Vec<i64> {
    ids(wiki, |page| page.tags.iter().any(|own| own == tag))
}

async fn served(address: &str, wiki: &DemoWiki) -> Served {
    served_with(address, wiki, QUICK).await
}

async fn served_with(address: &str, wiki: &DemoWiki, patience: Timeouts) -> Served {
    let mut setup = Setup::at(address, &wiki.keys().admin).toolsets("pages,undo,drafts");
    setup.patience = patience;
    setup.serve().await
}

fn tag(ids: &[i64]) -> Value {
    json!({ "ids": ids, "addTags": ["set"], "expectPages": ids.len() })
}

/// The records of one event of the changes: the end of the set itself is none of them.
fn of(records: &[Record], event: AuditEvent) -> Vec<&Record> {
    let is_it = |one: &&Record| one.event == event && one.step.is_some();
    records.iter().filter(is_it).collect()
}

#[tokio::test]
async fn many_pages_are_edited_as_one_set_that_is_shown_first() {
    let wiki = sample_wiki().await;
    let served = served(&wiki.address(), &wiki).await;
    let (ids, before) = (some(&wiki, 5), all(&wiki));
    let shown = served.call(BULK, full(tag(&ids))).await.unwrap();
    shown.shows(json!({ "preview": true, "pages": 5 }));
    assert_eq!(shown["changes"].as_array().unwrap().len(), 5);
    assert_eq!(shown["changes"][0]["target"]["id"], ids[0]);
    assert_eq!(shown["changes"][0]["changed"], json!(["tags"]));
    assert_eq!(mutations(&wiki).len(), 0);

    let mut arguments = tag(&ids);
    arguments["confirm"] = shown["confirm"].clone();
    let done = served.call(BULK, arguments.clone()).await.unwrap();
    done.shows(json!({ "outcome": "applied", "applied": 5 }));
    assert_eq!(tagged(&wiki, "set"), ids);
    let (mut now, mut expected) = (all(&wiki), before);
    for page in expected.iter_mut().filter(|page| ids.contains(&page.id)) {
        page.tags.push("set".to_owned());
    }
    for page in now.iter_mut().chain(&mut expected) {
        page.tags.sort();
    }
    assert_eq!(now, expected);
    // Each change is a call of its own, on record once before and once after it was sent.
    assert_eq!(mutations(&wiki).len(), 5);
    let records = served.records();
    for event in [AuditEvent::Attempt, AuditEvent::Outcome] {
        let of_event = of(&records, event);
        assert_eq!(of_event.len(), 5);
        for (record, change) in of_event.iter().zip(done["changes"].as_array().unwrap()) {
            assert_eq!(record.set.unwrap().to_string(), done["callId"]);
            assert_eq!(record.call.unwrap().to_string(), change["callId"]);
            assert_eq!(record.id.unwrap(), change["id"]);
        }
    }
    // The token is used up, which the same call hears, and one that names the pages alone.
    let short = json!({ "ids": ids, "confirm": arguments["confirm"] });
    for again in [arguments, short] {
        let refused = fails(&served, BULK, again, "CONFIRM_EXPIRED").await;
        let message = refused["message"].as_str().unwrap();
        says(&message, "already used by the call");
    }
    // What is so already is left out, and nothing is sent.
    let nothing = served.call(BULK, tag(&ids)).await.unwrap();
    assert_eq!(nothing["outcome"], "unchanged");
    assert_eq!(nothing["leftOut"].as_array().unwrap().len(), 5);
    assert_eq!(mutations(&wiki).len(), 5);
}

#[tokio::test]
async fn another_number_of_pages_than_expected_sends_nothing() {
    let wiki = sample_wiki().await;
    let served = served(&wiki.address(), &wiki).await;
    let ids = some(&wiki, 3);
    for arguments in [
        json!({ "ids": ids, "addTags": ["set"], "expectPages": 2 }),
        // A page that is named twice counts once.
        json!({ "ids": [ids[0], ids[0]], "addTags": ["set"], "expectPages": 2 }),
        json!({ "path": "no/such", "addTags": ["set"] }),
        json!({ "addTags": ["set"] }),
        json!({ "ids": ids }),
        json!({ "ids": ids, "path": "docs", "addTags": ["set"] }),
    ] {
        fails(&served, BULK, arguments.clone(), "INVALID_INPUT").await;
    }
    let unknown = json!({ "ids": [999_999], "addTags": ["set"] });
    fails(&served, BULK, unknown, "PAGE_NOT_FOUND").await;
    assert_eq!(mutations(&wiki).len(), 0);
    let twice = json!({ "ids": [ids[0], ids[1], ids[0]], "addTags": ["set"] });
    is_applied(&served, BULK, twice).await;
    assert_eq!(mutations(&wiki).len(), 2);
}

#[tokio::test]
async fn two_hundred_pages_can_be_named_by_their_ids_and_no_more() {
    let wiki = sample_wiki().await;
    wiki.with_store(|store| {
        for number in 0..201 {
            store.add(page(&format!("many/p{number}"), "Text.\n"));
        }
    });
    let mut ids = ids(&wiki, |page| page.path.starts_with("many/"));
    let served = served(&wiki.address(), &wiki).await;
    fails(&served, BULK, tag(&ids), "INVALID_INPUT").await;
    ids.pop();
    let shown = served.call(BULK, tag(&ids)).await.unwrap();
    assert_eq!(shown["pages"], 200, "{shown}");
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_set_of_which_one_page_changed_since_it_was_shown_is_refused_whole() {
    let wiki = sample_wiki().await;
    let served = served(&wiki.address(), &wiki).await;
    let ids = some(&wiki, 4);
    let mut arguments = tag(&ids);
    arguments["confirm"] = served.call(BULK, tag(&ids)).await.unwrap()["confirm"].clone();
    wiki.with_store(|store| "Theirs".clone_into(&mut store.page_mut(ids[2]).unwrap().title));
    let refused = fails(&served, BULK, arguments, "EDIT_CONFLICT").await;
    assert_eq!(refused["details"]["id"], ids[2]);
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_token_counts_for_no_other_edit_and_no_other_pages() {
    let wiki = sample_wiki().await;
    let served = served(&wiki.address(), &wiki).await;
    let ids = some(&wiki, 3);
    let token = served.call(BULK, tag(&ids)).await.unwrap()["confirm"].clone();
    for arguments in [
        json!({ "ids": ids, "addTags": ["other"], "confirm": token }),
        json!({ "ids": &ids[..2], "addTags": ["set"], "expectPages": 2, "confirm": token }),
        json!({ "ids": ids, "addTags": ["set"], "onFailure": "keep", "confirm": token }),
    ] {
        fails(&served, BULK, arguments, "CONFIRM_MISMATCH").await;
    }
    let single = json!({ "id": ids[0], "confirm": token });
    fails(&served, UPDATE, single, "CONFIRM_MISMATCH").await;
    assert_eq!(mutations(&wiki).len(), 0);
}

/// How many requests come in between the confirmed call of a set and its third mutation.
async fn requests_before_the_third() -> usize {
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let served = served(&faulty.address(), &wiki).await.acquainted().await;
    let ids = some(&wiki, 4);
    let mut arguments = tag(&ids);
    arguments["confirm"] = served.call(BULK, tag(&ids)).await.unwrap()["confirm"].clone();
    let count = faulty.seen().len();
    served.call(BULK, arguments).await.unwrap();
    let seen = faulty.seen();
    let mutations = (count..seen.len()).filter(|place| seen[*place].is_mutation);
    mutations.collect::<Vec<_>>()[2] - count
}

/// A set of four whose third change meets a fault: the wiki, what is answered, and the server.
async fn third_meets(fault: Fault, more: Value) -> (DemoWiki, FaultyWiki, Served, Value) {
    let before = requests_before_the_third().await;
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let served = served(&faulty.address(), &wiki).await.acquainted().await;
    let mut arguments = tag(&some(&wiki, 4));
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    let shown = served.call(BULK, arguments.clone()).await.unwrap();
    arguments["confirm"] = shown["confirm"].clone();
    faulty.on_request_after(before, fault);
    let failed = served.call(BULK, arguments).await.unwrap_err();
    (wiki, faulty, served, failed)
}

fn refusal() -> Fault {
    let refusal = json!({ "data": { "pages": { "update": { "responseResult": {
        "succeeded": false, "errorCode": 6009, "slug": "PageUpdateForbidden", "message": "No." } } } } });
    let reply = Reply::say(200, "application/json", &refusal.to_string());
    Fault::new(Reach::Never, reply)
}

fn outcomes(failed: &Value) -> Vec<&str> {
    let changes = failed["details"]["changes"].as_array().unwrap();
    vec_of(changes.iter().map(|one| one["outcome"].as_str().unwrap()))
}

#[tokio::test]
async fn the_first_change_that_fails_stops_the_set_and_what_was_applied_is_taken_back() {
    let untouched = all(&sample_wiki().await);
    let (wiki, faulty, served, failed) = third_meets(refusal(), json!({})).await;
    assert_eq!(failed["code"], "NOT_APPLIED", "{failed}");
    assert_eq!(failed["details"]["outcome"], "not_applied");
    let expected = ["taken_back", "taken_back", "not_applied", "not_sent"];
    assert_eq!(outcomes(&failed), expected);
    let created = |pages: Vec<PageRow>| -> Vec<PageRow> {
        let plain = |page: PageRow| page.but(|row| row.created_at = String::new());
        pages.into_iter().map(plain).collect()
    };
    assert_eq!(created(all(&wiki)), created(untouched));
    // Three were tried, two went back, the last applied first; each on record under the set.
    assert_eq!(faulty.mutations().len(), 5);
    let records = served.records();
    let attempts = of(&records, AuditEvent::Attempt);
    let pages: Vec<_> = attempts.iter().map(|record| record.id.unwrap()).collect();
    assert_eq!(pages[3..], [pages[1], pages[0]]);
    let undone: Vec<_> = attempts.iter().map(|record| record.undoes).collect();
    let calls: Vec<_> = attempts.iter().map(|record| record.call).collect();
    assert_eq!(undone, [None, None, None, calls[1], calls[0]]);
    let set = attempts[0].set.unwrap();
    assert_eq!(failed["details"]["callId"], set.to_string());
    assert!(attempts.iter().all(|record| record.set == Some(set)));
}

#[tokio::test]
async fn what_was_applied_stays_where_that_is_asked_for() {
    let (wiki, faulty, _served, failed) =
        third_meets(refusal(), json!({ "onFailure": "keep" })).await;
    assert_eq!(failed["code"], "PARTLY_APPLIED", "{failed}");
    let outcomes = outcomes(&failed);
    assert_eq!(outcomes, ["applied", "applied", "not_applied", "not_sent"]);
    assert_eq!(tagged(&wiki, "set"), some(&wiki, 2));
    assert_eq!(faulty.mutations().len(), 3);
}

#[tokio::test]
async fn after_an_outcome_that_nobody_knows_nothing_more_is_sent() {
    let cut = Fault::new(Reach::Never, Reply::Cut);
    let (wiki, faulty, served, failed) = third_meets(cut, json!({})).await;
    assert_eq!(failed["code"], "OUTCOME_UNKNOWN", "{failed}");
    assert_eq!(failed["details"]["outcome"], "unknown");
    let outcomes = outcomes(&failed);
    assert_eq!(outcomes, ["applied", "applied", "unknown", "not_sent"]);
    assert_eq!(tagged(&wiki, "set"), some(&wiki, 2));
    assert_eq!(faulty.mutations().len(), 3);
    let records = served.records();
    let unknown = of(&records, AuditEvent::Outcome);
    assert_eq!(unknown[2].outcome, Some(Outcome::Unknown));
}

#[tokio::test]
async fn a_set_that_takes_long_is_answered_with_how_far_it_is_and_goes_on() {
    let wiki = sample_wiki().await;
    let patience = QUICK.but(|times| times.answering = Duration::ZERO);
    let served = served_with(&wiki.address(), &wiki, patience).await;
    let ids = some(&wiki, 4);
    wiki.set_write_delay(Duration::from_millis(300));
    let answer = served.confirmed(BULK, tag(&ids)).await.unwrap();
    answer.shows(json!({ "outcome": "applying", "pages": 4 }));
    while mutations(&wiki).is_empty() {
        tokio::task::yield_now().await;
    }
    // Nothing of it is taken back while it goes on.
    for call in [&answer["callId"], &json!("last")] {
        let undo = json!({ "callId": call });
        let refused = fails(&served, UNDO, undo, "NOTHING_TO_UNDO").await;
        says(&refused["message"].to_string(), "still being applied");
    }
    // The end of the server stops it behind the change under way, and waits for that.
    served.app.writer.finish().await;
    let sent = mutations(&wiki).len();
    assert!(sent < 5, "{sent}");
    assert_eq!(tagged(&wiki, "set"), ids[..sent]);
    let records = served.records();
    assert_eq!(of(&records, AuditEvent::Attempt).len(), sent);
    assert_eq!(of(&records, AuditEvent::Outcome).len(), sent);
    // Another server tells what became of it, from the record.
    let setup = Setup::admin(&wiki).toolsets("pages,drafts");
    let other = setup.in_dir(&served.dir).serve().await;
    let which = json!({ "id": answer["callId"] });
    let told = other.call(CHANGE_SET, which).await;
    if sent == 0 {
        assert_eq!(told.unwrap_err()["code"], "INVALID_INPUT");
    } else {
        let told = told.unwrap();
        let outcome = if sent == 4 { "applied" } else { "interrupted" };
        told.shows(json!({ "outcome": outcome, "applied": sent }));
        told["changes"][0].shows(json!({ "id": ids[0], "outcome": "applied" }));
    }
}

/// Applies a proposal as the operator; what became of it is told as JSON.
async fn apply(at: &str, wiki: &DemoWiki, served: &Served, id: &str) -> Ended {
    let arguments = ["proposals", "apply", id, "--yes", "--json"];
    operator(at, wiki, served, &arguments).await
}

/// Runs a command as the operator.
async fn operator(at: &str, wiki: &DemoWiki, served: &Served, arguments: &[&str]) -> Ended {
    let command = Command::new(arguments).at(at, &wiki.keys().admin, served.dir.path());
    command.writing().quiet().end().await
}

async fn dry(at: &str, wiki: &DemoWiki) -> Served {
    let setup = Setup::at(at, &wiki.keys().admin).toolsets("pages,drafts,proposals,undo");
    setup.dry().serve().await
}

#[tokio::test]
async fn a_set_in_a_dry_run_is_one_proposal_that_a_person_applies_whole() {
    let wiki = sample_wiki().await;
    let at = wiki.address();
    let served = dry(&at, &wiki).await;
    let ids = some(&wiki, 3);
    let shown = served.call(BULK, tag(&ids)).await.unwrap();
    let id = shown["proposal"].as_str().unwrap();
    let told = || served.call(GET_PROPOSAL, full(json!({ "id": id })));
    let open = told().await.unwrap();
    open.shows(json!({ "state": "open", "pageId": ids[0], "pages": 3 }));
    let third = &open["changes"][2];
    assert_eq!(third["target"]["id"], ids[2]);
    assert!(third["changes"]["tags"].is_object(), "{open}");
    let listed = operator(&at, &wiki, &served, &["proposals", "list"]).await;
    assert!(listed.stdout.contains("and 2 more"), "{}", listed.told);
    let looked = operator(&at, &wiki, &served, &["proposals", "show", id]).await;
    says(&looked.stdout, "a set of 3 changes");
    assert!(looked.stdout.contains("3. update"), "{}", looked.told);
    assert_eq!(mutations(&wiki).len(), 0);

    let applied = apply(&at, &wiki, &served, id).await.good();
    assert_eq!(tagged(&wiki, "set"), ids);
    assert_eq!(mutations(&wiki).len(), 3);
    let done = told().await.unwrap();
    assert_eq!(done["state"], "applied", "{done}");
    // What was decided is decided; the log holds, and the set's call takes all of it back.
    let again = apply(&at, &wiki, &served, id).await;
    assert_ne!(again.code, 0, "{}", again.told);
    assert_eq!(mutations(&wiki).len(), 3);
    let verified = operator(&at, &wiki, &served, &["audit", "verify"]).await;
    verified.good();
    let applied = applied.json();
    let call = applied["results"][0]["callId"].as_str().unwrap();
    let undone = operator(&at, &wiki, &served, &["undo", call, "--yes"]).await;
    undone.good();
    assert_eq!(tagged(&wiki, "set"), Vec::<i64>::new());
}

#[tokio::test]
async fn a_proposed_set_of_which_a_page_changed_since_is_outdated_and_names_it() {
    let wiki = sample_wiki().await;
    let at = wiki.address();
    let served = dry(&at, &wiki).await;
    let ids = some(&wiki, 3);
    let shown = served.call(BULK, tag(&ids)).await.unwrap();
    let id = shown["proposal"].as_str().unwrap();
    let path = wiki.with_store(|store| {
        let page = store.page_mut(ids[1]).unwrap();
        page.tags = vec!["theirs".to_owned()];
        page.path.clone()
    });
    let told = served.call(GET_PROPOSAL, json!({ "id": id }));
    let told = told.await.unwrap();
    assert_eq!(told["state"], "outdated");
    assert_eq!(told["since"]["path"], path, "{told}");
    let applied = apply(&at, &wiki, &served, id).await;
    assert_ne!(applied.code, 0);
    assert!(applied.stdout.contains(&path), "{}", applied.told);
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn whoever_changes_the_file_of_a_proposed_set_changes_nothing_that_is_applied() {
    let wiki = sample_wiki().await;
    let at = wiki.address();
    let served = dry(&at, &wiki).await;
    let shown = served.call(BULK, tag(&some(&wiki, 3))).await.unwrap();
    let id = shown["proposal"].as_str().unwrap();
    let file = proposal_file(served.dir.path(), id);
    let whole: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let mut swapped = whole.clone();
    swapped["others"][0]["after"] = swapped["others"][1]["after"].clone();
    let mut shorter = whole.clone();
    shorter["others"].as_array_mut().unwrap().pop();
    let mut single = whole.clone();
    single["isList"] = json!(false);
    single["others"] = json!([]);
    for changed in [swapped, shorter, single] {
        fs::write(&file, serde_json::to_vec(&changed).unwrap()).unwrap();
        let applied = apply(&at, &wiki, &served, id).await;
        assert!(applied.told.contains("on record"), "{}", applied.told);
    }
    assert_eq!(mutations(&wiki).len(), 0);
    fs::write(&file, serde_json::to_vec(&whole).unwrap()).unwrap();
    apply(&at, &wiki, &served, id).await.good();
}

#[tokio::test]
async fn applying_a_proposed_set_again_makes_what_is_left_of_it() {
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let served = dry(&faulty.address(), &wiki).await;
    let ids = some(&wiki, 4);
    let shown = served.call(BULK, tag(&ids)).await.unwrap();
    let id = shown["proposal"].as_str().unwrap();
    // The second change is refused, and so is taking the first one back.
    faulty.on_mutations_after(1, refusal());
    let at = faulty.address();
    let stopped = apply(&at, &wiki, &served, id).await;
    assert_ne!(stopped.code, 0, "{}", stopped.told);
    assert_eq!(tagged(&wiki, "set"), ids[..1], "{}", stopped.told);
    let sent = faulty.mutations().len();
    faulty.on_mutations(Fault::new(Reach::Before, Reply::Wiki));
    apply(&at, &wiki, &served, id).await.good();
    assert_eq!(tagged(&wiki, "set"), ids);
    // What was applied was not written again.
    assert_eq!(faulty.mutations().len(), sent + 3);
    let told = served.call(GET_PROPOSAL, json!({ "id": id }));
    assert_eq!(told.await.unwrap()["state"], "applied");
}

#[tokio::test]
async fn a_place_that_is_denied_refuses_the_whole_set() {
    let wiki = sample_wiki().await;
    let ids = some(&wiki, 3);
    let path = wiki.with_store(|store| store.page(ids[1]).unwrap().path.clone());
    let setup = Setup::admin(&wiki).toolsets("pages,drafts");
    let setup = setup.with("WIKI_DENIED_MUTATION_PATH_PREFIXES", &path);
    let served = setup.serve().await;
    let refused = fails(&served, BULK, tag(&ids), "PATH_DENIED").await;
    assert_eq!(refused["details"]["path"], path);
}

#[tokio::test]
async fn undo_takes_a_whole_set_back_as_a_set_and_then_there_is_nothing_left() {
    let wiki = sample_wiki().await;
    let served = served(&wiki.address(), &wiki).await;
    let (ids, before) = (some(&wiki, 4), all(&wiki));
    let done = served.confirmed(BULK, tag(&ids)).await.unwrap();
    let undo = json!({ "callId": done["callId"] });
    let shown = served.call(UNDO, full(undo.clone())).await.unwrap();
    shown.shows(json!({ "preview": true, "pages": 4 }));
    // The last comes first.
    assert_eq!(shown["changes"][0]["target"]["id"], ids[3]);
    let undone = is_applied(&served, UNDO, undo.clone()).await;
    assert_eq!(all(&wiki), before);
    assert_eq!(mutations(&wiki).len(), 8);
    fails(&served, UNDO, undo, "NOTHING_TO_UNDO").await;
    // Whoever asks what became of the set learns it, from memory and from the record.
    let asked = json!({ "id": done["callId"] });
    let next = Setup::admin(&wiki)
        .toolsets("pages,undo,drafts")
        .in_dir_of(&served);
    for served in [&served, &next.serve().await] {
        let told = served.call(CHANGE_SET, asked.clone()).await.unwrap();
        let by = undone["callId"].as_str().unwrap();
        let warning = format!("undone_since: 4 of 4 changes were taken back since, by {by}.");
        assert_eq!(said(&told["warnings"][0]), warning, "{told}");
    }
    // What took the set back is a set, which can be taken back as well.
    let again = json!({ "callId": undone["callId"] });
    is_applied(&served, UNDO, again).await;
    assert_eq!(tagged(&wiki, "set"), ids);
    let told = served.call(CHANGE_SET, asked).await.unwrap();
    lacks(&told.to_string(), "undone_since");
}

#[tokio::test]
async fn one_change_of_a_set_can_be_taken_back_alone_and_the_set_then_without_it() {
    let wiki = sample_wiki().await;
    let served = served(&wiki.address(), &wiki).await;
    let ids = some(&wiki, 3);
    let done = served.confirmed(BULK, tag(&ids)).await.unwrap();
    let one = json!({ "callId": done["changes"][1]["callId"] });
    served.confirmed(UNDO, one).await.unwrap();
    assert_eq!(tagged(&wiki, "set"), [ids[0], ids[2]]);
    let all = json!({ "callId": done["callId"] });
    let undone = served.confirmed(UNDO, all.clone()).await.unwrap();
    assert_eq!(undone["pages"], 2, "{undone}");
    assert_eq!(tagged(&wiki, "set"), Vec::<i64>::new());
    let again = fails(&served, UNDO, all, "NOTHING_TO_UNDO").await;
    lacks(&again["hint"], "leftOut");
}

#[tokio::test]
async fn the_last_write_of_a_session_can_be_a_set() {
    let wiki = sample_wiki().await;
    let served = served(&wiki.address(), &wiki).await;
    let done = served.confirmed(BULK, tag(&some(&wiki, 2))).await.unwrap();
    let last = json!({ "callId": "last" });
    let preview = served.call(UNDO, last).await.unwrap();
    assert_eq!(preview["pages"], done["pages"], "{preview}");
    lacks(&preview.to_string(), "not_of_this_session");
}

#[tokio::test]
async fn what_failed_and_went_back_leaves_nothing_to_undo() {
    let (_wiki, faulty, served, failed) = third_meets(refusal(), json!({})).await;
    let sent = faulty.mutations().len();
    let undo = json!({ "callId": failed["details"]["callId"] });
    fails(&served, UNDO, undo, "NOTHING_TO_UNDO").await;
    assert_eq!(faulty.mutations().len(), sent);
}

#[tokio::test]
async fn whoever_sent_a_set_is_told_how_far_it_is_and_nobody_else() {
    let wiki = sample_wiki().await;
    let served = served(&wiki.address(), &wiki).await;
    let ids = some(&wiki, 2);
    let done = served.confirmed(BULK, tag(&ids)).await.unwrap();
    let which = json!({ "id": done["callId"] });
    let told = served.call(CHANGE_SET, which).await.unwrap();
    assert_eq!(told, done);
    let unknown = json!({ "id": "0123456789abcdef" });
    fails(&served, CHANGE_SET, unknown, "INVALID_INPUT").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_that_was_killed_is_settled_by_reading_and_can_be_taken_back_whole() {
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let dir = Arc::new(TempDir::new().unwrap());
    let (ids, before) = (some(&wiki, 4), all(&wiki));
    let (at, key) = (faulty.address(), &wiki.keys().admin);
    let toolsets = ("WIKI_TOOLSETS", "pages,drafts");
    let mut program = Program::writing(&at, key, dir.path(), &[toolsets]);
    let shown = program.call(BULK, &tag(&ids));
    let mut arguments = tag(&ids);
    arguments["confirm"] = shown["confirm"].clone();
    let silent = || Fault::new(Reach::Before, Reply::Silence);
    faulty.on_mutations_after(2, silent());
    program.begin(BULK, &arguments);
    faulty.mutations_arrive(3).await;
    program.kill();
    faulty.on_mutations_after(usize::MAX, silent());

    let setup = Setup::at(&at, key).toolsets("pages,undo,drafts");
    let served = setup.in_dir(&dir).serve().await;
    served.app.desk.recovered().await;
    assert_eq!(faulty.mutations().len(), 3);
    assert_eq!(tagged(&wiki, "set"), ids[..3]);
    let records = served.records();
    let outcomes = of(&records, AuditEvent::Outcome);
    assert_eq!(outcomes.len(), 3);
    let set = of(&records, AuditEvent::Attempt)[0].set;
    for record in outcomes {
        assert_eq!((record.outcome, record.set), (Some(Outcome::Applied), set));
    }
    let set = set.unwrap().to_string();
    // The end of the set is on record, too, and told to whoever asks by its id.
    let is_end = |one: &&Record| one.event == AuditEvent::Outcome && one.set == one.call;
    let ends: Vec<&Record> = records.iter().filter(is_end).collect();
    assert_eq!(ends.len(), 1);
    assert_eq!(ends[0].decision.as_deref(), Some("interrupted"));
    assert_eq!(ends[0].outcome, Some(Outcome::PartlyApplied));
    let told = served.call(CHANGE_SET, json!({ "id": set }));
    let told = told.await.unwrap();
    told.shows(json!({ "outcome": "interrupted", "applied": 3 }));
    let undo = json!({ "callId": set });
    let undone = served.confirmed(UNDO, undo).await.unwrap();
    assert_eq!(undone["pages"], 3, "{undone}");
    assert_eq!(all(&wiki), before);
}

/// A set of three pages, of which one was changed since in the same field and one deleted.
async fn partly_gone() -> (DemoWiki, Served, Vec<i64>, Value) {
    let wiki = sample_wiki().await;
    let served = served(&wiki.address(), &wiki).await;
    let ids = some(&wiki, 3);
    let done = served.confirmed(BULK, tag(&ids)).await.unwrap();
    wiki.with_store(|store| store.rewrite(ids[0], |page| page.tags = vec!["theirs".to_owned()]));
    wiki.with_store(|store| store.remove(ids[1]));
    (wiki, served, ids, done["callId"].clone())
}

#[tokio::test]
async fn the_undo_of_a_set_that_cannot_be_whole_names_the_pages_and_goes_on_with_the_rest_if_asked()
{
    let (wiki, served, ids, call) = partly_gone().await;
    let undo = json!({ "callId": call });
    let refused = served.call(UNDO, undo).await.unwrap_err();
    let failed = refused["details"]["failed"].as_array().unwrap();
    assert_eq!(failed.len(), 2, "{refused}");
    for (one, id, code) in [
        (&failed[0], ids[1], "PAGE_NOT_FOUND"),
        (&failed[1], ids[0], "EDIT_CONFLICT"),
    ] {
        one.shows(json!({ "id": id, "code": code }));
        assert!(
            one["path"].is_string() && one["message"].is_string(),
            "{one}"
        );
    }
    says(&refused["hint"], "skip");
    assert_eq!(tagged(&wiki, "set"), [ids[2]]);

    let skip = json!({ "callId": call, "onConflict": "skip" });
    let shown = served.call(UNDO, skip.clone()).await.unwrap();
    let left = shown["leftOut"].as_array().unwrap();
    assert_eq!(left.len(), 2, "{shown}");
    let is_told = |one: &Value| one["why"].as_str().unwrap().len() > 10;
    assert!(left.iter().all(is_told), "{shown}");
    is_applied(&served, UNDO, skip).await;
    assert_eq!(tagged(&wiki, "set"), Vec::<i64>::new());
    let theirs = wiki.with_store(|store| store.page(ids[0]).unwrap().tags.clone());
    assert_eq!(theirs, ["theirs"]);
}

#[tokio::test]
async fn an_operator_is_told_which_pages_of_a_set_stay_and_takes_the_others_back() {
    let (wiki, served, ids, call) = partly_gone().await;
    let (at, call) = (wiki.address(), call.as_str().unwrap().to_owned());
    let refused = operator(&at, &wiki, &served, &["undo", &call, "--yes"]).await;
    assert_ne!(refused.code, 0, "{}", refused.told);
    let path = wiki.with_store(|store| store.page(ids[0]).unwrap().path.clone());
    assert!(refused.told.contains(&path), "{}", refused.told);
    says(&refused.told, "--on-conflict skip");
    assert_eq!(tagged(&wiki, "set"), [ids[2]]);
    let skip = ["undo", &call, "--yes", "--on-conflict", "skip"];
    let undone = operator(&at, &wiki, &served, &skip).await.good();
    assert!(undone.stdout.contains("left out:"), "{}", undone.told);
    assert_eq!(tagged(&wiki, "set"), Vec::<i64>::new());
}

const THE_END: &str = "The end.";

type RefusedThird = (
    DemoWiki,
    FaultyWiki,
    Served,
    [i64; 3],
    Value,
    Vec<(bool, bool)>,
);

/// A change of a page in the wiki's store.
type Act = fn(&mut PageRow);

/// A set of three pages whose third change is refused; `act` is done to the store right before so
/// many-th operation. The wiki, what stands before it, the server, the pages, the refusal, and the
/// operations since.
async fn refused_third(act: Option<(usize, Act)>) -> RefusedThird {
    let text = format!("One.\n\n{THE_END}\n");
    let paths = ["docs/a", "docs/b", "docs/c"];
    let wiki = wiki_of(&paths.map(|path| (path, text.as_str()))).await;
    let ids = paths.map(|path| id_of(&wiki, path));
    let faulty = FaultyWiki::before(&wiki).await;
    let served = served(&faulty.address(), &wiki).await.acquainted().await;
    let edit = json!([{ "oldText": THE_END, "newText": "Our end." }]);
    let mut arguments = json!({ "ids": ids, "replaceAll": edit });
    let shown = served.call(BULK, arguments.clone()).await.unwrap();
    arguments["confirm"] = shown["confirm"].clone();
    let count = wiki.requests().len();
    // The third alone: what is sent after it is sent to take the others back.
    faulty.on_mutations_after(2, refusal());
    if let Some((at, act)) = act {
        let id = ids[0];
        wiki.before_operation(at, move |store| store.rewrite(id, act));
    }
    let sent = served.call(BULK, arguments);
    let heals = async {
        faulty.mutations_arrive(3).await;
        faulty.on_mutations_after(usize::MAX, refusal());
    };
    let (failed, ()) = tokio::join!(sent, heals);
    let seen = wiki.requests().split_off(count);
    let seen = seen.iter().map(|one| {
        let reads = one.fields.iter().any(|field| field == "pages.single");
        (one.kind == OperationKind::Mutation, reads)
    });
    let seen = seen.collect();
    (wiki, faulty, served, ids, failed.unwrap_err(), seen)
}

fn told_of_first(failed: &Value) -> &Value {
    &failed["details"]["changes"][0]
}

#[tokio::test]
async fn a_change_that_cannot_go_back_stays_and_says_why_in_the_answer_and_on_record() {
    let (.., seen) = refused_third(None).await;
    let mutations = vec_of((0..seen.len()).filter(|at| seen[*at].0));
    // Two are applied, then the second and the first go back.
    assert_eq!(mutations.len(), 4, "{seen:?}");
    let reading_before = |at: usize| {
        let mut before = seen[..at].iter();
        before.rposition(|(_, reads)| *reads).unwrap()
    };
    let before = reading_before(reading_before(mutations[3]));
    let act = |page: &mut PageRow| page.content = page.content.replace("Our", "Their");
    let (wiki, faulty, served, ids, failed, _) = refused_third(Some((before, act))).await;
    assert_eq!(failed["code"], "PARTLY_APPLIED", "{failed}");
    assert_eq!(outcomes(&failed), ["applied", "taken_back", "not_applied"]);
    let first = told_of_first(&failed);
    assert_eq!(first.get("code"), None, "{first}");
    assert_eq!(first["notTakenBack"]["code"], "EDIT_CONFLICT", "{first}");
    let text = wiki.with_store(|store| store.page(ids[0]).unwrap().content.clone());
    assert!(text.contains("Their end."), "{text}");
    // The record says it, too, and so does whoever asks later.
    let records = served.records();
    let refusal = records.iter().find(|one| {
        one.event == AuditEvent::Refusal
            && one.undoes.map(|call| call.to_string()).as_deref() == first["callId"].as_str()
    });
    assert_eq!(refusal.unwrap().code.as_deref(), Some("EDIT_CONFLICT"));
    let setup = Setup::at(&faulty.address(), &wiki.keys().admin).toolsets("pages,drafts");
    let later = setup.in_dir_of(&served).serve().await;
    let told = json!({ "id": failed["details"]["callId"] });
    // To look at a set succeeds, whatever became of the set.
    let told = later.call(CHANGE_SET, told).await.unwrap();
    assert_eq!(told["outcome"], "partly_applied", "{told}");
    let why = &told["changes"][0]["notTakenBack"];
    assert_eq!(*why, first["notTakenBack"], "{told}");
    let at_once = &failed["details"]["changes"];
    for (number, member) in [(1, "takenBackBy"), (2, "code"), (2, "why")] {
        let known = &told["changes"][number][member];
        assert!(known.is_string(), "{member}: {told}");
        assert_eq!(*known, at_once[number][member], "{member}");
    }
}

#[tokio::test]
async fn a_change_that_somebody_elses_write_brings_back_after_it_went_is_said_to_be_there() {
    let (.., clean, seen) = refused_third(None).await;
    assert_eq!(clean["details"]["outcome"], "not_applied", "{clean}");
    // The last reading of a page is the second look at the first one.
    let last = seen.iter().rposition(|(_, reads)| *reads).unwrap();
    let act = |page: &mut PageRow| page.content = page.content.replace("The end.", "Our end.");
    let (wiki, _, _, ids, failed, _) = refused_third(Some((last, act))).await;
    let text = wiki.with_store(|store| store.page(ids[0]).unwrap().content.clone());
    assert!(text.contains("Our end."), "{text}");
    assert_eq!(failed["code"], "PARTLY_APPLIED", "{failed}");
    says(&failed["message"], "1 of 3 changes stay");
    let first = told_of_first(&failed);
    assert_eq!(first["outcome"], "applied", "{first}");
    assert!(first["takenBackBy"].is_string(), "{first}");
    let why = first["notTakenBack"]["message"].as_str().unwrap();
    assert!(why.contains("brought it back; version "), "{why}");
}
