//! Calls, counted by what they were and what became of them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::{CallHistory, CallOutcome};

/// The most clients and days that are counted separately, those with the greatest words: the newest days.
const KINDS: usize = 1000;
/// All others, counted together.
const OTHERS: &str = "(others)";

/// Counts by word.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
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
        match self.0.get_mut(word) {
            Some(known) => *known = known.saturating_add(count),
            None => drop(self.0.insert(word.to_owned(), count)),
        }
        if self.0.len() > KINDS + usize::from(self.0.contains_key(OTHERS)) {
            let mut words = self.0.keys().filter(|word| *word != OTHERS);
            if let Some(least) = words.next().cloned() {
                let count = self.0.remove(&least).unwrap_or_default();
                let others = self.0.entry(OTHERS.to_owned()).or_default();
                *others = others.saturating_add(count);
            }
        }
    }
}

/// The facts about a call that are counted.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::audit) struct CallLabel<'a> {
    #[serde(borrow)]
    day: Cow<'a, str>,
    outcome: CallOutcome,
    /// True if it is a set of changes that was sent.
    is_set: bool,
    #[serde(borrow)]
    who: Cow<'a, str>,
    /// The gate, if it was refused.
    #[serde(borrow)]
    gate: Cow<'a, str>,
}

impl<'a> CallLabel<'a> {
    pub(in crate::audit) fn new(call: &'a CallHistory) -> Self {
        let time = call.records.first().map_or("", |record| &record.time);
        let gate = call.gate().map_or("(none)", |(gate, _)| gate);
        let is_refused = call.ending == CallOutcome::Refused;
        Self {
            day: time.get(..10).unwrap_or_default().into(),
            outcome: call.ending,
            is_set: call.is_set() && call.outcome.is_some(),
            who: call.caller().who().unwrap_or("(none)").into(),
            gate: if is_refused { gate } else { "" }.into(),
        }
    }
}

/// Calls, counted.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
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
        self.add(&CallLabel::new(call), 1);
    }

    /// Counts the calls of each of these labels; `None` if one is none.
    pub(super) fn of_labels(labels: Vec<(String, u64)>) -> Option<Self> {
        let mut stats = Self::default();
        for (label, count) in labels {
            stats.add(&serde_json::from_str(&label).ok()?, count);
        }
        Some(stats)
    }

    fn add(&mut self, call: &CallLabel<'_>, count: u64) {
        let is_refused = call.outcome == CallOutcome::Refused;
        let is_write = call.outcome.is_write() && !call.is_set;
        let counted = |counts: bool| if counts { count } else { 0 };
        self.calls = self.calls.saturating_add(count);
        self.sets = self.sets.saturating_add(counted(call.is_set));
        self.outcomes.add(call.outcome.as_str(), count);
        self.calls_by_client.add(&call.who, count);
        if is_refused {
            self.refusals_by_gate.add(&call.gate, count);
        }
        // A day with one has a figure for both.
        self.writes_by_day.add(&call.day, counted(is_write));
        self.refusals_by_day.add(&call.day, counted(is_refused));
    }
}

#[cfg(test)]
mod tests {
    use super::{KINDS, LabelCounts, OTHERS};

    #[test]
    fn of_too_many_words_the_same_are_counted_together_in_any_order() {
        let words: Vec<String> = (0..KINDS + 50).map(|word| format!("{word:05}")).collect();
        let count = |words: &mut dyn Iterator<Item = &String>| {
            let mut counts = LabelCounts::default();
            words.for_each(|word| counts.add(word, 2));
            counts
        };
        let forwards = count(&mut words.iter());
        assert_eq!(forwards, count(&mut words.iter().rev()));
        assert_eq!(forwards.0.len(), KINDS + 1);
        assert_eq!((forwards.count(OTHERS), forwards.count("01049")), (100, 2));
    }
}
