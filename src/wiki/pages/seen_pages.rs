//! Pages that a key saw, and those of them that it missed later.

use time::OffsetDateTime;

use crate::page::{Locale, PagePath, PageReading};

/// A page that was there once: as the key saw it last, or as it was when a later list of all pages had
/// it no more, since it was deleted, or the key may not see it any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenPage {
    /// Its id.
    pub id: i64,
    /// Its locale.
    pub locale: Locale,
    /// Its path.
    pub path: PagePath,
    /// The tags that it had, as far as they were read.
    pub tags: Vec<String>,
    /// The time at which it was seen, or missed.
    pub time: OffsetDateTime,
}

impl SeenPage {
    /// A page that was read, at this time; `None` without an id.
    pub(super) fn new(page: &PageReading, time: OffsetDateTime) -> Option<Self> {
        Some(Self {
            id: page.id?,
            locale: page.locale.clone(),
            path: page.path.clone(),
            tags: page.tags.clone().unwrap_or_default(),
            time,
        })
    }
}
