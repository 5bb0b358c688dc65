//! May it be written? Four gates in a fixed order, and the permit that only they can make.
//!
//! What a write gets is one value, [`WritePolicy`], which settings, site, client and rules resolve to.
//! *enabled* (with the static token at the level `token`), *paths*, *rules*, *confirm*: one gate a
//! file. `enabled` gives a proof that carries the policy. `paths` takes this proof and a
//! [`ChangeSet`], `rules` takes what `paths` gives, and `confirm` takes what `rules` clears and the
//! caller's confirmation. `confirm` makes a [`Permit`], from which [`Permit::next_step`] gives one
//! [`Step`] for each record of an attempt; [`Step::sure`] looks at its leases right before it is sent.
//!
//! Nothing outside the crate can open a gate; within it, only `write/` does.

mod approvals;
mod authority;
mod confirm;
mod enabled;
mod grant;
mod guesses;
mod narrowing;
mod paths;
mod permit;
mod places;
mod policy;
mod preview_tokens;
mod record;
mod refusal;
mod rules;
mod session;
mod set;
mod set_by;
mod static_token;
mod stricter;
mod write_policy;

pub use approvals::{ApprovalScope, Approvals, Approved, Approver, StandingApproval};
pub use authority::Authority;
pub use confirm::{Confirmation, ReviewersYes, confirm};
pub use enabled::{Enabled, enabled, paused};
pub use grant::{ClientConfirm, Grant, ends_soon};
pub use narrowing::ClientLimits;
pub use paths::{AllowedSet, paths};
pub use permit::{MayGoBack, Permit, Step, SureStep};
pub use policy::Policy;
pub use preview_tokens::{Asked, PreviewStore, Previewed, Previews, SessionPreviews, SpentToken};
pub use refusal::{Gate, Gated, Refusal};
pub use rules::{Cleared, Ruled, rules};
pub use session::SessionId;
pub use set::{
    BatchDetails, ChangeSet, DraftDigest, DraftMark, LeftOut, LinkLeft, Mending, Omission,
    SetChange, TurnOf,
};
pub use set_by::{Layer, SetBy};
pub use static_token::StaticToken;
pub use write_policy::{Fallback, PolicyLevel, THINKING, WritePolicy};
