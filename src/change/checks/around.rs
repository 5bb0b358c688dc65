//! Holds the wiki's data that checks need beside the change.

use std::sync::Arc;

use url::Url;

use crate::page::{LinkedSite, PageReading};

/// Data of the wiki that checks need beside the change.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The wiki's address.
    pub wiki: &'a Url,
    /// All pages that the key sees, as the other changes of the same set leave them; `None` if they
    /// were not listed, which skips the checks that need them.
    pub pages: Option<&'a [Arc<PageReading>]>,
    /// Settings that decide where links lead; `None` if they were not asked for, which skips the
    /// checks of links.
    pub site: Option<&'a LinkedSite>,
    /// Secrets of this server, which must not be in any page.
    pub own: &'a [&'a str],
}
