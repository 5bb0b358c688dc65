//! The way of a write, from what was asked for to an answer that is true.
//!
//! [`Writer::write`] is its one door. Behind it every [`Plan`] goes down one line of stages
//! (`line.rs`): `source/` makes its changes, `stages/` decide and send, `memory/` holds what
//! outlives a call. Tools and commands only make plans; the [`Desk`] tells them what they may know
//! of writes, and cannot send.

mod answer;
mod asker;
mod audit_entry;
mod caller;
mod context;
mod delegates;
mod drafts;
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
mod spent_token;
mod stages;
#[cfg(test)]
mod testing;
mod timeouts;
mod undo;
mod upkeep;
mod visibility;
mod writer;

pub use answer::{
    Answer, Applied, Joined, LinkedFrom, NotTakenBack, Notes, Preview, SetAnswer, SetLine,
    SetMember, SetOutcome, SetPreview, Target, ThingNamed,
};
pub use asker::{Ask, Asker, HandedOut, Handout, Question, Reply};
pub use caller::{Caller, Extent};
pub use context::Desk;
pub use delegates::delegation::{Child, DelegateKind, Delegated, Family, Sets, Wanted, denied};
pub use delegates::handover::{Handed, Heirs, Inherited, Legacy};
pub use delegates::report::Deeds;
pub use drafts::Discarded;
pub(crate) use faults::section_failure;
pub use interactive::{Confirmed, Done, Shown};
pub use memories::{MemoryTerms, Recalled, Remembered, ToRecall, ToRemember};
pub use memory::Sight;
pub use pending::{Became, LeftOpen};
pub use proposals::Proposals;
pub use review::{Review, ReviewWarning, Reviewed};
pub(crate) use source::no_asset;
pub use source::{
    Apply, Asset, Bulk, Comment, Copy, Delete, Drafting, LinksTo, MAX_PAGES, Plan, Push, Said,
    Submit, ToAsset, ToComment, Undo, UndoClient, Update, Which,
};
pub(crate) use stages::propose::PROPOSED;
pub use timeouts::Patience;
pub use undo::deletions::{Deleted, Deletions};
pub use undo::history::Past;
pub use upkeep::refusals::Refusals;
pub use writer::Writer;
