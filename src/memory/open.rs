//! Opens the file of the memories: private, ours, and never through a link.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::error::MemoryError;
use super::rows::TABLES;
use crate::private_files::{self, FileOwner};

/// Raised with every change of the tables.
const VERSION: i64 = 1;
/// Marks a database as ours.
const APPLICATION: i64 = 0x776a_6d31;
/// The time to wait for other processes.
const WAIT: Duration = Duration::from_secs(5);
/// Rights of others than the owner.
const OTHERS: u32 = 0o077;

/// Opens the store; makes it if it is not there and may be made.
///
/// A file that cannot be used stays as it is: what was remembered is nowhere else.
pub(super) fn open(path: &Path, makes: bool) -> Result<Option<Connection>, MemoryError> {
    let Some(path) = place(path, makes)? else {
        return Ok(None);
    };
    let mut db = Connection::open_with_flags(
        &path,
        OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NOFOLLOW
            | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    db.busy_timeout(WAIT)?;
    // Nothing that a file brings along is run or trusted.
    db.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")?;
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let made_by: i64 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
    match (version, made_by) {
        (VERSION, APPLICATION) => {}
        (0, 0) => begin(&mut db)?,
        (newer, APPLICATION) if newer > VERSION => return Err(MemoryError::Newer),
        _ => return Err(MemoryError::Damaged),
    }
    db.execute_batch("PRAGMA synchronous = FULL;")?;
    Ok(Some(db))
}

/// The place of the file without links above it, once it is ours and private.
///
/// A file that is there is not opened here: closing it would drop the locks that other connections
/// of this process hold on it.
fn place(path: &Path, makes: bool) -> Result<Option<PathBuf>, MemoryError> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(MemoryError::BrokenOff);
    };
    if makes {
        private_files::make_dirs(dir)?;
    }
    let is_missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    if std::fs::symlink_metadata(path)
        .as_ref()
        .is_err_and(is_missing)
    {
        if !makes {
            return Ok(None);
        }
        match private_files::make(path) {
            // Another process made it just now.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            made => drop(made?),
        }
    }
    check(path, dir)?;
    Ok(Some(dir.canonicalize()?.join(name)))
}

/// Checks that nobody else can have put the file there, and takes others' rights away.
fn check(path: &Path, dir: &Path) -> Result<(), MemoryError> {
    let found = std::fs::symlink_metadata(path)?;
    if found.is_symlink() {
        return Err(MemoryError::NotOurs("is a link"));
    }
    if !found.is_file() {
        return Err(MemoryError::NotOurs("is not a file"));
    }
    if found.nlink() > 1 {
        return Err(MemoryError::NotOurs("has a second name"));
    }
    let owner = FileOwner::of(&found);
    let dir = std::fs::metadata(dir)?;
    let is_handed_over = private_files::may_hand_over() && owner == FileOwner::of(&dir);
    if !owner.is_us() && !is_handed_over {
        return Err(MemoryError::NotOurs("belongs to another user"));
    }
    if dir.mode() & 0o022 != 0 {
        return Err(MemoryError::NotOurs("lies where others may write"));
    }
    // Nobody else can put another file in its place by now.
    if found.mode() & OTHERS != 0 {
        std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    }
    Ok(())
}

/// Makes the tables in an empty file, unless another process just did.
fn begin(db: &mut Connection) -> Result<(), MemoryError> {
    db.execute_batch("PRAGMA journal_mode = WAL;")?;
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = change.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == 0 {
        let tables: i64 =
            change.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        if tables > 0 {
            return Err(MemoryError::Damaged);
        }
        change.execute_batch(TABLES)?;
        change.pragma_update(None, "application_id", APPLICATION)?;
        change.pragma_update(None, "user_version", VERSION)?;
    }
    Ok(change.commit()?)
}
