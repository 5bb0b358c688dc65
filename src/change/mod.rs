//! Models a planned write: the page before, the page after, and everything that follows from them.
//!
//! Pure. Preview, difference, gates, record, proof and undo come from a [`Change`]; a new kind
//! of write is one function that makes one.

mod checks;
mod compare;
mod edits;
mod escapes;
mod location;
mod merge;
mod operation;
mod plan;
mod proof;
mod risk;
mod truncate;
mod undo;
mod warning;

pub use checks::{AdditionReport, CODES, Surroundings};
pub use compare::{PageComparison, compare};
pub use edits::{ContentFault, Edits, NewContent, NewTags, ReplaceAll};
pub use merge::{Marked, merge, merge_marked, merge_pages};
pub use operation::Operation;
pub use plan::{Change, is_blank};
pub use proof::{Proof, prove};
pub use risk::Risk;
pub use truncate::{
    BRIEF_DIFF, BRIEF_VALUE, MAX_DIFF_BYTES, MAX_VALUE_BYTES, cut, cut_to, short, short_to,
};
pub use undo::{UndoFault, UndoneWrite};
pub use warning::Warning;
