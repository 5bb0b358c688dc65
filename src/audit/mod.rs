//! The record of every attempt: the request, the decision, the outcome.
//!
//! One run of the server writes one file of JSON lines ([`Record`]), each chained to the one before
//! it ([`chain`]); the states of a page before and after a change are kept beside it
//! ([`KeptState`]). Everything is stored under the name of the wiki:
//!
//! ```text
//! <dir>/PAUSED.json                           while an operator has paused all writes
//! <dir>/<wiki>/runs/<UTC start>-<number>-<run>.jsonl  one a run, made at its first event
//! <dir>/<wiki>/runs.count                     the number of the last run; held while one is made
//! <dir>/<wiki>/pages/<sha256>.json.gz         a kept state, named by its content
//! <dir>/<wiki>/proposals/<id>.json            a proposal, and what became of it
//! <dir>/<wiki>/drafts/<owner>.<name>.<id>.json  a draft: changes that are to be decided as one
//! <dir>/<wiki>/drafts.lock                     held while a draft is begun
//! <dir>/<wiki>/memory.sqlite                   what clients remember (the room `memory`)
//! <dir>/<wiki>/anchors.fault                  why heads cannot be anchored, while that is so
//! <dir>/<wiki>/pages.lock                     held while a state is kept or one is removed
//! <dir>/<wiki>/purge.lock                     held by the one purge that is under way
//! <dir>/<wiki>/recovery.lock                  held by the one run that settles what others left open
//! <dir>/<wiki>/tree.lock                      held by the one write that rebuilds the tree
//! ```
//!
//! Directories that we make are 0700, files 0600. The log fails closed: a write that cannot be
//! recorded is not sent, which [`OnRecord`] proves to the gates.
//!
//! **What is never in the log:** an [`Entry`] has no member for a page's content, title,
//! description, styles or scripts, for a key or for a confirm token. So no record can hold them;
//! the content of a change is only in the kept states.

pub mod chain;
pub mod record;

mod anchor;
mod anchored;
mod anchoring;
mod anchors;
mod blocking;
mod calls;
mod changed;
mod clock;
mod closed;
mod confirmed;
mod current;
mod deletions;
mod draft;
mod drafts;
mod ending;
mod entry;
mod error;
mod figures;
mod filter;
mod fs;
mod groups;
mod heads;
mod health;
mod hex;
mod kept;
mod left_states;
mod lines;
mod locks;
mod log;
mod notices;
mod notifying;
mod numbers;
mod omitted;
mod open;
mod pause;
mod pauses;
mod place;
mod proposal;
mod proposals;
mod purge;
mod reader;
mod rebuilt;
mod recreated;
mod role;
mod run;
mod signing;
mod states;
mod steps;
mod story;
mod tail;
mod tally;
#[cfg(test)]
mod testing;
mod undone;
mod unsettled;
mod verify;
mod when;
mod whole_file;
mod wrong;

pub use anchored::{AnchorWrong, Anchored, AnchorsRead};
pub use anchors::{AnchorFault, AnchorSettings, AnchorsTo};
pub use calls::Latest;
pub use changed::Changed;
pub use clock::ClockBack;
pub use confirmed::Confirmed;
pub use deletions::{Deletion, PageOnRecord};
pub use draft::{Draft, DraftChange, DraftName, DraftOwner};
pub use drafts::HeldDraft;
pub use ending::Ending;
pub use entry::{Actor, Client, Entry, Event, Outcome};
pub use error::AuditError;
pub use figures::{Counts, Figures};
pub use filter::Filter;
pub use groups::{CallGroup, GroupId, Groups, LeftOutOfGroup, Room, Seen, Survey};
pub use heads::FileHead;
pub use health::Health;
pub use hex::{
    ApprovalId, ArgumentDigest, CallId, ClientId, DraftId, KeptState, KeyDigest, LineHash,
    MemoryId, NotHex, ProposalId, RunId,
};
pub use left_states::StateOfPage;
pub use locks::{FileLock, PageLock, TreeLock};
pub use log::{AuditLog, OnRecord};
pub use omitted::Omitted;
pub use open::{LeftOpen, OpenAttempt, OpenSet};
pub use pauses::{Pause, Pauses, Told};
pub use proposal::{
    LinkLeftOpen, MAX_LINKS_LEFT, MAX_WHY, Proposal, ProposalState, ProposedChange,
};
pub(crate) use proposals::OTHER;
pub use proposals::{HeldProposal, ProposalOnRecord};
pub(crate) use purge::GRACE;
pub use purge::{Keep, Purged};
pub use reader::{Records, RunFile};
pub use rebuilt::Rebuilt;
pub use record::{Record, Unreadable};
pub use recreated::Recreation;
pub use role::Role;
pub use signing::{NotAKey, PublicKey, SigningKey};
pub use states::Found;
pub use story::{CallSelector, CallStory, NotASelector, StoryError};
pub use tail::Tail;
pub use tally::goes_by;
pub use verify::{Against, Checked, CheckedRun};
pub use when::When;
pub use wrong::{Witness, Wrong};
