//! The only functions that print.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is the room that prints"
)]

#[cfg(feature = "demo")]
use std::io::{IsTerminal as _, Write as _};

/// One line for a person, or for a program that asked for it, on stdout.
#[cfg(feature = "demo")]
pub(super) fn line(text: &str) {
    // A reader that has gone away is no reason to fail.
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// An error, in one line on stderr.
pub(super) fn error(message: &str) {
    eprintln!("error: {message}");
}

/// The help, or what is wrong with the command line.
pub(super) fn help(text: &str, is_help: bool) {
    if is_help {
        print!("{text}");
    } else {
        eprint!("{text}");
    }
}

/// Whether stdout shows colours.
#[cfg(feature = "demo")]
pub(super) fn has_colour() -> bool {
    std::io::stdout().is_terminal() && !crate::config::no_colour()
}
