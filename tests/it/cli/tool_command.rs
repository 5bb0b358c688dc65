//! `wikijs-gate tool`: the same path as an agent's call, answered for people and for programs.

use wikijs_gate::tools::{Registry, ToolKind, ToolSelection, Toolset};

use super::custom_tools::put;

use crate::prelude::*;

/// A command with the settings of an operator who may write, by previews.
fn tool(wiki: &DemoWiki, dir: &Path, arguments: &[&str]) -> Command {
    let arguments: Vec<&str> = [&["tool"], arguments].concat();
    put(
        dir,
        "config.toml",
        "[[checks]]\nname = \"words\"\nargv = [\"true\"]\n",
    );
    Command::new(&arguments)
        .with("WIKI_CONFIG", dir.join("config.toml").to_str().unwrap())
        .at(&wiki.address(), &wiki.keys().admin, dir)
        .writing()
        .toolsets("pages,undo,proposals,drafts,memory,comments,assets,delegate,checks,sites")
        .with("WIKI_LOG", "error")
        .hide(wiki.address(), "http://wiki.lan")
}

async fn run(command: Command) -> Ended {
    let ended = tokio::task::spawn_blocking(|| command.run());
    ended.await.unwrap()
}

/// Times and ids of calls differ from run to run.
fn steady(told: &str) -> String {
    let steady = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_time = bare.len() == 24 && bare.ends_with('Z') && bare.contains('T');
        let is_call = bare.len() == 16 && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_time || is_call {
            word.replace(bare, &"*".repeat(bare.len()))
        } else {
            word.to_owned()
        }
    };
    let lines = told.lines().map(|line| {
        let words: Vec<String> = line.split(' ').map(steady).collect();
        format!("{}\n", words.join(" ").trim_end())
    });
    lines.collect()
}

#[tokio::test]
async fn tools_are_listed_and_shown_from_their_definitions() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let mut all = String::new();
    for arguments in [
        &["list"][..],
        &["show", UPDATE],
        &["show", HISTORY],
        &["show", "wikijs_get_pages_by_id"],
        &["call", "update"],
    ] {
        let ended = run(tool(&wiki, dir.path(), arguments)).await;
        all.push_str(&ended.told);
        all.push('\n');
    }
    golden("tool_show", &all);
    let listed = run(tool(&wiki, dir.path(), &["list", "--json"]))
        .await
        .json();
    let names = listed["tools"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|tool| tool["name"].as_str().unwrap()).collect();
    let registry = Registry::new(&ToolSelection::new(&Toolset::ALL)).unwrap();
    let tools: Vec<&str> = registry.definitions().map(|tool| tool.name).collect();
    assert_eq!(names, tools);
    // An example has what its tool requires.
    for tool in listed["tools"].as_array().unwrap() {
        let required = tool["inputSchema"]["required"].as_array();
        let mut required = required.into_iter().flatten().filter_map(Value::as_str);
        assert!(
            required.all(|name| tool["example"].get(name).is_some()),
            "{tool}"
        );
    }
    assert_eq!(wiki.requests().len(), 0);
}

#[test]
fn tools_are_listed_and_shown_without_any_setting() {
    for arguments in [&["tool", "list"][..], &["tool", "show", TAGS]] {
        let ended = Command::new(arguments).run();
        assert_eq!((ended.code, &*ended.stderr), (0, ""), "{}", ended.told);
        assert!(ended.stdout.contains(TAGS), "{}", ended.told);
    }
    let bad = Command::new(&["tool", "list"])
        .with("WIKI_TOOLS", "made_up")
        .run();
    assert_eq!(bad.code, 2, "{}", bad.told);
}

#[test]
fn a_tool_is_known_without_what_all_names_begin_with_and_guesses_are_near() {
    let show = |name: &str| Command::new(&["tool", "show", name]).run();
    let whole = show(SEARCH);
    assert_eq!(show("search_pages").stdout, whole.stdout);
    for [name, told] in text_rows(
        "
        serch_pages => did you mean wikijs_search_pages?
        wikijs_undo_writes => `wikijs-gate tool list` names
        wikijs_undo_write => is in the toolset undo, but the settings do not offer it
        get_proposal => wikijs_get_proposal is in the toolset proposals
    ",
    ) {
        let ended = show(name);
        assert_eq!(ended.code, 2, "{name}");
        assert!(ended.stderr.contains(told), "{}", ended.told);
    }
}

#[tokio::test]
async fn a_key_that_can_be_none_is_not_passed_over_in_silence() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    for arguments in [
        &["tool", "call", TAGS][..],
        &["undo", "last", "--yes"],
        &["proposals", "list"],
    ] {
        let command = Command::new(arguments).at(&wiki.address(), "foo", dir.path());
        let told = run(command).await.stderr;
        says(&told, "does not have the form of a Wiki.js key");
    }
}

#[tokio::test]
async fn every_example_does_something() {
    let registry = Registry::new(&ToolSelection::new(&Toolset::ALL)).unwrap();
    for definition in registry.definitions() {
        let wiki = sample_wiki().await;
        let dir = TempDir::new().unwrap();
        let shown = run(tool(
            &wiki,
            dir.path(),
            &["show", definition.name, "--json"],
        ))
        .await;
        let shown = shown.json();
        let example = shown["example"].to_string();
        let without = ["wikijs_list_sites", "wikijs_list_bin"];
        let takes_none = without.contains(&definition.name);
        assert_eq!(example == "{}", takes_none, "{}", definition.name);
        let human = run(tool(&wiki, dir.path(), &["show", definition.name])).await;
        let last = human.stdout.lines().last().unwrap();
        let (_, argument) = last.split_once(" --args '").unwrap();
        let argument: Value = serde_json::from_str(argument.trim_end_matches('\'')).unwrap();
        assert_eq!(argument, shown["example"]);
        let before = match definition.name {
            UNDO => Some(r#"{"id":1,"title":"x"}"#),
            SUBMIT | DISCARD => Some(r#"{"id":1,"title":"x","draft":"rework"}"#),
            _ => None,
        };
        if let Some(write) = before {
            let write = ["call", UPDATE, "--yes", "--args", write];
            run(tool(&wiki, dir.path(), &write)).await.good();
            wiki.clear_requests();
        }
        // Nothing is named as the example's.
        let unnamed = [
            GET_PROPOSAL,
            WITHDRAW,
            CHANGE_SET,
            FORGET,
            "wikijs_site_status",
            "wikijs_sync_site",
            // They need a mirror.
            "wikijs_list_bin",
            "wikijs_restore_page",
        ];
        if unnamed.contains(&definition.name) {
            continue;
        }
        let call = ["call", definition.name, "--yes", "--args", &example];
        let ended = run(tool(&wiki, dir.path(), &call)).await;
        if [DELEGATE, END].contains(&definition.name) {
            assert_eq!(ended.code, 3, "{}", ended.told);
            assert!(ended.told.contains("over HTTP"), "{}", ended.told);
            continue;
        }
        assert_eq!(ended.code, 0, "{}", ended.told);
        assert!(ended.stdout.lines().count() > 0, "{}", ended.told);
        let apart = [DISCARD, REMEMBER, "wikijs_run_check"];
        let writes = definition.kind != ToolKind::Read && !apart.contains(&definition.name);
        assert_eq!(!mutations(&wiki).is_empty(), writes, "{}", ended.told);
    }
}

#[tokio::test]
async fn reads_are_answered_for_people_and_as_an_agent_gets_them() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let id = id_of(&wiki, "docs/configuration");
    let steer = "\u{1b}]0;owned\u{7}";
    wiki.with_store(|store| store.page_mut(id).unwrap().title = format!("Conf{steer}"));
    let mut all = String::new();
    for (name, arguments) in json_rows::<(&str, Value)>(&json!([
        [SEARCH, { "query": "disk", "in": "wiki" }],
        [LIST, { "path": "docs", "orderBy": "PATH" }],
        [BY_ID, { "id": id, "lines": { "from": 1, "to": 3 } }],
        [BY_PATH, { "path": "docs/configuration", "view": "outline" }],
        [TREE, { "depth": 2 }],
        [HISTORY, { "id": id }],
        [TAGS, { "query": "run" }],
    ])) {
        let text = arguments.to_string();
        let ended = run(tool(&wiki, dir.path(), &["call", name, "--args", &text])).await;
        // Only what an answer says beside its list stands apart.
        let is_apart = ended.stderr.is_empty() || ended.stderr.contains("is in another locale");
        assert_eq!((ended.code, is_apart), (0, true), "{}", ended.told);
        assert!(!ended.told.contains('\u{1b}'), "{}", ended.told);
        all.push_str(&ended.told);
        all.push('\n');
        let json = ["call", name, "--json", "--args", &text];
        let ended = run(tool(&wiki, dir.path(), &json)).await;
        let served = Setup::scripter(&wiki).serve().await;
        let served = served.call(name, arguments).await.unwrap();
        let answer = ended.json();
        assert_eq!(answer, served, "{name}");
    }
    golden("tool_reads", &steady(&all));
    assert!(records(dir.path()).is_empty());
}

#[tokio::test]
async fn a_write_shows_its_preview_and_is_written_with_yes() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let id = id_of(&wiki, "docs/configuration");
    let edits = json!([{ "oldText": "# Configuration", "newText": "# Settings" }]);
    let change = json!({ "id": id, "title": "Settings", "edits": edits }).to_string();
    let call = ["call", UPDATE, "--args", &change];
    let preview = run(tool(&wiki, dir.path(), &call)).await.good();
    assert_eq!(mutations(&wiki).len(), 0);
    let written = run(tool(&wiki, dir.path(), &[&call[..], &["--yes"]].concat()))
        .await
        .good();
    assert_eq!(mutations(&wiki).len(), 1);
    let history = json!({ "id": id }).to_string();
    let history = ["call", HISTORY, "--json", "--args", &history];
    let history = run(tool(&wiki, dir.path(), &history)).await.json();
    let newest = history["entries"][0]["versionId"].to_string();
    let version = json!({ "id": id, "compare": { "from": newest } }).to_string();
    let compared = ["call", HISTORY, "--args", &version];
    let compared = run(tool(&wiki, dir.path(), &compared)).await;
    let shown = [preview.told, written.told, compared.told].join("\n");
    golden("tool_write", &steady(&shown));
    // The same gates and the same record as for an agent, under our own name.
    let records = records(dir.path());
    let expected = [
        "preview",
        "preview",
        "attempt update",
        "outcome update applied",
    ];
    assert_eq!(told(&records), expected);
    for record in records.iter().filter(|record| record.tool.is_some()) {
        let client = record.client.as_ref().unwrap();
        assert_eq!(client.name, "wikijs-gate");
        assert_eq!(record.tool.as_deref(), Some(UPDATE));
    }
}

#[tokio::test]
async fn the_operators_own_settings_hold() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let create = r#"{"path": "notes/x", "title": "X", "content": "x"}"#;
    let call = ["call", CREATE, "--yes", "--args", create];
    let mut all = String::new();
    for (name, value, code) in [
        ("WIKI_MUTATIONS_ENABLED", "false", 3),
        ("WIKI_MUTATION_DRY_RUN", "true", 3),
        ("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs", 3),
        ("WIKI_MUTATION_CONFIRM_TOKEN", "sesame-open-the-door", 3),
        ("WIKI_CONFIRM", "person", 3),
    ] {
        let ended = run(tool(&wiki, dir.path(), &call).with(name, value)).await;
        assert_eq!(ended.code, code, "{name}: {}", ended.told);
        writeln!(all, "## {name}={value}\n{}", ended.told).unwrap();
        assert_eq!(mutations(&wiki).len(), 0, "{name}");
    }
    golden("tool_gates", &steady(&all));
    let unwritten = run(tool(&wiki, dir.path(), &call).dry()).await;
    let last = unwritten.stderr.lines().last().unwrap();
    begins(&last, "error: nothing was written: ");
    let json = [&call[..], &["--json"]].concat();
    let answer = run(tool(&wiki, dir.path(), &json).dry())
        .await
        .exits(3)
        .json();
    assert_eq!(answer["preview"], true);
    let confirmed = create.replace('}', r#", "confirm": "sesame-open-the-door"}"#);
    let call = ["call", CREATE, "--args", &confirmed];
    let command = tool(&wiki, dir.path(), &call);
    let ended = run(command.with("WIKI_MUTATION_CONFIRM_TOKEN", "sesame-open-the-door")).await;
    assert_eq!(ended.code, 0, "{}", ended.told);
    assert_eq!(mutations(&wiki).len(), 1);
}

#[tokio::test]
async fn arguments_come_from_a_file_or_stdin_and_faults_in_them_are_told() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("arguments.json");
    fs::write(&file, r#"{"query": "run"}"#).unwrap();
    let at = format!("@{}", file.to_str().unwrap());
    let call = |arguments: &str| tool(&wiki, dir.path(), &["call", TAGS, "--args", arguments]);
    let from_file = run(call(&at)).await.good();
    let from_stdin = run(call("-").stdin(r#"{"query": "run"}"#)).await;
    assert_eq!(from_stdin.stdout, from_file.stdout);
    let mut all = String::new();
    for (arguments, code) in [
        ("@/nowhere", 2),
        ("-", 2),
        ("", 2),
        ("[1]", 2),
        ("{\"query\": }", 2),
        ("{\"querry\": 1}", 2),
    ] {
        let ended = run(call(arguments)).await;
        assert_eq!(ended.code, code, "{}", ended.told);
        assert_eq!(ended.stdout, "");
        all.push_str(&ended.told);
    }
    let missing = ["call", BY_ID, "--args", "{\"id\": 9999}"];
    all.push_str(&run(tool(&wiki, dir.path(), &missing)).await.told);
    golden("tool_faults", &all);
    let near = r#"{"path": "docs/instal/linux"}"#;
    let near = ["call", BY_PATH, "--args", near];
    let near = run(tool(&wiki, dir.path(), &near)).await;
    let line = format!(
        "\n    Installing on Linux  en:docs/install/linux (id {})\n",
        id_of(&wiki, "docs/install/linux")
    );
    assert!(near.stderr.starts_with("  nearest:\n    "), "{}", near.told);
    assert!(near.stderr.contains(&line), "{}", near.told);
    let json = [&missing[..], &["--json"]].concat();
    let ended = run(tool(&wiki, dir.path(), &json)).await;
    let told = ended.json();
    assert_eq!(ended.code, 1);
    assert_eq!(told["error"]["code"], "PAGE_NOT_FOUND");
}

#[tokio::test]
async fn advice_names_the_setting_that_the_key_comes_from() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let key = dir.path().join("key");
    for (bad, said) in [
        (
            &*wiki.keys().revoked,
            "put it into the file that WIKI_API_TOKEN_FILE names",
        ),
        (
            "no-key-at-all",
            "WIKI_API_TOKEN_FILE holds no key that this wiki knows",
        ),
    ] {
        fs::write(&key, bad).unwrap();
        let id = id_of(&wiki, "docs/configuration");
        let call = json!({ "id": id, "title": "x" }).to_string();
        let call = ["tool", "call", UPDATE, "--args", &call];
        let command = Command::new(&call)
            .log_of(&wiki.address(), dir.path())
            .writing()
            .with("WIKI_API_TOKEN_FILE", key.to_str().unwrap())
            .quiet();
        let ended = run(command).await.exits(1);
        assert!(ended.stderr.contains(said), "{}", ended.told);
        assert!(!ended.stderr.contains("WIKI_API_TOKEN "), "{}", ended.told);
    }
}

#[tokio::test]
async fn a_search_waits_for_the_index_since_no_other_follows_in_its_process() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let call = |arguments: &'static [&'static str]| {
        let all = [&["call", SEARCH], arguments].concat();
        run(tool(&wiki, dir.path(), &all))
    };
    let found = call(&["--json", "--args", r#"{"query": "SIGHUP"}"#])
        .await
        .json();
    assert_eq!(found.get("index"), None, "{found}");
    assert_eq!(found["hits"][0]["path"], "docs/configuration");
    let nothing = call(&["--args", r#"{"query": "xyzzyxyzzy"}"#]).await;
    assert_eq!(nothing.stdout, "nothing was found\n");
}

#[tokio::test]
async fn as_text_an_answer_shows_what_it_shows_as_json() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let id = id_of(&wiki, "docs/configuration");
    let source = "# Here\n\n[gone](/en/not/there)\n\n```sh\nmake all\n```\n";
    wiki.with_store(|store| source.clone_into(&mut store.page_mut(id).unwrap().content));
    for (name, arguments, shown) in json_rows::<(&str, Value, &str)>(&json!([
        [LIST, { "links": "BROKEN", "path": "docs/configuration" }, "line 3: /en/not/there"],
        [SEARCH, { "query": "make all", "match": "EXACT" }, "6: make all"],
        [LIST, { "path": "docs/configuration", "fields": ["path", "lastAuthor"] }, "lastAuthor"],
        [BY_ID, { "id": id, "view": "outline" }, "block:code"],
        [LIST, { "path": "not/there" }, "No page that the key may see"],
        [SEARCH, { "query": "make", "path": "not/there" }, "No page that the key may see"],
    ])) {
        let text = arguments.to_string();
        let command = tool(&wiki, dir.path(), &["call", name, "--args", &text]);
        let ended = run(command.with("WIKI_INDEX", "memory")).await.good();
        assert!(ended.told.contains(shown), "{shown} in {}", ended.told);
    }
}
