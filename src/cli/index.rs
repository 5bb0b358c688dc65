//! `wikijs-mcp index`: the content index on the disk.

use serde_json::json;

use super::exit::Exit;
use super::{Outcome, print, start};
use crate::index;

/// Arguments of `index`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Remove the index of the configured wiki and key from the disk; the next search that
    /// needs it makes it anew
    #[command(after_help = "Examples:\n  wikijs-mcp index clear")]
    Clear {
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let Command::Clear { json } = arguments.command;
    let wrong = |error: String| (Exit::Usage, error);
    let settings = start::settings()?;
    let file = settings.index.file(&settings.wiki).ok_or_else(|| {
        wrong("WIKI_INDEX_DIR is missing, and there is no home directory".to_owned())
    })?;
    let was_there = index::clear(&file).map_err(|error| {
        let message = format!("the index cannot be removed: {}", error.kind());
        (Exit::Failed, message)
    })?;
    if json {
        print::line(&json!({ "removed": was_there }).to_string());
    } else {
        print::line(if was_there {
            "the index was removed"
        } else {
            "there was no index"
        });
    }
    Ok(Exit::Done)
}
