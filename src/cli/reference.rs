//! The command-line reference: every command's help, out of the definitions themselves.

use std::fmt::Write as _;

use clap::Command;

use super::help;

/// The whole help of every command, as Markdown; the flags of settings, which all commands
/// take, once.
pub fn reference() -> String {
    let mut text = String::new();
    let command = help::grouped(super::command()).bin_name("wikijs-gate");
    // The flags of settings come once, at the end.
    let mut command = command.after_long_help("");
    write(&mut command, &mut text);
    section(&mut text, "Flags of settings", &help::settings());
    text
}

fn write(command: &mut Command, text: &mut String) {
    let name = command.get_bin_name().unwrap_or_default().to_owned();
    let help = command.render_long_help().to_string();
    section(text, &name, &format!("$ {name} --help\n{help}"));
    for command in command.get_subcommands_mut() {
        if command.get_name() != "help" {
            write(command, text);
        }
    }
}

fn section(text: &mut String, title: &str, body: &str) {
    // Writing to a string cannot fail.
    let _ = write!(text, "## {title}\n\n```console\n");
    for line in body.trim_end().lines() {
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push_str("```\n\n");
}
