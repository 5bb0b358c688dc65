//! `wikijs-gate approvals`: lists and ends people's approvals for several writes.

use time::OffsetDateTime;

use super::id_prefix::by_prefix;
use super::start::failed;
use crate::audit::{AuditEntry, AuditError, AuditEvent, AuditLog, AuditResult};
use crate::cli::prelude::*;
use crate::gates::{Approvals, StandingApproval};

#[derive(Debug, clap::Subcommand)]
pub(super) enum ApprovalsCommand {
    /// List the approvals for a page or a kind of write, the oldest first
    #[command(
        after_help = "An approval counts only for the client and session that it was given to, and under the gates under which\nit was given; one that was given under others is listed until its client writes next.\n\nExamples:\n  wikijs-gate approvals list\n  wikijs-gate approvals list --json"
    )]
    List(JsonArgs),
    /// End approvals; people are asked about the next write again
    End(EndArgs),
}

/// Arguments of `approvals end`.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("which").required(true).args(["ids", "all"]),
    after_help = "It works while servers run, and in a pause.\n\nExamples:\n  wikijs-gate approvals end 4f2a\n  wikijs-gate approvals end --all --yes"
)]
pub(super) struct EndArgs {
    /// The approvals' ids, or four or more of their first characters
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// All of them
    #[arg(long)]
    all: bool,
    /// Do it without asking
    #[arg(long)]
    yes: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(command: &ApprovalsCommand) -> CommandResult {
    match command {
        ApprovalsCommand::List(arguments) => list(arguments.json).await,
        ApprovalsCommand::End(arguments) => end(arguments).await,
    }
}

async fn list(is_json: bool) -> CommandResult {
    let log = start::audit_log_maybe_empty()?;
    let all = Approvals::of(&log).all().await;
    let (mut standing, mut damaged) = (Vec::new(), Vec::new());
    for (name, read) in all.map_err(|error| failed("they cannot be listed", &error))? {
        match read {
            Ok(one) if one.has_ended(OffsetDateTime::now_utc()) => {}
            Ok(one) => standing.push(one),
            Err(error) => damaged.push((name, error)),
        }
    }
    if is_json {
        let damaged: Vec<_> = damaged.iter().map(|(name, _)| name).collect();
        return print::json(&json!({ "approvals": standing, "damaged": damaged }));
    }
    for (name, error) in &damaged {
        let name = print::harmless(name);
        remark!("{name}: {error}; {}", error.hint());
    }
    if standing.is_empty() {
        print::line("no approvals");
        return Ok(Exit::Done);
    }
    let mut table = Table::new("id | client | covers | writes left | ends");
    for one in &standing {
        table.row(vec![
            one.id.to_string().into(),
            print::harmless(one.client.shown()).into(),
            covers(one).into(),
            one.writes_left.to_string().into(),
            one.ends.instant().map_or_else(String::new, from_now).into(),
        ]);
    }
    table.print();
    Ok(Exit::Done)
}

/// The writes that it covers, in words.
fn covers(one: &StandingApproval) -> String {
    match (&one.locale, &one.path) {
        (Some(locale), Some(path)) => {
            let place = print::place(locale.as_str(), path.as_str());
            format!("{} of {place}", one.operation)
        }
        _ => format!("{} of any page", one.operation),
    }
}

/// They end first and the record is made then: a log that fails must not keep them.
async fn end(arguments: &EndArgs) -> CommandResult {
    let log = start::audit_log()?;
    start::check_audit_dir(&log)?;
    let approvals = Approvals::of(&log);
    let not_ended = |error: AuditError| failed("nothing was ended", &error);
    let all = approvals.all().await.map_err(not_ended)?;
    let mut names: Vec<String> = all.iter().map(|(name, _)| name.clone()).collect();
    if !arguments.all {
        let wanted = arguments.ids.iter().map(|id| named(&names, id));
        names = wanted.collect::<Result<_, _>>()?;
    } else if !names.is_empty() && !arguments.yes {
        print::confirm(&format!("{} approvals end", names.len()), arguments.json)?;
    }
    let ended = approvals.end(names).await.map_err(not_ended)?;
    for (name, read) in all.iter().filter(|(name, _)| ended.contains(name)) {
        recorded(&log, name, read.as_ref().ok())
            .await
            .map_err(|error| failed("they are ended, but that is not on record", &error))?;
    }
    let closed = log.close().await;
    closed.map_err(|error| failed("they are ended, but the record is not closed", &error))?;
    let words = match ended.as_slice() {
        [] => "no approvals".to_owned(),
        ended => print::harmless(&format!("ended: {}", ended.join(", "))),
    };
    print::answer(arguments.json, &json!({ "ended": ended }), &words)
}

/// The name that begins like this.
fn named(names: &[String], id: &str) -> Result<String, CommandError> {
    let several = || Exit::usage("the id is too short, or fits several approvals; give more of it");
    let found = by_prefix(names, Clone::clone, id, several)?;
    found.cloned().ok_or_else(|| {
        let id = print::harmless(id);
        Exit::usage(format!(
            "there is no approval {id}; `wikijs-gate approvals list` has those that stand"
        ))
    })
}

/// Records that the operator ended one.
async fn recorded(log: &AuditLog, name: &str, one: Option<&StandingApproval>) -> AuditResult<()> {
    let whose = one.map_or_else(
        || "which could not be read".to_owned(),
        |one| {
            format!(
                "of {}, for this {}",
                one.client.shown(),
                one.scope().as_str()
            )
        },
    );
    let entry = AuditEntry {
        operation: one.map(|one| one.operation),
        id: one.and_then(|one| one.page),
        locale: one.and_then(|one| one.locale.clone()),
        path: one.and_then(|one| one.path.clone()),
        reason: Some(format!("the approval {name} {whose}")),
        ..start::operators_entry(RecordedCommand::ApprovalsEnd, AuditEvent::Approval, "ended")?
    };
    log.record(entry).await
}
