//! Calls, counted by what they were and what became of them.

use std::collections::BTreeMap;

use super::super::{CallHistory, CallOutcome};

/// The most clients and days that are counted separately; the others are counted together.
const KINDS: usize = 1000;

/// Counts by word.
#[derive(Debug, Default, serde::Serialize)]
#[serde(transparent)]
pub struct LabelCounts(BTreeMap<String, u64>);

impl LabelCounts {
    /// The counts, by word.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, u64)> {
        self.0.iter().map(|(word, count)| (word.as_str(), *count))
    }

    /// The same, the most counted first.
    pub fn by_count(&self) -> Vec<(&str, u64)> {
        let mut rows: Vec<(&str, u64)> = self.iter().collect();
        rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        rows
    }

    /// The count of a word.
    pub fn count(&self, word: &str) -> u64 {
        self.0.get(word).copied().unwrap_or_default()
    }

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
pub struct CallStats {
    /// All of them.
    pub calls: u64,
    /// Sets of changes that were sent; each of their changes is a call, too.
    pub sets: u64,
    /// By the word for what became of them.
    pub outcomes: LabelCounts,
    /// Refusals, by the gate that refused.
    pub refusals_by_gate: LabelCounts,
    /// By whoever made them.
    pub calls_by_client: LabelCounts,
    /// Writes, by day.
    pub writes_by_day: LabelCounts,
    /// Refusals, by day.
    pub refusals_by_day: LabelCounts,
}

impl CallStats {
    /// Counts a call in.
    pub fn count(&mut self, call: &CallHistory) {
        let ending = call.ending;
        self.calls = self.calls.saturating_add(1);
        let is_set = call.is_set() && call.outcome.is_some();
        self.sets = self.sets.saturating_add(u64::from(is_set));
        self.outcomes.add(ending.as_str(), 1);
        self.calls_by_client
            .add(call.caller().who().unwrap_or("(none)"), 1);
        let time = call.records.first().map_or("", |record| &record.time);
        let day = time.get(..10).unwrap_or_default();
        if ending == CallOutcome::Refused {
            let gate = call.gate().map_or("(none)", |(gate, _)| gate);
            self.refusals_by_gate.add(gate, 1);
        }
        // A day with one has a figure for both.
        let is_write = ending.is_write() && !is_set;
        self.writes_by_day.add(day, u64::from(is_write));
        let is_refused = u64::from(ending == CallOutcome::Refused);
        self.refusals_by_day.add(day, is_refused);
    }
}
