//! Integration tests, written from the outside in.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it did not expect shall fail there"
)]

#[cfg(feature = "demo")]
mod actors;
#[cfg(feature = "demo")]
mod answers;
mod approvals;
mod audit;
#[cfg(feature = "demo")]
mod audit_review;
#[cfg(feature = "demo")]
mod bad_input;
#[cfg(feature = "demo")]
mod beside;
#[cfg(feature = "demo")]
mod bulk;
#[cfg(feature = "demo")]
mod cannot_return;
#[cfg(feature = "demo")]
mod changes;
#[cfg(feature = "demo")]
mod clients;
#[cfg(feature = "demo")]
mod command;
#[cfg(feature = "demo")]
mod confirming;
mod conflicts;
mod conformance;
#[cfg(feature = "demo")]
mod contract;
#[cfg(feature = "demo")]
mod copies;
mod demo_wiki;
#[cfg(feature = "demo")]
mod docs;
#[cfg(feature = "demo")]
mod doctor;
#[cfg(feature = "demo")]
mod drafts;
#[cfg(feature = "demo")]
mod editor_view;
#[cfg(feature = "demo")]
mod edits;
#[cfg(feature = "demo")]
mod faults;
#[cfg(feature = "demo")]
mod faulty_wiki;
#[cfg(feature = "demo")]
mod fidelity;
#[cfg(feature = "demo")]
mod filling;
#[cfg(feature = "demo")]
mod finding;
#[cfg(feature = "demo")]
mod harness;
mod hidden;
#[cfg(feature = "demo")]
mod history;
#[cfg(feature = "demo")]
mod hosted;
#[cfg(feature = "demo")]
mod http;
#[cfg(feature = "demo")]
mod in_operation;
#[cfg(feature = "demo")]
mod input;
#[cfg(feature = "demo")]
mod install;
#[cfg(feature = "demo")]
mod invariants;
#[cfg(feature = "demo")]
mod key_changes;
#[cfg(feature = "demo")]
mod keys;
#[cfg(feature = "demo")]
mod kill;
#[cfg(feature = "demo")]
mod left_out;
#[cfg(feature = "demo")]
mod linkers;
mod lists;
#[cfg(feature = "demo")]
mod logging;
#[cfg(feature = "demo")]
mod mending;
#[cfg(feature = "demo")]
mod naive;
#[cfg(feature = "demo")]
mod naive_calls;
#[cfg(feature = "demo")]
mod network;
mod notes;
#[cfg(feature = "demo")]
mod offered;
mod operations;
#[cfg(feature = "demo")]
mod operators_way;
#[cfg(feature = "demo")]
mod own_key;
#[cfg(feature = "demo")]
mod parts;
#[cfg(feature = "demo")]
mod pauses;
#[cfg(feature = "demo")]
mod person;
#[cfg(feature = "demo")]
mod process;
#[cfg(feature = "demo")]
mod progress;
mod promises;
#[cfg(feature = "demo")]
mod prompts;
mod properties;
#[cfg(feature = "demo")]
mod proposals;
#[cfg(feature = "demo")]
mod purge;
#[cfg(feature = "demo")]
mod readable;
#[cfg(feature = "demo")]
mod reads;
#[cfg(feature = "demo")]
mod recover;
#[cfg(feature = "demo")]
mod references;
#[cfg(feature = "demo")]
mod relay;
#[cfg(feature = "demo")]
mod report;
#[cfg(feature = "demo")]
mod resources;
mod roles;
mod rooms;
#[cfg(feature = "demo")]
mod rules;
#[cfg(feature = "demo")]
mod script;
#[cfg(feature = "demo")]
mod search;
#[cfg(feature = "demo")]
mod security;
#[cfg(feature = "demo")]
mod servers;
#[cfg(feature = "demo")]
mod set_faults;
mod set_review;
#[cfg(feature = "demo")]
mod sets;
#[cfg(feature = "demo")]
mod sets_together;
mod settings;
#[cfg(feature = "demo")]
mod shares;
#[cfg(feature = "demo")]
mod standing;
#[cfg(feature = "demo")]
mod status;
#[cfg(feature = "demo")]
mod styles;
#[cfg(feature = "demo")]
mod subscriptions;
#[cfg(feature = "demo")]
mod surface;
#[cfg(feature = "demo")]
mod tasks;
mod terminal;
mod texts;
#[cfg(feature = "demo")]
mod tls_server;
#[cfg(feature = "demo")]
mod tool_command;
#[cfg(feature = "demo")]
mod tool_definitions;
#[cfg(feature = "demo")]
mod trash;
#[cfg(feature = "demo")]
mod undo;
mod undo_client;
#[cfg(feature = "demo")]
mod wiki_client;
#[cfg(feature = "demo")]
mod writes;
