//! Explains why a file cannot be read, and what to do.

use std::io::ErrorKind;

/// The text after "cannot be read: ".
#[must_use]
pub fn why_unread(kind: ErrorKind) -> String {
    match kind {
        ErrorKind::NotFound => "it is not there; look at its name".to_owned(),
        ErrorKind::PermissionDenied => "this user may not read it; mend its rights".to_owned(),
        ErrorKind::IsADirectory => "it is a directory; name a file in it".to_owned(),
        ErrorKind::InvalidData => "it is no text in UTF-8".to_owned(),
        other => other.to_string(),
    }
}
