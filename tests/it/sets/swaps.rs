//! Pages that change places within one set: one of them goes by a temporary place.

use crate::cli::files::Work;
use crate::prelude::*;

async fn wiki() -> DemoWiki {
    wiki_of(&[
        ("docs/a", "# A\n\n[b](/docs/b) [b](./b)\n"),
        ("docs/b", "# B\n\n[a](/docs/a)\n"),
        ("docs/c", "# C\n\n[a](/docs/a) [b](/docs/b)\n"),
        ("docs/d", "# D\n"),
    ])
    .await
}

fn setup(address: &str, wiki: &DemoWiki) -> Setup {
    let mut setup = Setup::at(address, &wiki.keys().admin)
        .toolsets("pages,undo,drafts,proposals")
        .indexed();
    setup.patience = QUICK;
    setup
}

/// The pages by their paths: ids and texts.
fn pages(wiki: &DemoWiki) -> BTreeMap<String, (i64, String)> {
    wiki.with_store(|store| {
        let pages = store.pages();
        pages
            .map(|page| (page.path.clone(), (page.id, page.content.clone())))
            .collect()
    })
}

fn ids(wiki: &DemoWiki) -> BTreeMap<String, i64> {
    let pages = pages(wiki).into_iter();
    pages.map(|(path, (id, _))| (path, id)).collect()
}

/// Puts moves into a draft.
async fn drafted(served: &Served, wiki: &DemoWiki, moves: &[(&str, &str)], mends: bool) {
    for (from, to) in moves {
        let mut arguments = json!({ "id": id_of(wiki, from), "path": to, "draft": "swap" });
        if mends {
            arguments["updateLinks"] = json!(true);
        }
        served.call(UPDATE, arguments).await.unwrap();
    }
}

fn submit() -> Value {
    json!({ "draft": "swap" })
}

/// The temporary paths that a preview names.
fn temporary(preview: &Value) -> Vec<&str> {
    let lines = preview["lines"].as_array().unwrap().iter();
    let ways = lines.filter_map(|line| line.as_str()?.split_once(" by way of /en/"));
    ways.filter_map(|(_, way)| way.split([':', ' ']).next())
        .collect()
}

fn steps(records: &[Record], event: AuditEvent) -> Vec<(i64, String)> {
    let of_event = records.iter().filter(|one| one.event == event);
    vec_of(of_event.filter_map(|one| Some((one.id?, one.step.clone()?))))
}

#[tokio::test]
async fn two_pages_swap_their_places_and_the_undo_swaps_them_back() {
    let (wiki, served) = with_server(wiki().await, |wiki| setup(&wiki.address(), wiki)).await;
    let before = pages(&wiki);
    let (a, b) = (id_of(&wiki, "docs/a"), id_of(&wiki, "docs/b"));
    drafted(
        &served,
        &wiki,
        &[("docs/a", "docs/b"), ("docs/b", "docs/a")],
        false,
    )
    .await;
    let shown = served.call(SUBMIT, submit()).await.unwrap();
    let aside = format!("docs/moving-{a}");
    assert_eq!(temporary(&shown), [&aside], "{shown}");
    assert_eq!(mutations(&wiki).len(), 0);
    let done = is_applied(&served, SUBMIT, submit()).await;
    assert_eq!(done["pages"], 2);
    let now = pages(&wiki);
    assert_eq!((now["docs/a"].0, now["docs/b"].0), (b, a));
    assert_eq!(now.len(), before.len());
    // Nothing but the places changed: no link was asked to be mended.
    assert_eq!(now["docs/b"].1, before["docs/a"].1);
    // The way there is on record, as steps of their own.
    let records = served.records();
    let expected = [(a, "aside"), (b, "move"), (a, "move")];
    let expected = expected.map(|(id, step)| (id, step.to_owned()));
    assert_eq!(steps(&records, AuditEvent::Attempt), expected);
    assert_eq!(steps(&records, AuditEvent::Outcome), expected);
    let asides = records.iter().filter(|one| one.step.is_some());
    let asides = asides.filter_map(|one| one.aside.as_ref());
    assert!(asides.clone().count() > 0 && asides.clone().all(|path| path.as_str() == aside));

    let undo = json!({ "callId": done["callId"] });
    let shown = served.call(UNDO, undo.clone()).await.unwrap();
    assert_eq!(temporary(&shown).len(), 1, "{shown}");
    is_applied(&served, UNDO, undo).await;
    assert_eq!(pages(&wiki), before);
    assert!(!wiki.with_store(|store| store.pages().any(|page| page.path.contains("moving"))));
}

#[tokio::test]
async fn a_title_that_the_wiki_changes_on_the_way_is_no_write_of_others() {
    let (wiki, served) = with_server(wiki().await, |wiki| setup(&wiki.address(), wiki)).await;
    for (from, to) in [("a", "b"), ("b", "a")] {
        let id = id_of(&wiki, &format!("docs/{from}"));
        wiki.with_store(|store| from.clone_into(&mut store.page_mut(id).unwrap().title));
        let path = format!("docs/{to}");
        let arguments = json!({ "id": id, "path": path, "title": to, "draft": "swap" });
        served.call(UPDATE, arguments).await.unwrap();
    }
    served.call(SUBMIT, submit()).await.unwrap();
    let done = is_applied(&served, SUBMIT, submit()).await;
    lacks(&done.to_string(), "overwrote_newer");
}

#[tokio::test]
async fn three_pages_move_in_a_circle_with_their_links_and_back() {
    let (wiki, served) = with_server(wiki().await, |wiki| setup(&wiki.address(), wiki)).await;
    let before = pages(&wiki);
    let circle = [
        ("docs/a", "docs/b"),
        ("docs/b", "docs/d"),
        ("docs/d", "docs/a"),
    ];
    drafted(&served, &wiki, &circle, true).await;
    let shown = served.call(SUBMIT, submit()).await.unwrap();
    assert_eq!(temporary(&shown).len(), 1, "{shown}");
    let done = is_applied(&served, SUBMIT, submit()).await;
    let now = pages(&wiki);
    for (from, to) in circle {
        assert_eq!(now[to].0, before[from].0, "{from}");
    }
    assert_eq!(now["docs/c"].1, "# C\n\n[a](/docs/b) [b](/docs/d)\n");
    assert_eq!(now["docs/b"].1, "# A\n\n[b](/docs/d) [b](./d)\n");
    assert_eq!(now["docs/d"].1, "# B\n\n[a](/docs/b)\n");
    let undo = json!({ "callId": done["callId"] });
    is_applied(&served, UNDO, undo).await;
    assert_eq!(pages(&wiki), before);
}

#[tokio::test]
async fn the_temporary_place_is_free_and_one_that_may_be_written() {
    let wiki = wiki().await;
    let a = id_of(&wiki, "docs/a");
    let swap = [("docs/a", "docs/b"), ("docs/b", "docs/a")];
    let narrow = setup(&wiki.address(), &wiki)
        .with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs/a,docs/b")
        .serve()
        .await;
    drafted(&narrow, &wiki, &swap, false).await;
    let shown = narrow.call(SUBMIT, submit()).await.unwrap();
    assert_eq!(temporary(&shown), [format!("docs/a/moving-{a}")], "{shown}");
    // Where somebody stands another one is taken, also between preview and yes.
    let taken = format!("docs/a/moving-{a}");
    wiki.with_store(|store| store.add(crate::harness::page(&taken, "Theirs.\n")));
    let mut confirm = submit();
    confirm["confirm"] = shown["confirm"].clone();
    fails(&narrow, SUBMIT, confirm, "PAGE_EXISTS").await;
    let shown = narrow.call(SUBMIT, submit()).await.unwrap();
    assert_eq!(temporary(&shown), [format!("{taken}-2")], "{shown}");
    assert_eq!(mutations(&wiki).len(), 0);
}

fn forbidden() -> Fault {
    let body =
        r#"{"errors":[{"message":"Forbidden","path":["pages","move"]}],"data":{"pages":null}}"#;
    Fault::new(Reach::Never, Reply::say(200, "application/json", body))
}

/// A swap and a move behind it, of which one mutation is refused.
async fn swap_refused_at(
    step: usize,
) -> (DemoWiki, Served, Value, BTreeMap<String, (i64, String)>) {
    let wiki = wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let served = setup(&faulty.address(), &wiki).serve().await;
    let before = pages(&wiki);
    let moves = [
        ("docs/a", "docs/b"),
        ("docs/b", "docs/a"),
        ("docs/d", "docs/e"),
    ];
    drafted(&served, &wiki, &moves, false).await;
    let shown = served.call(SUBMIT, submit()).await.unwrap();
    faulty.on_mutations_after(step, forbidden());
    let mut confirm = submit();
    confirm["confirm"] = shown["confirm"].clone();
    let sent = served.call(SUBMIT, confirm);
    let heals = async {
        faulty.mutations_arrive(step + 1).await;
        faulty.on_mutations_after(usize::MAX, forbidden());
    };
    let (failed, ()) = tokio::join!(sent, heals);
    let failed = failed.unwrap_err();
    (wiki, served, failed, before)
}

#[tokio::test]
async fn whichever_step_of_a_swap_fails_all_pages_are_where_they_were() {
    for step in 0..4 {
        let (wiki, served, failed, before) = swap_refused_at(step).await;
        assert_eq!(
            failed["details"]["outcome"], "not_applied",
            "{step}: {failed}"
        );
        assert_eq!(pages(&wiki), before, "{step}: {failed}");
        let told = failed["details"]["changes"].as_array().unwrap();
        assert!(told.iter().all(|one| one.get("notTakenBack").is_none()));
        // What was attempted has an outcome.
        let records = served.records();
        let count = |event| steps(&records, event).len();
        assert_eq!(
            count(AuditEvent::Attempt),
            count(AuditEvent::Outcome),
            "{step}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_killed_in_the_middle_of_a_swap_is_said_to_have_left_a_page_aside_and_undo_helps()
{
    for step in 1..3 {
        let wiki = wiki().await;
        let faulty = FaultyWiki::before(&wiki).await;
        let dir = Arc::new(TempDir::new().unwrap());
        let before = pages(&wiki);
        let a = id_of(&wiki, "docs/a");
        let mut program = Program::writing(
            &faulty.address(),
            &wiki.keys().admin,
            dir.path(),
            &[
                ("WIKI_TOOLSETS", "pages,undo,drafts"),
                ("WIKI_INDEX", "off"),
            ],
        );
        for (from, to) in [("docs/a", "docs/b"), ("docs/b", "docs/a")] {
            let arguments = json!({ "id": id_of(&wiki, from), "path": to, "draft": "swap" });
            program.call(UPDATE, &arguments);
        }
        let shown = program.call(SUBMIT, &submit());
        let silent = Fault::new(Reach::Before, Reply::Silence);
        faulty.on_mutations_after(step, silent.clone());
        program.begin(
            SUBMIT,
            &json!({ "draft": "swap", "confirm": shown["confirm"] }),
        );
        faulty.mutations_arrive(step + 1).await;
        program.kill();
        faulty.on_mutations_after(usize::MAX, silent);

        let served = setup(&faulty.address(), &wiki).in_dir(&dir).serve().await;
        served.app.desk.recovered().await;
        let records = records(dir.path());
        let end = records
            .iter()
            .rfind(|one| one.set.is_some() && one.set == one.call);
        let end = end.unwrap();
        let set = end.call.unwrap().to_string();
        if step == 1 {
            // The page went aside, and the other one took its place.
            let aside = format!("docs/moving-{a}");
            assert_eq!(end.outcome, Some(Outcome::PartlyApplied));
            assert_eq!(end.aside.as_ref().unwrap().as_str(), aside, "{end:?}");
            let reason = end.reason.as_deref().unwrap();
            assert!(reason.contains("stands at its temporary place"), "{reason}");
            let told = served.call(CHANGE_SET, json!({ "id": set }));
            let told = told.await.unwrap();
            assert_eq!(told["outcome"], "interrupted", "{told}");
            let changes = told["changes"].as_array().unwrap();
            let stands = vec_of(changes.iter().filter_map(|one| one.get("standsAt")));
            assert_eq!(stands, [&json!(aside)], "{told}");
        }
        let undone = confirmed_ok(&served, UNDO, json!({ "callId": set })).await;
        assert_eq!(undone["outcome"], "applied", "{step}: {undone}");
        assert_eq!(pages(&wiki), before, "{step}");
    }
}

/// The undo's own step aside is no write of others.
#[tokio::test]
async fn an_undo_that_stopped_aside_is_gone_on_with() {
    let wiki = wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let served = setup(&faulty.address(), &wiki).serve().await;
    let before = pages(&wiki);
    let swap = [("docs/a", "docs/b"), ("docs/b", "docs/a")];
    drafted(&served, &wiki, &swap, false).await;
    served.call(SUBMIT, submit()).await.unwrap();
    let done = is_applied(&served, SUBMIT, submit()).await;
    let undo = json!({ "callId": done["callId"] });
    // Of the next step nobody learns what became of it, nor may the first one go back.
    let lost = Fault::new(Reach::Never, Reply::say(200, "text/html", "<p>Busy"));
    faulty.on_mutations_after(1, lost);
    let stopped = served.confirmed(UNDO, undo.clone()).await;
    stopped.unwrap_err();
    let now = pages(&wiki);
    assert!(now.keys().any(|path| path.contains("moving-")), "{now:?}");
    faulty.recovers();
    is_applied(&served, UNDO, undo).await;
    assert_eq!(pages(&wiki), before);
}

async fn operator(wiki: &DemoWiki, served: &Served, arguments: &[&str]) -> Ended {
    Command::operator(wiki, served, arguments).end().await
}

#[tokio::test]
async fn a_proposed_swap_names_the_temporary_place_and_a_person_applies_it() {
    let (wiki, served) = with_server(wiki().await, |wiki| setup(&wiki.address(), wiki).dry()).await;
    let before = ids(&wiki);
    let swap = [("docs/a", "docs/b"), ("docs/b", "docs/a")];
    drafted(&served, &wiki, &swap, true).await;
    let shown = served.call(SUBMIT, submit()).await.unwrap();
    let aside = temporary(&shown)[0].to_owned();
    let id = shown["proposal"].as_str().unwrap();
    let looked = operator(&wiki, &served, &["proposals", "show", id]).await;
    assert!(looked.stdout.contains(&aside), "{}", looked.told);
    operator(&wiki, &served, &["audit", "verify"]).await.good();
    operator(&wiki, &served, &["proposals", "apply", id, "--yes"])
        .await
        .good();
    let now = ids(&wiki);
    assert_eq!(now["docs/a"], before["docs/b"]);
    assert_eq!(now["docs/b"], before["docs/a"]);
    let expected = "# C\n\n[a](/docs/b) [b](/docs/a)\n";
    assert_eq!(pages(&wiki)["docs/c"].1, expected);
}

/// Files are known by their names, so two that change names change what the pages hold: no page
/// moves, and none is refused.
#[tokio::test]
async fn files_that_change_names_are_pushed() {
    let work = Work::pulled(wiki().await).await;
    let before = pages(&work.wiki);
    work.rename("en/docs/a.md", "en/docs/x.md");
    work.rename("en/docs/b.md", "en/docs/a.md");
    work.rename("en/docs/x.md", "en/docs/b.md");
    work.good("push", &["--yes"]).await;
    let now = pages(&work.wiki);
    assert_eq!(now["docs/a"].1, before["docs/b"].1);
    assert_eq!(now["docs/b"].1, before["docs/a"].1);
    let same = before.iter().map(|(path, page)| (path.clone(), page.0));
    let same: BTreeMap<String, i64> = same.collect();
    assert_eq!(ids(&work.wiki), same);
}
