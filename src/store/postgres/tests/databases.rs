//! Databases and roles that are not as they must be.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use parking_lot::Mutex;

use super::super::faults::NO_RIGHTS;
use super::super::statement::Statement;
use super::cluster::{Cluster, SHARED};
use crate::store::postgres::{Database, Migrated, PostgresStore};
use crate::store::{Blobs as _, SecretSource, StoreError, StoreResult};

fn database(user: &str, database: &str, schema: &str) -> Arc<Database> {
    Arc::new(Database::new(SHARED.address(user, database, schema), None).unwrap())
}

/// The answer of a database to a question.
fn asked(database: &Arc<Database>) -> StoreResult<()> {
    PostgresStore::new(Arc::clone(database), "docs")
        .blobs()
        .map(drop)
}

/// The sentence's end of a refusal.
fn refusal(done: StoreResult<()>) -> &'static str {
    match done {
        Err(StoreError::NotReady(why)) => why,
        done => panic!("{done:?}"),
    }
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn tables_are_made_once_whoever_makes_them() {
    let schema = Cluster::name();
    let database = database("postgres", "postgres", &schema);
    assert!(refusal(asked(&database)).contains("run `wikijs-gate store migrate`"));
    let both = std::thread::scope(|scope| {
        let make = || scope.spawn(|| database.migrate().unwrap().from);
        let (one, two) = (make(), make());
        [one.join().unwrap(), two.join().unwrap()]
    });
    assert!(both == [0, 1] || both == [1, 0], "{both:?}");
    assert_eq!(database.migrate(), Ok(Migrated { from: 1, to: 1 }));
    assert_eq!(asked(&database), Ok(()));
    assert_eq!(database.missing_rights(), Ok(Vec::new()));
    SHARED.sql(&format!("ALTER TABLE {schema}.blob DROP COLUMN changed"));
    assert!(refusal(asked(&database)).contains("lacks a table or column"));
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn tables_of_another_version_are_refused() {
    for (change, fault) in [
        (
            "INSERT INTO @.wikijs_gate_migration VALUES (2, 'newer')",
            "tables of a newer version",
        ),
        (
            "UPDATE @.wikijs_gate_migration SET digest = 'other'",
            "tables that another program made",
        ),
    ] {
        let schema = SHARED.schema();
        SHARED.sql(&change.replace("@.", &format!("{schema}.")));
        let database = database("postgres", "postgres", &schema);
        assert!(refusal(asked(&database)).contains(fault), "{change}");
        assert!(
            refusal(database.migrate().map(drop)).contains(fault),
            "{change}"
        );
    }
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn tables_of_somebody_else_are_refused_and_stay_as_they_are() {
    for theirs in [
        "CREATE TABLE @.document (name text)",
        "CREATE TABLE @.holder (name text)",
        "CREATE TABLE @.wikijs_gate_migration (name text)",
        "CREATE VIEW @.line AS SELECT 1 AS name",
    ] {
        let schema = Cluster::name();
        let sql = format!(
            "CREATE SCHEMA {schema}; {}",
            theirs.replace("@.", &format!("{schema}."))
        );
        SHARED.sql(&sql);
        let database = database("postgres", "postgres", &schema);
        let refused = refusal(database.migrate().map(drop));
        assert!(
            refused.contains("tables of somebody else"),
            "{theirs}: {refused}"
        );
        refusal(asked(&database));
        let count =
            format!("SELECT count(*) FROM pg_class WHERE relnamespace = '{schema}'::regnamespace");
        assert_eq!(SHARED.sql(&count), "1");
    }
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_database_in_another_encoding_is_refused() {
    let name = Cluster::name();
    SHARED.sql(&format!(
        "CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
    ));
    let database = database("postgres", &name, "gate");
    assert!(refusal(database.migrate().map(drop)).contains("another encoding"));
    assert!(refusal(asked(&database)).contains("another encoding"));
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn another_level_of_transactions_is_refused() {
    let (schema, role) = (SHARED.schema(), Cluster::name());
    SHARED.sql(&format!(
        "CREATE ROLE {role} LOGIN SUPERUSER; ALTER ROLE {role} SET default_transaction_isolation = 'serializable'"
    ));
    let database = database(&role, "postgres", &schema);
    assert!(refusal(asked(&database)).contains("default_transaction_isolation"));
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_role_without_rights_is_told_what_it_lacks() {
    let (schema, role) = (SHARED.schema(), Cluster::name());
    SHARED.sql(&format!("CREATE ROLE {role} LOGIN"));
    let denied = NO_RIGHTS;
    let other = database(&role, "postgres", &Cluster::name());
    assert_eq!(other.migrate(), Err(denied));
    let database = database(&role, "postgres", &schema);
    assert_eq!(asked(&database), Err(denied));
    let missing = database.missing_rights().unwrap();
    // Four rights on seven tables, one on the table of versions, and that on the schema.
    assert_eq!(missing.len(), 4 * 7 + 1 + 1);
    for right in [
        format!("USAGE on the schema {schema}"),
        "UPDATE on run_count".to_owned(),
        "SELECT on wikijs_gate_migration".to_owned(),
    ] {
        assert!(missing.contains(&right), "{missing:?}");
    }
    SHARED.sql(&format!(
        "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} FROM PUBLIC"
    ));
    let missing = database.missing_rights().unwrap();
    assert!(
        missing.contains(&"EXECUTE on try_lease".to_owned()),
        "{missing:?}"
    );
    SHARED.sql(&format!(
        "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {role}"
    ));
    let rights = [
        format!("USAGE ON SCHEMA {schema}"),
        format!("SELECT ON ALL TABLES IN SCHEMA {schema}"),
        format!("INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema}"),
    ];
    SHARED.sql(&format!(
        "GRANT {} TO {role}; GRANT {} TO {role}",
        rights[0], rights[1]
    ));
    assert_eq!(asked(&database), Ok(()));
    let missing = database.missing_rights().unwrap();
    assert_eq!(missing.len(), 21);
    assert_eq!(missing[0], "DELETE on blob");
    let store = PostgresStore::new(Arc::clone(&database), "docs");
    assert_eq!(store.put_blob("a", b"x"), Err(denied));
    SHARED.sql(&format!("GRANT {} TO {role}", rights[2]));
    assert_eq!(database.missing_rights(), Ok(Vec::new()));
    assert_eq!(store.put_blob("a", b"x"), Ok(1));
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_user_or_database_that_is_not_there_is_said_at_once() {
    let schema = SHARED.schema();
    for (user, name, fault) in [
        ("nobody", "postgres", "does not let this role in"),
        ("postgres", "nothing", "does not exist"),
    ] {
        let begun = std::time::Instant::now();
        let asked = asked(&database(user, name, &schema));
        assert!(
            matches!(asked, Err(StoreError::NotReady(why)) if why.starts_with(fault)),
            "{asked:?}"
        );
        assert!(begun.elapsed() < std::time::Duration::from_secs(3));
    }
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_password_that_comes_after_the_end_of_a_question_still_lets_it_be_asked() {
    const LIMIT: Duration = Duration::from_millis(500);
    let (_never, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let password = SecretSource::new(move || {
        let _ = wait.lock().recv_timeout(LIMIT * 2);
        Ok("secret".into())
    });
    let address = SHARED.address("postgres", "postgres", &SHARED.schema());
    let database = Database::new(address, Some(password)).unwrap();
    let rows = database.ask(Statement::new("SELECT 1").within(LIMIT));
    assert_eq!(rows.map(|rows| rows.len()), Ok(1));
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn what_must_be_there_for_good_is_synced_whatever_the_role_is_set_to() {
    let (schema, role) = (SHARED.schema(), Cluster::name());
    SHARED.sql(&format!(
        "CREATE ROLE {role} LOGIN SUPERUSER; ALTER ROLE {role} SET synchronous_commit = off;
        CREATE TABLE {schema}.seen (setting text);
        CREATE FUNCTION {schema}.note() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN INSERT INTO {schema}.seen VALUES (current_setting('synchronous_commit')); RETURN NEW; END$$;
        CREATE CONSTRAINT TRIGGER note AFTER INSERT ON {schema}.blob DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION {schema}.note()"
    ));
    let store = PostgresStore::new(database(&role, "postgres", &schema), "docs");
    store.put_blob("a", b"x").unwrap();
    let sql = SHARED.sql(&format!("SELECT setting FROM {schema}.seen"));
    assert_eq!(sql, "on");
}
