//! All indexes in a directory, of any wiki and key.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::settings::{DIGEST_CHARS, ENDING};
use super::store::{self, BESIDE};
use crate::hex::is_hex;

/// An index on the disk, by its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnDisk {
    /// Its file.
    pub file: PathBuf,
    /// The host of its wiki, with the port if that is not the usual one.
    pub wiki: String,
    /// The digest of key and wiki, in hexadecimal.
    pub digest: String,
    /// The number of pages; `None` if it cannot be read.
    pub pages: Option<usize>,
    /// Its size on the disk with its companion files, in bytes.
    pub bytes: u64,
    /// The time of its last change.
    pub changed: Option<SystemTime>,
}

/// All indexes of a directory by name, including those of which only a companion file is left;
/// empty if there is no directory.
///
/// # Errors
/// The directory cannot be read.
pub fn all(dir: &Path) -> io::Result<Vec<OnDisk>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().into_string().ok();
        if let Some(index) = name.as_deref().and_then(index_of)
            && entry.file_type()?.is_file()
        {
            names.insert(index.to_owned());
        }
    }
    Ok(names
        .iter()
        .filter_map(|name| index_at(dir, name))
        .collect())
}

/// The name of the index that a file belongs to.
fn index_of(name: &str) -> Option<&str> {
    let mut names = BESIDE.iter().filter_map(|end| name.strip_suffix(end));
    names.find(|name| parts(name).is_some())
}

/// Host and digest in the name of an index.
fn parts(name: &str) -> Option<(&str, &str)> {
    let (host, digest) = name.strip_suffix(ENDING)?.rsplit_once('~')?;
    is_hex(digest, DIGEST_CHARS).then_some((host, digest))
}

fn index_at(dir: &Path, name: &str) -> Option<OnDisk> {
    let (wiki, digest) = parts(name)?;
    let file = dir.join(name);
    // Measured before the index is opened, which may change its files.
    let files: Vec<_> = store::files(&file)
        .filter_map(|file| fs::symlink_metadata(file).ok())
        .collect();
    Some(OnDisk {
        wiki: wiki.replace('+', ":"),
        digest: digest.to_owned(),
        pages: store::pages_in(&file).ok(),
        bytes: files.iter().map(fs::Metadata::len).sum(),
        changed: files.iter().filter_map(|file| file.modified().ok()).max(),
        file,
    })
}

/// True if a server is filling an index at the moment.
pub fn is_being_filled(file: &Path) -> bool {
    let lock = file.with_added_extension("lock");
    let lock = OpenOptions::new().append(true).open(lock);
    lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(fs::TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::index_of;

    #[test]
    fn only_what_is_named_as_an_index_is_one() {
        let digest = "0123456789abcdef".repeat(2);
        let ours = format!("wiki.example.com~{digest}.db");
        for end in ["", "-wal", "-shm", "-journal", ".lock", ".meaning"] {
            assert_eq!(index_of(&format!("{ours}{end}")), Some(&*ours));
        }
        for other in [
            format!("{ours}.bak"),
            format!("wiki~{}.db", digest.to_uppercase()),
            format!("wiki~{digest}0.db"),
            format!("wiki-{digest}.db"),
            "notes.db".to_owned(),
        ] {
            assert_eq!(index_of(&other), None, "{other}");
        }
    }
}
