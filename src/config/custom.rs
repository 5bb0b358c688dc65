//! Reads the files of an operator's own tools: bounded, never through a link, and none that others
//! may write.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Dir, Mode, OFlags, openat};

use super::file_trust::{FileStamp, stamp_of, why_unread};
use super::parse::{SettingError, SettingsSource};
use crate::custom::{Customs, SourceFile, ToolFileFault};
use crate::private_files::{changeable_by_others, fault};
use crate::tools::{Registry, ToolSelection, Toolset, add_customs};

/// The setting that names the directory.
pub(super) const NAME: &str = "WIKI_CUSTOM_TOOLS_DIR";
/// The most names of a directory that are looked at.
const MOST_NAMES: usize = 1_000;
/// The most files that are read.
const MOST_FILES: usize = 64;
/// The largest file, in bytes; a schema is the largest.
const MOST_BYTES: u64 = 2 << 20;

/// The custom tools of a source, checked as far as no wiki is needed.
pub(super) fn customs(
    source: &SettingsSource<'_>,
    surface: Option<&ToolSelection>,
) -> Result<Customs, SettingError> {
    let Some(dir) = source.filled(NAME)? else {
        let named = surface.and_then(|surface| surface.named_customs().first());
        return match named {
            None => Ok(Customs::default()),
            Some(name) => {
                let fault = format!("is not set, and the tool {name} is named");
                Err(SettingError::new(NAME, fault))
            }
        };
    };
    let read = read_customs(Path::new(&dir), surface);
    read.map_err(|faults| SettingError::new(NAME, in_a_line(&faults)))
}

/// All faults, in the order of the files.
fn in_a_line(faults: &[ToolFileFault]) -> String {
    let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
    match told.as_slice() {
        [one] => format!("has a fault: {one}"),
        all => format!("has {} faults: {}", all.len(), all.join("; ")),
    }
}

/// Reads a directory of custom tools, and checks them as far as no wiki is needed.
///
/// # Errors
/// All faults of all files.
pub fn read_customs(
    dir: &Path,
    surface: Option<&ToolSelection>,
) -> Result<Customs, Vec<ToolFileFault>> {
    let (files, mut faults) = read_files(dir)?;
    let (customs, found) = Customs::read(&files);
    faults.extend(found);
    let is_there = |name: &String| customs.names().any(|own| own == name);
    let named = surface
        .map(ToolSelection::named_customs)
        .unwrap_or_default();
    if let Some(name) = named.iter().find(|name| !is_there(name))
        && faults.is_empty()
    {
        let fault = format!("has no file for the tool {name}, which the settings name");
        faults.push(ToolFileFault::new(&shown(dir), fault));
    }
    let all = ToolSelection::new(&Toolset::ALL);
    let surface = surface.unwrap_or(&all);
    match Registry::new(surface) {
        Err(error) => faults.push(ToolFileFault::new(&shown(dir), error.to_string())),
        Ok(mut registry) => {
            let added = add_customs(&mut registry, surface, &customs, customs.schema());
            faults.extend(added.err().into_iter().flatten());
        }
    }
    if faults.is_empty() {
        return Ok(customs);
    }
    faults.sort_by(|a, b| (&a.file, a.at).cmp(&(&b.file, b.at)));
    Err(faults)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// All files of a directory that say tools, by name, and what is wrong with others.
fn read_files(path: &Path) -> Result<(Vec<SourceFile>, Vec<ToolFileFault>), Vec<ToolFileFault>> {
    let wrong = |fault: String| vec![ToolFileFault::new(&shown(path), fault)];
    let dir = open_dir(path).map_err(wrong)?;
    let names = names(&dir).map_err(|fault| wrong(fault.to_owned()))?;
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for name in names {
        match read_file(&dir, &name) {
            Ok(text) => files.push(SourceFile { name, text }),
            Err(fault) => faults.push(ToolFileFault::new(&name, fault)),
        }
    }
    Ok((files, faults))
}

/// A directory that only this user and root may write.
fn open_dir(path: &Path) -> Result<OwnedFd, String> {
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let unread = |error: io::Error| match error.kind() {
        io::ErrorKind::NotADirectory => "is no directory".to_owned(),
        kind => format!("cannot be read: {}", why_unread(kind)),
    };
    let dir = openat(CWD, path, how, Mode::empty());
    let dir = dir.map_err(|error| unread(error.into()))?;
    let metadata = metadata(dir.as_fd()).map_err(unread)?;
    match fault_of(&metadata) {
        Some(fault) => Err(fault.to_owned()),
        None => Ok(dir),
    }
}

fn metadata(fd: impl AsFd) -> io::Result<Metadata> {
    File::from(fd.as_fd().try_clone_to_owned()?).metadata()
}

/// The reason why a file or directory cannot be trusted.
fn fault_of(found: &Metadata) -> Option<&'static str> {
    fault(
        found.mode(),
        found.uid(),
        rustix::process::geteuid().as_raw(),
    )
}

fn names(dir: &OwnedFd) -> Result<Vec<String>, &'static str> {
    let unread = "cannot be read";
    let mut names = Vec::new();
    for (place, entry) in Dir::read_from(dir).map_err(|_| unread)?.enumerate() {
        if place >= MOST_NAMES {
            return Err("holds more than 1000 files");
        }
        let entry = entry.map_err(|_| unread)?;
        // Other names are none of a tool.
        if let Ok(name) = entry.file_name().to_str()
            && Customs::takes(name)
        {
            names.push(name.to_owned());
        }
    }
    if names.len() > MOST_FILES {
        return Err("holds more than 64 files of tools");
    }
    names.sort();
    Ok(names)
}

fn read_file(dir: &OwnedFd, name: &str) -> Result<String, String> {
    // A pipe would be waited for.
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let unread = |error: io::Error| format!("cannot be read: {}", why_unread(error.kind()));
    let opened = openat(dir, name, how, Mode::empty());
    let opened = opened.map_err(|error| match error {
        rustix::io::Errno::LOOP => "is a link; put the file itself there".to_owned(),
        error => unread(error.into()),
    })?;
    let file = File::from(opened);
    let found = file.metadata().map_err(unread)?;
    if let Some(fault) = changeable_by_others(&found) {
        return Err(fault.to_owned());
    }
    if !found.is_file() {
        return Err("is no file".to_owned());
    }
    let mut text = String::new();
    let read = file.take(MOST_BYTES + 1).read_to_string(&mut text);
    read.map_err(unread)?;
    if u64::try_from(text.len()).is_ok_and(|length| length > MOST_BYTES) {
        return Err("is larger than 2 MB".to_owned());
    }
    Ok(text)
}

/// The state of a directory of tools and of each of its files.
pub(super) fn stamps(path: &Path) -> Vec<(PathBuf, Option<FileStamp>)> {
    let stamp = |path: PathBuf| {
        let found = std::fs::symlink_metadata(&path).ok();
        let stamp = found.as_ref().map(stamp_of);
        (path, stamp)
    };
    let names = open_dir(path).ok().and_then(|dir| names(&dir).ok());
    let files = names.unwrap_or_default().into_iter();
    let files = files.map(|name| stamp(path.join(name)));
    std::iter::once(stamp(path.to_owned()))
        .chain(files)
        .collect()
}
