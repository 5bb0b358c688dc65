//! What is kept is bounded, and what goes is on record before it does.

use std::fs::File;
use std::time::SystemTime;

use time::OffsetDateTime;
use wikijs_gate::audit::{CallId, LineHash};

use crate::prelude::*;

fn setup(wiki: &DemoWiki) -> Setup {
    Setup::scripter(wiki)
}

async fn write(served: &Served, id: i64, content: &str) {
    let edits = json!({ "id": id, "content": content });
    served.confirmed(UPDATE, edits).await.unwrap();
}

fn pages(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(wiki_dir(dir).join("pages")).unwrap();
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    pages
}

/// Makes the kept pages old enough to go: none goes in its first hour.
fn age_pages(dir: &Path) {
    for page in pages(dir) {
        let hours_ago = SystemTime::now() - Duration::from_hours(2);
        File::open(page).unwrap().set_modified(hours_ago).unwrap();
    }
}

/// Writes a run again as if it had been written in that year.
pub(crate) fn written_in(run: &Path, year: &str) {
    let mut text = String::new();
    let mut prev = LineHash::FIRST;
    for line in fs::read_to_string(run).unwrap().lines() {
        let record = Record::parse(line.as_bytes()).unwrap();
        let (body, _) = line.rsplit_once(",\"hash\":").unwrap();
        let (_, day) = record.time.split_once('-').unwrap();
        let time = format!("{year}-{day}");
        let body = body.replace(&record.time, &time).replace(
            &format!("\"prev\":\"{}\"", record.prev),
            &format!("\"prev\":\"{prev}\""),
        );
        prev = LineHash::new(body.as_bytes());
        writeln!(text, "{body},\"hash\":\"{prev}\"}}").unwrap();
    }
    fs::write(run, text).unwrap();
}

/// The year, so many years ago.
pub(crate) fn years_ago(years: i32) -> String {
    (OffsetDateTime::now_utc().year() - years).to_string()
}

/// Waits until a file is gone.
async fn gone(path: &Path) {
    let gone = async {
        while path.exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone)
        .await
        .unwrap();
}

/// The names of the files that purges on record removed.
fn removed(served: &Served) -> Vec<String> {
    let records = served.records();
    let purges = records
        .iter()
        .filter(|record| record.event == AuditEvent::Purge);
    let removed = purges.flat_map(|purge| purge.removed.iter().flatten());
    let mut removed: Vec<String> = removed.map(|head| head.file.clone()).collect();
    removed.sort();
    removed
}

fn names(paths: &[PathBuf]) -> Vec<String> {
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut names: Vec<String> = paths.iter().map(name).collect();
    names.sort();
    names
}

#[tokio::test]
async fn what_is_too_old_is_purged_after_the_first_write_and_the_rest_stays() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "home");
    let old = setup(&wiki).serve().await;
    write(&old, id, "old\n").await;
    old.app.writer.finish().await;
    let dir = old.dir.path();
    let old_runs = runs(dir);
    written_in(&old_runs[0], "2001");
    age_pages(dir);
    let mut old_files = old_runs.clone();
    old_files.extend(pages(dir));

    // The records themselves have to say that time has passed.
    let between = setup(&wiki).in_dir_of(&old).serve().await;
    write(&between, id_of(&wiki, "glossary"), "between\n").await;
    between.app.writer.finish().await;
    let mut between = runs(dir);
    between.retain(|run| !old_runs.contains(run));
    written_in(&between[0], &years_ago(1));

    let young = setup(&wiki).in_dir_of(&old).serve().await;
    write(&young, id_of(&wiki, "docs"), "young\n").await;
    young.app.writer.finish().await;
    // A server that only reads purges nothing, and leaves no run.
    let young_files = runs(dir);

    let served = setup(&wiki).with("WIKI_AUDIT_KEEP_DAYS", "36500");
    let served = served.in_dir_of(&old).serve().await;
    served.call(TAGS, json!({})).await.unwrap();
    served.app.writer.finish().await;
    assert_eq!(runs(dir).len(), young_files.len());
    gone(&old_runs[0]).await;
    for file in &old_files {
        gone(file).await;
    }
    assert_eq!(removed(&served), names(&old_files));
    // What the young write kept is all there: it can be taken back.
    let undo = setup(&wiki).toolsets("undo").in_dir_of(&old).serve().await;
    let last = json!({ "callId": "last" });
    undo.confirmed(UNDO, last).await.unwrap();
}

#[tokio::test]
async fn what_is_too_much_is_purged_the_oldest_first() {
    let wiki = sample_wiki().await;
    // What cannot be compressed.
    let text = || -> String {
        (0..80_000)
            .map(|_| CallId::new().unwrap().to_string())
            .collect()
    };
    let old = setup(&wiki).serve().await;
    for path in ["home", "glossary", "releases/2-4", "docs/configuration"] {
        write(&old, id_of(&wiki, path), &text()).await;
    }
    old.app.writer.finish().await;
    let dir = old.dir.path();
    age_pages(dir);
    // In the order in which they were kept.
    let mut kept: Vec<String> = old
        .records()
        .iter()
        .filter_map(|record| record.after)
        .map(|state| format!("{state}.json.gz"))
        .collect();
    kept.dedup();
    let setup = setup(&wiki).with("WIKI_AUDIT_KEEP_MB", "1").in_dir_of(&old);
    let served = setup.serve().await;
    let size = |paths: &[PathBuf]| -> u64 {
        let length = |path: &PathBuf| path.metadata().unwrap().len();
        paths.iter().map(length).sum()
    };
    assert!(size(&pages(dir)) > 2 << 20);
    write(&served, id_of(&wiki, "docs"), "young\n").await;
    let [first, second, .., newest] = &kept[..] else {
        panic!("four: {kept:?}");
    };
    let directory = pages(dir)[0].parent().unwrap().to_owned();
    gone(&directory.join(first)).await;
    gone(&directory.join(second)).await;
    let removed = removed(&served);
    assert!(removed.contains(first) && removed.contains(second));
    assert!(!removed.contains(newest) && directory.join(newest).exists());
    served.app.writer.finish().await;
    assert!(size(&pages(dir)) <= 1 << 20);
    assert_eq!(runs(dir).len(), 2);
    // A write whose states went is on record, and cannot be taken back: nothing is broken.
    let records = old.records();
    let call = records
        .iter()
        .find_map(|record| record.after.and(record.call));
    let undo = Setup::scripter(&wiki).toolsets("undo").in_dir_of(&old);
    let undo = undo.serve().await;
    let gone = json!({ "callId": call.unwrap().to_string() });
    let refused = fails(&undo, UNDO, gone, "NOTHING_TO_UNDO").await;
    says(&refused["message"].to_string(), "is not kept any more");
}
