//! What a caller wants written.

use std::sync::Arc;

use serde_json::json;

use crate::audit::{Actor, CallSelector, Client, ProposalId};
use crate::change::{Change, Edits, NewContent, NewPage};
use crate::error::{Code, Failure};
use crate::gates::{Narrowing, SessionId};
use crate::page::{Date, Field, PagePath, PageState, Trash};

use super::asker::Asker;
use super::faults;
use super::reads::Concerns;

/// Who wants it.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The tool or command.
    pub tool: &'static str,
    /// The client, as it names itself.
    pub client: Client,
    /// Who acts, where that is no client: the user of the machine who runs a command.
    pub actor: Option<Actor>,
    /// Its session, to which previews belong.
    pub session: SessionId,
    /// How the person behind it is asked.
    pub asker: Asker,
    /// What it may do less than the server, if it is a named client.
    pub narrowing: Option<Arc<Narrowing>>,
    /// How much of a change it is shown.
    pub extent: Extent,
}

/// How much of a change a caller is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    /// As much as an answer holds.
    #[default]
    Bounded,
    /// All of it: a person at a terminal says yes to no more than that.
    Whole,
}

/// What shall be written.
#[derive(Debug, Clone)]
pub enum Plan {
    /// A new page.
    Create(Box<NewPage>),
    /// Fields of a page.
    Update(Update),
    /// The end of a page.
    Delete {
        /// The page.
        id: i64,
        /// Whether it goes to the trash instead; none where only an id and a preview's token
        /// were given.
        trash: Option<bool>,
        /// The time of the page that the caller knows.
        if_updated_at: Option<Date>,
    },
    /// A write is taken back.
    Undo(Undo),
    /// A proposal is applied.
    Proposal(Apply),
}

/// What shall change of a page.
#[derive(Debug, Clone)]
pub struct Update {
    /// The page.
    pub id: i64,
    /// The fields; none where only an id and a preview's token were given.
    pub edits: Option<Box<Edits>>,
    /// The version whose content comes back, and whose title and description where the edits
    /// have none.
    pub from_version: Option<i64>,
    /// The fields that may be lost where the key cannot read them.
    pub accept_loss: Vec<Field>,
    /// The time of the page that the caller knows.
    pub if_updated_at: Option<Date>,
}

/// Which write shall be taken back.
#[derive(Debug, Clone)]
pub struct Undo {
    /// The write.
    pub call: CallSelector,
    /// Whose writes alone it may be, as authenticated; anybody's where there is none.
    pub owner: Option<Client>,
    /// Whose own last write `last` means, if it has one; none means the newest on record.
    pub session: Option<SessionId>,
    /// Whether fields that changed since go back all the same.
    pub force: bool,
    /// Where the page comes back, if not where it was.
    pub path: Option<PagePath>,
}

/// Which proposal shall be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apply {
    /// The proposal.
    pub id: ProposalId,
    /// Whether it is made on top of what was changed since, where the two do not touch.
    pub merge: bool,
}

impl Plan {
    /// The page that it is about; none for a create.
    #[must_use]
    pub const fn id(&self) -> Option<i64> {
        match self {
            Self::Create(_) | Self::Undo(_) | Self::Proposal(_) => None,
            Self::Update(Update { id, .. }) | Self::Delete { id, .. } => Some(*id),
        }
    }

    /// The proposal that it applies.
    pub(super) const fn proposal(&self) -> Option<ProposalId> {
        match self {
            Self::Proposal(apply) => Some(apply.id),
            Self::Create(_) | Self::Update(_) | Self::Delete { .. } | Self::Undo(_) => None,
        }
    }

    /// The undo of whichever write is the last, if it is one.
    pub(super) fn undo_of_last(&self) -> Option<Undo> {
        match self {
            Self::Undo(undo) if undo.call.is_last() => Some(undo.clone()),
            _ => None,
        }
    }

    /// The fields that may be lost where the key cannot read them.
    pub(super) fn accept_loss(&self) -> &[Field] {
        match self {
            Self::Update(update) => &update.accept_loss,
            Self::Create(_) | Self::Delete { .. } | Self::Undo(_) | Self::Proposal(_) => &[],
        }
    }

    /// The change that it makes of the page as it is.
    ///
    /// # Errors
    /// `INVALID_INPUT` where nothing is asked for, or why the content cannot become so.
    pub(super) fn of(
        self,
        before: Option<PageState>,
        trash: Option<&Trash>,
    ) -> Result<Change, Failure> {
        match (self, before) {
            (Self::Create(page), _) => Ok(Change::create(*page)),
            (Self::Update(update), Some(before)) => {
                let edits = *update.edits.ok_or_else(nothing_asked_for)?;
                let sought = edits
                    .section()
                    .map(|selector| (selector.clone(), before.content.clone()));
                Change::update(before, edits).map_err(|fault| {
                    let sought = sought.as_ref().map(|(selector, text)| (selector, &**text));
                    faults::told(fault, sought)
                })
            }
            (
                Self::Delete {
                    trash: Some(true), ..
                },
                Some(before),
            ) => {
                if trash.is_some_and(|trash| trash.holds(&before.path)) {
                    return Err(in_trash());
                }
                let place = trash.and_then(|trash| trash.place(&before));
                Ok(Change::trash(before, place.ok_or_else(no_trash)?))
            }
            (Self::Delete { .. }, Some(before)) => Ok(Change::delete(before)),
            (Self::Undo(_) | Self::Proposal(_), _) | (_, None) => Err(Failure::new(
                Code::InternalError,
                "A change was made of no page.",
            )),
        }
    }

    /// Whether it asks for the same as a previewed change. A plan that says nothing beside
    /// its page asks for whatever was previewed.
    pub(super) fn agrees_with(&self, previewed: &Change, trash: Option<&Trash>) -> bool {
        let is_same_page = self.id() == previewed.before().and_then(|page| page.id);
        let asked = match self {
            Self::Update(Update { edits: None, .. }) => {
                return is_same_page && previewed.after().is_some();
            }
            // The token was given for a page that goes either way.
            Self::Delete {
                id, trash: None, ..
            } if previewed.after().is_some() => Self::Delete {
                id: *id,
                trash: Some(true),
                if_updated_at: None,
            }
            .of(previewed.before().cloned(), trash),
            // Which write it takes back, or which proposal it is, was compared with what was
            // previewed.
            Self::Undo(Undo { path, .. }) => {
                let place = previewed.after().map(|page| &page.path);
                return path.as_ref().is_none_or(|path| place == Some(path));
            }
            Self::Proposal(_) => return true,
            plan => plan.clone().of(previewed.before().cloned(), trash),
        };
        // A loss that was accepted then need not be named again, but no other one.
        let asked = asked.map(|asked| match self.accept_loss() {
            [] => asked.with_loss_of(previewed.lost().to_vec()),
            named => asked.with_loss_of(
                previewed
                    .lost()
                    .iter()
                    .copied()
                    .filter(|lost| named.contains(lost))
                    .collect(),
            ),
        });
        is_same_page && asked.is_ok_and(|asked| asked.is_same_write(previewed))
    }

    /// The time of the page that the caller says to know.
    pub(super) const fn if_updated_at(&self) -> Option<&Date> {
        match self {
            Self::Create(_) | Self::Undo(_) | Self::Proposal(_) => None,
            Self::Update(Update { if_updated_at, .. }) | Self::Delete { if_updated_at, .. } => {
                if_updated_at.as_ref()
            }
        }
    }

    /// Whether it says all of the content that the page shall have.
    pub(super) fn says_whole_content(&self) -> bool {
        match self {
            Self::Create(_) => true,
            Self::Update(update) => update
                .edits
                .as_ref()
                .is_some_and(|edits| matches!(edits.content, Some(NewContent::Whole(_)))),
            Self::Delete { .. } | Self::Undo(_) | Self::Proposal(_) => false,
        }
    }

    /// Whether it says what the styles of a page that is there shall be.
    pub(super) fn says_styles(&self) -> bool {
        match self {
            Self::Update(update) => update
                .edits
                .as_ref()
                .is_some_and(|edits| edits.script_css.is_some()),
            Self::Create(_) | Self::Delete { .. } | Self::Undo(_) | Self::Proposal(_) => false,
        }
    }

    /// What of a page's content shall change; nothing where none of it does.
    pub(super) fn concerns(&self) -> Option<Concerns> {
        let Self::Update(update) = self else {
            return None;
        };
        Some(match update.edits.as_ref()?.content.as_ref()? {
            NewContent::Whole(_) => Concerns::Whole,
            NewContent::Section { selector, .. } => Concerns::Part(selector.to_string()),
            NewContent::Edits(_) | NewContent::Patch(_) => Concerns::Places,
        })
    }

    /// Whether the wiki may rebuild its tree for it (W19).
    pub(super) fn may_rebuild_tree(&self) -> bool {
        match self {
            Self::Create(_) | Self::Delete { .. } | Self::Undo(_) | Self::Proposal(_) => true,
            Self::Update(update) => update
                .edits
                .as_ref()
                .is_none_or(|edits| edits.path.is_some() || edits.locale.is_some()),
        }
    }
}

fn in_trash() -> Failure {
    Failure::new(Code::InvalidInput, "The page lies in the trash already.")
        .hint("wikijs_delete_page without trash deletes it.")
}

fn no_trash() -> Failure {
    let fault = "needs a place to move pages to, which the setting WIKI_TRASH_PREFIX names";
    Failure::new(Code::InvalidInput, format!("The argument trash {fault}."))
        .detail("fields", json!([{ "path": "trash" }]))
        .hint("Ask the operator to set WIKI_TRASH_PREFIX, or leave trash out to delete the page.")
}

fn nothing_asked_for() -> Failure {
    Failure::new(Code::InvalidInput, "Nothing was asked for.")
        .hint("Name at least one field to change; with a preview's token, pass it as confirm.")
}
