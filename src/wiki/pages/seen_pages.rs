//! Pages that a key saw, and those of them that it missed later.

use time::OffsetDateTime;

use crate::page::{Locale, PagePath};

/// A page that the key saw in a list of all pages, and in the next one no more: it was deleted,
/// or the key may not see it any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VanishedPage {
    /// Its id.
    pub id: i64,
    /// Its locale.
    pub locale: Locale,
    /// Its path.
    pub path: PagePath,
    /// The tags that it had.
    pub tags: Vec<String>,
    /// The time at which it was missed.
    pub missed: OffsetDateTime,
}

/// A page that was there once, as the key saw it last.
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
    /// The time at which it was seen.
    pub seen: OffsetDateTime,
}
