//! The places that a change leaves and takes.

use super::operation::Operation;
use super::plan::Change;
use crate::page::{PagePlace, PageState};

impl Change {
    /// The place that its page leaves, by a move or a delete.
    pub fn place_left(&self) -> Option<PagePlace> {
        self.leaving().map(PageState::place)
    }

    /// The place that its page takes, by a move or as a new page.
    pub fn place_taken(&self) -> Option<PagePlace> {
        let takes = self.moves() || self.before().is_none();
        // What belongs to a page takes no place of its own.
        let takes = takes && self.thing().is_none();
        self.after().filter(|_| takes).map(PageState::place)
    }

    /// The reason why nothing can bring its page back to the place that it leaves: the wiki makes no
    /// such page (W28, 6004). `None` if it can come back.
    pub fn leaves_for_good(&self) -> Option<&'static str> {
        let page = self.leaving()?;
        if !page.path.can_be_made() {
            return Some("the wiki makes no page at this path any more");
        }
        let is_gone = self.after().is_none() && has_no_content(page);
        is_gone.then_some("the wiki makes no page without content")
    }

    /// True if it would leave a page without content, which the wiki refuses (6004) unless the page is
    /// only moved.
    pub fn leaves_no_content(&self) -> bool {
        let writes = |step: &Operation| matches!(step, Operation::Create | Operation::Update);
        self.thing().is_none()
            && self.after().is_some_and(has_no_content)
            && self.steps().iter().any(writes)
    }

    fn leaving(&self) -> Option<&PageState> {
        let leaves = self.moves() || self.after().is_none();
        let leaves = leaves && self.thing().is_none();
        self.before().filter(|_| leaves)
    }
}

fn has_no_content(page: &PageState) -> bool {
    page.content.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::Change;
    use crate::page::testing::But as _;
    use crate::page::{Locale, PagePath, PageState, testing::at};

    fn retitled(page: PageState) -> PageState {
        page.but(|it| it.title = "B".to_owned())
    }

    #[test]
    fn a_page_leaves_and_takes_places_by_a_move_and_one_of_both_as_it_comes_or_goes() {
        let german = || at("a").but(|it| it.locale = Locale::as_stored("de"));
        for (change, left, taken) in [
            (Change::recreate(at("a")), None, Some("en/a")),
            (Change::delete(at("a")), Some("en/a"), None),
            (
                Change::between(at("a"), at("b")),
                Some("en/a"),
                Some("en/b"),
            ),
            (
                Change::between(at("a"), german()),
                Some("en/a"),
                Some("de/a"),
            ),
            (Change::between(at("a"), retitled(at("a"))), None, None),
        ] {
            let told = |place: Option<(Locale, PagePath)>| {
                place.map(|(locale, path)| format!("{locale}/{path}"))
            };
            assert_eq!(told(change.place_left()).as_deref(), left, "{change:?}");
            assert_eq!(told(change.place_taken()).as_deref(), taken, "{change:?}");
        }
    }

    #[test]
    fn a_page_leaves_for_good_where_the_wiki_makes_none_any_more() {
        for (change, expected) in [
            (Change::delete(at("docs/a")), false),
            (Change::delete(at("docs/a.b")), true),
            (Change::between(at("docs/a.b"), at("docs/b")), true),
            (Change::between(at("docs/a"), at("docs/b")), false),
            (
                Change::between(at("docs/a.b"), retitled(at("docs/a.b"))),
                false,
            ),
            (Change::recreate(at("docs/a.b")), false),
        ] {
            assert_eq!(change.leaves_for_good().is_some(), expected, "{change:?}");
        }
    }

    #[test]
    fn a_page_without_content_can_be_moved_and_deleted_and_nothing_else() {
        let blank = |path| at(path).but(|it| it.content = "\n".to_owned());
        let filled = blank("a").but(|it| it.content = "A".to_owned());
        for (change, is_refused, is_gone) in [
            (Change::between(blank("a"), blank("b")), false, false),
            (Change::delete(blank("a")), false, true),
            (Change::between(blank("a"), filled.clone()), false, false),
            (Change::between(filled, blank("a")), true, false),
            (
                Change::between(blank("a"), retitled(blank("b"))),
                true,
                false,
            ),
            (Change::recreate(blank("a")), true, false),
        ] {
            assert_eq!(change.leaves_no_content(), is_refused, "{change:?}");
            assert_eq!(change.leaves_for_good().is_some(), is_gone, "{change:?}");
        }
    }
}
