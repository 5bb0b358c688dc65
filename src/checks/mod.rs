//! Operators' checks: commands that look at a change before it is made.
//!
//! A [`CheckCommand`] comes from the settings file and is run without a shell, in a process group
//! of its own, with an environment that holds no secret. It gets the change as JSON on its standard
//! input; a check that fails becomes a warning of the change.

mod command;
mod run;

pub use command::CheckCommand;
pub use run::{CheckResult, CheckRun, carry_out, end_all, execute, in_turn, input, run};
