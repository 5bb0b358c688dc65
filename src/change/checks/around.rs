//! What a check knows beside the change.

use std::sync::Arc;

use url::Url;

use crate::page::{LinkedSite, PageReading};

/// What a check knows beside the change.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The wiki's address.
    pub wiki: &'a Url,
    /// All pages that the key sees, as the other changes of the same set leave them; `None` if they
    /// were not listed, which skips the checks that need them.
    pub pages: Option<&'a [Arc<PageReading>]>,
    /// What decides where links lead; `None` if it was not asked, which skips the checks of links.
    pub site: Option<&'a LinkedSite>,
    /// Secrets of this server, which must not be in any page.
    pub own: &'a [&'a str],
}
