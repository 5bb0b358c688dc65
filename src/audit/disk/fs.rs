//! Files and directories for the log: private, synced when we claim so, and open to the owner of
//! the audit directory. Every file of the audit directory is made here.

use std::fs::{DirEntry, File, read_dir};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::private_files::{self, FileOwner, may_hand_over};

/// Makes a directory and its parents, 0700, synced so that they survive a power cut. An existing
/// directory keeps its mode.
pub(in crate::audit) fn make_dir(path: &Path) -> io::Result<()> {
    for made in private_files::make_dirs(path)? {
        match made.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => sync_dir(parent)?,
            _ => sync_dir(Path::new("."))?,
        }
    }
    Ok(())
}

/// The entries of a directory; none if it does not exist.
pub(in crate::audit) fn entries(
    directory: &Path,
) -> io::Result<impl Iterator<Item = io::Result<DirEntry>> + use<>> {
    let entries = match read_dir(directory) {
        Ok(entries) => Some(entries),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    Ok(entries.into_iter().flatten())
}

/// Makes a new file, 0600.
pub(in crate::audit) fn make_file(path: &Path) -> io::Result<File> {
    check_owner(path)?;
    private_files::make(path)
}

/// Opens a file whose content does not matter; makes it, 0600, if it does not exist.
pub(in crate::audit) fn open_lock_file(path: &Path) -> io::Result<File> {
    check_owner(path)?;
    private_files::open(path)
}

/// Writes a file anew, 0600.
pub(in crate::audit) fn write_anew(path: &Path, bytes: &[u8]) -> io::Result<()> {
    check_owner(path)?;
    private_files::open_anew(path)?.write_all(bytes)
}

/// Sees to it that the names in a directory survive a power cut.
pub(in crate::audit) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// True if the path still names this very file.
pub(in crate::audit) fn is_same_file(path: &Path, file: &File) -> io::Result<bool> {
    let ours = file.metadata()?;
    match std::fs::symlink_metadata(path) {
        Ok(named) => Ok(named.dev() == ours.dev() && named.ino() == ours.ino()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The owner of a path, or of its nearest existing parent, if that is another user: the likely
/// reason for a missing right. Root does not count, since it owns the top directories.
pub(in crate::audit) fn other_owner(path: &Path) -> Option<u32> {
    let own = std::fs::symlink_metadata(path).ok();
    let of_file = own
        .as_ref()
        .map(FileOwner::new)
        .filter(|owner| !owner.is_us());
    let nearest = path
        .ancestors()
        .find_map(|above| std::fs::metadata(above).ok());
    let of_dir = nearest.as_ref().map(FileOwner::new);
    let of_dir = of_dir.filter(|owner| !owner.is_us() && owner.user != 0);
    of_file.or(of_dir).map(|owner| owner.user)
}

/// Fails before making a file that its directory's owner could not open and that we may not hand
/// over.
fn check_owner(path: &Path) -> io::Result<()> {
    let dir = path.parent().map(std::fs::metadata).transpose()?;
    match dir.as_ref().map(FileOwner::new) {
        Some(owner) if !owner.is_us() && !may_hand_over() => {
            Err(io::ErrorKind::PermissionDenied.into())
        }
        _ => Ok(()),
    }
}
