//! Sites as tools, and several sites for one client over standard input and output.

use rmcp::ServiceExt as _;
use rmcp::model::{
    CallToolRequestParams, GetPromptRequestParams, PaginatedRequestParams,
    ReadResourceRequestParams,
};
use rmcp::service::RunningService;
use tokio::sync::mpsc::{self, UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot;
use wikijs_gate::config::{CommandLineSettings, Layers, Settings};
use wikijs_gate::server::{App, ManySites, Reload, Site, Sites, check_sites};

use super::{Hearing, Many, config, put, site, three};
use crate::prelude::*;

const LIST_SITES: &str = "wikijs_list_sites";
const STATUS: &str = "wikijs_site_status";
const SYNC: &str = "wikijs_sync_site";
const SETS: &str = "toolsets = [\"pages\", \"sites\"]\nmutations_enabled = true\nmutation_dry_run = false\nconfirm = \"preview\"\n";

#[tokio::test]
async fn a_caller_is_listed_its_own_sites_and_reads_the_status_of_each() {
    let [a, b, c] = three().await;
    let names = Names::new();
    let two = names.granted("two", |grant| grant.sites = some(["a", "c"]));
    let text = format!(
        "serve_tokens_file = {:?}\n{SETS}{}{}{}",
        names.path().to_str().unwrap(),
        site("a", &a, "index = \"memory\""),
        site("b", &b, ""),
        site("c", &c, "mutations_enabled = false")
    );
    let many = Many::start(&text).await;
    let listed = many.call("/c", &two, LIST_SITES, json!({})).await;
    let rows = listed["sites"].as_array().unwrap();
    let told = vec_of(rows.iter().map(|row| row["name"].as_str().unwrap()));
    assert_eq!(told, ["c", "a"], "{listed}");
    rows[0].shows(json!({ "answers": true, "openSets": 0, "rights": "reads, writes, deletes" }));
    assert_eq!(
        rows[1]["pages"],
        a.with_store(|store| store.pages().count())
    );
    // What the resource says, the tool says, at both sites.
    for (place, name) in [("/a", "a"), ("/c", "c"), ("/c", "a")] {
        let asked = many
            .call(place, &two, STATUS, json!({ "name": name }))
            .await;
        let read = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read",
            "params": { "uri": "wikijs://status" } });
        let at = many.post(&format!("/{name}"), &two, &read).await.message();
        let text = at["result"]["contents"][0]["text"].as_str().unwrap();
        let status: Value = serde_json::from_str(text).unwrap();
        assert_eq!(asked, status, "{place} {name}");
        assert_eq!(asked["site"], name);
    }
    let own = many.call("/c", &two, STATUS, json!({})).await;
    assert_eq!(own["site"], "c");
    let synced = many.call("/c", &two, SYNC, json!({ "name": "a" })).await;
    synced.shows(json!({ "name": "a", "isComplete": true }));
    // One that is not there and one that the grant does not allow are answered alike.
    for tool in [STATUS, SYNC] {
        let unknown = many
            .call("/a", &two, tool, json!({ "name": "nowhere" }))
            .await;
        for name in ["b", "", "A", "a/../b", "ä", &"x".repeat(200)] {
            let refused = many.call("/a", &two, tool, json!({ "name": name })).await;
            assert_eq!(refused, unknown, "{name}");
            assert_eq!(refused["code"], "INVALID_INPUT");
        }
    }
}

#[tokio::test]
async fn a_sync_looks_anew_however_lately_that_was_done() {
    let wiki = wiki_of(&[("docs/a", "one\n")]).await;
    let setup = Setup::editor(&wiki).indexed().toolsets("pages,sites");
    let served = setup.serve().await;
    let synced = async || call_ok(&served, SYNC, json!({})).await;
    synced().await.shows(json!({ "of": 1, "isComplete": true }));
    let id = wiki.with_store(|store| store.add(page("docs/b", "zebra\n")));
    synced().await.shows(json!({ "of": 2, "isComplete": true }));
    let sought = json!({ "query": "zebra", "in": "content" });
    let found = call_ok(&served, SEARCH, sought.clone()).await;
    assert_eq!(found["hits"][0]["id"], id, "{found}");
    wiki.with_store(|store| drop(store.remove(id)));
    synced().await.shows(json!({ "of": 1, "isComplete": true }));
    let found = call_ok(&served, SEARCH, sought).await;
    assert_eq!(found["hits"], json!([]), "{found}");
}

#[tokio::test]
async fn a_dead_site_is_listed_as_one_that_does_not_answer() {
    let [a, _, _] = three().await;
    let dead = "[sites.b]\nbase_url = \"http://127.0.0.1:9\"\napi_token = \"e30.e30.x\"\n";
    let many = Many::start(&format!("{SETS}{}{dead}", site("a", &a, ""))).await;
    let nobody = Caller::default();
    let listed = many.call("/a", &nobody, LIST_SITES, json!({})).await;
    listed["sites"][1].shows(json!({ "name": "b", "answers": false, "pages": null }));
    assert!(listed["sites"][1]["fault"].is_string(), "{listed}");
}

/// A client of several sites, and the server's reload.
struct OfSites {
    client: RunningService<RoleClient, Hearing>,
    heard: UnboundedReceiver<()>,
    ask: mpsc::Sender<oneshot::Sender<()>>,
    sites: Arc<Sites>,
    dir: TempDir,
}

impl OfSites {
    async fn start(text: &str, only: &[&str]) -> Self {
        let dir = TempDir::new().unwrap();
        put(&dir, text);
        let given = CommandLineSettings {
            config: Some(config(&dir)),
            sites: only.iter().map(|name| name.parse().unwrap()).collect(),
            ..CommandLineSettings::default()
        };
        let layers = Layers::load(&given).unwrap();
        let all = Settings::load_every(&layers).unwrap().into_iter();
        let all = all.map(|settings| {
            let name = settings.site.clone();
            Site::new(name, App::new(settings, Timeouts::default()).unwrap())
        });
        let all: Vec<_> = all.collect();
        check_sites(&all).unwrap();
        let sites = Sites::new(all, None);
        let (ask, asked) = mpsc::channel(1);
        tokio::spawn(Reload::new(given, layers, Arc::clone(&sites), true).run(asked));
        let handler = ManySites::new(Arc::clone(&sites), SessionId::new("stdio"));
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move { serve_server(handler, theirs).await.unwrap().waiting().await });
        let (told, heard) = unbounded_channel();
        let client = Hearing(told).serve(ours).await.unwrap();
        Self {
            client,
            heard,
            ask,
            sites,
            dir,
        }
    }

    async fn change(&self, text: &str) -> Option<String> {
        put(&self.dir, text);
        let (done, is_done) = oneshot::channel();
        self.ask.send(done).await.unwrap();
        is_done.await.unwrap();
        self.sites.fault()
    }

    async fn names(&self) -> Vec<String> {
        let tools = self.client.list_all_tools().await.unwrap();
        vec_of(tools.into_iter().map(|tool| tool.name.into_owned()))
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Value> {
        let Value::Object(arguments) = arguments else {
            panic!("no arguments");
        };
        let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        read(&self.client.call_tool(call).await.unwrap())
    }
}

#[tokio::test]
async fn each_tool_is_there_once_a_site_and_acts_on_that_site_alone() {
    let [docs, handbook, other] = three().await;
    let sets = SETS.replace(", \"sites\"", "");
    let text = format!(
        "{sets}{}{}{}",
        site("docs", &docs, ""),
        site("hand-book", &handbook, "mutations_enabled = false"),
        site("other", &other, "")
    );
    let server = OfSites::start(&text, &["docs", "hand-book"]).await;
    let names = server.names().await;
    assert_eq!(names.len(), 20);
    assert!(
        names
            .iter()
            .all(|name| name.starts_with("docs_") || name.starts_with("hand-book_"))
    );
    let tools = serde_json::to_string(&server.client.list_all_tools().await.unwrap()).unwrap();
    lacks(&tools, "wikijs_");
    says(&tools, "docs_get_page_by_path");
    let instructions = server.client.peer_info().unwrap();
    let instructions = instructions.instructions.clone().unwrap();
    says(&instructions, "Site docs (");
    says(&instructions, "Site hand-book (");
    for (tool, title) in [
        ("docs_get_page_by_path", "first"),
        ("hand-book_get_page_by_path", "second"),
    ] {
        let page = server.call(tool, json!({ "path": "home" })).await.unwrap();
        assert_eq!(page["content"], title, "{tool}");
    }
    // A write goes to the wiki of its tool, and the gates are that site's.
    let update = |wiki| json!({ "id": id_of(wiki, "home"), "title": "New" });
    let mut confirmed = update(&docs);
    let preview = server
        .call("docs_update_page", update(&docs))
        .await
        .unwrap();
    confirmed["confirm"] = preview["confirm"].clone();
    let strayed = server
        .call("hand-book_update_page", confirmed.clone())
        .await;
    assert_eq!(strayed.unwrap_err()["code"], "MUTATIONS_DISABLED");
    server.call("docs_update_page", confirmed).await.unwrap();
    assert_eq!((mutations(&docs).len(), mutations(&handbook).len()), (1, 0));
    let error = server
        .call("docs_get_page_by_path", json!({ "path": "no/such" }))
        .await;
    let hint = error.unwrap_err()["hint"].as_str().unwrap().to_owned();
    says(&hint, "docs_search_pages");
    lacks(&hint, "wikijs_");
    // A list goes on in the wiki in which it began.
    for wiki in [&docs, &handbook] {
        wiki.with_store(|store| store.add(page("second", "S\n")));
    }
    let part = server.call("docs_list_pages", json!({ "limit": 1 })).await;
    let rest = json!({ "limit": 1, "cursor": part.unwrap()["nextCursor"] });
    let strayed = server.call("hand-book_list_pages", rest.clone()).await;
    assert_eq!(strayed.unwrap_err()["code"], "INVALID_INPUT");
    server.call("docs_list_pages", rest).await.unwrap();
    // No site but these, and no tool without a site.
    for name in [
        "wikijs_list_pages",
        "other_list_pages",
        "docs",
        "docs_",
        "_list_pages",
        "dócs_list_pages",
        "docs_wikijs_list_pages",
    ] {
        let call = CallToolRequestParams::new(name.to_owned());
        let error = server.client.call_tool(call).await.unwrap_err().to_string();
        says(&error, "unknown tool");
    }
}

#[tokio::test]
async fn resources_and_prompts_say_which_site_they_are_of() {
    let [docs, handbook, _] = three().await;
    let text = format!(
        "{SETS}{}{}",
        site("docs", &docs, ""),
        site("handbook", &handbook, "")
    );
    let server = OfSites::start(&text, &["docs", "handbook"]).await;
    let mut uris = Vec::new();
    let mut cursor = None;
    loop {
        let page = PaginatedRequestParams::default().with_cursor(cursor);
        let list = server.client.list_resources(Some(page)).await.unwrap();
        uris.extend(list.resources.into_iter().map(|resource| resource.uri));
        cursor = list.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    for uri in [
        "wikijs://docs/status",
        "wikijs://handbook/status",
        "wikijs://docs/en/home",
    ] {
        assert!(uris.iter().any(|own| own == uri), "{uris:?}");
    }
    for (site, title) in [("docs", "first"), ("handbook", "second")] {
        let uri = format!("wikijs://{site}/status");
        let read = ReadResourceRequestParams::new(&*uri);
        let read = server.client.read_resource(read).await.unwrap();
        let read = serde_json::to_value(&read).unwrap();
        assert_eq!(read["contents"][0]["uri"], uri);
        let part = format!("\"site\":\"{site}\"");
        says(read["contents"][0]["text"].as_str().unwrap(), &part);
        let page = ReadResourceRequestParams::new(format!("wikijs://{site}/en/home"));
        let page =
            serde_json::to_string(&server.client.read_resource(page).await.unwrap()).unwrap();
        says(&page, title);
    }
    for uri in [
        "wikijs://status",
        "wikijs://other/status",
        "https://docs/status",
    ] {
        let read = ReadResourceRequestParams::new(uri);
        assert!(server.client.read_resource(read).await.is_err(), "{uri}");
    }
    let prompts = server.client.list_all_prompts().await.unwrap();
    let (first, _) = prompts.split_at(1);
    let name = &first[0].name;
    says(name, "docs_");
    let prompt = server
        .client
        .get_prompt(GetPromptRequestParams::new(name.clone()))
        .await;
    let prompt = serde_json::to_string(&prompt.unwrap()).unwrap();
    says(&prompt, "docs_");
    lacks(&prompt, "wikijs_");
}

#[tokio::test]
async fn a_site_that_comes_or_goes_changes_the_list() {
    let [docs, handbook, third] = three().await;
    let one = format!("{SETS}{}", site("docs", &docs, ""));
    let both = format!("{one}{}", site("handbook", &handbook, ""));
    let mut server = OfSites::start(&both, &["docs", "handbook"]).await;
    let count = server.names().await.len();
    assert_eq!(server.change(&one).await, None);
    server.heard.recv().await.unwrap();
    assert_eq!(server.names().await.len(), count / 2);
    assert_eq!(server.change(&both).await, None);
    server.heard.recv().await.unwrap();
    assert_eq!(server.names().await.len(), count);
    // The tools of a site that came later are watched, too.
    let fewer = both.replace(
        "[sites.handbook]",
        "[sites.handbook]\ntoolsets = [\"pages\"]",
    );
    assert_eq!(server.change(&fewer).await, None);
    server.heard.recv().await.unwrap();
    // One that left does not come back as another wiki.
    assert_eq!(server.change(&one).await, None);
    server.heard.recv().await.unwrap();
    let other = format!("{one}{}", site("handbook", &third, ""));
    let why = server.change(&other).await.unwrap();
    says(&why, "comes back with another wiki");
    assert_eq!(server.names().await.len(), count / 2);
    // Without any of its sites it keeps them, closed to writes.
    let none = format!("{SETS}{}", site("elsewhere", &docs, ""));
    assert!(server.change(&none).await.is_some());
    let update = json!({ "id": id_of(&docs, "home"), "title": "New" });
    let held = server.call("docs_update_page", update).await.unwrap_err();
    assert_eq!(held["code"], "WRITES_PAUSED");
}

#[tokio::test]
async fn names_that_clients_do_not_take_stop_the_start() {
    let [docs, ..] = three().await;
    let dir = TempDir::new().unwrap();
    let tools = dir.path().join("tools");
    fs::create_dir(&tools).unwrap();
    let recipe = format!(
        "name = \"custom_{}\"\ndescription = \"x\"\ntool = \"wikijs_list_tags\"\n[values]\nquery = \"a\"\n",
        "x".repeat(55)
    );
    crate::cli::custom_tools::put(&tools, "long.toml", &recipe);
    let long = format!(
        "custom_tools_dir = {:?}\n{}",
        tools.to_str().unwrap(),
        site("docs", &docs, "")
    );
    for (text, sites, fault) in [
        (
            &*site("docs", &docs, ""),
            "docs,nowhere",
            "there is no site nowhere",
        ),
        (
            &*site("docs", &docs, ""),
            "docs,no.where",
            "small letters, digits and hyphens",
        ),
        (
            &*site("docs", &docs, ""),
            "döcs",
            "small letters, digits and hyphens",
        ),
        (&*long, "docs", "longer than the 64 bytes"),
    ] {
        put(&dir, text);
        let command = Command::new(&["serve", "--sites", sites]);
        let ended = command.with("WIKI_CONFIG", config(&dir).to_str().unwrap());
        let ended = ended.end().await.exits(2);
        says(&ended.told, fault);
    }
}

#[tokio::test]
async fn the_sizes_in_the_docs_are_those_of_the_list() {
    let [docs, handbook, wiki] = three().await;
    let text = format!(
        "{}{}{}",
        site("docs", &docs, ""),
        site("handbook", &handbook, ""),
        site("wiki", &wiki, "")
    );
    let mut table = String::from("| sites | tools | `tools/list`, kB |\n|---|---|---|\n");
    for only in [
        &["docs"][..],
        &["docs", "handbook"],
        &["docs", "handbook", "wiki"],
    ] {
        let server = OfSites::start(&text, only).await;
        let listed = server.client.list_tools(None).await.unwrap();
        let kilobytes = serde_json::to_vec(&listed).unwrap().len().div_ceil(1_000);
        let (sites, tools) = (only.len(), listed.tools.len());
        let _ = writeln!(table, "| {sites} | {tools} | {kilobytes} |");
    }
    generated("docs/sites.md", "sizes", &table, str::to_owned);
}
