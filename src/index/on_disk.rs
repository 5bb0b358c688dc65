//! Removes the indexes of a wiki on the disk.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::settings::{DIGEST_CHARS, ENDING};
use super::store::{self, BESIDE};
use crate::hex::is_hex;

/// Removes the index in this file and those of other keys of the same wiki in its directory, also
/// those of which only a companion file is left; returns the number of them.
///
/// # Errors
/// The directory cannot be read, or a file cannot be removed.
pub fn clear(index: &Path) -> io::Result<usize> {
    let own = index.file_name().and_then(|name| parts(name.to_str()?));
    let (Some(dir), Some((host, _))) = (index.parent(), own) else {
        return Ok(0);
    };
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().into_string().ok();
        if let Some(name) = name.as_deref().and_then(index_of)
            && parts(name).is_some_and(|(of, _)| of == host)
            && entry.file_type()?.is_file()
        {
            names.insert(name.to_owned());
        }
    }
    for name in &names {
        store::remove(&dir.join(name))?;
    }
    Ok(names.len())
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
