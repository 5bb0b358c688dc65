//! A part of the wiki that moves: all pages at or below a path.

use crate::page::{Locale, PagePath};

/// A part of the wiki and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedPart {
    /// The locale of its pages.
    pub locale: Locale,
    /// They stand at this path or below it.
    pub from: PagePath,
    /// The locale that they go to.
    pub to_locale: Locale,
    /// The path that stands for `from` there.
    pub to: PagePath,
}

impl MovedPart {
    /// True if it would move to its own place or below it.
    pub fn goes_into_itself(&self) -> bool {
        self.locale == self.to_locale && self.to.is_within(&self.from)
    }

    /// The path that a page of the part goes to; nothing for a page of another part.
    pub fn path_of(&self, page: &PagePath) -> Option<PagePath> {
        let rest = page.as_str().strip_prefix(self.from.as_str())?;
        if !page.is_within(&self.from) {
            return None;
        }
        let path = [self.to.as_str(), rest.trim_start_matches('/')].join("/");
        Some(PagePath::as_stored(path.trim_matches('/')))
    }
}

#[cfg(test)]
mod tests {
    use super::MovedPart;
    use crate::page::{Locale, PagePath};

    fn part(from: &str, to: &str) -> MovedPart {
        MovedPart {
            locale: Locale::as_stored("en"),
            from: PagePath::as_stored(from),
            to_locale: Locale::as_stored("en"),
            to: PagePath::as_stored(to),
        }
    }

    #[test]
    fn all_pages_at_or_below_a_path_go_below_another() {
        let moved = |from, to, page| {
            let path = part(from, to).path_of(&PagePath::as_stored(page));
            path.map(|path| path.as_str().to_owned())
        };
        let some = |path: &str| Some(path.to_owned());
        assert_eq!(moved("docs", "old/docs", "docs"), some("old/docs"));
        assert_eq!(moved("docs", "old/docs", "docs/b/c"), some("old/docs/b/c"));
        assert_eq!(moved("docs/b", "docs", "docs/b/c"), some("docs/c"));
        assert_eq!(moved("docs", "old", "docsx"), None);
        assert_eq!(moved("docs", "old", "x/docs"), None);
    }

    #[test]
    fn a_part_goes_into_itself_only_in_its_own_locale() {
        assert!(part("docs", "docs/b").goes_into_itself());
        assert!(part("docs", "docs").goes_into_itself());
        assert!(!part("docs", "docsx").goes_into_itself());
        assert!(!part("docs/b", "docs").goes_into_itself());
        let german = MovedPart {
            to_locale: Locale::as_stored("de"),
            ..part("docs", "docs/b")
        };
        assert!(!german.goes_into_itself());
    }
}
