//! `wikijs-gate index`: the content indexes on the disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use time::OffsetDateTime;

use super::file_faults;
use super::print::{counted, harmless};
use super::when::rfc3339;
use crate::cli::prelude::*;
use crate::config::Settings;
use crate::index::{self, ContentIndex, IndexMode, OnDisk};
use crate::wiki::Wiki;

#[derive(Debug, clap::Subcommand)]
pub(super) enum IndexCommand {
    /// Show every index below `WIKI_INDEX_DIR`, of any wiki and key
    #[command(
        after_help = "Examples:\n  wikijs-gate index status\n  wikijs-gate index status --json"
    )]
    Status(JsonArgs),
    /// Look at the wiki's pages now, and bring its index on the disk up to date
    #[command(
        after_help = "Examples:\n  wikijs-gate index refresh\n  wikijs-gate --site docs index refresh --json"
    )]
    Refresh(JsonArgs),
    /// Remove the index of the configured wiki and key from the disk; the next search that needs it
    /// rebuilds it
    #[command(after_help = "Examples:\n  wikijs-gate index clear\n  wikijs-gate index clear --all")]
    Clear {
        /// Remove every index below `WIKI_INDEX_DIR`, of any wiki and key; an index that a server
        /// is filling stays
        #[arg(long)]
        all: bool,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) async fn run(command: &IndexCommand) -> CommandResult {
    match command {
        IndexCommand::Refresh(arguments) => refresh(start::settings()?, arguments.json).await,
        IndexCommand::Status(arguments) => status(&IndexPlaces::of_all()?, arguments.json),
        IndexCommand::Clear { all: true, json } => clear_all(&IndexPlaces::of_all()?, *json),
        IndexCommand::Clear { all: false, json } => {
            clear(&IndexPlaces::new(&[start::settings()?])?, *json)
        }
    }
}

/// The places of indexes on the disk.
struct IndexPlaces {
    /// The directories that hold them; each once, and at least one.
    dirs: Vec<PathBuf>,
    /// The files of the configured wikis and keys.
    own: Vec<PathBuf>,
}

impl IndexPlaces {
    fn new(settings: &[Settings]) -> Result<Self, CommandError> {
        let (mut dirs, mut own) = (Vec::new(), Vec::new());
        for one in settings {
            let file = one.index.file(&one.wiki, &one.wiki.key);
            let (Some(dir), Some(file)) = (one.index.dir.clone(), file) else {
                return Err(Exit::usage(
                    "WIKI_INDEX_DIR is missing, and there is no home directory",
                ));
            };
            if !dirs.contains(&dir) {
                dirs.push(dir);
            }
            own.push(file);
        }
        Ok(Self { dirs, own })
    }

    /// Those of all sites, or of the one that is named.
    fn of_all() -> Result<Self, CommandError> {
        start::start_log(Some("warn"))?;
        let is_named = start::given().site.is_some();
        Self::new(&start::settings_of(&start::layers()?, !is_named)?)
    }

    fn indexes(&self) -> Result<Vec<OnDisk>, CommandError> {
        let found = self.dirs.iter().map(|dir| all(dir));
        let found: Vec<_> = found.collect::<Result<_, _>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    fn shown(&self) -> String {
        separated(self.dirs.iter().map(|dir| print::path(dir)), " and ")
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

fn clear(places: &IndexPlaces, is_json: bool) -> CommandResult {
    let mut was_there = false;
    for file in &places.own {
        was_there |= removed(file)?;
    }
    if is_json {
        return print::json(&json!({ "removed": was_there }));
    }
    print::line(if was_there {
        "the index was removed"
    } else {
        "there was no index of this wiki and key"
    });
    let others = places.indexes()?.len();
    if others > 0 {
        remark!(
            "{others} of other wikis or keys: see `wikijs-gate index status`, remove with `wikijs-gate index clear --all`"
        );
    }
    Ok(Exit::Done)
}

fn clear_all(places: &IndexPlaces, is_json: bool) -> CommandResult {
    let (filled, others): (Vec<PathBuf>, Vec<PathBuf>) = places
        .indexes()?
        .into_iter()
        .map(|index| index.file)
        .partition(|file| index::is_being_filled(file));
    for file in &others {
        removed(file)?;
    }
    if is_json {
        print::value(
            &json!({ "removed": !others.is_empty(), "indexes": others.len(), "beingFilled": filled.len() }),
        );
    } else {
        print::line(&match others.len() {
            0 => "no index was removed".to_owned(),
            count => format!("{} removed", counted(count, "index was", "indexes were")),
        });
    }
    match filled.len() {
        0 => Ok(Exit::Done),
        count => Err(Exit::failed(format!(
            "{count} stayed, being filled by a server now: try again, or end that server"
        ))),
    }
}

fn status(places: &IndexPlaces, is_json: bool) -> CommandResult {
    let indexes = places.indexes()?;
    if is_json {
        let shown: Vec<_> = indexes
            .iter()
            .map(|index| {
                json!({
                    "file": index.file,
                    "wiki": index.wiki,
                    "digest": index.digest,
                    "pages": index.pages,
                    "bytes": index.bytes,
                    "changed": utc_time(index.changed),
                    "ofThisKey": places.own.contains(&index.file),
                })
            })
            .collect();
        return print::json(&json!({ "dir": places.dirs.first(), "indexes": shown }));
    }
    if indexes.is_empty() {
        say!("no index below {}", places.shown());
        return Ok(Exit::Done);
    }
    say!("below {}:", places.shown());
    let mut table = Table::new("wiki | wiki and key | pages | bytes | changed | whose");
    for index in &indexes {
        let pages = index.pages.map(|pages| pages.to_string());
        let whose = if places.own.contains(&index.file) {
            "this wiki and key"
        } else {
            "another"
        };
        table.row(vec![
            harmless(&index.wiki).into(),
            index.digest.clone().into(),
            pages.unwrap_or_else(|| "unreadable".to_owned()).into(),
            index.bytes.to_string().into(),
            utc_time(index.changed).unwrap_or_default().into(),
            whose.into(),
        ]);
    }
    table.print();
    Ok(Exit::Done)
}

fn all(dir: &Path) -> Result<Vec<OnDisk>, CommandError> {
    index::all(dir).map_err(|error| Exit::failed(file_faults::unread(dir, error.kind())))
}

fn removed(file: &Path) -> Result<bool, CommandError> {
    index::clear(file).map_err(|error| {
        let message = format!("the index cannot be removed: {}", error.kind());
        Exit::failed(message)
    })
}

/// A time in UTC, to the second.
fn utc_time(time: Option<SystemTime>) -> Option<String> {
    rfc3339(OffsetDateTime::from(time?).replace_nanosecond(0).ok())
}
