//! Settings. The only room that reads the environment.
//!
//! A bad value stops the start with the setting's name, what is wrong and what is allowed. It
//! never falls back in silence, and a secret's value is never shown.

mod names;
mod parse;
mod settings;

pub use names::{SETTINGS, Setting, table};
pub use parse::{SettingError, Source};
pub use settings::{AuditSettings, LogSettings, Settings, log_settings, no_colour};
