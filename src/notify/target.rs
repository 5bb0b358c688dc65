//! Where it is told.

use std::time::Duration;

use secrecy::SecretString;

use super::event::Occasion;
use crate::checks::CheckCommand;

/// A `[[notify]]` of the settings file.
#[derive(Debug, Clone)]
pub struct NotifyTarget {
    /// Its name.
    pub name: String,
    /// What is told there.
    pub on: Vec<Occasion>,
    /// How it is told.
    pub to: NotifyTo,
    /// How long telling it once may take.
    pub timeout: Duration,
}

/// How something is told.
#[derive(Debug, Clone)]
pub enum NotifyTo {
    /// JSON on the standard input of a command.
    Command(CheckCommand),
    /// JSON by POST to an address, which often holds a secret.
    Address(SecretString),
}

impl PartialEq for NotifyTarget {
    /// By name, which is unique: an address is not compared.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.on == other.on && self.timeout == other.timeout
    }
}

impl Eq for NotifyTarget {}
