//! The project itself: its rooms, words, promises, pages and packages.

mod deploy;
pub(crate) mod docs;
mod formats;
mod in_operation;
mod install;
mod invariants;
mod pages;
mod played_again;
pub(crate) mod promises;
mod properties;
mod rooms;
pub(crate) mod sources;
mod texts;
mod words;
