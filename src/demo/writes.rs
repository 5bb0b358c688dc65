//! Runs writes as the wiki does: in steps, with a rebuild of the tree at the end (W19).

use super::state::Shared;
use super::store::{Happened, PageChange, PageRow, Store};
use crate::demo::{Access, Fault};

impl Shared {
    async fn rebuild_tree(&self) -> Result<(), Fault> {
        let fell = || self.store().fell_tree();
        let _under_way = self.testing.rebuild(fell).await?;
        self.store().rebuild_tree();
        Ok(())
    }

    /// Makes a page and answers it.
    pub(super) async fn create(&self, new: &PageRow, access: &Access) -> Result<PageRow, Fault> {
        let id = self.store().create(new, access)?;
        self.store().write_tags(id, &new.tags)?;
        self.store().render_links(id);
        self.rebuild_tree().await?;
        let page = self.store().existing(id)?.clone();
        let place = page.place();
        self.store().reconnect(&place, Happened::Created);
        Ok(page)
    }

    /// Updates a page and answers it as it is before the move that may follow; `action` is what the
    /// history calls it.
    pub(super) async fn update(
        &self,
        id: i64,
        change: &PageChange,
        action: &'static str,
        access: &Access,
    ) -> Result<PageRow, Fault> {
        let begin = |store: &mut Store| store.begin_update(id, change, action, access);
        match self.testing.overlap() {
            None => {
                let mut store = self.store();
                begin(&mut store)?;
                store.update_fields(id, change, access)?;
            }
            Some(time) => {
                begin(&mut self.store())?;
                tokio::time::sleep(time).await;
                self.store().update_fields(id, change, access)?;
            }
        }
        self.testing.before_tags().await;
        self.store().update_tags(id, &change.tags)?;
        let page = self.store().existing(id)?.clone();
        let is_moved = self.store().update_place(id, change, access)?;
        if is_moved {
            self.rebuild_tree().await?;
        }
        Ok(page)
    }

    /// Writes an old version back.
    pub(super) async fn restore(
        &self,
        id: i64,
        version: i64,
        access: &Access,
    ) -> Result<(), Fault> {
        let change = self.store().restoring(id, version, access)?;
        self.update(id, &change, "restored", access).await?;
        Ok(())
    }

    /// Moves a page.
    pub(super) async fn move_page(
        &self,
        id: i64,
        path: &str,
        locale: &str,
        access: &Access,
    ) -> Result<(), Fault> {
        self.store().move_page(id, path, Some(locale), access)?;
        self.rebuild_tree().await
    }

    /// Deletes a page.
    pub(super) async fn delete(&self, id: i64, access: &Access) -> Result<(), Fault> {
        self.store().delete(id, access)?;
        self.rebuild_tree().await
    }

    /// Adds a comment and answers its id.
    pub(super) fn create_comment(
        &self,
        page: i64,
        reply_to: i64,
        content: &str,
        access: &Access,
    ) -> Result<i64, Fault> {
        let by = (access, self.may_comment());
        let made = self.store().create_comment(page, reply_to, content, by)?;
        self.commented();
        Ok(made)
    }

    /// Changes the text of a comment and answers it as readers see it.
    pub(super) fn change_comment(
        &self,
        id: i64,
        content: &str,
        access: &Access,
    ) -> Result<String, Fault> {
        let changed = self.store().change_comment(id, content, access)?;
        self.commented();
        Ok(changed)
    }
}
