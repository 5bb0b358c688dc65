//! The targets of notifications.

use std::time::Duration;

use secrecy::SecretString;

use super::event::Occasion;
use crate::checks::CheckCommand;

/// A `[[notify]]` of the settings file.
#[derive(Debug, Clone)]
pub struct NotifyTarget {
    /// Its name.
    pub name: String,
    /// The occasions on which the target is notified.
    pub on: Vec<Occasion>,
    /// The way to notify the target.
    pub to: NotifyTo,
    /// The time limit of one try.
    pub timeout: Duration,
}

/// A way to notify a target.
#[derive(Debug, Clone)]
pub enum NotifyTo {
    /// JSON on the standard input of a command.
    Command(CheckCommand),
    /// JSON by POST to an address, which often holds a secret.
    Address(SecretString),
}

impl PartialEq for NotifyTarget {
    /// Compares no command or address: the name is unique.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.on == other.on && self.timeout == other.timeout
    }
}

impl Eq for NotifyTarget {}
