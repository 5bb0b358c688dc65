//! `wikijs-mcp audit stats`: how many calls, by outcome, gate, client and day.

use std::collections::BTreeMap;

use serde_json::json;

use super::filters::Filters;
use super::{note_unreadable, row, unread};
use crate::audit::{CallStory, Ending};
use crate::cli::exit::Exit;
use crate::cli::print::{self, Paint};
use crate::cli::{Outcome, start};

/// How wide the longest bar is, in characters.
const WIDTH: u64 = 40;
/// How many clients and days are counted separately; the rest is counted together.
const KINDS: usize = 1000;
/// How many of them people are shown.
const SHOWN: usize = 31;

/// Arguments of `audit stats`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-mcp audit stats --since 30d\n  wikijs-mcp audit stats --client claude-code --json"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    filters: Filters,
    /// Answer in JSON: one object
    #[arg(long)]
    json: bool,
}

/// How often each word was counted.
#[derive(Debug, Default, serde::Serialize)]
#[serde(transparent)]
pub(super) struct Counts(BTreeMap<String, u64>);

impl Counts {
    fn add(&mut self, word: &str, count: u64) {
        let is_known = self.0.contains_key(word);
        let word = if is_known || self.0.len() < KINDS {
            word
        } else {
            "(others)"
        };
        let known = self.0.entry(word.to_owned()).or_default();
        *known = known.saturating_add(count);
    }
}

/// Calls, counted.
#[derive(Debug, Default, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Figures {
    pub(super) calls: u64,
    /// Sets of changes that were sent; each of their changes is a call, too.
    pub(super) sets: u64,
    pub(super) outcomes: Counts,
    pub(super) refusals_by_gate: Counts,
    pub(super) calls_by_client: Counts,
    pub(super) writes_by_day: Counts,
    pub(super) refusals_by_day: Counts,
}

impl Figures {
    /// Counts a call in.
    pub(super) fn count(&mut self, call: &CallStory) {
        let ending = call.ending();
        self.calls = self.calls.saturating_add(1);
        let is_set = call.is_set() && call.outcome().is_some();
        self.sets = self.sets.saturating_add(u64::from(is_set));
        self.outcomes.add(ending.as_str(), 1);
        self.calls_by_client.add(call.who().unwrap_or("(none)"), 1);
        let time = call.records.first().map_or("", |record| &record.time);
        let day = time.get(..10).unwrap_or_default();
        if ending == Ending::Refused {
            let gate = call.gate().map_or("(none)", |(gate, _)| gate);
            self.refusals_by_gate.add(gate, 1);
        }
        // A day with one has a figure for both.
        let is_write = ending.is_write() && !is_set;
        self.writes_by_day.add(day, u64::from(is_write));
        let is_refused = u64::from(ending == Ending::Refused);
        self.refusals_by_day.add(day, is_refused);
    }
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let log = start::audit_log()?;
    let filter = arguments.filters.filter();
    let mut figures = Figures::default();
    let unreadable = log
        .calls(|call| {
            if filter.takes(&call) {
                figures.count(&call);
            }
        })
        .map_err(|error| unread(&error))?;
    if arguments.json {
        print::line(&json!(figures).to_string());
    } else {
        show(&figures);
    }
    note_unreadable(unreadable);
    Ok(Exit::Done)
}

fn show(figures: &Figures) {
    let sets = match figures.sets {
        0 => String::new(),
        1 => ", 1 set of changes".to_owned(),
        sets => format!(", {sets} sets of changes"),
    };
    print::line(&format!("{} calls{sets}", figures.calls));
    let by_count = |counts: &Counts| {
        let mut rows: Vec<(String, u64)> = counts.0.clone().into_iter().collect();
        rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        rows
    };
    let ending = |word: &str| {
        Ending::ALL
            .into_iter()
            .find(|ending| ending.as_str() == word)
    };
    bars("outcome", &by_count(&figures.outcomes), |word| {
        ending(word).map_or(Paint::Dim, row::paint)
    });
    bars(
        "refusals by gate",
        &by_count(&figures.refusals_by_gate),
        |_| Paint::Red,
    );
    bars(
        "calls by client",
        &by_count(&figures.calls_by_client),
        |_| Paint::Bold,
    );
    let newest = |counts: &Counts| counts.0.clone().into_iter().rev().collect::<Vec<_>>();
    bars("writes by day", &newest(&figures.writes_by_day), |_| {
        Paint::Green
    });
    bars("refusals by day", &newest(&figures.refusals_by_day), |_| {
        Paint::Red
    });
}

/// Bars under a head, the longest as wide as there is room.
fn bars(head: &str, rows: &[(String, u64)], paint: impl Fn(&str) -> Paint) {
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
        print::line(&format!("  and {more} more; --json tells all"));
    }
}
