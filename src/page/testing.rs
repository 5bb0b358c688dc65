//! A page for tests.

use super::{Locale, PagePath, PageReading, PageState};

/// A published page of Markdown, `en/docs/a` with the id 1 and the title `A`.
pub(crate) fn page() -> PageState {
    let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("docs/a"));
    PageState {
        content: "x\n".to_owned(),
        editor: "markdown".to_owned(),
        is_published: true,
        ..PageReading::bare(Some(1), locale, path, "A".to_owned()).or_blank()
    }
}
