//! Lets pages of a set change places: whoever stands where an earlier change of the set puts another
//! page first goes to a temporary place in its own section.

use std::collections::HashSet;

use crate::change::Change;
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, Policy, SetChange};
use crate::page::{NewPath, PagePath, PagePlace};
use crate::wiki::{Wiki, WikiError};
use crate::write::faults::with_page;

/// The number of names tried in each section.
const NAMES: usize = 9;

/// The same set, in which each page that is in an earlier one's way moves by a temporary place. One
/// that was chosen before is kept as long as it is needed, free and allowed.
///
/// # Errors
/// No such place may be written, or the wiki could not be asked.
pub(crate) async fn by_temporary_places(
    wiki: &Wiki,
    policy: &Policy,
    set: ChangeSet,
) -> Result<ChangeSet> {
    let waits: Vec<bool> = in_the_way(set.iter().map(|one| &one.change));
    if !waits.contains(&true) && set.iter().all(|one| one.change.aside().is_none()) {
        return Ok(set);
    }
    let mut taken: HashSet<PagePlace> = set
        .iter()
        .filter_map(|one| one.change.place_taken())
        .collect();
    let mut changes = Vec::new();
    for (one, waits) in set.iter().cloned().zip(waits) {
        let aside = if waits {
            Some(chosen(wiki, policy, &one.change, &taken).await?)
        } else {
            None
        };
        if let (Some(path), Some(before)) = (&aside, one.change.before()) {
            taken.insert((before.locale.clone(), path.clone()));
        }
        changes.push(SetChange {
            change: one.change.by_way_of(aside),
            ..one
        });
    }
    Ok(set.with_changes(changes))
}

/// True for each change that leaves a place only after an earlier one needs it. Only a move can
/// make room first.
fn in_the_way<'a>(changes: impl Iterator<Item = &'a Change>) -> Vec<bool> {
    let mut taken: HashSet<PagePlace> = HashSet::new();
    let waits = changes.map(|change| {
        let is_in_the_way = change.moves()
            && change
                .place_left()
                .is_some_and(|place| taken.contains(&place));
        taken.extend(change.place_taken());
        is_in_the_way
    });
    waits.collect()
}

/// The first free path that may be written: beside the page, else below it.
async fn chosen(
    wiki: &Wiki,
    policy: &Policy,
    change: &Change,
    taken: &HashSet<PagePlace>,
) -> Result<PagePath> {
    let before = change.before().ok_or_else(|| none(change))?;
    let names = change.aside().cloned().into_iter().chain(names(change));
    for path in names {
        let place = (before.locale.clone(), path.clone());
        let by_it = change.clone().by_way_of(Some(path.clone()));
        if taken.contains(&place) || policy.fault_of(&by_it).is_some() {
            continue;
        }
        match wiki.unbounded().pages_at(&before.locale, &path).await {
            Ok(there) if there.iter().any(|page| page.path == path) => {}
            // A key that may not look learns it from the wiki's refusal.
            Ok(_) | Err(WikiError::Forbidden { .. }) => return Ok(path),
            Err(error) => return Err(error.into()),
        }
    }
    Err(none(change))
}

/// Temporary paths of a page: with its id as a name, in its folder, then below itself, then in the
/// folder to which it goes, where a page of an old wiki stands in a folder in which none can be made
/// any more.
fn names(change: &Change) -> impl Iterator<Item = PagePath> {
    let page = change.target();
    let id = page.id.unwrap_or_default();
    let new = change.after().filter(|after| after.locale == page.locale);
    let new = new.map(|after| after.path.folder());
    let folders = [page.path.folder(), page.path.clone()];
    let paths = folders.into_iter().chain(new).flat_map(move |folder| {
        (1..=NAMES).map(move |number| {
            let end = if number == 1 {
                String::new()
            } else {
                format!("-{number}")
            };
            folder.holding(&format!("moving-{id}{end}"))
        })
    });
    paths.filter_map(|path| NewPath::parse(path.as_str()).ok().map(NewPath::into_path))
}

fn none(change: &Change) -> Failure {
    let failure = Failure::new(
        Code::PathNotAllowed,
        "Pages of this set change places, and no temporary place beside one of them is free and may be written.",
    )
    .hint("Move that page to another path first, in a call of its own.");
    with_page(failure, change.target())
}

#[cfg(test)]
mod tests {
    use super::{in_the_way, names};
    use crate::change::Change;
    use crate::page::testing::placed as at;

    fn moved(id: i64, from: &str, to: &str) -> Change {
        Change::between(at(id, from), at(id, to))
    }

    #[test]
    fn a_page_steps_aside_if_its_place_is_needed_before_it_leaves() {
        type Moves = &'static [(&'static str, &'static str)];
        let table: [(Moves, &[bool]); 5] = [
            (&[("a", "b"), ("b", "a")], &[false, true]),
            (&[("b", "c"), ("a", "b")], &[false, false]),
            (&[("c", "a"), ("b", "c"), ("a", "b")], &[false, false, true]),
            (&[("a", "b"), ("b", "c"), ("c", "a")], &[false, true, true]),
            (&[("a", "x/a"), ("y", "z")], &[false, false]),
        ];
        for (moves, expected) in table {
            let changes: Vec<Change> = moves
                .iter()
                .zip(1..)
                .map(|((from, to), id)| moved(id, from, to))
                .collect();
            assert_eq!(in_the_way(changes.iter()), expected, "{moves:?}");
        }
        let delete = [moved(1, "a", "b"), Change::delete(at(2, "b"))];
        assert_eq!(in_the_way(delete.iter()), [false, false]);
    }

    #[test]
    fn a_temporary_path_has_the_pages_id_and_lies_in_its_section() {
        let first = |from: &str, to: &str| {
            let paths: Vec<String> = names(&moved(12, from, to))
                .map(|path| path.as_str().to_owned())
                .collect();
            (paths[0].clone(), paths[1].clone(), paths[9].clone())
        };
        let of = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        assert_eq!(
            first("docs/a", "z"),
            of("docs/moving-12", "docs/moving-12-2", "docs/a/moving-12")
        );
        assert_eq!(
            first("abc", "z"),
            of("moving-12", "moving-12-2", "abc/moving-12")
        );
        // Below `aa` no page can be made: the wiki takes it for a locale.
        assert_eq!(
            first("aa", "docs/z"),
            of("moving-12", "moving-12-2", "docs/moving-12")
        );
    }
}
