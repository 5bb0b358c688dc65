//! `wikijs-gate audit verify`: whether all that is on record is what was put there, and what of that
//! cannot be known.

#![expect(clippy::disallowed_methods, reason = "a file that the operator names")]

use std::fmt::Write as _;
use std::path::PathBuf;

use super::head;
use crate::audit::entry::chain::Verified;
use crate::audit::{
    Against, AnchorsRead, AuditLog, CheckedRun, ClockBack, FileHead, LogVerification, PublicKey,
};
use crate::cli::file_faults;
use crate::cli::prelude::*;
use crate::cli::progress::ProgressLine;

/// The most faults of each kind that people are shown.
const SHOWN: usize = 100;

/// Arguments of `audit verify`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exits with 5 if something is wrong.\n\nExamples:\n  wikijs-gate audit verify\n  wikijs-gate audit verify --head heads.txt --json\n  wikijs-gate audit verify --anchors /mnt/elsewhere/anchors.jsonl --key ed25519:..."
)]
pub(in crate::cli) struct Arguments {
    /// Compare with heads that `audit head` printed and that were kept elsewhere
    #[arg(long, value_name = "FILE")]
    head: Option<PathBuf>,
    /// Compare with the anchors in this file, as `audit_anchors` has them made; of several files
    /// the older ones first
    #[arg(long, value_name = "FILE")]
    anchors: Vec<PathBuf>,
    /// Count only anchors that this key signed, as `audit key show` prints it; may be given more often
    #[arg(long, value_name = "PUBLIC-KEY", requires = "anchors", value_parser = public_key)]
    key: Vec<PublicKey>,
    /// Answer in JSON: one object with `runs`, `wrong` and what is not proven
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let heads = match &arguments.head {
        None => Vec::new(),
        Some(file) => heads(file)?,
    };
    let log = start::audit_log()?;
    let anchors = if arguments.anchors.is_empty() {
        None
    } else {
        Some(anchors(&log, arguments)?)
    };
    let against = Against { heads, anchors };
    let mut progress = ProgressLine::new();
    let checked = log.upkeep.verify(&against, |done, whole| {
        progress.at(|| format!("{done} of {whole} files checked"));
    })?;
    drop(progress);
    if arguments.json {
        print::value(&in_json(&log, &checked, &against));
    } else {
        show(&log, &checked, &against);
    }
    Ok(if checked.wrong.is_empty() {
        Exit::Done
    } else {
        Exit::Wrong
    })
}

fn heads(file: &PathBuf) -> Result<Vec<FileHead>, CommandError> {
    let wrong = |what: String| Exit::usage(format!("--head: {what}"));
    let text = std::fs::read_to_string(file)
        .map_err(|error| wrong(file_faults::unread(file, error.kind())))?;
    let heads = head::read(&text).map_err(wrong)?;
    if heads.is_empty() {
        // An `audit head` that failed leaves an empty file, which would hold for every log.
        let file = print::path(file);
        return Err(wrong(format!(
            "{file} names no run; keep what `audit head` prints"
        )));
    }
    Ok(heads)
}

fn public_key(text: &str) -> Result<PublicKey, String> {
    text.parse::<PublicKey>().map_err(|fault| fault.to_string())
}

fn anchors(log: &AuditLog, arguments: &Arguments) -> Result<AnchorsRead, CommandError> {
    let read = log.upkeep.read_anchors(&arguments.anchors, &arguments.key);
    read.map_err(|(index, kind)| {
        let file = arguments.anchors.get(index);
        let what = file.map_or_else(String::new, |file| file_faults::unread(file, kind));
        Exit::usage(format!("--anchors: {what}"))
    })
}

fn in_json(log: &AuditLog, checked: &LogVerification, against: &Against) -> Value {
    let run = |run: &CheckedRun| match &run.chain {
        Ok(Verified { records, last, end }) => json!({
            "file": run.file,
            "records": records,
            "last": last,
            "end": end.as_str(),
            "isLocked": run.is_locked,
        }),
        Err(broken) => json!({
            "file": run.file,
            "line": broken.line,
            "isLocked": run.is_locked,
        }),
    };
    json!({
        "wiki": log.wiki(),
        "holds": checked.wrong.is_empty(),
        "runs": checked.runs.iter().map(run).collect::<Vec<_>>(),
        "pages": checked.pages,
        "proposals": checked.proposals,
        "purged": checked.purged,
        "wrong": checked.wrong,
        "clock": checked.clock.iter().map(clock_back).collect::<Vec<_>>(),
        "anchors": against.anchors.as_ref().map(|read| json!({
            "lines": read.lines,
            "last": read.last,
            "keys": read.keys,
            "isChecked": read.is_checked,
            "brokenOff": read.broken_off,
            "uncounted": read.uncounted,
        })),
        "anchored": checked.anchored.as_ref().map(|anchored| json!({
            "isWhole": anchored.unproven == 0,
            "until": anchored.since,
            "unproven": anchored.unproven,
        })),
        "unproven": checked.unproven(against),
        "notAnchored": log.anchoring.fault_left(),
    })
}

fn clock_back(back: &ClockBack) -> String {
    format!(
        "{}, line {}: {} follows {}",
        print::harmless(&back.run),
        back.line,
        print::harmless(&back.time),
        print::harmless(&back.before)
    )
}

/// The anchors that were read, and up to when all is anchored.
fn show_anchors(checked: &LogVerification, read: &AnchorsRead) {
    let signed = match read.keys.iter().map(String::as_str).collect::<Vec<_>>() {
        keys if keys.is_empty() => "not signed".to_owned(),
        keys if read.is_checked => format!("signed by {}", keys.join(", ")),
        keys => format!("said to be signed by {}", keys.join(", ")),
    };
    let last = read
        .last
        .as_deref()
        .map_or_else(String::new, |last| format!(", the last of {last}"));
    let mut text = format!(
        "{}{last}, {signed}",
        print::counted(read.lines, "anchor", "anchors")
    );
    for (count, what) in [
        (
            read.broken_off,
            "broken off, as by a power cut or a full disk",
        ),
        (read.uncounted, "not counted"),
    ] {
        if count > 0 {
            // Writing to a string does not fail.
            let _ = write!(text, "; {} {what}", print::counted(count, "line", "lines"));
        }
    }
    print::line(&print::harmless(&text));
    let anchored = checked.anchored.as_ref();
    match anchored.map(|anchored| anchored.since.as_deref()) {
        _ if read.lines == 0 => print::line("nothing is anchored"),
        Some(Some(since)) => print::line(&print::harmless(&format!(
            "all records before {since} are anchored"
        ))),
        _ => print::line("all records are anchored"),
    }
}

fn show(log: &AuditLog, checked: &LogVerification, against: &Against) {
    say!(
        "{}: {}, {}, {}, {}, {} purged",
        print::harmless(log.wiki()),
        print::counted(checked.runs.len(), "run", "runs"),
        print::counted(checked.records(), "record", "records"),
        print::counted(checked.pages, "kept page", "kept pages"),
        print::counted(checked.proposals, "proposal", "proposals"),
        print::counted(checked.purged, "file", "files")
    );
    let open = |run: &CheckedRun| Some(format!("{} {}", run.file, run.open_end()?));
    let open: Vec<String> = checked.runs.iter().filter_map(open).collect();
    some_of(&open, |text| say("open end", Paint::Yellow, text));
    some_of(&checked.clock, |back| {
        let text = format!(
            "{}: the clock had been set back, so times prove nothing there",
            clock_back(back)
        );
        say("clock", Paint::Yellow, &text);
    });
    if let Some(read) = &against.anchors {
        show_anchors(checked, read);
    }
    if let Some(fault) = log.anchoring.fault_left() {
        say("anchors", Paint::Yellow, &fault.to_string());
    }
    if !checked.runs.is_empty() {
        for text in checked.unproven(against) {
            say("unproven", Paint::Yellow, &text);
        }
    }
    some_of(&checked.wrong, |wrong| {
        say("wrong", Paint::Red, &wrong.to_string());
    });
    print::line(&if checked.wrong.is_empty() && checked.runs.is_empty() {
        print::painted("nothing is on record yet", Paint::Yellow)
    } else if checked.wrong.is_empty() {
        print::painted("all of it holds", Paint::Green)
    } else {
        print::painted(&format!("{} wrong", checked.wrong.len()), Paint::Red)
    });
}

/// A line that begins with a coloured word.
fn say(word: &str, paint: Paint, text: &str) {
    say!("{} {}", print::painted(word, paint), print::harmless(text));
}

fn some_of<T>(all: &[T], say: impl Fn(&T)) {
    all.iter().take(SHOWN).for_each(say);
    if let Some(more) = all.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        say!("and {more} more; --json tells all");
    }
}
