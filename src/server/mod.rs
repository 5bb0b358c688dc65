//! The server of the Model Context Protocol: the handler, how answers and errors look,
//! resources, subscriptions, prompts, stdio.

mod app;
mod call_metrics;
mod clients;
mod delegates;
pub mod http;
mod key_expiry;
mod key_renewal;
mod key_watch;
pub mod mcp;
pub mod metrics;
mod mirroring;
mod otlp;
mod own_tools;
mod quota;
mod reload;
mod settings_digest;
mod site;
mod stdio;
mod without_wiki;

pub use app::App;
pub use mcp::handler::Handler;
pub use mcp::many_sites::{ManySites, check_sites};
pub use mcp::site_directory::site_of;
pub use otlp::Collector;
pub use own_tools::Unasked;
pub use reload::Reload;
pub use settings_digest::settings_digest;
pub use site::{Site, Sites};
pub use stdio::serve::{serve_stdio, serve_tools_alone};
