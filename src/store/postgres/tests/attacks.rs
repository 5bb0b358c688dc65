//! Breaks what lies between a process and its database, and tests what holds all the same.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::cluster::{Cluster, SHARED};
use super::proxy::{ChaosProxy, Way};
use super::{SILENT, alone, read, store, until, usual};
use crate::store::postgres::holder::HolderTimes;
use crate::store::postgres::{Database, PostgresStore};
use crate::store::{
    Blobs as _, DatabaseAddress, DocumentKind, Documents as _, Durability, LeaseMode, LeaseName,
    Leases as _, Runs as _, Store as _, StoreError,
};

/// The store of a process whose connections go through a proxy.
fn behind(proxy: &ChaosProxy, schema: &str, times: HolderTimes) -> PostgresStore {
    let port = proxy.port();
    let text =
        format!("postgres://postgres@127.0.0.1:{port}/postgres?sslmode=disable&schema={schema}");
    store_at(DatabaseAddress::parse(&text).unwrap(), times)
}

/// The store of a process that connects to this address.
fn store_at(address: DatabaseAddress, times: HolderTimes) -> PostgresStore {
    let database = Database::with_times(address, None, times).unwrap();
    PostgresStore::new(Arc::new(database), "docs")
}

/// From now on each row takes so many seconds until it is in a table.
fn slow_down(schema: &str, table: &str, seconds: &str) {
    SHARED.sql(&format!(
        "CREATE FUNCTION {schema}.slow() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN PERFORM pg_sleep({seconds}); RETURN NEW; END$$;
        CREATE TRIGGER slow BEFORE INSERT ON {schema}.{table} FOR EACH ROW EXECUTE FUNCTION {schema}.slow()"
    ));
}

/// Never renewed, so that nothing else goes over the connection, and alive for long.
const STILL: HolderTimes = HolderTimes {
    lasts: Duration::from_mins(10),
    renewed_every: Duration::from_mins(10),
};

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn what_is_appended_is_there_once_wherever_the_connection_is_cut() {
    let (schema, proxy) = (SHARED.schema(), ChaosProxy::start(SHARED.directory()));
    let (near, far) = (behind(&proxy, &schema, STILL), store(&schema, STILL));
    let mut writer = near.begin_run("a", "1").unwrap();
    let mut expected = Vec::new();
    let mut cut = 0;
    let to_server: fn(usize) -> (Way, Way) = |at| (Way::CutAfter(at), Way::Open);
    let to_client: fn(usize) -> (Way, Way) = |at| (Way::Open, Way::CutAfter(at));
    for (step, ways) in [(17, to_server), (3, to_client)] {
        for after in (0..).step_by(step) {
            let (there, back) = ways(after);
            proxy.set(there, back);
            let line = format!("{after} and so on\n");
            writer.append(line.as_bytes(), Durability::Synced).unwrap();
            expected.extend_from_slice(line.as_bytes());
            // A shorter exchange than that is not cut.
            if !proxy.is_open() {
                proxy.set(Way::Open, Way::Open);
                break;
            }
            cut += 1;
        }
        assert_eq!(read(&far, "a", 4096), expected);
    }
    assert!(cut > 40, "{cut}");
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_lease_whose_answer_was_lost_is_given_once_and_free_afterwards() {
    let (schema, proxy) = (SHARED.schema(), ChaosProxy::start(SHARED.directory()));
    let (near, far) = (behind(&proxy, &schema, STILL), store(&schema, STILL));
    // A connection and a holder.
    drop(alone(&near, &LeaseName::TREE));
    for after in (0..60).step_by(2) {
        proxy.set(Way::Open, Way::CutAfter(after));
        let lease = alone(&near, &LeaseName::page(7));
        assert!(lease.is_some(), "{after}");
        assert!(alone(&far, &LeaseName::page(7)).is_none());
        proxy.set(Way::Open, Way::Open);
        drop(lease);
        assert!(alone(&far, &LeaseName::page(7)).is_some());
    }
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_lease_that_was_given_too_late_to_be_taken_is_free_with_the_next_renewal() {
    let (schema, proxy) = (SHARED.schema(), ChaosProxy::start(SHARED.directory()));
    let times = HolderTimes {
        lasts: Duration::from_secs(40),
        renewed_every: Duration::from_millis(100),
    };
    let (near, far) = (behind(&proxy, &schema, times), store(&schema, STILL));
    drop(alone(&near, &LeaseName::TREE));
    proxy.set(Way::Open, Way::Lost);
    let begun = Instant::now();
    let given = near.try_lease(&LeaseName::page(7), LeaseMode::Alone);
    assert_eq!(given.unwrap_err(), StoreError::Unreachable);
    assert!(begun.elapsed() < Duration::from_secs(8));
    proxy.set(Way::Open, Way::Open);
    until(|| !far.may_be_held(&LeaseName::page(7)));
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_slow_database_is_waited_for_and_a_silent_one_is_not() {
    let (schema, proxy) = (SHARED.schema(), ChaosProxy::start(SHARED.directory()));
    let near = behind(&proxy, &schema, STILL);
    let mut writer = near.begin_run("a", "1").unwrap();
    proxy.set(Way::Slow, Way::Slow);
    writer.append(b"slow\n", Durability::Synced).unwrap();
    assert_eq!(read(&near, "a", 4096), b"slow\n");
    for ways in [(Way::Lost, Way::Open), (Way::Open, Way::Lost)] {
        proxy.set(ways.0, ways.1);
        let begun = Instant::now();
        assert_eq!(near.run_count(), Err(StoreError::Unreachable));
        assert!(begun.elapsed() < Duration::from_secs(9), "{ways:?}");
    }
    // What was lost has been done or not; the writer finds out.
    let lost = writer.append(b"lost\n", Durability::Synced);
    assert_eq!(lost, Err(StoreError::Unreachable));
    proxy.set(Way::Open, Way::Open);
    until(|| writer.append(b"lost\n", Durability::Synced).is_ok());
    assert_eq!(read(&near, "a", 4096), b"slow\nlost\n");
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_database_that_is_away_for_long_costs_no_patience_and_is_found_again() {
    let (schema, proxy) = (SHARED.schema(), ChaosProxy::start(SHARED.directory()));
    let near = behind(&proxy, &schema, STILL);
    let mut writer = near.begin_run("a", "1").unwrap();
    proxy.set(Way::Closed, Way::Closed);
    until(|| {
        let begun = Instant::now();
        assert_eq!(near.run_count(), Err(StoreError::Unreachable));
        begun.elapsed() < Duration::from_millis(100)
    });
    proxy.set(Way::Open, Way::Open);
    until(|| near.run_count().is_ok());
    writer.append(b"line\n", Durability::Synced).unwrap();
    assert_eq!(read(&near, "a", 4096), b"line\n");
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn whoever_was_silent_for_too_long_is_overtaken_in_all_that_it_held() {
    let schema = SHARED.schema();
    let (silent, other) = (store(&schema, SILENT), usual(&schema));
    let mut writer = silent.begin_run("a", "1").unwrap();
    writer.append(b"mine\n", Durability::Synced).unwrap();
    let lease = alone(&silent, &LeaseName::page(7)).unwrap();
    assert!(lease.is_sure());
    until(|| !lease.is_sure());
    let mut taken = None;
    until(|| {
        taken = alone(&other, &LeaseName::page(7));
        taken.is_some()
    });
    assert!(!lease.is_sure());
    let appended = writer.append(b"late\n", Durability::Synced);
    assert_eq!(appended, Err(StoreError::Overtaken));
    assert_eq!(read(&other, "a", 4096), b"mine\n");
    assert_eq!(other.runs().unwrap()[0].is_held, Ok(false));
    // Giving back what is held no more takes nothing from the one who holds it.
    drop(lease);
    assert!(alone(&silent, &LeaseName::page(7)).is_none());
    // It goes on as somebody new, and what it held stays lost.
    let again = alone(&silent, &LeaseName::page(8)).unwrap();
    assert!(again.is_sure());
    let mut new = silent.begin_run("b", "2").unwrap();
    new.append(b"mine\n", Durability::Synced).unwrap();
    let appended = writer.append(b"late\n", Durability::Synced);
    assert_eq!(appended, Err(StoreError::Overtaken));
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn whoever_was_silent_for_too_long_changes_no_document_that_others_changed() {
    let schema = SHARED.schema();
    let (silent, other) = (store(&schema, SILENT), usual(&schema));
    let (kind, name) = (DocumentKind::Draft, "a");
    let lease = LeaseName::document(kind, name);
    let old = alone(&silent, &lease).unwrap();
    let written = silent.write_held(old.fence(), (kind, name), b"first");
    assert_eq!(written, Ok(()));
    let mut new = None;
    until(|| {
        new = alone(&other, &lease);
        new.is_some()
    });
    let held = new.unwrap();
    let new = held.fence();
    other.write_held(new, (kind, name), b"second").unwrap();
    let refused = Err(StoreError::Overtaken);
    for text in [&b"first"[..], b"third"] {
        assert_eq!(silent.write_held(old.fence(), (kind, name), text), refused);
        let removed = silent.remove_held(old.fence(), kind, name).map(drop);
        assert_eq!(removed, refused);
    }
    assert_eq!(other.document(kind, name).unwrap().unwrap(), b"second");
    assert_eq!(other.remove_held(new, kind, name), Ok(true));
    let written = silent.write_held(old.fence(), (kind, name), b"first");
    assert_eq!(written, refused);
    assert_eq!(other.document(kind, name), Ok(None));
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_lease_is_taken_over_before_or_after_a_change_under_it_and_never_amid() {
    let schema = SHARED.schema();
    // The change is slow, so that the lease ends meanwhile.
    slow_down(&schema, "document", "1.5");
    let (silent, other) = (store(&schema, SILENT), usual(&schema));
    let (kind, name) = (DocumentKind::Draft, "a");
    let lease = LeaseName::document(kind, name);
    let old = alone(&silent, &lease).unwrap();
    std::thread::scope(|scope| {
        let writes = scope.spawn(|| silent.write_held(old.fence(), (kind, name), b"first"));
        until(|| !old.is_sure());
        until(|| {
            let new = alone(&other, &lease);
            new.is_some()
        });
        // Whoever has it sees what was written before.
        assert_eq!(other.document(kind, name).unwrap().unwrap(), b"first");
        assert_eq!(writes.join().unwrap(), Ok(()));
    });
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn after_a_pause_has_answered_no_server_records_an_attempt() {
    let schema = SHARED.schema();
    // What is appended takes its time, so that most are under way.
    slow_down(&schema, "line", "0.03");
    let make = || usual(&schema);
    let (one, two, operator) = (make(), make(), make());
    let lengths = || -> u64 { operator.runs().unwrap().iter().map(|run| run.length).sum() };
    for round in 0..5 {
        let before = lengths();
        std::thread::scope(|scope| {
            for (number, server) in [&one, &one, &two, &two].into_iter().enumerate() {
                scope.spawn(move || {
                    let name = format!("{round}-{number}");
                    let mut run = server.begin_run(&name, "1").unwrap();
                    let mut append = || run.append(b"x", Durability::SyncedUnlessPaused);
                    let refused = std::iter::repeat_with(&mut append).find_map(Result::err);
                    assert_eq!(refused, Some(StoreError::Paused));
                });
            }
            until(|| lengths() > before + 10);
            let pause = operator.write_document(DocumentKind::Pause, "", b"{}");
            assert_eq!(pause, Ok(()));
            let at_the_answer = lengths();
            // Whoever was under way would be done by then.
            SHARED.sql("SELECT pg_sleep(0.2)");
            assert_eq!(lengths(), at_the_answer);
        });
        operator.remove_document(DocumentKind::Pause, "").unwrap();
    }
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_run_that_is_said_to_be_held_by_nobody_gets_nothing_more() {
    let schema = SHARED.schema();
    let (silent, other) = (store(&schema, SILENT), usual(&schema));
    let mut writer = silent.begin_run("a", "1").unwrap();
    until(|| other.runs().unwrap()[0].is_held == Ok(false));
    let appended = writer.append(b"late\n", Durability::Synced);
    assert_eq!(appended, Err(StoreError::Overtaken));
    assert!(other.remove_run("a").unwrap());
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_process_that_is_renewed_stays_sure_and_nobody_takes_over() {
    let schema = SHARED.schema();
    let times = HolderTimes {
        lasts: Duration::from_secs(6),
        renewed_every: Duration::from_millis(100),
    };
    let (lively, other) = (store(&schema, times), usual(&schema));
    let lease = alone(&lively, &LeaseName::TREE).unwrap();
    let begun = Instant::now();
    while begun.elapsed() < times.lasts + Duration::from_millis(500) {
        assert!(lease.is_sure());
        assert!(alone(&other, &LeaseName::TREE).is_none());
    }
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_database_that_restarts_loses_nothing_and_nobody() {
    let cluster = Cluster::start();
    let schema = cluster.schema();
    // Silent for longer than this while the database is away.
    let times = HolderTimes {
        lasts: Duration::from_secs(4),
        renewed_every: Duration::from_millis(100),
    };
    let make = || PostgresStore::new(Arc::new(cluster.process(&schema, times)), "docs");
    let (one, two) = (make(), make());
    let mut writer = one.begin_run("a", "1").unwrap();
    let lease = alone(&one, &LeaseName::TREE).unwrap();
    writer.append(b"before\n", Durability::Synced).unwrap();
    cluster.tell("restart", "ready\n");
    until(|| writer.append(b"after\n", Durability::Synced).is_ok());
    cluster.tell("stop", "stopped\n");
    assert_eq!(two.run_count(), Err(StoreError::Unreachable));
    until(|| !lease.is_sure());
    assert!(two.may_be_held(&LeaseName::page(7)), "nobody can know");
    let appended = writer.append(b"lost\n", Durability::Synced);
    assert_eq!(appended, Err(StoreError::Unreachable));
    cluster.tell("go", "ready\n");
    until(|| two.run_count().is_ok());
    // Both have their whole time from the start on.
    assert!(alone(&two, &LeaseName::TREE).is_none());
    until(|| lease.is_sure());
    until(|| writer.append(b"again\n", Durability::Synced).is_ok());
    assert_eq!(read(&two, "a", 4096), b"before\nafter\nagain\n");
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_full_table_of_connections_is_waited_for() {
    let (schema, role) = (SHARED.schema(), Cluster::name());
    SHARED.sql(&format!(
        "CREATE ROLE {role} LOGIN CONNECTION LIMIT 2; GRANT ALL ON SCHEMA {schema} TO {role};
        GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {role}"
    ));
    let database = Database::new(SHARED.address(&role, "postgres", &schema), None);
    let store = PostgresStore::new(Arc::new(database.unwrap()), "docs");
    std::thread::scope(|scope| {
        for name in 0..16 {
            let store = &store;
            scope.spawn(move || {
                for _ in 0..5 {
                    store.put_blob(&name.to_string(), b"x").unwrap();
                }
            });
        }
    });
    assert_eq!(store.blobs().unwrap().len(), 16);
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_database_that_only_reads_is_read_and_says_why_it_is_not_written() {
    let (schema, role) = (SHARED.schema(), Cluster::name());
    let before = usual(&schema);
    let mut writer = before.begin_run("a", "1").unwrap();
    writer.append(b"line\n", Durability::Synced).unwrap();
    before
        .write_document(DocumentKind::Pause, "", b"{}")
        .unwrap();
    SHARED.sql(&format!(
        "CREATE ROLE {role} LOGIN SUPERUSER; ALTER ROLE {role} SET default_transaction_read_only = on"
    ));
    let database = Database::new(SHARED.address(&role, "postgres", &schema), None);
    let database = Arc::new(database.unwrap());
    assert_eq!(database.is_read_only(), Ok(true));
    assert_eq!(before.database.is_read_only(), Ok(false));
    let reads = PostgresStore::new(database, "docs");
    assert_eq!(read(&reads, "a", 4096), b"line\n");
    assert_eq!(reads.runs().unwrap()[0].is_held, Ok(true));
    let document = reads.document(DocumentKind::Pause, "").unwrap().unwrap();
    assert_eq!(document, b"{}");
    let refused = StoreError::Io(ErrorKind::ReadOnlyFilesystem);
    assert_eq!(reads.put_blob("a", b"x"), Err(refused));
    assert_eq!(
        reads
            .try_lease(&LeaseName::TREE, LeaseMode::Alone)
            .unwrap_err(),
        refused
    );
    assert_eq!(reads.begin_run("b", "2").unwrap_err(), refused);
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn only_the_clock_of_the_database_counts() {
    let schema = SHARED.schema();
    let store = usual(&schema);
    store.put_blob("old", b"x").unwrap();
    store.put_blob("new", b"x").unwrap();
    // The time of the rows is ten minutes before or after that of this machine.
    SHARED.sql(&format!(
        "UPDATE {schema}.blob SET changed = changed - interval '10 min' WHERE name = 'old'"
    ));
    let now = SystemTime::now();
    let mut listed = store.blobs().unwrap();
    listed.sort_by(|a, b| a.name.cmp(&b.name));
    let ago = |at: usize| now.duration_since(listed[at].changed).unwrap_or_default();
    assert!(ago(0) < Duration::from_mins(1), "{listed:?}");
    assert!(ago(1) > Duration::from_secs(590) && ago(1) < Duration::from_mins(11));
    let five_minutes_ago = now - Duration::from_mins(5);
    assert!(!store.remove_blob("new", five_minutes_ago).unwrap());
    assert!(store.remove_blob("old", five_minutes_ago).unwrap());
}

/// A role whose schema `fake` comes before PostgreSQL's own, with a clock that is so many seconds off.
fn with_clock(schema: &str, fake: &str) -> String {
    let role = Cluster::name();
    SHARED.sql(&format!(
        "CREATE SCHEMA {fake}; CREATE TABLE {fake}.off (by interval, since_its_start interval);
        INSERT INTO {fake}.off VALUES ('0', '0');
        CREATE FUNCTION {fake}.pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql VOLATILE AS
            'SELECT pg_catalog.pg_postmaster_start_time() + (SELECT since_its_start FROM {fake}.off)';
        CREATE FUNCTION {fake}.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
            'SELECT pg_catalog.clock_timestamp() + (SELECT by FROM {fake}.off)';
        CREATE ROLE {role} LOGIN SUPERUSER;
        ALTER ROLE {role} SET search_path = {fake}, pg_catalog, {schema}"
    ));
    role
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_database_whose_clock_is_ten_minutes_off_gives_leases_and_ages_as_others_do() {
    for off in ["10 min", "-10 min"] {
        let (schema, fake) = (SHARED.schema(), Cluster::name());
        let role = with_clock(&schema, &fake);
        SHARED.sql(&format!(
            "UPDATE {fake}.off SET by = '{off}', since_its_start = '{off}'"
        ));
        let make = |times| store_at(SHARED.address(&role, "postgres", &schema), times);
        let (silent, other) = (make(SILENT), make(HolderTimes::USUAL));
        let lease = alone(&silent, &LeaseName::TREE).unwrap();
        let theirs = || alone(&other, &LeaseName::TREE);
        let at = SHARED.sql(&format!(
            "SELECT max(abs(extract(epoch FROM until - now()))) > 500 FROM {schema}.holder"
        ));
        assert_eq!(at, "t");
        assert!(lease.is_sure() && theirs().is_none());
        until(|| theirs().is_some());
        assert!(!lease.is_sure());
        other.put_blob("a", b"x").unwrap();
        let age = other.blobs().unwrap()[0].age();
        assert!(age < Duration::from_mins(1), "{age:?}");
        let (now, ours) = (other.now().unwrap(), SystemTime::now());
        let apart = now
            .duration_since(ours)
            .or_else(|_| ours.duration_since(now));
        assert!(apart.unwrap() > Duration::from_mins(9));
    }
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_clock_that_jumps_ahead_takes_leases_away_and_lets_nothing_be_written_under_them() {
    let (schema, fake) = (SHARED.schema(), Cluster::name());
    let role = with_clock(&schema, &fake);
    let make = || store_at(SHARED.address(&role, "postgres", &schema), STILL);
    let (one, two) = (make(), make());
    let (kind, name) = (DocumentKind::Draft, "a");
    let lease = LeaseName::document(kind, name);
    let old = alone(&one, &lease).unwrap();
    let mut run = one.begin_run("a", "1").unwrap();
    assert!(alone(&two, &lease).is_none());
    SHARED.sql(&format!("UPDATE {fake}.off SET by = '11 min'"));
    assert!(alone(&two, &lease).is_some());
    let written = one.write_held(old.fence(), (kind, name), b"old");
    assert_eq!(written, Err(StoreError::Overtaken));
    let appended = run.append(b"late\n", Durability::Synced);
    assert_eq!(appended, Err(StoreError::Overtaken));
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_database_without_room_refuses_by_that_reason_and_goes_on_once_there_is_some() {
    let schema = SHARED.schema();
    let store = usual(&schema);
    let mut writer = store.begin_run("a", "1").unwrap();
    writer.append(b"one\n", Durability::Synced).unwrap();
    SHARED.sql(&format!(
        "CREATE FUNCTION {schema}.full_disk() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END$$"
    ));
    for table in ["line", "blob", "document"] {
        SHARED.sql(&format!(
            "CREATE TRIGGER full_disk BEFORE INSERT ON {schema}.{table}
            FOR EACH ROW EXECUTE FUNCTION {schema}.full_disk()"
        ));
    }
    let full = StoreError::Io(ErrorKind::StorageFull);
    for until in [
        Durability::Synced,
        Durability::SyncedUnlessPaused,
        Durability::Soon,
    ] {
        assert_eq!(writer.append(b"two\n", until), Err(full));
    }
    assert_eq!(store.put_blob("a", b"x"), Err(full));
    assert_eq!(store.probe(10), Err(full));
    let written = store.write_document(DocumentKind::Draft, "a", b"x");
    assert_eq!(written, Err(full));
    assert_eq!(read(&store, "a", 4096), b"one\n");
    SHARED.sql(&format!("DROP FUNCTION {schema}.full_disk() CASCADE"));
    writer.append(b"two\n", Durability::Synced).unwrap();
    assert_eq!(read(&store, "a", 4096), b"one\ntwo\n");
}
