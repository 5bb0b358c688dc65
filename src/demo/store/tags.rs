//! Tags: their table, and how a page's tags are written (W17).

use std::collections::BTreeSet;

use super::Store;
use super::rows::TagRow;
use crate::demo::{Access, Date, Fault, sql};

impl Store {
    /// The tags that pages within the caller's sight carry, by name.
    pub(in crate::demo) fn tags_in_use(&self, access: &Access) -> Vec<TagRow> {
        let used: BTreeSet<&str> = self
            .pages()
            .filter(|page| access.may(&["read:pages"], &page.path))
            .flat_map(|page| page.tags.iter().map(String::as_str))
            .collect();
        let mut found: Vec<TagRow> = self
            .tags
            .iter()
            .filter(|row| used.contains(row.tag.as_str()))
            .cloned()
            .collect();
        found.sort_by(|a, b| a.tag.cmp(&b.tag));
        found
    }

    /// The rows of a page's tags, in the page's order.
    pub(in crate::demo) fn tag_rows(&self, tags: &[String]) -> Vec<TagRow> {
        tags.iter()
            .filter_map(|tag| self.tags.iter().find(|row| row.tag == *tag))
            .cloned()
            .collect()
    }

    /// Gives a page exactly these tags. Those that it keeps stay in their order.
    pub(in crate::demo) fn write_tags(&mut self, id: i64, tags: &[String]) -> Result<(), Fault> {
        let tags = tidy(tags);
        for tag in &tags {
            sql::check("tags", &[("tag", tag.as_str()), ("title", tag)])?;
        }
        if let Some(page) = self.pages.get_mut(&id) {
            page.tags.retain(|tag| tags.contains(tag));
            for tag in tags {
                if !page.tags.contains(&tag) {
                    page.tags.push(tag);
                }
            }
        }
        self.collect_tags();
        Ok(())
    }

    /// Makes a row for every tag that has none yet.
    pub(super) fn collect_tags(&mut self) {
        let mut known: BTreeSet<String> = self.tags.iter().map(|row| row.tag.clone()).collect();
        let mut id = self.tags.last().map_or(0, |row| row.id);
        for tag in self.pages.values().flat_map(|page| &page.tags) {
            if !known.insert(tag.clone()) {
                continue;
            }
            id += 1;
            let now = Date(self.clock.now());
            self.tags.push(TagRow {
                id,
                tag: tag.clone(),
                title: Some(tag.clone()),
                created_at: now.clone(),
                updated_at: now,
            });
        }
    }
}

/// Trimmed, in lower case, each only once.
fn tidy(tags: &[String]) -> Vec<String> {
    let mut tidied: Vec<String> = Vec::new();
    for tag in tags.iter().map(|tag| tag.trim().to_lowercase()) {
        if !tidied.contains(&tag) {
            tidied.push(tag);
        }
    }
    tidied
}
