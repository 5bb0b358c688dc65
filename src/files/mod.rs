//! A wiki as files: pages in a folder, where people and coding agents edit them with the tools that
//! they have. Changes go back to the wiki the way of every write.

mod base;
mod begin;
mod differences;
mod error;
mod folder;
mod here;
mod moved;
mod name;
mod pull;
mod push;
mod standing;
mod text;
mod there;
mod upload;

pub use differences::differences;
pub use error::FilesError;
pub use folder::{Folder, Held};
pub use here::Strange;
pub use pull::{Pulled, pull};
pub use push::{MAX_CHANGES, Ready, settled};
pub use standing::{Kind, Line, Standing};
pub use there::{Stage, Unread};
pub use upload::file_to_upload;
