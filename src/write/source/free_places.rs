//! Puts the changes of an undo into an order in which their pages find their places free.

use crate::error::{Code, Failure};
use crate::gates::{LeftOut, SetChange};

use crate::write::context::WriteContext;
use crate::write::links::new_place;

/// Orders changes so that each finds its place free; leaves out those whose places other pages
/// take.
pub(super) async fn in_order(
    desk: &WriteContext,
    changes: Vec<SetChange>,
) -> Result<(Vec<SetChange>, Vec<LeftOut>), Failure> {
    let mut waiting = Vec::new();
    for one in changes {
        let is_taken = match new_place::look(&desk.wiki, &one.change).await {
            Ok(_) => false,
            Err(failure) if failure.code == Code::PageExists => true,
            Err(failure) => return Err(failure),
        };
        waiting.push((one, is_taken));
    }
    let (ordered, taken) = ordered(waiting);
    let left_out = taken
        .iter()
        .map(|one| LeftOut::new(one.change.target(), "another page stands at its old path"));
    Ok((ordered, left_out.collect()))
}

/// Orders changes so that each finds its place free, as early as possible; second, those whose
/// places stay taken. The flag says whether the change's place is taken now. Pages that change
/// places come last: one of them goes by a temporary place.
fn ordered(mut waiting: Vec<(SetChange, bool)>) -> (Vec<SetChange>, Vec<SetChange>) {
    let mut ordered: Vec<SetChange> = Vec::new();
    let mut freed = Vec::new();
    while let Some(next) = waiting.iter().position(|(one, is_taken)| {
        let to = one.change.place_taken();
        !is_taken || to.is_some_and(|to| freed.contains(&to))
    }) {
        let (one, _) = waiting.remove(next);
        freed.extend(one.change.place_left());
        ordered.push(one);
    }
    let mut circles: Vec<SetChange> = waiting.into_iter().map(|(one, _)| one).collect();
    let mut taken = Vec::new();
    while let Some(stuck) = circles.iter().position(|one| {
        let to = one.change.place_taken();
        !circles.iter().any(|other| other.change.place_left() == to)
    }) {
        taken.push(circles.remove(stuck));
    }
    ordered.extend(circles);
    (ordered, taken)
}

#[cfg(test)]
mod tests;
