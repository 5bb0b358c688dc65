//! Writes the man pages of every command into a directory, for packages:
//! `cargo run --example man_pages -- DIR`.
#![expect(clippy::disallowed_methods, reason = "writes where it is told")]

use std::env::args_os;
use std::path::PathBuf;
use std::{fs, io};

use clap::Command;

fn main() -> io::Result<()> {
    let missing = || io::Error::new(io::ErrorKind::InvalidInput, "name a directory");
    let dir = args_os().nth(1).map(PathBuf::from).ok_or_else(missing)?;
    fs::create_dir_all(&dir)?;
    clap_mangen::generate_to(described(wikijs_gate::cli::definition()), dir)
}

/// The command with the help of each argument in long form too: a page leaves out what is hidden
/// from the short help, as every setting is.
fn described(command: Command) -> Command {
    let command = command.mut_args(
        |arg| match arg.get_long_help().or(arg.get_help()).cloned() {
            Some(help) => arg.long_help(help),
            None => arg,
        },
    );
    command.mut_subcommands(described)
}
