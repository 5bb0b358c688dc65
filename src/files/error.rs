//! Lists the errors of a folder of files.

use std::fmt::Write as _;
use std::io;

use rustix::io::Errno;
use thiserror::Error;

use crate::error::Failure;

/// The reason why a file is not taken to the wiki (W19).
pub(super) const TOO_LARGE: &str = "it is larger than 5 MB, which Wiki.js does not take";
/// The most faults that are named.
const NAMED: usize = 100;
const IN_THE_WAY: &str = "a link, a file or a directory is in the way; links are not followed";

/// An error that stops a command on files.
#[derive(Debug, Error)]
pub enum FilesError {
    /// A file could not be read or written.
    #[error("{name}: {}", Self::in_words(.error))]
    Io {
        /// Its name, relative to the folder.
        name: String,
        /// The cause.
        error: io::Error,
    },
    /// Another command works in the folder.
    #[error("another `files` command works in this folder; wait until it has ended")]
    Busy,
    /// The folder was not made by `files pull`.
    #[error(
        "this is no folder of a wiki's files: it has no .wikijs/site.json; begin with `wikijs-gate files pull` into an empty directory"
    )]
    NotOurs,
    /// The directory holds files that were not pulled from a wiki.
    #[error(
        "the directory is not empty, and what is in it was not pulled from a wiki; name an empty one"
    )]
    NotEmpty,
    /// `.wikijs/site.json` cannot be used.
    #[error(
        ".wikijs/site.json is damaged, or a newer version wrote it; restore it, or pull into an empty directory"
    )]
    BadScope,
    /// The folder is of another wiki.
    #[error("this folder has the files of {folder}, but the settings name {settings}")]
    OtherWiki {
        /// The wiki of the folder.
        folder: String,
        /// The wiki that the settings name.
        settings: String,
    },
    /// The folder has another part of the wiki.
    #[error("this folder has {}; pull another part into a directory of its own", part(.folder.as_deref()))]
    OtherPart {
        /// The path of the folder's part; `None` for all pages.
        folder: Option<String>,
    },
    /// A base state was edited or is damaged.
    #[error("{file} was edited or is damaged; restore it, or delete it and pull again")]
    BadBase {
        /// Its file.
        file: String,
    },
    /// Several files cannot be used.
    #[error("{} files cannot be used:{}", .0.len(), in_lines(.0))]
    Several(Vec<Self>),
    /// A request to the wiki or a write failed.
    #[error("{0}")]
    Wiki(#[from] Failure),
}

impl FilesError {
    /// Joins the faults of these files in one error; `Ok` if there are none.
    pub(super) fn all(mut faults: Vec<Self>) -> Result<(), Self> {
        match faults.pop() {
            None => Ok(()),
            Some(only) if faults.is_empty() => Err(only),
            Some(last) => {
                faults.push(last);
                Err(Self::Several(faults))
            }
        }
    }

    /// True if something stands, in a way that this user cannot change, where a page's file has to be.
    pub(super) fn is_in_the_way(&self) -> bool {
        let Self::Io { name, error } = self else {
            return false;
        };
        let is_closed = error.kind() == io::ErrorKind::PermissionDenied;
        !name.starts_with('.') && (is_closed || is_of_another_kind(error))
    }

    /// Makes an error for the file of this name.
    pub(super) fn for_file(name: &str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io {
            name: name.to_owned(),
            error,
        }
    }

    /// Explains why a file could not be read or written.
    pub(super) fn in_words(error: &io::Error) -> String {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "the disk is full; make room and run the command again".to_owned()
            }
            // The system says it of a file that is written, with its number.
            io::ErrorKind::FileTooLarge if error.raw_os_error().is_some() => {
                "the system lets no file become this large; raise its limit and run the command again"
                    .to_owned()
            }
            io::ErrorKind::FileTooLarge => TOO_LARGE.to_owned(),
            io::ErrorKind::PermissionDenied => "this user may not read or write it".to_owned(),
            _ if is_of_another_kind(error) => IN_THE_WAY.to_owned(),
            _ => error.to_string(),
        }
    }
}

/// True if a link, a file or a directory stands where something else has to.
fn is_of_another_kind(error: &io::Error) -> bool {
    let is_link = error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
    let kinds = [io::ErrorKind::NotADirectory, io::ErrorKind::IsADirectory];
    is_link || kinds.contains(&error.kind())
}

fn in_lines(faults: &[FilesError]) -> String {
    let mut lines = String::new();
    // A string takes any text.
    for fault in faults.iter().take(NAMED) {
        let _ = write!(lines, "\n  {fault}");
    }
    if let Some(more @ 1..) = faults.len().checked_sub(NAMED) {
        let _ = write!(lines, "\n  and {more} more");
    }
    lines
}

fn part(path: Option<&str>) -> String {
    match path {
        Some(path) => format!("the pages at and below {path}"),
        None => "all pages of the wiki".to_owned(),
    }
}
