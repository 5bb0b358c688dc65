//! `wikijs-gate audit report`: the record as one self-contained page for a browser and for paper.

use std::io::BufWriter;
use std::path::PathBuf;

use super::filters::Filters;
use super::note_unreadable;
use crate::audit::CallHistory;
use crate::cli::file_faults;
use crate::cli::prelude::*;
use crate::cli::progress::ProgressLine;
use crate::private_files;
use crate::review::{NoReport, ReportRequest};
use crate::wiki::page_url;

/// Arguments of `audit report`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The page holds text of the wiki: the file is readable by its owner alone.\n\nExamples:\n  wikijs-gate audit report --html report.html\n  wikijs-gate audit report --html march.html --since 2030-03-01 --until 2030-03-31"
)]
pub(in crate::cli) struct Arguments {
    /// The file to write; an existing one is overwritten and becomes private to its owner
    #[arg(long, value_name = "FILE")]
    html: PathBuf,
    #[command(flatten)]
    filters: Filters,
    /// Answer in JSON: one object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let (log, address) = (start::audit_log()?, start::audit_settings()?.base_url);
    let mut progress = ProgressLine::new();
    let path = &arguments.html;
    let failed = |error: &std::io::Error| Exit::failed(file_faults::unwritten(path, error.kind()));
    let url = |call: &CallHistory| {
        let locale = call.latest(|record| record.locale.as_ref())?;
        Some(page_url(&address, locale, &call.place()?))
    };
    let report = ReportRequest {
        log: &log,
        filter: &arguments.filters.filter(),
        selection: &arguments.filters.in_words(),
        page_url: &url,
    };
    let read = report.read(|says| progress.at(says))?;
    let file = private_files::open_anew(path).map_err(|error| failed(&error))?;
    read.write(&mut BufWriter::new(file), |says| progress.at(says))
        .map_err(|fault| match fault {
            NoReport::Unread(error) => error.into(),
            NoReport::Unwritten(error) => failed(&error),
        })?;
    let held = read.held;
    drop(progress);
    if arguments.json {
        print::value(&json!({ "file": path, "calls": held.calls, "older": held.older }));
    } else {
        say!("{} calls, written to {}", held.calls, print::path(path));
        if held.older > 0 {
            remark!("{} older ones are counted alone", held.older);
        }
    }
    note_unreadable(held.unreadable);
    Ok(Exit::Done)
}
