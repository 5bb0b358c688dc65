//! Reads facts of indexed pages: their links and their properties.

use std::collections::HashSet;

use rusqlite::params;

use super::facts::folded;
use super::store::{IndexResult, Store, counted};
use crate::page::{Carrier, Locale, PagePath};

/// A link in the source of an indexed page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedLink {
    /// The page that holds it.
    pub id: i64,
    /// That page's locale.
    pub locale: Locale,
    /// That page's path.
    pub path: PagePath,
    /// Its line there.
    pub line: i64,
    /// The target, as it is written.
    pub target: String,
    /// The construct that holds it.
    pub carrier: Carrier,
}

impl Store {
    /// The links in the sources of all indexed pages, page by page.
    pub(super) fn links(&self) -> IndexResult<Vec<IndexedLink>> {
        self.links_of("link", "")
    }

    /// The links in the sources of all indexed pages, and the files that they show, whose targets have this text.
    pub(super) fn links_that_name(&self, text: &str) -> IndexResult<Vec<IndexedLink>> {
        let mut links = self.links_of("link", text)?;
        links.extend(self.links_of("within", text)?);
        Ok(links)
    }

    /// The links in the sources of all indexed pages to places on themselves, and the files that
    /// they show.
    pub(super) fn within_pages(&self) -> IndexResult<(Vec<IndexedLink>, Vec<IndexedLink>)> {
        let links = self.links_of("within", "")?.into_iter();
        Ok(links.partition(|link| link.target.starts_with('#')))
    }

    /// For each of some pages, true if all of its anchors are known and none of these is among them.
    pub(super) fn lack_anchors(&self, asked: &[(i64, Vec<String>)]) -> IndexResult<Vec<bool>> {
        let mut query = self
            .db
            .prepare("SELECT 1 FROM anchor WHERE id = ?1 AND name = ?2")?;
        let mut lacks = |(id, names): &(i64, Vec<String>)| {
            let mut is_lacking = query.exists(params![id, ""])?;
            for name in names {
                is_lacking = is_lacking && !query.exists(params![id, name])?;
            }
            Ok(is_lacking)
        };
        asked.iter().map(&mut lacks).collect()
    }

    fn links_of(&self, table: &str, text: &str) -> IndexResult<Vec<IndexedLink>> {
        let mut query = self.db.prepare(&format!(
            "SELECT link.id, locale, path, line, target, carrier FROM {table} AS link
             JOIN page ON page.id = link.id WHERE missing = 0 AND instr(target, ?1)
             ORDER BY link.id, link.rowid",
        ))?;
        let rows = query.query_map([text], |row| {
            Ok(IndexedLink {
                id: row.get(0)?,
                locale: Locale::as_stored(row.get::<_, String>(1)?),
                path: PagePath::as_stored(row.get::<_, String>(2)?),
                line: row.get(3)?,
                target: row.get(4)?,
                // A row of another program's making is taken for the usual form.
                carrier: Carrier::parse(&row.get::<_, String>(5)?).unwrap_or(Carrier::Markdown),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The pages that have a property, with the given value if there is one; letter case is
    /// ignored.
    pub(super) fn with_property(
        &self,
        name: &str,
        value: Option<&str>,
    ) -> IndexResult<HashSet<i64>> {
        let mut query = self
            .db
            .prepare("SELECT id FROM property WHERE name = ?1 AND (?2 IS NULL OR value = ?2)")?;
        let rows = query.query_map(params![folded(name), value.map(folded)], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The pages whose text is their source.
    pub(super) fn sourced(&self) -> IndexResult<HashSet<i64>> {
        let mut query = self.db.prepare("SELECT id FROM source")?;
        let rows = query.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The number of indexed pages whose source this key cannot read.
    pub(super) fn without_source(&self) -> IndexResult<usize> {
        Ok(counted(
            &self.db,
            "SELECT count(*) FROM page WHERE missing = 0 AND id NOT IN (SELECT id FROM source)",
        )?)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::index::store::{Home, Store};
    use crate::page::{Locale, PagePath, PageReading};

    fn page(id: i64, content: &str, content_type: &str) -> PageReading {
        let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("a/b"));
        PageReading {
            content: Some(content.to_owned()),
            content_type: Some(content_type.to_owned()),
            ..PageReading::bare(Some(id), locale, path, "A".to_owned())
        }
    }

    fn targets(store: &Store) -> Vec<(i64, i64, String)> {
        let links = store.links().expect("links").into_iter();
        links
            .map(|link| (link.id, link.line, link.target))
            .collect()
    }

    #[test]
    fn links_and_properties_are_those_of_the_page_as_it_was_put_last() {
        let mut store = Store::open(&Home::Memory).expect("a store");
        let text = "---\nstatus: Review\nteams: [ops, data]\n---\n\n[x](/x) ![i](/i) [y](#y)\n";
        store.put(&[page(1, text, "markdown")]).expect("put");
        store
            .put(&[page(2, "<a href=/z>z</a>", "html")])
            .expect("put");
        store.put(&[page(3, "[no](/no)", "text")]).expect("put");
        assert_eq!(
            targets(&store),
            [(1, 6, "/x".to_owned()), (2, 1, "/z".to_owned())]
        );
        assert_eq!(store.without_source(), Ok(1));
        for (name, value, wanted) in [
            ("status", Some("review"), 1),
            ("Teams", Some("data"), 1),
            ("teams", None, 1),
            ("teams", Some("da"), 0),
        ] {
            let found = store.with_property(name, value).expect("pages");
            assert_eq!(found.len(), wanted, "{name}={value:?}");
        }
        store.put(&[page(1, "none", "markdown")]).expect("put");
        assert_eq!(targets(&store).len(), 1);
        assert_eq!(store.with_property("status", None), Ok(HashSet::new()));
        for _ in 0..2 {
            store.look(&[1, 3].into()).expect("look");
            assert_eq!(targets(&store), []);
        }
    }
}
