//! What of a text a person does not see and a model reads.
//!
//! The source is read as the wiki shows it: what of it does not get into the text that a reader
//! sees is told by kind, with its lines. Everything takes time by the length of the text alone.
//! No such list is exhaustive: site-wide styles, scripts, fonts and pictures can hide more.

mod asciidoc;
mod attributes;
mod characters;
mod code;
mod colour;
mod css;
mod elements;
mod found;
mod markdown;
mod notes;
mod prose;
mod remembered;
mod rows;
mod sheet;
mod source_map;
mod style;

pub use characters::{escape_hidden, escaped};
pub use found::{Found, HiddenText};
