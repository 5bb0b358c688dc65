//! The only functions that print.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::termios::Winsize;
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use super::error::CommandError;
use super::{CommandResult, Exit};
use crate::audit::Client;
use crate::page::is_invisible;
use crate::view::client_name;
pub(super) use crate::words::counted;

/// True once a line was printed on stdout.
static HAS_SAID: AtomicBool = AtomicBool::new(false);

/// The first reason for which a line did not get to stdout, such as a full disk.
static LOST: OnceLock<io::ErrorKind> = OnceLock::new();

/// True once a line was printed on stdout.
pub(super) fn has_said() -> bool {
    HAS_SAID.load(Ordering::Relaxed)
}

/// One line for a person, or for a program that asked for it, on stdout.
pub(super) fn line(text: &str) {
    HAS_SAID.store(true, Ordering::Relaxed);
    on_stdout(&format!("{text}\n"));
}

/// A text on stdout as it stands.
pub(super) fn on_stdout(text: &str) {
    let mut stdout = io::stdout();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    // A reader that has gone away is no reason to fail.
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = LOST.set(error.kind());
    }
}

/// A text on stderr as it stands.
pub(super) fn on_stderr(text: &str) {
    // There is nobody left to notify.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// The reason for which some of the output was lost; `None` if its reader took it all or went away.
pub(super) fn lost() -> Option<io::ErrorKind> {
    LOST.get().copied()
}

/// A line for a program.
pub(super) fn value(value: &Value) {
    line(&value.to_string());
}

/// The answer of a command for a program, which ends the command.
#[expect(clippy::unnecessary_wraps, reason = "it is what a command returns")]
pub(super) fn json(answer: &Value) -> CommandResult {
    value(answer);
    Ok(Exit::Done)
}

/// The answer of a command for a program or, in words, for a person; it ends the command.
pub(super) fn answer(is_json: bool, answer: &Value, words: &str) -> CommandResult {
    if is_json {
        return json(answer);
    }
    line(words);
    Ok(Exit::Done)
}

/// Prints a line on stdout, as `println!` does.
macro_rules! say {
    ($($text:tt)*) => { $crate::cli::print::line(&format!($($text)*)) };
}

/// Prints a note on stderr, as `eprintln!` does.
macro_rules! remark {
    ($($text:tt)*) => { $crate::cli::print::note(&format!($($text)*)) };
}

pub(super) use {remark, say};

/// Lines on stdout.
pub(super) fn lines(texts: &[String]) {
    for text in texts {
        line(text);
    }
}

/// A line, and whether there still is a reader for it.
pub(super) fn is_read(text: &str) -> bool {
    HAS_SAID.store(true, Ordering::Relaxed);
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{text}")
        .and_then(|()| stdout.flush())
        .is_ok()
}

/// True if stderr is a terminal on which a line can be overwritten.
pub(super) fn can_overwrite() -> bool {
    std::io::stderr().is_terminal() && !crate::config::has_dumb_terminal()
}

/// A line on the terminal that replaces the previous one written this way.
pub(super) fn overwrite(text: &str) {
    on_stderr(&format!("\r\u{1b}[K{text}"));
}

/// An error on stderr. Some name what the wiki or a file says.
pub(super) fn error(message: &str) {
    let lines: Vec<String> = message.split('\n').map(harmless).collect();
    on_stderr(&format!("error: {}\n", lines.join("\n")));
}

pub(super) fn has_colour() -> bool {
    std::io::stdout().is_terminal() && !crate::config::no_colour()
}

/// A colour, or weight, on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    /// Heads of tables, names.
    Bold,
    /// Less important text.
    Dim,
    /// Removed, or failed.
    Red,
    /// Added, or good.
    Green,
    /// Needs attention.
    Yellow,
    /// Removed within a line.
    RedWord,
    /// Added within a line.
    GreenWord,
}

/// A text in a colour, where there are colours.
pub(super) fn painted(text: &str, paint: Paint) -> String {
    if !has_colour() {
        return text.to_owned();
    }
    let code = match paint {
        Paint::Bold => "1",
        Paint::Dim => "2",
        Paint::Red => "31",
        Paint::Green => "32",
        Paint::Yellow => "33",
        Paint::RedWord => "31;7",
        Paint::GreenWord => "32;7",
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// A line on stderr, about progress rather than the answer on stdout.
pub(super) fn note(text: &str) {
    on_stderr(&format!("{text}\n"));
}

/// A text in which nothing steers the terminal, hides, or turns the direction of the rest.
pub(super) fn harmless(text: &str) -> String {
    let shown = |c: char| match c {
        '\t' => vec![c],
        c if c.is_control() || is_invisible(c) => c.escape_unicode().collect(),
        c => vec![c],
    };
    text.chars().flat_map(shown).collect()
}

/// Lines from outside on stdout, as [`harmless`] shows them.
pub(super) fn harmless_lines<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) {
    for text in texts {
        line(&harmless(text.as_ref()));
    }
}

/// A file's name.
pub(super) fn path(path: &Path) -> String {
    harmless(&path.to_string_lossy())
}

/// A page's locale and path, in the form that prefixes have too.
pub(super) fn place(locale: &str, path: &str) -> String {
    harmless(&format!("{locale}:{path}"))
}

/// A client as it names itself, with its version.
pub(super) fn client(client: &Client) -> String {
    harmless(&client_name(client))
}

/// The width of the terminal in columns; `None` if stdout is not a terminal.
pub(super) fn width() -> Option<usize> {
    Some(usize::from(size()?.ws_col)).filter(|width| *width > 0)
}

/// The height of the terminal in lines; `None` if stdout is not a terminal.
pub(super) fn height() -> Option<usize> {
    Some(usize::from(size()?.ws_row)).filter(|height| *height > 0)
}

fn size() -> Option<Winsize> {
    rustix::termios::tcgetwinsize(std::io::stdout()).ok()
}

/// The width of a text in columns, colours aside.
pub(super) fn columns(text: &str) -> usize {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().width();
    let rest = parts.map(|part| part.split_once('m').map_or(0, |(_, text)| text.width()));
    rest.fold(first, usize::saturating_add)
}

/// A page that a failure says to be left out, with the reason.
pub(super) fn left_out_line(page: &Value) -> String {
    let text = |name: &str| page.get(name).and_then(Value::as_str);
    let path = text("path").unwrap_or("page");
    let id = page.get("id").and_then(Value::as_i64);
    let id = id.map_or_else(String::new, |id| format!(" (id {id})"));
    let why = text("message").unwrap_or_default();
    harmless(&format!("left out: {path}{id}: {why}"))
}

/// Waits for work, and shows on a terminal what is being done if it takes over a second.
pub(super) async fn in_progress<T>(what: &str, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    if !can_overwrite() {
        return work.await;
    }
    tokio::select! {
        done = &mut work => return done,
        () = tokio::time::sleep(Duration::from_secs(1)) => {}
    }
    on_stderr(&format!("{what} ..."));
    let done = work.await;
    // Back to the beginning of the line, which is then cleared.
    overwrite("");
    done
}

/// True if stdin is a terminal, so that a person answers.
pub(super) fn is_typed() -> bool {
    std::io::stdin().is_terminal()
}

/// True if a person can be asked.
pub(super) fn can_ask() -> bool {
    is_typed() && std::io::stdout().is_terminal()
}

/// Checks that a person can be asked: with `--json` nothing is shown that somebody could approve.
///
/// # Errors
/// That nobody can be, with what to do first, and the exit code for it.
pub(super) fn check_can_ask(is_json: bool, first: &str) -> Result<(), CommandError> {
    if !is_json && can_ask() {
        return Ok(());
    }
    let fault = format!("nobody can be asked here; {first}");
    Err(Exit::usage(fault))
}

/// Asks a question; only `y` or `yes` is a yes.
pub(super) fn ask(question: &str) -> bool {
    prompt(&format!("{question} [y/N]"))
        .is_some_and(|answer| matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

/// Asks whether what is said shall be done.
///
/// # Errors
/// A no, or that nobody can be asked, with the exit code for it.
pub(super) fn confirm(what: &str, is_json: bool) -> Result<(), CommandError> {
    if is_json || !can_ask() {
        let fault = format!("{what}, and nobody can be asked here; pass --yes");
        return Err(Exit::usage(fault));
    }
    if !ask(&format!("{what}. Do it?")) {
        return Err(Exit::refused("nothing was done"));
    }
    Ok(())
}

/// Asks for one line; nothing if the terminal has gone away.
pub(super) fn prompt(question: &str) -> Option<String> {
    on_stdout(&format!("{question} "));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer).ok()?;
    (read > 0).then(|| answer.trim().to_owned())
}

/// All of stdin, trimmed.
///
/// # Errors
/// One sentence, if it cannot be read.
pub(super) fn read_all() -> Result<String, String> {
    std::io::read_to_string(std::io::stdin())
        .map(|text| text.trim().to_owned())
        .map_err(|error| format!("standard input cannot be read: {}", error.kind()))
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

    #[test]
    fn separators_of_lines_and_paragraphs_are_shown_by_number() {
        assert_eq!(harmless("a\u{2028}b\u{2029}c"), r"a\u{2028}b\u{2029}c");
    }
}
