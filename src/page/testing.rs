//! Pages for tests, and values with a member changed.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use url::Url;

use super::{LinkedSite, Locale, PagePath, PageReading, PageState};

/// A value that is changed where it is made.
pub trait But: Sized {
    /// The same with this changed.
    #[must_use]
    fn but(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl<T> But for T {}

/// The processor's time of this thread so far: unlike the clock on the wall, it stands still while other tests run.
pub fn worked() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(now).unwrap_or_default()
}

/// A published page of Markdown, `en/docs/a` with the id 1 and the title `A`.
pub fn page() -> PageState {
    let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("docs/a"));
    PageState {
        content: "x\n".to_owned(),
        editor: "markdown".to_owned(),
        is_published: true,
        ..PageReading::bare(Some(1), locale, path, "A".to_owned()).or_blank()
    }
}

/// That page at another path.
pub fn at(path: &str) -> PageState {
    page().but(|page| page.path = PagePath::as_stored(path))
}

/// That page with another id.
pub fn numbered(id: i64) -> PageState {
    page().but(|page| page.id = Some(id))
}

/// That page with another id, at another path.
pub fn placed(id: i64, path: &str) -> PageState {
    at(path).but(|page| page.id = Some(id))
}

/// That page with this content.
pub fn with_content(content: &str) -> PageState {
    page().but(|page| content.clone_into(&mut page.content))
}

/// That page with another title.
pub fn titled(title: &str) -> PageState {
    page().but(|page| title.clone_into(&mut page.title))
}

/// A wiki at this address, with pages in one locale.
pub fn linked_site(address: Url) -> LinkedSite {
    LinkedSite {
        address,
        locale: Locale::as_stored("en"),
        has_namespaces: false,
        relative_from_root: false,
    }
}
