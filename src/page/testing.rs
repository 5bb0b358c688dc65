//! Pages for tests.

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

/// That page at another path.
pub(crate) fn at(path: &str) -> PageState {
    PageState {
        path: PagePath::as_stored(path),
        ..page()
    }
}

/// That page with another id.
pub(crate) fn numbered(id: i64) -> PageState {
    PageState {
        id: Some(id),
        ..page()
    }
}

/// That page with another id, at another path.
pub(crate) fn placed(id: i64, path: &str) -> PageState {
    PageState {
        id: Some(id),
        ..at(path)
    }
}

/// That page with this content.
pub(crate) fn with_content(content: &str) -> PageState {
    PageState {
        content: content.to_owned(),
        ..page()
    }
}

/// That page with another title.
pub(crate) fn titled(title: &str) -> PageState {
    PageState {
        title: title.to_owned(),
        ..page()
    }
}
