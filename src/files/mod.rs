//! A wiki as files: pages in a folder, where people and coding agents edit them with the tools that
//! they have. Changes go back to the wiki the way of every write.

#![expect(clippy::disallowed_types, reason = "a wiki as files")]

mod base;
mod differences;
mod error;
mod folder;
mod init;
mod local_changes;
mod moved;
mod name;
mod pull;
mod push;
mod remote_changes;
mod status;
mod text;
mod upload;

pub use differences::differences;
pub use error::FilesError;
pub use folder::{Folder, FolderLock};
pub use init::check_room;
pub use local_changes::Strange;
pub use pull::{MovedPage, Pulled, pull};
pub use push::{MAX_CHANGES, Ready, settled};
pub use remote_changes::{Stage, UnreadablePage};
pub use status::{FolderStatus, StatusEntry, StatusKind, check_begun};
pub use upload::file_to_upload;
