//! Bad input at the review page: hostile text, ended sessions, agents that open what they were told,
//! browsers that hang up.

use html5ever::tendril::TendrilSink as _;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use reqwest::header::COOKIE;

use crate::prelude::*;
use crate::review::{Browser, Desk, PAGES, Page};

const EVIL: &str =
    "\"><script>alert(1)</script><img src=x onerror='alert(2)'>\u{202e}\u{2066}'`&lt;b&gt;";

/// What of a page could run or load something, and what it says that would turn or hide text.
fn faults(page: &Page) -> Vec<String> {
    fn walk(node: &Handle, found: &mut Vec<String>) {
        if let NodeData::Element { name, attrs, .. } = &node.data {
            let name = &*name.local;
            let attributes = attrs.borrow();
            let value = |wanted: &str| {
                let mut all = attributes.iter();
                let one = all.find(|one| &*one.name.local == wanted);
                one.map(|one| one.value.to_string()).unwrap_or_default()
            };
            let is_own = name != "script" || value("src") == "/review/assets/review.js";
            let runs = [
                "iframe", "object", "embed", "img", "base", "style", "video", "audio",
            ];
            if !is_own || runs.contains(&name) {
                found.push(format!("<{name}>"));
            }
            for one in attributes.iter() {
                let (name, value) = (&*one.name.local, one.value.to_lowercase());
                let is_scheme = value.trim_start().starts_with("javascript:")
                    || value.trim_start().starts_with("data:");
                let leads = ["href", "src", "action", "formaction"].contains(&name);
                if name.starts_with("on") || name == "style" || (leads && is_scheme) {
                    found.push(format!("{name}={value}"));
                }
            }
        }
        for child in node.children.borrow().iter() {
            walk(child, found);
        }
    }
    let mut found = Vec::new();
    let hidden = |c: &char| {
        matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
            || (c.is_control() && !matches!(c, '\n' | '\t'))
    };
    // What somebody searches for stands in its field as they wrote it.
    let mut text = page.text.clone();
    while let Some(at) = text.find("<input type=\"text\"") {
        let rest = text.split_off(at);
        text.push_str(rest.split_once('>').unwrap().1);
    }
    found.extend(text.chars().filter(hidden).map(|c| format!("{c:?}")));
    if page.headers["content-type"]
        .to_str()
        .unwrap()
        .starts_with("text/html")
    {
        let dom = parse_document(RcDom::default(), ParseOpts::default()).one(page.text.as_str());
        walk(&dom.document, &mut found);
    }
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    if !policy.starts_with("default-src 'none'") || policy.contains("unsafe") {
        found.push(policy.to_owned());
    }
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
    ] {
        if page.headers[name] != value {
            found.push(name.to_owned());
        }
    }
    found
}

#[tokio::test]
async fn an_address_where_nothing_is_says_where_the_queue_is() {
    let desk = Desk::of(&[("docs/a", "Text.\n")]).await;
    let browser = desk.signed_in().await;
    for path in ["/review/nope", "/review/record/calls", "/review/assets/a/b"] {
        let page = browser.open(path).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{path}");
        says(&page.text, "What waits for a decision is at /review.");
        assert_eq!(faults(&page), Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_text_is_text_wherever_it_is_shown() {
    let long = "x".repeat(60_000);
    let text =
        format!("{EVIL}\nold\n[a](javascript:alert(3)) ![b](data:text/html,c)\n\u{0}\n{long}\n");
    let desk = Desk::of(&[("docs/a", &text), ("docs/b", "old\n"), ("docs/c", "old\n")]).await;
    let ids: Vec<i64> = ["docs/a", "docs/b", "docs/c"]
        .map(|path| id_of(&desk.wiki, path))
        .into();
    desk.wiki.with_store(|store| {
        for id in &ids {
            let page = store.page_mut(*id).unwrap();
            EVIL.clone_into(&mut page.title);
            page.description = Some(EVIL.to_owned());
        }
    });
    let bulk = json!({
        "ids": ids, "note": EVIL, "addTags": ["<b onclick=alert(4)>tag"],
        "replaceAll": [{ "oldText": "old", "newText": format!("new {EVIL}") }],
    });
    let set = desk.propose(BULK, bulk).await;
    let one = json!({
        "id": ids[1], "note": EVIL, "title": format!("{EVIL}!"), "description": EVIL,
        "scriptJs": "</script><script>alert(5)</script>", "scriptCss": "</style><style>*{}",
    });
    let one = desk.propose(UPDATE, one).await;
    let browser = desk.signed_in().await;
    let evil: String = url::form_urlencoded::byte_serialize(EVIL.as_bytes()).collect();
    let evil_path = evil.replace('+', "%20");
    let mut found = String::new();
    let mut look = |place: &str, page: &Page| {
        for fault in faults(page) {
            writeln!(found, "{place}: {fault}").unwrap();
        }
    };
    // Lines that are too long for one part come on the pages after the first.
    let places = [
        "/review".to_owned(),
        format!("/review?words={evil}"),
        format!("/review?part=list&words={evil}"),
        format!("/review/sets/{set}"),
        format!("/review/sets/{set}?view=two"),
        format!("/review/sets/{set}?from=1&view=one"),
        format!("/review/sets/{set}?from={evil}"),
        format!("/review/sets/{set}?part=state"),
        format!("/review/sets/{set}/new/0"),
        format!("/review/sets/{set}/new/1"),
        format!("/review/sets/{set}/new/99"),
        format!("/review/sets/{one}"),
        format!("/review/sets/{evil_path}"),
        format!("/review/sign-in?link={evil}&then={evil}"),
        format!("/review/assets/{evil_path}"),
        "/review/record".to_owned(),
        format!(
            "/review/record?client={evil}&path={evil}&outcome={evil}&tool={evil}&since={evil}&set={evil}&page={evil}"
        ),
        format!("/review/record?page={}", ids[1]),
        format!("/review/record/calls/{evil_path}"),
        "/review/record/check".to_owned(),
        "/review/record/heads.txt".to_owned(),
    ];
    for place in &places {
        look(place, &browser.open(place).await);
    }
    // A decision that is refused, and one that is made, with the words of both.
    let refused = browser
        .decide(&one, EVIL, &[("reason", EVIL), ("leave_out", EVIL)])
        .await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    look("refused", &refused);
    let rejected = browser.decide(&one, "reject", &[("reason", EVIL)]).await;
    assert_eq!(rejected.status, StatusCode::SEE_OTHER, "{}", rejected.text);
    for place in [
        "/review".to_owned(),
        format!("/review/sets/{one}"),
        "/review/record".to_owned(),
    ] {
        look(&place, &browser.open(&place).await);
    }
    let listed = browser.open("/review/record").await.text;
    let calls: Vec<&str> = { listed.split("href=\"/review/record/calls/").skip(1) }
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(calls.len() >= 2, "{listed}");
    for call in calls {
        let place = format!("/review/record/calls/{call}");
        look(&place, &browser.open(&place).await);
    }
    assert_eq!(found, "");
    // It is shown, and not left out.
    let shown = browser.open(&format!("/review/sets/{set}")).await.text;
    assert!(shown.contains("&lt;script&gt;alert(1)"), "{shown}");
    assert!(shown.contains("\\u{202e}"), "{shown}");
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ended_session_is_told_so_and_shown_nothing() {
    let desk = Desk::of(PAGES).await;
    let id = desk.edit("docs/a", "old", "new").await;
    let browser = desk.signed_in().await;
    let shown = browser.open(&format!("/review/sets/{id}")).await;
    let token = shown.hidden("form_token");
    let form = [("form_token", &*token)];
    browser.send("/review/sign-out", &form).await;
    let form = [
        ("form_token", &*token),
        ("digest", &*shown.hidden("digest")),
        ("decision", "apply"),
    ];
    let set = format!("/review/sets/{id}");
    for (page, has_sent) in [
        (browser.open(&set).await, false),
        (browser.open("/review/record").await, false),
        (browser.send(&set, &form).await, true),
    ] {
        assert_eq!(page.status, StatusCode::UNAUTHORIZED);
        let is_told = page.text.contains("Nothing was decided by what you sent");
        assert_eq!(is_told, has_sent, "{}", page.text);
        for says in [
            "Your session has ended",
            "How to sign in",
            "wikijs-gate review",
            "token link",
        ] {
            assert!(page.text.contains(says), "{}", page.text);
        }
        assert!(!page.text.contains("docs/a"), "{}", page.text);
    }
    assert_eq!(mutations(&desk.wiki).len(), 0);
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_opens_every_address_learns_nothing_and_decides_nothing() {
    const PAGE: &str = "https://wiki.example.org/review";
    let wiki = wiki_of(&[("docs/a", "The secret word.\n")]).await;
    let setup = || {
        Setup::scripter(&wiki)
            .dry()
            .toolsets("pages,proposals")
            .with("WIKI_REVIEW_URL", PAGE)
    };
    let agent = setup().serve().await;
    let names = Names::new();
    let token = names.client("agent");
    let hosted = setup().in_dir_of(&agent).naming(&names).host().await;
    let edit = json!({ "oldText": "secret", "newText": "open" });
    let edit = json!({ "id": id_of(&wiki, "docs/a"), "edits": [edit] });
    let preview = agent.call(UPDATE, edit).await.unwrap();
    let id = preview["proposal"].as_str().unwrap();
    let listed = agent.call(LIST_PROPOSALS, json!({})).await.unwrap();
    let got = agent.call(GET_PROPOSAL, json!({ "id": id })).await.unwrap();
    // Every address of the page in what it was told, and all that it can make up.
    let told = format!("{preview}{listed}{got}");
    let mut places: Vec<String> = { told.split(PAGE).skip(1) }
        .map(|rest| format!("/review{}", rest.split(['"', ' ', '\\']).next().unwrap()))
        .collect();
    for made_up in [
        "",
        "?part=list",
        "?own=1",
        "/record",
        "/record/check",
        "/record/heads.txt",
    ] {
        places.push(format!("/review{made_up}"));
    }
    for made_up in ["", "?part=state", "?view=two", "/new/0"] {
        places.push(format!("/review/sets/{id}{made_up}"));
    }
    let form = format!("form_token=x&digest=x&decision=apply&link={id}");
    for place in places.iter().map(String::as_str).chain(["/review/sign-in"]) {
        for caller in [&token, &Caller::default()] {
            let got = hosted.send("GET", place, caller, "").await;
            assert_eq!(got.status, 401, "{place}: {}", got.body);
            let caller = caller
                .clone()
                .with("content-type", "application/x-www-form-urlencoded");
            let sent = hosted.send("POST", place, &caller, &form).await;
            assert!(sent.status >= 400, "{place}: {}", sent.body);
            for body in [got.body, sent.body] {
                for word in ["secret", "docs/a", "Page docs a"] {
                    assert!(!body.contains(word), "{place}: {body}");
                }
            }
        }
    }
    assert_eq!(mutations(&wiki).len(), 0);
    let listed = call_ok(&agent, LIST_PROPOSALS, json!({ "state": "open" })).await;
    assert_eq!(
        listed["proposals"][0]["proposal"]
            .as_str()
            .or(listed["proposals"][0]["id"].as_str()),
        Some(id)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_hangs_up_stops_nothing_and_the_next_visit_says_how_far_it_is() {
    let (desk, ids) = Desk::of_old_pages(6).await;
    let id = desk.propose_new_for_old(&ids).await;
    let browser = desk.signed_in().await;
    let set = format!("/review/sets/{id}");
    let shown = browser.open(&set).await;
    let body: String = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs([
            ("form_token", shown.hidden("form_token")),
            ("digest", shown.hidden("digest")),
            ("decision", "apply".to_owned()),
        ])
        .finish();
    desk.wiki.set_write_delay(Duration::from_millis(400));
    let request = { browser.client.post(format!("{}{set}", browser.address)) }
        .header("content-type", "application/x-www-form-urlencoded")
        .header("origin", &browser.address)
        .header(COOKIE, &browser.cookie)
        .body(body);
    // Hung up as soon as the first write is under way.
    let hung_up = tokio::spawn(request.send());
    until(async || !mutations(&desk.wiki).is_empty()).await;
    hung_up.abort();
    let another = another_visit(&browser);
    let mut far = Vec::new();
    let applied = async || {
        let page = another.open(&set).await;
        if let Some((_, rest)) = page.text.split_once("Being applied: ") {
            says(&page.text, "http-equiv=\"refresh\"");
            assert!(!page.text.contains("id=\"decide\""), "{}", page.text);
            let told = rest.split(" changes").next().unwrap().to_owned();
            let state = another.open(&format!("{set}?part=state")).await.text;
            assert!(
                state.starts_with("being applied, ") || state == "applied",
                "{state}"
            );
            far.push(told);
        }
        page.text.contains("Applied ")
    };
    until(applied).await;
    assert!(far.iter().any(|far| far.ends_with(" of 6")), "{far:?}");
    assert!(far.is_sorted(), "{far:?}");
    for page in 0..6 {
        assert_eq!(desk.content(&format!("docs/p{page}")), "new\n");
    }
    desk.program.kill();
}

/// The same browser on a connection of its own.
fn another_visit(browser: &Browser) -> Browser {
    let (mut another, _) = Browser::at(&format!("{}/review", browser.address));
    another.cookie.clone_from(&browser.cookie);
    another
}

async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let all = async { while !holds().await {} };
    tokio::time::timeout(Duration::from_mins(1), all)
        .await
        .unwrap();
}
