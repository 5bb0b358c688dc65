//! `wikijs-gate audit`: what was written, through which client, and what was refused.
//!
//! All of these only read; they send nothing to the wiki and need no key.

mod csv;
mod filters;
mod head;
mod key;
mod list;
mod report;
mod row;
mod show;
mod stats;
mod tail;
mod verify;

pub(super) use csv::columns as csv_columns;

use super::exit::Exit;
use super::{Outcome, print};
use crate::audit::{AuditError, CallSelector, StoryError};

/// Arguments of `audit`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List calls, the newest first
    List(list::Arguments),
    /// Show one call from its attempt to its outcome, with what it changed
    Show(show::Arguments),
    /// Show events as they are recorded
    Tail(tail::Arguments),
    /// Count calls by outcome, gate, client and day
    Stats(stats::Arguments),
    /// Write an HTML page: figures, a chart, and every call in detail
    Report(report::Arguments),
    /// Print the head of every run, to keep where nobody with write access to the log can change it
    Head(head::Arguments),
    /// Make a key that signs anchors, or show its public key
    Key(key::Arguments),
    /// Find what was changed, removed or put elsewhere on record; a whole rewrite only with `--head` or `--anchors`
    Verify(verify::Arguments),
}

pub(super) async fn run(arguments: Arguments) -> Outcome {
    match arguments.command {
        Command::List(arguments) => list::run(&arguments).await,
        Command::Show(arguments) => show::run(&arguments).await,
        Command::Tail(arguments) => tail::run(&arguments).await,
        Command::Stats(arguments) => stats::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Head(arguments) => head::run(&arguments),
        Command::Key(arguments) => key::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
    }
}

/// Parses the selector of a call.
fn selector(text: &str) -> Result<CallSelector, String> {
    CallSelector::parse(text).map_err(|fault| fault.to_string())
}

/// A log that could not be read.
fn unread(error: &AuditError) -> (Exit, String) {
    (Exit::Failed, format!("{error}; {}", error.hint()))
}

/// A call that could not be found.
fn not_found(error: &StoryError) -> (Exit, String) {
    match error {
        StoryError::Audit(error) => unread(error),
        StoryError::Ambiguous {
            candidates,
            has_more,
        } => {
            let mut names: Vec<String> = candidates.iter().map(ToString::to_string).collect();
            if *has_more {
                names.push("…".to_owned());
            }
            (Exit::Failed, format!("{error}: {}", names.join(", ")))
        }
        StoryError::NotFound | StoryError::NoneLeft => (Exit::Failed, error.to_string()),
    }
}

/// Reports on stderr that some of the log could not be read.
fn note_unreadable(lines: u64) {
    if lines > 0 {
        print::note(&format!(
            "{lines} lines of the log cannot be read; `wikijs-gate audit verify` says more of them"
        ));
    }
}
