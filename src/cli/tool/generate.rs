//! `wikijs-gate tool generate`: writes the query of a field of the wiki's API, to be read first.

use std::io::Write as _;
use std::path::PathBuf;

use super::check::ask;
use super::read;
use crate::cli::file_faults;
use crate::cli::prelude::*;
use crate::config;
use crate::custom::{ToolFileFault, generate, parse_schema};
use crate::private_files;

/// The largest schema, in bytes.
const MOST_SCHEMA: usize = 2 << 20;

/// Arguments of `tool generate`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate tool generate pages.tags\n  wikijs-gate tool generate users.search --schema schema.graphql --dir ./tools"
)]
pub(in crate::cli) struct Arguments {
    /// The field below `Query`, such as `pages.tags`
    #[arg(value_name = "FIELD")]
    field: String,
    /// A file with the schema, in place of asking the wiki
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// The directory; by default the one that the settings name
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Replace a file that was generated before
    #[arg(long)]
    force: bool,
}

pub(super) async fn run(arguments: &Arguments) -> CommandResult {
    start::start_log(Some("warn"))?;
    let layers = start::layers()?;
    let dir = match &arguments.dir {
        Some(dir) => dir.clone(),
        None => config::custom_tools_dir(&layers.source())
            .map_err(Exit::usage)?
            .ok_or_else(|| {
                Exit::usage("WIKI_CUSTOM_TOOLS_DIR is not set; name a directory by --dir")
            })?,
    };
    let schema = match &arguments.schema {
        None => ask(&layers)
            .await
            .map_err(|why| Exit::failed(format!("{why}; give it by --schema FILE")))?,
        Some(file) => {
            let text = read(Some(file))?;
            if text.len() > MOST_SCHEMA {
                return Err(Exit::usage("the schema is larger than 2 MB"));
            }
            let told = |fault: ToolFileFault| Exit::usage(print::harmless(&fault.to_string()));
            parse_schema("schema.graphql", &text).map_err(told)?
        }
    };
    let made = generate(&schema, &arguments.field);
    let made = made.map_err(|fault| Exit::usage(print::harmless(&fault)))?;
    // No server reads a file with this ending: it is offered once the operator renames it.
    let tool = dir.join(&made.file.name);
    let draft = tool.with_added_extension("new");
    let text = made.file.text.as_bytes();
    let written = if arguments.force {
        private_files::open_anew(&draft).and_then(|mut file| file.write_all(text))
    } else {
        private_files::make_whole(&draft, text)
    };
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            let draft = print::path(&draft);
            Exit::usage(format!(
                "{draft} is there already; --force replaces it, unless it is a link"
            ))
        }
        kind => Exit::failed(file_faults::unwritten(&draft, kind)),
    })?;
    print::harmless_lines(made.file.text.lines());
    if made.touches_pages {
        print::note("it touches pages: only callers who may read all of them get it");
    }
    remark!(
        "read it, then offer it: mv {} {}",
        print::path(&draft),
        print::path(&tool)
    );
    Ok(Exit::Done)
}
