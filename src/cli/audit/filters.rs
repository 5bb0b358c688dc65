//! Flags that select calls.

use crate::audit::{CallFilter, CallOutcome, TimeArg};
use crate::change::Operation;
use crate::cli::prelude::RecordedCommand;
use crate::cli::words::{self, one_of, operation, operations};
use crate::custom::is_custom_name;
use crate::gates::Gate;
use crate::nearest::{did_you_mean, nearest};
use crate::page::Prefix;
use crate::tools::{Registry, ToolSelection, Toolset};
use crate::words::{joined, one_of as word_of, words_of};

/// Flags that select calls; each further flag narrows the selection.
#[derive(Debug, clap::Args)]
pub(super) struct Filters {
    /// Begun at this time or later: a date, an RFC 3339 time, or how long ago (`7d`, `24h`, `30m`)
    #[arg(long, value_name = "WHEN", value_parser = TimeArg::parse)]
    since: Option<TimeArg>,
    /// Begun before this time; a date means the end of that day, in UTC
    #[arg(long, value_name = "WHEN", value_parser = TimeArg::parse)]
    until: Option<TimeArg>,
    /// Of this tool, with or without `wikijs_` before its name, or of this command
    #[arg(long, value_name = "NAME", value_parser = one_of(tools, tool), hide_possible_values = true)]
    tool: Option<String>,
    #[arg(long, value_name = "KIND", value_parser = one_of(operations, operation), hide_possible_values = true, help = of_operation())]
    operation: Option<Operation>,
    /// Of pages at or below this path, which may begin with a locale (`docs`, `de:docs`)
    #[arg(long, value_name = "PREFIX", value_parser = Prefix::sought)]
    path: Option<Prefix>,
    /// Of the page with this id, wherever it was moved
    #[arg(long, value_name = "ID")]
    page: Option<i64>,
    /// By this client or user of the machine (`alice`), or deciding on the client's proposals
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// Last decided by this gate, such as enabled, paths, confirm or operator
    #[arg(long, value_name = "NAME", value_parser = one_of(|| words_of(&Gate::ALL, Gate::as_str), gate), hide_possible_values = true)]
    gate: Option<Gate>,
    /// Of this set of changes, named by its id or four or more of its first characters
    #[arg(long, value_name = "ID", value_parser = set)]
    set: Option<String>,
    #[arg(long, value_name = "WORD", value_parser = one_of(endings, |word| word_of(word, &CallOutcome::ALL, CallOutcome::as_str)), hide_possible_values = true, help = of_outcome())]
    outcome: Option<CallOutcome>,
}

impl Filters {
    /// The selection except the time, in words.
    pub(super) fn in_words(&self) -> Vec<String> {
        let named =
            |name: &str, value: Option<String>| value.map(|value| format!("{name} {value}"));
        let word = |value: Option<&str>| value.map(str::to_owned);
        [
            named("tool", self.tool.clone()),
            named("operation", word(self.operation.map(Operation::as_str))),
            named("path", self.path.as_ref().map(ToString::to_string)),
            named("page", self.page.map(|page| page.to_string())),
            named("client", self.client.clone()),
            named("gate", word(self.gate.map(Gate::as_str))),
            named("set", self.set.clone()),
            named("outcome", word(self.outcome.map(CallOutcome::as_str))),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    pub(super) fn filter(&self) -> CallFilter {
        CallFilter {
            since: self.since.map(TimeArg::begin),
            until: self.until.map(TimeArg::end),
            tool: self.tool.clone(),
            operation: self.operation,
            path: self.path.clone(),
            page: self.page,
            client: self.client.clone(),
            gate: self.gate.map(|gate| gate.as_str().to_owned()),
            set: self.set.clone(),
            ending: self.outcome,
        }
    }
}

fn tools() -> Vec<&'static str> {
    words::tools().into_iter().chain(commands()).collect()
}

fn commands() -> [&'static str; RecordedCommand::ALL.len()] {
    RecordedCommand::ALL.map(RecordedCommand::as_str)
}

fn endings() -> Vec<&'static str> {
    words_of(&CallOutcome::ALL, CallOutcome::as_str)
}

/// A tool of ours, or a command that writes.
fn tool(word: &str) -> Result<String, String> {
    let registry =
        Registry::new(&ToolSelection::new(&Toolset::ALL)).map_err(|error| error.to_string())?;
    let tools = registry.definitions().map(|tool| tool.name);
    let names: Vec<&str> = tools
        .flat_map(|name| [Some(name), name.strip_prefix("wikijs_")])
        .flatten()
        .chain(commands())
        .collect();
    // What was recorded under a custom tool stays, whether its file does or not.
    if names.contains(&word) || is_custom_name(word) {
        return Ok(word.to_owned());
    }
    let meant = did_you_mean(nearest(word, names, 0.8));
    Err(format!(
        "must be a tool, or one of {}{meant}",
        commands().join(", ")
    ))
}

fn set(word: &str) -> Result<String, String> {
    let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    if (4..=16).contains(&word.len()) && word.chars().all(is_hex) {
        Ok(word.to_owned())
    } else {
        Err("must be a set's id, or four or more of its first characters".to_owned())
    }
}

fn gate(word: &str) -> Result<Gate, String> {
    word_of(word, &Gate::ALL, Gate::as_str).map_err(|fault| {
        let meant = did_you_mean(nearest(word, words_of(&Gate::ALL, Gate::as_str), 0.8));
        format!("{fault}{meant}")
    })
}

/// The help of `--operation`.
fn of_operation() -> String {
    format!("Of this kind: {}", joined(operations(), "or"))
}

/// The help of `--outcome`.
fn of_outcome() -> String {
    let words = endings().into_iter().map(|word| format!("`{word}`"));
    format!("With this outcome: {}", joined(words, "or"))
}
