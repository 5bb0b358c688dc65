//! The record of every attempt: the request, the decision, the outcome.
//!
//! One run of the server is JSON lines ([`Record`]), each chained to the one before
//! it ([`entry::chain`]), and is begun at its first event as `<UTC start>-<number>-<run>.jsonl`; the states
//! of a page before and after a change are kept beside it ([`KeptState`]). A draft's document is named
//! `<owner>.<name>.<id>`.
//!
//! All of it is in the room `store`, whose `local` says where. The log fails closed: a write that cannot be
//! recorded is not sent, which [`OnRecord`] proves to the gates.
//!
//! **What is never in the log:** an [`AuditEntry`] has no member for a page's content, title,
//! description, styles or scripts, for a key or for a confirm token. So no record can hold them;
//! the content of a change is only in the kept states.

#![expect(clippy::disallowed_types, reason = "anchors are files")]
#![cfg_attr(
    test,
    expect(clippy::disallowed_methods, reason = "tests look at what was kept")
)]

mod anchor;
mod check;
mod disk;
mod documents;
pub mod entry;
mod error;
mod history;
mod log;
mod purge;
mod run;
#[cfg(test)]
mod testing;
mod upkeep;
mod verify;

pub use crate::store::{
    CopyFault, DatabaseSettings, HeldLease, SecretSource, StoreCopied, StoreHealth, StoreHome,
};
pub use anchor::read::{AnchorReport, AnchorsRead};
pub use anchor::signing::{NotAKey, PublicKey, SigningKey};
pub use anchor::sink::{AnchorFault, AnchorSettings, Anchoring, AnchorsTo};
pub use check::StoreCheck;
pub use disk::kept_states;
pub use documents::draft::{Draft, DraftChange, DraftName, DraftOwner};
pub use documents::drafts::{DraftStore, HeldDraft};
pub use documents::notices::NoticeSlot;
pub use documents::pause_file::{Pause, PauseInfo, Pauses};
pub use documents::proposal::{
    LinkLeftOpen, MAX_LINKS_LEFT, MAX_WHY, Proposal, ProposalState, ProposedChange, SaidWhenMade,
};
pub use documents::proposals::{HeldProposal, OTHER, ProposalOnRecord, ProposalStore};
pub use documents::states::StateStore;
pub use entry::changed::ChangeDetails;
pub use entry::ending::{CallOutcome, OutcomeTone};
pub use entry::event::{Actor, AuditEvent, Client, Outcome, PersonId};
pub use entry::exclusions::Exclusions;
pub use entry::ids::{
    ApprovalId, ArgumentDigest, CallId, ClientId, DraftId, KeptState, KeyDigest, LineHash,
    MemoryId, NotHex, ProposalId, RunId,
};
pub use entry::members::{AuditEntry, Record, ShownMember};
pub use entry::record::Unreadable;
pub use entry::role::Role;
pub use error::{AuditError, AuditResult};
pub use history::call::{CallHistoryError, CallSelector, NotASelector};
pub use history::call_history::{CallHistory, CallMaker};
pub use history::call_reader::CallReader;
pub use history::calls::Latest;
pub use history::deletions::PageOnRecord;
pub use history::filter::CallFilter;
pub use history::groups::{
    CallGroup, CallVisibility, GroupId, GroupLimits, GroupSurvey, Groups, LeftOutOfGroup,
};
pub use history::left_states::StateOfPage;
pub use history::reconstruct::ReconstructedChange;
pub use history::recreated::Recreation;
pub use history::spent_approval::SpentApproval;
pub use history::states::PriorState;
pub use history::stats::{CallStats, LabelCounts};
pub use history::time_arg::TimeArg;
pub use history::write_count::WriteReader;
pub use log::{AuditLog, LogParts, OnRecord};
pub use purge::{GRACE, Keep, Purged};
pub use run::clock::ClockBack;
pub use run::heads::FileHead;
pub use run::open_attempts::{OpenAttempt, OpenSet, UnfinishedWrites};
pub use run::reader::{Records, RunFile, RunReader};
pub use run::tail::Tail;
pub use run::unsettled::UnsettledWrites;
pub use upkeep::LogUpkeep;
pub use verify::finding::LogFinding;
pub use verify::health::Health;
pub use verify::{Against, CheckedRun, LogVerification};

pub(in crate::audit) use disk::blocking::blocking;
pub(in crate::audit) use disk::layout::AuditLayout;
pub(in crate::audit) use run::indexed::{IndexedRuns, Subject};
pub(in crate::audit) use run::reader::{runs, scan};
