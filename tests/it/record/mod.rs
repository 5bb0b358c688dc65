//! The record of what was written: the log, its review, its report and what is purged.

mod actors;
mod anchored;
pub(crate) mod audit;
mod audit_review;
mod confirms;
mod own_key;
pub(crate) mod purge;
mod report;
mod store;
