//! The folder that holds a wiki's files: everything is opened beneath it, and no link is followed.
//!
//! A file is written elsewhere first and then moved into place, so that a full disk or a kill
//! leaves the old one whole.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, flock, fstat, mkdirat, openat,
    renameat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::files::FilesError;

/// The directory of everything but pages: base states, the lock, and the file being written.
pub(super) const OWN: &str = ".wikijs";
const PART: &str = ".wikijs/part";
const LOCK: &str = ".wikijs/lock";
/// The deepest nesting of directories: a path has at most 255 characters.
const MAX_DEPTH: usize = 300;
/// The most files in a folder.
const MAX_FILES: usize = 400_000;

/// A folder, open.
#[derive(Debug)]
pub struct Folder {
    root: OwnedFd,
    /// The path that it was opened by.
    pub path: PathBuf,
}

/// The kind of an entry in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Link,
    /// A pipe, a device or a socket.
    Special,
}

/// Held while a command works in a folder.
#[derive(Debug)]
pub struct FolderLock(#[expect(dead_code, reason = "closing it gives the lock back")] File);

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// The path does not exist, or is no directory.
    pub fn open(path: &Path) -> io::Result<Self> {
        // The operator chose the folder itself, so it may be a link.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self {
            root: openat(CWD, path, flags, Mode::empty())?,
            path: path.to_owned(),
        })
    }

    /// Locks the folder without waiting: an error if another command works in it.
    ///
    /// # Errors
    /// [`FilesError::Busy`], or the folder cannot be written.
    pub fn hold(&self) -> Result<FolderLock, FilesError> {
        self.lock().map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => FilesError::Busy,
            _ => FilesError::for_file(LOCK)(error),
        })
    }

    fn lock(&self) -> io::Result<FolderLock> {
        self.make_dirs(LOCK)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (dir, name) = self.dir_of(LOCK)?;
        let file = openat(dir.as_fd(), name, flags, Mode::from_raw_mode(0o666))?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(FolderLock(file.into()))
    }

    /// The names of the entries directly in the folder.
    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        Ok(entries(self.root.as_fd())?
            .into_iter()
            .map(|(name, _)| name)
            .collect())
    }

    /// Every file below a directory, by its name relative to the folder; none if there is no such
    /// directory.
    pub(super) fn files_below(&self, top: &str) -> io::Result<Vec<(String, EntryKind)>> {
        let (parent, name) = self.dir_of(top)?;
        let mut found = Vec::new();
        match open_dir(parent.as_fd(), name) {
            Ok(dir) => below(&dir, top, 0, &mut found)?,
            Err(Errno::NOENT) => {}
            Err(Errno::LOOP | Errno::NOTDIR) => found.push((top.to_owned(), EntryKind::Link)),
            Err(error) => return Err(error.into()),
        }
        found.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(found)
    }

    /// Reads a file of at most `most` bytes; `None` if there is no such file.
    ///
    /// # Errors
    /// It cannot be read, has more bytes, is no plain file, or lies behind a link.
    pub fn read(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let (dir, last) = match self.dir_of(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found?,
        };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(dir.as_fd(), last, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            file => file?,
        };
        let stat = fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is no plain file"));
        }
        let mut bytes = Vec::new();
        File::from(file).take(most + 1).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).is_ok_and(|read| read > most) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(Some(bytes))
    }

    /// Writes a whole file, and makes the directories that it lies in.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.make_dirs(PART)?;
        self.make_dirs(name)?;
        let (own, part) = self.dir_of(PART)?;
        // What a kill left there, or anybody put, is not written into: it may be a pipe, or have another
        // name elsewhere.
        or_already(unlinkat(own.as_fd(), part, AtFlags::empty()), Errno::NOENT)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(own.as_fd(), part, flags, Mode::from_raw_mode(0o666))?;
        File::from(file).write_all(bytes)?;
        let (dir, last) = self.dir_of(name)?;
        renameat(own.as_fd(), part, dir.as_fd(), last)?;
        Ok(())
    }

    /// Removes a file, and the directories that become empty.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        let (dir, last) = match self.dir_of(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            found => found?,
        };
        or_already(unlinkat(dir.as_fd(), last, AtFlags::empty()), Errno::NOENT)?;
        let mut above = name;
        while let Some((parent, _)) = above.rsplit_once('/') {
            let (dir, last) = self.dir_of(parent)?;
            if unlinkat(dir.as_fd(), last, AtFlags::REMOVEDIR).is_err() {
                break;
            }
            above = parent;
        }
        Ok(())
    }

    /// True if there is an entry of this name. A link counts, wherever it leads.
    pub(super) fn has(&self, name: &str) -> bool {
        let Ok((dir, last)) = self.dir_of(name) else {
            return false;
        };
        statat(dir.as_fd(), last, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// The directory that a name lies in, open, and the last part of the name.
    fn dir_of<'a>(&self, name: &'a str) -> io::Result<(OwnedFd, &'a str)> {
        let mut dir = self.root.try_clone()?;
        let mut parts = name.split('/').peekable();
        while let Some(part) = parts.next() {
            if matches!(part, "" | "." | "..") {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            if parts.peek().is_none() {
                return Ok((dir, part));
            }
            dir = open_dir(dir.as_fd(), part)?;
        }
        Err(io::ErrorKind::InvalidInput.into())
    }

    /// Makes the directories that a file lies in.
    fn make_dirs(&self, name: &str) -> io::Result<()> {
        for (at, _) in name.match_indices('/') {
            let (dir, last) = self.dir_of(name.get(..at).unwrap_or_default())?;
            let made = mkdirat(dir.as_fd(), last, Mode::from_raw_mode(0o777));
            or_already(made, Errno::EXIST)?;
        }
        Ok(())
    }
}

/// The end of a step, which is good, too, if this error says that it was done before.
fn or_already(done: Result<(), Errno>, before: Errno) -> Result<(), Errno> {
    done.or_else(|error| if error == before { Ok(()) } else { Err(error) })
}

fn open_dir(dir: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(dir, name, flags, Mode::empty())
}

/// The entries of a directory, without those whose names are not UTF-8.
fn entries(dir: BorrowedFd<'_>) -> io::Result<Vec<(String, FileType)>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else {
            continue;
        };
        if matches!(name, "." | "..") {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not give the kind here.
            FileType::Unknown => {
                let stat = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            kind => kind,
        };
        found.push((name.to_owned(), kind));
    }
    Ok(found)
}

fn below(
    dir: &OwnedFd,
    name: &str,
    depth: usize,
    found: &mut Vec<(String, EntryKind)>,
) -> io::Result<()> {
    for (entry, kind) in entries(dir.as_fd())? {
        if found.len() >= MAX_FILES || depth > MAX_DEPTH {
            return Err(io::Error::other(format!(
                "it holds more than {MAX_FILES} files, or {MAX_DEPTH} directories in one another"
            )));
        }
        let inner = format!("{name}/{entry}");
        match kind {
            FileType::Directory => {
                let dir = open_dir(dir.as_fd(), &entry)?;
                below(&dir, &inner, depth + 1, found)?;
            }
            FileType::RegularFile => found.push((inner, EntryKind::File)),
            FileType::Symlink => found.push((inner, EntryKind::Link)),
            _ => found.push((inner, EntryKind::Special)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::{EntryKind, Folder};

    #[test]
    fn a_link_is_neither_followed_nor_written_through() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("secret.md"), "secret").unwrap();
        symlink(outside.path(), dir.path().join("en")).unwrap();
        fs::create_dir(dir.path().join("de")).unwrap();
        symlink(outside.path().join("secret.md"), dir.path().join("de/a.md")).unwrap();
        let folder = Folder::open(dir.path()).unwrap();

        assert!(folder.read("en/secret.md", 100).is_err());
        assert!(folder.read("de/a.md", 100).is_err());
        assert!(folder.write("en/new.md", b"x").is_err());
        folder.write("de/a.md", b"x").unwrap();
        assert!(folder.remove("en/secret.md").is_err());
        assert_eq!(
            folder.files_below("en").unwrap(),
            [("en".to_owned(), EntryKind::Link)]
        );

        let outside = fs::read_dir(outside.path()).unwrap().count();
        assert_eq!(outside, 1);
        assert_eq!(fs::read_to_string(dir.path().join("de/a.md")).unwrap(), "x");
    }

    #[test]
    fn what_stands_where_files_are_written_first_is_not_written_into() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = outside.path().join("secret");
        fs::write(&secret, "secret").unwrap();
        fs::create_dir(dir.path().join(".wikijs")).unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let part = dir.path().join(".wikijs/part");
        let hard_link = || fs::hard_link(&secret, &part).unwrap();
        let pipe = || mkfifoat(CWD, &part, Mode::from_raw_mode(0o600)).unwrap();
        let puts: [&dyn Fn(); 2] = [&hard_link, &pipe];
        for put in puts {
            put();
            folder.write("en/a.md", b"x").unwrap();
            assert_eq!(folder.read("en/a.md", 9).unwrap().unwrap(), b"x");
            assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
            folder.remove("en/a.md").unwrap();
        }
    }

    #[test]
    fn a_name_that_climbs_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let folder = Folder::open(&inner).unwrap();
        for name in ["../x", "en/../../x", "/x", "en//x", "", "."] {
            assert!(folder.write(name, b"x").is_err(), "{name}");
            assert!(folder.read(name, 9).is_err(), "{name}");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_empty_after_a_removal_goes_too() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        folder.write("en/a/b/c.md", b"c").unwrap();
        folder.write("en/a/d.md", b"d").unwrap();
        folder.remove("en/a/b/c.md").unwrap();
        assert!(!dir.path().join("en/a/b").exists());
        assert_eq!(folder.read("en/a/d.md", 9).unwrap().unwrap(), b"d");
        assert!(folder.read("en/a/d.md", 0).is_err());
        assert!(folder.read("en/b/c.md", 9).unwrap().is_none());
    }

    #[test]
    fn two_commands_do_not_work_in_one_folder_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let held = folder.hold().unwrap();
        assert!(Folder::open(dir.path()).unwrap().hold().is_err());
        drop(held);
        folder.hold().unwrap();
    }
}
