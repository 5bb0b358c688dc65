//! `wikijs-gate pause` and `resume`: an operator stops all writes, and lets them go on.

use super::actor::actor;
use super::start::failed;
use super::words;
use crate::audit::{AuditEntry, AuditError, AuditEvent, AuditLog, AuditResult, PauseInfo};
use crate::cli::prelude::*;

/// Arguments of `pause`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Servers refuse writes with WRITES_PAUSED and the reason until `wikijs-gate resume`; reading goes on. The\noperator's own commands `undo` and `proposals apply` still work, so that mistakes can be undone.\n\nExamples:\n  wikijs-gate pause \"restoring the backup of Monday\"\n  wikijs-gate pause \"an agent writes nonsense\" --json"
)]
pub(super) struct PauseArgs {
    /// The reason: one line of at most 500 characters, which agents can read
    #[arg(value_name = "REASON", value_parser = words::reason)]
    reason: String,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Writes stop first and the record is made then: a log that fails must not keep them going.
pub(super) async fn pause(arguments: PauseArgs) -> CommandResult {
    let log = start::audit_log_to_record()?;
    start::note_no_server(&log);
    let before = log.upkeep.pause_in_force().ok().flatten();
    let told = PauseInfo::now(actor(), arguments.reason);
    let paused = log.pauses.pause(told.clone()).await;
    let hangs = paused == Err(AuditError::Busy);
    if !hangs {
        paused.map_err(|error| failed("writes are not paused", &error))?;
    }
    recorded(&log, RecordedCommand::Pause, "paused", Some(&told.reason))
        .await
        .map_err(|error| failed("writes are paused, but that is not on record", &error))?;
    if hangs {
        return Err(Exit::failed(
            "no server begins a write any more, but one hangs and may still send the write that it was at: end it, then pause again",
        ));
    }
    if let Some(before) = before {
        let before = print::harmless(&before.to_string());
        print::remark!("they were paused before, {before}; one `resume` ends both");
    }
    let words = "the writes of all servers with this store are paused; `wikijs-gate resume` lets them go on";
    print::answer(arguments.json, &json!({ "paused": told }), words)
}

/// The record is made first, so that no write resumes before it.
pub(super) async fn resume(is_json: bool) -> CommandResult {
    let log = start::audit_log_to_record()?;
    let still = "writes stay paused";
    let was = log.upkeep.pause_in_force();
    let was = was.map_err(|error| failed(still, &error))?;
    if let Some(was) = &was {
        recorded(
            &log,
            RecordedCommand::Resume,
            "resumed",
            Some(&was.to_string()),
        )
        .await
        .map_err(|error| failed(still, &error))?;
        log.pauses
            .resume()
            .await
            .map_err(|error| failed(still, &error))?;
    }
    let words = match &was {
        Some(was) => print::harmless(&format!("writes go on; they were paused {was}")),
        None => "writes were not paused".to_owned(),
    };
    print::answer(is_json, &json!({ "resumed": was.is_some() }), &words)
}

/// Records what the operator decided.
async fn recorded(
    log: &AuditLog,
    command: RecordedCommand,
    decision: &str,
    reason: Option<&str>,
) -> AuditResult<()> {
    let entry = AuditEntry {
        reason: reason.map(str::to_owned),
        ..start::operators_entry(command, AuditEvent::Pause, decision)?
    };
    log.record(entry).await?;
    log.close().await
}
