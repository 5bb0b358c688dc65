//! What becomes of a set when a step of it meets a fault: for each step of five kinds of change and
//! each kind of fault, the wiki, the record and the answer say the same, nothing is sent twice, and
//! applying again completes the set or undo takes it back.

use futures_util::{FutureExt as _, StreamExt as _, stream};

use crate::prelude::*;

/// The changes in the order in which they are sent; the fourth takes two steps.
const KINDS: [&str; 5] = ["create", "update", "move", "move and update", "delete"];
/// How many mutations all of them take.
const STEPS: usize = 6;

async fn wiki() -> DemoWiki {
    wiki_of(&[
        ("docs/a", "# A\n"),
        ("docs/b", "# B\n\nSee.\n"),
        ("docs/c", "# C\n\nThird.\n"),
        ("docs/d", "# D\n"),
    ])
    .await
}

/// Which of the changes are in the wiki.
fn there(wiki: &DemoWiki) -> [bool; 5] {
    let texts = texts(wiki);
    let has = |path: &str, text: &str| texts.get(path).is_some_and(|own| own.contains(text));
    [
        has("docs/new", "new"),
        has("docs/b", "Look."),
        has("docs/first", "# A"),
        has("docs/third", "3rd"),
        !texts.contains_key("docs/d"),
    ]
}

/// The writes that make the draft.
fn joining(wiki: &DemoWiki) -> Value {
    let id = |path: &str| id_of(wiki, path);
    let edit = |old: &str, new: &str| json!([{ "oldText": old, "newText": new }]);
    json!([
        [CREATE, { "path": "docs/new", "title": "New", "content": "new\n", "draft": "rework" }],
        [UPDATE, { "id": id("docs/b"), "edits": edit("See.", "Look."), "draft": "rework" }],
        [UPDATE, { "id": id("docs/a"), "path": "docs/first", "draft": "rework" }],
        [UPDATE, { "id": id("docs/c"), "path": "docs/third", "edits": edit("Third", "3rd"), "draft": "rework" }],
        [DELETE, { "id": id("docs/d"), "draft": "rework" }],
    ])
}

fn setup(address: &str, wiki: &DemoWiki, dir: &Arc<TempDir>) -> Setup {
    let mut setup = Setup::at(address, &wiki.keys().admin)
        .toolsets("pages,undo,drafts")
        .in_dir(dir);
    setup.patience = QUICK;
    setup
}

/// What is on record of the changes of the first set, in order: the last outcome of each.
fn on_record(records: &[Record]) -> Vec<Option<Outcome>> {
    let is_of_change =
        |one: &&Record| one.set.is_some() && one.set != one.call && one.undoes.is_none();
    let attempts = records.iter().filter(is_of_change);
    let mut calls = Vec::new();
    for call in attempts.filter_map(|one| one.call) {
        if !calls.contains(&call) {
            calls.push(call);
        }
    }
    let last = |call| {
        let own = records.iter().filter(|one| one.call == Some(call));
        own.filter_map(|one| one.outcome).next_back()
    };
    calls.into_iter().map(last).collect()
}

/// A set that met a fault, as its caller was told of it.
struct Met {
    wiki: DemoWiki,
    faulty: FaultyWiki,
    dir: Arc<TempDir>,
    /// The draft's id, by which another client of this machine's user takes it up.
    draft: Value,
    /// The answer, or the refusal.
    told: Value,
}

impl Met {
    fn outcome(&self) -> &str {
        let told = self.told.get("details").unwrap_or(&self.told);
        told["outcome"].as_str().unwrap_or("refused")
    }

    fn changes(&self) -> Vec<&str> {
        let told = self.told.get("details").unwrap_or(&self.told);
        let changes = told["changes"].as_array();
        let changes = changes.map(Vec::as_slice).unwrap_or_default().iter();
        vec_of(changes.map(|one| one["outcome"].as_str().unwrap()))
    }

    /// Holds what was told against the wiki and the record, then goes on and back; gives a row.
    async fn row(self, step: usize, fault: &str) -> String {
        let (now, changes) = (there(&self.wiki), self.changes());
        for (place, word) in changes.iter().enumerate() {
            let expected = match *word {
                "applied" => true,
                "taken_back" | "not_applied" | "not_sent" => false,
                // Nobody knows, or a part of it.
                _ => continue,
            };
            assert_eq!(now[place], expected, "{fault} at {step}: {}", self.told);
        }
        let served = setup(&self.faulty.address(), &self.wiki, &self.dir);
        let served = served.serve().await;
        served.app.desk.recovered().await;
        let records = records(self.dir.path());
        for (place, outcome) in on_record(&records).into_iter().enumerate() {
            let word = changes.get(place).copied().unwrap_or("not_sent");
            let is_same = match outcome {
                // Of two steps, each has its own outcome.
                Some(_) if place == 3 && word == "partly_applied" => true,
                Some(Outcome::Applied) => ["applied", "taken_back"].contains(&word),
                Some(outcome) => outcome.as_str() == word || word == "taken_back",
                None => true,
            };
            assert!(is_same, "{fault} at {step}: {word}, on record {outcome:?}");
        }
        let attempts = records
            .iter()
            .filter(|one| one.event == AuditEvent::Attempt);
        assert_eq!(
            attempts.count(),
            self.faulty.mutations().len(),
            "{fault} at {step}"
        );

        let after = self.goes_on(&served, &format!("{fault} at {step}")).await;
        let told: Vec<&str> = changes.into_iter().collect();
        format!(
            "{:<9}{:<28}{:<16}{:<70}{after}\n",
            step + 1,
            fault,
            self.outcome(),
            told.join(" ")
        )
    }

    /// Applying again completes the set, or undo takes it back.
    async fn goes_on(&self, served: &Served, met: &str) -> &'static str {
        let before = texts(&wiki().await);
        let again = json!({ "draft": self.draft });
        let left = served.call(CHANGE_SET, json!({ "id": self.draft }));
        let is_left = left.await.is_ok();
        let how = if is_left && served.confirmed(SUBMIT, again).await.is_ok() {
            assert_eq!(there(&self.wiki), [true; 5], "{met}");
            "applied again"
        } else if is_left {
            "undone"
        } else {
            "undone, all of it"
        };
        // Whatever is there goes back: what was sent last first.
        for _ in 0..2 {
            let sets = records(self.dir.path());
            let sets = sets.iter().filter(|one| one.event == AuditEvent::Attempt);
            let sets = sets
                .filter(|one| one.undoes.is_none())
                .filter_map(|one| one.set);
            let mut sets: Vec<_> = sets.collect();
            sets.dedup();
            for set in sets.into_iter().rev() {
                let undo = json!({ "callId": set.to_string() });
                let mut undone = served.confirmed(UNDO, undo.clone()).await;
                // Of a change of which nobody knows what came, a person has looked at the page.
                if undone
                    .as_ref()
                    .is_err_and(|refused| refused["details"]["call"].is_string())
                {
                    let mut forced = undo;
                    forced["force"] = json!(true);
                    undone = served.confirmed(UNDO, forced).await;
                }
                let code = undone.as_ref().err().map(|failure| failure["code"].clone());
                assert!(
                    code.is_none() || code == Some(json!("NOTHING_TO_UNDO")),
                    "{met}: {undone:?}"
                );
            }
        }
        // Of a change of two steps of which the second is unknown, undo touches nothing: whoever
        // looked at the page takes it back.
        let is_unknown = self.changes().get(3) == Some(&"unknown");
        if is_unknown && texts(&self.wiki).contains_key("docs/third") {
            let id = id_of(&self.wiki, "docs/third");
            let back = json!({ "id": id, "path": "docs/c" });
            served.confirmed(UPDATE, back).await.unwrap();
            assert_eq!(texts(&self.wiki), before, "{met}: {how}: {}", self.told);
            return "undone, one by hand";
        }
        assert_eq!(texts(&self.wiki), before, "{met}: {how}: {}", self.told);
        how
    }
}

/// A set of the five changes that meets a fault from its so many-th mutation on, in this process.
async fn meets(step: usize, fault: Fault, lasts: bool) -> Met {
    let wiki = wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let dir = Arc::new(TempDir::new().unwrap());
    let served = setup(&faulty.address(), &wiki, &dir).serve().await;
    let mut draft = Value::Null;
    for (tool, arguments) in json_rows(&joining(&wiki)) {
        draft = served.call(tool, arguments).await.unwrap()["draft"]["id"].clone();
    }
    let shown = served.call(SUBMIT, json!({ "draft": "rework" })).await;
    let confirm = json!({ "draft": "rework", "confirm": shown.unwrap()["confirm"] });
    faulty.on_mutations_after(step, fault.clone());
    let call = served.call(SUBMIT, confirm);
    let told = if lasts {
        call.await
    } else {
        let (told, ()) = tokio::join!(call, async {
            faulty.mutations_arrive(step + 1).await;
            faulty.on_mutations_after(usize::MAX, fault);
        });
        told
    };
    faulty.on_mutations_after(usize::MAX, Fault::new(Reach::Before, Reply::Wiki));
    let told = told.unwrap_or_else(|refused| refused);
    Met {
        wiki,
        faulty,
        dir,
        draft,
        told,
    }
}

fn forbidden() -> Fault {
    let refusal = json!({
        "data": { "pages": null },
        "errors": [{ "message": "Forbidden", "path": ["pages"] }],
    });
    let reply = Reply::say(200, "application/json", &refusal.to_string());
    Fault::new(Reach::Never, reply)
}

#[tokio::test]
async fn a_fault_at_each_step_of_a_set_leaves_wiki_record_and_answer_of_one_mind() {
    let mut rows = Vec::new();
    for step in 0..STEPS {
        for (name, fault, lasts) in [
            ("right taken away", forbidden(), true),
            ("refused once", forbidden(), false),
            ("wiki down", Fault::new(Reach::Never, Reply::Reset), true),
            (
                "cut, not arrived",
                Fault::new(Reach::Never, Reply::Cut),
                false,
            ),
            ("cut, arrived", Fault::new(Reach::Before, Reply::Cut), false),
        ] {
            let row = async move { meets(step, fault, lasts).await.row(step, name).await };
            rows.push(row.boxed_local());
        }
        rows.push(page_changed(step).boxed_local());
    }
    // They wait more than they work, each for a wiki of its own.
    let table: Vec<String> = stream::iter(rows).buffered(2).collect().await;
    let table = table.concat();
    golden("set_faults", &format!("{}\n\n{table}", KINDS.join(", ")));
}

#[tokio::test]
async fn the_used_token_of_a_set_under_way_says_that_it_is_under_way() {
    let wiki = wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let dir = Arc::new(TempDir::new().unwrap());
    let served = setup(&faulty.address(), &wiki, &dir).serve().await;
    let ids = [id_of(&wiki, "docs/a"), id_of(&wiki, "docs/b")];
    let mut tags = json!({ "ids": ids, "addTags": ["new"] });
    tags["confirm"] = call_ok(&served, BULK, tags.clone()).await["confirm"].clone();
    let held = Fault::new(Reach::Before, Reply::WikiHeld);
    faulty.on_mutations_after(1, held.clone());
    let (done, again) = tokio::join!(served.call(BULK, tags.clone()), async {
        faulty.mutations_arrive(2).await;
        let again = fails(&served, BULK, tags.clone(), "CONFIRM_EXPIRED").await;
        faulty.on_mutations_after(usize::MAX, held);
        faulty.let_late_ones_through().await;
        again
    });
    assert_eq!(again["details"]["usedBy"], done.unwrap()["callId"]);
    says(&again["message"], "under way");
    says(&again["hint"], "do not repeat");
}

/// Somebody changes the page of a change while the step before it is under way.
async fn page_changed(step: usize) -> String {
    // Of the fourth change, the second step has no turn of its own.
    let (Some(change), Some(held)) = (step.min(4).checked_sub(0), step.checked_sub(1)) else {
        return String::new();
    };
    let wiki = wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let dir = Arc::new(TempDir::new().unwrap());
    let served = setup(&faulty.address(), &wiki, &dir).serve().await;
    let path = ["docs/new", "docs/b", "docs/a", "docs/c", "docs/d"][change];
    let id = id_of(&wiki, path);
    let mut draft = Value::Null;
    for (tool, arguments) in json_rows(&joining(&wiki)) {
        draft = served.call(tool, arguments).await.unwrap()["draft"]["id"].clone();
    }
    let shown = served.call(SUBMIT, json!({ "draft": "rework" })).await;
    let confirm = json!({ "draft": "rework", "confirm": shown.unwrap()["confirm"] });
    let fault = Fault::new(Reach::Before, Reply::WikiHeld);
    faulty.on_mutations_after(held, fault.clone());
    let (told, ()) = tokio::join!(served.call(SUBMIT, confirm), async {
        faulty.mutations_arrive(held + 1).await;
        faulty.on_mutations_after(usize::MAX, fault);
        wiki.with_store(|store| {
            store.page_mut(id).unwrap().description = Some("Theirs.".to_owned());
        });
        faulty.let_late_ones_through().await;
    });
    let told = told.unwrap_or_else(|refused| refused);
    wiki.with_store(|store| {
        if let Some(page) = store.page_mut(id) {
            page.description = Some(String::new());
        }
    });
    let met = Met {
        wiki,
        faulty,
        dir,
        draft,
        told,
    };
    met.row(step, "page changed").await
}

/// A set whose server ends at its so many-th mutation.
async fn ends(step: usize, signal: Option<&str>) -> Met {
    let wiki = wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let dir = Arc::new(TempDir::new().unwrap());
    let mut program = program(&faulty.address(), &wiki, &dir);
    let mut draft = Value::Null;
    for (tool, arguments) in json_rows(&joining(&wiki)) {
        draft = program.call(tool, &arguments)["draft"]["id"].clone();
    }
    let shown = program.call(SUBMIT, &json!({ "draft": "rework" }));
    let confirm = json!({ "draft": "rework", "confirm": shown["confirm"] });
    let reply = match signal {
        Some(_) => Reply::WikiHeld,
        None => Reply::Silence,
    };
    let fault = Fault::new(Reach::Before, reply);
    faulty.on_mutations_after(step, fault.clone());
    program.begin(SUBMIT, &confirm);
    faulty.mutations_arrive(step + 1).await;
    faulty.on_mutations_after(usize::MAX, fault);
    if let Some(signal) = signal {
        program.signal(signal);
        program.logged("ending on a signal");
        faulty.let_late_ones_through().await;
        program.stopped();
    } else {
        program.kill();
    }
    let served = setup(&faulty.address(), &wiki, &dir).serve().await;
    served.app.desk.recovered().await;
    let records = served.records();
    let sent = records.iter().find(|one| one.event == AuditEvent::Attempt);
    let id = sent.and_then(|one| one.set).unwrap();
    let which = json!({ "id": id.to_string() });
    let told = served.call(CHANGE_SET, which).await;
    let told = told.unwrap_or_else(|refused| refused);
    Met {
        wiki,
        faulty,
        dir,
        draft,
        told,
    }
}

fn program(address: &str, wiki: &DemoWiki, dir: &TempDir) -> Program {
    Program::writing(
        address,
        &wiki.keys().admin,
        dir.path(),
        &[("WIKI_TOOLSETS", "pages,undo,drafts"), ("WIKI_LOG", "info")],
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_whose_server_was_killed_while_it_was_sent_is_completed_by_the_next_run() {
    let wiki = wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let dir = Arc::new(TempDir::new().unwrap());
    let mut first = program(&faulty.address(), &wiki, &dir);
    for (tool, arguments) in json_rows(&joining(&wiki)) {
        first.call(tool, &arguments);
    }
    let submit = json!({ "draft": "rework" });
    let confirm = |shown: &Value| json!({ "draft": "rework", "confirm": shown["confirm"] });
    let shown = first.call(SUBMIT, &submit);
    let silent = Fault::new(Reach::Before, Reply::Silence);
    faulty.on_mutations_after(2, silent.clone());
    first.begin(SUBMIT, &confirm(&shown));
    faulty.mutations_arrive(3).await;
    first.kill();
    faulty.on_mutations_after(usize::MAX, silent);

    // Of the same client: it takes the draft up by its name.
    let mut second = program(&faulty.address(), &wiki, &dir);
    let shown = second.call(SUBMIT, &submit);
    assert_eq!(shown["pages"], 2, "{shown}");
    assert_eq!(shown["leftOut"].as_array().unwrap().len(), 3, "{shown}");
    let done = second.call(SUBMIT, &confirm(&shown));
    assert_eq!(done["outcome"], "applied", "{done}");
    assert_eq!(there(&wiki), [true; 5]);
    // Nothing was sent twice.
    assert_eq!(faulty.mutations().len(), STEPS);
    second.stopped();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_at_each_step_of_a_set_leaves_what_the_next_one_can_go_on_from() {
    let mut table = String::new();
    for step in 0..STEPS {
        for (name, signal) in [("kill -9", None), ("SIGTERM", Some("-TERM"))] {
            let met = ends(step, signal).await;
            table.push_str(&met.row(step, name).await);
        }
    }
    golden("set_ends", &format!("{}\n\n{table}", KINDS.join(", ")));
}
