//! Takes a write back, from its states in the audit log.

use std::collections::HashSet;

use serde_json::json;

use crate::audit::{CallId, CallSelector, CallStory, Client, KeptState, Outcome};
use crate::change::{Change, StepKind, UndoFault, Warning};
use crate::error::{Code, Failure};
use crate::gates::{ChangeSet, SessionId, SetChange};
use crate::page::{Field, PagePath, PageState};
use crate::wiki::{Wiki, WikiError};

use super::{Call, Later, Read, Source, Stopped, again, checked, thing, whole_page};
use crate::write::desk::Desk;
use crate::write::docket::{Docket, unavailable};
use crate::write::faults::with_difference;
use crate::write::past::{NOT_ON_RECORD, nothing};

/// Which write to take back.
#[derive(Debug, Clone)]
pub struct Undo {
    /// The write.
    pub call: CallSelector,
    /// The only client whose writes may be taken back, as authenticated; `None` means anybody's.
    pub owner: Option<Client>,
    /// The session whose last write `last` means, if it wrote; `None` means the newest write on
    /// record.
    pub session: Option<SessionId>,
    /// Whether fields that changed since are taken back as well.
    pub force: bool,
    /// Where to bring the page back, if not to its old place.
    pub path: Option<PagePath>,
}

impl Source for Undo {
    fn tell<'a>(&'a self, _: &'a Desk, docket: &'a mut Docket) -> Later<'a, ()> {
        docket.undoes(self.call.named());
        Box::pin(async {})
    }

    /// Finds the call it meant, only for the record: it may be another client's.
    fn tell_refused<'a>(&'a self, desk: &'a Desk, docket: &'a mut Docket) -> Later<'a, ()> {
        Box::pin(async {
            if docket.knows_page() {
                return;
            }
            let story = match (undone(desk, self).await, self.call.named()) {
                (Ok(story), _) => Some(story),
                (Err(_), Some(call)) => desk.past.story(&call.into(), None).await.ok(),
                (Err(_), None) => None,
            };
            if let Some(story) = story {
                docket.meant(&story);
            }
        })
    }

    fn page_of_turn<'a>(&'a self, desk: &'a Desk) -> Later<'a, Option<i64>> {
        Box::pin(async { undone(desk, self).await.ok()?.id() })
    }

    /// The warning that it takes back the last write and that this is not the session's own.
    fn said(&self, desk: &Desk, set: &ChangeSet) -> Option<Warning> {
        let session = self.session.as_ref().filter(|_| self.call.is_last())?;
        let call = set.first().undoes?;
        (!desk.memory.own_writes(session).contains(&call)).then(|| {
            let message = format!(
                "this session has no applied write to take back; {call} is the newest on record, maybe of another session or server."
            );
            Warning::new("not_of_this_session", message)
        })
    }

    fn made<'a>(&'a self, call: Call<'a>) -> Later<'a, Result<Read, Stopped>> {
        Box::pin(async move {
            let desk = call.desk;
            // The write may be one that an earlier run left open.
            desk.recovered().await;
            Ok(checked(match meant(desk, self).await? {
                Meant::Set(set) => of_set(call, self, set).await?,
                Meant::One(story) => {
                    let change = change_of(desk, self, *story).await?;
                    ChangeSet::of(call.id, change)
                }
            }))
        })
    }

    fn shown_again<'a>(
        &'a self,
        call: Call<'a>,
        shown: ChangeSet,
    ) -> Later<'a, Result<Read, Stopped>> {
        Box::pin(async move {
            if shown.is_list() {
                let desk = call.desk;
                let agrees = match meant(desk, self).await? {
                    // `last` still means the write that was shown, whatever was written since.
                    Meant::Set(set) => shown.undoes() == Some(set) || self.call.is_last(),
                    Meant::One(_) => self.call.is_last(),
                };
                let set = shown.undoes().filter(|_| agrees && self.path.is_none());
                let set = set.ok_or_else(super::mismatch)?;
                // The preview decided whether to use force.
                let forced = Self {
                    force: true,
                    ..self.clone()
                };
                let left = left_of_set(desk, &forced, set).await?;
                let left = left.iter().map(|one| Some(one.call));
                if !shown.iter().map(|one| one.undoes).eq(left) {
                    return Err(super::mismatch().into());
                }
                return super::bulk::still_so(call, shown).await;
            }
            let only = shown.first();
            // `last` still means the write that was shown, whatever was written since.
            let takes_back = if self.call.is_last() {
                only.undoes
            } else {
                Some(undone(call.desk, self).await?.call)
            };
            let place = only.change.after().map(|page| &page.path);
            let is_its_place = self.path.as_ref().is_none_or(|path| place == Some(path));
            let is_own = only.undoes == takes_back && shown.proposal().is_none();
            again(call, shown, is_own && is_its_place, async |_| Ok(())).await
        })
    }
}

/// Makes the change that takes a write back, from the page as it is now.
pub(in crate::write) async fn change(desk: &Desk, undo: &Undo) -> Result<SetChange, Failure> {
    // The write may be one that an earlier run left open.
    desk.recovered().await;
    let story = undone(desk, undo).await?;
    change_of(desk, undo, story).await
}

async fn change_of(desk: &Desk, undo: &Undo, story: CallStory) -> Result<SetChange, Failure> {
    if let Some(by) = story.undone_by {
        return Err(
            nothing("That write was taken back already.").detail("undoneBy", by.to_string())
        );
    }
    match story.outcome() {
        Some(Outcome::Applied | Outcome::PartlyApplied) => {}
        Some(Outcome::Unchanged | Outcome::NotApplied) => {
            return Err(nothing("That call changed nothing."));
        }
        Some(Outcome::Unknown) | None => {
            return Err(nothing(
                "Whether that write was applied is not known; look at the page.",
            ));
        }
    }
    let (before, after) = states_around(desk, &story).await?;
    let before = match before {
        Some(before) if comes_back(&before, after.as_ref()) => Some(at_its_place(before, undo)?),
        _ if undo.path.is_some() => return Err(stays()),
        before => before,
    };
    let comes_anew = before.is_some() && after.is_none();
    let thing = after.as_ref().or(before.as_ref());
    let thing = thing.filter(|state| state.thing.is_some());
    let now = match (comes_anew, thing, story.id()) {
        (false, Some(state), _) => thing::if_there(&desk.wiki, state).await?,
        (false, None, Some(id)) => page_now(&desk.wiki, id).await?,
        _ => None,
    };
    let gone = thing.and_then(|state| state.thing.clone());
    let change = Change::undo(before, after.clone(), now.clone(), undo.force);
    let change = change.map_err(|fault| match (fault, gone) {
        (UndoFault::Gone, Some(thing)) => thing::failure_of(&thing, WikiError::NotFound),
        (fault, _) => undo_failure(fault, after, now),
    })?;
    let change = thing::at_its_page(&desk.wiki, change).await?;
    Ok(SetChange {
        undoes: Some(story.call),
        ..SetChange::from(change)
    })
}

/// A page before and after a write.
pub(super) async fn states_around(
    desk: &Desk,
    story: &CallStory,
) -> Result<(Option<PageState>, Option<PageState>), Failure> {
    let names = names_around(story);
    let [before, promised, found] = desk.past.kept(names, story.key()).await?;
    let after = left(story, before.as_ref(), promised, found);
    Ok((before, after))
}

/// The kept states of a write: before it, as it promised, as it was found.
fn names_around(story: &CallStory) -> [Option<KeptState>; 3] {
    let found = story.last_applied().and_then(|last| last.found);
    [story.before(), story.after(), found]
}

/// What an undo takes back.
enum Meant {
    /// A write of one change.
    One(Box<CallStory>),
    /// A set of many, each under a call of its own.
    Set(CallId),
}

async fn meant(desk: &Desk, undo: &Undo) -> Result<Meant, Failure> {
    let failure = match undone(desk, undo).await {
        Ok(story) => {
            let mut sets = story.records.iter().filter_map(|record| record.set);
            return Ok(if sets.any(|set| set == story.call) {
                Meant::Set(story.call)
            } else {
                Meant::One(Box::new(story))
            });
        }
        Err(failure) => failure,
    };
    // A set that was cut short has no record of its own.
    let Some(set) = undo.call.named() else {
        return Err(failure);
    };
    let calls = desk.audit.calls_of_set(set).await;
    let calls = calls.map_err(|error| unavailable(&error))?;
    let is_own = |call: &CallStory| {
        let client = call
            .records
            .iter()
            .find_map(|record| record.client.as_ref());
        let owner = undo.owner.as_ref();
        owner.is_none_or(|owner| client.is_some_and(|client| owner.is_same_owner(client)))
    };
    if calls.is_empty() || !calls.iter().all(is_own) {
        return Err(failure);
    }
    Ok(Meant::Set(set))
}

/// The applied changes of a set that were not taken back yet, the last first.
async fn left_of_set(desk: &Desk, undo: &Undo, set: CallId) -> Result<Vec<CallStory>, Failure> {
    let calls = desk.audit.calls_of_set(set).await;
    let calls = calls.map_err(|error| unavailable(&error))?;
    for call in &calls {
        if !desk.past.admits(call).await? {
            return Err(nothing(NOT_ON_RECORD));
        }
    }
    let own: HashSet<CallId> = calls.iter().map(|call| call.call).collect();
    // The undos of a failed set are not changes of the set.
    let is_change = |call: &CallStory| {
        let mut undoes = call.records.iter().filter_map(|record| record.undoes);
        !undoes.any(|undone| own.contains(&undone))
    };
    let mut left: Vec<CallStory> = calls.into_iter().filter(is_change).collect();
    let is_unknown = |call: &CallStory| matches!(call.outcome(), Some(Outcome::Unknown) | None);
    let is_sent = |call: &CallStory| call.is_open() || call.outcome().is_some();
    if !undo.force
        && let Some(unknown) = left.iter().find(|call| is_sent(call) && is_unknown(call))
    {
        return Err(nothing(
            "Whether a change of that set was applied is not known; look at its page.",
        )
        .detail("call", unknown.call.to_string())
        .detail("id", unknown.id()));
    }
    left.retain(|call| {
        matches!(
            call.outcome(),
            Some(Outcome::Applied | Outcome::PartlyApplied)
        ) && call.undone_by.is_none()
    });
    left.reverse();
    Ok(left)
}

/// The set that takes a set back.
async fn of_set(call: Call<'_>, undo: &Undo, set: CallId) -> Result<ChangeSet, Failure> {
    if undo.path.is_some() {
        return Err(stays());
    }
    let mut changes = Vec::new();
    let left = left_of_set(call.desk, undo, set).await?;
    let states = left.iter().flat_map(names_around);
    call.desk.past.hold(states.flatten().collect()).await?;
    for story in left {
        let of_change = story.call;
        let change = change_of(call.desk, undo, story).await;
        changes.push(change.map_err(|failure| failure.detail("call", of_change.to_string()))?);
    }
    ChangeSet::list(call.id, changes)
        .map(|back| back.undoing(set))
        .ok_or_else(|| nothing("Nothing of that set is left to take back."))
}

/// The records of the call that an undo takes back.
async fn undone(desk: &Desk, undo: &Undo) -> Result<CallStory, Failure> {
    if undo.call.is_last()
        && let Some(story) = own_last(desk, undo).await
    {
        return Ok(story);
    }
    desk.past.story(&undo.call, undo.owner.as_ref()).await
}

/// The session's last applied write that was not taken back.
async fn own_last(desk: &Desk, undo: &Undo) -> Option<CallStory> {
    for call in desk.memory.own_writes(undo.session.as_ref()?) {
        let story = desk.past.story(&call.into(), undo.owner.as_ref()).await;
        let is_meant = |story: &CallStory| {
            story.outcome() == Some(Outcome::Applied) && story.undone_by.is_none()
        };
        if let Some(story) = story.ok().filter(is_meant) {
            return Some(story);
        }
    }
    None
}

pub(super) async fn page_now(wiki: &Wiki, id: i64) -> Result<Option<PageState>, Failure> {
    match whole_page::to_write(wiki, id, &[]).await {
        Ok(read) => Ok(Some(read.page)),
        Err(failure) if failure.code == Code::PageNotFound => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// The page as a write left it; `None` if the write deleted it.
fn left(
    story: &CallStory,
    before: Option<&PageState>,
    promised: Option<PageState>,
    found: Option<PageState>,
) -> Option<PageState> {
    let last = story.last_applied();
    let is_move = last.is_some_and(|last| last.step.as_deref() == Some(StepKind::Move.as_str()));
    let promised = promised?;
    // A write may have stopped after the move of the page.
    let promised = match before {
        Some(before) if is_move => Change::between(before.clone(), promised.clone())
            .after_step(StepKind::Move)
            .unwrap_or(promised),
        _ => promised,
    };
    // If the page was found other than promised, the write left it so, but only in the write's own
    // fields; the other fields were somebody else's. A page at another place than a create's was
    // not made by the create.
    let is_its = |found: &PageState| {
        before.is_some()
            || found.thing.is_some()
            || (found.locale == promised.locale && found.path == promised.path)
    };
    let found = found.filter(is_its);
    let (Some(before), Some(found)) = (before, &found) else {
        return Some(found.unwrap_or(promised));
    };
    let was_applied = last.is_some_and(|last| last.outcome == Some(Outcome::Applied));
    let mut left = before.clone();
    for field in before.difference(&promised) {
        let is_ours = was_applied || promised.same(found, field) || before.same(found, field);
        left.take(field, if is_ours { found } else { &promised });
    }
    Some(left)
}

/// Whether the write took the page away from its place, so that the undo brings it back there.
fn comes_back(before: &PageState, after: Option<&PageState>) -> bool {
    // What belongs to a page comes back to that page, wherever it is.
    let is_page = before.thing.is_none();
    is_page
        && after.is_none_or(|after| (&before.locale, &before.path) != (&after.locale, &after.path))
}

/// The page, at the place to which it shall come back.
fn at_its_place(before: PageState, undo: &Undo) -> Result<PageState, Failure> {
    match &undo.path {
        Some(path) => Ok(PageState {
            path: path.clone(),
            ..before
        }),
        None if before.path.can_be_made() => Ok(before),
        None => Err(bad_path(
            "The wiki makes no page at the old path any more.",
            "must name another place: the wiki makes no page at the old path",
        )
        .hint(
            "Pass path (on the command line --path) with the place where the page shall come back.",
        )),
    }
}

fn stays() -> Failure {
    let message = "Taking this write back brings no page to another place.";
    bad_path(message, "is for a page that was deleted or moved")
        .hint("Leave path out; wikijs_update_page moves a page.")
}

fn bad_path(message: &str, fault: &str) -> Failure {
    Failure::new(Code::InvalidInput, message)
        .detail("fields", json!([{ "path": "path", "message": fault }]))
}

fn undo_failure(fault: UndoFault, left: Option<PageState>, now: Option<PageState>) -> Failure {
    match fault {
        UndoFault::Nothing => nothing("That write changed nothing."),
        UndoFault::NotKnown(fields) => {
            let names: Vec<&str> = fields.iter().copied().map(Field::name).collect();
            nothing("What that write replaced could not be read then, so nobody knows it.")
                .detail("fields", names)
        }
        UndoFault::Gone => Failure::from(WikiError::NotFound),
        UndoFault::Elsewhere => {
            let failure = Failure::new(
                Code::EditConflict,
                "The page stands elsewhere than where that write created it, so it is not deleted.",
            )
            .hint(
                "It was moved since, or is another page; wikijs_delete_page deletes it by its id.",
            );
            match now {
                Some(now) => failure
                    .detail("id", now.id)
                    .detail("locale", now.locale.as_str())
                    .detail("path", now.path.as_str()),
                None => failure,
            }
        }
        UndoFault::Changed(fields) => {
            let names: Vec<&str> = fields.iter().copied().map(Field::name).collect();
            let failure = Failure::new(
                Code::EditConflict,
                "The page was changed since that write, in fields that the write changed.",
            )
            .hint("Look at details.changes; with force, these fields go back all the same.");
            let failure = match (left, now) {
                (Some(left), Some(now)) => with_difference(failure, &Change::between(left, now)),
                _ => failure,
            };
            // Of the differing fields, only those that would be taken back.
            failure.detail("fields", names)
        }
    }
}
