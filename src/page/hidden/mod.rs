//! Finds text that a model reads but a person does not see.
//!
//! The source is rendered as the wiki shows it. What a reader of the page sees is known: text that
//! is shown, titles and alternative texts, code. All other words of the source are reported, by
//! kind and line. Everything takes time linear in the text. No such list is exhaustive: site-wide
//! styles, scripts, fonts and pictures can hide more.

mod asciidoc;
mod code;
mod elements;
mod find;
mod kinds;
mod markdown;
mod seen;
mod sheet;
mod style;
mod words;

pub use kinds::{HiddenKind, HiddenText, Occurrences};
