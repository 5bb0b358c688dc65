//! Whose entry to evict when something is full: the heaviest owner's.

use std::collections::HashMap;

/// The index to evict from a list of owners and weights, oldest first: the oldest entry of the
/// heaviest owner, the newcomer counted in; of several equally heavy owners, their oldest entry.
/// `None` if only the newcomer makes its owner the heaviest.
pub(crate) fn evict_index(held: &[(&str, usize)], newcomer: (&str, usize)) -> Option<usize> {
    let mut holds: HashMap<&str, usize> = HashMap::new();
    for (owner, weight) in held.iter().chain([&newcomer]) {
        *holds.entry(owner).or_default() += weight;
    }
    let most = holds.values().max()?;
    held.iter()
        .position(|(owner, _)| holds.get(owner) == Some(most))
}

#[cfg(test)]
mod tests {
    use super::evict_index;

    #[test]
    fn nobody_gives_way_to_somebody_who_holds_more() {
        let held = [("a", 1), ("b", 1), ("b", 1), ("c", 1)];
        assert_eq!(evict_index(&held, ("b", 1)), Some(1));
        assert_eq!(evict_index(&held, ("c", 1)), Some(1));
        assert_eq!(evict_index(&held, ("d", 1)), Some(1));
        // Of equally heavy owners, the oldest entry.
        assert_eq!(evict_index(&[("a", 1), ("b", 1)], ("c", 1)), Some(0));
        assert_eq!(evict_index(&[("a", 1), ("b", 1)], ("b", 1)), Some(1));
        // By weight, few entries may be the heaviest, and a newcomer may be too heavy for the
        // others.
        assert_eq!(
            evict_index(&[("a", 1), ("a", 1), ("b", 5)], ("a", 1)),
            Some(2)
        );
        assert_eq!(evict_index(&[("a", 3), ("b", 4)], ("c", 5)), None);
    }
}
