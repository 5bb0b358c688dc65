//! The protocol: requests, answers, sessions, resources, prompts.

pub(super) mod answer_limit;
pub(super) mod caller;
mod elicit;
pub(super) mod handler;
pub(super) mod many_sites;
pub(super) mod methods;
pub(super) mod progress;
pub(super) mod prompts;
pub(super) mod resources;
pub(super) mod result;
pub(super) mod session_rules;
pub(super) mod shared_questions;
pub(super) mod site_directory;
pub(super) mod subscriptions;
pub(super) mod tasks;
#[doc(hidden)]
pub mod uri;
