//! May it be written? Five gates in a fixed order, and the permit that only they can make.
//!
//! *enabled* (with the static token in `token` mode), *paths*, *rules*, *dry run*, *confirm*: one a
//! file. `enabled` gives a proof that carries the policy. `paths` takes this proof and a
//! [`ChangeSet`], `rules` takes what `paths` gives, and `confirm` takes what `rules` clears and the
//! caller's confirmation. `confirm` makes a [`Permit`], from which [`Permit::next_step`] gives one
//! [`Step`] for each record of an attempt. [`dry_run`] looks only at the policy and at whether
//! there is a confirmation: it chooses the route of a write, and `confirm` asks it again.
//!
//! Nothing outside the crate can open a gate; within it, only `write/` does.

mod approvals;
mod confirm;
mod dry_run;
mod enabled;
mod grant;
mod guesses;
mod narrowing;
mod paths;
mod permit;
mod places;
mod policy;
mod previews;
mod refusal;
mod rules;
mod session;
mod set;

pub use approvals::Scope;
pub(crate) use approvals::{Approvals, Approved, Approver};
pub(crate) use confirm::{Confirmation, confirm};
pub use dry_run::{Verdict, dry_run};
pub(crate) use enabled::{Enabled, enabled, paused};
pub use grant::{ClientConfirm, Grant, ends_soon};
pub use narrowing::Narrowing;
pub(crate) use paths::{Allowed, paths};
pub(crate) use permit::MayGoBack;
pub use permit::{Permit, Step};
pub use places::Places;
pub use policy::{ConfirmMode, Fallback, Policy, StaticToken};
pub use previews::{Asked, Previewed};
pub(crate) use previews::{Previews, Spent};
pub use refusal::{Gate, Refusal};
pub(crate) use rules::{Cleared, Decided, Demand, Ruled, rules, undecided};
pub use session::SessionId;
pub use set::{ChangeSet, DraftMark, LeftOut, LinkLeft, Mending, Omission, SetChange, TurnOf};
