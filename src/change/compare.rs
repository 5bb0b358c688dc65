//! Compares two readings of one page, as far as both are known.

use std::collections::BTreeSet;

use super::Change;
use crate::page::{Field, PageReading};

/// The difference between two readings of one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageComparison {
    /// The change from one to the other; a field that is unknown in either does not differ.
    pub change: Change,
    /// The fields that are not known of both, in order.
    pub not_comparable: BTreeSet<Field>,
}

/// Compares two readings of one page.
pub fn compare(from: &PageReading, to: &PageReading) -> PageComparison {
    let (before_missing, after_missing) = (from.unreadable(), to.unreadable());
    let not_comparable = before_missing.into_keys().chain(after_missing.into_keys());
    // Each takes its unknown fields from the other.
    let after = to.clone().or_blank();
    let before = from.laid_over(&after);
    let after = to.laid_over(&before);
    PageComparison {
        not_comparable: not_comparable.collect(),
        change: Change::between(before, after),
    }
}

#[cfg(test)]
mod tests {
    use super::compare;
    use crate::page::{Field, Locale, PagePath, PageReading};

    fn page(content: Option<&str>, tags: Option<&[&str]>) -> PageReading {
        let path = PagePath::as_stored("a");
        PageReading {
            content: content.map(str::to_owned),
            tags: tags.map(|tags| tags.iter().map(|tag| (*tag).to_owned()).collect()),
            ..PageReading::bare(None, Locale::as_stored("en"), path, "A".to_owned())
        }
    }

    #[test]
    fn what_is_not_known_of_either_is_named_and_does_not_differ() {
        let known = page(Some("x\n"), Some(&["t"]));
        for (from, to) in [
            (&known, &page(Some("y\n"), None)),
            (&page(Some("y\n"), None), &known),
        ] {
            let comparison = compare(from, to);
            assert_eq!(comparison.change.fields(), [Field::Content]);
            assert!(comparison.not_comparable.contains(&Field::Tags));
            assert!(!comparison.not_comparable.contains(&Field::Content));
        }
        let comparison = compare(&known, &page(None, Some(&["u"])));
        assert_eq!(comparison.change.fields(), [Field::Tags]);
        assert!(comparison.not_comparable.contains(&Field::Content));
    }
}
