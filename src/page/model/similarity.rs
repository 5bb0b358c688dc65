//! Measures the similarity of two short texts in linear time, to suggest what a caller may have
//! meant.

use std::collections::HashSet;

/// The most characters of a text that are compared.
const MAX_COMPARED: usize = 200;

/// A text to compare others with. Letter case and white space do not count.
#[derive(Debug)]
pub(in crate::page) struct Alike {
    pairs: HashSet<(char, char)>,
    /// Number of pairs, with repetitions.
    count: usize,
}

impl Alike {
    /// Compares with this text.
    pub(in crate::page) fn to(text: &str) -> Self {
        Self {
            pairs: pairs(text).collect(),
            count: pairs(text).count(),
        }
    }

    /// From 0 (nothing in common) to 1000: the share of character pairs that both texts have.
    pub(in crate::page) fn likeness(&self, other: &str) -> usize {
        let (mut all, mut common) = (0, 0);
        for pair in pairs(other) {
            all += 1;
            common += usize::from(self.pairs.contains(&pair));
        }
        // A pair that the other text repeats counts no more often than this one has pairs.
        2_000 * common.min(self.count) / (all + self.count).max(1)
    }

    /// The `most` most similar items, the most similar first; ties keep their order.
    pub(in crate::page) fn nearest<T>(
        &self,
        all: impl Iterator<Item = T>,
        most: usize,
        least: usize,
        likeness: impl Fn(&Self, &T) -> usize,
    ) -> Vec<T> {
        let mut nearest: Vec<(usize, T)> = Vec::with_capacity(most + 1);
        for one in all {
            let alike = likeness(self, &one);
            if alike < least
                || nearest.len() == most && nearest.iter().all(|(than, _)| *than >= alike)
            {
                continue;
            }
            let place = nearest.partition_point(|(than, _)| *than >= alike);
            nearest.insert(place, (alike, one));
            nearest.truncate(most);
        }
        nearest.into_iter().map(|(_, one)| one).collect()
    }
}

/// The pairs of neighbouring characters of a text. Its two ends count as characters, so that a text
/// of one character has pairs too.
fn pairs(text: &str) -> impl Iterator<Item = (char, char)> {
    let chars = || {
        text.chars()
            .filter(|c| !c.is_whitespace())
            .flat_map(char::to_lowercase)
            .take(MAX_COMPARED)
    };
    let end = std::iter::once('\n');
    end.clone().chain(chars()).zip(chars().chain(end))
}

#[cfg(test)]
mod tests {
    use super::Alike;

    #[test]
    fn likeness_goes_from_nothing_to_the_same() {
        let alike = Alike::to("Installing on Linux");
        assert_eq!(alike.likeness("installing  ON linux"), 1_000);
        assert_eq!(alike.likeness("zzz"), 0);
        assert!(alike.likeness("Install on Linux") > alike.likeness("Install on Windows"));
        assert_eq!(Alike::to("").likeness(""), 1_000);
        assert!(alike.likeness(&"on".repeat(1_000)) < 1_000);
    }

    #[test]
    fn the_nearest_come_first_and_no_more_than_asked_for() {
        let alike = Alike::to("backup");
        let names = ["restore", "Back up", "backups", "backup", "pack up"];
        let nearest = alike.nearest(names.into_iter(), 3, 500, |alike, name| {
            alike.likeness(name)
        });
        assert_eq!(nearest, ["Back up", "backup", "backups"]);
        let none = alike.nearest(names.into_iter(), 3, 1_001, |alike, name| {
            alike.likeness(name)
        });
        assert!(none.is_empty());
    }
}
