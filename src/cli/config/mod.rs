//! `wikijs-gate config`: the settings, their origins, and a file for them.

mod check;
mod init;
mod show;

pub(super) use init::Interview;

use super::exit::Exit;
use super::{Outcome, print};
use crate::config;

/// Arguments of `config`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Write a settings file with a comment on every setting; on a terminal, asks for required
    /// settings that no flag gives
    Init(init::Arguments),
    /// Check all that `serve` checks at its start, and name every fault
    Check(check::Arguments),
    /// Show every setting with its value and its origin; secrets stay hidden
    Show(show::Arguments),
    /// Print the JSON schema of the settings file
    Schema,
}

pub(super) async fn run(arguments: &Arguments) -> Outcome {
    match &arguments.command {
        Command::Init(arguments) => init::run(arguments).await,
        Command::Check(arguments) => check::run(arguments),
        Command::Show(arguments) => show::run(arguments),
        Command::Schema => {
            print::line(&format!("{:#}", config::schema()));
            Ok(Exit::Done)
        }
    }
}
