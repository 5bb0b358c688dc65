//! The kinds of writes: each is a file that makes the changes of its set, and an entry in [`WriteRequest`].

mod asset;
mod bulk;
mod comment;
pub(super) mod conflict;
mod create;
mod delete;
pub(crate) mod digest;
pub(super) mod draft;
mod mending;
mod order;
pub(crate) mod present;
pub(super) mod proposal;
mod push;
mod restore;
mod restore_part;
pub(crate) mod swap;
pub(crate) mod target;
pub(super) mod undo;
mod undo_client;
mod update;
pub(super) mod whole_page;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::audit::{CallId, Draft, HeldProposal, ProposalId};
use crate::change::{Change, Warning, merge_pages};
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, Policy, SessionId, TurnOf};
use crate::index::ContentIndex;
use crate::page::PageState;
use crate::wiki::{Wiki, aside};

use super::memory::SessionMemory;
use crate::write::{EntryBuilder, Proposals, WriteHistory};
use conflict::{ConflictCheck, Stopped};

pub use asset::{AssetWrite, ToAsset};
pub use bulk::{Bulk, LinksTo, MAX_PAGES, PageSelection};
pub use comment::{CommentWrite, ToComment};
pub use create::{Copy, CopyFields};
pub use delete::Delete;
pub use draft::{Drafting, Submit};
pub use proposal::{Apply, values::unfit_field};
pub use push::Push;
pub use restore::PageRestore;
pub use restore_part::RestorePart;
pub use target::no_asset;
pub use undo::UndoRequest;
pub use undo_client::UndoClient;
pub use update::{FormerState, Update};

/// A write that a caller asks for.
#[derive(Debug, Clone)]
pub enum WriteRequest {
    /// A new page.
    Create(Box<PageState>),
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
    /// A page that somebody deleted, as it was seen last.
    Restore(Box<PageRestore>),
    /// A part of the wiki as it was.
    RestorePart(RestorePart),
    /// A comment.
    Comment(CommentWrite),
    /// An asset.
    Asset(AssetWrite),
}

/// Does the same with the source of each kind of request.
macro_rules! with_source {
    ($request:expr, $source:ident => $done:expr) => {
        match $request {
            WriteRequest::Create($source) => $done,
            WriteRequest::Copy($source) => $done,
            WriteRequest::Update($source) => $done,
            WriteRequest::Delete($source) => $done,
            WriteRequest::Undo($source) => $done,
            WriteRequest::UndoClient($source) => $done,
            WriteRequest::Proposal($source) => $done,
            WriteRequest::Bulk($source) => $done,
            WriteRequest::Draft($source) => $done,
            WriteRequest::Submit($source) => $done,
            WriteRequest::Push($source) => $done,
            WriteRequest::Restore($source) => $done,
            WriteRequest::RestorePart($source) => $done,
            WriteRequest::Comment($source) => $done,
            WriteRequest::Asset($source) => $done,
        }
    };
}

impl WriteRequest {
    /// Adds to the record what is known of the write before the wiki is read.
    pub(super) fn tell(&self, wiki: &Wiki, entry: &mut EntryBuilder) {
        with_source!(self, source => source.tell(wiki, entry));
    }

    /// The turn that it takes before anything is read.
    pub(super) async fn turn(&self, call: WriteCall<'_>) -> TurnOf {
        with_source!(self, source => source.turn(call).await)
    }

    /// The proposal that it applies.
    pub(super) const fn proposal(&self) -> Option<ProposalId> {
        match self {
            Self::Proposal(apply) => Some(apply.id),
            _ => None,
        }
    }

    /// The draft that it joins.
    pub(super) const fn joins(&self) -> Option<&Drafting> {
        match self {
            Self::Draft(drafting) => Some(drafting),
            _ => None,
        }
    }

    /// True if it goes by recorded writes, which earlier runs may have left open.
    pub(super) const fn reads_record(&self) -> bool {
        matches!(
            self,
            Self::Undo(_) | Self::UndoClient(_) | Self::Proposal(_)
        )
    }

    /// True if it gives the page's new content in full.
    pub(super) fn says_whole_content(&self) -> bool {
        with_source!(self, source => source.says_whole_content())
    }

    /// The warnings about the set that it makes.
    pub(super) async fn said(&self, call: WriteCall<'_>, set: &ChangeSet) -> Vec<Warning> {
        with_source!(self, source => Box::pin(source.said(call, set)).await)
    }

    /// Makes the changes from the pages as they are now, if the caller knows these states. The future
    /// is boxed, since a draft's request has another request in it.
    pub(super) fn made<'a>(&'a self, call: WriteCall<'a>) -> BoxFuture<'a, Made> {
        with_source!(self, source => Box::pin(source.made(call)))
    }

    /// Makes a shown set again from the pages as they are, if the call agrees with the set and each
    /// page is as it was shown.
    pub(super) async fn shown_again(&self, call: WriteCall<'_>, shown: ChangeSet) -> Made {
        if !with_source!(self, source => Box::pin(source.agrees(call, &shown)).await)? {
            return Err(mismatch().into());
        }
        if shown.is_list() {
            return bulk::still_so(call.wiki(), shown).await;
        }
        let change = shown.first().change.clone();
        let shown = shown.with_first(target::at_its_page(call.wiki(), change).await?);
        let change = &shown.first().change;
        let Some(before) = change.before().filter(|page| page.is_there()) else {
            return Ok(checked(shown));
        };
        let read = target::as_now(call.wiki(), before, change.lost()).await?;
        if read.lost != change.lost() || !before.difference(&read.page).is_empty() {
            // Tools for comments and assets take no date.
            let takes_date = before.thing.is_none()
                && shown.proposal().is_none()
                && shown.first().undoes.is_none();
            let next = if takes_date {
                "Look at details.changes. For a new preview, repeat the call that gave this one: all its arguments, with ifUpdatedAt from details.updatedAt, without confirm."
            } else {
                "Look at details.changes. For a new preview, repeat the call that gave this one, without confirm."
            };
            return Err(conflict::since_shown(before.clone(), read.page, next).into());
        }
        with_source!(self, source => Box::pin(source.look_again(call, &read)).await)?;
        Ok(checked(shown.on(read.page)))
    }
}

/// The call for which changes are made, and what they are made from.
#[derive(Clone, Copy)]
pub(crate) struct WriteCall<'a> {
    pub(super) past: &'a WriteHistory,
    pub(super) proposals: &'a Proposals,
    pub(super) index: &'a Arc<ContentIndex>,
    pub(super) memory: &'a SessionMemory,
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
    /// The pages as they are; this proposal is held while it is applied.
    Held(&'a HeldProposal),
}

impl<'a> WriteCall<'a> {
    pub(super) const fn wiki(self) -> &'a Arc<Wiki> {
        &self.past.wiki
    }

    /// The base of a change of this page, if that is not the page as it is.
    async fn base(self, page: &PageState) -> Result<Option<PageState>> {
        let Some(id) = page.id else { return Ok(None) };
        match self.under {
            Under::Wiki | Under::Held(_) => Ok(None),
            Under::OpenSets => {
                let open = self.proposals.open_change(self.session, id).await;
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
    const fn drafts(self) -> bool {
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

/// The changes of a write, or what keeps them from being made.
pub(super) type Made = Result<ComparedSet, Stopped>;

/// True if a call asks for a set that was shown.
type Agreed = Result<bool>;

/// The same for a call that makes its set by itself: it has to be the shown one.
fn is_shown(own: &ChangeSet, shown: &ChangeSet) -> bool {
    own.is_same_write(shown) && shown.proposal().is_none()
}

/// The turn of a create.
const CREATES: TurnOf = TurnOf::new(None, true);

/// The maker of a set's changes; what it does is said at [`WriteRequest`]. If it says nothing else, it makes
/// a list, each change of which takes a turn of its own.
trait ChangeSource: Sync {
    fn tell(&self, _: &Wiki, entry: &mut EntryBuilder) {
        entry.is_set();
    }

    async fn turn(&self, _: WriteCall<'_>) -> TurnOf {
        TurnOf::default()
    }

    fn says_whole_content(&self) -> bool {
        false
    }

    async fn said(&self, _: WriteCall<'_>, _: &ChangeSet) -> Vec<Warning> {
        Vec::new()
    }

    async fn made(&self, call: WriteCall<'_>) -> Made;

    /// True if the call asks for the set that was shown: made again, its own has to be that.
    async fn agrees(&self, call: WriteCall<'_>, shown: &ChangeSet) -> Agreed {
        let own = self.made(call).await.map_err(|stopped| stopped.failure)?;
        Ok(is_shown(&own.set, shown))
    }

    /// Looks at the page of a single change that was shown, as it is now.
    async fn look_again(&self, _: WriteCall<'_>, _: &whole_page::ToWrite) -> Result<(), Stopped> {
        Ok(())
    }
}

/// Changes of pages whose present states the caller knows.
fn checked(set: ChangeSet) -> ComparedSet {
    ComparedSet::of(set, ConflictCheck::Checked)
}

pub(super) fn mismatch() -> Failure {
    Failure::new(
        Code::ConfirmMismatch,
        "This call asks for something else than the preview that the token was given for.",
    )
}

/// The number of pages that are read at once.
const AT_ONCE: usize = 4;

/// Does the same with each of these, a few at once; the results are in their order.
///
/// # Errors
/// The first that there is.
async fn a_few_at_once<T, R, F: Future<Output = Result<R>>>(
    all: Vec<T>,
    work: impl FnMut(T) -> F,
) -> Result<Vec<R>> {
    stream::iter(all)
        .map(work)
        .buffered(AT_ONCE)
        .try_collect()
        .await
}

/// The tags of each page of a set, as it is.
fn tags_of(set: &ChangeSet) -> Vec<&[String]> {
    let pages = set.iter().filter_map(|one| one.change.before());
    pages.map(|page| &*page.tags).collect()
}
