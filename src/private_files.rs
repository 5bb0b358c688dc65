//! Private files: 0600, in directories of 0700, and owned by the owner of their directory.
//!
//! A file that root makes beside another user's service must be open to that user. So root hands it
//! over to the owner of the directory in which it is made. The directory is held open meanwhile, so
//! that a link which this owner puts in the way redirects nothing. The last name is never followed
//! as a link, and a file that existed before is never handed over.
//!
//! It also tells files that others may change, which nobody is to trust.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "makes private files for other rooms"
)]

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{
    Access, AtFlags, CWD, Mode, OFlags, accessat, fchown, fcntl_setfl, fstat, mkdirat, openat,
    unlinkat,
};
use rustix::fs::{Gid, Uid};
use rustix::process::geteuid;

const FILE: Mode = Mode::RUSR.union(Mode::WUSR);
/// The most that the mode of a private file may hold.
const PRIVATE: u32 = 0o600;
/// The number of tries if a file appears or disappears meanwhile.
const TRIES: usize = 8;

/// Opens a file to read it. A pipe that nobody writes into is empty, and not waited for.
pub fn open_at_once(path: &Path) -> io::Result<File> {
    let how = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(CWD, path, how, Mode::empty())?;
    // Whoever writes into one may take a moment.
    fcntl_setfl(&file, OFlags::empty())?;
    Ok(file.into())
}

/// The owner of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileOwner {
    /// The user.
    pub user: u32,
    /// The group.
    pub group: u32,
}

impl FileOwner {
    /// The owner by what the system says of a file.
    pub(crate) fn new(metadata: &Metadata) -> Self {
        Self {
            user: metadata.uid(),
            group: metadata.gid(),
        }
    }

    /// True if this process acts as that user.
    pub(crate) fn is_us(self) -> bool {
        self.user == geteuid().as_raw()
    }

    fn of_open(fd: impl AsFd) -> io::Result<Self> {
        let stat = fstat(fd)?;
        Ok(Self {
            user: stat.st_uid,
            group: stat.st_gid,
        })
    }

    /// Hands over a file that we just made, if it does not belong to that user already.
    fn take(self, made: impl AsFd) -> io::Result<()> {
        if !self.is_us() {
            let (user, group) = (Uid::from_raw(self.user), Gid::from_raw(self.group));
            fchown(made, Some(user), Some(group))?;
        }
        Ok(())
    }
}

/// True if this process may hand over the files that it makes.
pub fn may_hand_over() -> bool {
    geteuid().is_root()
}

/// Makes a file that was not there, to be read and written.
pub fn make(path: &Path) -> io::Result<File> {
    make_for(path, None)
}

/// Makes a file that was not there, with these bytes, surely on the disk. A part of one does not stay, which
/// would be in the way of the next try.
pub fn make_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = make(path)?;
    let written = { file.write_all(bytes) }
        .and_then(|()| file.sync_all())
        .and_then(|()| sync_parent(path));
    written.inspect_err(|_| drop(std::fs::remove_file(path)))
}

/// Makes a file that shall replace another one; if that exists, the new one gets its owner.
fn make_in_place_of(old: &Path, path: &Path) -> io::Result<File> {
    let old = std::fs::symlink_metadata(old).ok();
    make_for(path, old.as_ref().map(FileOwner::new))
}

/// Locks a file that is to be replaced: whoever waited has the one that was put in its place.
pub fn lock_to_replace(path: &Path) -> io::Result<File> {
    loop {
        let file = File::open(path)?;
        file.lock()?;
        let (held, there) = (file.metadata()?, std::fs::metadata(path)?);
        if (held.dev(), held.ino()) == (there.dev(), there.ino()) {
            return Ok(file);
        }
    }
}

/// Writes a file beside this one and puts it in its place, surely on the disk: whoever reads the file
/// sees it before or after. Only one process at a time may replace a file ([`lock_to_replace`]).
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_added_extension("new");
    // One that an earlier process left behind may have another mode.
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // Root may change the file of a service, which must be able to read it still.
    let written = make_in_place_of(path, &new)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&new, path));
    if written.is_err() {
        // If this fails too, the next replacement removes it.
        let _ = std::fs::remove_file(&new);
    }
    written?;
    sync_parent(path)
}

/// Writes the directory of a file to the disk, and thus the file's name.
fn sync_parent(path: &Path) -> io::Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    File::open(dir.unwrap_or(Path::new(".")))?.sync_all()
}

/// Opens a file to be read and written, and makes it if it is not there. In all of these, a link
/// in its place is [`io::ErrorKind::AlreadyExists`].
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::empty())
}

/// Opens a file to write at its end, and makes it if it is not there.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::APPEND)
}

/// Opens a file to write it anew, and makes it if it is not there. Of an existing file only its
/// owner keeps rights, and gets no new ones.
pub fn open_anew(path: &Path) -> io::Result<File> {
    let file = open_with(path, OFlags::empty())?;
    let found = file.metadata()?;
    if !found.is_file() {
        // A pipe or a device takes what comes.
        return Ok(file);
    }
    let mode = found.mode() & 0o7777;
    if mode & !PRIVATE != 0 {
        file.set_permissions(Permissions::from_mode(mode & PRIVATE))?;
    }
    file.set_len(0)?;
    Ok(file)
}

/// Makes a directory and those above it; gives those that were missing, the innermost first.
/// One that is there keeps its mode.
pub fn make_dirs(path: &Path) -> io::Result<Vec<&Path>> {
    let missing: Vec<&Path> = path
        .ancestors()
        .take_while(|above| !above.as_os_str().is_empty() && !above.exists())
        .collect();
    if may_hand_over() {
        for dir in missing.iter().rev() {
            make_dir(dir)?;
        }
    }
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| match error.kind() {
        // Something else is there: a directory would be no error.
        io::ErrorKind::AlreadyExists => io::ErrorKind::NotADirectory.into(),
        _ => error,
    })?;
    Ok(missing)
}

/// The path, or the nearest above it that is there.
pub fn nearest_existing(path: &Path) -> &Path {
    let found = path.ancestors().find(|above| above.exists());
    found.unwrap_or(Path::new("."))
}

/// True for a directory that this user may write, or may make. Makes nothing.
pub fn may_write_directory(path: &Path) -> bool {
    let nearest = nearest_existing(path);
    let needed = Access::WRITE_OK | Access::EXEC_OK;
    nearest.is_dir() && accessat(CWD, nearest, needed, AtFlags::EACCESS).is_ok()
}

fn open_with(path: &Path, how: OFlags) -> io::Result<File> {
    let how = how | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..TRIES {
        match openat(CWD, path, how, Mode::empty()) {
            Err(rustix::io::Errno::NOENT) => {}
            // The standard library has no stable word for it.
            Err(rustix::io::Errno::LOOP) => return Err(io::ErrorKind::AlreadyExists.into()),
            opened => return Ok(opened?.into()),
        }
        match make_with(path, None, how) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made,
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

fn make_for(path: &Path, owner: Option<FileOwner>) -> io::Result<File> {
    let how = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    make_with(path, owner, how)
}

fn make_with(path: &Path, owner: Option<FileOwner>, how: OFlags) -> io::Result<File> {
    let how = how | OFlags::CREATE | OFlags::EXCL;
    if !may_hand_over() {
        return Ok(openat(CWD, path, how, FILE)?.into());
    }
    let (dir, name) = place_of(path)?;
    let file = openat(&dir, name, how, FILE)?;
    let taken = match owner {
        Some(owner) => owner.take(&file),
        None => FileOwner::of_open(&dir).and_then(|owner| owner.take(&file)),
    };
    if let Err(error) = taken {
        // Nobody has seen the file yet. If this fails too, `doctor` reports the file.
        let _ = unlinkat(&dir, name, AtFlags::empty());
        return Err(error);
    }
    Ok(file.into())
}

/// Makes one directory, if nobody else was faster.
fn make_dir(path: &Path) -> io::Result<()> {
    let (parent, name) = place_of(path)?;
    match mkdirat(&parent, name, Mode::RWXU) {
        Err(rustix::io::Errno::EXIST) => return Ok(()),
        made => made?,
    }
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = openat(&parent, name, how, Mode::empty())?;
    FileOwner::of_open(&parent)?.take(made)
}

/// The directory that a path leads to, held open, and the last name.
fn place_of(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = openat(CWD, dir.unwrap_or(Path::new(".")), how, Mode::empty())?;
    Ok((dir, name))
}

/// The reason why a file cannot be trusted: others may write it, it belongs to another user, or it
/// is not a file. The metadata must be the open file's, so that nobody can exchange the file in
/// between.
pub fn changeable_by_others(file: &Metadata) -> Option<&'static str> {
    if file.is_dir() {
        return Some("is a directory; name a file in it");
    }
    fault(file.mode(), file.uid(), geteuid().as_raw())
}

/// Like [`changeable_by_others`], but the file may belong to any user: for root, who may change a
/// user's file on that user's behalf.
pub fn changeable_by_others_than_its_owner(file: &Metadata) -> Option<&'static str> {
    fault(file.mode(), file.uid(), file.uid())
}

/// The same by what the system says of a file or directory, for this user.
pub const fn fault(mode: u32, owner: u32, this_user: u32) -> Option<&'static str> {
    if mode & 0o022 != 0 {
        Some("may be written by others than its owner; take that away with chmod go-w")
    } else if owner != 0 && owner != this_user {
        Some("is owned by neither this user nor root; make it your own with chown")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn only_this_user_and_root_may_own_and_write_a_file() {
        for (mode, owner, is_fine) in [
            (0o100_600, 1000, true),
            (0o100_644, 0, true),
            (0o100_600, 1001, false),
            (0o100_620, 1000, false),
            (0o100_602, 0, false),
        ] {
            assert_eq!(
                fault(mode, owner, 1000).is_none(),
                is_fine,
                "{mode:o} {owner}"
            );
        }
    }
}
