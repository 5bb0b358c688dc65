//! Who gives way where something is full: whoever holds the most.

use std::collections::HashMap;

/// The place of what goes, of owners and weights with the oldest first: the oldest that the owner
/// who holds the most has, the newcomer counted in; where several hold as much, the oldest of
/// all of theirs. None if only the newcomer's owner holds the most, by the newcomer alone.
pub(crate) fn that_goes(held: &[(&str, usize)], newcomer: (&str, usize)) -> Option<usize> {
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
    use super::that_goes;

    #[test]
    fn nobody_gives_way_to_somebody_who_holds_more() {
        let held = [("a", 1), ("b", 1), ("b", 1), ("c", 1)];
        assert_eq!(that_goes(&held, ("b", 1)), Some(1));
        assert_eq!(that_goes(&held, ("c", 1)), Some(1));
        assert_eq!(that_goes(&held, ("d", 1)), Some(1));
        // Among equals it is the oldest of all.
        assert_eq!(that_goes(&[("a", 1), ("b", 1)], ("c", 1)), Some(0));
        assert_eq!(that_goes(&[("a", 1), ("b", 1)], ("b", 1)), Some(1));
        // By weight, a few may be the most, and a newcomer too heavy for the others.
        assert_eq!(
            that_goes(&[("a", 1), ("a", 1), ("b", 5)], ("a", 1)),
            Some(2)
        );
        assert_eq!(that_goes(&[("a", 3), ("b", 4)], ("c", 5)), None);
    }
}
