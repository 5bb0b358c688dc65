//! `wikijs-gate tool check`: tests the files of an operator's own tools.

use std::path::PathBuf;

use crate::cli::prelude::*;
use crate::config::{self, Layers, Settings};
use crate::custom::{Customs, ToolFileFault};
use crate::tools::{Registry, ToolSelection, add_customs};
use crate::wiki::Wiki;

/// Arguments of `tool check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  wikijs-gate tool check\n  wikijs-gate tool check ./tools")]
pub(in crate::cli) struct Arguments {
    /// The directory; by default the one that the settings name
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// The reason why queries were not checked against the wiki's schema.
type Unchecked = Option<String>;

pub(super) async fn run(arguments: &Arguments) -> CommandResult {
    start::start_log(Some("warn"))?;
    let layers = start::layers()?;
    let source = layers.source();
    let surface = config::offered(&source).map_err(Exit::usage)?;
    let dir = match &arguments.dir {
        Some(dir) => dir.clone(),
        None => config::custom_tools_dir(&source)
            .map_err(Exit::usage)?
            .ok_or_else(|| Exit::usage("WIKI_CUSTOM_TOOLS_DIR is not set; name a directory"))?,
    };
    // Which tools the settings choose by name is their matter, not that of another directory.
    let chosen = arguments.dir.is_none().then_some(&surface);
    let read = config::read_customs(&dir, chosen);
    let checked = match read {
        Ok(customs) => checked(&layers, &surface, customs).await,
        Err(faults) => Err(faults),
    };
    let (registry, customs, unchecked) = match checked {
        Ok(checked) => checked,
        Err(faults) => {
            print::harmless_lines(faults.iter().map(ToString::to_string));
            let faults = print::counted(faults.len(), "fault", "faults");
            return Err(Exit::usage(format!(
                "{faults}; a server would not start with these files"
            )));
        }
    };
    show(&registry, &customs);
    if let Some(why) = unchecked {
        print::note(&print::harmless(&format!(
            "queries are not checked against the wiki's schema: {why}"
        )));
    }
    Ok(Exit::Done)
}

/// The tools of a directory, held against the schema of a file or of the wiki.
async fn checked(
    layers: &Layers,
    surface: &ToolSelection,
    customs: Customs,
) -> Result<(Registry, Customs, Unchecked), Vec<ToolFileFault>> {
    let (asked, unchecked) = if customs.needs_schema() {
        match ask(layers).await {
            Ok(schema) => (Some(schema), None),
            Err(why) => (
                None,
                Some(format!("{why}; it may be there as schema.graphql")),
            ),
        }
    } else {
        (None, None)
    };
    let mut registry = Registry::new(surface)
        .map_err(|error| vec![ToolFileFault::new("wikijs-gate", error.to_string())])?;
    let schema = customs.schema().or(asked.as_ref());
    add_customs(&mut registry, surface, &customs, schema)?;
    Ok((registry, customs, unchecked))
}

/// Asks the wiki for its schema.
pub(super) async fn ask(layers: &Layers) -> Result<crate::custom::Schema, String> {
    let settings = Settings::load(layers).map_err(|faults| start::first(&faults).message)?;
    let wiki = Wiki::quiet(settings.wiki, "tool check")?;
    let asked = print::in_progress("the wiki's schema", Box::pin(wiki.schema())).await;
    asked.map_err(|no| no.why)
}

fn show(registry: &Registry, customs: &Customs) {
    let mut table = Table::new("tool | file | is");
    for recipe in &customs.recipes {
        let is = match registry.find(&recipe.name) {
            Some(_) => format!("a recipe over {}", recipe.tool),
            None => "left out by the settings".to_owned(),
        };
        let name = print::harmless(&recipe.name);
        table.row(vec![
            Cell::painted(name, Paint::Bold),
            recipe.file.as_str().into(),
            is.into(),
        ]);
    }
    for name in customs.query_names() {
        let is = match registry.find(name).and_then(|tool| tool.custom.as_ref()) {
            Some(custom) if custom.is_for_open_reads => {
                "a query that touches pages: for callers who may read all of them"
            }
            Some(_) => "a query",
            None => "a query, not offered here",
        };
        let file = format!("{}.graphql", name.trim_start_matches("custom_"));
        table.row(vec![
            Cell::painted(name, Paint::Bold),
            file.into(),
            is.into(),
        ]);
    }
    table.print();
}
