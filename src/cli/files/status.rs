//! `wikijs-gate files status`

use serde_json::json;

use super::super::exit::Exit;
use super::super::progress::StepProgress;
use super::super::{CommandResult, print, start};
use super::{Dir, beside, explained, fault, open, shown};
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
    let is_json = arguments.json;
    let steps = StepProgress::new();
    let standing = FolderStatus::read(&app.wiki, &folder, shown(&steps)).await;
    drop(steps);
    let standing = match standing {
        Ok(standing) => standing,
        Err(error) => return Err(fault(explained(&app, error).await, is_json)),
    };
    if is_json {
        let told = json!({
            "ahead": standing.ahead,
            "behind": standing.behind,
            "both": standing.both,
            "conflicts": standing.conflicts,
            "notPages": standing.strange.iter().map(|one| &one.file).collect::<Vec<_>>(),
        });
        print::line(&told.to_string());
        return Ok(Exit::Done);
    }
    tell(&standing);
    Ok(Exit::Done)
}

fn tell(standing: &FolderStatus) {
    let names = |title: &str, names: &[String]| {
        if !names.is_empty() {
            print::line(title);
            for name in names {
                print::line(&format!("  {}", print::harmless(name)));
            }
        }
    };
    lines("changed here:", &standing.ahead);
    lines("changed in the wiki:", &standing.behind);
    names("changed on both sides, a pull merges:", &standing.both);
    names("conflicts to resolve:", &standing.conflicts);
    beside(&standing.strange, &standing.unread);
    let ahead = standing.ahead.len() + standing.both.len();
    print::line(&match (ahead, standing.behind.len()) {
        (0, 0) => "as in the wiki".to_owned(),
        (ahead, behind) => format!("{ahead} ahead, {behind} behind"),
    });
}

fn lines(title: &str, lines: &[StatusEntry]) {
    if lines.is_empty() {
        return;
    }
    print::line(title);
    for line in lines {
        let word = line.what.as_str();
        let to = line.to.as_ref().map(|to| format!(" -> {to}"));
        let text = format!("  {word:<8} {}{}", line.page, to.unwrap_or_default());
        print::line(&print::harmless(&text));
    }
}
