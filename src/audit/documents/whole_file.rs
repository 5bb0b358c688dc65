//! Files that are replaced as a whole and held by one process at a time, among all that share the
//! audit directory.

use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::Path;

use super::super::disk::fs;
use super::super::{AuditError, RunId};

/// Writes a temporary file and renames it, so that nobody sees half a file. `what` names the action
/// in an error.
pub(in crate::audit) fn write(
    path: &Path,
    bytes: &[u8],
    what: &'static str,
) -> Result<(), AuditError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let temporary = directory.join(format!(".{name}.{}.tmp", RunId::new()?));
    let written = fs::make_file(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&temporary, path))
        .and_then(|()| fs::sync_dir(directory));
    written.map_err(|error| {
        // If this fails too, an unused file is left behind.
        let _ = std::fs::remove_file(&temporary);
        AuditError::at(path, what, &error)
    })
}

/// Locks this file and checks that its path still names it: false while another process holds it or
/// has just replaced it.
pub(in crate::audit) fn hold(path: &Path, file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => fs::is_same_file(path, file),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
