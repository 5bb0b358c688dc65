//! `wikijs-gate files pull`

#![expect(
    clippy::disallowed_methods,
    reason = "a folder that the operator names"
)]

use serde_json::json;

use super::super::exit::Exit;
use super::super::progress::StepProgress;
use super::super::{CommandResult, print, start};
use super::{Dir, did_nothing, explained, fault, open, shown, tell_pulled};
use crate::files::{Pulled, pull};
use crate::page::NewPath;

/// Arguments of `files pull`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate files pull wiki\n  wikijs-gate files pull handbook --path docs/handbook"
)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    dir: Dir,
    /// Only pages at and below this path; said once, when the folder is begun
    #[arg(long, value_name = "PREFIX", value_parser = NewPath::parse)]
    path: Option<NewPath>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments) -> CommandResult {
    let app = start::app_for_operator()?;
    let dir = &arguments.dir.dir;
    if !dir.exists() {
        std::fs::create_dir_all(dir).map_err(|error| {
            let dir = print::path(dir);
            Exit::usage(format!("{dir} cannot be made: {error}"))
        })?;
    }
    let folder = open(dir)?;
    let is_json = arguments.json;
    let _held = folder.hold().map_err(|error| fault(error, is_json))?;
    let path = arguments.path.map(NewPath::into_path);
    let steps = StepProgress::new();
    let pulled = pull(&app.wiki, &folder, path.as_ref(), shown(&steps)).await;
    drop(steps);
    let pulled = explained(&app, pulled, is_json).await?;
    if is_json {
        print::line(&told(&pulled).to_string());
    } else {
        tell_pulled(&pulled);
        if did_nothing(&pulled) {
            print::line("nothing changed in the wiki");
        }
    }
    Ok(if pulled.conflicts.is_empty() {
        Exit::Done
    } else {
        Exit::Refused
    })
}

/// The result of a pull, for a program.
pub(super) fn told(pulled: &Pulled) -> serde_json::Value {
    let moved = pulled
        .moved
        .iter()
        .map(|(from, to)| json!({ "from": from, "to": to }));
    let strange = pulled
        .strange
        .iter()
        .map(|one| json!({ "file": one.file, "why": one.why }));
    let unread = pulled
        .unread
        .iter()
        .map(|one| json!({ "locale": one.place.0, "path": one.place.1, "fields": one.fields }));
    json!({
        "new": pulled.new,
        "changed": pulled.changed,
        "moved": moved.collect::<Vec<_>>(),
        "removed": pulled.removed,
        "merged": pulled.merged,
        "conflicts": pulled.conflicts,
        "notes": pulled.notes,
        "notPages": strange.collect::<Vec<_>>(),
        "unreadable": unread.collect::<Vec<_>>(),
    })
}
