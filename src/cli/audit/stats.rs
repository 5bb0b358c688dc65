//! `wikijs-gate audit stats`: how many calls, by outcome, gate, client and day.

use super::filters::Filters;
use super::{by_index, note_unreadable, row};
use crate::audit::{CallOutcome, CallStats, LabelCounts};
use crate::cli::prelude::*;
use crate::words::one_of;

/// The width of the longest bar, in characters.
const WIDTH: u64 = 40;
/// The most bars that people are shown.
const SHOWN: usize = 31;

/// Arguments of `audit stats`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate audit stats --since 30d\n  wikijs-gate audit stats --client claude-code --json"
)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    filters: Filters,
    /// Answer in JSON: one object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let log = start::audit_log()?;
    let filter = arguments.filters.filter();
    let (figures, unreadable) = by_index(&log)?.calls.stats(&filter)?;
    if arguments.json {
        print::value(&json!(figures));
    } else {
        show(&figures);
    }
    note_unreadable(unreadable);
    Ok(Exit::Done)
}

fn show(figures: &CallStats) {
    let sets = match figures.sets {
        0 => String::new(),
        sets => format!(
            ", {}",
            print::counted(sets, "set of changes", "sets of changes")
        ),
    };
    say!("{}{sets}", print::counted(figures.calls, "call", "calls"));
    bars("outcome", &figures.outcomes.by_count(), |word| {
        let ending = one_of(word, &CallOutcome::ALL, CallOutcome::as_str);
        ending.map_or(Paint::Dim, row::paint)
    });
    bars(
        "refusals by gate",
        &figures.refusals_by_gate.by_count(),
        |_| Paint::Red,
    );
    bars(
        "calls by client",
        &figures.calls_by_client.by_count(),
        |_| Paint::Bold,
    );
    bars("writes by day", &newest(&figures.writes_by_day), |_| {
        Paint::Green
    });
    bars("refusals by day", &newest(&figures.refusals_by_day), |_| {
        Paint::Red
    });
}

fn newest(counts: &LabelCounts) -> Vec<(&str, u64)> {
    counts.iter().rev().collect()
}

/// Bars under a head, the longest as wide as there is room.
fn bars(head: &str, rows: &[(&str, u64)], paint: impl Fn(&str) -> Paint) {
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0);
    if most == 0 {
        return;
    }
    print::line("");
    print::line(&print::painted(head, Paint::Bold));
    let words: Vec<String> = rows.iter().map(|(word, _)| print::harmless(word)).collect();
    let width = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    let widest = width(&mut words.iter().take(SHOWN).map(|word| word.chars().count()));
    let digits = most.to_string().len();
    for (word, (name, count)) in words.iter().zip(rows).take(SHOWN) {
        let length = count.saturating_mul(WIDTH).div_ceil(most);
        let bar = "█".repeat(usize::try_from(length).unwrap_or(0));
        let bar = print::painted(&bar, paint(name));
        print::line(format!("  {word:<widest$}  {count:>digits$}  {bar}").trim_end());
    }
    if let Some(more) = rows.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        say!("  and {more} more; --json tells all");
    }
}
