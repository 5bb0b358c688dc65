//! `wikijs-gate audit`: what was written, through which client, and what was refused.
//!
//! All of these only read; they send nothing to the wiki and need no key.

mod csv;
mod filters;
mod head;
mod key;
mod list;
mod report;
mod row;
mod show;
mod stats;
mod tail;
mod verify;

pub(super) use csv::columns as csv_columns;

use super::progress::StepProgress;
use super::store::{BackupArgs, back_up};
use crate::audit::AuditLog;
use crate::cli::prelude::*;

#[derive(Debug, clap::Subcommand)]
pub(super) enum AuditCommand {
    /// List calls, the newest first
    List(list::Arguments),
    /// Show one call from its attempt to its outcome, with what it changed
    Show(show::Arguments),
    /// Show events as they are recorded
    Tail(tail::Arguments),
    /// Count calls by outcome, gate, client and day
    Stats(stats::Arguments),
    /// Write an HTML page: figures, a chart, and every call in detail
    Report(report::Arguments),
    /// Print the head of every run, to keep where nobody with write access to the log can change it
    Head(head::Arguments),
    /// Write the record of a wiki as files, from files or a database
    #[command(
        after_help = "From a database the directory holds what one of files would: the runs byte for byte, kept states, proposals, drafts,\napprovals, memories and the mirror. Servers go on meanwhile. The copy is checked before the command ends.\n\nExamples:\n  wikijs-gate audit export /mnt/audit/2030-01-01\n  WIKI_STORE=local WIKI_AUDIT_DIR=/mnt/audit/2030-01-01 wikijs-gate audit verify"
    )]
    Export(BackupArgs),
    /// Make a key that signs anchors, or show its public key
    #[command(subcommand)]
    Key(key::AuditKeyCommand),
    /// Find what was changed, removed or put elsewhere on record; a whole rewrite only with `--head` or `--anchors`
    Verify(verify::Arguments),
}

pub(super) async fn run(command: AuditCommand) -> CommandResult {
    match command {
        AuditCommand::List(arguments) => list::run(&arguments).await,
        AuditCommand::Show(arguments) => show::run(&arguments).await,
        AuditCommand::Tail(arguments) => tail::run(&arguments).await,
        AuditCommand::Stats(arguments) => stats::run(&arguments),
        AuditCommand::Report(arguments) => report::run(&arguments),
        AuditCommand::Head(arguments) => head::run(&arguments),
        AuditCommand::Export(arguments) => back_up(&arguments).await,
        AuditCommand::Key(arguments) => key::run(&arguments),
        AuditCommand::Verify(arguments) => verify::run(&arguments),
    }
}

/// Reports on stderr that some of the log could not be read.
fn note_unreadable(lines: u64) {
    if lines > 0 {
        remark!(
            "{lines} lines of the log cannot be read; `wikijs-gate audit verify` says more of them"
        );
    }
}

/// The log by its index, which is brought up to the runs of a large one: that takes up to a minute the
/// first time.
fn by_index(log: &AuditLog) -> Result<AuditLog, CommandError> {
    let progress = StepProgress::new();
    let megabytes = |bytes: u64| usize::try_from(bytes >> 20).unwrap_or(usize::MAX);
    log.runs.bring_index_up(|done, whole| {
        let (done, whole) = (megabytes(done), megabytes(whole));
        progress.at(done, whole, "MB of the record indexed");
    })?;
    Ok(log.clone().by_index())
}
