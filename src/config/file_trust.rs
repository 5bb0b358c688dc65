//! Reads files that the settings name: tells why one cannot be read, if other users could have
//! changed it, and whether it changed since.

use std::fs::Metadata;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use secrecy::SecretString;

use crate::private_files::{changeable_by_others, open_at_once};

/// The most bytes of a secret's file.
const MOST_OF_SECRET: u64 = 4096;

/// The state of a file: its change time in seconds and nanoseconds, its length, its inode.
pub(crate) type FileStamp = (i64, i64, u64, u64);

/// The state of a file by what the system says of it.
pub(crate) fn stamp_of(file: &Metadata) -> FileStamp {
    (file.ctime(), file.ctime_nsec(), file.len(), file.ino())
}

/// The first `most` bytes of a file that others may not write, and its metadata.
///
/// # Errors
/// What is wrong with the file, as the end of a sentence.
pub(super) fn read_trusted(path: &Path, most: u64) -> Result<(Vec<u8>, Metadata), String> {
    let unread = |error: io::Error| format!("cannot be read: {}", why_unread(error.kind()));
    let file = open_at_once(path).map_err(unread)?;
    let metadata = file.metadata().map_err(unread)?;
    if let Some(fault) = changeable_by_others(&metadata) {
        return Err(fault.to_owned());
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.is_empty() && metadata.file_type().is_fifo() {
        return Err("is a pipe that nobody writes into".to_owned());
    }
    Ok((bytes, metadata))
}

/// The same, of a text.
///
/// # Errors
/// What is wrong with the file, as the end of a sentence.
pub(super) fn read_trusted_text(path: &Path, most: u64) -> Result<(String, Metadata), String> {
    let (bytes, metadata) = read_trusted(path, most)?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| format!("cannot be read: {}", why_unread(ErrorKind::InvalidData)));
    Ok((text?, metadata))
}

/// The secret in a file to which only its owner has access.
///
/// # Errors
/// What is wrong with the file, as the end of a sentence, without any of its contents.
pub fn read_secret(path: &Path) -> Result<SecretString, String> {
    let (text, metadata) = read_trusted_text(path, MOST_OF_SECRET)?;
    if is_open_to_others(&metadata) {
        return Err("may be read by others than its owner; take that away with chmod 600, and make another key".to_owned());
    }
    Ok(text.into())
}

/// The text after "cannot be read: ".
pub fn why_unread(kind: ErrorKind) -> String {
    match kind {
        ErrorKind::NotFound => "it is not there; look at its name".to_owned(),
        ErrorKind::PermissionDenied => "this user may not read it; mend its rights".to_owned(),
        ErrorKind::IsADirectory => "it is a directory; name a file in it".to_owned(),
        ErrorKind::InvalidData => "it is no text in UTF-8".to_owned(),
        other => other.to_string(),
    }
}

/// A warning if a setting names a secret's file that others may read.
pub(super) fn readable_by_others(setting: &str, file: &Metadata) -> Option<String> {
    is_open_to_others(file).then(|| {
        format!(
            "the file that {setting} names may be read by others than its owner; take that away with chmod 600"
        )
    })
}

/// True if others than its owner may read a secret's file. One of root's may be read by its group: so
/// containers get secrets, whose processes are not root.
pub(super) fn is_open_to_others(file: &Metadata) -> bool {
    may_be_read_by_others(file.mode(), file.uid())
}

const fn may_be_read_by_others(mode: u32, owner: u32) -> bool {
    let others = if owner == 0 { 0o004 } else { 0o044 };
    mode & others != 0
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{may_be_read_by_others, read_trusted};

    #[test]
    fn a_pipe_is_read_from_its_writer_and_without_one_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
        let told = read_trusted(&pipe, 10).unwrap_err();
        assert_eq!(told, "is a pipe that nobody writes into");
        let mut options = std::fs::File::options();
        let mut writer = options.read(true).write(true).open(&pipe).unwrap();
        writer.write_all(b"twelve bytes").unwrap();
        assert_eq!(read_trusted(&pipe, 6).unwrap().0, b"twelve");
    }

    #[test]
    fn the_group_may_read_a_secret_of_roots_alone() {
        for (mode, owner, is_open) in [
            (0o100_400, 1000, false),
            (0o100_440, 1000, true),
            (0o100_404, 1000, true),
            (0o100_440, 0, false),
            (0o100_444, 0, true),
        ] {
            assert_eq!(
                may_be_read_by_others(mode, owner),
                is_open,
                "{mode:o} {owner}"
            );
        }
    }
}
