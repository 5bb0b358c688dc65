//! Keeps the history of pages: versions, and the trail that names them (W10).

use super::rows::VersionRow;
use super::{PageRow, Store};
use crate::demo::access::Access;
use crate::demo::fault::{Fault, WikiError};

/// One entry of the trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::demo) struct HistoryEntry {
    pub(in crate::demo) version_id: i64,
    pub(in crate::demo) version_date: String,
    pub(in crate::demo) author_id: i32,
    pub(in crate::demo) author_name: String,
    pub(in crate::demo) action_type: &'static str,
    pub(in crate::demo) value_before: Option<String>,
    pub(in crate::demo) value_after: Option<String>,
}

/// One version in full. It has neither tags nor scripts.
#[derive(Debug, Clone)]
pub(in crate::demo) struct Version {
    pub(in crate::demo) id: i64,
    pub(in crate::demo) action: &'static str,
    pub(in crate::demo) saved_at: String,
    pub(in crate::demo) page: PageRow,
}

impl Store {
    /// Keeps the page as it is now, before a write changes it.
    pub(super) fn keep_version(&mut self, id: i64, action: &'static str) -> Result<(), Fault> {
        let page = self.existing(id)?.clone();
        let saved_at = self.clock.now();
        let id = self.next_version();
        self.versions.push(VersionRow {
            id,
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

    /// One version, if the page has it.
    pub(in crate::demo) fn version(
        &self,
        id: i64,
        version: i64,
        access: &Access,
    ) -> Result<Option<Version>, Fault> {
        self.check_history(id, access)?;
        Ok(self.find_version(id, version))
    }

    pub(super) fn find_version(&self, id: i64, version: i64) -> Option<Version> {
        let row = self
            .versions
            .iter()
            .find(|row| row.id == version && row.page.id == id)?;
        let mut page = row.page.clone();
        page.tags.clear();
        page.script_css.clear();
        page.script_js.clear();
        Some(Version {
            id: row.id,
            action: row.action,
            saved_at: row.saved_at.clone(),
            page,
        })
    }

    fn check_history(&self, id: i64, access: &Access) -> Result<(), Fault> {
        let Some(page) = self.page(id) else {
            return Err(Fault::type_error("undefined", "path"));
        };
        if access.may(&["read:history"], &page.path) {
            Ok(())
        } else {
            Err(WikiError::HistoryForbidden.into())
        }
    }
}

fn entry(row: &VersionRow, action_type: &'static str, before: Option<&str>) -> HistoryEntry {
    HistoryEntry {
        version_id: row.id,
        version_date: row.page.updated_at.clone(),
        author_id: row.page.author_id(),
        author_name: row.page.author.clone(),
        action_type,
        value_before: before.map(str::to_owned),
        value_after: before.map(|_| row.page.path.clone()),
    }
}
