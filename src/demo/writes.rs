//! Runs writes as the wiki does: in steps, with a rebuild of the tree at the end (W19).

use super::access::Access;
use super::fault::Fault;
use super::state::Shared;
use super::store::{Happened, PageChange, PageRow, Store};

async fn rebuild_tree(shared: &Shared) -> Result<(), Fault> {
    let fell = || shared.store().fell_tree();
    let _under_way = shared.testing.rebuild(fell).await?;
    shared.store().rebuild_tree();
    Ok(())
}

/// Makes a page and answers it.
pub(super) async fn create(
    shared: &Shared,
    new: &PageRow,
    access: &Access,
) -> Result<PageRow, Fault> {
    let id = shared.store().create(new, access)?;
    shared.store().write_tags(id, &new.tags)?;
    shared.store().render_links(id);
    rebuild_tree(shared).await?;
    let page = shared.store().existing(id)?.clone();
    let place = page.place();
    shared.store().reconnect(&place, Happened::Created);
    Ok(page)
}

/// Updates a page and answers it as it is before the move that may follow; `action` is what the
/// history calls it.
pub(super) async fn update(
    shared: &Shared,
    id: i64,
    change: &PageChange,
    action: &'static str,
    access: &Access,
) -> Result<PageRow, Fault> {
    let begin = |store: &mut Store| store.begin_update(id, change, action, access);
    match shared.testing.overlap() {
        None => {
            let mut store = shared.store();
            begin(&mut store)?;
            store.update_fields(id, change, access)?;
        }
        Some(time) => {
            begin(&mut shared.store())?;
            tokio::time::sleep(time).await;
            shared.store().update_fields(id, change, access)?;
        }
    }
    shared.testing.before_tags().await;
    shared.store().update_tags(id, &change.tags)?;
    let page = shared.store().existing(id)?.clone();
    let is_moved = shared.store().update_place(id, change, access)?;
    if is_moved {
        rebuild_tree(shared).await?;
    }
    Ok(page)
}

/// Writes an old version back.
pub(super) async fn restore(
    shared: &Shared,
    id: i64,
    version: i64,
    access: &Access,
) -> Result<(), Fault> {
    let change = shared.store().restoring(id, version, access)?;
    update(shared, id, &change, "restored", access).await?;
    Ok(())
}

/// Moves a page.
pub(super) async fn move_page(
    shared: &Shared,
    id: i64,
    path: &str,
    locale: &str,
    access: &Access,
) -> Result<(), Fault> {
    shared.store().move_page(id, path, Some(locale), access)?;
    rebuild_tree(shared).await
}

/// Deletes a page.
pub(super) async fn delete(shared: &Shared, id: i64, access: &Access) -> Result<(), Fault> {
    shared.store().delete(id, access)?;
    rebuild_tree(shared).await
}

/// Renders a page anew.
pub(super) fn render(shared: &Shared, id: i64) -> Result<(), Fault> {
    let mut store = shared.store();
    store.existing(id)?;
    store.render_links(id);
    Ok(())
}

/// Adds a comment and answers its id.
pub(super) fn create_comment(
    shared: &Shared,
    page: i64,
    reply_to: i64,
    content: &str,
    access: &Access,
) -> Result<i64, Fault> {
    let by = (access, shared.may_comment());
    let made = shared.store().create_comment(page, reply_to, content, by)?;
    shared.commented();
    Ok(made)
}

/// Changes the text of a comment and answers it as readers see it.
pub(super) fn change_comment(
    shared: &Shared,
    id: i64,
    content: &str,
    access: &Access,
) -> Result<String, Fault> {
    let changed = shared.store().change_comment(id, content, access)?;
    shared.commented();
    Ok(changed)
}
