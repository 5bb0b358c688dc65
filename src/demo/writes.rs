//! Runs writes as the wiki does: in steps, with a rebuild of the tree at the end (W19).

use super::access::Access;
use super::fault::Fault;
use super::state::Shared;
use super::store::{Happened, NewPage, PageChange, PageRow, Store};

/// One step of a write, applied to the store at once.
fn step<T>(shared: &Shared, work: impl FnOnce(&mut Store) -> Result<T, Fault>) -> Result<T, Fault> {
    work(&mut shared.store())
}

async fn rebuild_tree(shared: &Shared) -> Result<(), Fault> {
    let fell = || shared.store().fell_tree();
    let _under_way = shared.testing.rebuild(fell).await?;
    shared.store().rebuild_tree();
    Ok(())
}

/// Makes a page and answers it.
pub(super) async fn create(
    shared: &Shared,
    new: &NewPage,
    access: &Access,
) -> Result<PageRow, Fault> {
    let id = step(shared, |store| store.create(new, access))?;
    step(shared, |store| store.write_tags(id, &new.tags))?;
    step(shared, |store| {
        store.render_links(id);
        Ok(())
    })?;
    rebuild_tree(shared).await?;
    let page = read_back(shared, id)?;
    step(shared, |store| {
        store.reconnect(&page.place(), Happened::Created);
        Ok(())
    })?;
    Ok(page)
}

/// Updates a page and answers it as it is before the move that may follow.
pub(super) async fn update(
    shared: &Shared,
    id: i64,
    change: &PageChange,
    access: &Access,
) -> Result<PageRow, Fault> {
    run_update(shared, id, change, "updated", access).await
}

/// Writes an old version back.
pub(super) async fn restore(
    shared: &Shared,
    id: i64,
    version: i64,
    access: &Access,
) -> Result<(), Fault> {
    let change = step(shared, |store| store.restoring(id, version, access))?;
    run_update(shared, id, &change, "restored", access).await?;
    Ok(())
}

async fn run_update(
    shared: &Shared,
    id: i64,
    change: &PageChange,
    action: &'static str,
    access: &Access,
) -> Result<PageRow, Fault> {
    let begin = |store: &mut Store| store.begin_update(id, change, action, access);
    match shared.testing.overlap() {
        None => step(shared, |store| {
            begin(store)?;
            store.update_fields(id, change, access)
        })?,
        Some(time) => {
            step(shared, begin)?;
            tokio::time::sleep(time).await;
            step(shared, |store| store.update_fields(id, change, access))?;
        }
    }
    shared.testing.before_tags().await;
    step(shared, |store| store.update_tags(id, &change.tags))?;
    let page = read_back(shared, id)?;
    if step(shared, |store| store.update_place(id, change, access))? {
        rebuild_tree(shared).await?;
    }
    Ok(page)
}

/// Moves a page.
pub(super) async fn move_page(
    shared: &Shared,
    id: i64,
    path: &str,
    locale: &str,
    access: &Access,
) -> Result<(), Fault> {
    step(shared, |store| {
        store.move_page(id, path, Some(locale), access)
    })?;
    rebuild_tree(shared).await
}

/// Deletes a page.
pub(super) async fn delete(shared: &Shared, id: i64, access: &Access) -> Result<(), Fault> {
    step(shared, |store| store.delete(id, access))?;
    rebuild_tree(shared).await
}

/// Renders a page anew.
pub(super) fn render(shared: &Shared, id: i64) -> Result<(), Fault> {
    read_back(shared, id)?;
    step(shared, |store| {
        store.render_links(id);
        Ok(())
    })
}

/// Adds a comment and answers its id.
pub(super) fn create_comment(
    shared: &Shared,
    page: i64,
    reply_to: i64,
    content: &str,
    access: &Access,
) -> Result<i64, Fault> {
    let may_now = shared.may_comment();
    let made = step(shared, |store| {
        store.create_comment(page, reply_to, content, (access, may_now))
    });
    if made.is_ok() {
        shared.commented();
    }
    made
}

/// Changes the text of a comment and answers it as readers see it.
pub(super) fn change_comment(
    shared: &Shared,
    id: i64,
    content: &str,
    access: &Access,
) -> Result<String, Fault> {
    let changed = step(shared, |store| store.change_comment(id, content, access));
    if changed.is_ok() {
        shared.commented();
    }
    changed
}

fn read_back(shared: &Shared, id: i64) -> Result<PageRow, Fault> {
    match shared.store().page(id) {
        Some(page) => Ok(page.clone()),
        None => Err(super::fault::WikiError::NotFound.into()),
    }
}
