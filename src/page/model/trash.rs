//! Names the places of pages that are moved to the trash instead of deleted.

use crate::page::{MAX_PATH_CHARS, NewPath, PagePath, PageState};

/// The longest prefix, in characters: the rest is for the page's id and path.
const MAX_PREFIX_CHARS: usize = 200;

/// A folder of pages that were taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trash(NewPath);

impl Trash {
    /// Checks the folder's path, which is the same in every locale.
    ///
    /// # Errors
    /// One sentence about what is wrong.
    pub fn parse(prefix: &str) -> Result<Self, String> {
        if prefix.chars().count() > MAX_PREFIX_CHARS {
            return Err(format!("must have at most {MAX_PREFIX_CHARS} characters"));
        }
        NewPath::parse(prefix).map(Self)
    }

    /// The place of a page in the trash: `<prefix>/<id>-<path>`, cut to the longest path. The path
    /// is left out if the wiki would not take it (W16). The id makes each place unique.
    pub fn place(&self, page: &PageState) -> Option<NewPath> {
        let short = format!("{}/{}", self.0.as_path(), page.id?);
        let whole: String = format!("{short}-{}", page.path)
            .chars()
            .take(MAX_PATH_CHARS)
            .collect();
        NewPath::parse(&whole)
            .or_else(|_| NewPath::parse(&short))
            .ok()
    }

    /// True if a path lies in the trash.
    pub fn holds(&self, path: &PagePath) -> bool {
        path.is_within(self.0.as_path())
    }

    /// True if a path is that page's place in the trash.
    pub fn is_place_of(&self, path: &PagePath, page: &PageState) -> bool {
        self.place(page)
            .is_some_and(|place| place.as_path() == path)
    }
}

#[cfg(test)]
mod tests {
    use super::Trash;
    use crate::page::{PagePath, PageState, testing};

    fn place(id: Option<i64>, path: &str) -> Option<String> {
        let page = PageState {
            id,
            path: PagePath::as_stored(path),
            ..testing::page()
        };
        let trash = Trash::parse("bin/old").expect("a prefix");
        let place = trash.place(&page)?;
        assert!(trash.is_place_of(place.as_path(), &page));
        Some(place.as_path().to_string())
    }

    #[test]
    fn a_page_goes_below_the_prefix_under_its_id_and_path() {
        assert_eq!(
            place(Some(7), "docs/a").as_deref(),
            Some("bin/old/7-docs/a")
        );
        assert_eq!(place(Some(7), "a b").as_deref(), Some("bin/old/7"));
        assert_eq!(place(Some(7), "").as_deref(), Some("bin/old/7-"));
        let long = place(Some(7), &"ä".repeat(255)).expect("a place");
        assert_eq!(long.chars().count(), 255);
        assert_eq!(place(None, "docs/a"), None);
    }

    #[test]
    fn a_prefix_is_a_place_where_pages_may_come_to_be() {
        for bad in ["", "login", "a b", "en/trash", "x"] {
            assert!(Trash::parse(bad).is_err(), "{bad}");
        }
        assert!(Trash::parse(&"t".repeat(201)).is_err());
    }
}
