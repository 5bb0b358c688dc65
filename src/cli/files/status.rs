//! `wikijs-gate files status`

use super::{Dir, beside, list, open, worked};
use crate::cli::prelude::*;
use crate::files::{FolderStatus, StatusEntry};

/// Arguments of `files status`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate files status wiki\n  wikijs-gate files status --json"
)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    dir: Dir,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments) -> CommandResult {
    let app = start::app_for_operator()?;
    let folder = open(&arguments.dir.dir)?;
    let standing = worked(&app, async |far| {
        FolderStatus::read(&app.wiki, &folder, far).await
    });
    let standing = standing.await?;
    if arguments.json {
        return print::json(&json!({
            "ahead": standing.ahead,
            "behind": standing.behind,
            "both": standing.both,
            "conflicts": standing.conflicts,
            "notPages": standing.strange.iter().map(|one| &one.file).collect::<Vec<_>>(),
            "unreadable": standing.unread,
        }));
    }
    tell(&standing);
    Ok(Exit::Done)
}

fn tell(standing: &FolderStatus) {
    let entries = |title: &str, all: &[StatusEntry]| list(title, usize::MAX, all.iter().map(line));
    entries("changed here:", &standing.ahead);
    entries("changed in the wiki:", &standing.behind);
    let names = |title: &str, all: &[String]| list(title, usize::MAX, all.iter().cloned());
    names("changed on both sides, a pull merges:", &standing.both);
    names("conflicts to resolve:", &standing.conflicts);
    beside(&standing.strange, &standing.unread);
    let ahead = standing.ahead.len() + standing.both.len();
    print::line(&match (ahead, standing.behind.len()) {
        (0, 0) => "as in the wiki".to_owned(),
        (ahead, behind) => format!("{ahead} ahead, {behind} behind"),
    });
}

fn line(entry: &StatusEntry) -> String {
    let word = entry.what.as_str();
    let to = entry.to.as_ref().map(|to| format!(" -> {to}"));
    format!("{word:<8} {}{}", entry.page, to.unwrap_or_default())
}
