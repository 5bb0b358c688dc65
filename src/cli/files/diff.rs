//! `wikijs-gate files diff`

use super::{Dir, open};
use crate::cli::prelude::*;
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
    for difference in differences(&folder)? {
        print::harmless_lines(difference.lines());
    }
    Ok(Exit::Done)
}
