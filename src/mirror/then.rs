//! A part of the wiki as it was at a time: what has become of its pages since.

use std::collections::HashSet;

use time::OffsetDateTime;

use super::known::KnownPages;
use crate::audit::{AuditError, AuditResult};
use crate::mirror::{Mirror, MirrorTime, MirroredPage, PageGone, SeenState};
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
    /// The state in which it was then, if it was there and anybody saw it.
    pub seen: Option<SeenState>,
    /// The changes to be taken back, the newest first: the page before and after each.
    pub steps: Vec<StatesThen>,
    /// The fields that nobody saw as they were, and that stay as they are.
    pub unseen: Vec<Field>,
    /// The reason for which it cannot be as it was, if the mirror has one.
    pub hindrance: Option<&'static str>,
}

impl PageThen {
    /// The states of the page before and after all steps.
    pub fn states(&self) -> impl Iterator<Item = &PageState> {
        { self.steps.iter() }
            .flat_map(|(before, after)| [before, after])
            .flatten()
    }
}

/// A page before a change and after it.
type StatesThen = (Option<PageState>, Option<PageState>);
/// A state before a change and one after it.
type SeenPair<'a> = (Option<&'a SeenState>, Option<&'a SeenState>);

impl Mirror {
    /// The time of the first look of which a state is kept: pages that were gone by then are unknown.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn first_seen(&self) -> AuditResult<Option<MirrorTime>> {
        Ok(first_seen(&self.known().await?))
    }

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
    ) -> AuditResult<(Vec<PageThen>, usize)> {
        let known = self.known().await?;
        let (scope, key) = (scope.clone(), key.map(str::to_owned));
        on(&self.store, move |store| {
            let is_back = back_again(&known, part.at);
            let forgotten = known.forgotten();
            let is_forgotten = forgotten.is_some_and(|until| part.at < until.instant());
            let first = first_seen(&known).filter(|first| part.at < first.instant());
            let is_unsure = |page: &MirroredPage| {
                let is_older = |first: MirrorTime| !is_made_since(page, first.instant());
                is_forgotten || (part.by.is_none() && first.is_some_and(is_older))
            };
            let mut told: Vec<&MirroredPage> = { known.iter() }
                .filter(|page| is_told(page, &scope, key.as_deref()) && !is_back(page))
                .collect();
            told.sort_by(|one, other| one.place.path.as_str().cmp(other.place.path.as_str()));
            let (mut pages, mut loaded, mut more) = (Vec::new(), 0_usize, 0_usize);
            for page in told {
                if loaded == MOST_LOADED {
                    let is_as_it_was = changes(page, &part).is_some_and(|some| some.is_empty());
                    more += usize::from(!is_as_it_was && part.holds(page));
                } else if let Some(page) = page_then(
                    store,
                    &page.told_to(key.as_deref()),
                    (&part, &scope, is_unsure(page)),
                )? {
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
    is_seen && page.place.is_admitted_by(scope)
}

impl PartThen {
    /// True for a page of it that is there and was there then, before all that was seen of it.
    pub(super) fn is_before_seen(&self, page: &MirroredPage) -> bool {
        let is_unseen = before(page, self.at).is_none() && !is_made_since(page, self.at);
        page.gone.is_none() && is_unseen && self.holds(page)
    }

    /// True if the last place of a page is in it.
    fn holds(&self, page: &MirroredPage) -> bool {
        self.prefix.holds(&page.place.locale, &page.place.path)
    }
}

/// The time of the first look of which a state is kept.
fn first_seen(known: &KnownPages) -> Option<MirrorTime> {
    let states = known.iter().flat_map(|page| &page.states);
    let looked = states.filter(|seen| !seen.is_between);
    looked.map(|seen| seen.seen).min()
}

/// A page as it was, if it is not so now and its states are told. If pages may have been there of which
/// nothing is known, none that looks made since is to go: it may have come back.
fn page_then(
    store: &dyn Store,
    page: &MirroredPage,
    (part, scope, is_unsure): (&PartThen, &ReadScope, bool),
) -> AuditResult<Option<PageThen>> {
    let mut found = PageThen {
        id: page.id,
        path: page.place.path.clone(),
        seen: before(page, part.at).cloned(),
        steps: Vec::new(),
        unseen: Vec::new(),
        hindrance: None,
    };
    let steps = match changes(page, part) {
        Some(changes) if changes.is_empty() => return Ok(None),
        Some(changes) if is_unsure && changes.iter().any(|(before, _)| before.is_none()) => {
            found.hindrance = Some(
                "it was made since, or came back: which pages were there is not known, or forgotten",
            );
            Ok(Vec::new())
        }
        Some(changes) => { changes.into_iter() }
            .map(|pair| states(store, pair, &mut found.unseen))
            .collect(),
        None => {
            found.hindrance = Some("nobody saw how it was");
            Ok(Vec::new())
        }
    };
    match steps {
        Err(AuditError::Missing | AuditError::Damaged) => {
            found.hindrance = Some("what is kept of it is missing or damaged");
        }
        steps => {
            found.steps = steps?;
            found.steps.retain(is_change);
            if found.steps.is_empty() && found.hindrance.is_none() {
                return Ok(None);
            }
        }
    }
    let is_within = |state: &PageState| part.prefix.holds(&state.locale, &state.path);
    let is_last_known = page.gone.is_some() || found.hindrance.is_some();
    let is_of_part = (is_last_known && part.holds(page)) || found.states().any(is_within);
    let are_tags_seen = !found.unseen.contains(&Field::Tags) || !scope.asks_for_tags();
    let is_told = are_tags_seen && found.states().all(|state| scope.admits_state(state));
    let is_told = is_told || found.hindrance.is_some();
    Ok((is_told && is_of_part).then_some(found))
}

/// Finds the pages that were deleted since a time and stand there again, under other ids, and those that
/// they are now: by their states, which say where they stand, too. If no state of a page is kept from
/// before, each of its states may be the one.
fn back_again(known: &KnownPages, at: OffsetDateTime) -> impl Fn(&MirroredPage) -> bool {
    let (mut there, mut gone) = (HashSet::new(), HashSet::new());
    for page in known.iter() {
        match &page.gone {
            None => there.extend(page.last().map(|last| last.state)),
            Some(end) if end.missed.instant() > at => match before(page, at) {
                Some(then) => gone.extend([then.state]),
                None if is_made_since(page, at) => {}
                None => gone.extend(page.states.iter().map(|seen| seen.state)),
            },
            Some(_) => {}
        }
    }
    move |page| match (before(page, at), &page.gone) {
        (Some(then), Some(_)) => there.contains(&then.state),
        (None, None) => page.states.iter().any(|seen| gone.contains(&seen.state)),
        _ => false,
    }
}

/// The changes of a page since a time that are to be taken back, the newest first; `None` if it was there
/// and changed since, and no state of it is kept from before.
fn changes<'a>(page: &'a MirroredPage, part: &PartThen) -> Option<Vec<SeenPair<'a>>> {
    let is_done = |gone: &PageGone| part.by.is_some() || gone.missed.instant() <= part.at;
    if page.gone.as_ref().is_some_and(is_done) {
        return Some(Vec::new());
    }
    let then = before(page, part.at);
    let is_theirs = |seen: &SeenState| {
        part.by
            .as_ref()
            .is_none_or(|by| seen.author.as_ref() == Some(by))
    };
    if then.is_none() && !is_made_since(page, part.at) {
        let is_changed = page.gone.is_some() || page.states.iter().any(is_theirs);
        return (!is_changed).then(Vec::new);
    }
    if part.by.is_none() {
        // What came and went since, nobody misses.
        let last = page.last().filter(|_| page.gone.is_none());
        let is_same = then.map(|seen| seen.state) == last.map(|seen| seen.state);
        return Some((!is_same).then_some((then, last)).into_iter().collect());
    }
    let mut pairs: Vec<SeenPair<'_>> = Vec::new();
    let (mut last, mut goes_on) = (then, false);
    let since = page.dated_states().filter(|(_, since, _)| *since > part.at);
    for (seen, _, is_dated) in since {
        // What has no date of its own, its page's last author did not write.
        let is_theirs = is_dated && is_theirs(seen);
        match pairs.last_mut() {
            Some(pair) if is_theirs && goes_on => pair.1 = Some(seen),
            _ if is_theirs => pairs.push((last, Some(seen))),
            _ => {}
        }
        (last, goes_on) = (Some(seen), is_theirs);
    }
    pairs.reverse();
    Some(pairs)
}

/// True if the wiki says that a page was made since a time.
fn is_made_since(page: &MirroredPage, at: OffsetDateTime) -> bool {
    page.created.instant().is_some_and(|made| made > at)
}

/// The state of a page at a time.
fn before(page: &MirroredPage, at: OffsetDateTime) -> Option<&SeenState> {
    let until = page.dated_states().filter(|(_, since, _)| *since <= at);
    until.last().map(|(seen, ..)| seen)
}

/// The states of a pair. What was not seen after the change counts as not changed by it; so does, of what
/// versions lack, what was not seen before it, which is noted.
fn states(
    store: &dyn Store,
    (before, after): SeenPair<'_>,
    unseen: &mut Vec<Field>,
) -> AuditResult<StatesThen> {
    let kept = |seen: Option<&SeenState>| seen.map(|seen| seen.kept(store)).transpose();
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

/// True unless both states are the same in all that was seen of them.
fn is_change((before, after): &StatesThen) -> bool {
    let both = before.as_ref().zip(after.as_ref());
    both.is_none_or(|(before, after)| !before.difference(after).is_empty())
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::{PartThen, back_again, changes};
    use crate::audit::KeptState;
    use crate::mirror::known::KnownPages;
    use crate::mirror::{MirroredPage, PageGone, SeenState};
    use crate::page::{Date, Field, Locale, PagePath, PageReading, Prefix};

    /// A page whose states were seen at these seconds, by these authors.
    fn page(seen: &[(i64, &str)], gone: Option<i64>) -> MirroredPage {
        let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("docs/a"));
        let listed = PageReading {
            created_at: Some(Date::from("1970-01-01T00:00:02.000Z".to_owned())),
            ..PageReading::bare(Some(1), locale, path, String::new())
        };
        let state = |(at, author): &(i64, &str)| {
            let state = KeptState::of_text(format!("{at:064x}").as_bytes()).unwrap();
            SeenState {
                author: Some((*author).to_owned()),
                ..SeenState::new(state, (*at * 1_000).into(), 1)
            }
        };
        MirroredPage {
            states: seen.iter().map(state).collect(),
            gone: gone.map(|at| PageGone {
                last_seen: (at * 1_000).into(),
                missed: (at * 1_000).into(),
                is_hidden: false,
                key: None,
            }),
            ..MirroredPage::new(1, &listed)
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
        let pairs = changes(page, &part).unwrap_or_default().into_iter();
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
    fn a_change_without_a_new_date_is_as_old_as_its_look_and_nobodys() {
        let dated = |seconds: &[&str]| {
            let mut changed = page(&[(3, "a"), (6, "a"), (8, "a")], None);
            for (seen, second) in changed.states.iter_mut().zip(seconds) {
                seen.updated = Date::from(format!("1970-01-01T00:00:0{second}.000Z"));
            }
            changed
        };
        // Tags that were deleted for all pages; a backup of the wiki.
        for dates in [["3", "3", "7"], ["3", "2", "7"]] {
            let changed = dated(&dates);
            assert_eq!(since(&changed, 5, None), [(Some(3), Some(8))]);
            assert_eq!(since(&changed, 6, None), [(Some(6), Some(8))]);
            assert_eq!(since(&changed, 5, Some("a")), [(Some(6), Some(8))]);
        }
        // Another key saw more of it.
        let mut seen_whole = dated(&["3", "3", "7"]);
        seen_whole.states[0].unknown = vec![Field::ScriptJs];
        assert_eq!(since(&seen_whole, 5, None), [(Some(6), Some(8))]);
    }

    #[test]
    fn a_page_that_changed_since_and_was_not_seen_before_is_unseen() {
        let is_unseen = |page: &MirroredPage, part: &PartThen| changes(page, part).is_none();
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
        let is_back = back_again(&known, at(5));
        assert!(is_back(&gone));
        assert!(is_back(&again));
        assert!(!is_back(&page(&[(9, "b")], None)));
        // It was there by then, and nobody saw how.
        let is_back = back_again(&known, at(2));
        assert!(is_back(&again));
        assert!(!is_back(&gone));
        // It was gone by then.
        assert!(!back_again(&known, at(6))(&again));
    }
}
