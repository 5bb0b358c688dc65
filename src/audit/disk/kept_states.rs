//! The kept states of pages, so that every write can be taken back.
//!
//! A state is kept as gzip of its JSON, named by the SHA-256 of that JSON: equal states share a
//! file, and a changed file is detected.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;

use super::super::{AuditError, KeptState, RunId};
use super::fs;
use super::layout::AuditLayout;
use crate::page::PageState;

/// The largest JSON of a state, in bytes; twice the largest answer that is accepted from a wiki. A
/// larger state is not kept, so that every kept state can be read, and a file that unpacks to more
/// was not written by this program.
const MAX_STATE: usize = 64 * 1024 * 1024;

/// Timeout and poll interval while others keep or remove states.
const WAIT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(1);

/// Keeps a state: completely on the disk before this returns.
pub(in crate::audit) fn keep(
    place: &AuditLayout,
    state: &PageState,
) -> Result<KeptState, AuditError> {
    let json = serde_json::to_vec(state).map_err(|_| AuditError::BrokenOff)?;
    if json.len() > MAX_STATE {
        return Err(AuditError::TooLarge);
    }
    let name = KeptState::new(&json);
    let path = place.kept(name);
    // Held so that no purge removes the state between our finding and our touching it.
    let _held = hold(place, true)?;
    let is_there = match unpack(&path) {
        // A state that cannot be touched is written again.
        Ok(found) if found == json => touch(&path).is_ok(),
        Err(AuditError::Missing) => false,
        Ok(_) | Err(_) => {
            tracing::warn!(path = %path.display(), "audit: a damaged kept state is replaced");
            false
        }
    };
    if !is_there {
        let pages = place.pages();
        fs::make_dir(&pages).map_err(|error| AuditError::at(&pages, "make directory", &error))?;
        write(place, name, &path, &json)?;
    }
    // Also for an existing state: another process may not have synced it yet.
    fs::sync_dir(&place.pages())
        .map_err(|error| AuditError::at(&path, "keep the name of a state", &error))?;
    Ok(name)
}

/// Unpacked size of a kept state in bytes, as its file says; 0 if there is none. Reading it back
/// never takes more.
pub(in crate::audit) fn size(place: &AuditLayout, name: KeptState) -> usize {
    File::open(place.kept(name)).map_or(0, |mut file| said_size(&mut file).unwrap_or(0))
}

/// The length of what a file unpacks to: the last four bytes of gzip.
fn said_size(file: &mut File) -> io::Result<usize> {
    let mut length = [0; 4];
    file.seek(SeekFrom::End(-4))?;
    file.read_exact(&mut length)?;
    file.rewind()?;
    Ok(usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX))
}

/// Checks a kept state against the hash in its name.
pub(in crate::audit) fn check(place: &AuditLayout, name: KeptState) -> Result<(), AuditError> {
    unpacked(place, name).map(drop)
}

/// Reads a kept state back.
pub(in crate::audit) fn kept(
    place: &AuditLayout,
    name: KeptState,
) -> Result<PageState, AuditError> {
    serde_json::from_slice(&unpacked(place, name)?).map_err(|_| AuditError::Damaged)
}

/// The JSON of a state, which is what its name says.
fn unpacked(place: &AuditLayout, name: KeptState) -> Result<Vec<u8>, AuditError> {
    let json = unpack(&place.kept(name))?;
    if KeptState::new(&json) == name {
        Ok(json)
    } else {
        Err(AuditError::Damaged)
    }
}

/// Removes a state, unless it was kept again since then.
pub(in crate::audit) fn remove(
    place: &AuditLayout,
    name: KeptState,
    not_since: SystemTime,
) -> Result<bool, AuditError> {
    let path = place.kept(name);
    let _held = hold(place, false)?;
    let removed = match std::fs::symlink_metadata(&path).and_then(|found| found.modified()) {
        Ok(kept) if kept > not_since => return Ok(false),
        Ok(_) => std::fs::remove_file(&path),
        Err(error) => Err(error),
    };
    match removed {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(AuditError::at(&path, "remove a kept state", &error)),
    }
}

/// Locks the states: shared, to keep one, or exclusively, to remove one. Nobody holds the lock for
/// longer than one state takes.
fn hold(place: &AuditLayout, is_shared: bool) -> Result<File, AuditError> {
    let path = place.pages_lock();
    let failed = |error: &io::Error| AuditError::at(&path, "lock the kept states", error);
    fs::make_dir(&place.wiki).map_err(|error| failed(&error))?;
    let file = fs::open_lock_file(&path).map_err(|error| failed(&error))?;
    let asked = Instant::now();
    loop {
        let locked = if is_shared {
            file.try_lock_shared()
        } else {
            file.try_lock()
        };
        match locked {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if asked.elapsed() > WAIT => {
                return Err(AuditError::Busy);
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(POLL),
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
        }
    }
}

/// Marks the state as kept now, for purges.
fn touch(path: &Path) -> io::Result<()> {
    File::open(path)?.set_modified(SystemTime::now())
}

/// Writes a temporary file and renames it, so that nobody sees half a state.
fn write(place: &AuditLayout, name: KeptState, path: &Path, json: &[u8]) -> Result<(), AuditError> {
    let temporary = place.pages().join(format!(".{name}.{}.tmp", RunId::new()?));
    let written = pack(&temporary, json).and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|error| {
        // If this fails too, an unused file is left behind.
        let _ = std::fs::remove_file(&temporary);
        AuditError::at(path, "keep a state", &error)
    })
}

fn pack(path: &Path, json: &[u8]) -> io::Result<()> {
    // A write waits for this: better compression takes ten times as long for a third less.
    let mut packer = GzEncoder::new(fs::make_file(path)?, Compression::fast());
    packer.write_all(json)?;
    packer.finish()?.sync_all()
}

fn unpack(path: &Path) -> Result<Vec<u8>, AuditError> {
    let damaged_or = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound => AuditError::Missing,
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
            AuditError::Damaged
        }
        _ => AuditError::at(path, "read a kept state", error),
    };
    let mut file = File::open(path).map_err(|error| damaged_or(&error))?;
    // One that is shorter than its own length is no gzip.
    let said = said_size(&mut file).map_err(|_| AuditError::Damaged)?;
    if said > MAX_STATE {
        return Err(AuditError::Damaged);
    }
    let mut json = Vec::with_capacity(said);
    let limit = u64::try_from(said).unwrap_or(u64::MAX);
    let mut packed = GzDecoder::new(BufReader::new(file));
    packed
        .by_ref()
        .take(limit.saturating_add(1))
        .read_to_end(&mut json)
        .map_err(|error| damaged_or(&error))?;
    if json.len() > said {
        return Err(AuditError::Damaged);
    }
    // The name proves what is packed; nothing of ours stands behind it.
    let mut rest = packed.into_inner();
    let rest = rest.fill_buf().map_err(|error| damaged_or(&error))?;
    if rest.is_empty() {
        Ok(json)
    } else {
        Err(AuditError::Damaged)
    }
}

#[cfg(test)]
mod tests;
