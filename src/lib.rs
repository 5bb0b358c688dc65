//! A Model Context Protocol server for Wiki.js 2 that loses nothing on a write and can prove it.

pub mod audit;
#[cfg(feature = "demo")]
pub mod demo;
pub mod page;
