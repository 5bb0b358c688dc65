//! Sets and single writes of several servers at once, on pages of the same wiki.

use std::fs::DirEntry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::prelude::*;

const TOKEN: &str = "sesame-sesame-sesame";
const SERVERS: usize = 5;
const ROUNDS: usize = 4;
const PAGES: usize = 8;
const END: &str = "The end.";

/// Pages that the sets of all servers overlap on.
async fn shared() -> (DemoWiki, Vec<i64>) {
    let pages: Vec<String> = (0..PAGES).map(|page| format!("docs/p{page}")).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|path| (&**path, END)).collect();
    let wiki = wiki_of(&pages).await;
    // Long enough that sets meet.
    wiki.set_write_delay(Duration::from_millis(15));
    let ids = (0..PAGES).map(|page| id_of(&wiki, &format!("docs/p{page}")));
    let ids = ids.collect();
    (wiki, ids)
}

/// What one server puts into the pages of a set, or into a page.
fn mark(server: usize, round: usize, kind: &str) -> String {
    format!("{kind}-{server}-{round}")
}

fn adds(mark: &str) -> Value {
    json!({ "oldText": END, "newText": format!("({mark})\n\n{END}") })
}

/// What the wiki was told to hold: by mark and page, whether it is there.
type Told = HashMap<(String, i64), bool>;

/// Sets and single writes by turns; what the answers say.
fn work(program: &mut Program, server: usize, ids: &[i64]) -> Told {
    let mut told = Told::new();
    for round in 0..ROUNDS {
        let set = mark(server, round, "set");
        let pages: Vec<i64> = (0..4)
            .map(|at| ids[(server + round + at) % PAGES])
            .collect();
        let answer = program.full(
            BULK,
            &json!({ "ids": pages, "replaceAll": [adds(&set)], "addTags": [set], "confirm": TOKEN }),
        );
        let changes = answer
            .get("changes")
            .or_else(|| answer["details"].get("changes"));
        for change in changes
            .into_iter()
            .flat_map(|changes| changes.as_array().unwrap())
        {
            let is_there = match change["outcome"].as_str().unwrap() {
                "applied" => true,
                "taken_back" | "not_applied" | "not_sent" => false,
                other => panic!("{other}: {answer}"),
            };
            let id = change["id"].as_i64().unwrap();
            told.insert((set.clone(), id), is_there);
        }
        if changes.is_none() {
            // Refused before anything was sent.
            assert_eq!(answer["code"], "EDIT_CONFLICT", "{answer}");
            told.extend(pages.iter().map(|id| ((set.clone(), *id), false)));
        }
        let one = mark(server, round, "one");
        let id = ids[(server * 3 + round) % PAGES];
        let applied = program.full(
            UPDATE,
            &json!({ "id": id, "edits": [adds(&one)], "confirm": TOKEN }),
        );
        assert_eq!(applied["outcome"], "applied", "{applied}");
        told.insert((one, id), true);
    }
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn five_servers_with_overlapping_sets_and_single_writes_lose_no_change() {
    let (wiki, ids) = shared().await;
    let dir = TempDir::new().unwrap();
    let (address, key) = (wiki.address(), wiki.keys().editor.clone());
    let (audit, pages) = (dir.path().to_str().unwrap().to_owned(), ids.clone());
    let run = tokio::task::spawn_blocking(move || {
        let variables = [
            ("WIKI_BASE_URL", address.as_str()),
            ("WIKI_API_TOKEN", &key),
            ("WIKI_MUTATIONS_ENABLED", "true"),
            ("WIKI_MUTATION_DRY_RUN", "false"),
            ("WIKI_MUTATION_CONFIRM_TOKEN", TOKEN),
            ("WIKI_TOOLSETS", "pages,drafts"),
            ("WIKI_INDEX", "off"),
            ("WIKI_AUDIT_DIR", &audit),
        ];
        let told = thread::scope(|scope| {
            let work = |server| {
                let mut program = Program::serve(&[], &variables);
                let pages = &pages;
                scope.spawn(move || work(&mut program, server, pages))
            };
            let servers: Vec<_> = (0..SERVERS).map(work).collect();
            let told = servers
                .into_iter()
                .flat_map(|server| server.join().unwrap());
            told.collect::<Told>()
        });
        // Nothing that they held is left: now a set of all pages goes through.
        let last = Program::serve(&[], &variables).full(
            BULK,
            &json!({ "ids": pages, "addTags": ["last"], "confirm": TOKEN }),
        );
        (told, last)
    });
    let (told, last) = run.await.unwrap();
    last.shows(json!({ "outcome": "applied", "applied": PAGES }));
    assert_eq!(told.len(), SERVERS * ROUNDS * 5);
    for ((mark, id), is_there) in &told {
        let (content, tags) = wiki.with_store(|store| {
            let page = store.page(*id).unwrap();
            (page.content.clone(), page.tags.clone())
        });
        let lines = content.matches(&format!("({mark})")).count();
        assert_eq!(lines, usize::from(*is_there), "{mark} of {id}: {content}");
        if mark.starts_with("set") {
            assert_eq!(tags.contains(mark), *is_there, "{mark} of {id}: {tags:?}");
        }
    }
    // Each step went out once, behind its attempt.
    let records = records(dir.path());
    let count = |event| {
        let of_event = records
            .iter()
            .filter(|one| one.event == event && one.step.is_some());
        of_event.count()
    };
    assert_eq!(count(AuditEvent::Attempt), mutations(&wiki).len());
    assert_eq!(count(AuditEvent::Outcome), mutations(&wiki).len());
}

/// Two servers of the wiki at an address, on one audit directory.
async fn two(address: &str, wiki: &DemoWiki) -> (Served, Served) {
    let dir = Arc::new(TempDir::new().unwrap());
    let served = async || {
        Setup::at(address, &wiki.keys().admin)
            .toolsets("pages,drafts")
            .indexed()
            .with("WIKI_MUTATION_CONFIRM_TOKEN", TOKEN)
            .in_dir(&dir)
            .serve()
            .await
    };
    (served().await, served().await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_single_write_gets_its_turn_between_two_changes_of_a_set() {
    for (set, single) in json_rows(&json!([
        // Updates of other pages wait for nothing.
        [{ "path": "docs", "addTags": ["set"], "confirm": TOKEN }, UPDATE],
        // All that rebuilds the tree takes turns.
        [{ "path": "docs", "moveTo": "new", "confirm": TOKEN }, CREATE],
    ])) {
        let pages: Vec<String> = (0..12).map(|page| format!("docs/p{page}")).collect();
        let mut pages: Vec<(&str, &str)> = pages.iter().map(|path| (&**path, END)).collect();
        pages.push(("other", "Other.\n"));
        let wiki = wiki_of(&pages).await;
        wiki.set_write_delay(Duration::from_millis(30));
        let faulty = FaultyWiki::before(&wiki).await;
        let (sets, singles) = two(&faulty.address(), &wiki).await;
        let is_over = AtomicBool::new(false);
        let all = async {
            let done = sets.call(BULK, set).await;
            is_over.store(true, Ordering::SeqCst);
            done.unwrap()
        };
        let one = async {
            faulty.mutations_arrive(1).await;
            let mut arguments = match single {
                UPDATE => json!({ "id": id_of(&wiki, "other"), "content": "New.\n" }),
                _ => new_page("more"),
            };
            arguments["confirm"] = TOKEN.into();
            let done = singles.call(single, arguments).await.unwrap();
            (done, is_over.load(Ordering::SeqCst))
        };
        let (all, (one, was_over)) = tokio::join!(all, one);
        all.shows(json!({ "outcome": "applied", "applied": 12 }));
        assert_eq!(one["outcome"], "applied", "{one}");
        assert!(!was_over, "it waited for the whole set");
    }
}

/// Waits until somebody queues for the turn of a page.
async fn somebody_waits_for(id: i64, dir: &Path) {
    let queue = |entry: DirEntry| entry.path().join(format!("turns/{id}.next.lock"));
    let is_there = || {
        let mut wikis = fs::read_dir(dir).unwrap().flatten();
        wikis.any(|entry| queue(entry).exists())
    };
    while !is_there() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_another_server_writes_before_a_change_is_taken_back_stays() {
    let wiki = wiki_of(&[("docs/a", END), ("docs/b", END)]).await;
    let (sets, other) = two(&wiki.address(), &wiki).await;
    let (a, b) = (id_of(&wiki, "docs/a"), id_of(&wiki, "docs/b"));
    let dir = sets.dir.path();
    let turn_of = async |id| {
        let audit = other.app.desk.audit();
        audit.lock_page(id, Duration::from_secs(20)).await.unwrap()
    };
    let theirs = |id| {
        wiki.with_store(|store| store.rewrite(id, |page| page.content = "Theirs.\n".to_owned()));
    };
    let turn_of_b = turn_of(b).await;
    let arguments = json!({ "ids": [a, b], "addTags": ["set"], "confirm": TOKEN });
    let set = sets.call(BULK, arguments);
    let meanwhile = async {
        // The first change is applied.
        somebody_waits_for(b, dir).await;
        let turn_of_a = turn_of(a).await;
        theirs(b);
        drop(turn_of_b);
        // The second cannot be, and the first is to be taken back.
        somebody_waits_for(a, dir).await;
        theirs(a);
        drop(turn_of_a);
    };
    let (failed, ()) = tokio::join!(set, meanwhile);
    let failed = failed.unwrap_err();
    assert_eq!(failed["code"], "NOT_APPLIED", "{failed}");
    let outcomes = members(&failed["details"], "changes", "outcome");
    assert_eq!(outcomes, ["taken_back", "not_applied"], "{failed}");
    // What they did not touch goes back, and nothing else does.
    let contents =
        [a, b].map(|id| wiki.with_store(|store| store.page(id).unwrap().content.clone()));
    assert_eq!(contents, ["Theirs.\n"; 2], "{failed}");
    let tags = wiki.with_store(|store| store.page(a).unwrap().tags.clone());
    assert!(tags.is_empty(), "{tags:?}");
}
