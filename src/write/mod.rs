//! The way of a write, from what was asked for to an answer that is true.
//!
//! [`Writer::write`] is its one door. Behind it every [`Plan`] goes down one line of stages
//! (`line.rs`): `source/` makes its changes, `stages/` decide and send, `memory/` holds what
//! outlives a call. Tools and commands only make plans; the [`Desk`] tells them what they may know
//! of writes, and cannot send.

mod answer;
mod asker;
mod caller;
mod comments_lost;
mod confirmed;
mod deeds;
mod deletions;
mod desk;
mod docket;
mod door;
mod drafts;
mod family;
mod faults;
mod house;
mod lacking;
mod left_open;
mod legacy;
mod line;
mod linkers;
mod memories;
mod memory;
mod new_place;
mod past;
mod past_set;
mod patience;
mod proposals;
mod purge;
mod recover;
mod refusals;
mod review;
mod route;
mod sets;
mod shown;
mod source;
mod stages;
#[cfg(test)]
mod testing;
mod used;
mod wiki_links;

pub use answer::{
    Answer, Applied, Joined, LinkedFrom, NotTakenBack, Notes, Preview, SetAnswer, SetLine,
    SetMember, SetOutcome, SetPreview, Target, ThingNamed,
};
pub use asker::{Ask, Asker, HandedOut, Handout, Question, Reply};
pub use caller::{Caller, Extent};
pub use confirmed::{Confirmed, Done, Shown};
pub use deeds::Deeds;
pub use deletions::{Deleted, Deletions};
pub use desk::Desk;
pub use door::Writer;
pub use drafts::Discarded;
pub use family::{Child, DelegateKind, Delegated, Family, Sets, Wanted, denied};
pub(crate) use faults::section_failure;
pub use left_open::{Became, LeftOpen};
pub use legacy::{Handed, Heirs, Inherited, Legacy};
pub use memories::{MemoryTerms, Recalled, Remembered, ToRecall, ToRemember};
pub use memory::Sight;
pub use past::Past;
pub use patience::Patience;
pub use proposals::Proposals;
pub use refusals::Refusals;
pub use review::{Review, ReviewWarning, Reviewed};
pub(crate) use source::no_asset;
pub use source::{
    Apply, Asset, Bulk, Comment, Copy, Delete, Drafting, LinksTo, MAX_PAGES, Plan, Push, Said,
    Submit, ToAsset, ToComment, Undo, UndoClient, Update, Which,
};
pub(crate) use stages::open::PROPOSED;
