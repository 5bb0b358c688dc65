//! Runs writes as the wiki does: late, in steps, with a rebuild of the tree at the end (W19).

use super::access::Access;
use super::fault::Fault;
use super::state::Shared;
use super::store::{Happened, NewPage, PageChange, PageRow, Store};

/// One step of a write, applied to the store at once.
///
/// The delay and the hook of the tests come before the first step only, so
/// every write begins with [`begin`].
fn step<T>(shared: &Shared, work: impl FnOnce(&mut Store) -> Result<T, Fault>) -> Result<T, Fault> {
    work(&mut shared.store())
}

/// Waits as long as the test wants, then lets the test act.
async fn begin(shared: &Shared) {
    let delay = shared.behaviour().write_delay;
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let hook = shared.behaviour().next_mutation.take();
    if let Some(hook) = hook {
        let mut store = shared.store();
        hook(&mut store);
        store.settle();
    }
}

/// Rebuilds the tree. Of several at once only the first succeeds, if the wiki
/// is of the kind where they get into each other's way.
async fn rebuild_tree(shared: &Shared) -> Result<(), Fault> {
    let time = {
        let mut behaviour = shared.behaviour();
        if behaviour.tree_conflicts && behaviour.rebuilding > 0 {
            return Err(Fault::error(
                "Error when running job rebuild-tree: insert into \"pageTree\" (\"id\", \"path\") \
                 values (1, 'home') - duplicate key value violates unique constraint \
                 \"pageTree_pkey\"",
            ));
        }
        behaviour.rebuilding += 1;
        behaviour.tree_time
    };
    if !time.is_zero() {
        shared.store().fell_tree();
        tokio::time::sleep(time).await;
    }
    shared.store().rebuild_tree();
    shared.behaviour().rebuilding -= 1;
    Ok(())
}

/// Makes a page and answers it.
pub(super) async fn create(
    shared: &Shared,
    new: &NewPage,
    access: &Access,
) -> Result<PageRow, Fault> {
    begin(shared).await;
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
    begin(shared).await;
    run_update(shared, id, change, "updated", access).await
}

/// Writes an old version back.
pub(super) async fn restore(
    shared: &Shared,
    id: i64,
    version: i64,
    access: &Access,
) -> Result<(), Fault> {
    begin(shared).await;
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
    let overlap = shared.behaviour().overlap;
    if overlap.is_zero() {
        step(shared, |store| {
            store.begin_update(id, change, action, access)?;
            store.update_fields(id, change, access)
        })?;
    } else {
        step(shared, |store| {
            store.begin_update(id, change, action, access)
        })?;
        tokio::time::sleep(overlap).await;
        step(shared, |store| store.update_fields(id, change, access))?;
    }
    let delay = shared.behaviour().tags_delay;
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    step(shared, |store| store.update_tags(id, &change.tags))?;
    let page = read_back(shared, id)?;
    if step(shared, |store| store.update_place(id, change, access))? {
        rebuild_tree(shared).await?;
    }
    Ok(page)
}

/// Changes a page's editor.
pub(super) async fn convert(
    shared: &Shared,
    id: i64,
    editor: &str,
    access: &Access,
) -> Result<(), Fault> {
    begin(shared).await;
    step(shared, |store| store.convert(id, editor, access))
}

/// Moves a page.
pub(super) async fn move_page(
    shared: &Shared,
    id: i64,
    path: &str,
    locale: &str,
    access: &Access,
) -> Result<(), Fault> {
    begin(shared).await;
    step(shared, |store| {
        store.move_page(id, path, Some(locale), access)
    })?;
    rebuild_tree(shared).await
}

/// Deletes a page.
pub(super) async fn delete(shared: &Shared, id: i64, access: &Access) -> Result<(), Fault> {
    begin(shared).await;
    step(shared, |store| store.delete(id, access))?;
    rebuild_tree(shared).await
}

/// Renders a page anew.
pub(super) async fn render(shared: &Shared, id: i64) -> Result<(), Fault> {
    begin(shared).await;
    read_back(shared, id)?;
    step(shared, |store| {
        store.render_links(id);
        Ok(())
    })
}

/// Adds a comment and answers its id.
pub(super) async fn create_comment(
    shared: &Shared,
    page: i64,
    reply_to: i64,
    content: &str,
    access: &Access,
) -> Result<i64, Fault> {
    begin(shared).await;
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
pub(super) async fn change_comment(
    shared: &Shared,
    id: i64,
    content: &str,
    access: &Access,
) -> Result<String, Fault> {
    begin(shared).await;
    let changed = step(shared, |store| store.change_comment(id, content, access));
    if changed.is_ok() {
        shared.commented();
    }
    changed
}

/// Deletes a comment.
pub(super) async fn delete_comment(shared: &Shared, id: i64, access: &Access) -> Result<(), Fault> {
    begin(shared).await;
    step(shared, |store| store.delete_comment(id, access))
}

/// A write of assets.
pub(super) async fn of_assets(
    shared: &Shared,
    work: impl FnOnce(&mut Store) -> Result<(), Fault>,
) -> Result<(), Fault> {
    begin(shared).await;
    step(shared, work)
}

fn read_back(shared: &Shared, id: i64) -> Result<PageRow, Fault> {
    match shared.store().page(id) {
        Some(page) => Ok(page.clone()),
        None => Err(super::fault::WikiError::NotFound.into()),
    }
}
