//! The way of a write, from what was asked for to an answer that is true.
//!
//! The [`Writer`] is its one door. Behind it every [`WriteRequest`] takes one way (`pipeline.rs`):
//! `source/` makes its changes, `stages/` decide and send, `memory/` holds what outlives a call.
//! Tools and commands only make requests; the [`WriteContext`] tells them what they may know of
//! writes, and cannot send.

mod answer;
mod audit_entry;
mod caller;
mod context;
mod delegation;
mod drafts;
mod exchange;
mod faults;
mod interactive;
mod lacking;
mod links;
mod memories;
mod memory;
mod pending;
mod pipeline;
mod proposals;
mod review;
mod route;
mod shared;
mod source;
mod stages;
#[cfg(test)]
mod testing;
mod timeouts;
mod undo;
mod upkeep;
mod visibility;
mod writer;

pub(crate) use audit_entry::{EntryBuilder, record_or_log};
pub(crate) use proposals::KeptChange;
pub(crate) use route::{Brought, Route, Stop, Warrant};
pub(crate) use source::conflict::{ConflictCheck, Stopped};
pub(crate) use source::whole_page::ToWrite;
pub(crate) use stages::check::SetCheck;
pub(crate) use stages::lock::WriteLock;
pub(crate) use stages::send::broke_off;
pub(crate) use stages::verify::expected::Promise;

pub use answer::{
    Applied, Joined, LinkedFrom, NotTakenBack, Notes, Preview, SetAnswer, SetMember, SetOutcome,
    WriteAnswer,
};
pub use caller::{
    AskPerson, Asker, Caller, Extent, HandedOut, Handout, PersonReply, Question, SiteDirectory,
    TaskSlot,
};
pub use context::WriteContext;
pub use delegation::{Child, DelegateSpec, Delegated, EndedDelegate, Family, denied};
pub use drafts::Discarded;
pub use faults::section_failure;
pub use interactive::{AppliedWrite, InteractiveOutcome};
pub use memories::{RecallResult, RememberResult, ToRecall, ToRemember};
pub use memory::ReadExtent;
pub use pending::{Became, PendingSet};
pub use proposals::{ListedProposal, ListedState, MAX_LISTED, Proposals};
pub use review::{Review, ReviewWarning, Reviewed};
pub use shared::Refusals;
pub use source::{
    Apply, AssetWrite, Bulk, CommentWrite, Copy, CopyFields, Delete, Drafting, FormerState,
    LinksTo, MAX_PAGES, PageRestore, PageSelection, Push, RestorePart, Submit, ToAsset, ToComment,
    UndoClient, UndoRequest, Update, WriteRequest, no_asset, unfit_field,
};
pub use stages::propose::{PROPOSED, WAITS};
pub use timeouts::Timeouts;
pub use undo::deletions::{Deleted, Deletions};
pub use undo::history::WriteHistory;
pub use writer::Writer;
