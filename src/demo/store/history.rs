//! Keeps the history of pages: versions, and the trail that names them (W10).

use async_graphql::{MaybeUndefined, SimpleObject};

use super::rows::VersionRow;
use super::{PageChange, Store};
use crate::demo::access::Access;
use crate::demo::clock::Date;
use crate::demo::fault::{Fault, WikiError};

/// One entry of the trail.
#[derive(Debug, SimpleObject)]
#[graphql(name = "PageHistory")]
pub(in crate::demo) struct HistoryEntry {
    version_id: i64,
    version_date: Date,
    author_id: i32,
    author_name: String,
    action_type: &'static str,
    value_before: Option<String>,
    value_after: Option<String>,
}

impl Store {
    /// Keeps the page as it is now, before a write changes it.
    pub(super) fn keep_version(&mut self, id: i64, action: &'static str) -> Result<(), Fault> {
        let page = self.existing(id)?.clone();
        let saved_at = self.clock.now();
        self.last_version += 1;
        self.versions.push(VersionRow {
            id: self.last_version,
            action,
            saved_at,
            page,
        });
        Ok(())
    }

    /// One page of the trail, newest first, and how many entries there are.
    pub(in crate::demo) fn history(
        &self,
        id: i64,
        page: usize,
        size: usize,
        access: &Access,
    ) -> Result<(Vec<HistoryEntry>, usize), Fault> {
        self.check_history(id, access)?;
        let all: Vec<&VersionRow> = self
            .versions
            .iter()
            .rev()
            .filter(|row| row.page.id == id)
            .collect();
        let end = page.saturating_add(1).saturating_mul(size);
        let trail = all
            .iter()
            .enumerate()
            .skip(end.saturating_sub(size))
            .take(size)
            .map(|(place, row)| {
                // The entry behind the last one of the whole trail is looked
                // for only when the page of results is full; when it is not,
                // the last entry is known to be the first version.
                let before = all.get(place + 1).map(|row| row.page.path.as_str());
                if before.is_none() && all.len() < end {
                    return entry(row, "initial", None);
                }
                let before = before.unwrap_or_default();
                if before == row.page.path {
                    entry(row, "edit", None)
                } else {
                    entry(row, "move", Some(before))
                }
            })
            .collect();
        Ok((trail, all.len()))
    }

    /// One version, if the page has it; it has neither tags nor scripts.
    pub(in crate::demo) fn version(
        &self,
        id: i64,
        version: i64,
        access: &Access,
    ) -> Result<Option<VersionRow>, Fault> {
        self.check_history(id, access)?;
        Ok(self.find_version(id, version))
    }

    fn find_version(&self, id: i64, version: i64) -> Option<VersionRow> {
        let is_it = |row: &&VersionRow| row.id == version && row.page.id == id;
        let mut version = self.versions.iter().find(is_it)?.clone();
        version.page.tags.clear();
        version.page.script_css.clear();
        version.page.script_js.clear();
        Some(version)
    }

    /// The update that a restore is: an old version, without tags and scripts,
    /// to be written at its old place (W15).
    pub(in crate::demo) fn restoring(
        &self,
        id: i64,
        version: i64,
        access: &Access,
    ) -> Result<PageChange, Fault> {
        let page = self.existing(id)?;
        access.demand("write:pages", &page.path, WikiError::PageRestoreForbidden)?;
        let old = self.find_version(id, version);
        let old = old.ok_or(WikiError::PageNotFound)?.page;
        Ok(PageChange {
            content: MaybeUndefined::Value(old.content),
            title: MaybeUndefined::Value(old.title),
            description: old
                .description
                .map_or(MaybeUndefined::Null, MaybeUndefined::Value),
            is_published: old.is_published,
            publish_start_date: old.publish_start_date,
            publish_end_date: old.publish_end_date,
            tags: MaybeUndefined::Value(Vec::new()),
            locale: MaybeUndefined::Value(old.locale),
            path: MaybeUndefined::Value(old.path),
            ..PageChange::default()
        })
    }

    fn check_history(&self, id: i64, access: &Access) -> Result<(), Fault> {
        let Some(page) = self.page(id) else {
            return Err(Fault::type_error("undefined", "path"));
        };
        let refusal = WikiError::PageHistoryForbidden;
        Ok(access.demand("read:history", &page.path, refusal)?)
    }
}

fn entry(row: &VersionRow, action_type: &'static str, before: Option<&str>) -> HistoryEntry {
    HistoryEntry {
        version_id: row.id,
        version_date: Date(row.page.updated_at.clone()),
        author_id: row.page.author_id(),
        author_name: row.page.author.clone(),
        action_type,
        value_before: before.map(str::to_owned),
        value_after: before.map(|_| row.page.path.clone()),
    }
}
