//! `wikijs-mcp audit report`: one self-contained page for a browser.

mod page;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::change::Changed;
use super::filters::Filters;
use super::row::Row;
use super::show::{event, says};
use super::stats::Figures;
use super::{note_unreadable, unread};
use crate::audit::{AuditError, AuditLog, CallStory, Latest};
use crate::cli::exit::Exit;
use crate::cli::progress::Progress;
use crate::cli::{Outcome, files, print, start};
use crate::private_files;

/// The most calls that are listed; older ones are only counted.
const MAX_CALLS: usize = 10_000;
/// The most bytes of changes that a page holds.
const MAX_CHANGES: usize = 16 << 20;

/// Arguments of `audit report`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The page holds text of the wiki: the file is readable by its owner alone.\n\nExamples:\n  wikijs-mcp audit report --html report.html\n  wikijs-mcp audit report --html march.html --since 2030-03-01 --until 2030-03-31"
)]
pub(super) struct Arguments {
    /// The file to write; an existing one is overwritten and becomes private to its owner
    #[arg(long, value_name = "FILE")]
    html: PathBuf,
    #[command(flatten)]
    filters: Filters,
    /// Answer in JSON: one object
    #[arg(long)]
    json: bool,
}

/// The page's data before the calls.
#[derive(Debug, Serialize)]
struct Head<'a> {
    wiki: &'a str,
    made: Option<String>,
    since: Option<String>,
    until: Option<String>,
    /// The selection in words.
    filters: Vec<String>,
    figures: &'a Figures,
    older: u64,
    unreadable: u64,
}

/// A call that can be unfolded.
#[derive(Debug, Serialize)]
struct Unfolding<'a> {
    #[serde(flatten)]
    row: Row<'a>,
    /// Why it was wanted, marked as the caller's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// Time, event and content of each record.
    records: Vec<(&'a str, String, String)>,
    #[serde(flatten)]
    changed: Changed,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let log = start::audit_log()?;
    let filter = arguments.filters.filter();
    let mut progress = Progress::new();
    let (mut figures, mut latest) = (Figures::default(), Latest::of(MAX_CALLS));
    let unreadable = log
        .calls(|call| {
            if filter.takes(&call) {
                figures.count(&call);
                latest.add(call);
            }
            progress.at(|| format!("{} calls read", figures.calls));
        })
        .map_err(|error| unread(&error))?;
    let in_words = |time: Option<OffsetDateTime>| time.and_then(|time| time.format(&Rfc3339).ok());
    let head = Head {
        wiki: log.wiki(),
        made: in_words(Some(OffsetDateTime::now_utc())),
        since: in_words(filter.since),
        until: in_words(filter.until),
        filters: arguments.filters.in_words(),
        figures: &figures,
        older: latest.older(),
        unreadable,
    };
    let calls = latest.into_calls();
    write(&log, &arguments.html, &head, &calls, &mut progress)?;
    drop(progress);
    if arguments.json {
        let answer = json!({ "file": arguments.html, "calls": calls.len(), "older": head.older });
        print::line(&answer.to_string());
    } else {
        print::line(&format!(
            "{} calls, written to {}",
            calls.len(),
            print::path(&arguments.html)
        ));
        if head.older > 0 {
            print::note(&format!("{} older ones are counted alone", head.older));
        }
    }
    note_unreadable(unreadable);
    Ok(Exit::Done)
}

fn write(
    log: &AuditLog,
    path: &Path,
    head: &Head<'_>,
    calls: &[CallStory],
    progress: &mut Progress,
) -> Result<(), (Exit, String)> {
    let failed = |error: io::Error| (Exit::Failed, files::unwritten(path, error.kind()));
    let mut file = BufWriter::new(private_files::open_anew(path).map_err(failed)?);
    let (begin, end) = page::around();
    file.write_all(begin.as_bytes()).map_err(failed)?;
    // The calls follow as the last member, one after another.
    let head = json!(head).to_string();
    let head = head.strip_suffix('}').unwrap_or_default();
    file.write_all(format!("{},\n\"calls\":[", page::harmless(head)).as_bytes())
        .map_err(failed)?;
    let mut left = MAX_CHANGES;
    for (count, call) in calls.iter().enumerate() {
        progress.at(|| format!("{count} of {} calls written", calls.len()));
        let unfolding = unfolding(log, call, &mut left).map_err(|error| unread(&error))?;
        let comma = if count == 0 { "\n" } else { ",\n" };
        let text = page::harmless(&json!(unfolding).to_string());
        file.write_all(comma.as_bytes())
            .and_then(|()| file.write_all(text.as_bytes()))
            .map_err(failed)?;
    }
    file.write_all(b"\n]}")
        .and_then(|()| file.write_all(end.as_bytes()))
        .and_then(|()| file.flush())
        .map_err(failed)
}

/// A call with its change, as long as there is room for changes.
fn unfolding<'a>(
    log: &AuditLog,
    call: &'a CallStory,
    left: &mut usize,
) -> Result<Unfolding<'a>, AuditError> {
    let mut changed = Changed::default();
    if *left > 0 {
        changed = Changed::of(log, call)?;
        *left = left.saturating_sub(changed.bytes());
    } else if call.before().is_some() || call.after().is_some() {
        changed.notes.push(format!(
            "this page holds the changes of newer calls alone; wikijs-mcp audit show {} has this one",
            call.call
        ));
    }
    let records = call.records.iter();
    let row = Row::of(call);
    Ok(Unfolding {
        why: row.why(),
        row,
        records: records
            .map(|record| (record.time.as_str(), event(record), says(record)))
            .collect(),
        changed,
    })
}
