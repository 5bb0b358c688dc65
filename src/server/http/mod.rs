//! The protocol over Streamable HTTP, for many clients at once.
//!
//! A request passes, in this order: `Host` and `Origin` (`origin`), the client's token (`live`),
//! its rate (`rate`), the owner of the session that it names (`sessions`), a place among the calls
//! under way (`calls`), the size of its body (`guard`); then rmcp gets it.

mod address;
mod apps;
mod body;
mod client;
mod connections;
mod delegate;
mod delegate_ends;
mod delegate_faults;
mod delegates_file;
mod family;
mod guard;
mod handed_on;
mod health;
mod kin;
mod known;
mod last_use;
mod limits;
mod lines_file;
mod listen;
mod live;
mod open_connections;
mod origin;
mod outgoing;
mod page_host;
mod places;
mod rate;
mod refusal;
mod reviewers;
mod secret;
mod sessions;
mod stall;
mod tokens_fault;
mod tokens_file;

pub use crate::gates::{ClientConfirm, Grant};
pub use client::{NamedClient, Rotation, Shown};
pub use connections::serve_routes;
pub use delegate::{Delegate, End};
pub use delegates_file::{DelegatesError, DelegatesFile};
pub use known::KnownClient;
pub use limits::HttpLimits;
pub use listen::{HttpReload, HttpServer, check_start, refused_start};
pub use live::LiveClients;
pub use secret::{LINK_PREFIX, LinkSecret, TOKEN_PREFIX, Token};
pub use tokens_fault::TokensFileError;
pub use tokens_file::TokensFile;
