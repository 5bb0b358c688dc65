//! `wikijs-gate files pull`

#![expect(
    clippy::disallowed_methods,
    reason = "a folder that the operator names"
)]

use super::{Dir, open, tell_pulled, worked};
use crate::cli::prelude::*;
use crate::files::{check_room, pull};
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
    // A directory that is refused stays as it is.
    check_room(&app.wiki, &folder)?;
    let _held = folder.hold()?;
    let path = arguments.path.map(NewPath::into_path);
    let path = path.as_ref();
    let pulled = worked(&app, async |far| pull(&app.wiki, &folder, path, far).await).await?;
    if is_json {
        print::value(&json!(pulled));
    } else {
        tell_pulled(&pulled);
        if pulled.is_nothing() {
            print::line("nothing changed in the wiki");
        }
    }
    Ok(if pulled.conflicts.is_empty() {
        Exit::Done
    } else {
        Exit::Refused
    })
}
