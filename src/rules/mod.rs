//! Adds an operator's rules to the gates; rules can only make them stricter.
//!
//! Pure. A [`Rule`] says which changes it is about ([`RuleCondition`]) and what they need ([`Then`]). The
//! [`RuleBook`] holds the rules of the settings file and the two built-in ones. It gives the
//! strictest rule that holds for the [`Facts`] of a change or of a set of changes. A person's
//! decision satisfies every rule but `deny`.

mod book;
mod decide;
mod facts;
mod rule;
mod say;

pub use book::{BUILT_IN, RuleBook};
pub use decide::Could;
pub use facts::{ChangeFacts, Facts};
pub use rule::{Rule, RuleCondition, Then};
