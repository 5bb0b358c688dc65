//! The record in the browser: what was written, by whom, who decided it, and whether all of it is as
//! it was put there.
//!
//! Operators on loopback and auditors see all of it, and may have it checked. A reviewer sees only
//! calls all of whose places lie within their prefixes and read scopes, and sets all of whose changes
//! do; everything else is as if it were not there ([`sight`]).

mod call;
mod cells;
mod chart;
mod check;
mod list_page;
mod reader;
mod report;
mod routes;
mod selection;
mod visibility;

pub(super) use check::Checks;
pub(super) use reader::Readers;
pub use report::{NoReport, ReadReport, ReportCounts, ReportRequest};
pub(super) use routes::routes;
