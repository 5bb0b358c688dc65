//! The files beside the pages: read, written, and taken back.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::{Captures, Regex};
use wikijs_gate::demo::{AssetRow, Store};

use crate::prelude::*;

pub(crate) const RIGHTS: [&str; 6] = [
    "read:pages",
    "read:source",
    "write:pages",
    "read:assets",
    "write:assets",
    "manage:assets",
];
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgAAACAAFUok9mAAAAAElFTkSuQmCC";

pub(crate) fn png() -> Vec<u8> {
    STANDARD.decode(PNG).unwrap()
}

/// The same picture, with some bytes behind it.
pub(crate) fn other_png() -> Vec<u8> {
    [png(), b"more".to_vec()].concat()
}

/// A wiki with a page and some assets.
pub(crate) async fn wiki() -> DemoWiki {
    let wiki = wiki_of(&[("docs/a", "# A\n\n![plan](/docs/plan.png)\n")]).await;
    wiki.with_store(|store| {
        store.add_asset("docs/plan.png", "image/png", &png());
        store.add_asset("docs/list.csv", "text/csv", b"a,b\n");
        store.add_asset("docs/notes.txt", "text/plain", b"hello\n");
        store.add_asset("vault/secret.csv", "text/csv", b"xyloquartz\n");
        store.add_asset("root.bin", "application/x-odd", &[0, 1, 2]);
    });
    wiki
}

pub(crate) fn setup(wiki: &DemoWiki, rights: &[&str]) -> Setup {
    let key = wiki.key_with(rights, "");
    Setup::at(&wiki.address(), &key).toolsets("pages,undo,proposals,assets")
}

async fn served(wiki: &DemoWiki) -> Served {
    setup(wiki, &RIGHTS).serve().await
}

fn assets(wiki: &DemoWiki) -> Vec<AssetRow> {
    wiki.with_store(|store| store.assets().cloned().collect())
}

/// The paths of all assets.
pub(crate) fn paths(wiki: &DemoWiki) -> Vec<String> {
    wiki.with_store(|store| {
        let path = |asset: &AssetRow| match store.folder_path(asset.folder) {
            folder if folder.is_empty() => asset.filename.clone(),
            folder => format!("{folder}/{}", asset.filename),
        };
        store.assets().map(path).collect()
    })
}

pub(crate) fn bytes_at(wiki: &DemoWiki, path: &str) -> Option<Vec<u8>> {
    wiki.with_store(|store| store.asset_at(path).map(|asset| asset.data.clone()))
}

#[tokio::test]
async fn folders_and_files_are_listed_with_what_nobody_can_download() {
    let wiki = wiki().await;
    let served = served(&wiki).await;
    let root = served.checked(LIST_ASSETS, json!({})).await.unwrap();
    assert_eq!(root["folders"], json!(["docs", "vault"]));
    assert_eq!(members(&root, "assets", "path"), ["root.bin"]);
    let docs = json!({ "folder": "/docs/" });
    let docs = served.checked(LIST_ASSETS, docs).await.unwrap();
    let expected = ["docs/list.csv", "docs/notes.txt", "docs/plan.png"];
    assert_eq!(members(&docs, "assets", "path"), expected);
    docs["assets"][2].shows(json!({ "bytes": 66, "type": "image/png" }));
    let unavailable = docs["assets"][1]["unavailable"].as_str().unwrap();
    assert!(unavailable.contains("nobody can download"));
    let some = json!({ "folder": "docs", "offset": 1, "limit": 1 });
    let some = served.checked(LIST_ASSETS, some).await.unwrap();
    assert_eq!(some["assets"][0]["path"], "docs/notes.txt");
    assert_eq!(some["total"], json!(3));
    let none = json!({ "folder": "docs/none" });
    fails(&served, LIST_ASSETS, none, "PAGE_NOT_FOUND").await;
    let key = setup(&wiki, &["read:pages"]).serve().await;
    let refused = key.call(LIST_ASSETS, json!({})).await.unwrap_err();
    assert_eq!(refused["details"]["right"], "read:assets");
}

#[tokio::test]
async fn an_image_is_shown_as_one_a_text_as_text_and_anything_else_is_named() {
    let wiki = wiki().await;
    wiki.with_store(|store| {
        store.add_asset("false.png", "image/png", b"<html>no</html>");
        let large = [png(), vec![0; 1024 * 1024], png()].concat();
        store.add_asset("large.png", "image/png", &large);
        store.add_asset("long.csv", "text/csv", "é".repeat(40_000).as_bytes());
    });
    let served = served(&wiki).await;
    let mut request = CallToolRequestParams::new(GET_ASSET);
    let path = json!({ "path": "docs/plan.png" });
    request.arguments = Some(path.as_object().unwrap().clone());
    let result = served.client.call_tool(request).await.unwrap();
    let blocks = serde_json::to_value(&result.content).unwrap();
    let expected = json!({ "type": "image", "mimeType": "image/png", "data": PNG });
    assert_eq!(blocks[1], expected);
    says(&serde_json::to_string(&result.meta).unwrap(), "untrusted");
    let image = read(&result).unwrap();
    image.shows(json!({ "image": { "mimeType": "image/png" }, "bytes": 66 }));
    assert_eq!(image["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(image["url"], format!("{}/docs/plan.png", wiki.address()));

    let get = async |path: &str| {
        let path = json!({ "path": path });
        served.checked(GET_ASSET, path).await.unwrap()
    };
    assert_eq!(get("docs/list.csv").await["text"], "a,b\n");
    let long = get("long.csv").await;
    long.shows(json!({ "bytes": 80_000, "isCut": true }));
    for (path, why) in [
        ("docs/notes.txt", "nobody can download"),
        ("root.bin", "neither an image nor a text"),
        ("false.png", "no whole image"),
        ("large.png", "more than 1 MB"),
    ] {
        let told = get(path).await;
        let said = told["unavailable"]["content"].as_str().unwrap_or_default();
        assert!(said.contains(why), "{told}");
        told.shows(json!({ "text": null, "image": null }));
    }
    for path in ["docs/none.png", "none/plan.png", "docs"] {
        let path = json!({ "path": path });
        fails(&served, GET_ASSET, path, "PAGE_NOT_FOUND").await;
    }
    let climbs = json!({ "path": "docs/../vault/secret.csv" });
    fails(&served, GET_ASSET, climbs, "INVALID_INPUT").await;
}

#[tokio::test]
async fn assets_outside_of_the_bounds_of_reading_are_as_if_they_were_not_there() {
    let wiki = wiki().await;
    for (name, value) in [
        ("WIKI_DENIED_READ_PATH_PREFIXES", "vault"),
        ("WIKI_ALLOWED_READ_PATH_PREFIXES", "docs"),
    ] {
        let served = setup(&wiki, &RIGHTS).with(name, value).serve().await;
        let root = served.call(LIST_ASSETS, json!({})).await.unwrap();
        assert_eq!(root["folders"], json!(["docs"]));
        let path = "vault/secret.csv";
        let upload = json!({ "path": path, "text": "x", "replace": true });
        for (tool, arguments) in [
            (LIST_ASSETS, json!({ "folder": "vault" })),
            (GET_ASSET, json!({ "path": path })),
            (DELETE_ASSET, json!({ "path": path })),
            (RENAME_ASSET, json!({ "path": path, "name": "x.csv" })),
            (UPLOAD, upload),
        ] {
            let refused = fails(&served, tool, arguments, "PAGE_NOT_FOUND").await;
            assert!(!refused.to_string().contains("xyloquartz"), "{refused}");
            let message = refused["message"].as_str().unwrap();
            assert!(!message.contains("page"), "{tool}: {message}");
        }
    }
    assert!(mutations(&wiki).is_empty());
    let bytes = bytes_at(&wiki, "vault/secret.csv").unwrap();
    assert_eq!(bytes, b"xyloquartz\n");
}

#[tokio::test]
async fn an_upload_is_shown_first_then_sent_once_and_taken_back() {
    let wiki = wiki().await;
    let served = served(&wiki).await;
    let upload = json!({ "path": "docs/new.png", "base64": PNG, "note": "asked for" });
    let preview = served.checked(UPLOAD, upload).await.unwrap();
    assert_eq!(assets(&wiki).len(), 5);
    assert_eq!(preview["operation"], "upload-asset");
    assert_eq!(preview["target"]["path"], "docs/new.png");
    let digest = "dea854a228a2210ac33a6225baa40572df7a02503050c0a137ab4b18c22623b7";
    let wanted = format!("@@ -0,0 +1,3 @@\n+type: image/png\n+bytes: 66\n+sha256: {digest}\n");
    assert_eq!(preview["diff"], wanted);
    assert!(!preview.to_string().contains(PNG));
    let confirm = json!({ "path": "docs/new.png", "confirm": preview["confirm"] });
    let made = served.checked(UPLOAD, confirm).await.unwrap();
    made.shows(json!({ "outcome": "applied", "unverified": null }));
    let of_wiki = assets(&wiki).pop().unwrap();
    assert_eq!(made["target"]["asset"], of_wiki.id);
    assert_eq!((of_wiki.data, of_wiki.mime.as_str()), (png(), "image/png"));

    let undo = json!({ "callId": made["callId"] });
    let undone = served.confirmed(UNDO, undo).await.unwrap();
    undone.shows(json!({ "operation": "delete-asset", "outcome": "applied" }));
    assert_eq!(bytes_at(&wiki, "docs/new.png"), None);
    let expected = "preview, attempt upload-asset, outcome upload-asset applied, \
        preview, attempt delete-asset, outcome delete-asset applied";
    assert_eq!(served.told().join(", "), expected);
    let mut records = served.records().into_iter();
    let record = records.find(|record| record.step.is_some()).unwrap();
    assert_eq!(record.note.as_deref(), Some("asked for"));
    assert_eq!(record.path.unwrap().as_str(), "docs/new.png");
}

#[tokio::test]
async fn what_is_there_is_written_over_only_if_that_is_said_and_comes_back() {
    let wiki = wiki().await;
    let served = served(&wiki).await;
    let other = STANDARD.encode(other_png());
    let upload = json!({ "path": "docs/plan.png", "base64": other });
    let refused = fails(&served, UPLOAD, upload, "PAGE_EXISTS").await;
    assert!(refused["hint"].as_str().unwrap().contains("replace: true"));
    let replace = json!({ "path": "docs/plan.png", "base64": other, "replace": true });
    let preview = served.call(UPLOAD, replace.clone()).await.unwrap();
    let lines = preview["diff"].as_str().unwrap().lines().count();
    assert_eq!(lines, 6, "{preview}");
    let made = is_applied(&served, UPLOAD, replace.clone()).await;
    assert_eq!(bytes_at(&wiki, "docs/plan.png").unwrap(), other_png());
    let same = served.confirmed(UPLOAD, replace).await;
    assert_eq!(same.unwrap()["outcome"], "unchanged");

    let undo = json!({ "callId": made["callId"] });
    let preview = served.call(UNDO, undo).await.unwrap();
    wiki.with_store(|store| store.asset_mut(1).unwrap().data = b"theirs".to_vec());
    let confirm = json!({ "callId": made["callId"], "confirm": preview["confirm"] });
    fails(&served, UNDO, confirm, "EDIT_CONFLICT").await;
    let forced = json!({ "callId": made["callId"], "force": true });
    is_applied(&served, UNDO, forced).await;
    assert_eq!(bytes_at(&wiki, "docs/plan.png").unwrap(), png());
    assert_eq!(assets(&wiki).len(), 5);
}

#[tokio::test]
async fn a_deleted_file_comes_back_anew_and_what_cannot_is_said_before() {
    let wiki = wiki().await;
    let served = served(&wiki).await;
    let delete = json!({ "path": "docs/plan.png" });
    let preview = served.checked(DELETE_ASSET, delete.clone()).await.unwrap();
    begins(
        &warnings(&preview)[0],
        "cannot_return: undo can upload the bytes anew",
    );
    let gone = served.confirmed(DELETE_ASSET, delete.clone()).await;
    let gone = gone.unwrap();
    gone.shows(json!({ "outcome": "applied", "operation": "delete-asset" }));
    assert_eq!(bytes_at(&wiki, "docs/plan.png"), None);
    fails(&served, DELETE_ASSET, delete, "PAGE_NOT_FOUND").await;
    let undo = json!({ "callId": gone["callId"] });
    let back = is_applied(&served, UNDO, undo).await;
    assert_eq!(bytes_at(&wiki, "docs/plan.png").unwrap(), png());
    assert_ne!(back["target"]["asset"], 1);

    let hidden = json!({ "path": "docs/notes.txt" });
    fails(&served, DELETE_ASSET, hidden, "FIELD_UNREADABLE").await;
}

#[tokio::test]
async fn a_file_is_renamed_and_renamed_back() {
    let wiki = wiki().await;
    let served = served(&wiki).await;
    let rename = json!({ "path": "docs/plan.png", "name": "old-plan.png" });
    let preview = served.checked(RENAME_ASSET, rename.clone()).await.unwrap();
    let expected = json!({ "before": "docs/plan.png", "after": "docs/old-plan.png" });
    assert_eq!(preview["changes"]["path"], expected);
    let made = served.confirmed(RENAME_ASSET, rename).await.unwrap();
    made.shows(json!({ "outcome": "applied", "operation": "rename-asset", "changed": ["path"] }));
    assert!(paths(&wiki).contains(&"docs/old-plan.png".to_owned()));
    let undo = json!({ "callId": made["callId"] });
    is_applied(&served, UNDO, undo).await;
    assert!(paths(&wiki).contains(&"docs/plan.png".to_owned()));
    for name in ["list.csv", "Plan.png", "x/plan.png", "../plan.png"] {
        let rename = json!({ "path": "docs/plan.png", "name": name });
        fails(&served, RENAME_ASSET, rename, "INVALID_INPUT").await;
    }
    wiki.with_store(|store| store.add_asset("docs/taken.png", "image/png", &png()));
    let rename = json!({ "path": "docs/plan.png", "name": "taken.png" });
    fails(&served, RENAME_ASSET, rename, "PAGE_EXISTS").await;
}

#[tokio::test]
async fn folders_are_made_only_if_that_is_said_and_stay() {
    let wiki = wiki().await;
    let served = served(&wiki).await;
    let path = "docs/pics/new/a.png";
    let upload = json!({ "path": path, "base64": PNG });
    let refused = fails(&served, UPLOAD, upload, "PAGE_NOT_FOUND").await;
    assert!(refused["hint"].as_str().unwrap().contains("createFolders"));
    let upload = json!({ "path": path, "base64": PNG, "createFolders": true });
    let preview = served.call(UPLOAD, upload.clone()).await.unwrap();
    let expected = json!(["docs/pics", "docs/pics/new"]);
    assert_eq!(preview["changes"]["folders"]["after"], expected);
    begins(
        &warnings(&preview)[0],
        "cannot_return: folders are made right before the upload",
    );
    let made = is_applied(&served, UPLOAD, upload).await;
    assert!(warnings(&made)[0].contains("docs/pics/new"), "{made}");
    assert_eq!(bytes_at(&wiki, path).unwrap(), png());
    let undo = json!({ "callId": made["callId"] });
    is_applied(&served, UNDO, undo).await;
    let folder = json!({ "folder": "docs/pics" });
    let left = served.call(LIST_ASSETS, folder).await.unwrap();
    assert_eq!(left["folders"], json!(["docs/pics/new"]));
}

#[tokio::test]
async fn bad_files_are_refused_before_anything_is_sent() {
    let wiki = wiki().await;
    let served = served(&wiki).await;
    let cut = STANDARD.encode(&png()[..40]);
    let large = "x".repeat(5 * 1024 * 1024 + 1);
    let (half, a) = (PNG.get(..41).unwrap(), json!({ "text": "a" }));
    for (path, file) in [
        ("docs/a.jpg", json!({ "base64": PNG })),
        ("docs/a.png", json!({ "text": "<html>" })),
        ("docs/a.png", json!({ "base64": cut })),
        ("docs/a.png", json!({ "base64": half })),
        ("docs/a.csv", json!({ "text": "" })),
        ("docs/a.csv", json!({})),
        ("docs/a.csv", json!({ "text": "a", "base64": PNG })),
        ("../a.csv", a.clone()),
        ("docs/My File.csv", a.clone()),
        ("docs/a.txt", a.clone()),
        ("docs/a", a),
    ] {
        let upload = file.but(|file| file["path"] = path.into());
        fails(&served, UPLOAD, upload, "INVALID_INPUT").await;
    }
    let upload = json!({ "path": "docs/a.csv", "text": large });
    fails(&served, UPLOAD, upload, "TOO_LARGE").await;
    assert_eq!(assets(&wiki).len(), 5);
    let reader = setup(&wiki, &["read:pages", "read:assets"]).serve().await;
    let upload = json!({ "path": "docs/a.csv", "text": "a" });
    let refused = reader.confirmed(UPLOAD, upload).await;
    assert_eq!(refused.unwrap_err()["details"]["right"], "write:assets");
    assert_eq!(assets(&wiki).len(), 5);
}

#[tokio::test]
async fn the_largest_file_that_the_wiki_takes_goes_up_and_comes_back() {
    let wiki = wiki().await;
    let served = served(&wiki).await;
    let large = "a".repeat(5 * 1024 * 1024);
    let upload = json!({ "path": "docs/a.csv", "text": large });
    is_applied(&served, UPLOAD, upload).await;
    assert_eq!(bytes_at(&wiki, "docs/a.csv").unwrap().len(), large.len());
    let delete = json!({ "path": "docs/a.csv" });
    let gone = served.confirmed(DELETE_ASSET, delete).await.unwrap();
    let undo = json!({ "callId": gone["callId"] });
    is_applied(&served, UNDO, undo).await;
    assert_eq!(bytes_at(&wiki, "docs/a.csv").unwrap().len(), large.len());
}

#[tokio::test]
async fn an_svg_that_the_wiki_sanitised_is_said_to_be_and_is_taken_back() {
    let wiki = wiki().await;
    let served = served(&wiki).await;
    let svg = "<svg><script>alert(1)</script><g></g></svg>";
    let upload = json!({ "path": "docs/a.svg", "text": svg });
    let preview = served.call(UPLOAD, upload.clone()).await.unwrap();
    begins(&warnings(&preview)[0], "svg_sanitised");
    let made = served.confirmed(UPLOAD, upload).await.unwrap();
    made.shows(json!({ "outcome": "applied", "unverified": ["content"] }));
    let bytes = bytes_at(&wiki, "docs/a.svg").unwrap();
    assert_eq!(bytes, b"<svg><g></g></svg>");
    let text = svg.replace("alert", "x").replace("<g>", "<g id='1'>");
    let other = json!({ "path": "docs/a.svg", "text": text, "replace": true });
    let other = served.confirmed(UPLOAD, other).await.unwrap();
    assert_eq!(other["unverified"], json!(["content"]));
    let undo = json!({ "callId": other["callId"] });
    is_applied(&served, UNDO, undo).await;
    let bytes = bytes_at(&wiki, "docs/a.svg").unwrap();
    assert_eq!(bytes, b"<svg><g></g></svg>");
    let undo = json!({ "callId": made["callId"] });
    let undone = served.confirmed(UNDO, undo).await.unwrap();
    assert_eq!(undone["operation"], "delete-asset");
    assert_eq!(bytes_at(&wiki, "docs/a.svg"), None);
}

/// A server before which something lies that does this to what it sends.
async fn behind(wiki: &DemoWiki, fault: Fault) -> (Served, FaultyWiki) {
    let faulty = FaultyWiki::before(wiki).await;
    faulty.on_mutations(fault);
    let key = wiki.key_with(&RIGHTS, "");
    let setup = Setup::at(&faulty.address(), &key).toolsets("pages,undo,proposals,assets");
    let setup = setup.with("WIKI_HTTP_WRITE_TIMEOUT_MS", "1000");
    (setup.serve().await, faulty)
}

#[tokio::test]
async fn an_answer_that_is_lost_is_found_out_by_reading() {
    let path = "docs/list.csv";
    let new = json!({ "path": "docs/new.csv", "text": "x" });
    let over = json!({ "path": path, "text": "x", "replace": true });
    let rename = json!({ "path": path, "name": "other.csv" });
    for (tool, arguments, path) in [
        (UPLOAD, new, "docs/new.csv"),
        (UPLOAD, over, path),
        (RENAME_ASSET, rename, "docs/other.csv"),
        (DELETE_ASSET, json!({ "path": path }), "docs/plan.png"),
    ] {
        let wiki = wiki().await;
        let lost = Fault::new(Reach::Before, Reply::Cut);
        let (served, faulty) = behind(&wiki, lost).await;
        is_applied(&served, tool, arguments).await;
        assert!(bytes_at(&wiki, path).is_some(), "{tool}");
        assert_eq!(faulty.mutations().len(), 1, "{tool}");
    }
}

#[tokio::test]
async fn what_never_reached_the_wiki_is_not_said_to_be_written() {
    let new = |path: &str| json!({ "path": path, "text": "x", "createFolders": true });
    let list = json!({ "path": "docs/list.csv" });
    for (tool, arguments, told) in [
        (UPLOAD, new("docs/new.csv"), "OUTCOME_UNKNOWN"),
        // Where its folder could not be made, the file was not sent.
        (UPLOAD, new("docs/new/list.csv"), "NOT_APPLIED"),
        (DELETE_ASSET, list, "OUTCOME_UNKNOWN"),
    ] {
        let wiki = wiki().await;
        let (served, faulty) = behind(&wiki, Fault::new(Reach::Never, Reply::Cut)).await;
        confirmed_fails(&served, tool, arguments, told).await;
        assert_eq!(assets(&wiki).len(), 5);
        assert_eq!(faulty.mutations().len(), 1, "{tool}");
    }
}

#[tokio::test]
async fn an_upload_that_stored_nothing_is_not_applied_whatever_the_wiki_says() {
    let wiki = wiki().await;
    let served = served(&wiki).await;
    let upload = json!({ "path": "docs/new.csv", "text": "x" });
    let preview = served.call(UPLOAD, upload).await.unwrap();
    wiki.before_next_mutation(Store::remove_folders);
    let confirm = json!({ "path": "docs/new.csv", "confirm": preview["confirm"] });
    fails(&served, UPLOAD, confirm, "NOT_APPLIED").await;
    assert_eq!(bytes_at(&wiki, "docs/new.csv"), None);
}

#[tokio::test]
async fn gates_hold_for_the_path_of_an_asset() {
    let wiki = wiki().await;
    let upload = json!({ "path": "docs/new.csv", "text": "x" });
    let only = "WIKI_ALLOWED_MUTATION_PATH_PREFIXES";
    for (name, value, code) in [
        ("WIKI_MUTATIONS_ENABLED", "false", "MUTATIONS_DISABLED"),
        ("WIKI_DENIED_MUTATION_PATH_PREFIXES", "docs", "PATH_DENIED"),
        (only, "other", "PATH_NOT_ALLOWED"),
    ] {
        let served = setup(&wiki, &RIGHTS).with(name, value).serve().await;
        fails(&served, UPLOAD, upload.clone(), code).await;
    }
    let rule = "[[rules]]\nname = \"none\"\noperations = [\"delete-asset\"]\nthen = \"deny\"\nwhy = \"People show them.\"\n";
    let ruled = setup(&wiki, &RIGHTS).with_tables(rule).serve().await;
    let delete = json!({ "path": "docs/plan.png" });
    fails(&ruled, DELETE_ASSET, delete, "RULE_DENIED").await;
    is_applied(&ruled, UPLOAD, upload).await;
    assert_eq!(assets(&wiki).len(), 6);
}

#[tokio::test]
async fn assets_of_a_dry_run_are_proposals_that_show_no_bytes() {
    let (wiki, served) = with_server(wiki().await, |wiki| setup(wiki, &RIGHTS).dry()).await;
    let upload = json!({ "path": "docs/new.png", "base64": PNG });
    let one = served.call(UPLOAD, upload).await.unwrap();
    let shown = json!({ "id": one["proposal"] });
    let shown = served.call(GET_PROPOSAL, shown).await.unwrap();
    let shown = shown.to_string();
    says(&shown, "upload-asset");
    says(&shown, "sha256");
    lacks(&shown, PNG);
    assert_eq!(assets(&wiki).len(), 5);
}

#[tokio::test]
async fn the_pages_that_show_an_asset_are_named_as_far_as_they_may_be_read() {
    let wiki = wiki_of(&[
        ("docs/a", "# A\n\n![plan](/docs/plan.png)\n"),
        ("docs/b", "<img src=\"https://wiki.lan/docs/plan.png\">\n"),
        ("docs/c", "/other/docs/plan.png and docs/plan.png.bak\n"),
        ("docs/e", "![plan](plan.png) [it](../docs/./plan.png)\n"),
        ("docs/f", "<img src=\"plan.png\">\n"),
        ("other/g", "![another](plan.png)\n"),
        ("vault/d", "![plan](/docs/plan.png)\n"),
    ])
    .await;
    wiki.with_store(|store| store.add_asset("docs/plan.png", "image/png", &png()));
    let bounded = setup(&wiki, &RIGHTS).toolsets("assets").indexed();
    let bounded = bounded.with("WIKI_DENIED_READ_PATH_PREFIXES", "vault");
    let bounded = bounded.serve().await;
    let get = json!({ "path": "docs/plan.png", "usedBy": true });
    let told = bounded.checked(GET_ASSET, get.clone()).await.unwrap();
    let mut found = members(&told, "usedBy", "path");
    found.sort_unstable();
    assert_eq!(found, ["docs/a", "docs/b", "docs/e", "docs/f"], "{told}");
    let setup = setup(&wiki, &RIGHTS).with("WIKI_INDEX", "off");
    let off = setup.serve().await;
    let told = off.checked(GET_ASSET, get).await.unwrap();
    assert!(told["unavailable"]["usedBy"].is_string(), "{told}");
}

#[tokio::test]
async fn pages_that_would_show_an_asset_no_more_are_named_before_it_goes() {
    let wiki = wiki_of(&[
        ("docs/a", "# A\n\n![plan](plan.png)\n"),
        ("vault/d", "![plan](/docs/plan.png)\n"),
    ])
    .await;
    wiki.with_store(|store| store.add_asset("docs/plan.png", "image/png", &png()));
    let bounded = setup(&wiki, &RIGHTS).toolsets("pages,assets").indexed();
    let bounded = bounded.with("WIKI_DENIED_READ_PATH_PREFIXES", "vault");
    let served = bounded.serve().await;
    let get = json!({ "path": "docs/plan.png", "usedBy": true });
    served.checked(GET_ASSET, get).await.unwrap();
    let path = "docs/plan.png";
    for (tool, arguments) in [
        (DELETE_ASSET, json!({ "path": path })),
        (RENAME_ASSET, json!({ "path": path, "name": "new.png" })),
    ] {
        let preview = served.checked(tool, arguments).await.unwrap();
        let named = warnings(&preview).into_iter();
        let named: Vec<_> = named.filter(|one| one.starts_with("asset_used")).collect();
        assert_eq!(named.len(), 1, "{preview}");
        assert!(named[0].ends_with("no more: docs/a."), "{preview}");
    }
    let other = json!({ "path": path, "base64": STANDARD.encode(other_png()), "replace": true });
    let preview = served.checked(UPLOAD, other).await.unwrap();
    assert!(!preview.to_string().contains("asset_used"), "{preview}");
}

#[tokio::test]
async fn an_asset_is_read_by_the_address_that_an_answer_gives() {
    let wiki = wiki().await;
    let odd = ["en/a.csv", "\u{65e5}/a.csv"];
    wiki.with_store(|store| {
        for path in odd {
            store.add_asset(path, "text/csv", b"a\n");
        }
    });
    let served = served(&wiki).await;
    for path in ["docs/plan.png", "root.bin"].into_iter().chain(odd) {
        let by_path = json!({ "path": path });
        let by_path = served.checked(GET_ASSET, by_path).await.unwrap();
        let by_url = json!({ "path": by_path["url"] });
        let by_url = served.checked(GET_ASSET, by_url).await.unwrap();
        assert_eq!(by_url, by_path);
    }
    for url in [
        "https://elsewhere.example/docs/plan.png",
        "http://",
        "https://[",
    ] {
        fails(&served, GET_ASSET, json!({ "path": url }), "INVALID_INPUT").await;
    }
}

#[tokio::test]
async fn a_conflict_speaks_of_the_asset_and_an_old_name_that_is_taken_is_said_at_once() {
    let wiki = wiki().await;
    let served = served(&wiki).await;
    let rename = json!({ "path": "docs/plan.png", "name": "old-plan.png" });
    let made = served.confirmed(RENAME_ASSET, rename).await.unwrap();
    wiki.with_store(|store| store.add_asset("docs/plan.png", "image/png", &other_png()));
    let undo = json!({ "callId": made["callId"] });
    let refused = fails(&served, UNDO, undo, "PAGE_EXISTS").await;
    says(&refused.to_string(), "an asset or a folder of that name");

    let delete = json!({ "path": "docs/list.csv" });
    let preview = served.checked(DELETE_ASSET, delete).await.unwrap();
    wiki.with_store(|store| {
        let id = store
            .assets()
            .find(|one| one.filename == "list.csv")
            .unwrap()
            .id;
        let asset = store.asset_mut(id).unwrap();
        asset.data = b"c,d\n".to_vec();
        asset.updated_at = "2031-01-01T00:00:00.000Z".to_owned();
    });
    let confirm = json!({ "path": "docs/list.csv", "confirm": preview["confirm"] });
    let refused = fails(&served, DELETE_ASSET, confirm, "EDIT_CONFLICT").await;
    let message = refused["message"].as_str().unwrap();
    begins(message, "The asset was changed since this write was shown.");
}

/// An answer as the docs show it, with what differs from run to run replaced.
pub(crate) fn steady_answer(answer: &Value, address: &str) -> String {
    let id_of_call = Regex::new(r"[0-9a-f]{64}|[0-9a-f]{32}|[0-9a-f]{16}").unwrap();
    let times = Regex::new(r"20\d\d-\d\d-\d\dT[0-9:.]+Z").unwrap();
    let told = format!("```json\n{answer:#}\n```\n").replace(address, "https://wiki.lan");
    let told = id_of_call.replace_all(&told, |found: &Captures<'_>| {
        let id = "5d0c91f2a7e34b68e01f7a2b9c3d4e5f";
        match found[0].len() {
            64 => found[0].to_owned(),
            length => id.chars().take(length).collect::<String>(),
        }
    });
    times
        .replace_all(&told, "2026-11-23T09:00:00.000Z")
        .into_owned()
}

/// A file told step by step: what docs/assets.md shows.
#[tokio::test]
async fn the_walk_in_the_docs_is_what_the_program_says() {
    let wiki = wiki().await;
    let address = wiki.address();
    let shown = |marker: &str, answer: &Value| {
        let told = steady_answer(answer, &address);
        generated("docs/assets.md", marker, &told, str::to_owned);
    };
    let server = served(&wiki).await;
    let folder = json!({ "folder": "docs" });
    shown("list", &checked_ok(&server, LIST_ASSETS, folder).await);
    let (path, png) = ("docs/plan.png", STANDARD.encode(other_png()));
    let upload = json!({ "path": path, "base64": png, "replace": true });
    let preview = checked_ok(&server, UPLOAD, upload).await;
    shown("preview", &preview);
    let confirm = json!({ "path": path, "confirm": preview["confirm"] });
    let made = checked_ok(&server, UPLOAD, confirm).await;
    shown("uploaded", &made);
    let undo = json!({ "callId": made["callId"] });
    let undone = server.confirmed(UNDO, undo).await.unwrap();
    shown("undone", &undone);
}

#[tokio::test]
async fn an_undo_follows_an_asset_that_an_undo_uploaded_again() {
    let wiki = wiki().await;
    let served = served(&wiki).await;
    let undo = async |done: &Value| {
        let arguments = json!({ "callId": done["callId"] });
        served.confirmed(UNDO, arguments).await
    };
    let upload = json!({ "path": "docs/new.png", "base64": PNG });
    let made = served.confirmed(UPLOAD, upload).await.unwrap();
    let rename = json!({ "path": "docs/new.png", "name": "newer.png" });
    let renamed = served.confirmed(RENAME_ASSET, rename).await.unwrap();
    let path = json!({ "path": "docs/newer.png" });
    let gone = served.confirmed(DELETE_ASSET, path).await.unwrap();
    let back = undo(&gone).await.unwrap();
    assert_ne!(back["target"]["asset"], made["target"]["asset"]);
    let undone = undo(&renamed).await.unwrap();
    assert_eq!(undone["outcome"], "applied", "{undone}");
    assert_eq!(undone["target"]["asset"], back["target"]["asset"]);
    assert_eq!(bytes_at(&wiki, "docs/new.png").unwrap(), png());
    let undone = undo(&made).await.unwrap();
    assert_eq!(undone["operation"], "delete-asset", "{undone}");
    assert_eq!(bytes_at(&wiki, "docs/new.png"), None);
}
