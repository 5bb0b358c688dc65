//! A person sees all of a change before approving it, in a pager if the screen is too short. Lines
//! that the pager did not take were not seen, and are counted.

use std::io::{PipeReader, Read as _, Write as _, pipe};
use std::process::{Child, Command, Stdio};

use super::print;
use super::signals::Interrupts;
use crate::config;

/// The height of a screen that does not tell its own, in lines.
const USUAL_HEIGHT: usize = 24;
/// Its width, in columns.
const USUAL_WIDTH: usize = 80;
/// The number of lines that the question takes.
const QUESTION: usize = 3;
/// Secure mode for pagers that have one: no shell, no editor, no other file. The pager shows
/// others' text and runs as the operator.
const SECURE: [&str; 3] = ["LESSSECURE", "MORESECURE", "PAGERSECURE"];

/// Shows a person all of a change and asks; only an explicit yes counts. If the pager was left
/// early, a yes carries the number of lines that it had not taken.
pub(super) fn agrees(lines: &[String], question: &str) -> bool {
    let unseen = show(lines);
    if unseen == 0 {
        return print::ask(question);
    }
    print::line(&print::painted(
        &format!("{unseen} of {} lines were not shown.", lines.len()),
        print::Paint::Yellow,
    ));
    print::prompt(&format!(
        "{question} Type the number of lines that were not shown, or nothing for no:"
    ))
    .is_some_and(|answer| answer == unseen.to_string())
}

/// Shows lines; how many of them were not seen.
fn show(lines: &[String]) -> usize {
    let pager = config::pager().filter(|_| !fits(lines));
    let Some(unseen) = pager.and_then(|pager| paged(&pager, lines)) else {
        print::lines(lines);
        return 0;
    };
    // The pager may have taken all of it off the screen again.
    let first = lines.first().map_or("", String::as_str);
    print::line(&format!("{first}: {} lines", lines.len()));
    unseen
}

/// True if the screen shows these lines and a question below them.
fn fits(lines: &[String]) -> bool {
    let width = print::width().unwrap_or(USUAL_WIDTH);
    let height = print::height().unwrap_or(USUAL_HEIGHT);
    let rows = lines
        .iter()
        .map(|line| print::columns(line).div_ceil(width).max(1));
    rows.sum::<usize>().saturating_add(QUESTION) <= height
}

/// Has a pager show lines; how many it did not take. Nothing if it could not be run, or failed
/// over all of them: then nobody knows what was seen.
fn paged(pager: &config::Pager, lines: &[String]) -> Option<usize> {
    let text = lines.join("\n") + "\n";
    let (mut left, mut into) = pipe().ok()?;
    let taken = left.try_clone().ok()?;
    let interrupts = Interrupts::hold()?;
    let mut child = start(pager, taken)?;
    let writer = std::thread::spawn(move || {
        // It cannot break: this process holds the other end too.
        let _ = into.write_all(text.as_bytes());
    });
    let ended = child.wait();
    // What the pager took no more is still to be taken, or would be waited for by the writer.
    let mut rest = Vec::new();
    let drained = left.read_to_end(&mut rest);
    let _ = writer.join();
    drop(interrupts);
    drained.ok()?;
    let is_good = ended.ok()?.success();
    let ends = rest.split(|byte| *byte == b'\n').count() - 1;
    let unseen = ends.min(lines.len());
    // An interrupted pager has shown the lines that it took.
    (is_good || (unseen > 0 && unseen < lines.len())).then_some(unseen)
}

fn start(pager: &config::Pager, stdin: PipeReader) -> Option<Child> {
    let mut command = match pager {
        // What users mean by $PAGER is a line for the shell. Nothing is put into it.
        config::Pager::Line(line) => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(line);
            shell
        }
        config::Pager::Usual => {
            let mut less = Command::new("less");
            less.arg("-R");
            less
        }
    };
    // No pager needs the key of the wiki.
    for setting in config::SETTINGS {
        command.env_remove(setting.name);
    }
    for name in SECURE {
        command.env(name, "1");
    }
    if config::sets_no_less_options() {
        command.env("LESS", "R");
    }
    command.stdin(Stdio::from(stdin)).spawn().ok()
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_screen_of_usual_size_holds_what_leaves_room_for_the_question() {
        assert!(fits(&vec!["x".to_owned(); 21]));
        assert!(!fits(&vec!["x".to_owned(); 22]));
        // Lines that are broken, by their width on the screen.
        assert!(fits(&["x".repeat(21 * 80)].map(String::from)));
        assert!(!fits(&["あ".repeat(11 * 80)].map(String::from)));
    }
}
