//! A Model Context Protocol server for Wiki.js 2 that loses nothing on a write and can prove it.

#[cfg(feature = "demo")]
pub mod demo;
pub mod error;
pub mod page;
pub mod wiki;
