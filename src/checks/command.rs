//! A check from the settings file.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::change::{Change, Warning};
use crate::page::Prefix;

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

    /// True if the check looks at this change.
    pub fn is_about(&self, change: &Change) -> bool {
        self.paths.as_ref().is_none_or(|paths| {
            let mut places = change.places();
            places.any(|(locale, path)| paths.iter().any(|prefix| prefix.holds(locale, path)))
        })
    }
}
