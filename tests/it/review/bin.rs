//! The bin in the browser: what others deleted is looked at, and its restore proposed and decided.

use super::{Browser, page_with, reviewer, signed_in};
use crate::prelude::*;
use crate::writes::bin::{look, mirrored, now, they_delete, with_dressed};
use crate::writes::key_rights::page_key;
use crate::writes::{dressed, fields};

const ON: &[(&str, &str)] = &[("WIKI_MIRROR", "on")];

fn setup(wiki: &DemoWiki) -> Setup {
    mirrored(Setup::admin(wiki)).dry()
}

/// A wiki of which somebody deleted a page, and the operator's page beside its server.
struct Emptied {
    wiki: DemoWiki,
    served: Served,
    id: i64,
    _program: Program,
    browser: Browser,
}

impl Emptied {
    async fn begin() -> Self {
        let wiki = wiki_of(&[("home", "# Home\n\nSee [it](/docs/dressed).\n")]).await;
        let id = wiki.with_page(PageRow {
            publish_end_date: "2030-01-01".to_owned(),
            ..dressed()
        });
        let served = setup(&wiki).serve().await;
        look(&served).await;
        they_delete(&wiki, id).await;
        look(&served).await;
        let key = wiki.keys().admin.clone();
        let (program, link) = page_with(&wiki, &served, key, ON).await;
        let browser = signed_in(&link).await;
        Self {
            wiki,
            served,
            id,
            _program: program,
            browser,
        }
    }
}

/// Asks for a restore as the page of a deleted page does, and gives the set that it leads to.
async fn asked(browser: &Browser, path: &str, more: &[(&str, &str)]) -> String {
    let shown = browser.open(path).await;
    let token = shown.hidden("form_token");
    let form = [&[("form_token", &*token)], more].concat();
    let answer = browser.send(path, &form).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
    let place = answer.leads_to();
    begins(&place, "/review/sets/");
    let id = place.trim_start_matches("/review/sets/");
    id.split('?').next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_page_is_listed_shown_and_comes_back_by_a_set_that_a_person_decides() {
    let place = Emptied::begin().await;
    let (browser, id) = (&place.browser, place.id);
    let queue = browser.open("/review").await.text;
    says(&queue, "href=\"/review/bin\"");
    let listed = browser.open("/review/bin").await.text;
    says(&listed, "en/docs/dressed");
    says(&listed, "Dressed");
    says(&listed, "<td data-head=\"Links\">1</td>");
    says(&listed, "The wiki was looked at");
    let path = format!("/review/bin/{id}");
    let shown = browser.open(&path).await.text;
    says(&shown, "# Dressed");
    says(&shown, "console.log(&quot;&lt;/script&gt;&quot;)");
    lacks(&shown, "console.log(\"</script>\")");
    let written = mutations(&place.wiki).len();
    let set = asked(browser, &path, &[]).await;
    assert_eq!(
        mutations(&place.wiki).len(),
        written,
        "asking writes nothing"
    );
    let set_page = browser.open(&format!("/review/sets/{set}")).await.text;
    says(&set_page, "it comes back under a new id");
    let done = browser.decide(&set, "apply", &[]).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.text);
    let back = id_of(&place.wiki, "docs/dressed");
    let now = fields(&place.wiki, back);
    assert_eq!(now["scriptJs"], json!("console.log(\"</script>\")"));
    assert_eq!(now["tags"], json!(["alpha", "zeta"]));
    look(&place.served).await;
    lacks(&browser.open("/review/bin").await.text, "docs/dressed");
    assert_eq!(browser.open(&path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bin_that_cannot_be_read_whole_is_not_called_empty() {
    let place = Emptied::begin().await;
    let (browser, id) = (&place.browser, place.id);
    let document = format!("mirror/seen/{id:02x}.json");
    let document = wiki_dir(place.served.dir.path()).join(document);
    assert!(document.exists());
    fs::write(document, "nonsense").unwrap();
    let listed = browser.open("/review/bin").await.text;
    lacks(&listed, "No such page is in the bin");
    says(&listed, &format!("document {id:02x} is damaged"));
    let shown = browser.open(&format!("/review/bin/{id}")).await;
    assert_eq!(shown.status, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bin_is_narrowed_by_part_author_and_time_and_comes_in_pages() {
    let wiki = wiki_of(&[("home", "# Home\n")]).await;
    let ids: Vec<i64> = (0..60)
        .map(|number| wiki.with_page(page(&format!("docs/p{number}"), "x\n")))
        .collect();
    let other = wiki.with_page(page("team/c", "<b>C</b>\u{202e}\n"));
    let served = setup(&wiki).serve().await;
    look(&served).await;
    for id in ids.into_iter().chain([other]) {
        wiki.with_store(|store| drop(store.remove(id)));
    }
    look(&served).await;
    let key = wiki.keys().admin.clone();
    let (_program, link) = page_with(&wiki, &served, key, ON).await;
    let browser = signed_in(&link).await;
    let rows = |text: &str| text.matches("href=\"/review/bin/").count();
    let open = async |path: &str| browser.open(path).await.text;
    let first = open("/review/bin").await;
    assert_eq!(rows(&first), 50);
    says(&first, "form=\"filter\" name=\"from\" value=\"50\"");
    assert_eq!(rows(&open("/review/bin?from=50").await), 11);
    assert_eq!(rows(&open("/review/bin?path=team").await), 1);
    assert_eq!(rows(&open("/review/bin?by=Nobody").await), 0);
    assert_eq!(rows(&open("/review/bin?path=team&since=1h").await), 1);
    assert_eq!(rows(&open("/review/bin?since=2999-01-01").await), 0);
    let wrong = open("/review/bin?since=soon&path=a:b:c").await;
    says(&wrong, "role=\"alert\"");
    assert_eq!(rows(&wrong), 0);
    let far = format!("/review/bin?from={}", usize::MAX);
    assert_eq!(rows(&open(&far).await), 0);
    let shown = open(&format!("/review/bin/{other}")).await;
    says(&shown, "&lt;b&gt;C&lt;/b&gt;");
    lacks(&shown, "\u{202e}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_as_it_was_is_asked_for_by_a_form_and_decided_as_one_set() {
    let wiki = wiki_of(&[("docs/a", "A\n"), ("docs/b", "B\n"), ("team/c", "C\n")]).await;
    let served = setup(&wiki).serve().await;
    look(&served).await;
    let at = now();
    let [a, b, c] = ["docs/a", "docs/b", "team/c"].map(|path| id_of(&wiki, path));
    for id in [a, c] {
        wiki.with_store(|store| store.rewrite(id, |page| "Spam\n".clone_into(&mut page.content)));
    }
    they_delete(&wiki, b).await;
    look(&served).await;
    let key = wiki.keys().admin.clone();
    let (_program, link) = page_with(&wiki, &served, key, ON).await;
    let browser = signed_in(&link).await;
    let form = [("path", "docs"), ("at", &*at), ("by", "")];
    let set = asked(&browser, "/review/bin", &form).await;
    let done = browser.decide(&set, "apply", &[]).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.text);
    let content = |id: i64| wiki.with_store(|store| store.page(id).unwrap().content.clone());
    assert_eq!(content(a), "A\n");
    assert_eq!(content(id_of(&wiki, "docs/b")), "B\n");
    assert_eq!(content(c), "Spam\n");
    let token = browser.open("/review/bin").await.hidden("form_token");
    for (path, at) in [("docs", "soon"), ("", "1h"), ("nowhere", "1h")] {
        let form = [("form_token", &*token), ("path", path), ("at", at)];
        let refused = browser.send("/review/bin", &form).await;
        let expected = StatusCode::UNPROCESSABLE_ENTITY;
        assert_eq!(refused.status, expected, "{path} {at}: {}", refused.text);
    }
}

/// A server over HTTP where pages of two parts were deleted.
async fn hosted(names: &Names) -> (DemoWiki, Served, Hosted, [i64; 2]) {
    let wiki = wiki_of(&[("home", "# Home\n")]).await;
    let ids = ["docs/a", "team/c"].map(|path| wiki.with_page(page(path, "Old.\n")));
    let served = setup(&wiki).serve().await;
    look(&served).await;
    for id in ids {
        they_delete(&wiki, id).await;
    }
    look(&served).await;
    names.add("agent", Grant::default());
    let hosted = setup(&wiki).in_dir_of(&served).naming(names).host().await;
    (wiki, served, hosted, ids)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reviewer_sees_and_asks_within_their_prefixes_and_another_one_decides() {
    let names = Names::new();
    let (wiki, _served, hosted, [docs, team]) = hosted(&names).await;
    let of_docs = ["--reviewer", "--prefixes", "docs", "--may-apply-in-dry-run"];
    let anna = reviewer(&hosted, &names, &[&["anna"][..], &of_docs].concat()).await;
    let ben = reviewer(&hosted, &names, &[&["ben"][..], &of_docs].concat()).await;
    let listed = anna.open("/review/bin").await.text;
    says(&listed, "docs/a");
    lacks(&listed, "team/c");
    let hidden = format!("/review/bin/{team}");
    assert_eq!(anna.open(&hidden).await.status, StatusCode::NOT_FOUND);
    let path = format!("/review/bin/{docs}");
    let token = anna.open(&path).await.hidden("form_token");
    let refused = anna.send(&hidden, &[("form_token", &token)]).await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND, "{}", refused.text);
    // A place and a part outside of the prefixes are refused, and nothing waits.
    let elsewhere = [("form_token", &*token), ("to", "team/a")];
    let refused = anna.send(&path, &elsewhere).await;
    assert_eq!(refused.status, StatusCode::CONFLICT, "{}", refused.text);
    let part = [("form_token", &*token), ("path", "team"), ("at", "1h")];
    let refused = anna.send("/review/bin", &part).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    lacks(&anna.open("/review").await.text, "/review/sets/");
    let set = asked(&anna, &path, &[]).await;
    let own = anna.open(&format!("/review/sets/{set}")).await.text;
    says(&own, "somebody else decides");
    lacks(&own, "name=\"digest\"");
    let done = ben.decide(&set, "apply", &[]).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.text);
    id_of(&wiki, "docs/a");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reviewer_sees_of_a_deleted_page_what_the_last_look_could_read() {
    let names = Names::new();
    let (wiki, served, id) = with_dressed(setup).await;
    let weaker = || mirrored(Setup::readonly(&wiki)).dry().in_dir_of(&served);
    let looks = weaker().serve().await;
    wiki.with_store(|store| store.touch(id));
    assert_eq!(look(&looks).await.kept, 1);
    they_delete(&wiki, id).await;
    look(&looks).await;
    names.add("agent", Grant::default());
    let hosted = weaker().naming(&names).host().await;
    let anna = reviewer(&hosted, &names, &["anna", "--reviewer"]).await;
    let shown = anna.open(&format!("/review/bin/{id}")).await.text;
    says(&shown, "# Dressed");
    says(&shown, "Not seen: ");
    lacks(&shown, "As seen before");
    lacks(&shown, "console.log");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_auditor_looks_and_restores_nothing_and_forms_need_their_token() {
    let names = Names::new();
    let (wiki, _served, hosted, [docs, _]) = hosted(&names).await;
    let carla = reviewer(&hosted, &names, &["carla", "--auditor"]).await;
    let path = format!("/review/bin/{docs}");
    let listed = carla.open("/review/bin").await;
    says(&listed.text, "team/c");
    lacks(&listed.text, "method=\"post\" action=\"/review/bin");
    let shown = carla.open(&path).await;
    says(&shown.text, "Old.");
    lacks(&shown.text, "id=\"restore\"");
    let token = shown.hidden("form_token");
    let part = [("form_token", &*token), ("path", "docs"), ("at", "1h")];
    for (path, form) in [(&*path, &part[..1]), ("/review/bin", &part)] {
        let refused = carla.send(path, form).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.text);
    }
    let anna = reviewer(&hosted, &names, &["anna", "--reviewer"]).await;
    let strange = anna.send(&path, &[("form_token", &token)]).await;
    assert_eq!(strange.status, StatusCode::FORBIDDEN, "{}", strange.text);
    lacks(&anna.open("/review").await.text, "/review/sets/");
    assert_eq!(mutations(&wiki).len(), 2, "the two deletions");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_mirror_no_bin_is_offered() {
    let wiki = wiki_of(&[("home", "# Home\n")]).await;
    let served = Setup::admin(&wiki).dry().serve().await;
    let key = wiki.keys().admin.clone();
    let (_program, link) = page_with(&wiki, &served, key, &[]).await;
    let browser = signed_in(&link).await;
    lacks(&browser.open("/review").await.text, "/review/bin");
    for path in ["/review/bin", "/review/bin/1", "/review/bin/x"] {
        let status = browser.open(path).await.status;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_as_it_was_has_no_page_that_another_key_saw_to_its_end() {
    let names = Names::new();
    let wiki = wiki_of(&[("home", "# Home\n")]).await;
    let gone = wiki.with_page(page("docs/a", "Old.\n"));
    let served = setup(&wiki).serve().await;
    look(&served).await;
    let at = now();
    they_delete(&wiki, gone).await;
    look(&served).await;
    let key = page_key(&wiki, &[], "");
    names.add("agent", Grant::default());
    let other = mirrored(Setup::at(&wiki.address(), &key)).dry();
    let hosted = other.in_dir_of(&served).naming(&names).host().await;
    let anna = reviewer(&hosted, &names, &["anna", "--reviewer"]).await;
    let listed = anna.open("/review/bin").await;
    lacks(&listed.text, "docs/a");
    let token = listed.hidden("form_token");
    let part = [("form_token", &*token), ("path", "docs"), ("at", &*at)];
    let refused = anna.send("/review/bin", &part).await;
    let expected = StatusCode::UNPROCESSABLE_ENTITY;
    assert_eq!(refused.status, expected, "{}", refused.text);
    lacks(&anna.open("/review").await.text, "/review/sets/");
}
