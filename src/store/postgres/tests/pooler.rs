//! A pooler that gives each statement another connection: PgBouncer, pooling transactions.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;

use super::cluster::{SHARED, other_user};
use super::until;
use crate::store::postgres::holder::HolderTimes;
use crate::store::postgres::{Database, PostgresStore};
use crate::store::{DatabaseAddress, Store, testing};

/// The pooler; ended when dropped.
struct Pooler {
    child: Child,
    directory: PathBuf,
}

impl Pooler {
    fn start() -> Self {
        let directory = SHARED.directory().join("pooler");
        Command::new("install")
            .args(["-d", "-m", "777"])
            .arg(&directory)
            .status()
            .unwrap();
        let (socket, server) = (directory.display(), SHARED.directory().display());
        let settings = format!(
            "[databases]\npostgres = host={server} port=5432 dbname=postgres\n[pgbouncer]\n\
            listen_addr =\nlisten_port = 5432\nunix_socket_dir = {socket}\nauth_type = any\n\
            pool_mode = transaction\ndefault_pool_size = 3\nlogfile = {socket}/log\n"
        );
        // Whoever names no user connects as this one.
        let settings = settings.replace("dbname=postgres", "dbname=postgres user=postgres");
        let file = directory.join("settings");
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new("pgbouncer");
        command.arg("-q").arg(&file);
        if let Some(user) = other_user() {
            command.uid(user).gid(user);
        }
        let child = command.spawn().unwrap();
        until(|| directory.join(".s.PGSQL.5432").exists());
        Self { child, directory }
    }

    fn process(&self, schema: &str) -> Arc<dyn Store> {
        let directory = self.directory.display();
        let text =
            format!("postgres://postgres@localhost/postgres?host={directory}&schema={schema}");
        let address = DatabaseAddress::parse(&text).unwrap();
        let database = Database::with_times(address, None, HolderTimes::USUAL);
        Arc::new(PostgresStore::new(Arc::new(database.unwrap()), "docs"))
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL and PgBouncer: .ci/postgres"]
async fn a_pooler_of_transactions_is_no_hindrance() {
    let pooler = Pooler::start();
    let two = || {
        let schema = SHARED.schema();
        [pooler.process(&schema), pooler.process(&schema)]
    };
    testing::changes_under_a_lease_are_never_lost(two()).await;
    testing::a_lease_is_for_one_alone_or_for_all_that_share_it(two()).await;
    testing::a_run_is_read_from_any_byte_while_it_grows(two()).await;
    testing::a_run_is_held_until_its_writer_is_gone(two()).await;
    testing::blobs_are_kept_and_removed_unless_renewed(two()).await;
}
