//! What a client is told in a session: tools, prompts, resources, status, and answers to naive calls.

mod conformance;
mod naive;
mod naive_calls;
mod offered;
pub(crate) mod person;
mod progress;
mod prompts;
mod resources;
pub(crate) mod status;
pub(crate) mod subscriptions;
mod surface;
mod tasks;
pub(crate) mod tool_definitions;
mod usual;
