//! `wikijs-mcp audit verify`: whether all that is on record is what was put there.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{head, unread};
use crate::audit::chain::{End, Verified};
use crate::audit::{Checked, CheckedRun, FileHead, Wrong};
use crate::cli::exit::Exit;
use crate::cli::print::{self, Paint};
use crate::cli::progress::Progress;
use crate::cli::{Outcome, files, start};

/// The most that are said to people, of each kind.
const SHOWN: usize = 100;

/// Arguments of `audit verify`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exits with 5 if something is wrong.\n\nExamples:\n  wikijs-mcp audit verify\n  wikijs-mcp audit verify --head heads.txt --json"
)]
pub(super) struct Arguments {
    /// Compare with heads that `audit head` printed and that were kept elsewhere
    #[arg(long, value_name = "FILE")]
    head: Option<PathBuf>,
    /// Answer in JSON: one object with `runs` and `wrong`
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let heads = match &arguments.head {
        None => Vec::new(),
        Some(file) => heads(file)?,
    };
    let log = start::audit_log()?;
    let mut progress = Progress::new();
    let checked = log
        .verify(&heads, |done, whole| {
            progress.at(|| format!("{done} of {whole} files checked"));
        })
        .map_err(|error| unread(&error))?;
    drop(progress);
    if arguments.json {
        print::line(&in_json(log.wiki(), &checked).to_string());
    } else {
        show(log.wiki(), &checked);
    }
    Ok(if checked.wrong.is_empty() {
        Exit::Done
    } else {
        Exit::Wrong
    })
}

fn heads(file: &PathBuf) -> Result<Vec<FileHead>, (Exit, String)> {
    let wrong = |what: String| (Exit::Usage, format!("--head: {what}"));
    let text =
        std::fs::read_to_string(file).map_err(|error| wrong(files::unread(file, error.kind())))?;
    head::read(&text).map_err(wrong)
}

fn in_json(wiki: &str, checked: &Checked) -> Value {
    let run = |run: &CheckedRun| match &run.chain {
        Ok(Verified { records, last, end }) => json!({
            "file": run.file,
            "records": records,
            "last": last,
            "end": end_word(*end),
            "isLocked": run.is_locked,
        }),
        Err(broken) => json!({
            "file": run.file,
            "line": broken.line,
            "isLocked": run.is_locked,
        }),
    };
    let wrong = |wrong: &Wrong| {
        json!({
            "kind": wrong.kind(),
            "file": wrong.file(),
            "message": wrong.to_string(),
        })
    };
    json!({
        "wiki": wiki,
        "holds": checked.wrong.is_empty(),
        "runs": checked.runs.iter().map(run).collect::<Vec<_>>(),
        "pages": checked.pages,
        "proposals": checked.proposals,
        "purged": checked.purged,
        "wrong": checked.wrong.iter().map(wrong).collect::<Vec<_>>(),
    })
}

const fn end_word(end: End) -> &'static str {
    match end {
        End::Closed => "closed",
        End::Open => "open",
        End::HalfWritten => "half_written",
    }
}

fn show(wiki: &str, checked: &Checked) {
    let records: u64 = checked
        .runs
        .iter()
        .filter_map(|run| run.chain.as_ref().ok())
        .map(|chain| chain.records)
        .sum();
    print::line(&format!(
        "{}: {} runs, {records} records, {} kept pages, {} proposals, {} files purged",
        print::harmless(wiki),
        checked.runs.len(),
        checked.pages,
        checked.proposals,
        checked.purged
    ));
    let open: Vec<String> = checked.runs.iter().filter_map(open_end).collect();
    some_of(&open, |text| {
        print::line(&format!(
            "{} {text}",
            print::painted("open end", Paint::Yellow)
        ));
    });
    some_of(&checked.wrong, |wrong| {
        print::line(&format!(
            "{} {}",
            print::painted("wrong", Paint::Red),
            print::harmless(&wrong.to_string())
        ));
    });
    print::line(&if checked.wrong.is_empty() && checked.runs.is_empty() {
        print::painted("nothing is on record yet", Paint::Yellow)
    } else if checked.wrong.is_empty() {
        print::painted("all of it holds", Paint::Green)
    } else {
        print::painted(&format!("{} wrong", checked.wrong.len()), Paint::Red)
    });
}

/// What cannot be known of a run's end.
fn open_end(run: &CheckedRun) -> Option<String> {
    let chain = run.chain.as_ref().ok()?;
    let says = match chain.end {
        End::Closed => return None,
        // Nothing is in it that could tell.
        End::Open if chain.records == 0 && !run.is_locked => {
            "is empty: its server is just beginning, or was ended by force before it wrote"
        }
        _ if run.is_locked => "is being written",
        End::Open => {
            "was not closed: it was ended by force, or its last lines were cut off; a later run or a head kept elsewhere can tell"
        }
        End::HalfWritten => {
            "ends in a half-written record: a power cut or a full disk broke it off"
        }
    };
    Some(format!("{} {says}", print::harmless(&run.file)))
}

fn some_of<T>(all: &[T], say: impl Fn(&T)) {
    all.iter().take(SHOWN).for_each(say);
    if let Some(more) = all.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        print::line(&format!("and {more} more; --json tells all"));
    }
}
