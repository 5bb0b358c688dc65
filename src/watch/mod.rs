//! Watched pages: one look at the wiki's list serves all watchers of a key.
//!
//! It knows `page` and `wiki`, and nothing of MCP. Nothing is asked and no task runs while nobody
//! watches.

mod looks;
mod pace;
mod watched;
mod watcher;

pub use pace::WatchPace;
pub use watched::{CannotWatch, Watch};
pub use watcher::Watcher;
