//! `wikijs-gate config`: the settings, their origins, and a file for them.

mod check;
mod init;
mod meant_address;
mod show;

pub(super) use init::{completed, fill};

use crate::cli::prelude::*;
use crate::config;

#[derive(Debug, clap::Subcommand)]
pub(super) enum ConfigCommand {
    /// Write a settings file with a comment on every setting; on a terminal, asks for required
    /// settings that no flag gives
    Init(init::Arguments),
    /// Check all that `serve` checks at its start, and name every fault
    #[command(after_help = "Examples:
  wikijs-gate config check
  wikijs-gate config check --config other.toml --json")]
    Check(JsonArgs),
    /// Show every setting with its value and its origin; secrets stay hidden
    #[command(after_help = "Examples:
  wikijs-gate config show
  wikijs-gate config show --mutations-enabled true --json")]
    Show(JsonArgs),
    /// Print the JSON schema of the settings file
    Schema,
}

pub(super) async fn run(command: &ConfigCommand) -> CommandResult {
    match command {
        ConfigCommand::Init(arguments) => init::run(arguments).await,
        ConfigCommand::Check(arguments) => check::run(arguments.json),
        ConfigCommand::Show(arguments) => show::run(arguments.json),
        ConfigCommand::Schema => {
            say!("{:#}", config::schema());
            Ok(Exit::Done)
        }
    }
}
