//! Files beside the pages where something goes wrong or is decided elsewhere: a killed server, a
//! proposal, the operator's undo, and files that the operator's own folder holds.

use std::os::unix::fs::symlink;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use wikijs_gate::config::{CommandLineSettings, Layers, Settings};

use crate::prelude::*;
use crate::review::Desk;
use crate::session::status::status;
use crate::writes::assets::{RIGHTS, bytes_at, other_png, paths, png, setup, wiki};
use crate::writes::kill::is_found_and_taken_back;

/// One call of each tool that writes, of [`wiki`].
fn writes() -> [(&'static str, Value); 4] {
    [
        (UPLOAD, json!({ "path": "docs/new.csv", "text": "x" })),
        (
            UPLOAD,
            json!({ "path": "docs/list.csv", "text": "x", "replace": true }),
        ),
        (
            RENAME_ASSET,
            json!({ "path": "docs/list.csv", "name": "other.csv" }),
        ),
        (DELETE_ASSET, json!({ "path": "docs/list.csv" })),
    ]
}

/// The paths of all assets and their bytes, in order.
fn all(wiki: &DemoWiki) -> Vec<(String, Option<Vec<u8>>)> {
    let mut paths = paths(wiki);
    paths.sort();
    let bytes = paths.into_iter().map(|path| {
        let bytes = bytes_at(wiki, &path);
        (path, bytes)
    });
    bytes.collect()
}

/// A command of the operator's on the records of a server.
async fn operator(wiki: &DemoWiki, served: &Served, arguments: &[&str]) -> Ended {
    let command = Command::operator(wiki, served, arguments);
    command.writing().end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_leaves_assets_that_the_next_one_finds_and_takes_back() {
    for write in writes() {
        is_found_and_taken_back(&wiki().await, "assets", write, all).await;
    }
}

/// Base64 is a third longer than what it says.
#[tokio::test(flavor = "multi_thread")]
async fn the_largest_file_fits_into_one_message_as_base64() {
    let wiki = wiki().await;
    let dir = TempDir::new().unwrap();
    let mut program = Program::writing(
        &wiki.address(),
        &wiki.keys().admin,
        dir.path(),
        &[("WIKI_TOOLSETS", "assets")],
    );
    let data = STANDARD.encode(vec![b'a'; 5 * 1024 * 1024]);
    let upload = json!({ "path": "docs/large.csv", "base64": data });
    let preview = program.call(UPLOAD, &upload);
    let confirm = json!({ "path": "docs/large.csv", "confirm": preview["confirm"] });
    let made = program.call(UPLOAD, &confirm);
    assert_eq!(made["outcome"], "applied", "{made}");
    let stored = bytes_at(&wiki, "docs/large.csv").unwrap();
    assert_eq!(stored.len(), 5 * 1024 * 1024);
}

#[tokio::test]
async fn a_proposed_asset_is_applied_by_a_person_and_taken_back_by_the_operator() {
    for (tool, arguments) in writes() {
        let wiki = wiki().await;
        let before = all(&wiki);
        let dry = setup(&wiki, &RIGHTS).dry().serve().await;
        let proposed = dry.call(tool, arguments).await.unwrap();
        let id = proposed["proposal"].as_str().unwrap();
        let applied = operator(&wiki, &dry, &["proposals", "apply", id, "--yes"]).await;
        assert_eq!(applied.code, 0, "{tool}: {}", applied.told);
        assert_ne!(all(&wiki), before, "{tool}");
        let again = operator(&wiki, &dry, &["proposals", "apply", id, "--yes"]).await;
        assert_ne!(again.code, 0, "{tool}: {}", again.told);
        let record = dry.records().into_iter().rev();
        let mut applied = record.filter(|record| record.outcome == Some(Outcome::Applied));
        let call = applied.find_map(|record| record.call).unwrap();
        let undone = operator(&wiki, &dry, &["undo", &call.to_string(), "--yes"]).await;
        assert_eq!(undone.code, 0, "{tool}: {}", undone.told);
        assert_eq!(all(&wiki), before, "{tool}");
    }
}

#[tokio::test]
async fn a_proposed_asset_that_was_changed_meanwhile_is_not_applied() {
    let wiki = wiki().await;
    let dry = setup(&wiki, &RIGHTS).dry().serve().await;
    for (tool, arguments) in writes().into_iter().skip(1) {
        let proposed = dry.call(tool, arguments).await.unwrap();
        let id = proposed["proposal"].as_str().unwrap().to_owned();
        wiki.with_store(|store| {
            let asset = store.assets().find(|asset| asset.filename == "list.csv");
            let id = asset.unwrap().id;
            store.asset_mut(id).unwrap().data = format!("theirs {tool}").into_bytes();
        });
        let ended = operator(&wiki, &dry, &["proposals", "apply", &id, "--yes"]).await;
        assert_ne!(ended.code, 0, "{tool}: {}", ended.told);
        assert!(mutations(&wiki).is_empty(), "{tool}: {}", ended.told);
    }
}

#[tokio::test]
async fn a_login_page_in_place_of_a_file_is_neither_shown_nor_kept() {
    let wiki = wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let key = wiki.key_with(&RIGHTS, "");
    let served = Setup::at(&faulty.address(), &key)
        .toolsets("assets")
        .with("WIKI_HTTP_MAX_RETRIES", "0")
        .serve()
        .await
        .acquainted()
        .await;
    for tool in [GET_ASSET, DELETE_ASSET] {
        let page = Reply::say(200, "text/html; charset=utf-8", "<html>Sign in</html>");
        // Behind the folders at the root and the files in one.
        faulty.on_request_after(2, Fault::new(Reach::Never, page));
        let arguments = json!({ "path": "docs/plan.png" });
        fails(&served, tool, arguments, "WIKI_UNAVAILABLE").await;
    }
    assert!(mutations(&wiki).is_empty());
}

/// A server with a folder for uploads, and that folder.
async fn with_folder(wiki: &DemoWiki) -> (Served, TempDir) {
    let outside = TempDir::new().unwrap();
    let folder = outside.path().join("uploads");
    fs::create_dir_all(folder.join("pictures")).unwrap();
    fs::write(outside.path().join("secret.csv"), "xyloquartz\n").unwrap();
    fs::write(folder.join("pictures/plan.png"), other_png()).unwrap();
    fs::write(folder.join("false.png"), "<html>").unwrap();
    symlink(outside.path().join("secret.csv"), folder.join("link.csv")).unwrap();
    let large = fs::File::create(folder.join("large.csv")).unwrap();
    large.set_len(50_000_000).unwrap();
    let settings = format!("upload_dir = {:?}\n", folder.to_str().unwrap());
    let served = setup(wiki, &RIGHTS).with_tables(&settings).serve().await;
    (served, outside)
}

#[tokio::test]
async fn a_file_of_the_operators_folder_goes_up_by_its_name_as_it_was_shown() {
    let wiki = wiki().await;
    let (served, dir) = with_folder(&wiki).await;
    let upload = |path: &str| json!({ "path": path, "file": "pictures/plan.png" });
    let shown = async |path: &str| {
        let preview = served.checked(UPLOAD, upload(path)).await;
        preview.unwrap()
    };
    let preview = shown("docs/new.png").await;
    let other = shown("docs/other.png").await;
    assert!(preview["diff"].as_str().unwrap().contains("+bytes: 70\n"));
    // What is confirmed is what was shown, whatever the file has become.
    fs::write(dir.path().join("uploads/pictures/plan.png"), png()).unwrap();
    for (path, preview, with_file) in [
        ("docs/new.png", preview, false),
        ("docs/other.png", other, true),
    ] {
        let mut confirm = json!({ "path": path, "confirm": preview["confirm"] });
        if with_file {
            confirm["file"] = json!("pictures/plan.png");
        }
        let made = served.checked(UPLOAD, confirm).await;
        assert_eq!(made.unwrap()["outcome"], "applied");
        assert_eq!(bytes_at(&wiki, path).unwrap(), other_png());
    }
    let preview = shown("docs/third.png").await;
    let confirm =
        json!({ "path": "docs/third.png", "file": "false.png", "confirm": preview["confirm"] });
    fails(&served, UPLOAD, confirm, "CONFIRM_MISMATCH").await;
}

#[tokio::test]
async fn nothing_but_plain_files_of_that_folder_is_read() {
    let wiki = wiki().await;
    let (served, dir) = with_folder(&wiki).await;
    let own = dir.path().to_str().unwrap();
    for (path, file, code) in [
        ("docs/new.csv", "link.csv", "INVALID_INPUT"),
        ("docs/new.csv", "../secret.csv", "INVALID_INPUT"),
        ("docs/new.csv", "pictures/../../secret.csv", "INVALID_INPUT"),
        ("docs/new.csv", "/etc/passwd", "INVALID_INPUT"),
        ("docs/new.csv", "pictures", "INVALID_INPUT"),
        ("docs/new.csv", "none.csv", "INVALID_INPUT"),
        ("docs/new.csv", "", "INVALID_INPUT"),
        ("docs/new.csv", "pictures/plan.png", "INVALID_INPUT"),
        ("docs/new.png", "false.png", "INVALID_INPUT"),
        ("docs/new.csv", "large.csv", "TOO_LARGE"),
    ] {
        let upload = json!({ "path": path, "file": file });
        let refused = served.call(UPLOAD, upload).await;
        let refused = refused.unwrap_err();
        assert_eq!(refused["code"], code, "{file} {refused}");
        assert!(refused["hint"].is_string(), "{refused}");
        let told = refused.to_string();
        lacks(&told, own);
        lacks(&told, "xyloquartz");
    }
    let twice = json!({ "path": "docs/new.csv", "file": "a.csv", "text": "x" });
    fails(&served, UPLOAD, twice, "INVALID_INPUT").await;
    // Without the setting, no name means anything.
    let plain = setup(&wiki, &RIGHTS).serve().await;
    let upload = json!({ "path": "docs/new.png", "file": "pictures/plan.png" });
    let refused = plain.call(UPLOAD, upload).await.unwrap_err();
    says(&refused["hint"], "upload_dir");
    assert!(mutations(&wiki).is_empty());
}

#[test]
fn a_folder_that_holds_what_nobody_may_upload_is_none() {
    let dir = TempDir::new().unwrap();
    let (settings, audit, uploads) = (
        dir.path().join("config.toml"),
        dir.path().join("audit"),
        dir.path().join("uploads"),
    );
    fs::create_dir_all(&uploads).unwrap();
    fs::write(dir.path().join("a.csv"), "x").unwrap();
    let link = dir.path().join("link");
    symlink(dir.path(), &link).unwrap();
    let read = |folder: &Path| {
        let text = format!(
            "base_url = \"http://127.0.0.1:9\"\napi_token = \"e30.e30.x\"\naudit_dir = {audit:?}\nupload_dir = {folder:?}\n"
        );
        fs::write(&settings, text).unwrap();
        fs::set_permissions(&settings, fs::Permissions::from_mode(0o600)).unwrap();
        let given =
            CommandLineSettings::default().but(|given| given.config = Some(settings.clone()));
        let layers = Layers::load(&given).unwrap();
        let read = Settings::read(&layers.source()).map_err(|fault| fault.to_string());
        read.map(drop)
    };
    assert_eq!(read(&uploads), Ok(()));
    for (folder, said) in [
        (dir.path().to_owned(), "holds"),
        (link, "holds"),
        (audit.clone(), "it is not there"),
        (dir.path().join("a.csv"), "is no directory"),
    ] {
        says(&read(&folder).unwrap_err(), said);
    }
}

#[tokio::test]
async fn the_first_twenty_pages_that_use_an_asset_are_of_those_that_may_be_read() {
    let plan = "![plan](/docs/plan.png)\n";
    let names: Vec<String> = (0..30)
        .map(|n| format!("vault/p{n}"))
        .chain((0..22).map(|n| format!("docs/p{n}")))
        .chain((0..30).map(|n| format!("vault/q{n}")))
        .collect();
    let pages: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), plan)).collect();
    let wiki = wiki_of(&pages).await;
    wiki.with_store(|store| store.add_asset("docs/plan.png", "image/png", &png()));
    let key = wiki.key_with(&RIGHTS, "");
    let bounded = Setup::at(&wiki.address(), &key)
        .toolsets("assets")
        .indexed()
        .with("WIKI_DENIED_READ_PATH_PREFIXES", "vault")
        .serve()
        .await;
    let get = json!({ "path": "docs/plan.png", "usedBy": true });
    let told = bounded.checked(GET_ASSET, get).await.unwrap();
    let found = members(&told, "usedBy", "path");
    assert_eq!(found.len(), 20, "{told}");
    assert!(found.iter().all(|path| path.starts_with("docs/")), "{told}");
    assert_eq!(told["usedByLeft"], 2);
}

#[tokio::test]
async fn doctor_and_the_status_say_what_the_tools_for_assets_can_do() {
    let wiki = wiki().await;
    for (rights, has, list, upload) in [
        (&RIGHTS[..], true, "all", "unknown"),
        (&["read:pages"], false, "nothing", "nothing"),
    ] {
        let key = wiki.key_with(rights, "");
        let dir = TempDir::new().unwrap();
        let ended = Command::new(&["doctor", "--json", "--page", "docs/a"])
            .at(&wiki.address(), &key, dir.path())
            .toolsets("pages,assets")
            .end()
            .await;
        let told = ended.json();
        let tools = told["rights"]["tools"].as_array().unwrap();
        let can = |name: &str| {
            let tool = tools.iter().find(|tool| tool["tool"] == name).unwrap();
            tool["can"].as_str().unwrap().to_owned()
        };
        assert_eq!(can(LIST_ASSETS), list, "{told}");
        assert_eq!(can(UPLOAD), upload, "{told}");

        let served = setup(&wiki, rights).serve().await;
        let status = status(&served).await;
        let those = &status["key"]["rights"];
        let named = |list: &str, right: &str| those[list].to_string().contains(right);
        assert_eq!(named("has", "read:assets"), has, "{status}");
        assert_eq!(named("lacks", "read:assets"), !has, "{status}");
        assert!(named("unknown", "manage:assets"), "{status}");
    }
}

/// At the root the wiki takes such a folder for a locale, for nothing or for its own (W42).
#[tokio::test]
async fn files_in_folders_that_addresses_say_otherwise_are_read_changed_and_taken_back() {
    let wiki = wiki().await;
    let odd = [
        "en/a.csv",
        "zh-tw/a.csv",
        "x/a.csv",
        "日/a.csv",
        "login/a.csv",
    ];
    wiki.with_store(|store| {
        store.add_asset("a.csv", "text/csv", b"another\n");
        for path in odd {
            store.add_asset(path, "text/csv", path.as_bytes());
        }
    });
    let before = all(&wiki);
    let served = setup(&wiki, &RIGHTS).serve().await;
    for path in odd {
        let get = json!({ "path": path });
        let told = served.checked(GET_ASSET, get).await.unwrap();
        assert_eq!(told["text"], path, "{told}");
        says(&told["url"], "/en/");
        for (tool, arguments) in json_rows(&json!([
            [UPLOAD, { "path": path, "text": "x", "replace": true }],
            [RENAME_ASSET, { "path": path, "name": "b.csv" }],
            [DELETE_ASSET, { "path": path }],
        ])) {
            let made = served.confirmed(tool, arguments).await.unwrap();
            let undo = json!({ "callId": made["callId"] });
            let undone = served.confirmed(UNDO, undo).await.unwrap();
            assert_eq!(undone["outcome"], "applied", "{path} {tool}");
        }
    }
    assert_eq!(all(&wiki), before);
    // A page could not show what lies there by its path, so nothing new goes there.
    let sent = mutations(&wiki).len();
    for path in ["en/b.csv", "x/b.csv", "graphql/b.csv", "docs/b..csv"] {
        let upload = json!({ "path": path, "text": "x", "createFolders": true });
        fails(&served, UPLOAD, upload, "INVALID_INPUT").await;
    }
    assert_eq!(mutations(&wiki).len(), sent);
    let upload = json!({ "path": "img/plän_日本.csv", "text": "x", "createFolders": true });
    is_applied(&served, UPLOAD, upload).await;
}

#[tokio::test]
async fn a_page_uses_an_asset_however_it_writes_the_address() {
    let wiki = wiki_of(&[
        ("docs/a", "![](/my%20docs/pl%C3%A4n%28a%29.csv)\n"),
        ("docs/b", "![](/my%20docs/plän(a).csv)\n"),
        ("docs/c", "<img src='/en/my docs/pl%c3%a4n(a).csv'>\n"),
        ("docs/d", "[x](https://wiki.lan/de/my docs/plän(a).csv?x)\n"),
        (
            "docs/e",
            "/other/my docs/plän(a).csv, /my docs/plän(a).csv.bak\n",
        ),
        ("docs/f", "/my docs/plan(a).csv\n"),
    ])
    .await;
    wiki.with_store(|store| store.add_asset("my docs/plän(a).csv", "text/csv", b"x"));
    let key = wiki.key_with(&RIGHTS, "");
    let setup = Setup::at(&wiki.address(), &key).toolsets("assets");
    let served = setup.indexed().serve().await;
    let get = json!({ "path": "my docs/plän(a).csv", "usedBy": true });
    let told = served.checked(GET_ASSET, get).await.unwrap();
    assert_eq!(told["text"], "x");
    let mut found = members(&told, "usedBy", "path");
    found.sort_unstable();
    assert_eq!(found, ["docs/a", "docs/b", "docs/c", "docs/d"], "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_decides_on_an_image_sees_it() {
    let wiki = wiki().await;
    let key = wiki.keys().admin.clone();
    let desk = Desk::with_key(wiki, key).await;
    let tool = UPLOAD;
    let picture = json!({ "path": "docs/new.png", "base64": STANDARD.encode(png()) });
    let id = desk.propose(tool, picture).await;
    let other = desk
        .propose(tool, json!({ "path": "docs/a.svg", "text": "<svg/>" }))
        .await;
    let mut browser = desk.signed_in().await;
    let shown = browser.open(&format!("/review/sets/{id}")).await;
    let place = format!("/review/sets/{id}/picture/0");
    assert!(shown.text.contains(&place), "{}", shown.text);
    assert!(!shown.text.contains("as rendered"), "{}", shown.text);
    let image = browser.open(&place).await;
    assert_eq!(image.status, 200);
    assert_eq!(image.headers["content-type"], "image/png");
    assert_eq!(image.headers["x-content-type-options"], "nosniff");
    // What could run something is not served, and nothing to whoever is not signed in.
    for path in [
        format!("/review/sets/{other}/picture/0"),
        format!("/review/sets/{id}/picture/1"),
    ] {
        assert_eq!(browser.open(&path).await.status, 404, "{path}");
    }
    let record = browser.open("/review/record?operation=upload-asset").await;
    assert!(record.text.contains("docs/new.png"), "{}", record.text);
    browser.cookie.clear();
    let refused = browser.open(&place).await;
    assert_ne!(refused.headers["content-type"], "image/png");
}
