//! Keeps what one page of a session leaves for the next.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::markup::News;
use crate::audit::ProposalId;

/// The most parts of differences that a session is remembered to have seen, and of how many sets.
const MOST_SEEN: usize = 8_000;
const MOST_SETS: usize = 200;

/// All that a session's pages leave for the next one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct BrowserState {
    /// True if differences are shown in two columns.
    pub is_side_by_side: bool,
    /// The site that it looks at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// The news of the last decision, until a page tells them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub news: Option<News>,
    /// The parts of sets that were shown, of the set shown last at the end.
    seen: Vec<SeenSet>,
}

/// The parts of a set's differences that were shown, while the set was as this digest says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SeenSet {
    id: ProposalId,
    digest: String,
    parts: BTreeSet<usize>,
}

impl BrowserState {
    /// Remembers what was shown of a set; false if all of it was known.
    pub(super) fn saw(&mut self, id: ProposalId, digest: &str, parts: Range<usize>) -> bool {
        let is_known = |set: &SeenSet| set.id == id && set.digest == digest;
        let known = self.seen.iter().position(is_known);
        let known = known.map(|at| self.seen.remove(at));
        let before = known.as_ref().map_or(0, |set| set.parts.len());
        let mut parts: BTreeSet<usize> = parts.collect();
        parts.extend(known.into_iter().flat_map(|set| set.parts));
        // Forgetting is safe: what is forgotten has to be looked at again.
        let parts: BTreeSet<usize> = parts.into_iter().take(MOST_SEEN).collect();
        let (is_news, mut count) = (parts.len() > before, parts.len());
        self.seen.retain(|set| set.id != id);
        let digest = digest.to_owned();
        self.seen.push(SeenSet { id, digest, parts });
        let older = self.seen.iter().rev().skip(1);
        let fit = older.take(MOST_SETS - 1).take_while(|set| {
            count += set.parts.len();
            count <= MOST_SEEN
        });
        let kept = fit.count() + 1;
        self.seen.drain(..self.seen.len().saturating_sub(kept));
        is_news
    }

    /// The parts of a set that were shown.
    pub(super) fn seen(&self, id: ProposalId, digest: &str) -> HashSet<usize> {
        let of_set = self.seen.iter();
        let of_set = of_set.filter(|set| set.id == id && set.digest == digest);
        of_set.flat_map(|set| set.parts.iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{BrowserState, MOST_SEEN, MOST_SETS};
    use crate::audit::ProposalId;

    #[test]
    fn what_was_seen_counts_for_the_set_as_it_was_shown() {
        let mut own = BrowserState::default();
        let (id, other) = (ProposalId::new().unwrap(), ProposalId::new().unwrap());
        assert!(own.saw(id, "x", 0..1) && own.saw(id, "x", 2..3));
        assert!(!own.saw(id, "x", 0..1));
        assert_eq!(own.seen(id, "x"), [0, 2].into());
        assert!(own.seen(id, "y").is_empty() && own.seen(other, "x").is_empty());
        // Of a set that changed only what it is now counts.
        assert!(own.saw(id, "y", 0..1));
        assert!(own.seen(id, "x").is_empty());
    }

    #[test]
    fn of_more_than_a_session_remembers_the_sets_shown_last_are_known() {
        let mut own = BrowserState::default();
        let sets: Vec<_> = (0..=MOST_SETS)
            .map(|_| ProposalId::new().unwrap())
            .collect();
        for id in &sets {
            own.saw(*id, "x", 0..1);
        }
        assert!(own.seen(sets[0], "x").is_empty());
        assert_eq!(own.seen(sets[1], "x").len(), 1);
        own.saw(sets[2], "x", 0..MOST_SEEN * 2);
        assert_eq!(own.seen(sets[2], "x").len(), MOST_SEEN);
        assert!(own.seen(sets[MOST_SETS], "x").is_empty());
        assert!(!own.saw(sets[2], "x", MOST_SEEN..MOST_SEEN + 1));
    }
}
