//! The tables of the settings file: `[[rules]]` and `[[checks]]`, and which built-in rules are
//! switched off. Only a file has them.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::change::{CODES, Operation};
use crate::checks::CheckCommand;
use crate::page::{Field, Prefix, TagPattern};
use crate::rules::{BUILT_IN, Rule, RuleBook, Then, When};
use crate::tools::{did_you_mean, nearest};

/// The largest number that a rule may count to.
pub(super) const LARGEST_COUNT: u64 = 1_000_000;
/// The names of the tables, as the file has them.
pub(super) const TABLES: [&str; 3] = ["rules", "checks", "rules_off"];

/// The members of a rule.
pub(super) const RULE_MEMBERS: [&str; 13] = [
    "name",
    "then",
    "why",
    "paths",
    "operations",
    "fields",
    "tags",
    "clients",
    "warnings",
    "lines_removed_over",
    "pages_over",
    "deletes_over",
    "writes_per_day_over",
];
/// The members of a check.
pub(super) const CHECK_MEMBERS: [&str; 6] = ["name", "argv", "cwd", "env", "paths", "timeout"];

/// How long a check may take by default, in seconds.
pub(super) const USUAL_TIMEOUT: u64 = 10;
/// The longest time that can be set.
pub(super) const LONGEST_TIMEOUT: u64 = 60;
/// The most checks.
const MOST_CHECKS: usize = 20;

/// What the tables say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    /// The rules, with those that are built in.
    pub rules: RuleBook,
    /// The checks.
    pub checks: Vec<CheckCommand>,
}

/// A fault and its place in the file.
pub(super) type Fault = (Option<Range<usize>>, String);

/// Reads the tables of a settings file.
///
/// # Errors
/// All faults.
pub(super) fn read(table: &DeTable<'_>, file: &Path) -> Result<Tables, Vec<Fault>> {
    let mut faults = Vec::new();
    let mut checks: Vec<CheckCommand> = Vec::new();
    for one in rows(table, "checks", &mut faults) {
        match check(&one, file) {
            Ok(check) if checks.iter().any(|other| other.name == check.name) => {
                faults.push((
                    Some(one.span()),
                    format!("two checks have the name {:?}", check.name),
                ));
            }
            Ok(check) => checks.push(check),
            Err(found) => faults.extend(found),
        }
    }
    if checks.len() > MOST_CHECKS {
        faults.push((None, format!("there are more than {MOST_CHECKS} checks")));
    }
    let mut rules = Vec::new();
    let mut first = None;
    for one in rows(table, "rules", &mut faults) {
        first = first.or_else(|| Some(one.span()));
        match rule(&one, &checks) {
            Ok(rule) => rules.push(rule),
            Err(found) => faults.extend(found),
        }
    }
    let off = match off(table) {
        Ok(off) => off,
        Err(fault) => {
            faults.push(fault);
            Vec::new()
        }
    };
    let rules = match RuleBook::new(rules, &off) {
        Ok(rules) => rules,
        Err(fault) => {
            faults.push((first, fault));
            RuleBook::default()
        }
    };
    if faults.is_empty() {
        Ok(Tables { rules, checks })
    } else {
        Err(faults)
    }
}

/// One table of an array of them.
struct Row<'a, 'b> {
    what: &'static str,
    table: &'a DeTable<'b>,
    at: Range<usize>,
}

fn rows<'a, 'b>(
    table: &'a DeTable<'b>,
    name: &'static str,
    faults: &mut Vec<Fault>,
) -> Vec<Row<'a, 'b>> {
    let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == name) else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    let is_read = value.get_ref().as_array().is_some_and(|items| {
        items.iter().all(|item| {
            let table = item.get_ref().as_table();
            rows.extend(table.map(|table| Row {
                what: name.trim_end_matches('s'),
                table,
                at: item.span(),
            }));
            table.is_some()
        })
    });
    if !is_read {
        faults.push((
            Some(key.span()),
            format!("{name} must be tables, each under a line [[{name}]]"),
        ));
        return Vec::new();
    }
    rows
}

impl Row<'_, '_> {
    fn span(&self) -> Range<usize> {
        self.at.clone()
    }

    /// A fault for each unknown member.
    fn unknown(&self, known: &[&'static str]) -> Vec<Fault> {
        let unknown = self
            .table
            .keys()
            .filter(|key| !known.contains(&&**key.get_ref()));
        let fault = |key: &Spanned<_>| {
            let name: &std::borrow::Cow<'_, str> = key.get_ref();
            let near = nearest(name, known, 0.7);
            let fault = format!(
                "{name:?} is no member of a {}{}",
                self.what,
                did_you_mean(near)
            );
            (Some(key.span()), fault)
        };
        unknown.map(fault).collect()
    }

    fn get(&self, name: &str) -> Option<(&DeValue<'_>, Range<usize>)> {
        let (_, value) = self.table.iter().find(|(key, _)| key.get_ref() == name)?;
        Some((value.get_ref(), value.span()))
    }

    fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(&DeValue<'_>) -> Result<T, String>,
    ) -> Result<Option<T>, Fault> {
        let Some((value, at)) = self.get(name) else {
            return Ok(None);
        };
        let read = read(value).map_err(|fault| (Some(at), format!("{name} {fault}")));
        read.map(Some)
    }

    fn text(&self, name: &str) -> Result<Option<String>, Fault> {
        self.read(name, |value| {
            let text = value.as_str().ok_or("must be a text in quotes")?;
            Ok(text.to_owned())
        })
    }

    fn number(&self, name: &str, most: u64) -> Result<Option<u64>, Fault> {
        self.read(name, |value| {
            let number = value.as_integer();
            let number = number.and_then(|it| u64::from_str_radix(it.as_str(), it.radix()).ok());
            number
                .filter(|number| *number <= most)
                .ok_or_else(|| format!("must be a whole number from 0 to {most}, without quotes"))
        })
    }

    /// A list of texts that must not be empty, each read by a function.
    fn list<T>(
        &self,
        name: &str,
        mut each: impl FnMut(&str) -> Result<T, String>,
    ) -> Result<Option<Vec<T>>, Fault> {
        self.read(name, |value| {
            let texts = texts(value)?;
            texts.into_iter().map(&mut each).collect()
        })
    }
}

/// The texts of an array, or one text.
fn texts<'a>(value: &'a DeValue<'_>) -> Result<Vec<&'a str>, String> {
    let texts: Option<Vec<&str>> = match (value.as_array(), value.as_str()) {
        (Some(items), _) => items.iter().map(|item| item.get_ref().as_str()).collect(),
        (None, one) => one.map(|text| vec![text]),
    };
    texts
        .filter(|texts| !texts.is_empty())
        .ok_or_else(|| "must be an array of texts that is not empty, or one text".to_owned())
}

/// One of some words; the fault names the most similar one.
fn word<T: Copy>(
    text: &str,
    all: impl IntoIterator<Item = (&'static str, T)>,
) -> Result<T, String> {
    let all: Vec<(&'static str, T)> = all.into_iter().collect();
    if let Some((_, found)) = all.iter().find(|(name, _)| *name == text) {
        return Ok(*found);
    }
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let near = nearest(text, &names, 0.7);
    Err(format!(
        "has {text:?}, which is none of {}{}",
        names.join(", "),
        did_you_mean(near)
    ))
}

fn prefix(text: &str) -> Result<Prefix, String> {
    Prefix::parse(text).map_err(|fault| format!("has {text:?}, which {fault}"))
}

fn rule(row: &Row<'_, '_>, checks: &[CheckCommand]) -> Result<Rule, Vec<Fault>> {
    let mut faults = row.unknown(&RULE_MEMBERS);
    let mut sift = Sift(&mut faults);
    let name = sift.take(row.text("name"));
    let then = sift.take(row.read("then", |value| {
        let text = value.as_str().unwrap_or_default();
        word(text, Then::ALL.map(|then| (then.as_str(), then)))
    }));
    let why = sift.take(row.text("why")).unwrap_or_default();
    let filled = |text: &str| match text.trim() {
        "" => Err("has an empty text".to_owned()),
        text => Ok(text.to_owned()),
    };
    let mut when = When::default();
    when.paths = sift.take(row.list("paths", prefix));
    when.operations = sift.take(row.list("operations", |text| {
        word(text, Operation::ALL.map(|one| (one.as_str(), one)))
    }));
    when.fields = sift.take(row.list("fields", |text| {
        word(text, Field::ALL.map(|field| (field.name(), field)))
    }));
    when.tags = sift.take(row.list("tags", |text| {
        filled(text).map(|tag| TagPattern::new(tag.to_lowercase()))
    }));
    when.clients = sift.take(row.list("clients", filled));
    when.warnings = sift.take(row.list("warnings", |text| warning(text, checks)));
    when.lines_removed_over = sift.take(row.number("lines_removed_over", LARGEST_COUNT));
    when.pages_over = sift.take(row.number("pages_over", LARGEST_COUNT));
    when.deletes_over = sift.take(row.number("deletes_over", LARGEST_COUNT));
    when.writes_per_day_over = sift.take(row.number("writes_per_day_over", LARGEST_COUNT));
    for (member, is_there) in [("name", row.get("name")), ("then", row.get("then"))] {
        if is_there.is_none() {
            faults.push((Some(row.span()), format!("a rule needs {member}")));
        }
    }
    let (true, Some(name), Some(then)) = (faults.is_empty(), name, then) else {
        return Err(faults);
    };
    Rule::new(name, when, then, why)
        .map_err(|fault| vec![(Some(row.span()), format!("a rule's {fault}"))])
}

/// The code of a warning that a rule can match.
fn warning(text: &str, checks: &[CheckCommand]) -> Result<String, String> {
    let Some(name) = text.strip_prefix(CheckCommand::PREFIX) else {
        return word(text, CODES.map(|code| (code, code))).map(str::to_owned);
    };
    if checks.iter().any(|check| check.name == name) {
        return Ok(text.to_owned());
    }
    let near = nearest(name, checks.iter().map(|check| check.name.as_str()), 0.7);
    let near = near.map(|name| format!("{}{name}", CheckCommand::PREFIX));
    Err(format!(
        "has {text:?}, and there is no such check{}",
        did_you_mean(near)
    ))
}

fn check(row: &Row<'_, '_>, file: &Path) -> Result<CheckCommand, Vec<Fault>> {
    let mut faults = row.unknown(&CHECK_MEMBERS);
    let mut sift = Sift(&mut faults);
    let name = sift.take(row.text("name").and_then(|name| match name {
        Some(name) if !is_name(&name) => Err((
            Some(row.span()),
            "a check's name must have 1 to 60 letters, digits, \"-\" and \"_\"".to_owned(),
        )),
        name => Ok(name),
    }));
    // Paths are relative to the file, never to the directory in which a client starts us.
    let beside = file.parent().unwrap_or(Path::new(""));
    let beside = if beside.as_os_str().is_empty() {
        Path::new(".")
    } else {
        beside
    };
    let argv = sift.take(row.read("argv", |value| {
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
    }));
    let cwd = sift.take(row.text("cwd"));
    let env = sift.take(row.read("env", env)).unwrap_or_default();
    let paths = sift.take(row.list("paths", prefix));
    let timeout = sift.take(row.read("timeout", |value| {
        let seconds = value.as_integer();
        let seconds = seconds.and_then(|it| u64::from_str_radix(it.as_str(), it.radix()).ok());
        seconds
            .filter(|seconds| (1..=LONGEST_TIMEOUT).contains(seconds))
            .ok_or_else(|| format!("must be a whole number of seconds from 1 to {LONGEST_TIMEOUT}"))
    }));
    for member in ["name", "argv"] {
        if row.get(member).is_none() {
            faults.push((Some(row.span()), format!("a check needs {member}")));
        }
    }
    let (true, Some(name), Some(argv)) = (faults.is_empty(), name, argv) else {
        return Err(faults);
    };
    Ok(CheckCommand {
        name,
        argv,
        cwd: cwd.map_or_else(|| beside.to_owned(), |cwd| beside.join(PathBuf::from(cwd))),
        environment: Vec::new(),
        env,
        paths,
        timeout: Duration::from_secs(timeout.unwrap_or(USUAL_TIMEOUT)),
    })
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

/// The built-in rules that are switched off.
fn off(table: &DeTable<'_>) -> Result<Vec<&'static str>, Fault> {
    let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == "rules_off") else {
        return Ok(Vec::new());
    };
    let read = || -> Result<Vec<&'static str>, String> {
        let texts = texts(value.get_ref())?.into_iter();
        let built_in = |text| word(text, BUILT_IN.map(|name| (name, name)));
        texts.map(built_in).collect()
    };
    read().map_err(|fault| (Some(key.span()), format!("rules_off {fault}")))
}

/// Gathers faults.
struct Sift<'a>(&'a mut Vec<Fault>);

impl Sift<'_> {
    fn take<T>(&mut self, read: Result<Option<T>, Fault>) -> Option<T> {
        read.unwrap_or_else(|fault| {
            self.0.push(fault);
            None
        })
    }
}

#[cfg(test)]
mod tests;
