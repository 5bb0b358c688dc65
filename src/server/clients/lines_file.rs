//! A private file of lines: read if nobody else could have written it, replaced as a whole under
//! a lock, by the server and by operators' commands.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::tokens_fault::TokensFileError;
use crate::private_files::{self, changeable_by_others, changeable_by_others_than_its_owner};

/// The largest file that is read.
const MOST_BYTES: u64 = 1024 * 1024;

/// A private file of lines.
#[derive(Debug, Clone)]
pub(in crate::server) struct LinesFile {
    path: PathBuf,
    /// True if a command looks after it for its owner.
    is_looked_after: bool,
}

impl LinesFile {
    /// A file that may not be there yet.
    pub(in crate::server) const fn new(path: PathBuf) -> Self {
        Self {
            path,
            is_looked_after: false,
        }
    }

    /// The same for an operator's command: root may look after the file of a service's user.
    pub(in crate::server) fn for_operator(path: PathBuf) -> Self {
        Self {
            path,
            is_looked_after: private_files::may_hand_over(),
        }
    }

    pub(in crate::server) fn path(&self) -> &Path {
        &self.path
    }

    /// Its text, if nobody else could have written it; nothing if there is no file.
    pub(in crate::server) fn trusted(&self) -> Result<String, TokensFileError> {
        match self.text()? {
            (_, Some(fault)) => Err(TokensFileError::Foreign(fault)),
            (text, None) => Ok(text),
        }
    }

    /// Its text, and why others may have written it; `None` if there is no file.
    pub(in crate::server) fn text(
        &self,
    ) -> Result<(String, Option<&'static str>), TokensFileError> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Default::default()),
            file => file?,
        };
        let metadata = file.metadata()?;
        if metadata.len() > MOST_BYTES {
            return Err(TokensFileError::TooLarge);
        }
        let mut text = String::new();
        file.take(MOST_BYTES).read_to_string(&mut text)?;
        let fault = if self.is_looked_after {
            changeable_by_others_than_its_owner(&metadata)
        } else {
            changeable_by_others(&metadata)
        };
        Ok((text, fault))
    }

    /// Changes the file while nobody else does; whoever reads it sees it before or after.
    pub(in crate::server) fn change<T, E: From<TokensFileError>>(
        &self,
        change: impl FnOnce(&str) -> Result<(Vec<String>, T), E>,
    ) -> Result<T, E> {
        let failed = |error: io::Error| E::from(error.into());
        let lock = private_files::open(&self.path.with_added_extension("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let (mut lines, value) = change(&self.trusted()?)?;
        lines.push(String::new());
        let text = lines.join("\n");
        if u64::try_from(text.len()).is_ok_and(|length| length > MOST_BYTES) {
            return Err(TokensFileError::TooLarge.into());
        }
        private_files::replace(&self.path, text.as_bytes()).map_err(failed)?;
        Ok(value)
    }
}

/// Parses the lines of a text; one bad line spoils them all. `writer` is whatever writes such
/// lines.
pub(in crate::server) fn read_lines<T: DeserializeOwned>(
    text: &str,
    writer: &str,
    mut check: impl FnMut(&T) -> Result<(), String>,
) -> Result<Vec<T>, TokensFileError> {
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            let line_fault = |fault| TokensFileError::Line {
                line: number + 1,
                fault,
            };
            // serde's own message could repeat what is there.
            let one: T = serde_json::from_str(line)
                .map_err(|_| line_fault(format!("it is not of the form that {writer} writes")))?;
            check(&one).map_err(line_fault)?;
            Ok(one)
        })
        .collect()
}
