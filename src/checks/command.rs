//! A check from the settings file.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::Duration;

use crate::change::{Change, Warning};
use crate::page::Prefix;

/// The place of programs where no `PATH` says another.
const USUAL_PATH: &str = "/bin:/usr/bin";

/// An operator's command that checks changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckCommand {
    /// Its name.
    pub name: String,
    /// The program and its arguments; never empty.
    pub argv: Vec<String>,
    /// The directory in which it is started.
    pub cwd: PathBuf,
    /// The part of our own environment that it gets.
    pub environment: Vec<(&'static str, OsString)>,
    /// Its own additional variables.
    pub env: Vec<(String, String)>,
    /// It checks only pages at or below one of these; `None` selects all.
    pub paths: Option<Vec<Prefix>>,
    /// The time limit of one run.
    pub timeout: Duration,
}

impl CheckCommand {
    /// The code of its warnings.
    pub fn code(&self) -> String {
        format!("{}{}", Self::PREFIX, self.name)
    }

    /// The variables that a program needs to find others and to write in the user's language. They
    /// include none of our settings and no key.
    pub const PASSED_ON: [&'static str; 7] =
        ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER"];

    /// The prefix of the codes of operators' checks.
    pub const PREFIX: &'static str = Warning::OF_OPERATOR;

    /// True if its program, or the directory in which it is started, is not there.
    pub fn lacks_program(&self) -> bool {
        let program = self.argv.first().map_or("", String::as_str);
        let is_program = |path: PathBuf| {
            let found = path.metadata();
            found.is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
        };
        if program.contains('/') {
            return !is_program(self.cwd.join(program));
        }
        let own = self.env.iter().find(|(name, _)| name == "PATH");
        let passed_on = self.environment.iter().find(|(name, _)| *name == "PATH");
        let path = own.map(|(_, path)| OsStr::new(path));
        let path = path.or(passed_on.map(|(_, path)| path.as_os_str()));
        let mut directories = std::env::split_paths(path.unwrap_or(OsStr::new(USUAL_PATH)));
        !self.cwd.is_dir() || !directories.any(|dir| is_program(self.cwd.join(dir).join(program)))
    }

    /// True if the check looks at this change.
    pub fn is_about(&self, change: &Change) -> bool {
        self.paths.as_ref().is_none_or(|paths| {
            let mut places = change.places();
            places.any(|(locale, path)| paths.iter().any(|prefix| prefix.holds(locale, path)))
        })
    }
}
