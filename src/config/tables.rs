//! The tables of the settings file: `[[rules]]`, `[[checks]]`, `[[notify]]` and `[oauth]`, and which
//! built-in rules are switched off. Only a file has them.

mod check;
mod notify;
mod oauth;
mod row;
mod schema;

use std::path::Path;

use toml::de::DeTable;

use self::check::check;
pub(super) use self::row::TableFault;
use self::row::{ArrayTable, Sift, prefix, rows, texts, word};
use self::schema::LARGEST_COUNT;
pub(super) use self::schema::schemas;
use crate::change::{CODES, Operation};
use crate::checks::CheckCommand;
use crate::nearest::{did_you_mean, nearest};
use crate::notify::NotifyTarget;
use crate::oauth::OauthSettings;
use crate::page::{Field, TagPattern};
use crate::rules::{BUILT_IN, Rule, RuleBook, RuleCondition, Then};

/// The names of the tables, as the file has them.
pub(super) const TABLES: [&str; 7] = [
    "rules",
    "checks",
    "rules_off",
    "notify",
    "oauth",
    "sites",
    "default_site",
];

/// The most checks.
const MOST_CHECKS: usize = 20;

/// The contents of the tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    /// The rules, the built-in ones included.
    pub rules: RuleBook,
    /// The checks.
    pub checks: Vec<CheckCommand>,
    /// The targets notified when something waits for people or went wrong.
    pub notify: Vec<NotifyTarget>,
    /// People's sign-in.
    pub oauth: Option<OauthSettings>,
}

/// Reads the tables of a settings file.
///
/// # Errors
/// All faults.
pub(super) fn read(table: &DeTable<'_>, file: &Path) -> Result<Tables, Vec<TableFault>> {
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
    let notify = notify::read(table, file, &mut faults);
    let oauth = oauth::read(table, file, &mut faults);
    let mut rules = Vec::new();
    let mut first = None;
    for one in rows(table, "rules", &mut faults) {
        first = first.or_else(|| Some(one.span()));
        match rule(&one, &checks) {
            Ok(rule) => rules.push(rule),
            Err(found) => faults.extend(found),
        }
    }
    let off = off(table).unwrap_or_else(|fault| {
        faults.push(fault);
        Vec::new()
    });
    let rules = RuleBook::new(rules, &off).unwrap_or_else(|fault| {
        faults.push((first, fault));
        RuleBook::default()
    });
    if faults.is_empty() {
        Ok(Tables {
            rules,
            checks,
            notify,
            oauth,
        })
    } else {
        Err(faults)
    }
}

fn rule(row: &ArrayTable<'_, '_>, checks: &[CheckCommand]) -> Result<Rule, Vec<TableFault>> {
    let mut faults = row.unknown(&schema::rules(), "/items");
    let mut sift = Sift(&mut faults);
    let name = sift.take(row.text("name"));
    let then = sift.take(row.parsed("then", |text| {
        word(text, Then::ALL.map(|then| (then.as_str(), then)))
    }));
    let why = sift.take(row.text("why")).unwrap_or_default();
    let filled = |text: &str| match text.trim() {
        "" => Err("has an empty text".to_owned()),
        text => Ok(text.to_owned()),
    };
    let mut when = RuleCondition::default();
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
    when.people = sift.take(row.list("people", filled));
    when.warnings = sift.take(row.list("warnings", |text| warning(text, checks)));
    when.lines_removed_over = sift.take(row.number("lines_removed_over", LARGEST_COUNT));
    when.pages_over = sift.take(row.number("pages_over", LARGEST_COUNT));
    when.deletes_over = sift.take(row.number("deletes_over", LARGEST_COUNT));
    when.writes_per_day_over = sift.take(row.number("writes_per_day_over", LARGEST_COUNT));
    row.needs(&["name", "then"], &mut faults);
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

/// The built-in rules that are switched off.
fn off(table: &DeTable<'_>) -> Result<Vec<&'static str>, TableFault> {
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

#[cfg(test)]
mod tests;
