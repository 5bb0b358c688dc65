//! `wikijs-gate audit show`: one call, from its attempt to its outcome.

use super::by_index;
use super::row;
use crate::audit::{
    AuditLog, AuditResult, CallHistory, CallHistoryError, CallId, CallOutcome, CallSelector,
    ChangeDetails,
};
use crate::cli::prelude::*;
use crate::cli::show_change;
use crate::view::{CallView, FactPart, Story, facts};

/// Arguments of `audit show`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate audit show last\n  wikijs-gate audit show 4f2a --json"
)]
pub(in crate::cli) struct Arguments {
    /// The call id, four or more of its first characters, or `last`: the newest applied write
    /// that was not taken back
    call: CallSelector,
    /// Answer in JSON: one object, the records in `records` as they stand in the log
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: &Arguments) -> CommandResult {
    let log = start::audit_log()?;
    let log = by_index(&log)?;
    let call = match log.calls.story(&arguments.call).await {
        Ok(call) => call,
        Err(CallHistoryError::NotFound) => return cut_short(&log, arguments).await,
        Err(error) => return Err(error.into()),
    };
    let members = if call.is_set() {
        members(&log, call.call).await?
    } else {
        Vec::new()
    };
    let changed = ChangeDetails::read(&log, &call)?;
    let story = Story::new(&log.calls.group_about(&call).await?, ':');
    if arguments.json {
        print::value(&in_json(&call, &story, &changed, &members));
    } else {
        show(&call, &story, &changed, is_held(&log, &call)?);
        show_members(&members);
    }
    if call.has_unreadable {
        print::note(
            "some lines of the log cannot be read and may tell of this call; see `wikijs-gate audit verify`",
        );
    }
    Ok(Exit::Done)
}

/// The changes of a set, in order; none of one that was not sent.
async fn members(log: &AuditLog, set: CallId) -> AuditResult<Vec<CallHistory>> {
    let mut calls = log.calls.of_set(set).await?;
    calls.sort_by_key(|call| call.sent);
    calls.retain(|call| call.sent.is_some());
    Ok(calls)
}

/// A set whose server ended before its end was on record has its changes alone.
async fn cut_short(log: &AuditLog, arguments: &Arguments) -> CommandResult {
    let set = arguments.call.named().ok_or(CallHistoryError::NotFound)?;
    let members = members(log, set).await?;
    if members.is_empty() {
        return Err(CallHistoryError::NotFound.into());
    }
    if arguments.json {
        let rows: Vec<Value> = members.iter().map(row::in_json).collect();
        return print::json(&json!({ "set": set, "members": rows }));
    }
    say!(
        "{} without an end on record",
        print::painted(&format!("set {set}"), Paint::Bold)
    );
    show_members(&members);
    Ok(Exit::Done)
}

fn show_members(members: &[CallHistory]) {
    if members.is_empty() {
        return;
    }
    print::line("");
    let mut table = Table::new("change | write | page | outcome");
    for call in members {
        let row = CallView::new(call);
        table.row(vec![
            row.call.to_string().into(),
            row::write(&row).into(),
            row::page(&row).into(),
            row::ending(call),
        ]);
    }
    table.print();
}

/// What happened, before the facts of the one call.
fn show_story(story: &Story) {
    for line in &story.lines {
        let says = print::harmless(&line.says);
        say!("  {:<11} {says}", line.about);
        for change in &line.changes {
            let outcome = change.outcome.map(|outcome| format!(", {outcome}"));
            let outcome = outcome.unwrap_or_default();
            let page = print::harmless(&change.page);
            say!("  {:<11} {page}{outcome} (call {})", "", change.call);
        }
    }
    print::line("");
}

fn in_json(
    call: &CallHistory,
    story: &Story,
    changed: &ChangeDetails,
    members: &[CallHistory],
) -> Value {
    let rows: Vec<Value> = members.iter().map(row::in_json).collect();
    let members = (!rows.is_empty()).then(|| json!({ "members": rows }));
    let answer = extended(row::in_json(call), json!({ "story": story }));
    let answer = extended(extended(answer, json!(changed)), members);
    extended(answer, json!({ "records": call.records }))
}

/// True if a running process holds the run in which an attempt of the call is open.
fn is_held(log: &AuditLog, call: &CallHistory) -> AuditResult<bool> {
    let last = call.records.last();
    let Some(last) = last.filter(|_| call.ending == CallOutcome::Open) else {
        return Ok(false);
    };
    let name = format!("-{}.jsonl", last.run);
    let runs = log.runs.all()?;
    let mut of_call = runs.iter().filter(|run| run.name().ends_with(&name));
    Ok(of_call.any(|run| run.is_locked))
}

fn show(call: &CallHistory, story: &Story, changed: &ChangeDetails, is_held: bool) {
    let by = call.undone_by;
    let undone = by.map_or_else(String::new, |by| format!(", undone by call {by}"));
    let open = match call.ending {
        CallOutcome::Open if is_held => ": it is under way",
        CallOutcome::Open => ": its server ended without an outcome; the next one finds it out",
        _ => "",
    };
    let ending = format!("{}{open}{undone}", call.ending);
    say!(
        "{} {}",
        print::painted(&format!("call {}", call.call), Paint::Bold),
        print::painted(&ending, row::paint(call.ending))
    );
    show_story(story);
    for fact in facts(call, ':') {
        let says: String = fact.parts.iter().map(in_words).collect();
        say!("  {:<13} {}", fact.name, print::harmless(&says));
    }
    print::line("");
    records(call);
    if !changed.changes.is_empty() || !changed.diff.is_empty() || !changed.notes.is_empty() {
        print::line("");
    }
    print::lines(&show_change::fields(&changed.changes));
    print::lines(&show_change::diff(&changed.diff));
    for note in &changed.notes {
        say!("  {}", print::painted(note, Paint::Yellow));
    }
}

fn in_words(part: &FactPart) -> String {
    match part {
        FactPart::Text(text) | FactPart::Proposal(text) => text.clone(),
        FactPart::Call(call) => format!("call {call}"),
    }
}

fn records(call: &CallHistory) {
    let mut table = Table::new("time (UTC) | event | says | ms | run | line");
    for record in &call.records {
        table.row(vec![
            print::harmless(&record.time.replace('T', " ").replace('Z', "")).into(),
            print::harmless(&record.event_and_step()).into(),
            print::harmless(&record.says()).into(),
            record.ms.to_string().into(),
            record.run.to_string().into(),
            record.seq.to_string().into(),
        ]);
    }
    table.print();
    if call.is_cut {
        print::line("and more, which no honest log has");
    }
}
