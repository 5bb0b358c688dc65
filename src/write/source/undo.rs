//! Takes a write back, from its states in the audit log.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::audit::{CallHistory, CallId, CallSelector, Client, KeptState, Outcome, Record};
use crate::change::{Change, Operation, UndoFault, Warning};
use crate::error::{Failure, Result};
use crate::gates::{ChangeSet, SessionId, SetChange, TurnOf};
use crate::page::{Attached, PagePath, PageState};
use crate::wiki::{Wiki, WikiError};

use super::{Agreed, ChangeSource, Made, WriteCall, checked, comment, present, target};
use crate::write::audit_entry::EntryBuilder;
use crate::write::faults::bad_argument;
use crate::write::undo::history::{WriteHistory, nothing};
use crate::write::undo::history_set::stands_at;

mod fault;
mod last;
mod set;
mod standing;

use fault::{maybe_theirs, said_of, undo_failure};
use last::{own_last, redo_warning, with_redo};
use set::{left_of_set, of_set};
pub(crate) use standing::{UndoneChangeState, standing, there_again};

/// The most pages and calls that a failure or a warning names.
const MOST_NAMED: usize = 20;

/// A request to take back a write.
#[derive(Debug, Clone)]
pub struct UndoRequest {
    /// The write.
    pub call: CallSelector,
    /// The only client whose writes may be taken back, as authenticated; `None` means anybody's.
    pub owner: Option<Client>,
    /// The session whose last write `last` means, if it wrote; `None` means the newest write on
    /// record.
    pub session: Option<SessionId>,
    /// True if fields that changed since are taken back as well.
    pub force: bool,
    /// The place for a page that is brought back, if not its old one.
    pub path: Option<PagePath>,
    /// True if changes of a set that cannot be taken back are left out, named with the reason.
    pub skips: bool,
}

impl UndoRequest {
    /// The undo of a call, whoever made it, as far as nothing changed since.
    pub fn of(call: CallId) -> Self {
        Self {
            call: call.into(),
            owner: None,
            session: None,
            force: false,
            path: None,
            skips: false,
        }
    }

    /// The call that a refused undo meant, for the record: it may be another client's.
    pub(crate) async fn meant_when_refused(&self, call: WriteCall<'_>) -> Option<CallHistory> {
        match (undone(call, self).await, self.call.named()) {
            (Ok(story), _) => Some(story),
            (Err(_), Some(named)) => call.past.story(&named.into(), None).await.ok(),
            (Err(_), None) => None,
        }
    }

    /// The page that it changes, under the id that it has now.
    async fn page_now(&self, call: WriteCall<'_>) -> Option<i64> {
        let id = undone(call, self).await.ok()?.id?;
        let later = present::later_ids(call.past, id).await.ok()?;
        if later.is_empty() {
            return Some(id);
        }
        present::page(call.past, id).await.ok()??.id
    }
}

impl ChangeSource for UndoRequest {
    fn tell(&self, _: &Wiki, record: &mut EntryBuilder) {
        record.undoes(self.call.named());
    }

    async fn turn(&self, call: WriteCall<'_>) -> TurnOf {
        TurnOf::new(self.page_now(call).await, true)
    }

    /// The warning that it takes back the last write and that this is not the session's own.
    async fn said(&self, call: WriteCall<'_>, set: &ChangeSet) -> Vec<Warning> {
        let session = self.session.as_ref().filter(|_| self.call.is_last());
        let undone = set.batch().undoes.or(set.first().undoes);
        let Some((session, undone)) = session.zip(undone) else {
            return Vec::new();
        };
        if call.memory.own_writes.of(session).await.contains(&undone) {
            return Vec::new();
        }
        let message = format!(
            "this session has no applied write to take back; {undone} is the newest on record, maybe of another session or server."
        );
        vec![Warning::new("not_of_this_session", message)]
    }

    async fn made(&self, call: WriteCall<'_>) -> Made {
        let meant = match meant(call, self).await {
            Ok(meant) => meant,
            Err(failure) => return Err(with_redo(call, self, failure).await.into()),
        };
        let redo = redo_warning(call, self, &meant).await;
        let set = match meant {
            Meant::Set(set) => Box::pin(of_set(call, self, set)).await?,
            Meant::One(story) => {
                let change = change_of(call.past, self, *story).await?;
                ChangeSet::single(call.id, change)
            }
        };
        Ok(checked(set.warned(redo)))
    }

    async fn agrees(&self, call: WriteCall<'_>, shown: &ChangeSet) -> Agreed {
        if shown.is_list() {
            // `last` still means the write that was shown, whatever was written since.
            let agrees = self.call.is_last()
                || matches!(meant(call, self).await?, Meant::Set(set) if shown.batch().undoes == Some(set));
            let set = { shown.batch().undoes }.filter(|_| agrees && self.path.is_none());
            let set = set.ok_or_else(super::mismatch)?;
            // The preview decided whether to use force, and whether to leave changes out.
            let forced = Self {
                force: true,
                ..self.clone()
            };
            let (left, _) = left_of_set(call.past, &forced, set).await?;
            let left: HashSet<CallId> = left.iter().map(|one| one.call).collect();
            let asked: HashSet<CallId> = shown.iter().filter_map(|one| one.undoes).collect();
            // What it leaves out the preview named.
            let named = shown.batch().left_out.iter();
            let named = named.filter(|one| one.why != set::UNKNOWN).count();
            let is_whole = asked.len().saturating_add(named) >= left.len();
            return Ok(asked.is_subset(&left) && is_whole);
        }
        comment::in_time(call.wiki(), shown)?;
        let only = shown.first();
        // `last` still means the write that was shown, whatever was written since.
        let takes_back = if self.call.is_last() {
            only.undoes
        } else {
            Some(undone(call, self).await?.call)
        };
        let place = only.change.after().map(|page| &page.path);
        let is_its_place = self.path.as_ref().is_none_or(|path| place == Some(path));
        let is_own = only.undoes == takes_back && shown.proposal().is_none();
        Ok(is_own && is_its_place)
    }
}

/// Makes the change that takes a write back, from the page as it is now.
pub(crate) async fn change(past: &WriteHistory, undo: &UndoRequest) -> Result<SetChange> {
    let story = past.story(&undo.call, undo.owner.as_ref()).await?;
    change_of(past, undo, story).await
}

/// True if something of a call is on the wiki: it took effect, or one of its steps did before another whose
/// outcome is unknown, such as the move before an update.
fn is_there(story: &CallHistory) -> bool {
    let is_unknown = story.outcome == Some(Outcome::Unknown);
    story.outcome.is_some_and(Outcome::took_effect) || is_unknown && story.last_applied().is_some()
}

/// Checks that a call changed something.
fn check_effect(story: &CallHistory) -> Result<()> {
    let may_be_sent = story.sent.is_some() || story.is_cut || story.has_unreadable;
    match story.outcome {
        _ if is_there(story) => Ok(()),
        Some(Outcome::Unchanged | Outcome::NotApplied) => {
            Err(nothing("That call changed nothing."))
        }
        // A preview, a refusal, a proposal.
        None if !may_be_sent => Err(nothing("Nothing was sent to the wiki for that call.")),
        None if story.is_open => {
            let message = "That write is on record as sent, and its outcome is not known yet.";
            Err(nothing(message).hint("Call again in some seconds: what a server left open when it ended is settled before the next write."))
        }
        _ => Err(nothing(
            "Whether that write was applied is not known; look at the page.",
        )),
    }
}

async fn change_of(
    past: &WriteHistory,
    undo: &UndoRequest,
    story: CallHistory,
) -> Result<SetChange> {
    if let Some(by) = story.undone_by {
        return Err(
            nothing("That write was taken back already.").detail("undoneBy", by.to_string())
        );
    }
    check_effect(&story)?;
    let (before, after) = states_around(past, &story).await?;
    let before = match before {
        Some(before) if comes_back(&before, after.as_ref()) => Some(at_its_place(before, undo)?),
        _ if undo.path.is_some() => return Err(stays()),
        before => before,
    };
    let (gone, now) = as_it_is(past, &story, (before.as_ref(), after.as_ref())).await?;
    let in_part = match (&before, &after, story.id) {
        (Some(before), None, Some(id)) if before.thing.is_none() => {
            Box::pin(present::in_part(past, id)).await?
        }
        _ => None,
    };
    let (after, now) = match in_part {
        // An earlier undo brought the page back without some of it: this one adds the rest.
        Some((left, now)) => (Some(left), Some(now)),
        None => (left_aside(past, &story, after, now.as_ref()).await?, now),
    };
    let states = [before.clone(), after.clone(), now.clone()];
    let undone = Change::undo(before, after, now, undo.force);
    let undone = undone.map_err(|fault| match (fault, gone) {
        (UndoFault::Gone, Some(thing)) => target::failure_of(&thing, WikiError::NotFound),
        (fault, _) => undo_failure(fault, states.clone()),
    })?;
    let [_, left, now] = states;
    let mut warnings = said_of(past, &story, &undone, (left.as_ref(), now.as_ref())).await?;
    if let Some(refused) = story.create_refused() {
        warnings.push(maybe_theirs(refused, now.as_ref(), undo.force)?);
    }
    let change = target::at_its_page(&past.wiki, undone.change).await?;
    // A page whose links were rendered anew where it went is so where it comes back.
    let is_update = |record: &Record| record.step.as_deref() == Some(Operation::Update.as_str());
    let was_written = story.records.iter().any(is_update);
    let change = SetChange::from(change.rendered_anew(was_written));
    Ok(change.undoing(Some(story.call)).warned(warnings))
}

/// The page as a write left it; at its temporary place, if an earlier undo of the write stopped there.
async fn left_aside(
    past: &WriteHistory,
    story: &CallHistory,
    mut left: Option<PageState>,
    now: Option<&PageState>,
) -> Result<Option<PageState>> {
    let Some((now, id)) = now.zip(story.id) else {
        return Ok(left);
    };
    let is_elsewhere = |left: &PageState| {
        left.thing.is_none() && left.locale == now.locale && left.path != now.path
    };
    let Some(mut left) = left.take_if(|left| is_elsewhere(left)) else {
        return Ok(left);
    };
    let stopped = |call: &CallHistory| {
        call.undone_calls().contains(&story.call) && stands_at(call) == Some(&now.path)
    };
    let later = past.audit.calls.of_pages(vec![id], story.sent).await?;
    if later.iter().any(stopped) {
        left.path.clone_from(&now.path);
    }
    Ok(Some(left))
}

/// The comment or asset that a write was of, if not the page itself, and its target as it is now.
async fn as_it_is(
    past: &WriteHistory,
    story: &CallHistory,
    (before, after): (Option<&PageState>, Option<&PageState>),
) -> Result<(Option<Attached>, Option<PageState>)> {
    let comes_anew = before.is_some() && after.is_none();
    let of_thing = after.or(before).filter(|state| state.thing.is_some());
    let now = match (comes_anew, of_thing, story.id) {
        (false, Some(state), _) => present::thing(past, state).await?,
        (false, None, Some(id)) => present::page(past, id).await?,
        _ => None,
    };
    Ok((of_thing.and_then(|state| state.thing.clone()), now))
}

/// A page before and after a write.
pub(super) async fn states_around(
    past: &WriteHistory,
    story: &CallHistory,
) -> Result<(Option<PageState>, Option<PageState>)> {
    let names = names_around(story);
    let [before, promised, found] = past.kept(names, story.key).await?;
    let after = left(story, before.as_ref(), promised, found);
    Ok((before, after))
}

/// The kept states of a write: before it, as it promised, as it was found.
fn names_around(story: &CallHistory) -> [Option<KeptState>; 3] {
    let found = story.last_applied().and_then(|last| last.found);
    [story.before, story.after, found]
}

/// The write that an undo takes back.
enum Meant {
    /// A write of one change.
    One(Box<CallHistory>),
    /// A set of many, each under a call of its own.
    Set(CallId),
}

async fn meant(call: WriteCall<'_>, undo: &UndoRequest) -> Result<Meant> {
    let failure = match undone(call, undo).await {
        Ok(story) => {
            let mut sets = story.records.iter().filter_map(|record| record.set);
            if sets.any(|set| set == story.call) {
                has_ended(call.past, story.call).await?;
                return Ok(Meant::Set(story.call));
            }
            return Ok(Meant::One(Box::new(story)));
        }
        Err(failure) => failure,
    };
    // A set that was cut short has no record of its own.
    let Some(set) = undo.call.named() else {
        return Err(failure);
    };
    let calls = call.past.calls_of_set(set, undo.owner.as_ref()).await?;
    if calls.is_empty() {
        return Err(failure);
    }
    has_ended(call.past, set).await?;
    Ok(Meant::Set(set))
}

/// Checks that nobody is still making the changes of a set.
async fn has_ended(past: &WriteHistory, set: CallId) -> Result<()> {
    if past.is_being_applied(set).await? {
        return Err(nothing("That set is still being applied.")
            .hint("Wait for its end (wikijs_get_change_set tells it), then take it back.")
            .detail("set", set.to_string()));
    }
    Ok(())
}

/// The records of the call that an undo takes back.
async fn undone(call: WriteCall<'_>, undo: &UndoRequest) -> Result<CallHistory> {
    if undo.call.is_last()
        && let Some(story) = own_last(call, undo).await?
    {
        return Ok(story);
    }
    call.past.story(&undo.call, undo.owner.as_ref()).await
}

/// The page as a write left it; `None` if the write deleted it.
fn left(
    story: &CallHistory,
    before: Option<&PageState>,
    promised: Option<PageState>,
    found: Option<PageState>,
) -> Option<PageState> {
    let last = story.last_applied();
    let promised = promised?;
    // A write may have stopped on the way: at the page's temporary place, or after its move.
    let stopped = last.and_then(|last| {
        let is_it = |step: &Operation| last.step.as_deref() == Some(step.as_str());
        let step = [Operation::Aside, Operation::Move]
            .into_iter()
            .find(is_it)?;
        Change::between(before?.clone(), promised.clone())
            .by_way_of(last.aside.clone())
            .after_step(step)
            .map(Cow::into_owned)
    });
    let promised = stopped.unwrap_or(promised);
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

/// True if the write took the page away from its place, so that the undo brings it back there.
fn comes_back(before: &PageState, after: Option<&PageState>) -> bool {
    // What belongs to a page comes back to that page, wherever it is.
    let is_page = before.thing.is_none();
    is_page
        && after.is_none_or(|after| (&before.locale, &before.path) != (&after.locale, &after.path))
}

/// The page, at the place to which it shall come back.
fn at_its_place(before: PageState, undo: &UndoRequest) -> Result<PageState> {
    match &undo.path {
        Some(path) => Ok(PageState {
            path: path.clone(),
            ..before
        }),
        None if before.path.can_be_made() => Ok(before),
        None => {
            let message = "The wiki makes no page at the old path any more.";
            let fault = "must name another place: the wiki makes no page at the old path";
            let hint = "Pass path (on the command line --path) with the place where the page shall come back.";
            Err(bad_argument("path", message, fault).hint(hint))
        }
    }
}

fn stays() -> Failure {
    let message = "Taking this write back brings no page to another place.";
    bad_argument("path", message, "is for a page that was deleted or moved")
        .hint("Leave path out; wikijs_update_page moves a page.")
}
