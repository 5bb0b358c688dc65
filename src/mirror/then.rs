//! A part of the wiki as it was at a time: what has become of its pages since.

use std::collections::HashSet;

use time::OffsetDateTime;

use super::bin::Mirror;
use super::known::KnownPages;
use super::pages::{MirrorTime, MirroredPage, SeenState};
use crate::audit::{AuditError, KeptState, kept_states};
use crate::page::{Field, PagePath, PageState, Prefix, ReadScope};
use crate::store::{Store, on};

/// The most pages whose states are loaded: twice as many as a set changes.
const MOST_LOADED: usize = 400;

/// A part of the wiki that is to be as it was.
#[derive(Debug, Clone)]
pub struct PartThen {
    /// The part.
    pub prefix: Prefix,
    /// The time.
    pub at: OffsetDateTime,
    /// Only what this author changed, by the name that the wiki tells.
    pub by: Option<String>,
}

/// A page that is not as it was.
#[derive(Debug, Clone)]
pub struct PageThen {
    /// Its id.
    pub id: i64,
    /// Its last path.
    pub path: PagePath,
    /// The time at which it was first seen as it was then.
    pub seen: Option<MirrorTime>,
    /// The changes to be taken back, the newest first: the page before and after each.
    pub steps: Vec<(Option<PageState>, Option<PageState>)>,
    /// The fields that nobody saw as they were, and that stay as they are.
    pub unseen: Vec<Field>,
    /// The reason for which it cannot be as it was, if the mirror has one.
    pub hindrance: Option<&'static str>,
}

impl PageThen {
    /// The states of the page before and after all steps.
    pub fn states(&self) -> impl Iterator<Item = &PageState> {
        places(&self.steps)
    }
}

/// A page before a change and after it.
type StatesThen = (Option<PageState>, Option<PageState>);

impl Mirror {
    /// The pages of a part that are not as they were, in order of their paths, and the number of others
    /// that are too many to be loaded; those of which nobody knows how they were have a hindrance. Nobody
    /// knows who deleted a page, so `by` leaves these out. Not told are pages that the key did not see any
    /// more before they went; with the digest of a key, of those that are gone only what it saw to the
    /// last, as in [`Self::bin`].
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn since(
        &self,
        part: PartThen,
        scope: &ReadScope,
        key: Option<&str>,
    ) -> Result<(Vec<PageThen>, usize), AuditError> {
        let known = self.known().await?;
        let (scope, key) = (scope.clone(), key.map(str::to_owned));
        on(self.store(), move |store| {
            let back = BackAgain::of(&known, part.at);
            let mut told: Vec<&MirroredPage> = { known.iter() }
                .filter(|page| is_told(page, &scope, key.as_deref()))
                .filter(|page| !back.holds(page, part.at))
                .collect();
            told.sort_by(|one, other| one.path.as_str().cmp(other.path.as_str()));
            let (mut pages, mut loaded, mut more) = (Vec::new(), 0_usize, 0_usize);
            for page in told {
                if loaded == MOST_LOADED {
                    more += usize::from(differs(page, &part));
                } else if let Some(page) = page_then(store, page, (&part, &scope))? {
                    loaded += usize::from(page.hindrance.is_none());
                    pages.push(page);
                }
            }
            Ok((pages, more))
        })
        .await
    }
}

/// True if a page is told within a scope, to whoever has this key.
fn is_told(page: &MirroredPage, scope: &ReadScope, key: Option<&str>) -> bool {
    let is_seen = page.gone.as_ref().is_none_or(|gone| {
        let is_by_key = key.is_none_or(|key| gone.was_seen_by(key));
        !gone.is_hidden && is_by_key
    });
    is_seen && page.is_admitted_by(scope)
}

/// True if a page of a part is not as it was, as far as that is known without its states.
fn differs(page: &MirroredPage, part: &PartThen) -> bool {
    let is_here = part.prefix.holds(&page.locale, &page.path);
    is_here && (is_unseen(page, part) || !changes(page, part).is_empty())
}

/// A page as it was, if it is not so now and its states are told.
fn page_then(
    store: &dyn Store,
    page: &MirroredPage,
    (part, scope): (&PartThen, &ReadScope),
) -> Result<Option<PageThen>, AuditError> {
    let is_here = part.prefix.holds(&page.locale, &page.path);
    let found = PageThen {
        id: page.id,
        path: page.path.clone(),
        seen: before(page, part.at).map(|seen| seen.seen),
        steps: Vec::new(),
        unseen: Vec::new(),
        hindrance: None,
    };
    let hindered = |hindrance| {
        let hindrance = Some(hindrance);
        is_here.then_some(PageThen {
            hindrance,
            ..found.clone()
        })
    };
    if is_unseen(page, part) {
        return Ok(hindered("nobody saw how it was"));
    }
    let changes = changes(page, part);
    if changes.is_empty() {
        return Ok(None);
    }
    let mut unseen = Vec::new();
    let steps = { changes.into_iter() }
        .map(|pair| states(store, pair, &mut unseen))
        .collect::<Result<Vec<_>, _>>();
    let steps = match steps {
        Err(AuditError::Missing | AuditError::Damaged) => {
            return Ok(hindered("what is kept of it is missing or damaged"));
        }
        steps => steps?,
    };
    let is_within = |state: &PageState| part.prefix.holds(&state.locale, &state.path);
    let is_of_part = (page.gone.is_some() && is_here) || places(&steps).any(is_within);
    let are_tags_seen = !unseen.contains(&Field::Tags) || !scope.asks_for_tags();
    let is_told = are_tags_seen && places(&steps).all(|state| scope.admits_state(state));
    Ok((is_told && is_of_part).then_some(PageThen {
        steps,
        unseen,
        ..found
    }))
}

/// The states of all steps.
fn places(steps: &[StatesThen]) -> impl Iterator<Item = &PageState> {
    { steps.iter() }
        .flat_map(|(before, after)| [before, after])
        .flatten()
}

/// The pages that were deleted since a time and stand there again, under other ids: by their states,
/// which say where they stand, too.
struct BackAgain {
    /// The states of the pages that are there.
    there: HashSet<KeptState>,
    /// The states that those had at the time which are gone since.
    gone: HashSet<KeptState>,
}

impl BackAgain {
    fn of(known: &KnownPages, at: OffsetDateTime) -> Self {
        let (mut there, mut gone) = (HashSet::new(), HashSet::new());
        for page in known.iter() {
            match &page.gone {
                None => there.extend(page.last().map(|last| last.state)),
                Some(end) if end.missed.instant() > at => {
                    gone.extend(before(page, at).map(|then| then.state));
                }
                Some(_) => {}
            }
        }
        Self { there, gone }
    }

    /// True for a page that is there again, and for that which it is now.
    fn holds(&self, page: &MirroredPage, at: OffsetDateTime) -> bool {
        match (before(page, at), &page.gone) {
            (Some(then), Some(_)) => self.there.contains(&then.state),
            (None, None) => page
                .states
                .iter()
                .any(|seen| self.gone.contains(&seen.state)),
            _ => false,
        }
    }
}

/// A state before a change and one after it.
type SeenPair<'a> = (Option<&'a SeenState>, Option<&'a SeenState>);

/// The changes of a page since a time that are to be taken back, the newest first.
fn changes<'a>(page: &'a MirroredPage, part: &PartThen) -> Vec<SeenPair<'a>> {
    let then = before(page, part.at);
    if then.is_none() && !is_new(page, part.at) {
        return Vec::new();
    }
    let later: Vec<&SeenState> = { page.states.iter() }
        .filter(|seen| seen.since() > part.at)
        .collect();
    let Some(by) = &part.by else {
        let last = page.last();
        let is_same = then.map(|seen| seen.state) == last.map(|seen| seen.state);
        let pair = match &page.gone {
            // What came and went since, nobody misses.
            Some(gone) => {
                (gone.missed.instant() > part.at && then.is_some()).then_some((then, None))
            }
            None => (!is_same).then_some((then, last)),
        };
        return pair.into_iter().collect();
    };
    if page.gone.is_some() {
        return Vec::new();
    }
    let mut pairs: Vec<SeenPair<'_>> = Vec::new();
    let mut last = then;
    let mut is_theirs = false;
    for seen in later {
        let is_own = seen.author.as_ref() == Some(by);
        match pairs.last_mut() {
            Some(pair) if is_own && is_theirs => pair.1 = Some(seen),
            _ if is_own => pairs.push((last, Some(seen))),
            _ => {}
        }
        (last, is_theirs) = (Some(seen), is_own);
    }
    pairs.reverse();
    pairs
}

/// True if a page was made after a time.
fn is_new(page: &MirroredPage, at: OffsetDateTime) -> bool {
    page.created.instant().is_some_and(|made| made > at)
}

/// True if a page was there at a time and changed since, and no state of it is kept from before.
fn is_unseen(page: &MirroredPage, part: &PartThen) -> bool {
    if before(page, part.at).is_some() || is_new(page, part.at) {
        return false;
    }
    match (&part.by, &page.gone) {
        (None, None) => !page.states.is_empty(),
        (None, Some(gone)) => gone.missed.instant() > part.at,
        (Some(_), Some(_)) => false,
        (Some(by), None) => page
            .states
            .iter()
            .any(|seen| seen.author.as_ref() == Some(by)),
    }
}

/// The state of a page at a time.
fn before(page: &MirroredPage, at: OffsetDateTime) -> Option<&SeenState> {
    page.states.iter().rfind(|seen| seen.since() <= at)
}

/// The states of a pair. What was not seen after the change counts as not changed by it; so does, of what
/// versions lack, what was not seen before it, which is noted.
fn states(
    store: &dyn Store,
    (before, after): SeenPair<'_>,
    unseen: &mut Vec<Field>,
) -> Result<(Option<PageState>, Option<PageState>), AuditError> {
    let kept = |seen: Option<&SeenState>| {
        seen.map(|seen| kept_states::kept(store, seen.state))
            .transpose()
    };
    let (mut before, mut after) = (kept(before)?, kept(after)?);
    if let (Some(before), Some(after)) = (&mut before, &mut after) {
        for field in std::mem::take(&mut after.unknown) {
            after.take(field, before);
        }
        for field in Field::ALL {
            if !field.is_in_versions() && !before.knows(field) && after.knows(field) {
                before.take(field, after);
                unseen.extend((!unseen.contains(&field)).then_some(field));
            }
        }
    }
    Ok((before, after))
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::{BackAgain, PartThen, changes, is_unseen};
    use crate::audit::KeptState;
    use crate::mirror::known::KnownPages;
    use crate::mirror::{MirroredPage, PageGone, SeenState};
    use crate::page::{Date, Locale, PagePath, PageReading, Prefix};

    /// A page whose states were seen at these seconds, by these authors.
    fn page(seen: &[(i64, &str)], gone: Option<i64>) -> MirroredPage {
        let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("docs/a"));
        let listed = PageReading::bare(Some(1), locale, path, String::new());
        let state = |(at, author): &(i64, &str)| SeenState {
            state: KeptState::of_text(format!("{at:064x}").as_bytes()).unwrap(),
            seen: (*at * 1_000).into(),
            updated: Date::Unset,
            redated: None,
            author: Some((*author).to_owned()),
            bytes: 1,
            is_between: false,
        };
        MirroredPage {
            states: seen.iter().map(state).collect(),
            gone: gone.map(|at| PageGone {
                last_seen: (at * 1_000).into(),
                missed: (at * 1_000).into(),
                is_hidden: false,
                key: None,
            }),
            ..MirroredPage::new(
                1,
                Date::from("1970-01-01T00:00:02.000Z".to_owned()),
                &listed,
            )
        }
    }

    fn part(at: i64, by: Option<&str>) -> PartThen {
        PartThen {
            prefix: Prefix::parse("docs").unwrap(),
            at: OffsetDateTime::from_unix_timestamp(at).unwrap(),
            by: by.map(str::to_owned),
        }
    }

    /// The seconds of the states around each change since a time.
    fn since(page: &MirroredPage, at: i64, by: Option<&str>) -> Vec<(Option<i64>, Option<i64>)> {
        let part = part(at, by);
        let second = |seen: Option<&SeenState>| seen.map(|it| it.seen.instant().unix_timestamp());
        let pairs = changes(page, &part).into_iter();
        pairs
            .map(|(one, other)| (second(one), second(other)))
            .collect()
    }

    #[test]
    fn a_page_goes_back_to_how_it_was() {
        let changed = page(&[(3, "a"), (5, "b"), (7, "a")], None);
        assert_eq!(since(&changed, 4, None), [(Some(3), Some(7))]);
        assert_eq!(since(&changed, 7, None), []);
        // Made since; and one of which nobody knows how it was.
        assert_eq!(since(&changed, 1, None), [(None, Some(7))]);
        assert_eq!(since(&page(&[(9, "a")], None), 5, None), []);
        let gone = page(&[(3, "a"), (5, "b")], Some(6));
        assert_eq!(since(&gone, 4, None), [(Some(3), None)]);
        assert_eq!(since(&gone, 5, None), [(Some(5), None)]);
        assert_eq!(since(&gone, 6, None), []);
        assert_eq!(since(&gone, 1, None), []);
    }

    #[test]
    fn of_one_author_each_run_of_changes_goes_back_and_those_of_others_stay() {
        let changed = page(&[(3, "a"), (4, "b"), (5, "b"), (6, "a"), (7, "b")], None);
        let runs = [(Some(6), Some(7)), (Some(3), Some(5))];
        assert_eq!(since(&changed, 3, Some("b")), runs);
        assert_eq!(
            since(&changed, 1, Some("a")),
            [(Some(5), Some(6)), (None, Some(3))]
        );
        assert_eq!(since(&changed, 3, Some("c")), []);
        assert_eq!(
            since(&page(&[(3, "a"), (4, "b")], Some(5)), 3, Some("b")),
            []
        );
    }

    #[test]
    fn a_page_that_changed_since_and_was_not_seen_before_is_unseen() {
        let later = page(&[(9, "a")], None);
        assert!(is_unseen(&later, &part(5, None)));
        assert!(is_unseen(&later, &part(5, Some("a"))));
        assert!(!is_unseen(&later, &part(5, Some("b"))));
        assert!(!is_unseen(&later, &part(9, None)));
        // Made since.
        assert!(!is_unseen(&later, &part(1, None)));
        let gone = page(&[(9, "a")], Some(12));
        assert!(is_unseen(&gone, &part(5, None)));
        assert!(!is_unseen(&gone, &part(12, None)));
    }

    #[test]
    fn a_page_that_is_back_under_another_id_is_neither_missed_nor_new() {
        let gone = page(&[(3, "a")], Some(6));
        let again = MirroredPage {
            id: 2,
            created: Date::from("1970-01-01T00:00:07.000Z".to_owned()),
            states: vec![SeenState {
                seen: 8_000.into(),
                ..gone.states[0].clone()
            }],
            ..page(&[], None)
        };
        let mut known = KnownPages::default();
        known.add(gone.clone());
        known.add(again.clone());
        let at = |second| part(second, None).at;
        let back = BackAgain::of(&known, at(5));
        assert!(back.holds(&gone, at(5)));
        assert!(back.holds(&again, at(5)));
        assert!(!back.holds(&page(&[(9, "b")], None), at(5)));
        // It was gone by then.
        assert!(!BackAgain::of(&known, at(6)).holds(&again, at(6)));
    }
}
