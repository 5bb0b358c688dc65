//! `[[checks]]`: commands that look at a change. Also reads the members that `[[notify]]` shares.

use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::DeValue;

use super::row::{TableReader, prefix, whole_number};
use super::schema::{self, LONGEST_TIMEOUT, USUAL_TIMEOUT};
use crate::checks::CheckCommand;

pub(super) fn check(row: &mut TableReader<'_>, file: &Path) -> Option<CheckCommand> {
    row.unknown(&schema::checks(), "/items");
    let name = name(row);
    let command = command(row, file);
    let paths = row.list("paths", prefix);
    let timeout = timeout(row);
    row.needs(&["name", "argv"]);
    Some(CheckCommand {
        name: name?,
        paths,
        timeout,
        ..command?
    })
}

/// The name of a check or a `[[notify]]`.
pub(super) fn name(row: &mut TableReader<'_>) -> Option<String> {
    let name = row.text("name")?;
    if !is_name(&name) {
        let what = row.what;
        row.fault(format!(
            "a {what}'s name must have 1 to 60 letters, digits, \"-\" and \"_\""
        ));
    }
    Some(name)
}

/// The command of a row, without a name and a limit; `None` without a program.
pub(super) fn command(row: &mut TableReader<'_>, file: &Path) -> Option<CheckCommand> {
    // Paths are relative to the file, never to the directory in which a client starts us.
    let beside = file.parent().unwrap_or(Path::new(""));
    let beside = if beside.as_os_str().is_empty() {
        Path::new(".")
    } else {
        beside
    };
    let argv = row.read("argv", |value| {
        let mut argv: Vec<String> = value
            .as_array()
            .and_then(|items| items.iter().map(|item| item.get_ref().as_str()).collect())
            .map(|texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect())
            .filter(|argv: &Vec<String>| argv.first().is_some_and(|program| !program.is_empty()))
            .ok_or("must be a program and its arguments, such as [\"vale\", \"--output=line\"]")?;
        if let Some(program) = argv.first_mut().filter(|program| program.contains('/')) {
            *program = beside.join(&program).to_string_lossy().into_owned();
        }
        Ok(argv)
    });
    let cwd = row.text("cwd");
    let env = row.read("env", env).unwrap_or_default();
    Some(CheckCommand {
        name: String::new(),
        argv: argv?,
        cwd: cwd.map_or_else(|| beside.to_owned(), |cwd| beside.join(PathBuf::from(cwd))),
        environment: Vec::new(),
        env,
        paths: None,
        timeout: Duration::ZERO,
    })
}

/// Reads the time limit of a check or a notification.
pub(super) fn timeout(row: &mut TableReader<'_>) -> Duration {
    let seconds = row.read("timeout", |value| {
        whole_number(value)
            .filter(|seconds| (1..=LONGEST_TIMEOUT).contains(seconds))
            .ok_or_else(|| format!("must be a whole number of seconds from 1 to {LONGEST_TIMEOUT}"))
    });
    Duration::from_secs(seconds.unwrap_or(USUAL_TIMEOUT))
}

fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (1..=60).contains(&name.len()) && name.chars().all(is_letter)
}

/// The environment of a check: texts by name.
fn env(value: &DeValue<'_>) -> Result<Vec<(String, String)>, String> {
    let fault = || "must be a table of texts, such as { MODE = \"strict\" }".to_owned();
    let table = value.as_table().ok_or_else(fault)?;
    let pair = |(name, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let text = value.get_ref().as_str()?;
        let name = name.get_ref();
        let is_name = !name.is_empty() && !name.contains(['=', '\0']) && !text.contains('\0');
        is_name.then(|| (name.to_string(), text.to_owned()))
    };
    table
        .iter()
        .map(pair)
        .collect::<Option<_>>()
        .ok_or_else(fault)
}
