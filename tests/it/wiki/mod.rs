//! The wiki and the network before it: its contract, its faults, and the servers in its place.

mod contract;
mod demo_wiki;
pub(crate) mod faulty_wiki;
mod network;
mod operations;
pub(crate) mod relay;
mod security;
mod standing;
pub(crate) mod tls_server;
pub(crate) mod wiki_client;
