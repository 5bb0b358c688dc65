//! The server of the Model Context Protocol: the handler, how answers and errors look,
//! resources, subscriptions, prompts, stdio.

mod app;
mod complete;
mod elicit;
mod fit;
mod handler;
pub mod http;
mod intake;
mod key_end;
mod key_watch;
mod lines;
mod logging;
mod methods;
pub mod metrics;
mod own_tools;
mod progress;
mod prompts;
mod reload;
mod resources;
mod result;
mod room;
mod shares;
mod site;
mod stdio;
mod subscriptions;
mod terms;
#[doc(hidden)]
pub mod uri;
mod visit;
mod without_wiki;

pub use app::App;
pub use handler::Handler;
pub use own_tools::Unasked;
pub use reload::Reload;
pub use site::{Site, Sites};
pub use stdio::{Ended, serve_stdio, serve_tools_alone};
