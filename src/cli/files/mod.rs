//! `wikijs-gate files`: a wiki's pages as files in a folder.

mod diff;
mod pull;
mod push;
mod status;

use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::exit::Exit;
use super::progress::StepProgress;
use super::{CommandResult, print};
use crate::files::{FilesError, Folder, Pulled, Stage, Strange, UnreadablePage};

/// The most lines of a list that are printed.
const NAMED: usize = 20;

#[derive(Debug, Subcommand)]
pub(super) enum FilesCommand {
    /// Bring pages into a folder, or what changed in the wiki since
    Pull(pull::Arguments),
    /// Show what was changed in a folder, and in the wiki since the last pull
    Status(status::Arguments),
    /// Show what was changed in a folder as a difference
    Diff(diff::Arguments),
    /// Take what was changed in a folder to the wiki, after showing it
    Push(push::Arguments),
}

/// Which folder.
#[derive(Debug, clap::Args)]
struct Dir {
    /// The folder
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
}

pub(super) async fn run(command: FilesCommand) -> CommandResult {
    match command {
        FilesCommand::Pull(arguments) => Box::pin(pull::run(arguments)).await,
        FilesCommand::Status(arguments) => Box::pin(status::run(arguments)).await,
        FilesCommand::Diff(arguments) => diff::run(&arguments),
        FilesCommand::Push(arguments) => Box::pin(push::run(arguments)).await,
    }
}

/// Opens the folder.
fn open(dir: &Path) -> Result<Folder, (Exit, String)> {
    Folder::open(dir).map_err(|error| {
        let dir = print::path(dir);
        Exit::usage(format!("{dir} cannot be opened: {error}"))
    })
}

/// A fault of a folder, with its exit code.
fn fault(error: FilesError, is_json: bool) -> (Exit, String) {
    let exit = match error {
        FilesError::Wiki(failure) => return print::failure(&failure, is_json),
        FilesError::Io { .. } => Exit::Failed,
        _ => Exit::Usage,
    };
    let text = error.to_string();
    let lines: Vec<String> = text.lines().map(print::harmless).collect();
    (exit, lines.join("\n"))
}

/// Shows how far a command is.
fn shown(steps: &StepProgress) -> impl Fn(Stage, usize, usize) {
    |stage, done, of| steps.at(done, of, stage.as_str())
}

/// A failure of the wiki, with what it means.
async fn explained(app: &crate::server::App, error: FilesError) -> FilesError {
    match error {
        FilesError::Wiki(failure) => app.wiki.explained(failure).await.into(),
        error => error,
    }
}

/// Prints up to so many lines, and how many more there are.
fn some(lines: impl ExactSizeIterator<Item = String>) {
    let all = lines.len();
    for line in lines.take(NAMED) {
        print::line(&line);
    }
    if all > NAMED {
        print::line(&format!("  … and {} more", all - NAMED));
    }
}

/// Prints what is no page's file, and what cannot be read.
fn beside(strange: &[Strange], unread: &[UnreadablePage]) {
    if !strange.is_empty() {
        print::line("not pages, left alone:");
        some(
            strange
                .iter()
                .map(|one| format!("  {} ({})", print::harmless(&one.file), one.why)),
        );
    }
    if !unread.is_empty() {
        print::line("this key cannot read all of:");
        some(unread.iter().map(|one| {
            let place = print::place(one.place.0.as_str(), one.place.1.as_str());
            format!("  {place} ({})", one.fields.join(", "))
        }));
    }
}

/// Prints what a pull did.
fn tell_pulled(pulled: &Pulled) {
    let names = |what: &str, names: &[String]| {
        if !names.is_empty() {
            print::line(&format!("{} {what}:", names.len()));
            some(
                names
                    .iter()
                    .map(|name| format!("  {}", print::harmless(name))),
            );
        }
    };
    names("new", &pulled.new);
    names("changed", &pulled.changed);
    let moved = pulled
        .moved
        .iter()
        .map(|(from, to)| format!("{from} -> {to}"));
    names("moved", &moved.collect::<Vec<_>>());
    names("removed", &pulled.removed);
    names("merged with your changes", &pulled.merged);
    names("with conflicts, marked in the files", &pulled.conflicts);
    for note in &pulled.notes {
        print::line(&print::harmless(note));
    }
    beside(&pulled.strange, &pulled.unread);
}

fn did_nothing(pulled: &Pulled) -> bool {
    let Pulled {
        new,
        changed,
        moved,
        removed,
        merged,
        conflicts,
        notes,
        unread: _,
        strange: _,
    } = pulled;
    let lists = [new, changed, removed, merged, conflicts, notes];
    moved.is_empty() && lists.iter().all(|list| list.is_empty())
}
