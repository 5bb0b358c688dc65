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
use self::row::{TableReader, prefix, word};
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

/// Reads the tables of a settings file: as much as can be understood, and all faults.
pub(super) fn read(table: &DeTable<'_>, file: &Path) -> (Tables, Vec<TableFault>) {
    let mut faults = Vec::new();
    let mut whole = TableReader::of_file(table, &mut faults);
    let checks = whole.named_rows(
        ("checks", "checks", MOST_CHECKS),
        |row| check(row, file),
        |check| &check.name,
    );
    let notify = notify::read(&mut whole, file);
    let oauth = oauth::read(&mut whole, file);
    let mut first = None;
    let rules = whole.rows("rules", |row| {
        first.get_or_insert_with(|| row.span());
        rule(row, &checks)
    });
    let off = whole.words("rules_off", BUILT_IN.map(|name| (name, name)));
    let rules = RuleBook::new(rules, &off.unwrap_or_default()).unwrap_or_else(|fault| {
        faults.push((first, fault));
        RuleBook::default()
    });
    let tables = Tables {
        rules,
        checks,
        notify,
        oauth,
    };
    (tables, faults)
}

fn rule(row: &mut TableReader<'_>, checks: &[CheckCommand]) -> Option<Rule> {
    row.unknown(&schema::rules(), "/items");
    let name = row.text("name");
    let then = row.word("then", Then::ALL.map(|then| (then.as_str(), then)));
    let why = row.text("why").unwrap_or_default();
    let filled = |text: &str| match text.trim() {
        "" => Err("has an empty text".to_owned()),
        text => Ok(text.to_owned()),
    };
    let mut when = RuleCondition::default();
    when.paths = row.list("paths", prefix);
    when.operations = row.words("operations", Operation::ALL.map(|one| (one.as_str(), one)));
    when.fields = row.words("fields", Field::ALL.map(|field| (field.name(), field)));
    when.tags = row.list("tags", |text| {
        filled(text).map(|tag| TagPattern::new(tag.to_lowercase()))
    });
    when.clients = row.list("clients", filled);
    when.people = row.list("people", filled);
    when.warnings = row.list("warnings", |text| warning(text, checks));
    when.lines_removed_over = row.number("lines_removed_over", LARGEST_COUNT);
    when.pages_over = row.number("pages_over", LARGEST_COUNT);
    when.deletes_over = row.number("deletes_over", LARGEST_COUNT);
    when.writes_per_day_over = row.number("writes_per_day_over", LARGEST_COUNT);
    row.needs(&["name", "then"]);
    let (name, then) = (name?, then?);
    if row.is_faulty() {
        return None;
    }
    let rule = Rule::new(name, when, then, why);
    rule.map_err(|fault| row.fault(format!("a rule's {fault}")))
        .ok()
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

#[cfg(test)]
mod tests;
