//! `wikijs-gate tool`: the tools from the command line, on the same path as an agent's calls.

#![expect(clippy::disallowed_methods, reason = "a file that the operator names")]

mod answer;
mod call;
mod check;
mod examples;
mod generate;
mod page;
mod show;

use std::path::Path;
use std::sync::Arc;

use super::file_faults;
use super::words::{self, one_of};
use crate::cli::prelude::*;
use crate::config::Settings;
use crate::custom::is_custom_name;
use crate::nearest::nearest;
use crate::server::Unasked;
use crate::tools::{Registry, ToolDefinition, ToolSelection, Toolset};
use crate::write::Timeouts;

/// The prefix of all tools' names.
const PREFIX: &str = "wikijs_";

#[derive(Debug, clap::Subcommand)]
pub(super) enum ToolCommand {
    /// List the tools that the settings offer, and where each comes from
    List {
        /// Answer in JSON, with the schemas
        #[arg(long)]
        json: bool,
    },
    /// Show what a tool is for, its arguments and an example
    #[command(after_help = "Examples:\n  wikijs-gate tool show wikijs_list_pages")]
    Show {
        /// The tool's name, with or without `wikijs_` before it
        #[arg(value_parser = one_of(words::tools, words::any), hide_possible_values = true)]
        name: String,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Call a tool
    Call(call::Arguments),
    /// Test the files of your own tools
    Check(check::Arguments),
    /// Write the query of a field of the wiki's API as a tool of your own, to be read first
    Generate(generate::Arguments),
}

pub(super) async fn run(command: ToolCommand) -> CommandResult {
    match command {
        ToolCommand::List { json } => {
            let (registry, queries) = start::tools()?;
            show::list(&registry, &queries, json);
            Ok(Exit::Done)
        }
        ToolCommand::Show { name, json } => {
            let (registry, queries) = start::tools()?;
            let registry = if queries.contains(&name) {
                with_schema(&name).await?
            } else {
                Arc::new(registry)
            };
            show::one(find(&registry, &name)?, json);
            Ok(Exit::Done)
        }
        ToolCommand::Check(arguments) => check::run(&arguments).await,
        ToolCommand::Generate(arguments) => generate::run(&arguments).await,
        ToolCommand::Call(arguments) => {
            let mut settings = start::settings_to_work_with()?;
            settings.policy = settings.policy.for_tool_call();
            // There is no later search that would find a larger index.
            settings.index.pace.patience = settings.wiki.retry.total;
            let app = App::new(settings, Timeouts::of_command()).map_err(Exit::usage)?;
            start::check_audit_dir(app.desk.audit())?;
            match app.ask_schema().await {
                Err(Unasked::Wrong(why)) => return Err(Exit::usage(why)),
                // The call itself says that the wiki does not answer.
                Ok(()) | Err(Unasked::Waits(_)) => {}
            }
            let app = Arc::new(app);
            let tool = find(&app.registry(), &arguments.name)?.name;
            let exit = call::run(&app, tool, &arguments).await;
            app.writer.finish().await;
            exit
        }
    }
}

/// The tools with the operator's own queries, which only the wiki's schema can tell.
async fn with_schema(name: &str) -> Result<Arc<Registry>, CommandError> {
    let settings = Settings::load(&start::layers()?).map_err(|faults| start::first(&faults))?;
    let app = App::new(settings, Timeouts::of_command()).map_err(Exit::usage)?;
    match app.ask_schema().await {
        Ok(()) => Ok(app.registry()),
        Err(Unasked::Wrong(why) | Unasked::Waits(why)) => Err(Exit::failed(format!(
            "{name} cannot be held against the wiki's schema: {why}"
        ))),
    }
}

/// The tool of a name, with or without the common prefix, or what is wrong with the name.
fn find<'a>(registry: &'a Registry, name: &str) -> Result<&'a ToolDefinition, CommandError> {
    let bare = bare(name);
    let full = if is_custom_name(name) {
        name.to_owned()
    } else {
        [PREFIX, bare].concat()
    };
    registry.find(&full).ok_or_else(|| {
        let told = in_toolset(&full).map_or_else(
            || {
                let (name, meant) = (print::harmless(name), meant(registry, bare));
                format!("there is no tool {name}; {meant}")
            },
            |toolset| format!(
                "{full} is in the toolset {toolset}, but the settings do not offer it; see WIKI_TOOLSETS, WIKI_TOOLS, WIKI_EXCLUDE_TOOLS and WIKI_READ_ONLY"
            ),
        );
        Exit::usage(told)
    })
}

fn bare(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

/// The toolset of a tool, whether it is offered or not.
fn in_toolset(name: &str) -> Option<Toolset> {
    Toolset::ALL.into_iter().find(|toolset| {
        let all = Registry::new(&ToolSelection::new(&[*toolset]));
        all.is_ok_and(|all| all.find(name).is_some())
    })
}

/// The hint for an unknown tool: a known name that is similar, if there is one.
fn meant(registry: &Registry, name: &str) -> String {
    let names = registry.definitions().map(|tool| bare(tool.name));
    nearest(name, names, 0.85).map_or_else(
        || "`wikijs-gate tool list` names those that there are".to_owned(),
        |near| {
            let prefix = if is_custom_name(near) { "" } else { PREFIX };
            format!("did you mean {prefix}{near}?")
        },
    )
}

/// Reads a file, or stdin if no name is given.
fn read(file: Option<&Path>) -> Result<String, CommandError> {
    let text = match file {
        Some(file) => std::fs::read_to_string(file),
        None => std::io::read_to_string(std::io::stdin()),
    };
    text.map_err(|error| {
        let message = file.map_or_else(
            || format!("standard input cannot be read: {}", error.kind()),
            |file| file_faults::unread(file, error.kind()),
        );
        Exit::usage(message)
    })
}
