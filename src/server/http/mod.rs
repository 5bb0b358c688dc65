//! The protocol over Streamable HTTP, for many clients at once.
//!
//! A request passes, in this order: `Host` and `Origin` (`origin`), the client's token (`live`),
//! its rate (`rate`), the owner of the session that it names (`sessions`), a place among the calls
//! under way (`calls`), the size of its body (`guard`); then rmcp gets it.

mod address;
mod apps;
mod body;
mod concurrency;
mod connections;
mod guard;
mod health;
mod limits;
mod listen;
mod open_connections;
mod origin;
mod outgoing;
mod page_host;
mod rate;
mod refusal;
mod reviewers;
mod sessions;
mod stall;

pub use super::clients::client::{Credential, NamedClient, Rotation};
pub use super::clients::client_record::ClientRecord;
pub use super::clients::registry::ClientRegistry;
pub use super::clients::secret::{ClientToken, LINK_PREFIX, LinkSecret, TOKEN_PREFIX};
pub use super::clients::tokens_fault::TokensFileError;
pub use super::clients::tokens_file::TokensFile;
pub use super::delegates::delegate::{DelegateEndReason, DelegateRecord};
pub use super::delegates::file::{DelegatesError, DelegatesFile};
pub use crate::gates::{ClientConfirm, Grant};
pub use connections::serve_routes;
pub use limits::HttpLimits;
pub use listen::{HttpReload, HttpServer, check_start, refused_start};
