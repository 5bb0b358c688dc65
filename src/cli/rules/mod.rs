//! `wikijs-gate rules`: which changes an operator's rules match.

mod explain;
mod test;

use crate::cli::prelude::*;
use crate::config::Tables;

#[derive(Debug, clap::Subcommand)]
pub(super) enum RulesCommand {
    /// Apply the rules to the recorded writes: show which they would have stopped
    Test(test::Arguments),
    /// Show which rules match, or may match, a change
    Explain(explain::Arguments),
}

pub(super) fn run(command: &RulesCommand) -> CommandResult {
    match command {
        RulesCommand::Test(arguments) => test::run(arguments),
        RulesCommand::Explain(arguments) => explain::run(arguments),
    }
}

/// The rules of the settings file, with those that are built in.
fn tables() -> Result<Tables, CommandError> {
    Ok(start::layers()?.source().tables())
}
