//! Finds what a recorded write was of under the id that it has now: a page or an asset that was
//! deleted comes back by an undo under another id.

use std::collections::{HashMap, HashSet};

use crate::error::{Code, Failure, Result};
use crate::page::{Attached, PageState};
use crate::wiki::Wiki;

use super::{target, whole_page};
use crate::write::undo::history::WriteHistory;

/// The reason for which a page is left out that the key may not write.
pub(super) const MAY_NOT_WRITE: &str = "this key may not write it";

/// The page of this id, or what undos made of it since it was deleted; `None` if it is gone.
pub(super) async fn page(past: &WriteHistory, id: i64) -> Result<Option<PageState>> {
    if let Some(page) = by_id(&past.wiki, id).await? {
        return Ok(Some(page));
    }
    for later in later_ids(past, id).await? {
        if let Some(page) = by_id(&past.wiki, later).await? {
            return Ok(Some(page));
        }
    }
    Ok(None)
}

/// The reason for which a page is left out of a set, where this failure is no reason to give up the set.
pub(super) fn left_out(failure: Failure) -> Result<&'static str> {
    match failure.code {
        Code::FieldUnreadable => Ok("this key cannot read back all of its fields"),
        Code::PermissionDenied => Ok(MAY_NOT_WRITE),
        _ => Err(failure),
    }
}

/// The page that an undo brought back only in part after it was deleted under this id: as that undo
/// left it, and as it is now; `None` if there is none.
pub(super) async fn in_part(
    past: &WriteHistory,
    id: i64,
) -> Result<Option<(PageState, PageState)>> {
    let all = past.audit.writes.recreations(false).await?;
    for one in all
        .iter()
        .filter(|one| one.old == Some(id) && one.is_partial)
    {
        let (Some(new), Some(found)) = (one.new, one.found) else {
            continue;
        };
        if let Some(now) = by_id(&past.wiki, new).await? {
            let [left] = past.kept([Some(found)], one.key).await?;
            return Ok(left.map(|left| (left, now)));
        }
    }
    Ok(None)
}

/// The ids under which undos created a page again, the newest first.
pub(super) async fn later_ids(past: &WriteHistory, id: i64) -> Result<Vec<i64>> {
    Ok(reached(id, &recreated(past).await?))
}

/// The ids that pages which were deleted have now, where undos created them again.
pub(crate) async fn came_back(
    past: &WriteHistory,
    deleted: &HashSet<i64>,
) -> Result<HashMap<i64, i64>> {
    let pairs = recreated(past).await?;
    let later = deleted.iter().map(|id| (*id, reached(*id, &pairs)));
    let later: HashMap<i64, Vec<i64>> = later.collect();
    let there = later.values().flatten().copied().collect();
    let there = past.wiki.places_of(&there).await?;
    let back = later.into_iter().filter_map(|(id, later)| {
        let mut there = later.into_iter().filter(|id| there.contains_key(id));
        Some((id, there.next()?))
    });
    Ok(back.collect())
}

/// The ids of the pages that undos created again, before and since, the newest first.
async fn recreated(past: &WriteHistory) -> Result<Vec<(i64, i64)>> {
    let all = past.audit.writes.recreations(false).await?;
    let pairs = all.iter().filter_map(|one| Some((one.old?, one.new?)));
    Ok(pairs.collect())
}

/// The ids that a page had later, by pairs of what was deleted and what came of it, the newest
/// first.
fn reached(id: i64, pairs: &[(i64, i64)]) -> Vec<i64> {
    let mut known = HashSet::from([id]);
    let is_more = |known: &mut HashSet<i64>| {
        let found: Vec<i64> = pairs
            .iter()
            .filter(|(old, new)| known.contains(old) && !known.contains(new))
            .map(|(_, new)| *new)
            .collect();
        known.extend(&found);
        !found.is_empty()
    };
    while is_more(&mut known) {}
    let mut later = Vec::new();
    for (_, new) in pairs {
        if *new != id && known.contains(new) && !later.contains(new) {
            later.push(*new);
        }
    }
    later
}

/// Reads a comment or asset as it is now, or the asset that undos made of it since it was deleted;
/// `None` if it is gone.
pub(super) async fn thing(past: &WriteHistory, state: &PageState) -> Result<Option<PageState>> {
    if let Some(found) = target::if_there(&past.wiki, state).await? {
        return Ok(Some(found));
    }
    let Some(Attached::Asset(own)) = &state.thing else {
        return Ok(None);
    };
    let Some(id) = own.id else { return Ok(None) };
    let all = past.audit.writes.recreations(true).await?;
    let mut pairs = Vec::new();
    for one in all {
        let states = (one.deleted, one.found.or(one.deleted));
        let (Some(deleted), Some(found)) = states else {
            continue;
        };
        let kept = async |name| {
            let kept = past.audit.states.get(name).await;
            kept.ok().and_then(|state| state.thing?.id())
        };
        if let (Some(old), Some(new)) = (kept(deleted).await, kept(found).await) {
            pairs.push((old, new));
        }
    }
    for later in reached(id, &pairs) {
        let mut state = state.clone();
        if let Some(Attached::Asset(asset)) = &mut state.thing {
            asset.id = Some(later);
        }
        if let Some(found) = target::if_there(&past.wiki, &state).await? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The page of exactly this id; `None` if it is gone.
pub(super) async fn by_id(wiki: &Wiki, id: i64) -> Result<Option<PageState>> {
    target::found(whole_page::to_write(wiki, id, &[]).await)
}

#[cfg(test)]
mod tests {
    use super::reached;

    #[test]
    fn a_page_is_followed_through_every_undo_of_its_deletions_the_newest_first() {
        // The newest pair stands first.
        for (pairs, expected) in [
            (&[][..], vec![]),
            (&[(5, 9)], vec![9]),
            (&[(9, 12), (5, 9)], vec![12, 9]),
            // Its deletion was taken back once more, after what came of it was deleted.
            (&[(5, 11), (5, 9)], vec![11, 9]),
            (&[(7, 8), (5, 9)], vec![9]),
            // No honest log has a ring.
            (&[(9, 5), (5, 9)], vec![9]),
        ] {
            assert_eq!(reached(5, pairs), expected, "{pairs:?}");
        }
    }
}
