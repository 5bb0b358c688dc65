//! Ends a command with an error: its exit code, its message, and the failure of a call.

use std::fmt::Display;

use super::advice::advice;
use super::exit::Exit;
use crate::audit::{AuditError, CallHistoryError};
use crate::error::Failure;
use crate::memory::MemoryError;

/// The end of a command that did not do what was asked for.
#[derive(Debug)]
pub(super) struct CommandError {
    pub(super) exit: Exit,
    /// The message for a person.
    pub(super) message: String,
    /// The failure of a call, which a program gets whole.
    pub(super) failure: Option<Box<Failure>>,
}

impl CommandError {
    pub(super) fn new(exit: Exit, message: impl Display) -> Self {
        Self {
            exit,
            message: message.to_string(),
            failure: None,
        }
    }
}

impl Exit {
    /// The end of a command on a wrong command line or setting, with its message.
    pub(super) fn usage(message: impl Display) -> CommandError {
        CommandError::new(Self::Usage, message)
    }

    /// The end of a command that failed, with its message.
    pub(super) fn failed(message: impl Display) -> CommandError {
        CommandError::new(Self::Failed, message)
    }

    /// The end of a command that a gate or a person refused, with its message.
    pub(super) fn refused(message: impl Display) -> CommandError {
        CommandError::new(Self::Refused, message)
    }
}

impl From<Failure> for CommandError {
    fn from(failure: Failure) -> Self {
        Self {
            exit: Exit::for_code(failure.code),
            message: format!("{failure} {}", advice(&failure)),
            failure: Some(Box::new(failure)),
        }
    }
}

impl From<AuditError> for CommandError {
    fn from(error: AuditError) -> Self {
        Exit::failed(format!("{error}; {}", error.hint()))
    }
}

impl From<MemoryError> for CommandError {
    fn from(error: MemoryError) -> Self {
        Exit::failed(format!("{error}; {}", error.hint()))
    }
}

impl From<CallHistoryError> for CommandError {
    fn from(error: CallHistoryError) -> Self {
        match &error {
            CallHistoryError::Audit(error) => error.clone().into(),
            CallHistoryError::Ambiguous {
                candidates,
                has_more,
            } => {
                let mut names: Vec<String> = candidates.iter().map(ToString::to_string).collect();
                if *has_more {
                    names.push("…".to_owned());
                }
                Exit::failed(format!("{error}: {}", names.join(", ")))
            }
            CallHistoryError::NotFound | CallHistoryError::NoneLeft => Exit::failed(format!(
                "{error}; `wikijs-gate audit list` has the calls that there are"
            )),
        }
    }
}
