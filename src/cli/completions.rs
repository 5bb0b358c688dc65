//! `wikijs-gate completions`: what a shell needs to complete commands and flags.

use clap_complete::Shell;

use crate::cli::prelude::*;

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wikijs-gate completions bash > ~/.local/share/bash-completion/completions/wikijs-gate
  wikijs-gate completions fish > ~/.config/fish/completions/wikijs-gate.fish")]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut super::command(),
        "wikijs-gate",
        &mut script,
    );
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if arguments.shell == Shell::Bash {
        // clap_complete 4.6 writes a hyphen in the program's name in two forms here: one where it
        // sets a command and one where it looks it up.
        script = script.replace("wikijs__subcmd__gate", "wikijs__gate");
    }
    print::line(script.trim_end());
    Exit::Done
}
