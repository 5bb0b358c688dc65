//! Takes back all that a client wrote since some time, as one set.

use std::collections::{BTreeSet, HashMap};

use time::OffsetDateTime;

use crate::audit::{CallHistory, CallId, Outcome};
use crate::change::{Change, Operation, UndoFault, Warning};
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, LeftOut, SetChange};
use crate::page::{Field, PageState};

use super::bulk::MAX_PAGES;
use super::order::in_order;
use super::undo::states_around;
use super::{Agreed, ChangeSource, Made, WriteCall, checked, present};
use crate::write::undo::history::{WriteHistory, nothing};

/// The most writes of one client that are considered.
const MOST_WRITES: usize = 2_000;
/// The most writes of one page that one change takes back: its record names all of them.
const MOST_OF_PAGE: usize = 100;

/// A request to take back a client's writes. The writes of one page become one change, back to the
/// page as it was before the first of them.
#[derive(Debug, Clone)]
pub struct UndoClient {
    /// The client's name, or that of a user of the machine who ran commands.
    pub client: String,
    /// Writes begun then or later.
    pub since: OffsetDateTime,
    /// True if fields that somebody else changed since are taken back as well.
    pub force: bool,
}

impl UndoClient {
    async fn made_now(&self, call: WriteCall<'_>) -> Result<ChangeSet> {
        let past = call.past;
        let writes = self.writes(past).await?;
        let (mut changes, mut left_out) = (Vec::new(), Vec::new());
        let now = ids_now(past, &writes).await?;
        for (id, writes) in by_page(writes, &now) {
            match self.of_page(past, id, &writes).await? {
                Ok(change) => changes.push(change),
                Err(why) => left_out.push(LeftOut {
                    id: writes.iter().find_map(|call| call.id).and(Some(id)),
                    path: writes.first().and_then(CallHistory::place),
                    why: why.into(),
                }),
            }
        }
        if changes.len() > MAX_PAGES {
            let count = changes.len();
            return Err(Failure::new(
                Code::TooLarge,
                format!("{count} pages would go back, more than {MAX_PAGES}; nothing was sent."),
            )
            .hint("Take back the newest writes first: name a later time.")
            .detail("most", MAX_PAGES));
        }
        let (changes, taken) = in_order(&past.wiki, changes).await?;
        left_out.extend(taken);
        let message = "Nothing that this client wrote since then can be taken back.";
        let otherwise = nothing(message).hint("With --force, fields go back even if somebody else changed them since; `wikijs-gate undo CALL` takes back one write.");
        list(call, changes, left_out, otherwise)
    }

    /// The client's writes that may have left something on the wiki, the newest first.
    async fn writes(&self, past: &WriteHistory) -> Result<Vec<CallHistory>> {
        let found = past
            .audit
            .calls
            .of_client(&self.client, self.since, MOST_WRITES);
        let found = found.await?;
        let Some(found) = found else {
            return Err(Failure::new(
                Code::TooLarge,
                format!("The client wrote more than {MOST_WRITES} times since then."),
            )
            .hint("Take back the newest writes first: name a later time."));
        };
        let mut admitted = Vec::new();
        for story in without_cancelled(found) {
            if past.admits(&story).await? {
                admitted.push(story);
            }
        }
        if admitted.is_empty() {
            let message =
                "No write of such a client is on record since then that was not taken back.";
            return Err(nothing(message)
                .hint("`wikijs-gate audit list --since …` shows who wrote, and when."));
        }
        Ok(admitted)
    }

    /// The change that takes the writes of one page back, the newest first; or why there is none.
    async fn of_page(
        &self,
        past: &WriteHistory,
        id: i64,
        writes: &[CallHistory],
    ) -> Result<Result<SetChange, &'static str>> {
        if let Some(why) = hindrance(writes) {
            return Ok(Err(why));
        }
        let now = match present::page(past, id).await {
            Ok(now) => now,
            Err(failure) => return present::left_out(failure).map(Err),
        };
        let mut states = Vec::new();
        for story in writes {
            match states_around(past, story).await {
                Ok(around) => states.push(around),
                Err(_) => return Ok(Err("what it was before is not kept, or not for this key")),
            }
        }
        let is_maybe_theirs = writes.iter().any(|story| story.create_refused().is_some());
        if is_maybe_theirs && !self.force {
            return Ok(Err(
                "the wiki refused to create it, and it may be somebody else's",
            ));
        }
        let (change, loses) = match back(now, states, self.force) {
            Ok(change) => change,
            Err(why) => return Ok(Err(why)),
        };
        let mut calls = writes.iter().map(|story| story.call);
        let mut warnings = takes_along(&loses);
        if is_maybe_theirs {
            let message = "force also deletes a page that may be somebody else's: the wiki refused to create it.";
            warnings.push(Warning::new("takes_along", message));
        }
        Ok(Ok(SetChange {
            change,
            undoes: calls.next(),
            also_undoes: calls.collect(),
            warnings,
        }))
    }
}

/// The newest id of each written page that an undo created again.
async fn ids_now(past: &WriteHistory, writes: &[CallHistory]) -> Result<HashMap<i64, i64>> {
    let mut now = HashMap::new();
    for id in writes.iter().filter_map(|call| call.id) {
        if !now.contains_key(&id)
            && let Some(newest) = present::later_ids(past, id).await?.first()
        {
            now.insert(id, *newest);
        }
    }
    Ok(now)
}

/// The reason why the writes of one page cannot be taken back together, by their records.
fn hindrance(writes: &[CallHistory]) -> Option<&'static str> {
    let is_known = |story: &CallHistory| story.outcome.is_some_and(Outcome::took_effect);
    if !writes.iter().all(is_of_page) {
        Some("what belongs to it, such as a comment, is taken back call by call")
    } else if writes.len() > MOST_OF_PAGE {
        Some("it was written too often since then")
    } else if !writes.iter().all(is_known) {
        Some("whether a write of it was applied is not known")
    } else {
        None
    }
}

/// A page before and after a write.
pub(super) type StatePair = (Option<PageState>, Option<PageState>);

/// One change that takes back several writes of a page, from the newest to the oldest; or why there
/// is none.
///
/// Each is taken back in memory, after the later ones: what somebody else wrote in between stays,
/// or is a conflict.
pub(super) fn back(
    now: Option<PageState>,
    writes: Vec<StatePair>,
    force: bool,
) -> Result<(Change, BTreeSet<Field>), &'static str> {
    let mut page = now.clone();
    let mut left_alone: Vec<Field> = Vec::new();
    let mut loses = BTreeSet::new();
    for (before, after) in writes {
        if before.is_some() && after.is_none() && page.is_some() {
            return Err("it was deleted, and is there again");
        }
        let undone = Change::undo(before, after, page, force).map_err(|fault| reason(&fault))?;
        left_alone.extend(undone.change.left_alone());
        loses.extend(undone.loses);
        page = undone.change.after().cloned();
    }
    let moves_to = page.as_ref().filter(|page| {
        now.as_ref()
            .is_none_or(|now| (&now.locale, &now.path) != (&page.locale, &page.path))
    });
    if moves_to.is_some_and(|page| !page.path.can_be_made()) {
        return Err("the wiki makes no page at its old path any more");
    }
    match (now, page) {
        (None, None) => Err("it is gone, as it was before"),
        (None, Some(page)) => Ok((Change::recreate(page), loses)),
        (Some(now), None) => Ok((Change::delete(now), loses)),
        // No update changes an editor, and under another one the text would be taken for another format.
        (Some(now), Some(page)) if now.editor != page.editor => {
            Err("its editor was changed, which an administrator can take back in the wiki first")
        }
        (Some(now), Some(page)) => {
            let change = Change::between(now, page).without(left_alone);
            if change.is_empty() {
                Err("it already is as it was before")
            } else {
                Ok((change, loses))
            }
        }
    }
}

/// The warning about what somebody else wrote since and force takes along.
fn takes_along(loses: &BTreeSet<Field>) -> Vec<Warning> {
    if loses.is_empty() {
        return Vec::new();
    }
    let message = format!(
        "force also takes back what somebody else wrote since in {}.",
        Field::names(loses).join(", ")
    );
    vec![Warning::new("takes_along", message)]
}

fn reason(fault: &UndoFault) -> &'static str {
    match fault {
        UndoFault::Nothing => "nothing is on record that a write of it changed",
        UndoFault::NotKnown(_) => "what a write of it replaced could not be read then",
        UndoFault::Gone => "it is not there any more",
        UndoFault::Elsewhere => "it stands elsewhere than where it was created",
        UndoFault::Changed(_) => "somebody else changed what a write of it had changed",
    }
}

/// The writes in order, without those that were taken back and without their undos.
///
/// An undo that took back writes outside of this list stays, and so do the writes that it took
/// back.
fn without_cancelled(mut writes: Vec<CallHistory>) -> Vec<CallHistory> {
    let undone: HashMap<CallId, CallId> = writes
        .iter()
        .filter_map(|story| Some((story.call, story.undone_by?)))
        .collect();
    let cancels: HashMap<CallId, bool> = writes
        .iter()
        .map(|story| {
            let targets = story.undone_calls();
            let is_all = targets
                .iter()
                .all(|target| undone.get(target) == Some(&story.call));
            (story.call, is_all && !targets.is_empty())
        })
        .collect();
    writes.retain(|story| {
        let is_undone = story
            .undone_by
            .is_some_and(|by| cancels.get(&by).copied().unwrap_or(true));
        let cancels = cancels.get(&story.call).copied().unwrap_or(false);
        !is_undone && !cancels
    });
    writes
}

/// True if a write was one of a page itself.
fn is_of_page(story: &CallHistory) -> bool {
    story.operation.is_none_or(Operation::is_of_page)
}

/// Groups writes by page, in the order of the input; pages under the ids that they have now.
fn by_page(writes: Vec<CallHistory>, now: &HashMap<i64, i64>) -> Vec<(i64, Vec<CallHistory>)> {
    let mut pages: Vec<(i64, Vec<CallHistory>)> = Vec::new();
    let mut places: HashMap<(i64, bool), usize> = HashMap::new();
    for story in writes {
        // A write whose page is unknown gets a group of its own.
        let id = story.id.unwrap_or_default();
        let id = now.get(&id).copied().unwrap_or(id);
        let subject = (id, is_of_page(&story));
        if let Some((_, writes)) = places.get(&subject).and_then(|place| pages.get_mut(*place)) {
            writes.push(story);
        } else {
            places.insert(subject, pages.len());
            pages.push((id, vec![story]));
        }
    }
    pages
}

/// The set of these changes, with what is left out of it; without a change this failure, which names that.
pub(super) fn list(
    call: WriteCall<'_>,
    changes: Vec<SetChange>,
    left_out: Vec<LeftOut>,
    otherwise: Failure,
) -> Result<ChangeSet> {
    let told: Vec<_> = left_out.iter().map(LeftOut::as_detail).collect();
    let set = ChangeSet::list(call.id, changes);
    let set = set.ok_or_else(|| otherwise.detail("leftOut", told))?;
    Ok(set.with(|batch| batch.left_out = left_out))
}

impl ChangeSource for UndoClient {
    async fn made(&self, call: WriteCall<'_>) -> Made {
        Ok(checked(self.made_now(call).await?))
    }

    async fn agrees(&self, _: WriteCall<'_>, shown: &ChangeSet) -> Agreed {
        // What the client wrote since the preview stays; on these pages it is a conflict.
        let are_undone = shown.iter().all(|one| one.undoes.is_some());
        Ok(are_undone && shown.is_list() && shown.proposal().is_none())
    }
}

#[cfg(test)]
mod tests;
