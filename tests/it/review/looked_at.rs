//! What people are shown of a set beside its differences, and bad input to the page.

use reqwest::header::COOKIE;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::prelude::*;
use crate::review::{Browser, Desk, PAGES, page, reviewer};
use crate::writes::faults::html;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_new_text_is_shown_rendered_and_nothing_of_it_runs_or_loads() {
    let desk = Desk::of(PAGES).await;
    let content = "# New\n\n<script>alert(1)</script>\n\n![x](https://evil.example/pixel.png)\n\n<img src=https://evil.example/2.png onerror=alert(2)>\n";
    let arguments = json!({ "id": id_of(&desk.wiki, "docs/a"), "content": content });
    let id = desk.propose(UPDATE, arguments).await;
    let browser = desk.signed_in().await;
    let set = browser.open(&format!("/review/sets/{id}")).await;
    let address = format!("/review/sets/{id}/new/0");
    says(&set.text, &format!("href=\"{address}\""));
    let shown = browser.open(&address).await;
    assert_eq!(shown.status, StatusCode::OK);
    let (_, article) = shown.text.split_once("<article").unwrap();
    let (article, _) = article.split_once("</article>").unwrap();
    for part in [
        "<h1>New</h1>",
        "https://evil.example/pixel.png]",
        "[image: https://evil.example/2.png]",
    ] {
        assert!(article.contains(part), "{part}: {article}");
    }
    for bad in ["<script", "<img", "onerror"] {
        assert!(!article.contains(bad), "{bad}: {article}");
    }
    assert!(shown.text.contains("approximate"), "{}", shown.text);
    for none in [
        format!("/review/sets/{id}/new/9"),
        "/review/sets/0000000000000000/new/0".to_owned(),
    ] {
        assert_eq!(browser.open(&none).await.status, StatusCode::NOT_FOUND);
    }
    let (stranger, _) = Browser::at(&desk.link);
    let status = stranger.open(&address).await.status;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headings_are_in_order_and_differences_have_names_of_their_own() {
    let (desk, ids) = Desk::of_old_pages(3).await;
    let id = desk.propose_new_for_old(&ids).await;
    let browser = desk.signed_in().await;
    let set = browser.open(&format!("/review/sets/{id}")).await.text;
    let record = browser.open("/review/record?outcome=proposal").await;
    let call = record
        .links()
        .into_iter()
        .find(|link| link.contains("/calls/"));
    let call = browser.open(&call.unwrap()).await.text;
    for page in [&set, &call] {
        let levels = page.split("<h").skip(1);
        let levels: Vec<u32> = vec_of(levels.filter_map(|rest| rest.chars().next()?.to_digit(10)));
        assert_eq!(levels.first(), Some(&1), "{page}");
        assert!(levels.is_sorted_by(|a, b| *b <= a + 1), "{levels:?} {page}");
    }
    let names = set.split("aria-label=\"difference").skip(1);
    let names: Vec<&str> = vec_of(names.filter_map(|rest| rest.split('"').next()));
    let distinct: std::collections::HashSet<&&str> = names.iter().collect();
    assert_eq!((names.len(), distinct.len()), (3, 3), "{names:?}");
    assert_eq!(browser.get("/review/").await.leads_to(), "/review");
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queue_is_searched_by_words_in_the_address() {
    let desk = Desk::of(PAGES).await;
    let a = desk.edit("docs/a", "old", "new").await;
    let b = desk.edit("docs/b", "Other", "Others").await;
    let browser = desk.signed_in().await;
    for (words, has_a, has_b) in [
        ("", true, true),
        ("docs", true, true),
        ("DOCS/A", true, false),
        ("typo docs/b", false, true),
        ("nothing+such", false, false),
        ("%3Cscript%3E", false, false),
    ] {
        for part in ["", "&part=list"] {
            let found = browser.open(&format!("/review?words={words}{part}")).await;
            let has = |id: &str| found.text.contains(&format!("/review/sets/{id}"));
            assert_eq!(has(&a), has_a, "{words}: {}", found.text);
            assert_eq!(has(&b), has_b, "{words}: {}", found.text);
            assert!(!found.text.contains("<script>"), "{}", found.text);
        }
    }
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_list_shows_fifty_sets_and_what_is_outdated_by_one_look_at_the_pages() {
    let (desk, ids) = Desk::of_old_pages(53).await;
    let mut sets = Vec::new();
    for id in &ids {
        sets.push(desk.propose_new_for_old(&[*id]).await);
    }
    let created =
        json!({ "path": "docs/new", "title": "N", "content": "n\n", "editor": "markdown" });
    sets.push(desk.propose(CREATE, created).await);
    desk.wiki.with_store(|store| {
        store.rewrite(ids[10], |page| "else\n".clone_into(&mut page.content));
        store.remove(ids[20]);
    });
    desk.wiki
        .with_page(crate::harness::page("docs/new", "theirs\n"));
    let looks = || {
        let mut seen = desk.wiki.requests();
        seen.retain(|request| request.fields == ["pages.list"]);
        seen.len()
    };
    let dir = desk.agent.dir.path();
    let before = looks();
    let key = desk.wiki.keys().scripter.clone();
    let list = Command::new(&["proposals", "list", "--json"]).at(&desk.wiki.address(), &key, dir);
    let list = list.quiet().good().await.json();
    assert_eq!((looks() - before, &list["notShown"]), (1, &json!(4)));
    assert_eq!(members(&list, "proposals", "id"), sets[..50]);
    let outdated = |states: &[&str]| -> Vec<usize> {
        let odd = states.iter().enumerate();
        let odd = odd.filter(|(_, state)| **state != "open");
        odd.map(|(at, state)| {
            assert_eq!(*state, "outdated");
            at
        })
        .collect()
    };
    assert_eq!(outdated(&members(&list, "proposals", "standing")), [10, 20]);

    let before = looks();
    let told = desk.agent.call(LIST_PROPOSALS, json!({})).await.unwrap();
    assert_eq!((looks() - before, &told["notShown"]), (1, &json!(4)));
    // The newest first: that of the page which exists by now, then the others.
    let states = members(&told, "proposals", "state");
    assert_eq!(outdated(&states), [0, 53 - 20, 53 - 10]);

    let browser = desk.signed_in().await;
    let before = looks();
    let queue = browser.open("/review").await.text;
    assert_eq!(looks() - before, 1);
    assert_eq!(queue.matches("class=\"row\"").count(), 50);
    assert_eq!(queue.matches("mark outdated").count(), 2, "{queue}");
    says(&queue, "and 4 more behind these");
    assert!(!queue.contains("unchecked"), "{queue}");

    // Without the wiki the same is listed, and nothing is said to fit.
    let address = desk.wiki.address();
    let Desk {
        wiki,
        agent,
        program,
        ..
    } = desk;
    drop(wiki);
    let list = Command::new(&["proposals", "list"]).at(&address, &key, agent.dir.path());
    let list = list.quiet().good().await;
    let marks = list.stdout.matches("unchecked").count();
    assert_eq!(marks, 50, "{}", list.told);
    program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_that_asks_for_people_is_named_with_its_why() {
    let wiki = wiki_of(PAGES).await;
    let names = Names::new();
    let rules = "[[rules]]\nname = \"owners\"\nthen = \"review\"\npaths = [\"docs\"]\nwhy = \"the <b>docs</b> team decides\"\n";
    let setup = || Setup::scripter(&wiki).with_tables(rules);
    let agent = setup().toolsets("pages,proposals").serve().await;
    let change = json!({ "id": id_of(&wiki, "docs/a"), "title": "New" });
    agent.confirmed(UPDATE, change).await.unwrap();
    let hosted = setup().in_dir_of(&agent).naming(&names).host().await;
    let anna = reviewer(&hosted, &names, &["anna", "--reviewer"]).await;
    let queue = anna.open("/review").await.text;
    let (_, set) = queue.split_once("href=\"/review/sets/").unwrap();
    let (id, _) = set.split_once('"').unwrap();
    let shown = anna.open(&format!("/review/sets/{id}")).await.text;
    let why = "<b>Rule: </b>owners asks for review: the &lt;b&gt;docs&lt;/b&gt; team decides";
    assert!(shown.contains(why), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_wrong_links_are_refused_and_the_right_one_still_signs_in() {
    let desk = Desk::of(PAGES).await;
    let (mut browser, path) = Browser::at(&desk.link);
    let mut told = BTreeMap::new();
    for attempt in 0..1_000 {
        let link = format!("wjl_{attempt:043x}");
        let form = [("link", &*link), ("then", "")];
        let refused = browser.send("/review/sign-in", &form).await;
        *told.entry(refused.status.as_u16()).or_insert(0) += 1;
        assert!(refused.headers.get("set-cookie").is_none());
    }
    let keys = told.keys().copied().collect::<Vec<_>>();
    assert_eq!(keys, [401, 429], "{told:?}");
    assert!(told[&429] > 900, "{told:?}");
    assert_eq!(browser.sign_in(&path).await.status, StatusCode::SEE_OTHER);
    // Cookies that nobody was given open nothing.
    let own = browser.cookie.clone();
    for forged in [
        "",
        "wikijs_review=",
        "wikijs_review=made-up",
        "other=1",
        own.get(..own.len() - 1).unwrap(),
    ] {
        let request = browser.client.get(format!("{}/review", browser.address));
        let answer = page(request.header(COOKIE, forged).send().await.unwrap()).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{forged}");
    }
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_who_decide_at_once_one_applies_and_the_other_is_told() {
    let wiki = wiki_of(PAGES).await;
    let setup = || Setup::scripter(&wiki).dry().toolsets("pages,proposals");
    let agent = setup().serve().await;
    let names = Names::new();
    let hosted = setup().in_dir_of(&agent).naming(&names).host().await;
    let change = json!({ "id": id_of(&wiki, "docs/a"), "title": "New" });
    let shown = agent.call(UPDATE, change).await.unwrap();
    let id = shown["proposal"].as_str().unwrap();
    let may = |name| [name, "--reviewer", "--may-apply-in-dry-run"];
    let anna = reviewer(&hosted, &names, &may("anna")).await;
    let ben = reviewer(&hosted, &names, &may("ben")).await;
    let path = format!("/review/sets/{id}");
    let (to_anna, to_ben) = (anna.open(&path).await, ben.open(&path).await);
    let (one, other) = tokio::join!(
        anna.decide_on(id, &to_anna, "apply", &[]),
        ben.decide_on(id, &to_ben, "apply", &[])
    );
    let mut statuses = [one.status.as_u16(), other.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 409], "{} {}", one.text, other.text);
    assert_eq!(mutations(&wiki).len(), 1);
    // A token of somebody else's session decides nothing.
    let token = ben.open("/review").await.hidden("form_token");
    let form = [
        ("form_token", &*token),
        ("digest", "x"),
        ("decision", "apply"),
    ];
    let refused = anna.send(&format!("/review/sets/{id}"), &form).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
}

/// The wiki answers one request of a decision with 429, each in turn: nothing is sent twice, what is
/// told and on record is true, and a decision that was put off can be made again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_that_the_wiki_puts_off_is_told_as_it_is_and_can_be_made_again() {
    for pages in [&["docs/a"][..], &["docs/a", "docs/b"]] {
        let wiki = wiki_of(PAGES).await;
        let faulty = FaultyWiki::before(&wiki).await;
        let setup = || {
            Setup::at(&faulty.address(), &wiki.keys().scripter)
                .dry()
                .toolsets("pages,drafts,proposals")
        };
        let agent = setup().serve().await;
        let names = Names::new();
        let hosted = setup().in_dir_of(&agent).naming(&names).host().await;
        let anna = ["anna", "--reviewer", "--may-apply-in-dry-run"];
        let anna = reviewer(&hosted, &names, &anna).await;
        let ids: Vec<i64> = pages.iter().map(|path| id_of(&wiki, path)).collect();
        let propose = async |tag: &str| {
            let shown = match &*ids {
                [id] => {
                    let tags = json!({ "id": id, "addTags": [tag] });
                    agent.call(UPDATE, tags).await
                }
                ids => {
                    let tags = json!({ "ids": ids, "addTags": [tag] });
                    agent.call(BULK, tags).await
                }
            };
            shown.unwrap()["proposal"].as_str().unwrap().to_owned()
        };
        let has = |tag: &str| {
            let has = |id: &i64| {
                let tags = wiki.with_store(|store| store.page(*id).unwrap().tags.clone());
                tags.iter().any(|own| own == tag)
            };
            ids.iter().filter(|id| has(id)).count()
        };
        let (mut number, mut put_off) = (0, 0);
        // Until the fault comes after the last request of a decision.
        loop {
            let tag = format!("t{number}");
            let id = propose(&tag).await;
            let shown = anna.open(&format!("/review/sets/{id}")).await;
            let busy = html(429).header("retry-after", "86400");
            let begun = faulty.seen().len();
            faulty.on_request_after(number, Fault::new(Reach::Never, busy));
            let told = anna.decide_on(&id, &shown, "apply", &[]).await;
            let met = format!("{pages:?}, request {number}: {}", told.text);
            let is_over = faulty.seen().len() <= begun + number;
            faulty.recovers();
            let records = agent.records();
            let attempts = records
                .iter()
                .filter(|one| one.event == AuditEvent::Attempt);
            assert_eq!(attempts.count(), faulty.mutations().len(), "{met}");
            let of_set = |one: &&Record| {
                one.event == AuditEvent::Outcome && one.proposal.as_deref() == Some(&id)
            };
            let outcome = records.iter().rev().find(of_set);
            let outcome = outcome.and_then(|one| one.outcome);
            let state = agent.call(GET_PROPOSAL, json!({ "id": id }));
            let state = state.await.unwrap()["state"].clone();
            // A set that takes longer is told on a later page, whatever comes of it.
            let is_later = told.status == StatusCode::SEE_OTHER;
            if is_later && state == "applied" {
                assert_eq!(has(&tag), ids.len(), "{met}");
                assert_eq!(outcome, Some(Outcome::Applied), "{met}");
            } else {
                put_off += 1;
                assert_eq!(state, "open", "{met}");
                assert_ne!(outcome, Some(Outcome::Applied), "{met}");
                let says = ["fewer requests", "Try again in"];
                let is_told = says.iter().any(|says| told.text.contains(says));
                assert!(is_later || is_told, "{met}");
                let again = anna.decide(&id, "apply", &[]).await;
                assert_eq!(again.status, StatusCode::SEE_OTHER, "{met}: {}", again.text);
                assert_eq!(has(&tag), ids.len(), "{met}");
            }
            if is_over {
                break;
            }
            number += 1;
        }
        assert!(put_off > pages.len(), "{put_off} of {number}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_set_goes_on_though_the_browser_hangs_up_and_the_next_visit_shows_it() {
    let paths: Vec<String> = (0..20).map(|page| format!("docs/p{page:02}")).collect();
    let pages: Vec<(&str, &str)> = paths.iter().map(|path| (&**path, "Text.\n")).collect();
    let desk = Desk::of(&pages).await;
    let ids: Vec<i64> = paths.iter().map(|path| id_of(&desk.wiki, path)).collect();
    let bulk = json!({ "ids": ids, "addTags": ["gone"] });
    let id = desk.propose(BULK, bulk).await;
    let browser = desk.signed_in().await;
    let shown = browser.open(&format!("/review/sets/{id}")).await;
    let (token, digest) = (shown.hidden("form_token"), shown.hidden("digest"));
    let body = format!("form_token={token}&digest={digest}&decision=apply");
    let host = browser.address.trim_start_matches("http://");
    let port = host.rsplit_once(':').unwrap().1;
    let mut socket = TcpStream::connect(format!("127.0.0.1:{port}"))
        .await
        .unwrap();
    let head = format!(
        "POST /review/sets/{id} HTTP/1.1\r\nhost: {host}\r\norigin: {}\r\ncookie: {}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n",
        browser.address,
        browser.cookie,
        body.len()
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    socket.write_all(body.as_bytes()).await.unwrap();
    let until = |count: usize| {
        let wiki = &desk.wiki;
        async move {
            while mutations(wiki).len() < count {
                tokio::task::yield_now().await;
            }
        }
    };
    let limit = Duration::from_mins(1);
    tokio::time::timeout(limit, until(1)).await.unwrap();
    drop(socket);
    tokio::time::timeout(limit, until(20)).await.unwrap();
    let applied = async {
        loop {
            let shown = browser.open(&format!("/review/sets/{id}")).await;
            if shown.text.contains("news good") && shown.text.contains("Applied ") {
                break;
            }
        }
    };
    tokio::time::timeout(limit, applied).await.unwrap();
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_difference_of_ten_megabytes_is_shown_in_bounded_parts() {
    let desk = Desk::of(PAGES).await;
    let page = id_of(&desk.wiki, "docs/a");
    let line =
        "A line of text that is about a hundred bytes long, as lines of pages often are; number";
    let large: Vec<String> = (0..100_000).map(|at| format!("{line} {at}\n")).collect();
    let large = large.concat();
    desk.wiki
        .with_store(|store| store.rewrite(page, |page| page.content.clone_from(&large)));
    let arguments = json!({ "id": page, "content": "Short.\n" });
    let id = desk.propose(UPDATE, arguments).await;
    let browser = desk.signed_in().await;
    for from in ["", "?from=100", "?from=999999"] {
        let shown = browser.open(&format!("/review/sets/{id}{from}")).await;
        assert_eq!(shown.status, StatusCode::OK);
        assert!(shown.text.len() < 2 << 20, "{} bytes", shown.text.len());
        assert!(shown.text.contains("not shown yet"));
    }
    let refused = browser.decide(&id, "apply", &[]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    desk.program.kill();
}
