//! Finds text that a model reads but a person does not see.
//!
//! The source is read as the wiki shows it. Whatever a reader does not see is reported by kind,
//! with its lines. Everything takes time linear in the text. No such list is exhaustive: site-wide
//! styles, scripts, fonts and pictures can hide more.

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
pub use found::{HiddenText, Occurrences};
