//! Defines the errors of the file of named clients.

use std::io;

/// An error of the file of named clients. No message repeats any of its content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokensFileError {
    /// It cannot be read or written.
    #[error("the tokens file cannot be used: {0}")]
    Io(io::ErrorKind),
    /// Others could have written it.
    #[error("the tokens file {0}")]
    Foreign(&'static str),
    /// It is far too large.
    #[error("the tokens file is larger than a megabyte")]
    TooLarge,
    /// A line is no client.
    #[error("line {line} of the tokens file is no client: {fault}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// Its fault.
        fault: String,
    },
    /// There is no client in it, or no file.
    #[error("the tokens file is missing or names no client: nobody may call")]
    NoClient,
    /// A client of this name is there already.
    #[error("a client of this name is there already; revoke it first")]
    Taken,
    /// There is no client of this name.
    #[error("there is no client of this name; `wikijs-gate token list` has all")]
    Unknown,
    /// Nobody signs in as this client.
    #[error("this client has a token; only reviewers and auditors sign in with a link")]
    HasNoLink,
    /// The new secret is not of its role, or its line cannot be read.
    #[error("{0}")]
    NotRotated(&'static str),
}

impl From<io::Error> for TokensFileError {
    fn from(error: io::Error) -> Self {
        Self::Io(error.kind())
    }
}
