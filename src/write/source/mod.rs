//! The kinds of writes: each is a file that makes the changes of its set, and an entry in [`WriteRequest`].

mod asset;
mod bulk;
mod comment;
pub(super) mod conflict;
mod copy;
mod create;
mod delete;
pub(super) mod draft;
mod free_places;
mod mending;
mod order;
mod present;
pub(super) mod proposal;
mod push;
pub(in crate::write) mod swap;
pub(in crate::write) mod target;
pub(super) mod undo;
mod undo_client;
mod update;
pub(super) mod whole_page;

use std::pin::Pin;

use crate::audit::{CallId, Draft, ProposalId};
use crate::change::{Change, NewPage, Warning, merge_pages};
use crate::error::{Code, Failure};
use crate::gates::{ChangeSet, Policy, SessionId};
use crate::page::PageState;
use crate::wiki::aside;

use super::audit_entry::EntryBuilder;
use super::context::WriteContext;
use conflict::{ConflictCheck, Stopped};

pub use asset::{AssetWrite, ToAsset};
pub use bulk::{Bulk, LinksTo, MAX_PAGES, PageSelection};
pub use comment::{CommentWrite, ToComment};
pub use copy::{Copy, CopyFields};
pub use delete::Delete;
pub use draft::{Drafting, Submit};
pub use proposal::Apply;
pub use push::Push;
pub(crate) use target::no_asset;
pub use undo::UndoRequest;
pub use undo_client::UndoClient;
pub use update::Update;

/// A write that a caller asks for.
#[derive(Debug, Clone)]
pub enum WriteRequest {
    /// A new page.
    Create(Box<NewPage>),
    /// A new page as a copy of another one.
    Copy(Box<Copy>),
    /// Fields of a page.
    Update(Update),
    /// The delete of a page.
    Delete(Delete),
    /// The undo of a write.
    Undo(UndoRequest),
    /// The undo of all that a client wrote since some time.
    UndoClient(UndoClient),
    /// The application of a proposal.
    Proposal(Apply),
    /// The same edit of many pages.
    Bulk(Box<Bulk>),
    /// One of the above, to join a draft.
    Draft(Drafting),
    /// The submission of a draft.
    Submit(Submit),
    /// Changes that were made in files.
    Push(Push),
    /// A comment.
    Comment(CommentWrite),
    /// An asset.
    Asset(AssetWrite),
}

impl WriteRequest {
    pub(super) fn source(&self) -> &dyn ChangeSource {
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
            Self::Push(source) => source,
            Self::Comment(source) => source,
            Self::Asset(source) => source,
        }
    }
}

/// A boxed future, since the trait must be object-safe.
pub(super) type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The call for which changes are made.
#[derive(Clone, Copy)]
pub(super) struct WriteCall<'a> {
    pub(super) desk: &'a WriteContext,
    /// The policy for the caller.
    pub(super) policy: &'a Policy,
    pub(super) session: &'a SessionId,
    pub(super) id: CallId,
    pub(super) under: Under<'a>,
}

/// The states of pages that changes build on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Under<'a> {
    /// The pages as they are.
    Wiki,
    /// The session's open proposals.
    OpenSets,
    /// A draft's changes.
    Draft(&'a Draft),
}

impl WriteCall<'_> {
    /// The base of a change of this page, if that is not the page as it is.
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
                let bytes = page.content.len();
                let merged = aside(bytes, || merge_pages(before, after, page));
                let meanwhile = || Change::between(before.clone(), page.clone());
                merged.map(Some).ok_or_else(|| draft::changed(&meanwhile()))
            }
        }
    }

    /// True if the changes join a draft.
    const fn drafts(&self) -> bool {
        matches!(self.under, Under::Draft(_))
    }
}

/// The draft that a change joins, by which its warnings are judged.
#[derive(Debug, Default)]
pub(super) struct DraftContext {
    /// The other changes of the draft.
    pub(super) changes: Vec<Change>,
    /// True if the links to the page of this change are mended when the draft is submitted.
    pub(super) mends_links: bool,
    /// True if a later change may still free the place that a page moves to: a draft is held to
    /// this as a whole, when it is submitted.
    pub(super) may_come_free: bool,
}

/// The changes, and with which states they were compared.
#[derive(Debug)]
pub(super) struct ComparedSet {
    pub(super) set: ChangeSet,
    pub(super) conflict: ConflictCheck,
    pub(super) beside: DraftContext,
}

impl ComparedSet {
    fn of(set: ChangeSet, conflict: ConflictCheck) -> Self {
        Self {
            set,
            conflict,
            beside: DraftContext::default(),
        }
    }
}

/// The maker of a set's changes.
pub(super) trait ChangeSource: Sync {
    /// Adds to the record what is known of the write before the wiki is read.
    fn tell<'a>(&'a self, desk: &'a WriteContext, docket: &'a mut EntryBuilder) -> Later<'a, ()>;

    /// Adds to a refusal's record what the write was about, if nothing is known of that yet.
    fn tell_refused<'a>(&'a self, _: &'a WriteContext, _: &'a mut EntryBuilder) -> Later<'a, ()> {
        Box::pin(async {})
    }

    /// The page whose turn it takes, if known before the page is read.
    fn page_of_turn<'a>(&'a self, _: &'a WriteContext) -> Later<'a, Option<i64>> {
        Box::pin(async { None })
    }

    /// True if it takes one turn before anything is read; otherwise each of its changes takes its
    /// own.
    fn has_turn(&self) -> bool {
        true
    }

    /// True if the wiki may rebuild its tree for it (W19).
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

    /// True if it gives the page's new content in full.
    fn says_whole_content(&self) -> bool {
        false
    }

    /// A warning about the set that it makes, if there is one.
    fn said(&self, _: &WriteContext, _: &ChangeSet) -> Option<Warning> {
        None
    }

    /// Makes the changes from the pages as they are now, if the caller knows these states.
    fn made<'a>(&'a self, call: WriteCall<'a>) -> Later<'a, Result<ComparedSet, Stopped>>;

    /// Makes the shown changes again, if the call agrees with them and the pages are still as they
    /// were shown.
    fn shown_again<'a>(
        &'a self,
        call: WriteCall<'a>,
        shown: ChangeSet,
    ) -> Later<'a, Result<ComparedSet, Stopped>>;
}

/// Changes of pages whose present states the caller knows.
fn checked(set: ChangeSet) -> ComparedSet {
    ComparedSet::of(set, ConflictCheck::Checked)
}

/// Makes a shown set again from the page as it is, if the call agrees with the set and the page is
/// as it was shown. `look` checks the page, too.
async fn again(
    call: WriteCall<'_>,
    shown: ChangeSet,
    agrees: bool,
    look: impl AsyncFnOnce(&whole_page::ToWrite) -> Result<(), Stopped>,
) -> Result<ComparedSet, Stopped> {
    if !agrees {
        return Err(mismatch().into());
    }
    let shown = target::set_at_its_page(&call.desk.wiki, shown).await?;
    let change = &shown.first().change;
    let Some(before) = change.before().filter(|page| page.is_there()) else {
        return Ok(checked(shown));
    };
    let read = target::as_now(&call.desk.wiki, before, change.lost()).await?;
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

/// The tags of each page of a set, as it is.
fn tags_of(set: &ChangeSet) -> Vec<&[String]> {
    let pages = set.iter().filter_map(|one| one.change.before());
    pages.map(|page| &*page.tags).collect()
}

/// The page of a shown set, as it was shown.
fn page_shown(shown: &ChangeSet) -> Option<&PageState> {
    shown.first().change.before()
}
