//! Rules and checks of the settings file, as an operator sees them.

use crate::prelude::*;
use crate::session::person::{self, BOTH};

/// A settings file with these tables.
fn file(dir: &TempDir, text: &str) -> PathBuf {
    let path = dir.path().join("config.toml");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

async fn run(wiki: &DemoWiki, audit: &Path, config: &Path, arguments: &[&str]) -> Ended {
    Command::new(arguments)
        .at(&wiki.address(), &wiki.keys().editor, audit)
        .with("WIKI_MUTATIONS_ENABLED", "true")
        .with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs,home,legal")
        .with("WIKI_LOG", "warn")
        .with("WIKI_CONFIG", config.to_str().unwrap())
        .hide(config.to_str().unwrap(), "config.toml")
        .end()
        .await
}

#[tokio::test]
async fn config_check_names_rules_that_are_misspelt_or_can_match_nothing() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let idle = file(
        &dir,
        "[[rules]]\nname = \"a\"\nthen = \"deny\"\npaths = [\"team\"]\n",
    );
    let ended = run(&wiki, dir.path(), &idle, &["config", "check"])
        .await
        .good();
    let says = "the rule \"a\" can match nothing: nothing may be written below its paths";
    assert!(ended.stdout.contains(says), "{}", ended.told);
    let of_nobody = file(
        &dir,
        "[[rules]]\nname = \"a\"\nthen = \"deny\"\npaths = [\"docs/*\"]\npeople = [\"Ada\"]\n",
    );
    let told = run(&wiki, dir.path(), &of_nobody, &["config", "check"]).await;
    let told = told.good().told.replace('\n', " ");
    for says in [
        "the rule \"a\" can match nothing: nobody signs in without [oauth]",
        "the rule \"a\" has \"docs/*\", which has signs that no usual path has",
    ] {
        assert!(told.contains(says), "{says}: {told}");
    }
    let misspelt = file(
        &dir,
        "[[rules]]\nname = \"a\"\nthen = \"deni\"\n\n[[checks]]\nname = \"b\"\nargs = [\"x\"]\n",
    );
    let ended = run(&wiki, dir.path(), &misspelt, &["config", "check"]).await;
    assert_eq!(ended.code, 2, "{}", ended.told);
    for says in [
        "config.toml:3: then has \"deni\", which is none of preview, person, review, deny; did you mean deny?",
        "config.toml:7: \"args\" is no member of a check; did you mean argv?",
        "config.toml:5: a check needs argv",
    ] {
        let told = ended.told.replace('\n', " ");
        assert!(told.contains(says), "{says}: {told}");
    }
}

#[tokio::test]
async fn what_would_hold_is_explained_and_doctor_says_all_in_words() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let config = file(
        &dir,
        "rules_off = [\"large-sets\"]\n[[rules]]\nname = \"legal\"\nthen = \"review\"\npaths = [\"legal\"]\noperations = [\"update\"]\nwhy = \"Ada looks at it\"\n\n[[rules]]\nname = \"ci\"\nthen = \"person\"\nclients = [\"ci\"]\n\n[[checks]]\nname = \"words\"\nargv = [\"sh\", \"--key=x\"]\npaths = [\"docs\"]\n\n[[checks]]\nname = \"gone\"\nargv = [\"no-such-program\"]\n",
    );
    let explain = async |arguments: &[&str]| {
        let arguments = [&["rules", "explain"], arguments].concat();
        let ended = run(&wiki, dir.path(), &config, &arguments).await;
        assert_eq!((ended.code, &*ended.stderr), (0, ""), "{}", ended.told);
        ended.stdout
    };
    let legal = "legal (review): an update of pages at or below legal waits until a person decides; Ada looks at it";
    let ci = "ci (person): a change by ci needs a person's yes";
    let secrets = "secrets (deny): a change that adds a private key or a key or token of this wiki is refused; a private key or a key of this wiki on a page is everybody's";
    assert_eq!(
        explain(&[
            "--path",
            "legal/terms",
            "--operation",
            "update",
            "--client",
            "x"
        ])
        .await,
        format!("may hold {secrets}\nholds    {legal}\n")
    );
    assert_eq!(
        explain(&["--path", "docs/a", "--operation", "create"]).await,
        format!("may hold {secrets}\nmay hold {ci}\n")
    );
    let told: Value = serde_json::from_str(&explain(&["--client", "CI", "--json"]).await).unwrap();
    let holds: Vec<_> = told["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| {
            (
                rule["rule"].as_str().unwrap(),
                rule["holds"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [("secrets", "may"), ("legal", "may"), ("ci", "always")];
    assert_eq!(holds, expected);
    let doctor = run(&wiki, dir.path(), &config, &["doctor"]).await;
    for says in [
        format!("rules     good     {legal}"),
        "rules     good     switched off: the built-in rules large-sets".to_owned(),
        "rules     good     check:words: sh looks at changes of pages at or below docs, for 10 s at most\n".to_owned(),
        "rules     wrong    check:gone: no-such-program looks at changes of pages, for 10 s at most; it cannot be run: its program or directory is not there".to_owned(),
    ] {
        assert!(doctor.stdout.contains(&says), "{}", doctor.told);
    }
    assert!(!doctor.stdout.contains("--key"), "{}", doctor.told);
}

#[tokio::test]
async fn the_writes_on_record_are_held_against_the_rules_of_today() {
    let wiki = sample_wiki().await;
    // Nothing is shown before, so each write has all warnings on its own record.
    let token = "open sesame, please";
    let served = Setup::editor(&wiki)
        .toolsets("pages,undo")
        .with("WIKI_MUTATION_CONFIRM_TOKEN", token)
        .serve()
        .await;
    let dir = TempDir::new().unwrap();
    let written = async |tool, mut arguments: Value| {
        arguments["confirm"] = json!(token);
        served.call(tool, arguments).await.unwrap()
    };
    let home = id_of(&wiki, "home");
    let update = async |text: &str| written(UPDATE, json!({ "id": home, "content": text })).await;
    let with_script = update("# Home\n\n<script>x()</script>\n").await;
    // Only the wiki knows that this link leads nowhere.
    update("# Home\n\n[x](/docs/none)\n").await;
    // Rules are not for what is taken back, but that counts as a write.
    let last = update("# Home\n\nMore\n").await;
    let undo = json!({ "callId": last["callId"] });
    written(UNDO, undo).await;
    update("# Home\n\nLast\n").await;
    let config = file(
        &dir,
        "[[rules]]\nname = \"scripts\"\nthen = \"deny\"\nwarnings = [\"script_added\"]\n\n[[rules]]\nname = \"dead\"\nthen = \"deny\"\nwarnings = [\"dead_link\"]\n\n[[rules]]\nname = \"busy\"\nthen = \"person\"\nwrites_per_day_over = 0\n\n[[rules]]\nname = \"busier\"\nthen = \"review\"\nwrites_per_day_over = 3\n",
    );
    let test = async |arguments: &[&str]| {
        let arguments = [&["rules", "test"], arguments].concat();
        run(&wiki, served.dir.path(), &config, &arguments).await
    };
    let ended = test(&["--json"]).await;
    assert_eq!((ended.code, &*ended.stderr), (0, ""), "{}", ended.told);
    let told = ended.json();
    told.shows(json!({ "writes": 4, "rules": [
            { "rule": "busier", "then": "review", "count": 1 },
            { "rule": "busy", "then": "person", "count": 1 },
            { "rule": "dead", "then": "deny", "count": 1 },
            { "rule": "scripts", "then": "deny", "count": 1 },
        ] }));
    told["calls"][0].shows(json!({ "call": with_script["callId"], "page": "en:home" }));
    let ended = test(&["--since", "1h"]).await;
    let last = ended.stdout.lines().last().unwrap();
    assert_eq!(
        last,
        "rules hold for 4 of 4 writes and proposals on record: busier (review) 1, busy (person) 1, dead (deny) 1, scripts (deny) 1"
    );
    let ended = test(&["--since", "2999-01-01"]).await;
    let expected = "rules hold for 0 of 0 writes and proposals on record\n";
    assert_eq!(ended.stdout, expected);
}

#[tokio::test]
async fn a_set_on_record_is_held_against_the_rules_by_all_its_changes_and_counts_once() {
    let pages = [
        ("docs/a", "# A\n"),
        ("docs/b", "# B\n"),
        ("docs/c", "# C\n"),
    ];
    let wiki = wiki_of(&pages).await;
    let served = Setup::editor(&wiki)
        .toolsets("pages,drafts,proposals")
        .serve()
        .await;
    let tagged =
        |tag| json!({ "ids": pages.map(|(path, _)| id_of(&wiki, path)), "addTags": [tag] });
    confirmed_ok(&served, BULK, tagged("x")).await;
    let mut proposed = tagged("y");
    proposed["propose"] = json!(true);
    let proposed = call_ok(&served, BULK, proposed).await;
    let dir = TempDir::new().unwrap();
    let config = file(
        &dir,
        "[[rules]]\nname = \"last\"\nthen = \"deny\"\npaths = [\"docs/c\"]\n\n[[rules]]\nname = \"many\"\nthen = \"review\"\npages_over = 2\n",
    );
    let test = ["rules", "test", "--json"];
    let ended = run(&wiki, served.dir.path(), &config, &test).await;
    let told = ended.good().json();
    told.shows(json!({ "writes": 4, "withoutPages": 0, "rules": [
        { "rule": "last", "then": "deny", "count": 2 },
    ] }));
    let calls = members(&told, "calls", "page");
    assert_eq!(calls, ["en:docs/c", "3 pages"], "{proposed}");
    let id = proposed["proposal"].as_str().unwrap();
    let apply = Command::operator(
        &wiki,
        served.dir.path(),
        &["proposals", "apply", id, "--yes"],
    );
    apply.good().await;
    let ended = run(&wiki, served.dir.path(), &config, &test).await;
    let told = ended.good().json();
    told.shows(json!({ "writes": 7, "withoutPages": 0, "rules": [
        { "rule": "last", "then": "deny", "count": 3 },
    ] }));
}

/// The wiki saw nothing, and the record names the gate.
fn stopped(wiki: &DemoWiki, served: &Served) {
    assert_eq!(mutations(wiki), []);
    let last = served
        .records()
        .into_iter()
        .rfind(|record| record.tool.is_some());
    assert_eq!(last.unwrap().gate.as_deref(), Some("rules"));
}

#[tokio::test]
async fn a_write_that_a_rule_denies_is_told_which_and_why() {
    let rule = "[[rules]]\nname = \"scripts\"\nthen = \"deny\"\nwarnings = [\"script_added\"]\nwhy = \"ask Ada\"\n";
    let (wiki, served) = sample(|wiki| Setup::editor(wiki).with_tables(rule)).await;
    let id = id_of(&wiki, "home");
    let script = json!({ "id": id, "content": "# Home\n\n<script>x()</script>\n" });
    let error = fails(&served, UPDATE, script, "RULE_DENIED").await;
    error["details"].shows(json!({ "rule": "scripts", "why": "ask Ada" }));
    stopped(&wiki, &served);
    let plain = json!({ "id": id, "content": "# Home\n\nText\n" });
    served.confirmed(UPDATE, plain).await.unwrap();
}

#[tokio::test]
async fn a_private_key_is_denied_unless_that_rule_is_off_and_is_never_shown_in_a_warning() {
    let wiki = sample_wiki().await;
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
    let key = format!("# Home\n\n-----BEGIN PRIVATE KEY-----\n{body}\n");
    let update = json!({ "id": id_of(&wiki, "home"), "content": key });
    let served = Setup::editor(&wiki).serve().await;
    let error = fails(&served, UPDATE, update.clone(), "RULE_DENIED").await;
    assert_eq!(error["details"]["rule"], "secrets");
    stopped(&wiki, &served);
    let off = Setup::editor(&wiki).with_tables("rules_off = [\"secrets\"]\n");
    let off = off.serve().await;
    let preview = off.call(UPDATE, update).await.unwrap();
    let warnings = preview["warnings"].as_array().unwrap();
    let is_it = |warning: &&Value| warning["code"] == "secret_added";
    let warning = warnings.iter().find(is_it).unwrap();
    assert_eq!(warning["at"], "content:3");
    assert!(!warning["message"].as_str().unwrap().contains(body));
    let codes = off.records().into_iter().flat_map(|record| record.warnings);
    assert!(codes.into_iter().any(|code| code == "secret_added"));
}

#[tokio::test]
async fn a_review_leaves_the_write_open_until_the_operator_applies_it() {
    let tables =
        "[[rules]]\nname = \"home\"\nthen = \"review\"\npaths = [\"home\"]\nwhy = \"all see it\"\n";
    for confirm in ["", "open sesame, please"] {
        // A wiki of its own: on the one before, the title is already as asked for.
        let wiki = sample_wiki().await;
        let mut setup = Setup::editor(&wiki).with_tables(tables);
        let mut update = json!({ "id": id_of(&wiki, "home"), "title": "T" });
        if !confirm.is_empty() {
            setup = setup.with("WIKI_MUTATION_CONFIRM_TOKEN", confirm);
            update["confirm"] = json!(confirm);
        }
        let served = setup.serve().await;
        let open = served.confirmed(UPDATE, update).await.unwrap();
        open.shows(json!({ "outcome": "waiting", "confirm": null }));
        let told = vec_of(open["warnings"].as_array().unwrap().iter().map(said));
        assert!(
            told.contains(&"rule: The rule home (all see it) leaves this to a person.".to_owned()),
            "{told:?}"
        );
        let id = open["proposal"].as_str().unwrap();
        assert_eq!(mutations(&wiki), []);
        let dir = TempDir::new().unwrap();
        let config = file(&dir, tables);
        let apply = ["proposals", "apply", id, "--yes"];
        let denying = tables.replace("review", "deny");
        let other_dir = TempDir::new().unwrap();
        let denying = file(&other_dir, &denying);
        let refused = run(&wiki, served.dir.path(), &denying, &apply).await;
        assert!(refused.stderr.contains("RULE_DENIED"), "{}", refused.told);
        assert_eq!(mutations(&wiki), []);
        run(&wiki, served.dir.path(), &config, &apply).await.good();
        assert_eq!(mutations(&wiki).len(), 1);
    }
}

#[tokio::test]
async fn a_rule_can_want_a_persons_yes_in_place_of_the_token() {
    let tables = "[[rules]]\nname = \"home\"\nthen = \"person\"\npaths = [\"home\"]\n";
    for generation in BOTH {
        let wiki = sample_wiki().await;
        let setup = Setup::editor(&wiki).with_tables(tables);
        let (served, mut person) = person::serve(setup, generation).await;
        let update = json!({ "id": id_of(&wiki, "home"), "title": "T" });
        for (answer, outcome) in [("no", Err("APPROVAL_DENIED")), ("once", Ok("applied"))] {
            let asking = async { person.is_asked().await.answers(answer) };
            let (answer, ()) = tokio::join!(served.call(UPDATE, update.clone()), asking);
            let found = match &answer {
                Ok(applied) => Ok(applied["outcome"].as_str().unwrap()),
                Err(error) => Err(error["code"].as_str().unwrap()),
            };
            assert_eq!(found, outcome, "{answer:?}");
        }
        // Elsewhere the token of a preview is enough.
        let other = json!({ "id": id_of(&wiki, "docs/configuration"), "title": "T" });
        served.confirmed(UPDATE, other).await.unwrap();
    }
    // Where nobody can be asked, it stays open.
    let (wiki, served) = sample(|wiki| Setup::editor(wiki).with_tables(tables)).await;
    let update = json!({ "id": id_of(&wiki, "home"), "title": "T" });
    let open = served.confirmed(UPDATE, update).await.unwrap();
    assert!(open["proposal"].is_string(), "{open}");
}

#[tokio::test]
async fn no_rule_keeps_a_write_from_being_taken_back() {
    let wiki = sample_wiki().await;
    let setup = || Setup::editor(&wiki).toolsets("pages,undo");
    let served = setup().serve().await;
    let update = json!({ "id": id_of(&wiki, "home"), "title": "T" });
    let applied = served.confirmed(UPDATE, update).await.unwrap();
    let strict = setup()
        .in_dir_of(&served)
        .with_tables("[[rules]]\nname = \"all\"\nthen = \"deny\"\n\n[[checks]]\nname = \"no\"\ncwd = \"/\"\nargv = [\"false\"]\n")
        .serve()
        .await;
    let undo = json!({ "callId": applied["callId"] });
    let undone = is_applied(&strict, UNDO, undo).await;
    assert_eq!(undone.get("warnings"), None, "{undone}");
}

#[tokio::test]
async fn an_operators_check_warns_and_a_rule_can_deny_by_it() {
    let wiki = sample_wiki().await;
    let check = "[[checks]]\nname = \"words\"\ncwd = \"/\"\nargv = [\"sh\", \"-c\", \"grep -q forbidden && { echo 'a word of ours'; exit 1; } || exit 0\"]\n";
    // Few lines, so that no other check has anything to say.
    let page = wiki.with_store(|store| store.page_at("en", "home").unwrap().content.clone());
    let update =
        |text: &str| json!({ "id": id_of(&wiki, "home"), "content": format!("{page}{text}") });
    let warned = Setup::editor(&wiki).with_tables(check).serve().await;
    let preview = call_ok(&warned, UPDATE, update("a forbidden word\n")).await;
    let told = vec_of(preview["warnings"].as_array().unwrap().iter().map(said));
    assert_eq!(
        told,
        ["check:words: The check ended with exit code 1. It says: a word of ours"]
    );
    let applied = confirmed_ok(&warned, UPDATE, update("another word\n")).await;
    assert_eq!(applied.get("warnings"), None, "{applied}");
    let sent = mutations(&wiki).len();
    let rule = "[[rules]]\nname = \"words\"\nthen = \"deny\"\nwarnings = [\"check:words\"]\n";
    let denied = Setup::editor(&wiki).with_tables(&format!("{check}\n{rule}"));
    let denied = denied.serve().await;
    let error = call_err(&denied, UPDATE, update("forbidden\n")).await;
    assert_eq!(error["details"]["rule"], "words", "{error}");
    assert_eq!(mutations(&wiki).len(), sent);
}

#[tokio::test]
async fn a_rule_counts_the_writes_of_a_day() {
    let (wiki, served) = sample(|wiki| {
        Setup::editor(wiki)
            .with_tables("[[rules]]\nname = \"busy\"\nthen = \"deny\"\nwrites_per_day_over = 1\n")
    })
    .await;
    let update = |title: &str| json!({ "id": id_of(&wiki, "home"), "title": title });
    for title in ["one", "two"] {
        served.confirmed(UPDATE, update(title)).await.unwrap();
    }
    let error = served.call(UPDATE, update("three")).await.unwrap_err();
    assert_eq!(error["details"]["rule"], "busy", "{error}");
}

/// What somebody saw in a preview is held against the rules once more before it is sent.
#[tokio::test]
async fn rules_are_held_again_before_sending() {
    let (wiki, served) = sample(|wiki| {
        Setup::editor(wiki).with_tables(
            "[[rules]]\nname = \"links\"\nthen = \"deny\"\nwarnings = [\"dead_link\"]\n",
        )
    })
    .await;
    let update = json!({ "id": id_of(&wiki, "home"), "content": "[x](/en/releases/2-4)\n" });
    let preview = served.call(UPDATE, update.clone()).await.unwrap();
    let linked = id_of(&wiki, "releases/2-4");
    let other = Setup::admin(&wiki).serve().await;
    let delete = json!({ "id": linked });
    other.confirmed("wikijs_delete_page", delete).await.unwrap();
    let mut confirmed = update;
    confirmed["confirm"] = preview["confirm"].clone();
    let error = served.call(UPDATE, confirmed).await.unwrap_err();
    assert_eq!(error["details"]["rule"], "links", "{error}");
}

/// Warnings that need the rest of the wiki. For each: a change that meets it, and one beside it.
#[tokio::test]
async fn a_rule_denies_by_each_warning_that_asks_the_wiki_and_by_nothing_beside_it() {
    let wiki = wiki_of(&[
        ("docs/a", "[b](./b)\n"),
        ("docs/b", "x\n"),
        ("docs/old", "x\n"),
    ])
    .await;
    let [a, b, old] = ["docs/a", "docs/b", "docs/old"].map(|path| id_of(&wiki, path));
    wiki.set_old_path(old, "docs/v1.0");
    let to = |id: i64, path: &str| json!({ "id": id, "path": path });
    let titled =
        |path: &str, title: &str| json!({ "path": path, "title": title, "content": "x\n" });
    let text = |content: &str| json!({ "id": b, "content": content });
    let page = |id: i64| json!({ "id": id });
    let retitled = |id: i64| json!({ "id": id, "title": "T" });
    for (code, tool, meets, beside) in [
        (
            "path_differs_by_case",
            CREATE,
            new_page("docs/B"),
            new_page("docs/c"),
        ),
        (
            "path_differs_by_case",
            UPDATE,
            to(a, "Docs/B"),
            to(a, "docs/c"),
        ),
        ("links_break", DELETE, page(b), page(a)),
        ("links_break", UPDATE, to(b, "docs/c"), retitled(b)),
        ("own_links_break", UPDATE, to(a, "team/a"), to(a, "docs/c")),
        ("cannot_return", DELETE, page(old), page(a)),
        ("cannot_return", UPDATE, to(old, "docs/c"), retitled(old)),
        (
            "same_title",
            CREATE,
            titled("docs/c", "page DOCS a"),
            titled("docs/c", "C"),
        ),
        (
            "dead_link",
            UPDATE,
            text("[x](/docs/none)\n"),
            text("[x](/docs/a)\n"),
        ),
    ] {
        let rule =
            format!("[[rules]]\nname = \"{code}\"\nthen = \"deny\"\nwarnings = [\"{code}\"]\n");
        let served = Setup::admin(&wiki).indexed().with_tables(&rule);
        let served = served.serve().await;
        let refused = fails(&served, tool, meets.clone(), "RULE_DENIED").await;
        assert_eq!(refused["details"]["rule"], code);
        let shown = served.call(tool, beside.clone()).await;
        let shown = shown.unwrap_or_else(|refused| panic!("{code} {beside} {refused}"));
        assert_eq!(shown["preview"], true, "{shown}");
    }
    assert_eq!(mutations(&wiki), []);
}

/// It holds for each page of a set, and for what a draft gathered before.
#[tokio::test]
async fn a_rule_holds_for_the_way_in_which_a_change_is_said() {
    let text = "# List\n\n- one `word`\n";
    let pages = [("docs/a", "word\n"), ("docs/b", text), ("legal/c", text)];
    let wiki = wiki_of(&pages).await;
    let rules = "[[rules]]\nname = \"code\"\nthen = \"review\"\nwarnings = [\"in_code\"]\npaths = [\"legal\"]\n[[rules]]\nname = \"blocks\"\nthen = \"deny\"\nwarnings = [\"not_in_block\"]\n";
    let served = Setup::admin(&wiki).indexed().with_tables(rules);
    let served = served.toolsets("pages,drafts").serve().await;
    let (b, c) = (id_of(&wiki, "docs/b"), id_of(&wiki, "legal/c"));
    let append =
        json!({ "id": b, "section": "List", "sectionMode": "append", "sectionContent": "| a |" });
    fails(&served, UPDATE, append, "RULE_DENIED").await;

    let edits = json!([{ "oldText": "word", "newText": "term" }]);
    let everywhere = |id: i64| json!({ "id": id, "replaceAll": true, "edits": edits });
    confirmed_ok(&served, UPDATE, everywhere(b)).await;
    let before = mutations(&wiki).len();
    let bulk = json!({ "ids": [id_of(&wiki, "docs/a"), c], "replaceAll": edits });
    let mut joins = everywhere(c);
    joins["draft"] = json!("rework");
    call_ok(&served, UPDATE, joins).await;
    let more = json!({ "id": c, "draft": "rework", "description": "d" });
    call_ok(&served, UPDATE, more).await;
    for (tool, arguments) in [
        (UPDATE, everywhere(c)),
        (BULK, bulk),
        (SUBMIT, json!({ "draft": "rework" })),
    ] {
        let done = confirmed_ok(&served, tool, arguments).await;
        assert_eq!(done["outcome"], "waiting", "{tool} {done}");
    }
    assert_eq!(mutations(&wiki).len(), before);
}

/// One delete is no set of several, whichever rule counts them.
#[tokio::test]
async fn a_rule_counts_the_deletes_of_a_set() {
    let wiki = wiki_of(&[("docs/a", "x\n"), ("docs/b", "x\n")]).await;
    let tables = "rules_off = [\"large-sets\"]\n[[rules]]\nname = \"two\"\nthen = \"deny\"\ndeletes_over = 1\n";
    let setup = Setup::admin(&wiki).toolsets("pages,drafts");
    let served = setup.with_tables(tables).serve().await;
    let submit = || served.call(SUBMIT, json!({ "draft": "rework" }));
    let joins = async |path: &str| {
        let delete = json!({ "id": id_of(&wiki, path), "draft": "rework" });
        served.call("wikijs_delete_page", delete).await.unwrap();
    };
    joins("docs/a").await;
    assert_eq!(submit().await.unwrap()["preview"], true);
    joins("docs/b").await;
    let refused = submit().await.unwrap_err();
    assert_eq!(refused["details"]["rule"], "two", "{refused}");
    assert_eq!(mutations(&wiki), []);
}
