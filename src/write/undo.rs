//! Taking a write back, from what the audit log kept of it.

use serde_json::json;

use crate::audit::{CallSelector, CallStory, Client, Outcome, StoryError};
use crate::change::{Change, StepKind, UndoFault};
use crate::error::{Code, Failure};
use crate::gates::Proposed;
use crate::page::{Field, PageState};
use crate::wiki::WikiError;

use super::docket::{Docket, unavailable};
use super::faults::with_difference;
use super::plan::Undo;
use super::writer::Writer;

impl Writer {
    /// Makes the change that takes a write back, of the page as it is now.
    pub(super) async fn undo(&self, undo: &Undo) -> Result<Proposed, Failure> {
        // What an earlier run left open may be the very write that is meant.
        self.recovered().await;
        let story = self.undone(undo).await?;
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
        let found = story.last_applied().and_then(|last| last.found);
        let names = [story.before(), story.after(), found];
        let [before, promised, found] = self.kept(names, story.key()).await?;
        let after = left(&story, before.as_ref(), promised, found);
        let before = match before {
            Some(before) if comes_back(&before, after.as_ref()) => {
                Some(at_its_place(before, undo)?)
            }
            _ if undo.path.is_some() => return Err(stays()),
            before => before,
        };
        let now = match (before.is_some() && after.is_none(), story.id()) {
            (false, Some(id)) => self.page_now(id).await?,
            _ => None,
        };
        let change = Change::undo(before, after.clone(), now.clone(), undo.force)
            .map_err(|fault| told(fault, after, now))?;
        Ok(Proposed {
            change,
            undoes: Some(story.call),
            proposal: None,
        })
    }

    /// Finds the call that a refused undo meant, for the record alone: it may be another's.
    pub(super) async fn find_meant(&self, docket: &mut Docket, undo: &Undo) {
        let story = match (self.undone(undo).await, undo.call.named()) {
            (Ok(story), _) => Some(story),
            (Err(_), Some(call)) => self.story(&call.into(), None).await.ok(),
            (Err(_), None) => None,
        };
        if let Some(story) = story {
            docket.meant(&story);
        }
    }

    /// The page that the write was about, as far as is known.
    pub(super) async fn page_of(&self, undo: &Undo) -> Option<i64> {
        self.undone(undo).await.ok()?.id()
    }

    /// What is on record of the call that an undo means.
    pub(super) async fn undone(&self, undo: &Undo) -> Result<CallStory, Failure> {
        if undo.call.is_last()
            && let Some(story) = self.own_last(undo).await
        {
            return Ok(story);
        }
        self.story(&undo.call, undo.owner.as_ref()).await
    }

    /// What is on record of a call, if it is this client's.
    ///
    /// # Errors
    /// `NOTHING_TO_UNDO` if there is none, or several begin like that; `AUDIT_UNAVAILABLE`.
    pub async fn story(
        &self,
        call: &CallSelector,
        owner: Option<&Client>,
    ) -> Result<CallStory, Failure> {
        let found = self.audit.story_for(owner, call).await;
        found.map_err(|error| match error {
            StoryError::NotFound => nothing("No write of that call is on record."),
            StoryError::NoneLeft => {
                nothing("No applied write is on record that was not taken back.")
            }
            StoryError::Ambiguous { candidates, .. } => {
                let candidates: Vec<String> = candidates.iter().map(ToString::to_string).collect();
                nothing("Several calls begin like that.").detail("candidates", candidates)
            }
            StoryError::Audit(error) => unavailable(&error),
        })
    }

    async fn page_now(&self, id: i64) -> Result<Option<PageState>, Failure> {
        match self.whole_page(id).await {
            Ok(page) => Ok(Some(page)),
            Err(failure) if failure.code == Code::PageNotFound => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

/// The page as a write left it; none where the write was its end.
fn left(
    story: &CallStory,
    before: Option<&PageState>,
    promised: Option<PageState>,
    found: Option<PageState>,
) -> Option<PageState> {
    let last = story.last_applied();
    let is_move = last.is_some_and(|last| last.step.as_deref() == Some(StepKind::Move.as_str()));
    let promised = promised?;
    // A write may have stopped when the page was moved.
    let promised = match before {
        Some(before) if is_move => Change::between(before.clone(), promised.clone())
            .after_step(StepKind::Move)
            .unwrap_or(promised),
        _ => promised,
    };
    // Where the page was found otherwise than promised, that is what the write left: in
    // the fields that it was to change. The others were somebody else's. One that stood
    // elsewhere than a create was to put it was none of its making.
    let is_its = |found: &PageState| {
        before.is_some() || (found.locale == promised.locale && found.path == promised.path)
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

/// Whether the write took the page away from its place, so that taking it back brings it there.
fn comes_back(before: &PageState, after: Option<&PageState>) -> bool {
    after.is_none_or(|after| (&before.locale, &before.path) != (&after.locale, &after.path))
}

/// The page at the place where it shall come back.
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

fn nothing(message: &str) -> Failure {
    Failure::new(Code::NothingToUndo, message)
}

fn told(fault: UndoFault, left: Option<PageState>, now: Option<PageState>) -> Failure {
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
            // Of what differs, only the fields that would go back.
            failure.detail("fields", names)
        }
    }
}
