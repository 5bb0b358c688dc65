//! `wikijs-gate audit tail`: events as they are recorded.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::row;
use crate::audit::{CallHistory, Record};
use crate::cli::prelude::*;
use crate::cli::signals::Signals;
use crate::view::CallView;

/// The pause between two reads of the log.
const PAUSE: Duration = Duration::from_millis(200);

/// Arguments of `audit tail`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate audit tail -f\n  wikijs-gate audit tail -n 100 --json"
)]
pub(in crate::cli) struct Arguments {
    /// How many events to begin with
    #[arg(
        short = 'n',
        long = "lines",
        value_name = "COUNT",
        default_value_t = 10
    )]
    count: u16,
    /// Continue until interrupted, also with runs that begin later
    #[arg(short, long)]
    follow: bool,
    /// Answer in JSON lines: the records as they stand in the log
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: &Arguments) -> CommandResult {
    let log = if arguments.follow {
        start::audit_log_followed()?
    } else {
        start::audit_log()?
    };
    let stop = CancellationToken::new();
    let signals = Signals::listen(stop.clone()).map_err(Exit::failed)?;
    let (mut records, mut tail) = log.runs.tail(arguments.count.into())?;
    loop {
        let is_read = records
            .iter()
            .all(|record| print::is_read(&line(record, arguments.json)));
        if !arguments.follow || !is_read {
            return Ok(signals.exit().unwrap_or(Exit::Done));
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(signals.exit().unwrap_or(Exit::Done)),
            () = tokio::time::sleep(PAUSE) => {}
        }
        records = tail.news()?;
    }
}

fn line(record: &Record, is_json: bool) -> String {
    if is_json {
        return json!(record).to_string();
    }
    let mut parts = vec![print::painted(&row::time(&record.time), Paint::Dim)];
    parts.extend(record.call.map(|call| call.to_string()));
    parts.push(print::painted(
        &print::harmless(&record.event_and_step()),
        Paint::Bold,
    ));
    if let Some(call) = record.call {
        let call = CallHistory::new(call, vec![record.clone()], false);
        let row = CallView::new(&call);
        parts.extend([
            row::who(&row),
            row::tool(&row),
            row::write(&row),
            row::page(&row),
        ]);
    }
    parts.push(print::harmless(&record.says()));
    parts.retain(|part| !part.is_empty());
    parts.join("  ")
}
