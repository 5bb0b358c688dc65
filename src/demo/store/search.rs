//! `pages.search` of the default engine (W9).

use super::{PageRow, Store};
use crate::demo::access::Access;

/// The most hits that the engine looks for.
const MOST: usize = 100;

impl Store {
    /// Published pages whose title, description or path holds `text`, however
    /// it is written; `path` is a prefix.
    pub(in crate::demo) fn search(
        &self,
        text: &str,
        path: Option<&str>,
        locale: Option<&str>,
        access: &Access,
    ) -> Vec<&PageRow> {
        let text = text.to_lowercase();
        let holds = |field: &str| field.to_lowercase().contains(&text);
        let given = |filter: Option<&str>| filter.unwrap_or_default().to_owned();
        let (path, locale) = (given(path), given(locale));
        self.pages()
            .filter(|page| page.is_published)
            .filter(|page| {
                holds(&page.title)
                    || holds(page.description.as_deref().unwrap_or_default())
                    || holds(&page.path)
            })
            .filter(|page| page.path.starts_with(&path))
            .filter(|page| locale.is_empty() || page.locale == locale)
            .take(MOST)
            .filter(|page| access.may(&["read:pages"], &page.path))
            .collect()
    }

    /// The row of a page in a search index that numbers its rows by itself:
    /// the id of the next page, so that it is never an id of nothing.
    pub(in crate::demo) fn index_row(&self, id: i64) -> i64 {
        let mut later = self.pages.range(id.saturating_add(1)..);
        let next = later.next().or_else(|| self.pages.iter().next());
        next.map_or(id, |(next, _)| *next)
    }
}
