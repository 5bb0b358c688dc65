//! Models a page as the mirror saw it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::audit::{AuditResult, KeptState, kept_states};
use crate::page::{Date, Field, Locale, PagePath, PageReading, PageState, ReadScope};
use crate::store::Store;

/// The most states of one page; the oldest give way.
const MOST_STATES: usize = 500;

/// The identity of a page: an id alone may come again, where a backup of the wiki was restored.
pub(super) type PageKey = (i64, String);

/// A time, to the millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "i64", into = "i64")]
pub struct MirrorTime(OffsetDateTime);

impl MirrorTime {
    pub(super) fn now() -> Self {
        OffsetDateTime::now_utc().into()
    }

    /// The time.
    pub const fn instant(self) -> OffsetDateTime {
        self.0
    }

    /// The time so many milliseconds later, or earlier.
    pub(super) fn later(self, millis: i64) -> Self {
        i64::from(self).saturating_add(millis).into()
    }

    /// True if it is longer ago than this, or yet to come: a clock that is wrong wrote that.
    pub(super) fn is_over(self, apart: time::Duration, now: Self) -> bool {
        self > now || now.0 - self.0 > apart
    }
}

/// As RFC 3339 has it.
impl fmt::Display for MirrorTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.format(&Rfc3339).unwrap_or_default())
    }
}

impl From<OffsetDateTime> for MirrorTime {
    fn from(time: OffsetDateTime) -> Self {
        i64::from(Self(time)).into()
    }
}

impl From<i64> for MirrorTime {
    fn from(millis: i64) -> Self {
        let nanos = i128::from(millis) * 1_000_000;
        let time = OffsetDateTime::from_unix_timestamp_nanos(nanos);
        Self(time.unwrap_or(OffsetDateTime::UNIX_EPOCH))
    }
}

impl From<MirrorTime> for i64 {
    fn from(time: MirrorTime) -> Self {
        (time.0.unix_timestamp_nanos() / 1_000_000)
            .try_into()
            .unwrap_or_default()
    }
}

/// A page that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MirroredPage {
    /// Its id.
    pub id: i64,
    /// The time at which it was created, as the wiki says it.
    pub created: Date,
    /// Its last place and tags.
    pub place: SeenPlace,
    /// Its last title.
    pub title: String,
    /// A digest of what the list said of it when it was read.
    pub(super) mark: String,
    /// The states in which it was seen, the last one last.
    pub states: Vec<SeenState>,
    /// The time at which the wiki was asked for it last, if the list lacks it and the wiki does not say
    /// that it is gone: the key may not read it any more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) hidden: Option<MirrorTime>,
    /// Set once the wiki says that it has it no more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gone: Option<PageGone>,
}

/// The place of a page, and its tags, if they were seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SeenPlace {
    /// Its locale.
    pub locale: Locale,
    /// Its path.
    pub path: PagePath,
    /// Its tags.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tags: Option<Vec<String>>,
}

impl SeenPlace {
    /// True if a page there may be read within a scope.
    pub(super) fn is_admitted_by(&self, scope: &ReadScope) -> bool {
        scope.admits_so(&self.locale, &self.path, self.tags.as_deref())
    }
}

impl From<&PageReading> for SeenPlace {
    fn from(page: &PageReading) -> Self {
        Self {
            locale: page.locale.clone(),
            path: page.path.clone(),
            tags: page.tags.clone().map(sorted),
        }
    }
}

/// A state in which a page was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SeenState {
    /// Its name among the blobs.
    pub state: KeptState,
    /// The time at which it was seen first.
    pub seen: MirrorTime,
    /// The time at which the wiki says that it was written.
    pub updated: Date,
    /// The time that the wiki said of it last, where that went on without a change.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) redated: Option<Date>,
    /// Its author, as the wiki says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub author: Option<String>,
    /// Its bytes, as they are kept.
    pub(super) bytes: u64,
    /// True for a version that the wiki had between two looks.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub(super) is_between: bool,
    /// The fields that were not seen, or that nobody is to be told.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(super) unknown: Vec<Field>,
    /// The fields that the key of the last look at it could not read, with the times at which others saw
    /// what is kept of them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub as_of: BTreeMap<Field, MirrorTime>,
    /// The place and tags of the page then, if they are not its last ones.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) place: Option<SeenPlace>,
}

/// The end of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PageGone {
    /// The last time at which the list had it.
    pub last_seen: MirrorTime,
    /// The time at which it was missed.
    pub missed: MirrorTime,
    /// True if the key did not see it any more before it went: it may have been elsewhere by then, or
    /// have had other tags.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_hidden: bool,
    /// The digest of the key whose look saw it last, if one had ended by then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<String>,
}

impl PageGone {
    /// True if the last look that saw the page was by the key of this digest.
    pub(super) fn was_seen_by(&self, key: &str) -> bool {
        !self.is_hidden && self.key.as_deref() == Some(key)
    }
}

impl MirroredPage {
    /// Its identity.
    pub(super) fn key(&self) -> PageKey {
        (self.id, self.created.as_str().to_owned())
    }

    /// The state in which it was seen last.
    pub fn last(&self) -> Option<&SeenState> {
        self.states.last()
    }

    /// Its last author.
    pub fn author(&self) -> Option<&str> {
        self.last()?.author.as_deref()
    }

    /// Its states, each with the time since which the page was so, and true if the wiki gave that a new
    /// date. It gives none where tags are renamed or deleted for all pages, and old ones after a backup:
    /// such a state is as old as the look that saw it first. Where another key only saw more or less of
    /// the page, the date holds.
    pub(super) fn dated_states(&self) -> impl Iterator<Item = (&SeenState, OffsetDateTime, bool)> {
        let before = std::iter::once(None).chain(self.states.iter().map(Some));
        self.states.iter().zip(before).map(|(seen, before)| {
            let before = before.filter(|before| before.unknown == seen.unknown);
            let dates =
                before.and_then(|before| before.date().instant().zip(seen.updated.instant()));
            let is_dated = dates.is_none_or(|(before, now)| now > before);
            let since = if is_dated {
                seen.since()
            } else {
                seen.seen.instant()
            };
            (seen, since, is_dated)
        })
    }

    /// The place and tags that it had in one of its states.
    pub(super) fn place_in<'a>(&'a self, seen: &'a SeenState) -> &'a SeenPlace {
        seen.place.as_ref().unwrap_or(&self.place)
    }

    /// The page for those who have the key of the last look, if it is gone: what that look could not read
    /// no earlier one tells them. Without a key all of it, as at the operator's command line.
    pub(super) fn told_to(&self, key: Option<&str>) -> Cow<'_, Self> {
        let last = self.last().filter(|_| key.is_some() && self.gone.is_some());
        let unread = last.map(|last| last.unknown.iter().chain(last.as_of.keys()));
        let unread: Vec<Field> = unread.into_iter().flatten().copied().collect();
        if unread.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut page = self.clone();
        for seen in &mut page.states {
            seen.as_of.retain(|field, _| !unread.contains(field));
            let known = unread.iter().filter(|field| !seen.unknown.contains(field));
            let known: Vec<Field> = known.copied().collect();
            seen.unknown.extend(known);
        }
        Cow::Owned(page)
    }

    /// A page that was not seen before.
    pub(super) fn new(id: i64, listed: &PageReading) -> Self {
        Self {
            id,
            created: listed.created_at.clone().unwrap_or_default(),
            place: SeenPlace::from(listed),
            title: listed.title.clone(),
            mark: String::new(),
            states: Vec::new(),
            hidden: None,
            gone: None,
        }
    }

    /// Notes that it was read: where it is, and its state unless that is the last one.
    pub(super) fn saw(&mut self, page: &PageReading, mark: String, state: SeenState) {
        let place = SeenPlace::from(page);
        if place != self.place {
            for seen in &mut self.states {
                seen.place.get_or_insert_with(|| self.place.clone());
            }
            self.place = place;
        }
        self.title.clone_from(&page.title);
        self.mark = mark;
        (self.gone, self.hidden) = (None, None);
        match self.states.last_mut() {
            Some(last) if last.state == state.state => {
                last.as_of = state.as_of;
                last.is_dated_now(state.updated);
            }
            _ => self.states.push(state),
        }
        let mut beyond = self.states.len().saturating_sub(MOST_STATES);
        // Versions between two looks lack fields: they give way to states that were seen.
        self.states.retain(|seen| {
            let goes = beyond > 0 && seen.is_between;
            beyond -= usize::from(goes);
            !goes
        });
        self.states.drain(..beyond);
    }
}

impl SeenState {
    /// A state that was seen whole, of no known date.
    pub(super) const fn new(state: KeptState, seen: MirrorTime, bytes: u64) -> Self {
        Self {
            state,
            seen,
            updated: Date::Unset,
            redated: None,
            author: None,
            bytes,
            is_between: false,
            unknown: Vec::new(),
            as_of: BTreeMap::new(),
            place: None,
        }
    }

    /// The state, as it is kept, without what is unknown of it.
    pub(super) fn kept(&self, store: &dyn Store) -> AuditResult<PageState> {
        let mut page = PageReading::from(kept_states::kept(store, self.state)?);
        for field in &self.unknown {
            page.forget(*field);
        }
        Ok(state_of(&page))
    }

    /// The time since which the page was so: what the wiki says, unless that was yet to come.
    pub fn since(&self) -> OffsetDateTime {
        let seen = self.seen.instant();
        let updated = self.updated.instant();
        updated.map_or(seen, |updated| updated.min(seen))
    }

    /// The fields that no later look could read, each with the day on which it was seen so.
    pub fn seen_before(&self) -> String {
        let told =
            { self.as_of.iter() }.map(|(field, at)| format!("{field} ({})", at.instant().date()));
        told.collect::<Vec<_>>().join(", ")
    }

    /// The time that the wiki said of it last.
    pub(super) fn date(&self) -> &Date {
        self.redated.as_ref().unwrap_or(&self.updated)
    }

    /// True if the wiki said this time of it: its version of this date is the same state.
    pub fn is_dated(&self, date: &Date) -> bool {
        let own = [Some(&self.updated), self.redated.as_ref()].into_iter();
        let date = date.instant();
        date.is_some() && own.flatten().any(|own| own.instant() == date)
    }

    /// Notes that the wiki says another time for it: an earlier one, as after a backup, is told once.
    fn is_dated_now(&mut self, updated: Date) {
        let times = updated.instant().zip(self.updated.instant());
        match times {
            Some((now, before)) if now < before => self.updated = updated,
            Some((now, before)) if now > before => self.redated = Some(updated),
            _ => {}
        }
    }
}

/// The identity of a page of the list; `None` for one without an id.
pub(super) fn key_of(page: &PageReading) -> Option<PageKey> {
    let created = page.created_at.as_ref().map_or("", Date::as_str);
    Some((page.id?, created.to_owned()))
}

/// The state that is kept of a reading: without id and time, and with its tags in order, so that equal
/// contents share one. What the key could not read is named in it.
pub(super) fn state_of(page: &PageReading) -> PageState {
    let state = page.clone().or_blank();
    PageState {
        id: None,
        updated_at: None,
        unknown: page.unreadable().into_keys().collect(),
        tags: sorted(state.tags),
        ..state
    }
}

/// Tags in order: the wiki has them as a set, and tells them in any.
pub(super) fn sorted(mut tags: Vec<String>) -> Vec<String> {
    tags.sort_unstable();
    tags
}

#[cfg(test)]
mod tests {
    use super::{MOST_STATES, MirrorTime, MirroredPage, PageGone, SeenState};
    use crate::audit::KeptState;
    use crate::page::{Field, Locale, PagePath, PageReading};

    fn seen(number: i64, is_between: bool) -> SeenState {
        let state = KeptState::of_text(format!("{number:064x}").as_bytes()).unwrap();
        SeenState {
            is_between,
            ..SeenState::new(state, number.into(), 1)
        }
    }

    #[test]
    fn what_the_last_look_at_a_page_that_is_gone_could_not_read_no_earlier_look_tells() {
        let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("docs/a"));
        let listed = PageReading::bare(Some(1), locale, path, String::new());
        let last = SeenState {
            unknown: vec![Field::ScriptJs],
            as_of: [(Field::ScriptCss, 1.into())].into(),
            ..seen(2, false)
        };
        let there = MirroredPage {
            states: vec![seen(1, false), last],
            ..MirroredPage::new(1, &listed)
        };
        let gone = MirroredPage {
            gone: Some(PageGone {
                last_seen: 2.into(),
                missed: 3.into(),
                is_hidden: false,
                key: Some("key".to_owned()),
            }),
            ..there.clone()
        };
        assert_eq!(*gone.told_to(None), gone);
        assert_eq!(*there.told_to(Some("key")), there);
        let told = gone.told_to(Some("key"));
        let unread = |at: usize| {
            let seen = &told.states[at];
            (seen.unknown.clone(), seen.as_of.len())
        };
        let both = vec![Field::ScriptJs, Field::ScriptCss];
        assert_eq!([unread(0), unread(1)], [(both.clone(), 0), (both, 0)]);
    }

    #[test]
    fn versions_between_looks_give_way_to_states_that_were_seen() {
        let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("docs/a"));
        let listed = PageReading::bare(Some(1), locale, path, String::new());
        let mut page = MirroredPage::new(1, &listed);
        page.saw(&listed, String::new(), seen(0, false));
        let most = i64::try_from(MOST_STATES).unwrap();
        for number in 1..most {
            page.states.push(seen(2 * number - 1, true));
            page.saw(&listed, String::new(), seen(2 * number, false));
        }
        assert_eq!(page.states.len(), MOST_STATES);
        assert!(page.states.iter().all(|seen| !seen.is_between));
        // Where none of them is left, the oldest state goes.
        page.saw(&listed, String::new(), seen(9_999, false));
        assert_eq!(page.states.len(), MOST_STATES);
        assert_eq!(page.states[0].seen, MirrorTime::from(2_i64));
    }
}
