//! The server of the Model Context Protocol: the handler, how answers and errors look, stdio.

mod app;
mod elicit;
mod handler;
mod result;
mod stdio;

pub use app::App;
pub use handler::Handler;
pub use stdio::{Ended, serve_stdio};
