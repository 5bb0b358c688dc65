//! `wikijs-gate rules`: which changes an operator's rules match.

mod explain;
mod test;

use super::CommandResult;
use super::exit::Exit;
use super::start;
use crate::config::Tables;

/// Arguments of `rules`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: RulesCommand,
}

#[derive(Debug, clap::Subcommand)]
enum RulesCommand {
    /// Apply the rules to the recorded writes: show which they would have stopped
    Test(test::Arguments),
    /// Show which rules match, or may match, a change
    Explain(explain::Arguments),
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    match &arguments.command {
        RulesCommand::Test(arguments) => test::run(arguments),
        RulesCommand::Explain(arguments) => explain::run(arguments),
    }
}

/// The rules of the settings file, with those that are built in.
fn tables() -> Result<Tables, (Exit, String)> {
    Ok(start::layers()?.source().tables())
}
