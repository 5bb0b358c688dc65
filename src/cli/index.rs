//! `wikijs-gate index`: the content indexes on the disk.

use std::sync::Arc;

use super::print::counted;
use crate::cli::prelude::*;
use crate::config::Settings;
use crate::index::{self, ContentIndex, IndexMode};
use crate::wiki::Wiki;

#[derive(Debug, clap::Subcommand)]
pub(super) enum IndexCommand {
    /// Look at the wiki's pages now, and bring its index on the disk up to date
    #[command(
        after_help = "Examples:\n  wikijs-gate index refresh\n  wikijs-gate --site docs index refresh --json"
    )]
    Refresh(JsonArgs),
    /// Remove the wiki's indexes from the disk, those of all keys; the next search that needs one
    /// rebuilds it
    #[command(
        after_help = "Examples:\n  wikijs-gate index clear\n  wikijs-gate --site docs index clear --json"
    )]
    Clear(JsonArgs),
}

pub(super) async fn run(command: &IndexCommand) -> CommandResult {
    match command {
        IndexCommand::Refresh(arguments) => refresh(start::settings()?, arguments.json).await,
        IndexCommand::Clear(arguments) => clear(&start::settings()?, arguments.json),
    }
}

/// Looks at the pages until all that can be indexed is.
async fn refresh(settings: Settings, is_json: bool) -> CommandResult {
    if settings.index.mode != IndexMode::Disk {
        return Err(Exit::usage(
            "only an index on the disk (WIKI_INDEX=disk) outlives a server; in memory each server keeps its own up to date",
        ));
    }
    let wiki = Wiki::new(settings.wiki, "index refresh").map_err(Exit::failed)?;
    let index = Arc::new(ContentIndex::new(Arc::new(wiki), settings.index));
    let work = async {
        let mut last = 0;
        loop {
            let begun = index.ready(|_, _| {}).await;
            begun.map_err(Exit::failed)?;
            // A search waits for a part of the pages and for a time; this is for all of them.
            index.pass_ended().await;
            // An older index is no answer for a wiki that gave none.
            if let Some(error) = index.failure() {
                return Err(Exit::failed(error));
            }
            let (now, _) = index.now();
            if now.is_complete || now.pages >= now.most {
                return Ok(now);
            }
            if now.pages <= last {
                return Err(Exit::failed(
                    "nothing more could be indexed; a server may be filling this index now",
                ));
            }
            last = now.pages;
        }
    };
    let found = print::in_progress("looking at the pages", work).await?;
    let embedded = print::in_progress("asking for vectors", index.embed_missing());
    if let Err(why) = embedded.await {
        remark!("pages are not all found by meaning: {why}");
    }
    if is_json {
        return print::json(
            &json!({ "pages": found.pages, "of": found.of, "isComplete": found.is_complete }),
        );
    }
    say!("{} of {} pages are indexed", found.pages, found.of);
    Ok(Exit::Done)
}

fn clear(settings: &Settings, is_json: bool) -> CommandResult {
    let file = settings.index.file(&settings.wiki, &settings.wiki.key);
    let file = file
        .ok_or_else(|| Exit::usage("WIKI_INDEX_DIR is missing, and there is no home directory"))?;
    let removed = index::clear(&file).map_err(|error| {
        let message = format!("the index cannot be removed: {}", error.kind());
        Exit::failed(message)
    })?;
    if is_json {
        return print::json(&json!({ "removed": removed > 0, "indexes": removed }));
    }
    print::line(&match removed {
        0 => "no index was removed".to_owned(),
        count => format!("{} removed", counted(count, "index was", "indexes were")),
    });
    Ok(Exit::Done)
}
