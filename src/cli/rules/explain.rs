//! `wikijs-gate rules explain`: which rules match a change of which this much is known.

use serde::Serialize;

use super::tables;
use crate::change::Operation;
use crate::cli::prelude::*;
use crate::cli::print::{harmless, painted};
use crate::cli::words::{one_of, operation, operations};
use crate::page::Prefix;
use crate::rules::{Could, Then};

/// Arguments of `rules explain`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate rules explain --path legal/terms --operation delete\n  wikijs-gate rules explain --client claude-code --json"
)]
pub(in crate::cli) struct Arguments {
    /// Who asks for the change
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// The page, with its locale where that matters (`docs/setup`, `de:docs/setup`)
    #[arg(long, value_name = "PATH", value_parser = Prefix::sought)]
    path: Option<Prefix>,
    /// The operation: create, update, move or delete
    #[arg(long, value_name = "KIND", value_parser = one_of(operations, operation), hide_possible_values = true)]
    operation: Option<Operation>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// A rule that holds or may.
#[derive(Serialize)]
struct RuleExplanation<'a> {
    rule: &'a str,
    then: Then,
    /// `always`, or `may` if the rule depends on more than is known.
    holds: &'static str,
    says: String,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    start::start_log(Some("warn"))?;
    let tables = tables()?;
    let path = arguments.path.as_ref();
    let place = path.map(|prefix| (prefix.locale.as_ref(), &prefix.path));
    let client = arguments.client.as_deref();
    let told = tables.rules.rules().filter_map(|rule| {
        let holds = match rule.could(client, place, arguments.operation) {
            Could::Holds => "always",
            Could::May => "may",
            Could::Never => return None,
        };
        Some(RuleExplanation {
            rule: &rule.name,
            then: rule.then,
            holds,
            says: rule.to_string(),
        })
    });
    let told: Vec<_> = told.collect();
    if arguments.json {
        return print::json(&json!({ "rules": told }));
    }
    if told.is_empty() {
        print::line("no rule can hold");
    }
    for one in &told {
        let (word, paint) = match one.holds {
            "always" => ("holds", Paint::Yellow),
            _ => ("may hold", Paint::Dim),
        };
        let word = painted(&format!("{word:<8}"), paint);
        say!("{word} {}", harmless(&one.says));
    }
    Ok(Exit::Done)
}
