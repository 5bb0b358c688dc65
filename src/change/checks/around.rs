//! What a check knows beside the change.

use std::sync::Arc;

use url::Url;

use crate::page::{LinkedSite, PageReading};

/// What a check knows beside the change.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The wiki's address.
    pub wiki: &'a Url,
    /// All pages that the key sees; none where nobody listed them, and then nothing is said of
    /// what they tell.
    pub pages: Option<&'a [Arc<PageReading>]>,
    /// What decides where links lead; none where nobody asked, and then nothing is said of links.
    pub site: Option<&'a LinkedSite>,
    /// The pages that other changes of the same set make, by locale and path.
    pub made: &'a [(&'a str, &'a str)],
    /// Secrets of this server, which stand in no page.
    pub own: &'a [&'a str],
}
