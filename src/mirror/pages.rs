//! Models a page as the mirror saw it.

use std::fmt;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::audit::KeptState;
use crate::page::{Date, Locale, PagePath, PageReading, PageState, ReadScope};

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
    #[must_use]
    pub const fn instant(self) -> OffsetDateTime {
        self.0
    }

    /// The time so many milliseconds later, or earlier.
    pub(super) fn later(self, millis: i64) -> Self {
        i64::from(self).saturating_add(millis).into()
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
    /// Its last locale.
    pub locale: Locale,
    /// Its last path.
    pub path: PagePath,
    /// Its last title.
    pub title: String,
    /// Its last tags.
    pub tags: Vec<String>,
    /// Its last author.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub author: Option<String>,
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
    #[must_use]
    pub fn last(&self) -> Option<&SeenState> {
        self.states.last()
    }

    /// True if it may be read within a scope, by its last place and tags.
    pub(super) fn is_admitted_by(&self, scope: &ReadScope) -> bool {
        scope.admits_place(&self.locale, &self.path) && scope.admits_tags(&self.tags)
    }

    /// A page that was not seen before.
    pub(super) fn new(id: i64, created: Date, listed: &PageReading) -> Self {
        Self {
            id,
            created,
            locale: listed.locale.clone(),
            path: listed.path.clone(),
            title: listed.title.clone(),
            tags: listed.tags.clone().unwrap_or_default(),
            author: None,
            mark: String::new(),
            states: Vec::new(),
            hidden: None,
            gone: None,
        }
    }

    /// Notes that it was read: where it is, and its state unless that is the last one.
    pub(super) fn saw(&mut self, page: &PageReading, mark: String, state: SeenState) {
        self.locale.clone_from(&page.locale);
        self.path.clone_from(&page.path);
        self.title.clone_from(&page.title);
        self.tags = page.tags.clone().unwrap_or_default();
        self.author.clone_from(&state.author);
        self.mark = mark;
        (self.gone, self.hidden) = (None, None);
        match self.states.last_mut() {
            Some(last) if last.state == state.state => last.is_dated_now(state.updated),
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
    /// The time since which the page was so: what the wiki says, unless that was yet to come.
    #[must_use]
    pub fn since(&self) -> OffsetDateTime {
        let seen = self.seen.instant();
        let updated = self.updated.instant();
        updated.map_or(seen, |updated| updated.min(seen))
    }

    /// The time that the wiki said of it last.
    pub(super) fn date(&self) -> &Date {
        self.redated.as_ref().unwrap_or(&self.updated)
    }

    /// True if the wiki said this time of it: its version of this date is the same state.
    #[must_use]
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

/// The state that is kept of a reading: without id and time, so that equal contents share one. What the
/// key could not read is named in it.
pub(super) fn state_of(page: &PageReading) -> PageState {
    PageState {
        id: None,
        updated_at: None,
        unknown: page.unreadable().into_keys().collect(),
        ..page.clone().or_blank()
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_STATES, MirrorTime, MirroredPage, SeenState};
    use crate::audit::KeptState;
    use crate::page::{Date, Locale, PagePath, PageReading};

    fn seen(number: i64, is_between: bool) -> SeenState {
        SeenState {
            state: KeptState::of_text(format!("{number:064x}").as_bytes()).unwrap(),
            seen: number.into(),
            updated: Date::Unset,
            redated: None,
            author: None,
            bytes: 1,
            is_between,
        }
    }

    #[test]
    fn versions_between_looks_give_way_to_states_that_were_seen() {
        let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("docs/a"));
        let listed = PageReading::bare(Some(1), locale, path, String::new());
        let mut page = MirroredPage::new(1, Date::Unset, &listed);
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
