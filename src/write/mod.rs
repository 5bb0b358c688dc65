//! The way of a write, from what was asked for to an answer that is true.
//!
//! [`Writer::write`] takes a [`Plan`] through the gates, puts the attempt on record, sends it,
//! reads it back and says what came of it. Tools and commands only make plans.

mod answer;
mod asker;
mod conflict;
mod deletions;
mod docket;
mod faults;
mod last;
mod outdated;
mod past;
mod person;
mod plan;
mod prepare;
mod promise;
mod proposal;
mod propose;
mod proposed_values;
mod purge;
mod question;
mod reads;
mod recover;
mod refusals;
mod send;
mod settle;
mod show;
mod shown;
mod trail;
mod turn;
mod undo;
mod unseen;
mod writer;

pub use answer::{Answer, Applied, LinkedFrom, Notes, Preview, Target};
pub use asker::{Ask, Asker, HandedOut, Handout, Reply};
pub use deletions::Deleted;
pub(crate) use faults::section_failure;
pub use plan::{Apply, Caller, Extent, Plan, Undo, Update};
pub use proposal::Review;
pub use question::Question;
pub use reads::Sight;
pub use refusals::Refusals;
pub use settle::Patience;
pub use writer::Writer;
