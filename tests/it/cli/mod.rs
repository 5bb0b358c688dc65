//! Commands of the program, at a terminal and as processes.

mod beside;
pub(crate) mod custom_tools;
mod doctor;
pub(crate) mod files;
mod files_faults;
mod files_terminal;
pub(crate) mod operators_way;
pub(crate) mod process;
mod settings;
pub(crate) mod terminal;
mod tool_command;
