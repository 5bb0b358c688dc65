//! Starts PostgreSQL servers in temporary directories; each ends with the process of the tests.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex};

use super::super::Database;
use super::super::holder::HolderTimes;
use crate::store::DatabaseAddress;

/// The server that most tests share, each in a schema or a database of its own.
pub(super) static SHARED: LazyLock<Cluster> = LazyLock::new(Cluster::start);

/// Starts the server, and ends it and removes its files when its input ends: with the test process at the
/// latest, however that ends.
const KEEPER: &str = r#"
mkdir -m 777 "$1"
if [ -n "$2" ]; then
    "$0"/pg_basebackup --host="$2" --username=postgres --pgdata="$1"/data --write-recovery-conf --checkpoint=fast --no-sync
else
    "$0"/initdb --pgdata="$1"/data --username=postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync
fi >"$1"/log 2>&1
serve() {
    "$0"/postgres -D "$1"/data -k "$1" -p 5432 -c listen_addresses= -c fsync=off -c max_connections=200 \
        -c log_min_messages=fatal >>"$1"/log 2>&1 &
    server=$!
    for _ in $(seq 600); do
        "$0"/pg_isready -q -h "$1" && echo ready && return
        sleep 0.05
    done
    exit 1
}
serve "$1"
while read -r word; do
    case $word in stop | restart) kill -QUIT $server; wait $server ;; esac
    case $word in kill) kill -KILL $server; wait $server; echo killed ;; stop) echo stopped ;; restart | go) serve "$1" ;; esac
done
kill -QUIT $server 2>/dev/null
wait $server
rm -rf "$1"
"#;

pub(super) struct Cluster {
    directory: PathBuf,
    programs: PathBuf,
    keeper: Mutex<Child>,
}

impl Cluster {
    pub(super) fn start() -> Self {
        Self::start_from(None)
    }

    /// A standby server of this one, which follows it.
    pub(super) fn standby(&self) -> Self {
        Self::start_from(Some(&self.directory))
    }

    fn start_from(primary: Option<&Path>) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let programs = programs().expect("PostgreSQL is not installed: .ci/postgres");
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // A socket's path has at most 107 bytes.
        let directory = PathBuf::from(format!("/tmp/wikijs-gate-{}-{count}", std::process::id()));
        let mut command = Command::new("sh");
        command.args(["-c", KEEPER]).arg(&programs).arg(&directory);
        command.args(primary);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.current_dir("/");
        if let Some(user) = other_user() {
            command.uid(user).gid(user);
        }
        let keeper = command.spawn().unwrap();
        let cluster = Self {
            directory,
            programs,
            keeper: Mutex::new(keeper),
        };
        cluster.wait_for("ready\n");
        cluster
    }

    /// The directory of its socket.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Tells the keeper a word, and waits until it is done.
    pub(super) fn tell(&self, word: &str, done: &str) {
        let mut keeper = self.keeper.lock().unwrap();
        writeln!(keeper.stdin.as_mut().unwrap(), "{word}").unwrap();
        drop(keeper);
        self.wait_for(done);
    }

    fn wait_for(&self, done: &str) {
        use std::io::Read as _;
        let mut keeper = self.keeper.lock().unwrap();
        let mut told = vec![0; done.len()];
        let output = keeper.stdout.as_mut().unwrap();
        if output.read_exact(&mut told).is_err() || told != done.as_bytes() {
            let log = std::fs::read_to_string(self.directory.join("log"));
            panic!("PostgreSQL does not start: {}", log.unwrap_or_default());
        }
    }

    /// The answer to statements of the administrator, in a database.
    pub(super) fn sql_in(&self, database: &str, sql: &str) -> String {
        let mut command = Command::new(self.programs.join("psql"));
        command.args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            "postgres",
        ]);
        command.arg("-h").arg(&self.directory);
        let output = command.args(["-d", database, "-c", sql]).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {told}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(super) fn sql(&self, sql: &str) -> String {
        self.sql_in("postgres", sql)
    }

    /// A name that no other test has.
    pub(super) fn name() -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn address(&self, user: &str, database: &str, schema: &str) -> DatabaseAddress {
        let directory = self.directory.display();
        let text =
            format!("postgres://{user}@localhost/{database}?host={directory}&schema={schema}");
        DatabaseAddress::parse(&text).unwrap()
    }

    /// A schema with our tables, by its name.
    pub(super) fn schema(&self) -> String {
        let name = Self::name();
        let database = Database::new(self.address("postgres", "postgres", &name), None);
        database.unwrap().migrate().unwrap();
        name
    }

    /// Another process, so to say, that works on a schema.
    pub(super) fn process(&self, schema: &str, times: HolderTimes) -> Database {
        let address = self.address("postgres", "postgres", schema);
        Database::with_times(address, None, times).unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let keeper = self.keeper.get_mut().unwrap();
        drop(keeper.stdin.take());
        keeper.wait().unwrap();
    }
}

/// The directory of the programs of the newest PostgreSQL.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let newest = versions
        .map(|version| version.unwrap().path().join("bin"))
        .max();
    let all = ["initdb", "pg_basebackup", "postgres", "pg_isready", "psql"];
    newest.filter(|place| all.iter().all(|name| place.join(name).exists()))
}

/// The user that the server has to have: it refuses root.
pub(super) fn other_user() -> Option<u32> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let output = Command::new("id")
        .args(["-u", "postgres"])
        .output()
        .unwrap();
    let user = String::from_utf8(output.stdout).unwrap();
    Some(user.trim().parse().expect("a user postgres"))
}
