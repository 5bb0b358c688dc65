//! Keeps the history of pages: versions, and the trail that names them (W10).

use async_graphql::MaybeUndefined;

use super::rows::VersionRow;
use super::{PageChange, Store};
use crate::demo::{Access, Date, Fault, WikiError, shape};

shape! {
    /// One entry of the trail: a version, what was done, and where a moved page came from.
    #[derive(Debug)]
    #[graphql(name = "PageHistory")]
    HistoryEntry of it: (&VersionRow, &'static str, Option<&str>) {
        version_id: i64 = it.0.id;
        version_date: Date = Date(it.0.page.updated_at.clone());
        author_id: i32 = it.0.page.author_id();
        author_name: String = it.0.page.author.clone();
        action_type: &'static str = it.1;
        value_before: Option<String> = it.2.map(str::to_owned);
        value_after: Option<String> = it.2.map(|_| it.0.page.path.clone());
    }
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
                let (action, before) = match before.unwrap_or_default() {
                    _ if before.is_none() && all.len() < end => ("initial", None),
                    before if before == row.page.path => ("edit", None),
                    before => ("move", Some(before)),
                };
                HistoryEntry::from((*row, action, before))
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
