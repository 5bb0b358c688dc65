//! Tags as branches: people write `proj/alpha` for a part of `proj`.

use std::collections::{HashMap, HashSet};

/// Number of pages that have each tag or one below it, each page counted once, from the tags of
/// each page. A parent that no page has itself is counted, too.
pub(in crate::wiki) fn branches<'a, T: Iterator<Item = &'a String>>(
    pages: impl Iterator<Item = T>,
) -> HashMap<&'a str, i64> {
    let mut counts = HashMap::new();
    let mut of_page: HashSet<&str> = HashSet::new();
    for tags in pages {
        of_page.clear();
        for tag in tags {
            let mut branch = Some(tag.as_str());
            while let Some(tag) = branch.filter(|tag| of_page.insert(tag)) {
                branch = parent(tag);
            }
        }
        for tag in &of_page {
            *counts.entry(*tag).or_default() += 1;
        }
    }
    counts
}

/// The tag above a tag, whether any page has it or not.
pub fn parent(tag: &str) -> Option<&str> {
    let (parent, _) = tag.rsplit_once('/')?;
    (!parent.is_empty()).then_some(parent)
}

#[cfg(test)]
mod tests {
    use super::{branches, parent};

    #[test]
    fn a_page_counts_once_for_each_branch() {
        let pages: Vec<Vec<String>> = [
            &["proj/a", "proj/b"][..],
            &["proj/a/x"],
            &["proj"],
            &["/lead", "trail/"],
        ]
        .iter()
        .map(|tags| tags.iter().map(|tag| (*tag).to_owned()).collect())
        .collect();
        let counts = branches(pages.iter().map(|tags| tags.iter()));
        for (tag, count) in [
            ("proj", 3),
            ("proj/a", 2),
            ("proj/a/x", 1),
            ("proj/b", 1),
            ("/lead", 1),
            ("trail/", 1),
            ("trail", 1),
        ] {
            assert_eq!(counts.get(tag), Some(&count), "{tag}");
        }
        assert_eq!(counts.len(), 7);
        assert_eq!((parent("proj"), parent("/lead")), (None, None));
    }
}
