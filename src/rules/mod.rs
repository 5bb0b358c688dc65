//! What an operator adds to the gates: rules, which can only make them stricter.
//!
//! Pure. A [`Rule`] says which changes it is about ([`When`]) and what they need ([`Then`]); the
//! [`RuleBook`] holds those of the settings file and the two that are built in, and gives the
//! strictest that holds for the [`Facts`] of a change or a set of them. A person's decision
//! satisfies every rule but `deny`.

mod book;
mod decide;
mod facts;
mod rule;
mod say;

pub use book::{BUILT_IN, RuleBook};
pub use decide::Could;
pub use facts::{ChangeFacts, Facts};
pub use rule::{Rule, Then, When};
