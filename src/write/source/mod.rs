//! What makes the changes of a set: one file for each kind of write, and one entry in [`Plan`].

mod bulk;
pub(super) mod conflict;
mod copy;
mod create;
mod delete;
pub(super) mod draft;
mod mending;
mod order;
pub(super) mod proposal;
pub(super) mod undo;
mod undo_client;
mod update;
pub(super) mod whole_page;

use std::pin::Pin;

use crate::audit::{CallId, Draft, ProposalId};
use crate::change::{Change, NewPage, Warning, merge_pages};
use crate::error::{Code, Failure};
use crate::gates::{ChangeSet, Policy, SessionId};
use crate::page::{PagePlace, PageState};

use super::desk::Desk;
use super::docket::Docket;
use conflict::{ConflictCheck, Stopped};

pub use bulk::{Bulk, LinksTo, MAX_PAGES, Which};
pub use copy::{Copy, Said};
pub use delete::Delete;
pub use draft::{Drafting, Submit};
pub use proposal::Apply;
pub use undo::Undo;
pub use undo_client::UndoClient;
pub use update::Update;

/// What shall be written.
#[derive(Debug, Clone)]
pub enum Plan {
    /// A new page.
    Create(Box<NewPage>),
    /// A new page that takes over much of another one.
    Copy(Box<Copy>),
    /// Fields of a page.
    Update(Update),
    /// The end of a page.
    Delete(Delete),
    /// A write is taken back.
    Undo(Undo),
    /// All that a client wrote since some time is taken back.
    UndoClient(UndoClient),
    /// A proposal is applied.
    Proposal(Apply),
    /// Many pages are edited in the same way.
    Bulk(Box<Bulk>),
    /// One of the above joins a draft.
    Draft(Drafting),
    /// A draft is written.
    Submit(Submit),
}

impl Plan {
    /// What makes its changes.
    pub(super) fn source(&self) -> &dyn Source {
        match self {
            Self::Create(source) => &**source,
            Self::Copy(source) => &**source,
            Self::Update(source) => source,
            Self::Delete(source) => source,
            Self::Undo(source) => source,
            Self::UndoClient(source) => source,
            Self::Proposal(source) => source,
            Self::Bulk(source) => &**source,
            Self::Draft(source) => source,
            Self::Submit(source) => source,
        }
    }
}

/// What comes later.
pub(super) type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The call that wants changes made.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) desk: &'a Desk,
    /// The policy as it holds for the caller.
    pub(super) policy: &'a Policy,
    pub(super) session: &'a SessionId,
    pub(super) id: CallId,
    pub(super) under: Under<'a>,
}

/// What changes of pages build on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Under<'a> {
    /// The pages as they are.
    Wiki,
    /// What the session left open of them.
    OpenSets,
    /// What a draft makes of them.
    Draft(&'a Draft),
}

impl Call<'_> {
    /// What a change of this page is made of, where that is not the page as it is.
    async fn base(&self, page: &PageState) -> Result<Option<PageState>, Failure> {
        let Some(id) = page.id else { return Ok(None) };
        match self.under {
            Under::Wiki => Ok(None),
            Under::OpenSets => {
                let open = self.desk.proposals.open_change(self.session, id).await;
                let is_of = |change: &Change| {
                    let before = change.before();
                    before.is_some_and(|before| before.difference(page).is_empty())
                };
                let open = open.filter(|open| is_of(open));
                Ok(open.and_then(|open| open.after().cloned()))
            }
            Under::Draft(draft) => {
                let Some(one) = draft.of_page(id) else {
                    return Ok(None);
                };
                let after = one.after.as_ref().ok_or_else(draft::deleted)?;
                let Some(before) = &one.before else {
                    return Ok(None);
                };
                if before.difference(page).is_empty() {
                    return Ok(Some(after.clone()));
                }
                let merged = merge_pages(before, after, page);
                let meanwhile = || Change::between(before.clone(), page.clone());
                merged.map(Some).ok_or_else(|| draft::changed(&meanwhile()))
            }
        }
    }

    /// Whether what is made joins a draft.
    const fn drafts(&self) -> bool {
        matches!(self.under, Under::Draft(_))
    }
}

/// What other changes than those of a set make of places: those of the draft that it joins.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Places that come free.
    pub(super) freed: Vec<PagePlace>,
    /// Places at which pages come to be.
    pub(super) made: Vec<PagePlace>,
}

/// The changes, and what they were held against.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) set: ChangeSet,
    pub(super) conflict: ConflictCheck,
    pub(super) beside: Beside,
}

impl Read {
    fn of(set: ChangeSet, conflict: ConflictCheck) -> Self {
        Self {
            set,
            conflict,
            beside: Beside::default(),
        }
    }
}

/// What makes the changes of a set.
pub(super) trait Source: Sync {
    /// Says on record what is known of the write before anything is read of the wiki.
    fn tell<'a>(&'a self, desk: &'a Desk, docket: &'a mut Docket) -> Later<'a, ()>;

    /// Says on record what a write that was refused was about, where nothing is known of that yet.
    fn tell_refused<'a>(&'a self, _: &'a Desk, _: &'a mut Docket) -> Later<'a, ()> {
        Box::pin(async {})
    }

    /// The page whose turn it takes, as far as that is known before the page is read.
    fn page_of_turn<'a>(&'a self, _: &'a Desk) -> Later<'a, Option<i64>> {
        Box::pin(async { None })
    }

    /// Whether it takes one turn for all that it does, before anything is read; else each of its
    /// changes takes its own.
    fn has_turn(&self) -> bool {
        true
    }

    /// Whether the wiki may rebuild its tree for it (W19).
    fn rebuilds_tree(&self) -> bool {
        true
    }

    /// The proposal that it applies.
    fn proposal(&self) -> Option<ProposalId> {
        None
    }

    /// The draft that it joins.
    fn joins(&self) -> Option<&Drafting> {
        None
    }

    /// Whether it says all of the content that the page shall have.
    fn says_whole_content(&self) -> bool {
        false
    }

    /// What has to be said of the set that it makes.
    fn said(&self, _: &Desk, _: &ChangeSet) -> Option<Warning> {
        None
    }

    /// Makes the changes of the pages as they are now, if those still are the pages that the
    /// caller knows.
    fn made<'a>(&'a self, call: Call<'a>) -> Later<'a, Result<Read, Stopped>>;

    /// Makes those that were shown before once more, if it agrees with them and the pages still
    /// are as they were shown.
    fn shown_again<'a>(
        &'a self,
        call: Call<'a>,
        shown: ChangeSet,
    ) -> Later<'a, Result<Read, Stopped>>;
}

/// Changes of pages that the caller knows as they are.
fn checked(set: ChangeSet) -> Read {
    Read::of(set, ConflictCheck::Checked)
}

/// Whether a call agrees with what was shown; the set is then made once more of the page as it is,
/// if that is as it was shown. `look` looks at the page, too.
async fn again(
    call: Call<'_>,
    shown: ChangeSet,
    agrees: bool,
    look: impl AsyncFnOnce(&whole_page::ToWrite) -> Result<(), Stopped>,
) -> Result<Read, Stopped> {
    if !agrees {
        return Err(mismatch().into());
    }
    let change = &shown.first().change;
    let Some((before, id)) = change.before().and_then(|page| Some((page, page.id?))) else {
        return Ok(checked(shown));
    };
    let read = whole_page::to_write(&call.desk.wiki, id, change.lost()).await?;
    if read.lost != change.lost() || !before.difference(&read.page).is_empty() {
        let next = if shown.proposal().is_some() || shown.first().undoes.is_some() {
            "Look at details.changes. For a new preview, repeat the call that gave this one, without confirm."
        } else {
            "Look at details.changes. For a new preview, repeat the call that gave this one: all its arguments, with ifUpdatedAt from details.updatedAt, without confirm."
        };
        return Err(conflict::since_shown(before.clone(), read.page, next).into());
    }
    look(&read).await?;
    Ok(checked(shown.on(read.page)))
}

pub(super) fn mismatch() -> Failure {
    Failure::new(
        Code::ConfirmMismatch,
        "This call asks for something else than the preview that the token was given for.",
    )
}

/// The page of what was shown, as it was.
fn page_shown(shown: &ChangeSet) -> Option<&PageState> {
    shown.first().change.before()
}
