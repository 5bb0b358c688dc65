//! What the mirror keeps goes into backups and copies, and its faults are told.

use super::bin::{self, look, operators_in, they_delete, with_dressed};
use super::fields;
use crate::prelude::*;

type Fields = BTreeMap<&'static str, Value>;

/// A wiki from which a page went that a server's mirror had seen, with its fields.
async fn with_a_page_gone() -> (DemoWiki, Served, Fields) {
    let mirrored = |wiki: &DemoWiki| Setup::admin(wiki).with("WIKI_MIRROR", "on");
    let (wiki, served, id) = with_dressed(mirrored).await;
    let before = fields(&wiki, id);
    confirmed_ok(&served, DELETE, json!({ "id": id })).await;
    look(&served).await;
    (wiki, served, before)
}

/// The page comes back out of this directory.
async fn comes_back(wiki: &DemoWiki, dir: &Path, before: &Fields) {
    let restore = ["bin", "restore", "docs/dressed", "--yes", "--json"];
    let told = operators_in(wiki, dir, &restore).good().await.stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    let new = told["target"]["id"].as_i64().unwrap();
    assert_eq!(&fields(wiki, new), before);
}

async fn checked(wiki: &DemoWiki, dir: &Path) -> (Ended, Value) {
    let ended = operators_in(wiki, dir, &["store", "check", "--json"])
        .end()
        .await;
    let told = ended.json();
    (ended, told)
}

#[tokio::test]
async fn a_backup_brings_the_bin_back_and_a_lost_state_is_named() {
    let (wiki, served, before) = with_a_page_gone().await;
    let elsewhere = TempDir::new().unwrap();
    let to = elsewhere.path().join("backup");
    let backup = ["store", "backup", to.to_str().unwrap(), "--json"];
    operators_in(&wiki, served.dir.path(), &backup).good().await;
    comes_back(&wiki, &to, &before).await;
    let states = wiki_dir(&to).join("mirror/pages");
    let one = states.read_dir().unwrap().next().unwrap().unwrap();
    fs::remove_file(one.path()).unwrap();
    let (ended, told) = checked(&wiki, &to).await;
    assert_eq!((ended.code, &told["whole"]), (1, &json!(false)));
    says(&told["broken"].to_string(), "mirror: of page ");
    let part = "1 of 1 states are missing or damaged";
    says(&told["broken"].to_string(), part);
    let is_lines = |path: &PathBuf| {
        let name = path.file_stem().unwrap();
        path.is_file() && name != "look"
    };
    let documents = fs::read_dir(wiki_dir(&to).join("mirror/seen")).unwrap();
    let mut documents = documents.map(|one| one.unwrap().path());
    let document = documents.find(is_lines).unwrap();
    fs::write(&document, "nonsense").unwrap();
    let name = document.file_stem().unwrap().to_str().unwrap();
    let named = format!("the mirror's document {name} is damaged");
    says(&checked(&wiki, &to).await.1["broken"].to_string(), &named);
}

#[tokio::test]
async fn a_damaged_document_is_named_and_the_other_pages_of_the_bin_are_listed() {
    let wiki = wiki_of(&[("a", "a\n"), ("b", "b\n"), ("c", "c\n")]).await;
    let served = bin::setup(&wiki).serve().await;
    look(&served).await;
    let [a, b] = ["a", "b"].map(|path| id_of(&wiki, path));
    for id in [a, b] {
        they_delete(&wiki, id).await;
    }
    look(&served).await;
    let document = |id: i64| wiki_dir(served.dir.path()).join(format!("mirror/seen/{id:02x}.json"));
    assert!(document(a).exists());
    let command = |arguments: &[&str]| operators_in(&wiki, served.dir.path(), arguments);
    let named =
        |id: i64| format!("pages may be missing: the mirror's document {id:02x} is damaged");

    fs::write(document(a), "nonsense").unwrap();
    let listed = call_ok(&served, bin::LIST_BIN, json!({})).await;
    assert_eq!(members(&listed, "pages", "path"), ["b"]);
    says(&listed["incomplete"][0].to_string(), &named(a));
    let list = command(&["bin", "list"]).end().await;
    assert_eq!(list.code, 1);
    says(&list.stdout, "en:b");
    says(&list.stderr, &named(a));
    says(&list.stderr, "restore it from a backup");
    command(&["bin", "show", "b"]).good().await;
    let shown = command(&["bin", "show", "a"]).end().await;
    says(&shown.stderr, "is damaged");
    fails(
        &served,
        bin::RESTORE,
        json!({ "page": "a" }),
        "AUDIT_UNAVAILABLE",
    )
    .await;

    // Nothing that can be read is left; the bin is not called empty.
    fs::write(document(b), "nonsense").unwrap();
    let list = command(&["bin", "list", "--json"]).end().await;
    assert_eq!((list.code, &list.json()["pages"]), (1, &json!([])));
    says(&list.json()["incomplete"][1].to_string(), &named(b));
    let list = command(&["bin", "list"]).end().await;
    assert_eq!((list.code, list.stdout.as_str()), (1, ""));
}

#[tokio::test]
async fn a_copy_takes_the_bin_along() {
    let (wiki, served, before) = with_a_page_gone().await;
    let dir = served.dir.clone();
    served.client.cancel().await.unwrap();
    drop(served.app);
    let elsewhere = TempDir::new().unwrap();
    let copy = ["store", "copy", "--to", elsewhere.path().to_str().unwrap()];
    operators_in(&wiki, dir.path(), &copy).good().await;
    comes_back(&wiki, elsewhere.path(), &before).await;
    let (ended, told) = checked(&wiki, elsewhere.path()).await;
    assert_eq!(ended.code, 0, "{told}");
}

#[tokio::test]
async fn doctor_and_metrics_tell_when_the_wiki_was_looked_at_last() {
    let (wiki, served, _) = with_a_page_gone().await;
    let told = operators_in(&wiki, served.dir.path(), &["doctor"])
        .end()
        .await;
    let part = "2 pages, 1 of them gone, in 2 states of 0 MB; looked at last: ";
    says(&told.stdout, part);
    let empty = TempDir::new().unwrap();
    let told = operators_in(&wiki, empty.path(), &["doctor"]).end().await;
    says(&told.stdout, "nobody has looked at the wiki yet");
    let setup = Setup::admin(&wiki).with("WIKI_MIRROR", "on");
    let host = setup.in_dir(&served.dir).host().await;
    let told = host.get("/metrics").await.body;
    let age = told
        .lines()
        .find_map(|line| line.strip_prefix("wikijs_gate_mirror_look_age_seconds "));
    assert!(age.unwrap().parse::<u64>().unwrap() < 60, "{told}");
}

/// Needs a file system of its own; skipped where this user may not make one.
#[tokio::test]
async fn a_disk_that_fills_during_a_look_leaves_what_the_next_look_completes() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    for number in 0..40_u64 {
        wiki.with_page(page(&format!("docs/p{number}"), &noise(number)));
    }
    let dir = TempDir::new().unwrap();
    let lines = "mount -t tmpfs -o size=96k none \"$WIKI_AUDIT_DIR\" || exit 77; \"$0\" bin list; mount -o remount,size=16m \"$WIKI_AUDIT_DIR\"; \"$0\" bin list; \"$0\" doctor";
    let mut shell = std::process::Command::new("unshare");
    shell
        .args(["-rm", "/bin/sh", "-c", lines])
        .arg(env!("CARGO_BIN_EXE_wikijs-gate"))
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("WIKI_BASE_URL", wiki.address())
        .env("WIKI_API_TOKEN", &wiki.keys().admin)
        .env("WIKI_AUDIT_DIR", dir.path())
        .env("WIKI_MIRROR", "on");
    let ended = tokio::task::spawn_blocking(move || shell.output())
        .await
        .unwrap();
    let Ok(ended) = ended else { return };
    let told = String::from_utf8_lossy(&ended.stdout).into_owned();
    let errors = String::from_utf8_lossy(&ended.stderr).into_owned();
    if !told.contains("the bin is empty") {
        assert!(
            !errors.contains("the wiki could not be looked at"),
            "{told}{errors}"
        );
        return;
    }
    says(&errors, "the wiki could not be looked at: ");
    says(&errors, "disk is full");
    says(&told, "40 pages, 0 of them gone, in 40 states");
}

#[tokio::test]
async fn a_look_has_a_few_large_pages_in_memory_at_a_time() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let text = "word ".repeat(400_000);
    for number in 0..100 {
        wiki.with_page(page(&format!("docs/p{number}"), &text));
    }
    let (address, key) = (wiki.address(), wiki.keys().admin.clone());
    let most = tokio::task::spawn_blocking(move || {
        let dir = TempDir::new().unwrap();
        let settings = [
            ("WIKI_MIRROR", "on"),
            ("WIKI_INDEX", "off"),
            ("WIKI_LOG", "debug"),
        ];
        let mut program = Program::writing(&address, &key, dir.path(), &settings);
        let told = program.logged("the mirror is up to date").pop().unwrap();
        says(&told, "kept=100");
        let most = program.most_memory();
        program.stopped();
        most
    });
    let most = most.await.unwrap() >> 20;
    // All of them together take 200 MB.
    assert!(most < 190, "{most} MB");
}

/// A text that hardly becomes smaller.
fn noise(seed: u64) -> String {
    let mut number = seed;
    let letters = std::iter::repeat_with(|| {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        char::from(b"abcdefghijklmnop"[usize::try_from(number >> 60).unwrap()])
    });
    letters.take(6_000).collect()
}
