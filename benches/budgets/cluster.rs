//! A PostgreSQL server of its own in a temporary directory, which syncs as an operator's does.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A running server, reached by a socket.
pub(crate) struct Cluster {
    programs: PathBuf,
    directory: TempDir,
    user: Option<u32>,
}

impl Cluster {
    /// Starts one; none where PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
        let programs = versions.map(|version| version.path().join("bin")).max()?;
        let directory = TempDir::new().expect("a temporary directory");
        let user = other_user();
        chown(directory.path(), user, user).expect("the directory is given away");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(directory.path(), mode).expect("its mode is set");
        let cluster = Self {
            programs,
            directory,
            user,
        };
        let data = cluster.data();
        let as_anybody = [
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "-D",
        ];
        cluster.run("initdb", &[&as_anybody[..], &[&data]].concat());
        let (socket, log) = (cluster.path(), format!("{}/log", cluster.path()));
        let options = format!("-c listen_addresses= -c unix_socket_directories={socket}");
        let start = ["start", "--wait", "-D", &data, "-l", &log, "-o", &options];
        cluster.run("pg_ctl", &start);
        Some(cluster)
    }

    /// What `WIKI_STORE` says of it.
    pub(crate) fn address(&self) -> String {
        let socket = self.path().replace('/', "%2F");
        format!("postgres://postgres@{socket}/postgres")
    }

    fn path(&self) -> String {
        let path: &Path = self.directory.path();
        path.display().to_string()
    }

    fn data(&self) -> String {
        format!("{}/data", self.path())
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(self.programs.join(program));
        command.args(arguments).current_dir("/").env_clear();
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        // What it says is of use only where it fails; a server keeps no pipe of ours open.
        let log = fs::File::create(self.directory.path().join("said")).expect("a file");
        let status = command.stdout(log).status().expect("the program starts");
        assert!(status.success(), "{program}, see {}", self.path());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.run("pg_ctl", &["stop", "--mode=immediate", "-D", &self.data()]);
    }
}

/// The user that it has to have: PostgreSQL refuses root.
fn other_user() -> Option<u32> {
    let id = |arguments: &[&str]| {
        let output = Command::new("id").args(arguments).output();
        let text = String::from_utf8(output.expect("`id` starts").stdout).expect("UTF-8");
        text.trim().parse().expect("a user")
    };
    (id(&["-u"]) == 0).then(|| id(&["-u", "postgres"]))
}
