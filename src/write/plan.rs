//! What a caller wants written.

use crate::audit::Client;
use crate::change::{Change, Edits, NewPage};
use crate::error::{Code, Failure};
use crate::gates::SessionId;
use crate::page::{Date, PageState};

/// Who wants it.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The tool or command.
    pub tool: &'static str,
    /// The client, as it names itself.
    pub client: Client,
    /// Its session, to which previews belong.
    pub session: SessionId,
}

/// What shall be written.
#[derive(Debug, Clone)]
pub enum Plan {
    /// A new page.
    Create(Box<NewPage>),
    /// Fields of a page; none where only an id and a preview's token were given.
    Update {
        /// The page.
        id: i64,
        /// What shall change.
        edits: Option<Box<Edits>>,
        /// The time of the page that the caller knows.
        if_updated_at: Option<Date>,
    },
    /// The end of a page.
    Delete {
        /// The page.
        id: i64,
        /// The time of the page that the caller knows.
        if_updated_at: Option<Date>,
    },
}

impl Plan {
    /// The page that it is about; none for a create.
    #[must_use]
    pub const fn id(&self) -> Option<i64> {
        match self {
            Self::Create(_) => None,
            Self::Update { id, .. } | Self::Delete { id, .. } => Some(*id),
        }
    }

    /// The change that it makes of the page as it is.
    ///
    /// # Errors
    /// `INVALID_INPUT` where nothing is asked for.
    pub(super) fn of(self, before: Option<PageState>) -> Result<Change, Failure> {
        match (self, before) {
            (Self::Create(page), _) => Ok(Change::create(*page)),
            (
                Self::Update {
                    edits: Some(edits), ..
                },
                Some(before),
            ) => Ok(Change::update(before, *edits)),
            (Self::Delete { .. }, Some(before)) => Ok(Change::delete(before)),
            (Self::Update { edits: None, .. }, _) => Err(nothing_asked_for()),
            (_, None) => Err(Failure::new(
                Code::InternalError,
                "A change was made of no page.",
            )),
        }
    }

    /// Whether it asks for the same as a previewed change. A plan that says nothing beside
    /// its page asks for whatever was previewed.
    pub(super) fn agrees_with(&self, previewed: &Change) -> bool {
        let is_same_page = self.id() == previewed.before().and_then(|page| page.id);
        let asked = match self {
            Self::Update { edits: None, .. } => return is_same_page && previewed.after().is_some(),
            plan => plan.clone().of(previewed.before().cloned()),
        };
        is_same_page && asked.is_ok_and(|asked| asked.is_same_write(previewed))
    }

    /// The time of the page that the caller says to know.
    pub(super) const fn if_updated_at(&self) -> Option<&Date> {
        match self {
            Self::Create(_) => None,
            Self::Update { if_updated_at, .. } | Self::Delete { if_updated_at, .. } => {
                if_updated_at.as_ref()
            }
        }
    }

    /// Whether the content of a page that is there shall change.
    pub(super) fn changes_content(&self) -> bool {
        match self {
            Self::Update { edits, .. } => {
                edits.as_ref().is_some_and(|edits| edits.content.is_some())
            }
            Self::Create(_) | Self::Delete { .. } => false,
        }
    }

    /// Whether the wiki may rebuild its tree for it (W19).
    pub(super) fn may_rebuild_tree(&self) -> bool {
        match self {
            Self::Create(_) | Self::Delete { .. } => true,
            Self::Update { edits, .. } => edits
                .as_ref()
                .is_none_or(|edits| edits.path.is_some() || edits.locale.is_some()),
        }
    }
}

fn nothing_asked_for() -> Failure {
    Failure::new(Code::InvalidInput, "Nothing was asked for.")
        .hint("Name at least one field to change; with a preview's token, pass it as confirm.")
}
