//! The record in the browser: who sees what of it, and what it says.

use crate::prelude::*;
use crate::review::{Browser, Desk, PAGES, Page, reviewer};

/// The page of the check, when there is a finding.
async fn checked(browser: &Browser) -> Page {
    let asked = browser.open("/review/record/check").await;
    let token = asked.hidden("form_token");
    let begun = browser
        .send("/review/record/check", &[("form_token", &token)])
        .await;
    assert_eq!(begun.status, StatusCode::SEE_OTHER, "{}", begun.text);
    let finding = async {
        loop {
            let page = browser.open("/review/record/check").await;
            if page.text.contains("class=\"finding\"") {
                return page;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), finding)
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_finds_what_was_decided_by_whom_and_that_the_record_holds() {
    let desk = Desk::of(PAGES).await;
    let id = desk.edit("docs/a", "old", "new").await;
    desk.edit("docs/b", "Other", "<i>Others</i>").await;
    let browser = desk.signed_in().await;
    says(&browser.open("/review").await.text, "/review/record");
    browser.decide(&id, "apply", &[]).await;

    let listed = browser.open("/review/record").await;
    assert_eq!(listed.status, StatusCode::OK);
    // A proposal and what became of it are one row, which says who decided.
    assert_eq!(listed.text.matches("<li><a class=\"call\"").count(), 2);
    assert!(listed.text.contains(", decided by "), "{}", listed.text);
    assert!(listed.text.contains("Writes and refusals by hour"));
    says(&listed.text, "typo &lt;b&gt;here&lt;/b&gt;");
    let count = |query: &'static str| {
        let browser = &browser;
        async move {
            let page = browser.open(&format!("/review/record?{query}")).await;
            assert_eq!(page.status, StatusCode::OK, "{}", page.text);
            page.text.matches("<li><a class=\"call\"").count()
        }
    };
    for (query, rows) in [
        ("outcome=applied", 1),
        ("path=docs", 2),
        ("path=docs/b", 1),
        ("path=team", 0),
        ("operation=update&since=1h", 2),
        ("until=2020-01-01", 0),
        ("client=nobody", 0),
        ("tool=review", 1),
    ] {
        assert_eq!(count(query).await, rows, "{query}");
    }
    let page = id_of(&desk.wiki, "docs/a");
    let story = browser.open(&format!("/review/record?page={page}")).await;
    assert!(story.text.contains("The story of"), "{}", story.text);
    assert_eq!(story.text.matches("<li><a class=\"call\"").count(), 1);
    let wrong = browser.open("/review/record?outcome=%3Cb%3E&page=x").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(!wrong.text.contains("<b>”") && wrong.text.contains("must be one of"));

    let call = desk.agent.records().pop().unwrap();
    let applied = desk.agent.records().into_iter().rev();
    let applied = { applied }.find(|one| one.outcome.is_some()).unwrap();
    let shown = browser
        .open(&format!("/review/record/calls/{}", applied.call.unwrap()))
        .await;
    assert!(shown.text.contains("<mark>new</mark>"), "{}", shown.text);
    assert!(shown.text.contains("Decided by"), "{}", shown.text);
    assert!(shown.text.contains("in the wiki"), "{}", shown.text);
    drop(call);
    for none in ["0000000000000000", "x", "../sets"] {
        let page = browser.open(&format!("/review/record/calls/{none}")).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{none}");
    }

    let finding = checked(&browser).await;
    says(&finding.text, "All of it holds.");
    assert!(finding.text.contains("Not proven"), "{}", finding.text);
    let heads = browser.open("/review/record/heads.txt").await.text;
    let dir = desk.agent.dir.path().to_str().unwrap().to_owned();
    let address = desk.wiki.address();
    let printed = tokio::task::spawn_blocking(move || {
        let command = Command::new(&["audit", "head"]).with("WIKI_BASE_URL", &address);
        command.with("WIKI_AUDIT_DIR", &dir).run()
    });
    assert_eq!(heads, printed.await.unwrap().stdout);
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_the_record_is_found_in_the_browser() {
    let desk = Desk::of(PAGES).await;
    desk.edit("docs/a", "old", "new").await;
    let browser = desk.signed_in().await;
    let runs = wiki_dir(desk.agent.dir.path()).join("runs");
    let run = fs::read_dir(runs).unwrap().next().unwrap().unwrap();
    let text = fs::read_to_string(run.path()).unwrap();
    fs::write(run.path(), text.replace("docs/a", "docs/x")).unwrap();
    let finding = checked(&browser).await;
    says(&finding.text, "was changed: it does not have its hash");
    assert!(!finding.text.contains("All of it holds"));
    desk.program.kill();
}

/// A wiki of two sections, a server in a dry run, and three proposals of its agent: of each section,
/// and of both.
struct House {
    wiki: DemoWiki,
    agent: Served,
    names: Names,
    hosted: Hosted,
}

impl House {
    async fn new() -> Self {
        let wiki = wiki_of(&[("docs/a", "The old word.\n"), ("secret/b", "Other.\n")]).await;
        let setup = || {
            Setup::scripter(&wiki)
                .dry()
                .toolsets("pages,drafts,proposals")
        };
        let agent = setup().serve().await;
        let names = Names::new();
        let hosted = setup().in_dir_of(&agent).naming(&names).host().await;
        for path in ["docs/a", "secret/b"] {
            let title = json!({ "id": id_of(&wiki, path), "title": "New" });
            agent.call(UPDATE, title).await.unwrap();
        }
        let both = json!({
            "ids": [id_of(&wiki, "docs/a"), id_of(&wiki, "secret/b")],
            "addTags": ["both"],
            "note": "also in secret/b",
        });
        agent.call(BULK, both).await.unwrap();
        // What fails before its page is known, and what a gate refuses.
        let none = json!({ "id": 9_999, "title": "New" });
        agent.call(UPDATE, none).await.unwrap_err();
        Self {
            wiki,
            agent,
            names,
            hosted,
        }
    }

    fn records(&self) -> Vec<Record> {
        self.agent.records()
    }

    /// All addresses that a person may come to, with those of all calls, sets and proposals.
    fn addresses(&self) -> Vec<String> {
        let mut all: Vec<String> = [
            "/review",
            "/review?part=list",
            "/review/record",
            "/review/record?path=secret",
            "/review/record?client=nobody",
            "/review/record/check",
            "/review/record/heads.txt",
        ]
        .map(str::to_owned)
        .to_vec();
        for record in self.records() {
            for id in [
                record.call.map(|call| call.to_string()),
                record.set.map(|set| set.to_string()),
                record.proposal.clone(),
            ] {
                let Some(id) = id else { continue };
                all.push(format!("/review/record/calls/{id}"));
                all.push(format!("/review/record?before={id}"));
                all.push(format!("/review/record?set={id}"));
                all.push(format!("/review/sets/{id}"));
                all.push(format!("/review/sets/{id}?part=state"));
            }
            if let Some(page) = record.id {
                all.push(format!("/review/record?page={page}"));
            }
        }
        all.sort();
        all.dedup();
        all
    }

    /// The calls about pages outside docs, or about both sections.
    fn hidden_calls(&self) -> Vec<String> {
        let records = self.records();
        let calls = records.iter().filter_map(|record| record.call);
        let is_own = |call: &wikijs_gate::audit::CallId| {
            let mut own = records.iter().filter(|one| one.call == Some(*call));
            own.all(|one| {
                let path = one.path.as_ref().map(ToString::to_string);
                path.as_deref() == Some("docs/a") && one.set.is_none()
            })
        };
        calls
            .filter(|call| !is_own(call))
            .map(|call| call.to_string())
            .collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_lies_outside_a_reviewers_bounds_is_as_if_it_were_not_there() {
    let house = House::new().await;
    let anna = ["anna", "--reviewer", "--prefixes", "docs"];
    let ben = ["ben", "--reviewer", "--read-prefixes", "docs"];
    let hidden = house.hidden_calls();
    assert!(hidden.len() >= 3, "{hidden:?}");
    for arguments in [&anna[..], &ben] {
        let browser = reviewer(&house.hosted, &house.names, arguments).await;
        let list = browser.open("/review/record").await;
        assert!(list.text.contains("docs/a"), "{}", list.text);
        assert_eq!(list.text.matches("<li><a class=\"call\"").count(), 1);
        for address in house.addresses() {
            let page = browser.open(&address).await;
            let text = &page.text;
            assert!(
                !text.contains("secret/b"),
                "{arguments:?} {address}: {text}"
            );
            // What somebody asks for stands in the form.
            let is_named = |call: &&String| text.contains(&***call) && !address.contains(&***call);
            let named = hidden.iter().find(is_named);
            assert_eq!(named, None, "{arguments:?} {address}: {text}");
            let is_of_hidden = hidden.iter().any(|call| address.contains(&**call));
            if is_of_hidden && address.contains("/calls/") {
                assert_eq!(page.status, StatusCode::NOT_FOUND, "{address}");
            }
        }
        for address in ["/review/record/check", "/review/record/heads.txt"] {
            assert_eq!(browser.open(address).await.status, StatusCode::NOT_FOUND);
        }
        let token = browser.open("/review").await.hidden("form_token");
        let refused = browser
            .send("/review/record/check", &[("form_token", &token)])
            .await;
        assert_eq!(refused.status, StatusCode::NOT_FOUND);
    }
    // An auditor sees all of it, has it checked, and decides nothing.
    let carla = reviewer(&house.hosted, &house.names, &["carla", "--auditor"]).await;
    let list = carla.open("/review/record").await.text;
    says(&list, "secret/b");
    says(&list, "and 1 more page");
    for call in &hidden {
        let page = carla.open(&format!("/review/record/calls/{call}")).await;
        assert_eq!(page.status, StatusCode::OK, "{call}");
    }
    let finding = checked(&carla).await;
    says(&finding.text, "All of it holds.");
    drop(house.wiki);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_reads_the_record_who_did_not_sign_in() {
    let house = House::new().await;
    let token = house.names.client("agent");
    for address in house.addresses() {
        for caller in [&token, &Caller::default()] {
            // The page has a name of its own on loopback; leading there tells nothing.
            let led = house.hosted.send("GET", &address, caller, "").await;
            assert_eq!(led.status, 307, "{address}: {}", led.body);
            assert_eq!(led.body, "", "{address}");
            let location = led.headers["location"].strip_prefix("http://").unwrap();
            let (host, path) = location.split_at(location.find('/').unwrap());
            assert_eq!(path, address);
            let by_name = caller.clone().with("host", host);
            let answer = house.hosted.send("GET", path, &by_name, "").await;
            assert_eq!(answer.status, 401, "{address}: {}", answer.body);
            let is_bare = !answer.body.contains("docs/a") && !answer.body.contains("secret");
            assert!(is_bare, "{address}: {}", answer.body);
        }
    }
    let browser = reviewer(&house.hosted, &house.names, &["carla", "--auditor"]).await;
    for form in [&[][..], &[("form_token", "made up")]] {
        let refused = browser.send("/review/record/check", form).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
    }
    let asked = browser.open("/review/record/check").await;
    assert!(asked.text.contains("Check it"), "{}", asked.text);
}

/// What a set of many pages that was written by a confirmed preview looks like.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_set_its_preview_and_its_outcome_are_one_row_with_all_changes_behind_it() {
    let pages: Vec<(String, String)> = (0..60)
        .map(|page| (format!("docs/p{page:02}"), "Text.\n".to_owned()))
        .collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|(a, b)| (&**a, &**b)).collect();
    let wiki = wiki_of(&pages).await;
    let names = Names::new();
    let setup = || Setup::scripter(&wiki).toolsets("pages,drafts");
    let agent = setup().serve().await;
    let ids = vec_of(pages.iter().take(15).map(|(path, _)| id_of(&wiki, path)));
    let bulk = json!({ "ids": ids, "addTags": ["set"], "note": "All of these" });
    let done: Value = agent.confirmed(BULK, bulk).await.unwrap();
    assert_eq!(done["outcome"], "applied");
    for (path, _) in &pages {
        let title = json!({ "id": id_of(&wiki, path), "title": "Single" });
        agent.confirmed(UPDATE, title).await.unwrap();
    }
    let hosted = setup().in_dir_of(&agent).naming(&names).host().await;
    let anna = reviewer(
        &hosted,
        &names,
        &["anna", "--reviewer", "--prefixes", "docs"],
    )
    .await;
    let rows = |page: &Page| page.text.matches("<li><a class=\"call\"").count();
    let mut page = anna.open("/review/record").await;
    let (mut all, mut pages, mut with_set) = (0, 0, String::new());
    loop {
        (all, pages) = (all + rows(&page), pages + 1);
        if page.text.contains("and 14 more pages") {
            with_set.clone_from(&page.text);
        }
        let Some((_, next)) = page.text.split_once("class=\"button\" href=\"") else {
            break;
        };
        let next = next.split('"').next().unwrap().replace("&amp;", "&");
        page = anna.open(&next).await;
    }
    // Sixty previews and sixty writes, and the set as one row.
    assert_eq!((all, pages), (121, 3));
    assert_eq!(with_set.matches("All of these").count(), 1, "{with_set}");
    let set = done["callId"].as_str().unwrap();
    let shown = anna.open(&format!("/review/record/calls/{set}")).await;
    assert!(shown.text.contains("A set of 15 changes"), "{}", shown.text);
    // Its story comes first: who asked, who decided, what was changed.
    let (before, after) = shown.text.split_once("class=\"part\"").unwrap();
    let story = before.split_once("<dl class=\"summary\">").unwrap().1;
    for told in [
        "All of these",
        "confirmed the preview",
        "15 pages",
        "docs/p00",
    ] {
        assert!(story.contains(told), "{told}: {story}");
    }
    assert!(story.matches("<dt>").count() <= 8, "{story}");
    assert!(!after.contains("class=\"summary\""));
    assert_eq!(shown.text.matches("<details class=\"one\"").count(), 15);
    let marks = shown.text.matches("class=\"part\"").count();
    assert_eq!(marks, 2, "preview and outcome");
    drop(agent);
}
