//! `wikijs-gate files`: a wiki's pages as files in a folder.

mod diff;
mod pull;
mod push;
mod status;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::file_faults;
use super::progress::StepProgress;
use crate::cli::prelude::*;
use crate::files::{FilesError, Folder, MovedPage, Pulled, Stage, Strange, UnreadablePage};

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

/// The folder.
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
fn open(dir: &Path) -> Result<Folder, CommandError> {
    Folder::open(dir).map_err(|error| {
        Exit::usage(match error.kind() {
            ErrorKind::NotADirectory => format!("{} is no directory", print::path(dir)),
            kind => file_faults::unread(dir, kind),
        })
    })
}

/// The fault of a folder.
impl From<FilesError> for CommandError {
    fn from(error: FilesError) -> Self {
        let exit = match error {
            FilesError::Wiki(failure) => return failure.into(),
            FilesError::Io { .. } => Exit::Failed,
            _ => Exit::Usage,
        };
        let text = error.to_string();
        Self::new(exit, separated(text.lines().map(print::harmless), "\n"))
    }
}

/// Works with the wiki, and shows how far it is; a failure of the wiki comes with what it means.
async fn worked<T>(
    app: &App,
    work: impl AsyncFnOnce(&dyn Fn(Stage, usize, usize)) -> Result<T, FilesError>,
) -> Result<T, FilesError> {
    let steps = StepProgress::new();
    let done = work(&|stage, done, of| steps.at(done, of, stage.as_str())).await;
    drop(steps);
    match done {
        Err(FilesError::Wiki(failure)) => Err(app.wiki.explained(failure).await.into()),
        done => done,
    }
}

/// Prints up to so many lines under a title, and how many more there are; nothing without lines.
fn list(title: &str, most: usize, lines: impl ExactSizeIterator<Item = String>) {
    let all = lines.len();
    if all == 0 {
        return;
    }
    print::line(title);
    for line in lines.take(most) {
        say!("  {}", print::harmless(&line));
    }
    if all > most {
        say!("  … and {} more", all - most);
    }
}

/// Prints what is no page's file, and what cannot be read.
fn beside(strange: &[Strange], unread: &[UnreadablePage]) {
    let strange = strange.iter();
    let strange = strange.map(|one| format!("{} ({})", one.file, one.why));
    list("not pages, left alone:", NAMED, strange);
    let unread = unread.iter().map(|one| {
        let place = print::place(one.locale.as_str(), one.path.as_str());
        format!("{place} ({})", one.fields.join(", "))
    });
    list("this key cannot read all of:", NAMED, unread);
}

/// Prints what a pull did.
fn tell_pulled(pulled: &Pulled) {
    let names = |what: &str, names: &[String]| {
        let title = format!("{} {what}:", names.len());
        list(&title, NAMED, names.iter().cloned());
    };
    names("new", &pulled.new);
    names("changed", &pulled.changed);
    let moved = pulled.moved.iter();
    let moved = moved.map(|MovedPage { from, to }| format!("{from} -> {to}"));
    names("moved", &moved.collect::<Vec<_>>());
    names("removed", &pulled.removed);
    names("merged with your changes", &pulled.merged);
    names("with conflicts, marked in the files", &pulled.conflicts);
    print::harmless_lines(&pulled.notes);
    beside(&pulled.strange, &pulled.unread);
}
