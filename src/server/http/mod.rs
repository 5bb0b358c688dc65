//! The protocol over Streamable HTTP, for many clients at once.
//!
//! `router` lists the layers that a request passes, in their order; then rmcp gets it.

mod address;
mod apps;
mod body;
mod caller;
mod concurrency;
mod connections;
mod health;
mod limits;
mod listen;
mod mcp;
mod open_connections;
mod origin;
mod page_host;
mod people;
mod rate;
mod refusal;
mod resource;
mod reviewers;
mod router;
mod scope;
mod seal;
mod sessions;
mod shared_answers;
mod shared_sessions;
mod stall;
mod state;
mod token;

pub use super::clients::client::{NamedClient, Rotation};
pub use super::clients::client_record::ClientRecord;
pub use super::clients::last_uses::LastUses;
pub use super::clients::registry::ClientRegistry;
pub use super::clients::secret::{ClientToken, TOKEN_PREFIX};
pub use super::clients::tokens_fault::TokensFileError;
pub use super::clients::tokens_file::TokensFile;
pub use super::delegates::delegate::{DelegateEndReason, DelegateRecord};
pub use super::delegates::kept::{DelegatesError, KeptDelegates};
pub use crate::gates::{ClientConfirm, Grant};
pub use connections::serve_routes;
pub use limits::HttpLimits;
pub use listen::{HttpReload, HttpServer, check_start, refused_start};
