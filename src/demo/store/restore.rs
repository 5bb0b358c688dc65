//! `pages.restore` (W15).

use super::{Field, PageChange, Store};
use crate::demo::access::Access;
use crate::demo::fault::{Fault, WikiError};

impl Store {
    /// The update that a restore is: an old version, without tags and scripts,
    /// to be written at its old place.
    pub(in crate::demo) fn restoring(
        &self,
        id: i64,
        version: i64,
        access: &Access,
    ) -> Result<PageChange, Fault> {
        let page = self.existing(id)?;
        if !access.may(&["write:pages"], &page.path) {
            return Err(WikiError::RestoreForbidden.into());
        }
        let Some(version) = self.find_version(id, version) else {
            return Err(WikiError::NotFound.into());
        };
        let old = version.page;
        Ok(PageChange {
            content: Field::Given(old.content),
            title: Field::Given(old.title),
            description: old.description.map_or(Field::Null, Field::Given),
            is_published: old.is_published,
            publish_start_date: old.publish_start_date,
            publish_end_date: old.publish_end_date,
            script_css: Field::Absent,
            script_js: Field::Absent,
            tags: Field::Given(Vec::new()),
            locale: Field::Given(old.locale),
            path: Field::Given(old.path),
        })
    }
}
