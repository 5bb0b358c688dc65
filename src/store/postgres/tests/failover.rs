//! Promotes a standby server in the database's place, and copies the record out of it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cluster::{Cluster, SHARED};
use super::proxy::ChaosProxy;
use super::until;
use crate::audit::{
    Against, AnchorSettings, Anchoring, AnchorsTo, AuditEntry, AuditEvent, AuditLog, CallId,
    DatabaseSettings, LogFinding, Outcome, StoreHome,
};
use crate::page::testing::But as _;
use crate::store::postgres::{Database, PostgresStore};
use crate::store::{DatabaseAddress, DocumentKind, Documents as _, Runs as _};

/// A log in the database behind an address, with the index in a directory.
fn log_at(address: &DatabaseAddress, directory: &Path) -> AuditLog {
    let database = DatabaseSettings {
        address: address.clone(),
        password: None,
    };
    let home = StoreHome::open(directory.to_owned(), Some(&database)).unwrap();
    AuditLog::new(home, "docs")
}

fn entry(call: CallId, event: AuditEvent) -> AuditEntry {
    AuditEntry::new(call, event)
}

/// Attempts a write and records its outcome, as a server does; the write counts as sent in between.
async fn write(log: &AuditLog, sent: &parking_lot::Mutex<Vec<CallId>>) -> bool {
    let call = CallId::new().unwrap();
    let Ok(on_record) = log.attempt(entry(call, AuditEvent::Attempt), &[]).await else {
        return false;
    };
    sent.lock().push(on_record.call());
    let outcome = entry(call, AuditEvent::Outcome).but(|it| it.outcome = Some(Outcome::Applied));
    log.record(outcome).await.is_ok()
}

/// How often each call's attempt is on record.
fn attempts(log: &AuditLog) -> HashMap<CallId, usize> {
    let mut attempts = HashMap::new();
    for run in log.store().runs().unwrap() {
        let bytes = log.store().open_run(&run.name).unwrap().unwrap();
        let text = std::io::read_to_string(crate::store::RunStream::new(bytes)).unwrap();
        for line in text.lines() {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            if record["event"] == "attempt" {
                let call = record["call"].as_str().unwrap().parse().unwrap();
                *attempts.entry(call).or_default() += 1;
            }
        }
    }
    attempts
}

/// All that is wrong, but that nobody confirmed these writes.
fn wrong(log: &AuditLog, against: &Against) -> Vec<LogFinding> {
    let mut found = log.upkeep.verify(against, |_, _| {}).unwrap();
    let is_ours = |found: &LogFinding| found.kind != "unconfirmed";
    found.wrong.retain(is_ours);
    found.wrong
}

/// A primary and its standby, and an address that leads to the primary.
struct StandbyPair {
    primary: Cluster,
    standby: Cluster,
    proxy: ChaosProxy,
    address: DatabaseAddress,
}

impl StandbyPair {
    fn start() -> Self {
        let primary = Cluster::start();
        let schema = primary.schema();
        let standby = primary.standby();
        let proxy = ChaosProxy::start(primary.directory());
        let text = format!(
            "postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable&schema={schema}",
            proxy.port()
        );
        until(|| primary.sql("SELECT state FROM pg_stat_replication") == "streaming");
        Self {
            address: DatabaseAddress::parse(&text).unwrap(),
            primary,
            standby,
            proxy,
        }
    }

    fn risk(&self) -> Option<String> {
        let database = Database::new(self.address.clone(), None).unwrap();
        database.failover_risk().unwrap()
    }

    /// The primary is gone, and the standby in its place.
    fn fail_over(&self) {
        self.primary.tell("kill", "killed\n");
        self.standby.sql("SELECT pg_promote()");
        self.proxy.lead_to(self.standby.directory());
    }
}

fn set(cluster: &Cluster, setting: &str) {
    cluster.sql(&format!("ALTER SYSTEM SET {setting}"));
    cluster.sql("SELECT pg_reload_conf()");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_synchronous_standby_in_place_of_a_killed_primary_has_all_that_was_sent() {
    const WRITERS: usize = 4;
    const EACH: usize = 10;
    let pair = Arc::new(StandbyPair::start());
    set(&pair.primary, "synchronous_standby_names = '*'");
    until(|| {
        pair.primary
            .sql("SELECT sync_state FROM pg_stat_replication")
            == "sync"
    });
    assert_eq!(pair.risk(), None);
    let directory = tempfile::tempdir().unwrap();
    let sent: Arc<parking_lot::Mutex<Vec<CallId>>> = Arc::default();
    let (before, after) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let has_failed_over = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| {
            let log = log_at(&pair.address, directory.path());
            let (sent, before, after) =
                (Arc::clone(&sent), Arc::clone(&before), Arc::clone(&after));
            let has_failed_over = Arc::clone(&has_failed_over);
            tokio::spawn(async move {
                let (mut until_then, mut since) = (0, 0);
                while since < EACH {
                    let is_after = has_failed_over.load(Ordering::SeqCst);
                    let is_done = write(&log, &sent).await;
                    match (is_done, is_after) {
                        (true, true) => since += 1,
                        // Every run has attempts by then: nobody waits for the beginning of one alone.
                        (true, false) if until_then < EACH => {
                            until_then += 1;
                            before.fetch_add(1, Ordering::SeqCst);
                        }
                        (true, false) => {}
                        // The database is away.
                        (false, _) => tokio::task::yield_now().await,
                    }
                }
                after.fetch_add(since, Ordering::SeqCst);
                log.close().await.unwrap();
            })
        })
        .collect();
    let operator = Arc::clone(&pair);
    tokio::task::spawn_blocking(move || {
        until(|| before.load(Ordering::SeqCst) >= WRITERS * EACH);
        operator.fail_over();
        has_failed_over.store(true, Ordering::SeqCst);
    })
    .await
    .unwrap();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(after.load(Ordering::SeqCst), WRITERS * EACH);
    let log = log_at(&pair.address, directory.path());
    let on_record = attempts(&log);
    for call in sent.lock().iter() {
        assert_eq!(on_record.get(call), Some(&1), "{call}");
    }
    assert_eq!(wrong(&log, &Against::default()), []);
    assert!(log.store().runs().unwrap().len() >= WRITERS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn what_an_asynchronous_standby_lost_is_found_by_the_anchors() {
    let pair = StandbyPair::start();
    let risk = pair.risk().unwrap();
    assert!(risk.contains("(1)"), "{risk}");
    assert!(risk.contains("synchronous_standby_names"), "{risk}");
    let directory = tempfile::tempdir().unwrap();
    let anchors = directory.path().join("anchors.jsonl");
    let sent = parking_lot::Mutex::default();
    let log = log_at(&pair.address, directory.path());
    let to = AnchorsTo::File(anchors.clone());
    Anchoring::set(&log.anchoring, AnchorSettings { to, key: None });
    assert!(write(&log, &sent).await);
    let kept = pair.primary.sql("SELECT pg_current_wal_lsn()");
    until(|| {
        let sql = format!("SELECT pg_last_wal_replay_lsn() >= '{kept}'");
        pair.standby.sql(&sql) == "t"
    });
    // From now on nothing comes to the standby, and nobody waits for it.
    set(&pair.standby, "primary_conninfo = ''");
    until(|| pair.primary.sql("SELECT count(*) FROM pg_stat_replication") == "0");
    for _ in 0..5 {
        assert!(write(&log, &sent).await);
    }
    log.close().await.unwrap();
    pair.fail_over();
    let log = log_at(&pair.address, directory.path());
    until(|| log.store().runs().is_ok());
    assert_eq!(attempts(&log).len(), 1);
    // The record alone does not tell of what it lacks.
    assert_eq!(wrong(&log, &Against::default()), []);
    let read = log.upkeep.read_anchors(&[&anchors], &[]).unwrap();
    let against = Against::default().but(|against| against.anchors = Some(read));
    let found = wrong(&log, &against);
    assert!(!found.is_empty());
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_role_without_rights_sees_that_a_standby_is_asynchronous() {
    let primary = Cluster::start();
    primary.sql("CREATE ROLE gate LOGIN");
    let risk = || {
        let address = primary.address("gate", "postgres", "gate");
        Database::new(address, None)
            .unwrap()
            .failover_risk()
            .unwrap()
    };
    assert_eq!(risk(), None);
    let standby = primary.standby();
    until(|| primary.sql("SELECT state FROM pg_stat_replication") == "streaming");
    assert!(risk().is_some());
    // A standby tells nothing of itself.
    let address = standby.address("gate", "postgres", "gate");
    let of_standby = Database::new(address, None).unwrap().failover_risk();
    assert_eq!(of_standby, Ok(None));
    set(&primary, "synchronous_standby_names = '*'");
    until(|| risk().is_none());
    set(&primary, "synchronous_standby_names = ''");
    until(|| risk().is_some());
    // One that is away, and is waited for.
    primary.sql("SELECT pg_create_physical_replication_slot('standby')");
    drop(standby);
    until(|| primary.sql("SELECT count(*) FROM pg_stat_replication") == "0");
    assert!(risk().is_some());
    primary.sql("SELECT pg_drop_replication_slot('standby')");
    assert_eq!(risk(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_record_is_copied_out_byte_for_byte_while_it_is_written() {
    let schema = SHARED.schema();
    let directory = tempfile::tempdir().unwrap();
    let address = SHARED.address("postgres", "postgres", &schema);
    let log = log_at(&address, &directory.path().join("index"));
    let sent = parking_lot::Mutex::default();
    assert!(write(&log, &sent).await);
    let store = PostgresStore::new(
        Arc::new(SHARED.process(&schema, super::HolderTimes::USUAL)),
        "docs",
    );
    store
        .write_document(DocumentKind::Draft, "a.b.c", b"{}")
        .unwrap();
    let to = directory.path().join("files");
    let copied = log.upkeep.back_up(&to).await.unwrap();
    assert_eq!((copied.runs, copied.documents), (1, 1));
    let run = &store.runs().unwrap()[0];
    assert_eq!(run.is_held, Ok(true));
    let there = std::fs::read(to.join("docs/runs").join(&run.name)).unwrap();
    assert!(there == super::read(&store, &run.name, 1 << 20));
    let copy = AuditLog::new(&to, "docs");
    assert_eq!(wrong(&copy, &Against::default()), []);
    assert_eq!(attempts(&copy), attempts(&log));
    let count = std::fs::read_to_string(to.join("docs/runs.count")).unwrap();
    assert_eq!(store.run_count().unwrap().unwrap(), count);
    let read = std::fs::read(to.join("docs/drafts/a.b.c.json")).unwrap();
    assert_eq!(read, b"{}");
    // What breaks off does not look like a copy, and what is there is not overwritten.
    assert_eq!(std::fs::read_dir(&to).unwrap().count(), 1);
    let again = log.upkeep.back_up(&to).await;
    assert_eq!(again, Err(crate::audit::AuditError::NotEmpty));
}
