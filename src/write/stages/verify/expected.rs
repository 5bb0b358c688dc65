//! The promised state of a page after a step, and what a reading of the page proves of it.

use std::borrow::Cow;

use time::{Duration, OffsetDateTime};

use crate::change::{Change, Operation, Proof, prove};
use crate::page::{Date, Field, PageReading, PageState};
use crate::wiki::{Wiki, WikiError};

/// The most that a page made by an attempt may look older than it: the sending time is known to a
/// second of the wiki's clock.
const SURELY_AFTER: Duration = Duration::seconds(2);
/// The least that a page must look older than an attempt to be surely not made by it, whatever a
/// proxy's clock says.
const SURELY_BEFORE: Duration = Duration::minutes(5);

/// The promised state of the page after a step.
pub(crate) enum Promise<'a> {
    /// A page exists as promised.
    Created { after: &'a PageState },
    /// A page is as promised.
    Changed {
        /// The page before this step, which may follow another.
        before: Cow<'a, PageState>,
        after: Cow<'a, PageState>,
        /// Fields that cannot be read back and whose loss was accepted.
        lost: &'a [Field],
        step: Operation,
        /// True if the whole change moves the page.
        moves: bool,
    },
    /// A page is gone.
    Deleted { before: &'a PageState },
}

/// One reading of the page, for the outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PageObservation {
    Gone,
    Page(Box<FoundPage>),
}

impl PageObservation {
    /// The proof of a page that was found.
    pub(super) fn proof(self) -> Option<Proof> {
        match self {
            Self::Page(found) => Some(found.proof),
            Self::Gone => None,
        }
    }
}

/// A page that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundPage {
    pub(crate) proof: Proof,
    /// True if it is the page that the answer to a create named, at the promised place.
    pub(crate) is_answered: bool,
    pub(crate) created_at: Option<Date>,
    /// The author of its last write.
    pub(crate) author: Option<String>,
}

/// The order of a page's creation and the attempt to create it at this place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CreationOrder {
    AfterTheAttempt,
    /// Clocks differ too much to tell, or the time cannot be read.
    Unclear,
    BeforeTheAttempt,
}

impl<'a> Promise<'a> {
    /// The promise of one step of a change; `None` if the change has no such step.
    pub(crate) fn of(change: &'a Change, step: Operation) -> Option<Self> {
        match (change.before(), change.after()) {
            (None, Some(after)) => Some(Self::Created { after }),
            (Some(before), None) => Some(Self::Deleted { before }),
            (Some(before), Some(_)) => Some(Self::Changed {
                before: match step {
                    Operation::Update if change.moves() => change.after_step(Operation::Move)?,
                    Operation::Move if change.aside().is_some() => {
                        change.after_step(Operation::Aside)?
                    }
                    _ => Cow::Borrowed(before),
                },
                after: change.after_step(step)?,
                lost: change.lost(),
                step,
                moves: change.moves(),
            }),
            (None, None) => None,
        }
    }

    pub(crate) fn is_kept(&self, seen: &PageObservation) -> bool {
        match (self, seen) {
            (Self::Deleted { .. }, seen) => *seen == PageObservation::Gone,
            (Self::Created { .. } | Self::Changed { .. }, PageObservation::Page(found)) => {
                found.proof.holds()
            }
            (Self::Created { .. } | Self::Changed { .. }, PageObservation::Gone) => false,
        }
    }

    pub(crate) fn is_old_state(&self, seen: &PageObservation) -> bool {
        match (self, seen) {
            (Self::Created { .. }, seen) => *seen == PageObservation::Gone,
            (Self::Changed { before, .. }, PageObservation::Page(found)) => before
                .difference(&found.proof.found)
                .iter()
                .all(|field| found.proof.unverified.contains(field)),
            (Self::Deleted { before }, PageObservation::Page(found)) => {
                before.difference(&found.proof.found).is_empty()
            }
            (Self::Changed { .. } | Self::Deleted { .. }, PageObservation::Gone) => false,
        }
    }

    /// True if the wiki refused a new page because its place is taken. The wiki checks that before
    /// it writes anything (6002).
    pub(crate) const fn is_taken(&self, cause: Option<&WikiError>) -> bool {
        matches!(
            (self, cause),
            (Self::Created { .. }, Some(WikiError::PageExists))
        )
    }

    /// True if a found page is surely the one that was written, since another client's page could
    /// be at its place. A new page is known by the id in the wiki's answer, if it is at the
    /// promised place; without an id, it must be exactly as promised and made after the attempt was
    /// sent.
    pub(crate) fn is_ours(&self, seen: &PageObservation, sent_at: OffsetDateTime) -> bool {
        match (self, seen) {
            (Self::Created { .. }, PageObservation::Page(found)) => {
                found.is_answered
                    || (found.is_to_the_letter()
                        && found.made(sent_at) == CreationOrder::AfterTheAttempt)
            }
            _ => true,
        }
    }

    pub(crate) async fn read(
        &self,
        wiki: &Wiki,
        new_id: Option<i64>,
    ) -> Result<PageObservation, WikiError> {
        if let Some(state) = self.of_thing() {
            return self.read_thing(wiki, state, new_id).await;
        }
        let mut is_answered = false;
        let reading = match self {
            Self::Created { after } => match answered_page(wiki, after, new_id).await? {
                Some(page) => {
                    is_answered = true;
                    Ok(page)
                }
                None => wiki.page_by_path(&after.locale, &after.path).await,
            },
            Self::Changed {
                before,
                after,
                lost,
                moves: true,
                ..
            } => read_moved(wiki, (before, after), lost).await,
            Self::Changed { before, lost, .. } => read_whole(wiki, before, lost).await,
            Self::Deleted { before } => read_whole(wiki, before, &[]).await,
        };
        match reading {
            Ok(reading) => Ok(PageObservation::Page(Box::new(FoundPage {
                proof: self.prove(&reading),
                is_answered,
                created_at: reading.created_at,
                author: reading.author_name,
            }))),
            Err(WikiError::NotFound) => Ok(PageObservation::Gone),
            Err(error) => Err(error),
        }
    }

    /// The state whose thing the step writes, if it is none of a page itself.
    fn of_thing(&self) -> Option<&PageState> {
        let state = match self {
            Self::Created { after } => *after,
            Self::Changed { before, .. } => before.as_ref(),
            Self::Deleted { before } => *before,
        };
        Some(state).filter(|state| state.thing.is_some())
    }

    async fn read_thing(
        &self,
        wiki: &Wiki,
        state: &PageState,
        new_id: Option<i64>,
    ) -> Result<PageObservation, WikiError> {
        let seen = match wiki.thing_now(state, new_id).await {
            Ok(seen) => seen,
            Err(WikiError::NotFound) => return Ok(PageObservation::Gone),
            Err(error) => return Err(error),
        };
        let reading = PageReading {
            content: Some(seen.state.content.clone()).filter(|_| seen.is_readable),
            ..PageReading::from(seen.state.clone())
        };
        let mut proof = self.prove(&reading);
        if seen.is_reworked && self.is_new(&proof) {
            // What the wiki made of it cannot be foretold.
            proof.differing.retain(|field| *field != Field::Content);
            proof.unverified.push(Field::Content);
        }
        Ok(PageObservation::Page(Box::new(FoundPage {
            proof: Proof {
                found: PageState {
                    thing: seen.state.thing,
                    ..proof.found
                },
                ..proof
            },
            is_answered: seen.is_known && new_id.is_some(),
            created_at: seen.created_at,
            author: seen.author,
        })))
    }

    /// True if other content than before was found where other content than found was promised.
    fn is_new(&self, proof: &Proof) -> bool {
        let is_other = proof.differing.contains(&Field::Content);
        match self {
            Self::Created { .. } => is_other,
            Self::Changed { before, .. } => is_other && !before.same(&proof.found, Field::Content),
            Self::Deleted { .. } => false,
        }
    }

    fn prove(&self, reading: &PageReading) -> Proof {
        match self {
            Self::Created { after } => prove(after, None, reading),
            Self::Changed { before, after, .. } => prove(after, Some(before), reading),
            // A page that still exists is compared with the old state.
            Self::Deleted { before } => prove(before, None, reading),
        }
    }
}

impl FoundPage {
    /// True if the content was read, and everything that was read is as promised.
    pub(crate) fn is_to_the_letter(&self) -> bool {
        self.proof.holds() && !self.proof.unverified.contains(&Field::Content)
    }

    /// The order of its creation and an attempt sent at this time, by the wiki's clock.
    pub(crate) fn made(&self, sent_at: OffsetDateTime) -> CreationOrder {
        made(self.created_at.as_ref(), sent_at)
    }

    /// True if a field was read and is as promised.
    pub(crate) fn shows(&self, field: Field) -> bool {
        !self.proof.differing.contains(&field) && !self.proof.unverified.contains(&field)
    }

    /// True if the page's date is later than in this state.
    pub(crate) fn is_later_than(&self, state: &PageState) -> bool {
        match (&self.proof.found.updated_at, &state.updated_at) {
            (Some(now), Some(then)) => !now.same(then),
            _ => true,
        }
    }
}

/// The page that the answer to a create names, if it is at the promised place: a page elsewhere was
/// not made by the create.
async fn answered_page(
    wiki: &Wiki,
    promised: &PageState,
    id: Option<i64>,
) -> Result<Option<PageReading>, WikiError> {
    let Some(id) = id else {
        return Ok(None);
    };
    match wiki.page_by_id(id).await {
        Ok(page) => Ok(Some(page).filter(|page| is_there(page, promised))),
        Err(WikiError::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// True if a page is at the promised place.
fn is_there(page: &PageReading, promised: &PageState) -> bool {
    page.locale == promised.locale && page.path == promised.path
}

/// A page after a step of a change that moves it. Where it is now the key may see less of it: then what it sees
/// of the page at the promised place counts, and what it does not see is unverified.
async fn read_moved(
    wiki: &Wiki,
    (before, after): (&PageState, &PageState),
    lost: &[Field],
) -> Result<PageReading, WikiError> {
    let read = read_whole(wiki, before, lost).await;
    match (&read, before.id) {
        (Err(error), Some(id)) if error.is_forbidden() => match wiki.page_by_id(id).await {
            Ok(page) if is_there(&page, after) => Ok(page),
            _ => read,
        },
        _ => read,
    }
}

async fn read_whole(
    wiki: &Wiki,
    page: &PageState,
    lost: &[Field],
) -> Result<PageReading, WikiError> {
    match page.id {
        Some(id) => wiki.whole_page(id, lost).await,
        None => Err(WikiError::NotFound),
    }
}

/// Compares the time when a page was made with the time when an attempt was sent, both by the
/// wiki's clock.
fn made(created_at: Option<&Date>, sent_at: OffsetDateTime) -> CreationOrder {
    match created_at.and_then(Date::instant) {
        Some(at) if at >= sent_at.saturating_sub(SURELY_AFTER) => CreationOrder::AfterTheAttempt,
        Some(at) if at < sent_at.saturating_sub(SURELY_BEFORE) => CreationOrder::BeforeTheAttempt,
        Some(_) | None => CreationOrder::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::{CreationOrder, Promise, answered_page, is_there, made};
    use crate::change::Operation;
    use crate::page::testing::{But as _, page};
    use crate::page::{Date, Field, Locale, PagePath, PageReading};
    use crate::write::testing::{self, move_and_update, office, update};

    #[test]
    fn whether_an_attempt_made_a_page_is_told_by_the_wiki_s_clock_as_far_as_it_is_known() {
        let sent_at = datetime!(2026-01-01 12:00:00 UTC);
        for (created_at, expected) in [
            ("2026-01-01T12:00:00.500Z", CreationOrder::AfterTheAttempt),
            ("2026-01-01T11:59:58.000Z", CreationOrder::AfterTheAttempt),
            ("2026-01-01T11:59:57.999Z", CreationOrder::Unclear),
            ("2026-01-01T11:55:00.000Z", CreationOrder::Unclear),
            ("2026-01-01T11:54:59.999Z", CreationOrder::BeforeTheAttempt),
            ("soon", CreationOrder::Unclear),
        ] {
            let date = Date::from(created_at.to_owned());
            assert_eq!(made(Some(&date), sent_at), expected, "{created_at}");
        }
        assert_eq!(made(None, sent_at), CreationOrder::Unclear);
    }

    #[test]
    fn a_page_is_where_it_was_promised_only_by_locale_and_path() {
        let at = |locale, path| {
            let (locale, path) = (Locale::as_stored(locale), PagePath::as_stored(path));
            PageReading::bare(Some(9), locale, path, "Whatever".to_owned())
        };
        assert!(is_there(&at("en", "docs/a"), &page()));
        assert!(!is_there(&at("de", "docs/a"), &page()));
        assert!(!is_there(&at("en", "docs/b"), &page()));
    }

    #[tokio::test]
    async fn the_page_that_an_answer_named_is_read_by_its_id() {
        let office = office();
        // Nobody answers, so it was asked where this fails.
        for (id, is_asked) in [(None, false), (Some(9), true)] {
            let found = answered_page(&office.desk.wiki, &page(), id).await;
            assert_eq!(found.is_err(), is_asked);
            assert!(found.unwrap_or_default().is_none());
        }
    }

    #[test]
    fn an_update_behind_a_move_is_held_against_the_page_as_the_move_left_it() {
        let path_before = |change, step| match Promise::of(change, step).unwrap() {
            Promise::Changed { before, .. } => before.path.to_string(),
            Promise::Created { .. } | Promise::Deleted { .. } => panic!("it changes a page"),
        };
        let moved = move_and_update();
        assert_eq!(path_before(&moved, Operation::Move), "docs/a");
        assert_eq!(path_before(&moved, Operation::Update), "docs/b");
        // Where nothing moves, to the letter: also a title that a move would take for its own.
        let mut stays = page();
        stays.title = "a".to_owned();
        stays.updated_at = Some(Date::from("2026-01-01T12:00:00.000Z".to_owned()));
        let change = crate::change::Change::between(stays.clone(), page());
        let Some(Promise::Changed { before, .. }) = Promise::of(&change, Operation::Update) else {
            panic!("it changes a page");
        };
        assert_eq!(*before, stays);
        assert!(matches!(before, std::borrow::Cow::Borrowed(_)));
        assert!(Promise::of(&update(1), Operation::Update).is_some());
    }

    #[test]
    fn a_found_page_shows_a_field_that_was_read_and_is_as_promised() {
        let found = |differing: &[Field], unverified: &[Field]| {
            testing::found(&page(), page()).but(|it| {
                it.proof.differing = differing.to_vec();
                it.proof.unverified = unverified.to_vec();
            })
        };
        let content = &[Field::Content][..];
        assert!(found(&[], &[]).shows(Field::Content));
        assert!(!found(content, &[]).shows(Field::Content));
        assert!(!found(&[], content).shows(Field::Content));
        assert!(found(content, content).shows(Field::Title));
        for (differing, unverified, expected) in [
            (&[][..], &[][..], true),
            (&[], &[Field::Tags], true),
            (&[], content, false),
            (&[Field::Tags], &[], false),
        ] {
            let found = found(differing, unverified);
            assert_eq!(found.is_to_the_letter(), expected, "{found:?}");
        }
    }
}
