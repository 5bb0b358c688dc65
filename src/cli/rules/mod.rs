//! `wikijs-gate rules`: which changes an operator's rules match.

mod explain;
mod test;

use super::Outcome;
use super::exit::Exit;
use super::start;
use crate::config::Tables;

/// Arguments of `rules`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Apply the rules to the recorded writes: show which they would have stopped
    Test(test::Arguments),
    /// Show which rules match, or may match, a change
    Explain(explain::Arguments),
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    match &arguments.command {
        Command::Test(arguments) => test::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
    }
}

/// The rules of the settings file, with those that are built in.
fn tables() -> Result<Tables, (Exit, String)> {
    Ok(start::layers()?.source().tables())
}
