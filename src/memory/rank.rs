//! The order in which memories are recalled.

use std::collections::HashMap;

use super::entry::Memory;
use super::health::health;
use super::moment::Timestamp;
use crate::audit::MemoryId;

/// A memory with its health.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The memory.
    pub memory: Memory,
    /// Its freshness, from 1 to 100.
    pub health: u8,
}

/// Memories, the most useful first: by how well they fit to the words that were asked for, their
/// importance and their health. Without words all fit alike.
#[must_use]
#[expect(clippy::implicit_hasher, reason = "the map is this room's own")]
pub fn ranked(
    memories: Vec<Memory>,
    fitting: Option<&HashMap<MemoryId, f64>>,
    now: Timestamp,
) -> Vec<Ranked> {
    let best = fitting.map_or(0.0, |fitting| fitting.values().copied().fold(0.0, f64::max));
    let mut all: Vec<(f64, Ranked)> = memories
        .into_iter()
        .map(|memory| {
            let health = health(now, memory.used, memory.uses);
            let score = fitting.and_then(|fitting| fitting.get(&memory.id));
            let fits = match score {
                Some(score) if best > 0.0 => (score / best).max(0.1),
                Some(_) | None => 0.1,
            };
            let worth = f64::from(memory.importance) / 10.0 + f64::from(health) / 100.0;
            let score = if fitting.is_some() {
                fits * (1.0 + worth)
            } else {
                worth
            };
            (score, Ranked { memory, health })
        })
        .collect();
    all.sort_by(|(a, one), (b, other)| {
        b.total_cmp(a)
            .then_with(|| other.memory.changed.cmp(&one.memory.changed))
            .then_with(|| one.memory.id.cmp(&other.memory.id))
    });
    all.into_iter().map(|(_, ranked)| ranked).collect()
}
