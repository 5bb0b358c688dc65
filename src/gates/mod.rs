//! May it be written? Four gates in a fixed order, and the permit that only they can make.
//!
//! *enabled* ([`enabled`], with the static token in `token` mode), *paths* ([`paths`]),
//! *dry run* ([`dry_run`]), *confirm* ([`confirm`]): each is a function that takes the proof
//! of the one before and gives its own. The last gives a [`Permit`], from which
//! [`Permit::next_step`] gives one [`Step`] for each record of an attempt.

mod approvals;
mod confirm;
mod dry_run;
mod enabled;
mod guesses;
mod narrowing;
mod paths;
mod permit;
mod policy;
mod previews;
mod refusal;

pub use approvals::{Approvals, Approved, Approver, Scope};
pub use confirm::{Confirmation, confirm};
pub use dry_run::{Cleared, Verdict, dry_run};
pub use enabled::{Enabled, enabled};
pub use narrowing::Narrowing;
pub use paths::{Allowed, paths};
pub use permit::{Permit, Step};
pub use policy::{ConfirmMode, Fallback, Policy, StaticToken};
pub use previews::{Asked, Previewed, Previews, Proposed, SessionId, Spent};
pub use refusal::{Gate, Refusal};
