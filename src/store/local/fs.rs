//! Files and directories of the store: private, synced when we claim so, and open to the owner of
//! the directory that they are in. Every file of the store is made here.

use std::fs::{DirEntry, File, Metadata, read_dir};
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};

use super::super::{Listed, StoreError, StoreResult};
use super::if_there;
use crate::private_files::{self, FileOwner, may_hand_over};

/// Number of bytes read at once while the end of a last line is looked for.
const CHUNK: u64 = 8 * 1024;
/// Bits of a mode: others than the owner may write.
pub(super) const WRITE_BY_OTHERS: u32 = 0o022;

/// Makes a directory and its parents, 0700, synced so that they survive a power cut. An existing
/// directory keeps its mode.
pub(crate) fn make_dir(path: &Path) -> io::Result<()> {
    for made in private_files::make_dirs(path)? {
        match made.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => sync_dir(parent)?,
            _ => sync_dir(Path::new("."))?,
        }
    }
    Ok(())
}

/// The entries of a directory; none if it does not exist.
pub fn entries(directory: &Path) -> io::Result<impl Iterator<Item = io::Result<DirEntry>> + use<>> {
    Ok(if_there(read_dir(directory))?.into_iter().flatten())
}

/// Makes a new file, 0600.
pub(crate) fn make_file(path: &Path) -> io::Result<File> {
    check_owner(path)?;
    private_files::make(path)
}

/// Opens a file to be locked, or changed in place; makes it, 0600, if it does not exist.
pub(crate) fn open_lock_file(path: &Path) -> io::Result<File> {
    check_owner(path)?;
    private_files::open(path)
}

/// Sees to it that the names in a directory survive a power cut.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// True if the path still names this very file.
pub(crate) fn is_same_file(path: &Path, file: &File) -> io::Result<bool> {
    let ours = file.metadata()?;
    let named = if_there(std::fs::symlink_metadata(path))?;
    Ok(named.is_some_and(|named| named.dev() == ours.dev() && named.ino() == ours.ino()))
}

/// True if nobody but us, and root, can change a file.
pub(crate) fn is_ours_alone(found: &Metadata) -> bool {
    let is_ours = FileOwner::new(found).is_us() || may_hand_over();
    is_ours && found.mode() & WRITE_BY_OTHERS == 0
}

/// The owner of a path, or of its nearest existing parent, if that is another user: the likely
/// reason for a missing right. Root does not count, since it owns the top directories.
pub(crate) fn other_owner(path: &Path) -> Option<u32> {
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

/// Writes a file beside this one and gives it its name, so that nobody sees half of it; synced.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    make_dir(directory)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unique = getrandom::u64().map_err(io::Error::other)?;
    let temporary = directory.join(format!(".{name}.{unique:016x}.tmp"));
    let written = make_file(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&temporary, path))
        .and_then(|()| sync_dir(directory));
    if written.is_err() {
        // If this fails too, an unused file is left behind.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// Opens a file to be read: follows no link and never blocks, whatever was put in its place.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(openat(CWD, path, how, Mode::empty())?.into())
}

/// The bytes of a file; `None` if it has more than `most`.
pub(crate) fn read_at_most(file: &File, most: u64) -> io::Result<Option<Vec<u8>>> {
    // Nothing is read of one that is larger; it may grow all the same.
    if file.metadata()?.len() > most {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    let is_more = u64::try_from(bytes.len()).is_ok_and(|length| length > most);
    Ok((!is_more).then_some(bytes))
}

/// The files of a directory whose names end so, by their names without that ending. Others are
/// ignored, and so are those that go meanwhile.
pub fn list(directory: &Path, ending: &str) -> StoreResult<Vec<Listed>> {
    let failed = |error: io::Error| StoreError::at(directory, "list a directory", &error);
    let mut listed = Vec::new();
    for entry in entries(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_suffix(ending)) else {
            continue;
        };
        if name.starts_with('.') {
            continue;
        }
        if let Some(found) = if_there(entry.metadata()).map_err(failed)? {
            listed.push(Listed {
                name: name.to_owned(),
                length: found.len(),
                changed: found.modified().map_err(failed)?,
                version: version(&found),
            });
        }
    }
    Ok(listed)
}

/// Another number after each change of a file, of its mode and owner, too, and for each file in its place.
fn version(found: &Metadata) -> u128 {
    let [seconds, nanoseconds] = [found.ctime(), found.ctime_nsec()].map(i64::unsigned_abs);
    let time = seconds
        .wrapping_mul(1_000_000_000)
        .wrapping_add(nanoseconds);
    (u128::from(found.ino()) << 64) | u128::from(time)
}

/// The offset of a file's last line end, read from the end of the file; `None` if none is within the
/// last `most` bytes.
pub(crate) fn last_line_end(
    file: &mut (impl Read + Seek),
    length: u64,
    most: u64,
) -> io::Result<Option<u64>> {
    let mut end = length;
    let mut chunk = Vec::new();
    while end > 0 && length - end < most {
        let start = end.saturating_sub(CHUNK);
        read_range(file, start, end, &mut chunk)?;
        if let Some(index) = chunk.iter().rposition(|byte| *byte == b'\n') {
            let index = u64::try_from(index).unwrap_or(u64::MAX);
            return Ok(Some(start.saturating_add(index)));
        }
        end = start;
    }
    Ok(None)
}

/// Reads a part of a file in place of what was read before.
pub(crate) fn read_range(
    file: &mut (impl Read + Seek),
    start: u64,
    end: u64,
    into: &mut Vec<u8>,
) -> io::Result<()> {
    into.clear();
    file.seek(SeekFrom::Start(start))?;
    file.take(end.saturating_sub(start)).read_to_end(into)?;
    Ok(())
}
