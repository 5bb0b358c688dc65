//! `wikijs-gate files diff`

use super::super::exit::Exit;
use super::super::{CommandResult, print};
use super::{Dir, fault, open};
use crate::files::differences;

/// Arguments of `files diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  wikijs-gate files diff wiki\n  wikijs-gate files diff | less")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    dir: Dir,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let folder = open(&arguments.dir.dir)?;
    for difference in differences(&folder).map_err(|error| fault(error, false))? {
        print::harmless_lines(difference.lines());
    }
    Ok(Exit::Done)
}
