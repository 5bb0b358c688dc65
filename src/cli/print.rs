//! The only functions that print.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is the room that prints"
)]

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use crate::page::is_invisible;

/// One line for a person, or for a program that asked for it, on stdout.
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
pub(super) fn has_colour() -> bool {
    std::io::stdout().is_terminal() && !crate::config::no_colour()
}

/// A text in which nothing steers the terminal, hides, or turns the direction of the rest.
fn harmless(text: &str) -> String {
    let shown = |c: char| match c {
        '\t' => vec![c],
        c if c.is_control() || is_invisible(c) => c.escape_unicode().collect(),
        c => vec![c],
    };
    text.chars().flat_map(shown).collect()
}

/// One line of a difference, in colour on a terminal. What could steer the terminal is shown
/// escaped.
pub(super) fn diff_line(text: &str) {
    let text = harmless(text);
    let colour = match text.chars().next() {
        Some('+') => "32",
        Some('-') => "31",
        _ => "2",
    };
    line(&if has_colour() {
        format!("  \u{1b}[{colour}m{text}\u{1b}[0m")
    } else {
        format!("  {text}")
    });
}

/// Whether there is somebody to ask.
pub(super) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Asks a question; only `y` or `yes` is a yes.
pub(super) fn ask(question: &str) -> bool {
    print!("{question} [y/N] ");
    let mut answer = String::new();
    // A terminal that has gone away says no.
    let asked = std::io::stdout()
        .flush()
        .and_then(|()| std::io::stdin().lock().read_line(&mut answer));
    asked.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn nothing_in_a_text_steers_the_terminal_or_turns_what_follows() {
        assert_eq!(
            harmless("+a\tä\u{1b}[2J\u{202e}b"),
            "+a\tä\\u{1b}[2J\\u{202e}b"
        );
    }
}
