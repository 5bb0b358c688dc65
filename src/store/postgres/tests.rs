#![expect(
    clippy::disallowed_methods,
    reason = "the tests start servers of their own"
)]

mod attacks;
mod cluster;
mod databases;
mod encrypted;
mod failover;
mod pooler;
mod proxy;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cluster::SHARED;

use super::holder::HolderTimes;
use super::{Database, PostgresStore};
use crate::store::testing::{Two, store_suite};
use crate::store::{
    Durability, Lease, LeaseMode, LeaseName, Leases as _, Runs as _, Store, StoreError,
};

/// The end of all that a test waits for.
const PATIENCE: Duration = Duration::from_mins(1);
/// Times of a process that is never renewed, and lives shortly.
const SILENT: HolderTimes = HolderTimes {
    lasts: Duration::from_millis(600),
    renewed_every: PATIENCE,
};

fn two() -> (Two, ()) {
    let schema = SHARED.schema();
    let make = || -> Arc<dyn Store> { Arc::new(usual(&schema)) };
    ([make(), make()], ())
}

store_suite!(two(), #[ignore = "needs PostgreSQL: .ci/postgres"]);

/// The store of a process of its own.
fn store(schema: &str, times: HolderTimes) -> PostgresStore {
    PostgresStore::new(Arc::new(SHARED.process(schema, times)), "docs")
}

/// One of the usual times.
fn usual(schema: &str) -> PostgresStore {
    store(schema, HolderTimes::USUAL)
}

/// A lease for one alone, if it is free.
fn alone(store: &PostgresStore, name: &LeaseName) -> Option<Lease> {
    store.try_lease(name, LeaseMode::Alone).unwrap()
}

/// Asks until the answer is yes.
fn until(mut asked: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !asked() {
        assert!(begun.elapsed() < PATIENCE, "it does not come");
        std::thread::yield_now();
    }
}

fn read(store: &PostgresStore, run: &str, at_once: usize) -> Vec<u8> {
    let mut bytes = store.open_run(run).unwrap().unwrap();
    let mut all = Vec::new();
    let mut part = vec![0; at_once];
    loop {
        let start = u64::try_from(all.len()).unwrap();
        match bytes.read_at(start, &mut part).unwrap() {
            0 => return all,
            count => all.extend_from_slice(&part[..count]),
        }
    }
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn in_place_of_removed_rows_of_a_run_stands_one_line_of_zeros() {
    let schema = SHARED.schema();
    let store = usual(&schema);
    let mut writer = store.begin_run("a", "1").unwrap();
    let large = [b"x".repeat(299_999), b"\n".to_vec()].concat();
    for line in [b"one\n", b"two\n", &*large, b"end\n"] {
        writer.append(line, Durability::Synced).unwrap();
    }
    SHARED.sql(&format!("DELETE FROM {schema}.line WHERE start = 4"));
    let rest = [b"one\n\0\0\0\n", &*large, b"end\n"].concat();
    assert!(read(&store, "a", 1 << 20) == rest);
    SHARED.sql(&format!("DELETE FROM {schema}.line WHERE start = 8"));
    let zeros = [vec![0; 300_003], b"\n".to_vec()].concat();
    let rest = [b"one\n", &*zeros, b"end\n"].concat();
    for at_once in [3000, 1 << 20] {
        assert!(read(&store, "a", at_once) == rest);
    }
    SHARED.sql(&format!(
        "UPDATE {schema}.line SET start = 5000000000 WHERE start > 8"
    ));
    let mut bytes = store.open_run("a").unwrap().unwrap();
    let refused = bytes.read_at(4, &mut [0; 9]).unwrap_err();
    assert!(
        refused.to_string().contains("removed or changed"),
        "{refused}"
    );
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_run_is_what_was_appended_to_it_from_any_byte_on() {
    let schema = SHARED.schema();
    let (one, two) = (usual(&schema), usual(&schema));
    assert!(two.open_run("a").unwrap().is_none());
    let mut writer = one.begin_run("a", "1").unwrap();
    assert_eq!(read(&two, "a", 10), b"");
    let mut expected = Vec::new();
    for (size, until) in [
        (1, Durability::Synced),
        (300_000, Durability::Soon),
        (0, Durability::Synced),
        (17, Durability::Soon),
        (262_144, Durability::Soon),
        (900_000, Durability::Synced),
        (5, Durability::Soon),
    ] {
        let lines: Vec<u8> = (0..=250)
            .cycle()
            .skip(expected.len() % 100)
            .take(size)
            .collect();
        writer.append(&lines, until).unwrap();
        expected.extend_from_slice(&lines);
    }
    assert!(read(&two, "a", 1 << 20) == expected);
    assert!(read(&two, "a", 4097) == expected);
    let mut bytes = two.open_run("a").unwrap().unwrap();
    let length = u64::try_from(expected.len()).unwrap();
    assert_eq!(bytes.synced_length().unwrap(), length);
    for start in [
        0,
        1,
        2,
        262_145,
        300_000,
        300_018,
        600_000,
        expected.len() - 1,
    ] {
        let mut part = [0; 3];
        let count = bytes
            .read_at(u64::try_from(start).unwrap(), &mut part)
            .unwrap();
        assert!(count > 0, "{start}");
        assert_eq!(part[..count], expected[start..start + count], "{start}");
    }
    assert_eq!(bytes.read_at(length, &mut [0; 3]).unwrap(), 0);
    assert_eq!(bytes.read_at(length + 10, &mut [0; 3]).unwrap(), 0);
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn runs_are_counted_listed_held_left_and_removed() {
    let schema = SHARED.schema();
    let (one, two) = (usual(&schema), usual(&schema));
    assert_eq!(two.run_count().unwrap(), None);
    let mut writer = one.begin_run("b", "1").unwrap();
    let other = one.begin_run("a", "2").unwrap();
    assert_eq!(two.run_count().unwrap().as_deref(), Some("2"));
    let run = two.begin_run("a", "9").unwrap_err();
    assert_eq!(run, StoreError::Io(std::io::ErrorKind::AlreadyExists));
    assert_eq!(two.run_count().unwrap().as_deref(), Some("2"));
    writer.append(b"line\n", Durability::Synced).unwrap();
    drop(other);
    let listed = two.runs().unwrap();
    let told = |it: &crate::store::ListedRun| (it.name.clone(), it.length, it.is_held);
    let told: Vec<_> = listed.iter().map(told).collect();
    let expected = [
        ("a".to_owned(), 0, Ok(false)),
        ("b".to_owned(), 5, Ok(true)),
    ];
    assert_eq!(told, expected);
    assert!(!two.remove_run("b").unwrap());
    assert!(two.remove_run("a").unwrap());
    assert!(!two.remove_run("a").unwrap());
    drop(writer);
    assert!(two.remove_run("b").unwrap());
    assert!(two.open_run("b").unwrap().is_none());
    let sql = SHARED.sql(&format!("SELECT count(*) FROM {schema}.line"));
    assert_eq!(sql, "0");
    // Another wiki of the same schema has runs of its own.
    let elsewhere = PostgresStore::new(
        Arc::new(SHARED.process(&schema, HolderTimes::USUAL)),
        "other",
    );
    let _writer = elsewhere.begin_run("a", "1").unwrap();
    assert_eq!(two.runs().unwrap(), []);
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_process_that_ends_gives_everything_back_at_once() {
    let schema = SHARED.schema();
    let (one, two) = (usual(&schema), usual(&schema));
    let lease = alone(&one, &LeaseName::TREE).unwrap();
    assert!(lease.is_sure());
    drop((one, lease));
    assert!(alone(&two, &LeaseName::TREE).is_some());
    let two = Database::new(SHARED.address("postgres", "postgres", &schema), None);
    drop(two);
    until(|| SHARED.sql(&format!("SELECT count(*) FROM {schema}.lease")) == "0");
}
