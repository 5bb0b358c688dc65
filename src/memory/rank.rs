//! The order in which memories are recalled, and the freshness that counts in it.

use super::{Memory, Timestamp};
use crate::index::columns;

/// The days after the last use at which a memory that was never used again has half of its health.
const HALF: i64 = 30;
/// The days that every further use adds to that.
const A_USE: i64 = 10;
/// The most uses that count.
const MOST_USES: i64 = 97;

/// The health of a memory, from 1 to 100: a number that ranks, and hides nothing.
///
/// It falls with the time since the last use and rises with the number of uses. A clock that went
/// back counts as no time at all, and however far it goes ahead, something is left.
pub fn health(now: Timestamp, memory: &Memory) -> u8 {
    let age = now.hours_since(memory.used);
    let counted = i64::from(memory.uses).min(MOST_USES);
    let half = counted.saturating_mul(A_USE).saturating_add(HALF) * 24;
    let health = half.saturating_mul(100) / half.saturating_add(age);
    u8::try_from(health.clamp(1, 100)).unwrap_or(100)
}

/// A memory with its health.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The memory.
    pub memory: Memory,
    /// Its freshness, from 1 to 100.
    pub health: u8,
}

/// The memories with any of the words, the most useful first: by the number of these words, their
/// importance and their health. Without words all are there.
pub fn ranked(memories: Vec<Memory>, words: Option<&str>, now: Timestamp) -> Vec<Ranked> {
    let words = words.map(Words::of);
    let mut all: Vec<(f64, Ranked)> = memories
        .into_iter()
        .filter_map(|memory| {
            let fits = words.as_ref().map_or(Some(1.0), |words| words.fit(&memory));
            let health = health(now, &memory);
            let worth = f64::from(memory.importance) / 10.0 + f64::from(health) / 100.0;
            Some((fits? * (1.0 + worth), Ranked { memory, health }))
        })
        .collect();
    all.sort_by(|(a, one), (b, other)| {
        b.total_cmp(a)
            .then_with(|| other.memory.changed.cmp(&one.memory.changed))
            .then_with(|| one.memory.id.cmp(&other.memory.id))
    });
    all.into_iter().map(|(_, ranked)| ranked).collect()
}

/// The words of a query, without accents and case; of scripts without words, pairs of characters.
struct Words {
    /// Signs that are no words are found as they stand.
    literal: String,
    spaced: Vec<String>,
    pairs: Vec<String>,
}

impl Words {
    fn of(query: &str) -> Self {
        let (words, pairs) = columns(query);
        let mut last = "";
        let pairs = pairs.split_whitespace().filter(|pair| {
            // The last character of a run stands alone once more.
            let is_rest = last.len() > pair.len() && last.ends_with(pair);
            last = pair;
            !is_rest
        });
        Self {
            literal: query.trim().to_lowercase(),
            spaced: words.split_whitespace().map(str::to_owned).collect(),
            pairs: pairs.map(str::to_owned).collect(),
        }
    }

    /// The share of the words with which a memory's words begin; `None` without any.
    fn fit(&self, memory: &Memory) -> Option<f64> {
        let (words, pairs) = columns(&memory.content);
        // Too many words begin with one letter.
        let begins = |one: &str, word: &str| one == word || word.len() > 1 && one.starts_with(word);
        let is_there = |all: &str, word: &String| all.split(' ').any(|one| begins(one, word));
        let found = |own: &[String], all: &str| own.iter().filter(|it| is_there(all, it)).count();
        let own = found(&self.spaced, &words) + found(&self.pairs, &pairs);
        if own == 0 {
            let is_there = memory.content.to_lowercase().contains(&self.literal);
            return is_there.then_some(1.0);
        }
        let part = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
        Some(part(own) / part(self.spaced.len() + self.pairs.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Timestamp, health};
    use crate::memory::tests::memory;

    const USED: Timestamp = Timestamp(1_900_000_000_000);

    fn at(now: Timestamp, last: Timestamp, uses: u32) -> u8 {
        let memory = crate::memory::Memory {
            used: last,
            uses,
            ..memory("x", USED)
        };
        health(now, &memory)
    }

    #[test]
    fn health_falls_with_time_and_rises_with_use() {
        let after = |days, uses| at(USED.plus_days(days), USED, uses);
        assert_eq!(
            [0, 7, 30, 90, 365, 3650].map(|days| after(days, 0)),
            [100, 81, 50, 25, 7, 1]
        );
        assert_eq!([0, 1, 5, 50].map(|uses| after(90, uses)), [25, 30, 47, 85]);
        for uses in 0..200 {
            assert!(after(90, uses) <= after(90, uses + 1));
            assert!(after(90, uses) >= after(91, uses));
        }
    }

    #[test]
    fn a_clock_that_jumps_does_no_harm_to_health() {
        assert_eq!(at(USED.plus_days(-4_000), USED, 0), 100);
        assert_eq!(at(Timestamp(i64::MIN), Timestamp(i64::MAX), 3), 100);
        assert_eq!(at(Timestamp(i64::MAX), Timestamp(i64::MIN), u32::MAX), 1);
        assert_eq!(at(USED.plus_days(36_500), USED, 0), 1);
    }
}
