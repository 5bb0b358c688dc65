//! Files that a command could not read or write: which, why, and what to do.

use std::io::ErrorKind;
use std::path::Path;

use super::print;
use crate::config::why_unread;

/// A file that could not be written.
pub(super) fn unwritten(path: &Path, why: ErrorKind) -> String {
    let why = match why {
        ErrorKind::NotFound => "its directory is not there; make it, or name another file",
        ErrorKind::PermissionDenied => {
            "this user may not write there; mend the rights, or name another file"
        }
        // What makes files here replaces none but a link.
        ErrorKind::AlreadyExists => "it is a link; name the file itself",
        ErrorKind::IsADirectory => "it is a directory; name a file in it",
        ErrorKind::NotADirectory => "what it should lie in is no directory; name another file",
        ErrorKind::StorageFull => "the disk is full; make room, or name another file",
        ErrorKind::QuotaExceeded => "this user's quota is full; make room, or name another file",
        ErrorKind::ReadOnlyFilesystem => "nothing can be written there; name another file",
        other => return format!("{} cannot be written: {other}", print::path(path)),
    };
    format!("{} cannot be written: {why}", print::path(path))
}

/// A directory that could not be made, or written.
pub(super) fn unmade(path: &Path, why: ErrorKind) -> String {
    let why = match why {
        ErrorKind::NotFound => "no directory can be made there",
        ErrorKind::PermissionDenied => "this user may not write there",
        ErrorKind::NotADirectory => "it, or what it should lie in, is no directory",
        ErrorKind::StorageFull => "the disk is full",
        ErrorKind::QuotaExceeded => "this user's quota is full",
        ErrorKind::ReadOnlyFilesystem => "nothing can be written there",
        other => &other.to_string(),
    };
    let path = print::path(path);
    format!("{path} cannot be written: {why}; name another directory")
}

/// A file that could not be read.
pub(super) fn unread(path: &Path, why: ErrorKind) -> String {
    format!("{} cannot be read: {}", print::path(path), why_unread(why))
}
