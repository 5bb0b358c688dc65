use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::LocalStore;
use crate::store::LeaseMode::Alone;
use crate::store::testing::{Two, store_suite};
use crate::store::{
    Blobs as _, DocumentKind, Documents as _, LeaseName, Leases as _, Listed, Runs as _, Store,
    StoreError, make_room,
};

fn two() -> (Two, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let make = || -> Arc<dyn Store> { Arc::new(LocalStore::new(dir.path(), "docs")) };
    ([make(), make()], dir)
}

store_suite!(two());

fn store() -> (LocalStore, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (LocalStore::new(dir.path(), "docs"), dir)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn what_is_written_is_private_and_leaves_nothing_else() {
    let (store, dir) = store();
    let kind = DocumentKind::Proposal;
    store.write_document(kind, "a", b"{}").unwrap();
    store.write_document(kind, "a", b"{ }").unwrap();
    store.put_blob("ab", b"x").unwrap();
    let wiki = dir.path().join("docs");
    assert_eq!(names(&wiki.join("proposals")), ["a.json"]);
    assert_eq!(names(&wiki.join("pages")), ["ab.json.gz"]);
    let mode = |path: &str| wiki.join(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("proposals/a.json"), 0o600);
    assert_eq!(mode("pages/ab.json.gz"), 0o600);
    assert_eq!((mode("proposals"), mode("")), (0o700, 0o700));
}

#[test]
fn a_write_that_fails_leaves_what_was_there() {
    let (store, dir) = store();
    let kind = DocumentKind::Proposal;
    store.write_document(kind, "a", b"first").unwrap();
    // A directory in the way makes the rename fail, for root too.
    fs::create_dir(dir.path().join("docs/proposals/b.json")).unwrap();
    assert!(store.write_document(kind, "b", b"second").is_err());
    let there = names(&dir.path().join("docs/proposals"));
    assert_eq!(there, ["a.json", "b.json"]);
    assert_eq!(store.document(kind, "a").unwrap().unwrap(), b"first");
}

#[test]
fn what_is_no_file_is_no_document() {
    let (store, dir) = store();
    let proposals = dir.path().join("docs/proposals");
    fs::create_dir_all(&proposals).unwrap();
    fs::write(dir.path().join("elsewhere"), "{}").unwrap();
    fs::create_dir(proposals.join("directory.json")).unwrap();
    symlink(dir.path().join("elsewhere"), proposals.join("link.json")).unwrap();
    for (name, why) in [("directory", "is not a file"), ("link", "is a link")] {
        let read = store.document(DocumentKind::Proposal, name);
        assert_eq!(read, Err(StoreError::Unfit(why)));
    }
    // A name never leads out of its directory by a link that somebody puts in the place of a lock.
    let turns = dir.path().join("docs/turns");
    fs::create_dir(&turns).unwrap();
    symlink(dir.path().join("elsewhere"), turns.join("7.lock")).unwrap();
    assert!(store.try_lease(&LeaseName::page(7), Alone).is_err());
}

#[test]
fn nobody_waits_for_a_pipe_in_the_place_of_a_file() {
    let (store, dir) = store();
    let own = dir.path().join("docs");
    for place in ["runs.count", "pages/a.json.gz"] {
        let pipe = own.join(place);
        fs::create_dir_all(pipe.parent().unwrap()).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
    }
    assert!(store.run_count().is_err());
    assert_eq!(store.blob("a", 9), Ok(Some(Vec::new())));
    assert!(store.end_of_blob("a", 1).is_err());
}

#[test]
fn a_document_of_a_hundred_megabytes_is_refused() {
    let (store, dir) = store();
    for (kind, place) in [
        (DocumentKind::Proposal, "docs/proposals/a.json"),
        (DocumentKind::Draft, "docs/drafts/a.json"),
        (DocumentKind::Memories, "docs/memory/a.jsonl"),
        (DocumentKind::Pause, "PAUSED.json"),
        (DocumentKind::AnchorFault, "docs/anchors.fault"),
    ] {
        store.write_document(kind, "a", b"{}").unwrap();
        let file = fs::File::options().write(true).open(dir.path().join(place));
        file.unwrap().set_len(100 << 20).unwrap();
        let read = store.document(kind, "a");
        assert_eq!(read, Err(StoreError::Unfit("is too large")), "{kind:?}");
    }
}

#[test]
fn a_lock_file_that_was_removed_locks_nobody_out_for_good() {
    let (store, dir) = store();
    drop(store.try_lease(&LeaseName::TREE, Alone).unwrap().unwrap());
    fs::remove_file(dir.path().join("docs/tree.lock")).unwrap();
    drop(store.try_lease(&LeaseName::TREE, Alone).unwrap().unwrap());
}

#[test]
fn what_a_killed_process_left_of_its_leases_is_removed_and_what_is_held_stays() {
    let (store, dir) = store();
    let turns = dir.path().join("docs/turns");
    let held = store.try_lease(&LeaseName::page(7), Alone).unwrap();
    fs::write(turns.join("8.lock"), "").unwrap();
    // Leftover files lock nobody out.
    drop(
        store
            .try_lease(&LeaseName::page(8), Alone)
            .unwrap()
            .unwrap(),
    );
    fs::write(turns.join("9.next.lock"), "").unwrap();
    store.sweep_leases().unwrap();
    assert_eq!(names(&turns), ["7.lock"]);
    drop(held);
    assert_eq!(names(&turns), [""; 0]);
}

#[test]
fn of_too_many_documents_the_oldest_of_whoever_has_most_goes() {
    const KIND: DocumentKind = DocumentKind::Preview;
    let dir = tempfile::tempdir().unwrap();
    let store = LocalStore::new(dir.path(), "");
    let begun = SystemTime::now() - Duration::from_mins(1);
    let mut seconds = 0;
    let mut add = |most: usize, owner: &str| {
        make_room(&store, KIND, owner, (most, Duration::from_hours(1))).unwrap();
        seconds += 1;
        let name = format!("set.{owner}.{seconds}");
        store.write_document(KIND, &name, b"x").unwrap();
        let file = std::fs::File::open(store.document_path(KIND, &name)).unwrap();
        file.set_modified(begun + Duration::from_secs(seconds))
            .unwrap();
        let mut all = store.documents(KIND).unwrap();
        all.sort_by_key(|one| one.changed);
        let of = |one: Listed| one.name.trim_start_matches("set.").to_owned();
        all.into_iter().map(of).collect::<Vec<_>>().join(" ")
    };
    add(30, "small");
    add(30, "large");
    add(30, "large");
    assert_eq!(add(30, "large"), "small.1 large.2 large.3 large.4");
    // A client's own go first: it has its share.
    assert_eq!(add(30, "large"), "small.1 large.3 large.4 large.5");
    // There is no room for more: whoever has most gives way.
    for owner in ["a", "b", "c", "d", "e", "f"] {
        add(30, owner);
    }
    let left = add(10, "other");
    assert!(left.starts_with("small.1 large.4 large.5 a.6"), "{left}");
}
