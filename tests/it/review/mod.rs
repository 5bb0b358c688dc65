//! People decide in a browser: the page that `wikijs-gate review` serves on loopback.
#![expect(clippy::disallowed_types, reason = "a browser is no client of ours")]

mod bin;
mod by_accident;
mod looked_at;
mod looking;
mod recorded;
mod review_guarded;
mod review_walk;
mod reviewing;
mod signed_in;

use std::net::SocketAddr;
use std::process::Command as Process;

use reqwest::header::{COOKIE, HeaderMap, LOCATION, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};

use crate::prelude::*;

/// A browser at the page, as far as a person without JavaScript has one.
pub(crate) struct Browser {
    pub(crate) client: Client,
    pub(crate) address: String,
    pub(crate) cookie: String,
}

/// A page that was opened.
pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Page {
    /// It was answered with this status; `why` says of what it is told.
    #[track_caller]
    pub(crate) fn is(&self, status: StatusCode, why: &str) {
        assert_eq!(self.status, status, "{why}: {}", self.text);
    }

    /// The value of a hidden member of its form.
    pub(crate) fn hidden(&self, name: &str) -> String {
        let begin = format!("name=\"{name}\" value=\"");
        let (_, rest) = self.text.split_once(&begin).unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    /// The addresses of the review page to which it leads, and to which its forms go.
    pub(crate) fn links(&self) -> Vec<String> {
        let links = ["href=\"", "src=\"", "method=\"post\" action=\""];
        let links = links.iter().flat_map(|name| self.text.split(name).skip(1));
        let links = links.map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&"));
        let is_ours = |link: &String| {
            (link.starts_with('?') || link.starts_with("/review"))
                && !link.starts_with("/review/assets")
                && link != "/review/sign-out"
        };
        links.filter(is_ours).collect()
    }

    pub(crate) fn leads_to(&self) -> String {
        self.headers[LOCATION].to_str().unwrap().to_owned()
    }
}

impl Browser {
    /// One that nobody signed in to, and the link that does.
    pub(crate) fn at(link: &str) -> (Self, String) {
        let (address, path) = link.split_at(link.find("/review").unwrap());
        let host = address.trim_start_matches("http://");
        let (host, port) = host.split_once(':').unwrap();
        let to = SocketAddr::from(([127, 0, 0, 1], port.parse().unwrap()));
        wikijs_gate::wiki::provide_tls();
        let client = Client::builder().no_proxy().redirect(Policy::none());
        let client = client.resolve(host, to).build().unwrap();
        let browser = Self {
            client,
            address: address.to_owned(),
            cookie: String::new(),
        };
        (browser, path.to_owned())
    }

    /// The same where a server leads to a name that the page has of its own.
    pub(crate) async fn led(link: &str) -> (Self, String) {
        let (browser, path) = Self::at(link);
        let opened = browser.open(&path).await;
        if opened.status == StatusCode::TEMPORARY_REDIRECT {
            return Self::at(&opened.leads_to());
        }
        (browser, path)
    }

    /// A page; where the address names no site of several, the one to which it leads.
    pub(crate) async fn open(&self, path: &str) -> Page {
        let page = self.get(path).await;
        let place = path.split('?').next().unwrap();
        if page.status == StatusCode::SEE_OTHER && page.leads_to().starts_with(place) {
            return self.get(&page.leads_to()).await;
        }
        page
    }

    pub(crate) async fn get(&self, path: &str) -> Page {
        let request = self.client.get(format!("{}{path}", self.address));
        page(request.header(COOKIE, &self.cookie).send().await.unwrap()).await
    }

    pub(crate) async fn send(&self, path: &str, form: &[(&str, &str)]) -> Page {
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        let body = body.extend_pairs(form).finish();
        let request = self.client.post(format!("{}{path}", self.address));
        let request = request
            .header("content-type", "application/x-www-form-urlencoded")
            .header("origin", &self.address)
            .header(COOKIE, &self.cookie)
            .body(body);
        page(request.send().await.unwrap()).await
    }

    pub(crate) async fn sign_in(&mut self, path: &str) -> Page {
        let asked = self.open(path).await;
        let (link, then) = (asked.hidden("link"), asked.hidden("then"));
        let form = [("link", &*link), ("then", &*then)];
        let signed_in = self.send("/review/sign-in", &form).await;
        if let Some(cookie) = signed_in.headers.get(SET_COOKIE) {
            let (cookie, _) = cookie.to_str().unwrap().split_once(';').unwrap();
            cookie.clone_into(&mut self.cookie);
        }
        signed_in
    }

    /// Decides on a set as its page shows it.
    pub(crate) async fn decide(&self, id: &str, decision: &str, more: &[(&str, &str)]) -> Page {
        let shown = self.open(&format!("/review/sets/{id}")).await;
        self.decide_on(id, &shown, decision, more).await
    }

    /// Decides on a set as a page showed it.
    pub(crate) async fn decide_on(
        &self,
        id: &str,
        shown: &Page,
        decision: &str,
        more: &[(&str, &str)],
    ) -> Page {
        let more = [&[("decision", decision)], more].concat();
        let sent = self.sends(id, shown, &more).await;
        if sent.status == StatusCode::SEE_OTHER {
            self.settled(&sent.leads_to()).await;
        }
        sent
    }

    /// Sends the form of a set's page as it was shown, and waits for nothing.
    pub(crate) async fn sends(&self, id: &str, shown: &Page, more: &[(&str, &str)]) -> Page {
        let (token, digest) = (shown.hidden("form_token"), shown.hidden("digest"));
        let own = [("form_token", &*token), ("digest", &*digest)];
        let form = [&own, more].concat();
        self.send(&format!("/review/sets/{id}"), &form).await
    }

    /// Takes back what the page of an undo showed.
    pub(crate) async fn takes_back(&self, undo: &str, asked: &Page) -> Page {
        let fields = ["form_token", "shown", "undoes"].map(|name| (name, asked.hidden(name)));
        let form = vec_of(fields.iter().map(|(name, value)| (*name, &**value)));
        self.send(undo, &form).await
    }

    /// A page when nothing that it is about is under way any more.
    pub(crate) async fn settled(&self, path: &str) -> Page {
        loop {
            let page = self.open(path).await;
            if !page.text.contains("http-equiv=\"refresh\"") {
                return page;
            }
        }
    }
}

pub(crate) async fn page(response: Response) -> Page {
    Page {
        status: response.status(),
        headers: response.headers().clone(),
        text: response.text().await.unwrap(),
    }
}

/// A wiki, an agent that only proposes, and a person at the page.
pub(crate) struct Desk {
    pub(crate) wiki: DemoWiki,
    pub(crate) agent: Served,
    pub(crate) program: Program,
    pub(crate) link: String,
}

/// A process that serves the page of an agent's record, and the link to sign in.
async fn page_of(wiki: &DemoWiki, agent: &Served, key: String) -> (Program, String) {
    page_with(wiki, agent, key, &[]).await
}

/// The same with more settings.
async fn page_with(
    wiki: &DemoWiki,
    agent: &Served,
    key: String,
    more: &'static [(&str, &str)],
) -> (Program, String) {
    let dir = agent.dir.path().to_str().unwrap().to_owned();
    let address = wiki.address();
    let begun = tokio::task::spawn_blocking(move || {
        let variables = [
            ("WIKI_BASE_URL", &*address),
            ("WIKI_API_TOKEN", &key),
            ("WIKI_AUDIT_DIR", &dir),
            ("WIKI_MUTATIONS_ENABLED", "true"),
        ];
        let variables = [&variables, more].concat();
        let mut program = Program::start(&["review", "--no-browser"], &variables);
        let link = program.line();
        (program, link)
    });
    begun.await.unwrap()
}

async fn signed_in(link: &str) -> Browser {
    let (mut browser, path) = Browser::at(link);
    assert_eq!(browser.sign_in(&path).await.status, StatusCode::SEE_OTHER);
    browser
}

impl Desk {
    pub(crate) async fn of(pages: &[(&str, &str)]) -> Self {
        let wiki = wiki_of(pages).await;
        let key = wiki.keys().scripter.clone();
        Self::with_key(wiki, key).await
    }

    /// The same of so many pages `docs/p0`, `docs/p1`…, and their ids.
    pub(crate) async fn of_old_pages(count: usize) -> (Self, Vec<i64>) {
        let paths = vec_of((0..count).map(|at| format!("docs/p{at}")));
        let pages = vec_of(paths.iter().map(|path| (&**path, "old\n")));
        let desk = Self::of(&pages).await;
        let ids = paths.iter().map(|path| id_of(&desk.wiki, path)).collect();
        (desk, ids)
    }

    /// The same on this wiki, for both with this key.
    pub(crate) async fn with_key(wiki: DemoWiki, key: String) -> Self {
        let agent = Setup::at(&wiki.address(), &key).dry();
        let agent = agent
            .toolsets("pages,drafts,proposals,assets")
            .serve()
            .await;
        let (program, link) = page_of(&wiki, &agent, key).await;
        Self {
            wiki,
            agent,
            program,
            link,
        }
    }

    pub(crate) async fn signed_in(&self) -> Browser {
        signed_in(&self.link).await
    }

    /// Another process that serves the page of the same record, and a browser signed in to it.
    pub(crate) async fn beside(&self) -> (Program, Browser) {
        let key = self.wiki.keys().scripter.clone();
        let (program, link) = page_of(&self.wiki, &self.agent, key).await;
        (program, signed_in(&link).await)
    }

    pub(crate) async fn propose(&self, tool: &str, arguments: Value) -> String {
        let preview = self.agent.call(tool, arguments).await.unwrap();
        preview["proposal"].as_str().unwrap().to_owned()
    }

    /// Proposes to write "new" for "old" in these pages.
    pub(crate) async fn propose_new_for_old(&self, ids: &[i64]) -> String {
        let replaced = json!([{ "oldText": "old", "newText": "new" }]);
        let bulk = json!({ "ids": ids, "replaceAll": replaced });
        self.propose(BULK, bulk).await
    }

    pub(crate) async fn edit(&self, path: &str, old: &str, new: &str) -> String {
        let arguments = json!({
            "id": id_of(&self.wiki, path),
            "edits": [{ "oldText": old, "newText": new }],
            "note": "typo <b>here</b>",
        });
        self.propose(UPDATE, arguments).await
    }

    pub(crate) fn content(&self, path: &str) -> String {
        let id = id_of(&self.wiki, path);
        self.wiki
            .with_store(|store| store.page(id).unwrap().content.clone())
    }
}

pub(crate) const PAGES: &[(&str, &str)] = &[("docs/a", "The old word.\n"), ("docs/b", "Other.\n")];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_signs_in_once_looks_and_applies() {
    let desk = Desk::of(PAGES).await;
    let id = desk.edit("docs/a", "old", "new").await;
    let browser = desk.signed_in().await;
    let queue = browser.open("/review").await;
    says(&queue.text, &format!("/review/sets/{id}"));
    let shown = browser.open(&format!("/review/sets/{id}")).await;
    for part in [
        "<mark>old</mark>",
        "<mark>new</mark>",
        "typo &lt;b&gt;here&lt;/b&gt;",
    ] {
        says(&shown.text, part);
    }
    let done = browser.decide(&id, "apply", &[]).await;
    done.is(StatusCode::SEE_OTHER, "");
    assert_eq!(done.leads_to(), format!("/review/sets/{id}?decided=1"));
    assert_eq!(desk.content("docs/a"), "The new word.\n");
    let after = browser.open(&done.leads_to()).await;
    assert!(after.text.contains("Applied "), "{}", after.text);
    assert!(after.text.contains("To the queue"), "{}", after.text);
    let queue = browser.open("/review").await;
    assert!(queue.text.contains("Nothing waits"), "{}", queue.text);
    let records = desk.agent.records();
    let mut latest = records.iter().rev();
    let outcome = latest.find(|one| one.event == AuditEvent::Outcome);
    let tool = outcome.and_then(|one| one.tool.clone());
    assert_eq!(tool.as_deref(), Some("review"));
    // The decision is one call that goes its way once: the page was the preview.
    let own = { records.iter() }.filter(|one| one.tool.as_deref() == Some("review"));
    let own = vec_of(own);
    let told = vec_of(own.iter().map(|one| (one.event, one.decision.as_deref())));
    let expected = [
        (AuditEvent::Attempt, Some("yes")),
        (AuditEvent::Outcome, None),
        (AuditEvent::Proposal, Some("applied")),
    ];
    assert_eq!(told, expected);
    assert!(own.iter().all(|one| one.call == own[0].call));
    assert_eq!(own[0].confirms.map(|set| set.to_string()), Some(id));
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_signing_in_nothing_is_shown_and_a_link_works_once() {
    let desk = Desk::of(PAGES).await;
    let id = desk.edit("docs/a", "old", "new").await;
    let (mut browser, path) = Browser::at(&desk.link);
    let set = format!("/review/sets/{id}");
    for place in ["/review", &set, "/review?part=list"] {
        let shown = browser.open(place).await;
        shown.is(StatusCode::UNAUTHORIZED, place);
        lacks(&shown.text, &id);
        lacks(&shown.text, "docs/a");
    }
    // Whatever looks at the address ahead of a person uses nothing up.
    for _ in 0..3 {
        assert_eq!(browser.open(&path).await.status, StatusCode::OK);
    }
    assert_eq!(browser.sign_in(&path).await.status, StatusCode::SEE_OTHER);
    let (other, _) = Browser::at(&desk.link);
    let again = other.open(&path).await;
    again.is(StatusCode::UNAUTHORIZED, "");
    assert!(again.text.contains("was used before"), "{}", again.text);
    // The cookie is for no script and no other site.
    let token = browser.open("/review").await.hidden("form_token");
    let form = [("form_token", &*token)];
    let out = browser.send("/review/sign-out", &form).await;
    out.is(StatusCode::SEE_OTHER, "");
    let status = browser.open("/review").await.status;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_that_is_not_the_sessions_own_decides_nothing() {
    let desk = Desk::of(PAGES).await;
    let id = desk.edit("docs/a", "old", "new").await;
    let browser = desk.signed_in().await;
    let path = format!("/review/sets/{id}");
    let shown = browser.open(&path).await;
    let (token, digest) = (shown.hidden("form_token"), shown.hidden("digest"));
    let at = &*browser.address;
    for (form_token, digest, origin, status) in [
        ("", &*digest, at, StatusCode::FORBIDDEN),
        ("made up", &digest, at, StatusCode::FORBIDDEN),
        (
            &token,
            &digest,
            "http://evil.example",
            StatusCode::FORBIDDEN,
        ),
        (&token, &digest, "null", StatusCode::FORBIDDEN),
        (&token, "another", at, StatusCode::CONFLICT),
    ] {
        let body = format!("form_token={form_token}&digest={digest}&decision=apply");
        let request = browser.client.post(format!("{at}{path}")).body(body);
        let request = request.header("origin", origin);
        let request = request.header(COOKIE, &browser.cookie);
        let answer = page(request.send().await.unwrap()).await;
        answer.is(status, origin);
    }
    assert_eq!(desk.content("docs/a"), "The old word.\n");
    // Nor is the page there under another name.
    let port = browser.address.rsplit_once(':').unwrap().1;
    let elsewhere = format!("http://127.0.0.1:{port}/review");
    let request = browser.client.get(elsewhere);
    let request = request.header(COOKIE, &browser.cookie);
    let answer = page(request.send().await.unwrap()).await;
    answer.is(StatusCode::FORBIDDEN, "");
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejection_needs_a_reason_which_the_agent_reads() {
    let desk = Desk::of(PAGES).await;
    let first = desk.edit("docs/a", "old", "new").await;
    let second = desk.edit("docs/b", "Other", "Others").await;
    let browser = desk.signed_in().await;
    let without = browser.decide(&first, "reject", &[("reason", " ")]).await;
    without.is(StatusCode::UNPROCESSABLE_ENTITY, "");
    assert!(without.text.contains("Say why"), "{}", without.text);
    let why = [("reason", "belongs into docs/b")];
    let done = browser.decide(&first, "reject", &why).await;
    // It leads on to the next one that waits.
    let decided = browser.open(&done.leads_to()).await;
    let next = format!("href=\"/review/sets/{second}\" autofocus>Next: ");
    assert!(decided.text.contains(&next), "{}", decided.text);
    let told = call_ok(&desk.agent, LIST_PROPOSALS, json!({ "state": "rejected" })).await;
    assert!(told.to_string().contains("belongs into docs/b"), "{told}");
    // Whoever decides second sees who was first.
    let late = browser.open(&format!("/review/sets/{first}")).await;
    assert!(late.text.contains("Rejected"), "{}", late.text);
    let token = browser.open("/review").await.hidden("form_token");
    let form = [
        ("form_token", &*token),
        ("digest", "x"),
        ("decision", "apply"),
    ];
    let refused = browser.send(&format!("/review/sets/{first}"), &form).await;
    refused.is(StatusCode::CONFLICT, "");
    says(&refused.text, "It was decided meanwhile");
    assert_eq!(desk.content("docs/a"), "The old word.\n");
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_not_shown_is_counted_before_it_is_applied() {
    let desk = Desk::of(PAGES).await;
    let text = vec_of((0..3_000).map(|line| format!("line {line}"))).join("\n");
    let arguments = json!({ "id": id_of(&desk.wiki, "docs/a"), "content": text });
    let id = desk.propose(UPDATE, arguments).await;
    let browser = desk.signed_in().await;
    let refused = browser.decide(&id, "apply", &[]).await;
    refused.is(StatusCode::UNPROCESSABLE_ENTITY, "");
    says(&refused.text, "were not shown yet");
    for wrong in ["1", "99999", "all"] {
        let refused = browser.decide(&id, "apply", &[("unseen", wrong)]).await;
        refused.is(StatusCode::UNPROCESSABLE_ENTITY, wrong);
    }
    // Each page of the differences is opened.
    let mut from = 0;
    loop {
        let part = format!("/review/sets/{id}?from={from}");
        let shown = browser.open(&part).await;
        let Some((_, next)) = shown.text.split_once("class=\"button\" href=\"?from=") else {
            break;
        };
        from = next.split('#').next().unwrap().parse().unwrap();
        assert!(from < 100);
    }
    let done = browser.decide(&id, "apply", &[]).await;
    done.is(StatusCode::SEE_OTHER, "");
    assert_eq!(desk.content("docs/a"), text);
    desk.program.kill();
}

/// Pages with all that is hard to show: long lines, tables, other scripts, hostile text.
fn hard_pages() -> Vec<(String, String)> {
    let texts = [
        format!("# A long line\n\n{}\n", "word ".repeat(400)),
        "| a | table | that | is | wide |\n|---|---|---|---|---|\n| 1 | 2 | 3 | 4 | 5 |\n"
            .to_owned(),
        "# 概要\n\nこれはウィキのページです。変更の前と後を比べます。\n".to_owned(),
        "# مقدمة\n\nهذه صفحة من الويكي، وفيها نص من اليمين إلى اليسار.\n".to_owned(),
        "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> \u{202e}turned\n".to_owned(),
    ];
    let page = |page: usize| {
        let text = texts[page % texts.len()].clone();
        (format!("docs/page-{page:02}"), text)
    };
    (0..40).map(page).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Chromium and Node; `just heavy` runs it"]
#[expect(clippy::print_stderr, reason = "says why it did nothing")]
async fn the_review_page_in_a_browser_is_used_as_a_person_does() {
    let is_there = |program: &str| Process::new(program).arg("--version").output().is_ok();
    if !is_there("chromium") || !is_there("node") {
        eprintln!("skipped: the review page in a browser, since there is no chromium or no node");
        return;
    }
    let hard = hard_pages();
    let mut pages: Vec<(&str, &str)> = hard.iter().map(|(path, text)| (&**path, &**text)).collect();
    let small: Vec<String> = (0..20).map(|page| format!("team/page-{page:02}")).collect();
    let short = "The old word of a short page.\n";
    pages.extend(small.iter().map(|path| (&**path, short)));
    let text = "The old word.\n\nOne.\n\nTwo.\n\nThree.\n\nThe end.\n";
    pages.extend([("both/touching", text), ("both/apart", text)]);
    pages.push(("both/gone", "How to install.\n"));
    pages.extend([("guide/a", "[b](/guide/b)\n"), ("guide/b", "B\n")]);
    pages.push(("home", "[a](/guide/a)\n"));
    let wiki = wiki_of(&pages).await;
    let key = wiki.keys().admin.clone();
    let desk = Desk::with_key(wiki, key).await;
    let mut sets = Vec::new();
    for path in &small {
        sets.push(desk.edit(path, "old word", "new words").await);
    }
    let ids = vec_of(hard.iter().map(|(path, _)| id_of(&desk.wiki, path)));
    let large = json!({
        "ids": ids,
        "replaceAll": [{ "oldText": "\n", "newText": "\nOne line more.\n" }],
        "addTags": ["reviewed"],
        "note": "Every page says so at its end, as the team agreed.",
    });
    let large = desk.propose(BULK, large).await;
    let others = others_in_a_browser(&desk).await;
    let root = root();
    let mut browser = Process::new("node");
    // A debug build paints no page within the bound of a release build, which `just bench` holds.
    let most = ["200", "2000"][usize::from(cfg!(debug_assertions))];
    browser
        .arg(root.join("tests/browser/review.mjs"))
        .args(["chromium", &desk.link, &large, &sets.join(",")])
        .arg(root.join("target/browser"))
        .args(others)
        .arg(most);
    let status = tokio::task::spawn_blocking(move || browser.status()).await;
    assert!(status.unwrap().unwrap().success());
    let content = desk.content("team/page-19");
    assert_eq!(content, "The new words of a short page.\n");
    desk.program.kill();
}

/// A set whose page was changed where it changes it, one whose page was changed elsewhere, and a
/// section that moves, and a page that is deleted.
async fn others_in_a_browser(desk: &Desk) -> [String; 4] {
    let touching = desk.edit("both/touching", "old", "new").await;
    let apart = desk.edit("both/apart", "old", "new").await;
    for (path, old, new) in [
        ("both/touching", "old", "older"),
        ("both/apart", "end", "very end"),
    ] {
        let id = id_of(&desk.wiki, path);
        desk.wiki.with_store(|store| {
            store.rewrite(id, |page| page.content = page.content.replace(old, new));
        });
    }
    let agent = Setup::admin(&desk.wiki).indexed().dry();
    let agent = agent.toolsets("pages,drafts,proposals,assets");
    let agent = agent.in_dir_of(&desk.agent).serve().await;
    let section = json!({ "path": "guide", "moveTo": "handbook", "note": "One name for both." });
    let shown = agent.call(BULK, section).await.unwrap();
    let moved = shown["proposal"].as_str().unwrap().to_owned();
    let gone = json!({ "id": id_of(&desk.wiki, "both/gone"), "note": "Nobody installs it so." });
    let gone = agent.call(DELETE, gone).await.unwrap();
    let gone = gone["proposal"].as_str().unwrap().to_owned();
    [touching, apart, moved, gone]
}

/// Signs a reviewer in at a server over HTTP.
pub(crate) async fn reviewer(hosted: &Hosted, names: &Names, arguments: &[&str]) -> Browser {
    let url = format!("http://{}", hosted.address);
    let arguments = [&["token", "new"], arguments, &["--url", &url]].concat();
    let made = hosted.command(names, &arguments).good().await;
    let (mut browser, path) = Browser::led(made.stdout.trim()).await;
    let signed_in = browser.sign_in(&path).await;
    signed_in.is(StatusCode::SEE_OTHER, "");
    browser
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reviewers_over_http_decide_below_their_prefixes_and_agents_nothing() {
    let wiki = wiki_of(&[("docs/a", "The old word.\n"), ("team/b", "Other.\n")]).await;
    let setup = || Setup::scripter(&wiki).dry().toolsets("pages,proposals");
    let agent = setup().serve().await;
    let names = Names::new();
    let token = names.client("agent");
    let hosted = setup().in_dir_of(&agent).naming(&names).host().await;
    let propose = async |path: &str, old: &str| {
        let edit = json!({ "oldText": old, "newText": "New" });
        let arguments = json!({ "id": id_of(&wiki, path), "edits": [edit] });
        let preview = agent.call(UPDATE, arguments).await.unwrap();
        preview["proposal"].as_str().unwrap().to_owned()
    };
    let docs = propose("docs/a", "old").await;
    let team = propose("team/b", "Other").await;
    let content = |path: &str| {
        let id = id_of(&wiki, path);
        wiki.with_store(|store| store.page(id).unwrap().content.clone())
    };
    let anna = "anna --reviewer --prefixes docs --may-apply-in-dry-run";
    let anna = reviewer(&hosted, &names, &vec_of(anna.split(' '))).await;
    let queue = anna.open("/review").await.text;
    says(&queue, &docs);
    lacks(&queue, &team);
    lacks(&queue, "team/b");
    let hidden = anna.open(&format!("/review/sets/{team}")).await;
    hidden.is(StatusCode::NOT_FOUND, "");
    assert!(!hidden.text.contains("team/b"), "{}", hidden.text);
    // In a dry run a reviewer applies nothing without that right.
    let ben = reviewer(&hosted, &names, &["ben", "--reviewer"]).await;
    let refused = ben.decide(&docs, "apply", &[]).await;
    refused.is(StatusCode::FORBIDDEN, "");
    assert!(refused.text.contains("in a dry run"), "{}", refused.text);
    assert_eq!(content("docs/a"), "The old word.\n");
    // An auditor looks.
    let carla = reviewer(&hosted, &names, &["carla", "--auditor"]).await;
    let seen = carla.open(&format!("/review/sets/{docs}")).await;
    seen.is(StatusCode::OK, "");
    assert!(!seen.text.contains("id=\"decide\""), "{}", seen.text);
    // What an agent was given opens nothing.
    let token = token.with("host", anna.address.trim_start_matches("http://"));
    for path in ["/review", &format!("/review/sets/{docs}")] {
        let answer = hosted.send("GET", path, &token, "").await;
        assert_eq!(answer.status, 401, "{}", answer.body);
        lacks(&answer.body, "docs/a");
    }
    let done = anna.decide(&docs, "apply", &[]).await;
    done.is(StatusCode::SEE_OTHER, "");
    assert_eq!(content("docs/a"), "The New word.\n");
    let records = agent.records();
    let mut latest = records.iter().rev();
    let outcome = latest.find(|one| one.event == AuditEvent::Outcome);
    let actor = outcome.and_then(|one| one.actor.clone()).unwrap();
    begins(&actor.as_str(), "reviewer:anna/client:");
    // Who may decide no more is out with the next request.
    let revoked = hosted.command(&names, &["token", "revoke", "anna"]);
    revoked.good().await;
    assert_eq!(anna.open("/review").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_left_out_with_what_depends_on_it() {
    let desk = Desk::of(PAGES).await;
    let ids = ["docs/a", "docs/b"].map(|path| id_of(&desk.wiki, path));
    let bulk = json!({ "ids": ids, "addTags": ["seen"] });
    let id = desk.propose(BULK, bulk).await;
    let browser = desk.signed_in().await;
    let both = [("leave_out", "0"), ("leave_out", "1")];
    let refused = browser.decide(&id, "apply", &both).await;
    refused.is(StatusCode::CONFLICT, "");
    let done = browser.decide(&id, "apply", &[("leave_out", "0")]).await;
    done.is(StatusCode::SEE_OTHER, "");
    let tags = |path: &str| {
        let tags = |page: &PageRow| page.tags.len();
        { &desk.wiki }.with_store(|store| tags(store.page_at("en", path).unwrap()))
    };
    assert_eq!([tags("docs/a"), tags("docs/b")], [0, 1]);
    // No record of what was applied names the page that stayed as it was.
    let records = desk.agent.records();
    let applied = records.iter().filter(|one| {
        one.outcome == Some(Outcome::Applied) || one.decision.as_deref() == Some("applied")
    });
    let pages = applied.filter_map(|one| one.path.as_ref().map(ToString::to_string));
    assert_eq!(vec_of(pages), ["docs/b"; 3]);
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_changed_since_is_shown_with_both_together_and_applied_so() {
    let text = "The old word.\n\nOne.\n\nTwo.\n\nThree.\n\nThe end.\n";
    let desk = Desk::of(&[("docs/a", text)]).await;
    let id = desk.edit("docs/a", "old", "new").await;
    let browser = desk.signed_in().await;
    let before = browser.open(&format!("/review/sets/{id}")).await;
    // Somebody edits the end of the page meanwhile.
    let page = id_of(&desk.wiki, "docs/a");
    let changed = text.replace("The end", "The very end");
    desk.wiki
        .with_store(|store| store.rewrite(page, |page| page.content.clone_from(&changed)));
    let refused = browser.decide_on(&id, &before, "apply", &[]).await;
    refused.is(StatusCode::CONFLICT, "");
    assert!(refused.text.contains("both together"), "{}", refused.text);
    assert_eq!(desk.content("docs/a"), changed);
    let done = browser.decide(&id, "apply", &[("merge", "yes")]).await;
    done.is(StatusCode::SEE_OTHER, "");
    assert_eq!(desk.content("docs/a"), changed.replace("old", "new"));
    desk.program.kill();
}

/// Runs a command on the file of named clients.
async fn with_tokens(hosted: &Hosted, names: &Names, arguments: &[&str]) -> String {
    let ended = hosted.command(names, arguments).good().await;
    ended.stdout.trim().to_owned()
}

/// A server's page in the browser that signed in at another one.
async fn moved(browser: &Browser, hosted: &Hosted) -> Browser {
    let (there, _) = Browser::led(&format!("http://{}/review", hosted.address)).await;
    let cookie = browser.cookie.clone();
    Browser { cookie, ..there }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_server_goes_on_with_a_session_by_a_link_until_one_ends_it() {
    let wiki = wiki_of(PAGES).await;
    let setup = || Setup::scripter(&wiki).dry().toolsets("pages,proposals");
    let (agent, names) = (setup().serve().await, Names::new());
    let server = || setup().in_dir_of(&agent).naming(&names).host();
    let (one, other) = (server().await, server().await);
    let edit = json!({ "oldText": "old", "newText": "new" });
    let edit = json!({ "id": id_of(&wiki, "docs/a"), "edits": [edit] });
    let preview = agent.call(UPDATE, edit).await.unwrap();
    let set = preview["proposal"].as_str().unwrap().to_owned();
    let ann = ["ann", "--reviewer", "--may-apply-in-dry-run"];
    let at_one = reviewer(&one, &names, &ann).await;
    let at_other = moved(&at_one, &other).await;
    // The form is of one server, and so are the lines that were seen; the decision is of the other.
    let shown = at_one.open(&format!("/review/sets/{set}?view=two")).await;
    let decided = at_other.decide_on(&set, &shown, "apply", &[]).await;
    decided.is(StatusCode::SEE_OTHER, "");
    let id = id_of(&wiki, "docs/a");
    let content = wiki.with_store(|store| store.page(id).unwrap().content.clone());
    assert_eq!(content, "The new word.\n");
    // A restart puts nobody out.
    one.stop.cancel();
    one.ended.await.unwrap();
    let again = server().await;
    let at_again = moved(&at_one, &again).await;
    let shown = at_again.open(&format!("/review/sets/{set}")).await;
    shown.is(StatusCode::OK, "");
    says(&shown.text, "<b>two columns</b>");
    // It is listed, and ended everywhere by the name that the list has.
    let listed = with_tokens(&other, &names, &["token", "list", "--json"]).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let session = listed["sessions"][0]["name"].as_str().unwrap();
    begins(&session, "ann/");
    with_tokens(&other, &names, &["token", "revoke", session]).await;
    for browser in [&at_other, &at_again] {
        let over = browser.open("/review").await;
        over.is(StatusCode::UNAUTHORIZED, "");
    }
    // So is one whose person signs out.
    let ben = reviewer(&other, &names, &["ben", "--reviewer"]).await;
    let there = moved(&ben, &again).await;
    let token = there.open("/review").await.hidden("form_token");
    let form = [("form_token", &*token)];
    let out = there.send("/review/sign-out", &form).await;
    out.is(StatusCode::SEE_OTHER, "");
    assert_eq!(ben.open("/review").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_by_a_link_ends_after_twelve_hours_and_after_seven_days() {
    let (wiki, names) = (wiki_of(PAGES).await, Names::new());
    let hosted = Setup::scripter(&wiki).naming(&names).host().await;
    let ann = reviewer(&hosted, &names, &["ann", "--reviewer"]).await;
    let kept = fs::read_dir(hosted.dir.path().join("sessions")).unwrap();
    let kept = kept.last().unwrap().unwrap().path();
    let text = fs::read_to_string(&kept).unwrap();
    let (_, secret) = ann.cookie.split_once('=').unwrap();
    lacks(&text, secret);
    let hour = 60 * 60;
    for (opened, used, status) in [
        (12 * hour - 60, 12 * hour - 60, StatusCode::OK),
        (12 * hour, 12 * hour, StatusCode::UNAUTHORIZED),
        (7 * 24 * hour - 60, 0, StatusCode::OK),
        (7 * 24 * hour, 0, StatusCode::UNAUTHORIZED),
    ] {
        let mut record: Value = serde_json::from_str(&text).unwrap();
        for (name, earlier) in [("opened", opened), ("used", used), ("asked", used)] {
            record[name] = json!(record[name].as_i64().unwrap() - earlier);
        }
        fs::write(&kept, record.to_string()).unwrap();
        let got = ann.open("/review").await;
        got.is(status, &format!("{opened} {used}"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_link_ends_the_sessions_of_the_one_before() {
    let wiki = wiki_of(PAGES).await;
    let names = Names::new();
    let setup = Setup::scripter(&wiki);
    let hosted = setup.naming(&names).host().await;
    let url = format!("http://{}", hosted.address);
    let mut anna = reviewer(&hosted, &names, &["anna", "--reviewer"]).await;
    let ben = reviewer(&hosted, &names, &["ben", "--reviewer"]).await;
    for command in ["link", "rotate"] {
        assert_eq!(anna.open("/review").await.status, StatusCode::OK);
        let link = with_tokens(&hosted, &names, &["token", command, "anna", "--url", &url]).await;
        let over = anna.open("/review").await;
        over.is(StatusCode::UNAUTHORIZED, command);
        says(&over.text, "another link");
        let (mut again, path) = Browser::led(&link).await;
        assert_eq!(again.sign_in(&path).await.status, StatusCode::SEE_OTHER);
        // The session of before stays over, though its reviewer is there again.
        assert_eq!(anna.open("/review").await.status, StatusCode::UNAUTHORIZED);
        anna = again;
    }
    assert_eq!(anna.open("/review").await.status, StatusCode::OK);
    assert_eq!(ben.open("/review").await.status, StatusCode::OK);
}

/// The cookie that a reviewer of this server gets, who asks with these headers.
async fn cookie_of(hosted: &Hosted, names: &Names, name: &str, headers: &[(&str, &str)]) -> String {
    let url = format!("http://{}", hosted.address);
    let new = ["token", "new", name, "--reviewer", "--url", &url];
    let link = with_tokens(hosted, names, &new).await;
    let (_, secret) = link.split_once("link=").unwrap();
    let mut caller = Caller::default().with("content-type", "application/x-www-form-urlencoded");
    for (header, value) in headers {
        caller = caller.with(header, value);
    }
    let form = format!("link={secret}&then=");
    let answer = hosted.send("POST", "/review/sign-in", &caller, &form).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
    let cookie = answer.headers["set-cookie"].clone();
    // It signs in where it was given, under the same name.
    let (own, _) = cookie.split_once(';').unwrap();
    let caller = caller.with("cookie", own);
    let shown = hosted.send("GET", "/review", &caller, "").await;
    assert_eq!(shown.status, 200, "{}", shown.body);
    let (_, value) = own.split_once('=').unwrap();
    cookie.replace(value, "VALUE")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_tls_the_cookie_is_of_its_host_alone() {
    let wiki = wiki_of(PAGES).await;
    let names = Names::new();
    let setup = || Setup::scripter(&wiki).naming(&names);
    let secure = "__Host-wikijs_review=VALUE; Path=/; HttpOnly; SameSite=Strict; Secure";
    let plain = "wikijs_review=VALUE; Path=/review; HttpOnly; SameSite=Strict";
    let public = setup().with("WIKI_REVIEW_URL", "https://mcp.example.org/review");
    let public = public.host().await;
    assert_eq!(cookie_of(&public, &names, "a", &[]).await, secure);
    let local = setup().with("WIKI_REVIEW_URL", "http://localhost/review");
    let local = local.host().await;
    let by_tls = ("x-forwarded-proto", "https");
    // Whoever is no trusted proxy says nothing of that.
    assert_eq!(cookie_of(&local, &names, "b", &[by_tls]).await, plain);
    let proxied = setup().with("WIKI_SERVE_TRUSTED_PROXIES", "127.0.0.1");
    let proxied = proxied.host().await;
    assert_eq!(cookie_of(&proxied, &names, "c", &[by_tls]).await, secure);
    let by_http = ("x-forwarded-proto", "http");
    assert_eq!(cookie_of(&proxied, &names, "d", &[by_http]).await, plain);
    // A cookie without the prefix, as another server of the host may set it, opens nothing by TLS.
    let other = Caller::default().with("cookie", "wikijs_review=x");
    let other = other.with(by_tls.0, by_tls.1);
    assert_eq!(proxied.send("GET", "/review", &other, "").await.status, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_loopback_the_page_has_a_name_of_its_own() {
    let wiki = wiki_of(PAGES).await;
    let names = Names::new();
    let setup = || Setup::scripter(&wiki).naming(&names);
    let hosted = setup().with("WIKI_SERVE_ALLOWED_HOSTS", "mcp.example.org");
    let hosted = hosted.host().await;
    let port = hosted.address.port();
    let mut own = String::new();
    let hosts = format!("127.0.0.1:{port} localhost:{port} [::1]:77");
    for host in hosts.split(' ') {
        let caller = Caller::default().with("host", host);
        let path = "/review/sign-in?link=x";
        let led = hosted.send("GET", path, &caller, "").await;
        assert_eq!(led.status, 307, "{host}: {}", led.body);
        let location = led.headers["location"].strip_prefix("http://").unwrap();
        let (name, rest) = location.split_once(':').unwrap();
        assert!(name.ends_with(".localhost"), "{location}");
        assert!(name.len() > 20, "{location}");
        let asked_at = host.rsplit_once(':').unwrap().1;
        assert_eq!(rest, format!("{asked_at}/review/sign-in?link=x"));
        name.clone_into(&mut own);
        // A form is sent nowhere else.
        let sent = hosted.send("POST", "/review/sign-in", &caller, "").await;
        assert_eq!(sent.status, 421, "{}", sent.body);
    }
    let at = |host: &str| Caller::default().with("host", host);
    let by_own = at(&format!("{own}:{port}"));
    assert_eq!(hosted.send("GET", "/review", &by_own, "").await.status, 401);
    // It is the page's name alone, and of this start.
    assert_eq!(hosted.send("GET", "/mcp", &by_own, "").await.status, 403);
    let other = at(&format!("0123456789abcdef.localhost:{port}"));
    assert_eq!(hosted.send("GET", "/review", &other, "").await.status, 403);
    let again = setup().host().await;
    assert_eq!(again.send("GET", "/review", &by_own, "").await.status, 403);
    // Under a listed name nothing else shares the page's cookies.
    let listed = at("mcp.example.org");
    assert_eq!(hosted.send("GET", "/review", &listed, "").await.status, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_over_http_are_told_the_address_that_serves_them_and_no_command() {
    let wiki = wiki_of(PAGES).await;
    let names = Names::new();
    let agent = names.client("agent");
    let setup = |confirm: &str, value: &str| {
        let mut setup = Setup::scripter(&wiki).with(confirm, value).naming(&names);
        setup.thinking = Some(Duration::ZERO);
        setup.with("WIKI_SERVE_ALLOWED_HOSTS", "mcp.example.org,localhost:7")
    };
    let dry = setup("WIKI_MUTATION_DRY_RUN", "true").host().await;
    let review = setup("WIKI_CONFIRM", "review").host().await;
    let change = json!({ "id": id_of(&wiki, "docs/a"), "title": "New" });
    for (host, address) in [
        (None, None),
        (Some("mcp.example.org"), Some("mcp.example.org")),
        (Some("MCP.example.org:8443"), Some("mcp.example.org:8443")),
        (Some("localhost"), None),
        (Some("localhost:7"), Some("localhost:7")),
    ] {
        for hosted in [&dry, &review] {
            let mut caller = agent.clone();
            if let Some(host) = host {
                caller = caller.with("host", host);
            }
            let answer = hosted.ok(&caller, UPDATE, change.clone()).await;
            let own = hosted.address.to_string();
            let set = answer["proposal"].as_str().unwrap();
            let page = format!("http://{}/review/sets/{set}", address.unwrap_or(&own));
            let told = answer.to_string();
            assert!(told.contains(&page), "{host:?}: {page}\n{told}");
            lacks(&told, "`wikijs-gate");
            lacks(&told, "wikijs-gate review");
        }
    }
}
