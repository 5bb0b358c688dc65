//! `wikijs-gate audit list`: the calls on record, the newest first.

use super::filters::Filters;
use super::row;
use super::{by_index, csv, note_unreadable};
use crate::audit::{CallHistory, CallSelector};
use crate::cli::prelude::*;
use crate::page::own_words;
use crate::view::{CallView, whose};

/// Arguments of `audit list`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate audit list --since 7d --path docs\n  wikijs-gate audit list --outcome refused --json\n  wikijs-gate audit list --since 30d --csv > calls.csv"
)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    filters: Filters,
    /// How many at most: 50 by default, 10000 with --csv
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    limit: Option<u16>,
    /// Only calls begun before this one: the last of the previous page
    #[arg(long, value_name = "CALL")]
    before: Option<CallSelector>,
    /// Answer in JSON: one object with `calls`, and `next` if there are older ones
    #[arg(long)]
    json: bool,
    /// Answer in CSV for spreadsheets: one call a line, the columns named in the first
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

/// The default number of calls in a list.
const USUAL_LIMIT: u16 = 50;

pub(super) async fn run(arguments: &Arguments) -> CommandResult {
    let log = start::audit_log_maybe_empty()?;
    let log = by_index(&log)?;
    let before = match &arguments.before {
        None => None,
        Some(call) => Some(log.calls.story(call).await?),
    };
    let usual = if arguments.csv {
        csv::USUAL_LIMIT
    } else {
        USUAL_LIMIT
    };
    let (filter, limit) = (arguments.filters.filter(), arguments.limit.unwrap_or(usual));
    let (found, unreadable) = log.calls.latest(&filter, before.as_ref(), limit.into())?;
    let older = found.older;
    let calls = found.into_calls();
    let next = calls.last().filter(|_| older > 0);
    let rows: Vec<CallView<'_>> = calls.iter().map(CallView::new).collect();
    if arguments.json {
        let next = next.map(|call| call.call);
        let answer = json!({ "wiki": log.wiki(), "calls": rows, "older": older, "next": next });
        print::value(&without_nulls(answer));
    } else if arguments.csv {
        // The form asks for both characters at the end of a line.
        say!("{}\r", csv::head());
        for row in &rows {
            say!("{}\r", csv::line(row));
        }
        note_older(older, next);
    } else if calls.is_empty() {
        print::line("no calls");
    } else {
        let mut table = Table::new(
            "time (UTC) | call | client | tool | operation | page | outcome | lines | why",
        );
        for (call, row) in calls.iter().zip(&rows) {
            let why = row.note.map(|note| own_words(whose(call), note));
            table.row(vec![
                row::time(row.time).into(),
                row.call.to_string().into(),
                row::who(row).into(),
                row::tool(row).into(),
                row::write(row).into(),
                row::page(row).into(),
                row::ending(call),
                row::lines(row).into(),
                print::harmless(&why.unwrap_or_default()).into(),
            ]);
        }
        table.leave_out_empty(&["why"]);
        table.print();
        note_older(older, next);
    }
    note_unreadable(unreadable);
    Ok(Exit::Done)
}

/// Says how to get the next page, if there is one.
fn note_older(older: u64, last: Option<&CallHistory>) {
    if let Some(last) = last {
        remark!("{older} older ones: --before {}", last.call);
    }
}
