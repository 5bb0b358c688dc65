//! The drafts on the disk: one file each, replaced whole, and changed by one at a time.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use time::OffsetDateTime;

use super::super::disk::blocking::blocking;
use super::super::disk::fs;
use super::super::disk::layout::AuditLayout;
use super::super::{AuditError, AuditLog, Draft, DraftChange, DraftId, DraftName, DraftOwner};
use super::draft::VERSION;
use super::whole_file;
use crate::page::Date;

/// Time for which an unchanged draft is kept.
const LIES: Duration = Duration::from_hours(7 * 24);
/// The most drafts of one owner.
const MOST_OF_OWNER: usize = 20;
/// The most drafts of all.
const MOST: usize = 2_000;
/// The most bytes of a draft, as JSON.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// The most changes of a draft.
const MAX_CHANGES: usize = 200;
/// Timeout and poll interval while another call changes a draft.
const WAIT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);

/// A draft that nobody else can change while this is held.
#[derive(Debug)]
#[must_use = "the draft is held only as long as this lives"]
pub struct HeldDraft {
    path: PathBuf,
    draft: Draft,
    _file: File,
}

impl AuditLog {
    /// Holds a draft of this owner in order to change it; begins a missing draft, if allowed.
    ///
    /// # Errors
    /// [`AuditError::NoDraft`], if it may not be begun; [`AuditError::TooManyDrafts`];
    /// [`AuditError::Busy`].
    pub async fn hold_draft(
        &self,
        owner: DraftOwner,
        name: DraftName,
        begins: bool,
    ) -> Result<HeldDraft, AuditError> {
        let asked = Instant::now();
        loop {
            let (place, owner, name) = (self.place(), owner.clone(), name.clone());
            if let Some(held) = blocking(move || hold(&place, &owner, &name, begins)).await? {
                return Ok(held);
            }
            if asked.elapsed() >= WAIT {
                return Err(AuditError::Busy);
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Ends a draft that was written or proposed as a whole, unless it was changed since.
    ///
    /// # Errors
    /// If its file cannot be read or removed.
    pub async fn end_draft(&self, id: DraftId, revision: u64) -> Result<(), AuditError> {
        let place = self.place();
        blocking(move || {
            let Some(named) = files(&place)?.into_iter().find(|file| file.id == id) else {
                return Ok(());
            };
            let Some((draft, file)) = read(&named.path)? else {
                return Ok(());
            };
            let failed = |error: io::Error| AuditError::at(&named.path, "end a draft", &error);
            if draft.revision == revision && whole_file::hold(&named.path, &file).map_err(failed)? {
                remove(&named.path)?;
            }
            Ok(())
        })
        .await
    }

    /// The drafts of this owner that hold changes, by their names.
    ///
    /// # Errors
    /// If the directory cannot be read; a missing one has none.
    pub async fn drafts(&self, owner: DraftOwner) -> Result<Vec<Draft>, AuditError> {
        let place = self.place();
        blocking(move || {
            let (_, prefix) = owner.prefixes();
            let mut own = Vec::new();
            for file in files(&place)?
                .into_iter()
                .filter(|file| file.owner == prefix)
            {
                let found = read(&file.path)?.map(|(draft, _)| draft);
                own.extend(found.filter(|draft| !draft.changes.is_empty()));
            }
            own.sort_by(|a: &Draft, b: &Draft| a.name.as_str().cmp(b.name.as_str()));
            Ok(own)
        })
        .await
    }

    /// Size in bytes of one draft of this owner once it is loaded, or of all its drafts.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub async fn draft_bytes(
        &self,
        owner: DraftOwner,
        name: Option<DraftName>,
    ) -> Result<usize, AuditError> {
        let place = self.place();
        blocking(move || {
            let paths = if let Some(name) = name {
                find(&place, &owner, &name)?.into_iter().collect()
            } else {
                let (_, prefix) = owner.prefixes();
                let own = files(&place)?.into_iter();
                let own = own.filter(|file| file.owner == prefix);
                own.map(|file| file.path).collect::<Vec<_>>()
            };
            let sizes = paths
                .iter()
                .map(|path| path.metadata().map_or(0, |it| it.len()));
            let bytes = sizes.fold(0, u64::saturating_add);
            Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
        })
        .await
    }

    /// A draft of this owner, by its name or id.
    ///
    /// # Errors
    /// [`AuditError::NoDraft`], or that it cannot be read.
    pub async fn draft(&self, owner: DraftOwner, name: DraftName) -> Result<Draft, AuditError> {
        let place = self.place();
        blocking(move || {
            let path = find(&place, &owner, &name)?.ok_or(AuditError::NoDraft)?;
            Ok(read(&path)?.ok_or(AuditError::NoDraft)?.0)
        })
        .await
    }
}

impl HeldDraft {
    /// The draft.
    #[must_use]
    pub const fn draft(&self) -> &Draft {
        &self.draft
    }

    /// Adds a change in place of the earlier one of its page; returns the new draft.
    ///
    /// # Errors
    /// [`AuditError::DraftFull`], or that it is not surely on the disk.
    pub async fn join(mut self, change: DraftChange) -> Result<Draft, AuditError> {
        self.draft.join(change);
        self.draft.revision = self.draft.revision.saturating_add(1);
        self.draft.changed = now();
        // The lock is on the old file; it is released when the new file has the name.
        blocking(move || {
            write(&self.path, &self.draft)?;
            Ok(self.draft)
        })
        .await
    }

    /// The same without some changes.
    ///
    /// # Errors
    /// If that is not surely on the disk.
    pub async fn leave(mut self, is_it: impl Fn(&DraftChange) -> bool) -> Result<(), AuditError> {
        self.draft.changes.retain(|one| !is_it(one));
        self.draft.revision = self.draft.revision.saturating_add(1);
        self.draft.changed = now();
        blocking(move || write(&self.path, &self.draft)).await
    }

    /// Ends it.
    ///
    /// # Errors
    /// If its file cannot be removed.
    pub async fn end(self) -> Result<(), AuditError> {
        blocking(move || remove(&self.path)).await
    }
}

fn now() -> Date {
    Date::from_instant(OffsetDateTime::now_utc()).unwrap_or_default()
}

/// The held draft; `None` while another call holds it or has just replaced its file.
fn hold(
    place: &AuditLayout,
    owner: &DraftOwner,
    name: &DraftName,
    begins: bool,
) -> Result<Option<HeldDraft>, AuditError> {
    let path = match find(place, owner, name)? {
        Some(path) => path,
        None if begins => match begin(place, owner, name)? {
            Some(path) => path,
            None => return Ok(None),
        },
        None => return Err(AuditError::NoDraft),
    };
    // The draft was ended or changed meanwhile.
    let Some((draft, file)) = read(&path)? else {
        return Ok(None);
    };
    let is_held = whole_file::hold(&path, &file);
    let is_held = is_held.map_err(|error| AuditError::at(&path, "hold a draft", &error))?;
    Ok(is_held.then_some(HeldDraft {
        path,
        draft,
        _file: file,
    }))
}

/// A new draft without changes; `None` while another call begins one.
fn begin(
    place: &AuditLayout,
    owner: &DraftOwner,
    name: &DraftName,
) -> Result<Option<PathBuf>, AuditError> {
    let directory = place.drafts();
    let failed = |error: io::Error| AuditError::at(&directory, "keep a draft", &error);
    fs::make_dir(&directory).map_err(failed)?;
    let lock = place.drafts_lock();
    let file = fs::open_lock_file(&lock).map_err(failed)?;
    if !whole_file::hold(&lock, &file).map_err(failed)? {
        return Ok(None);
    }
    if let Some(begun) = find(place, owner, name)? {
        return Ok(Some(begun));
    }
    let there = files(place)?;
    let (counted, prefix) = owner.prefixes();
    let own = there.iter().filter(|file| file.owner.starts_with(&counted));
    if own.count() >= MOST_OF_OWNER || there.len() >= MOST {
        return Err(AuditError::TooManyDrafts);
    }
    let draft = Draft {
        v: VERSION,
        id: DraftId::new()?,
        name: name.clone(),
        owner: owner.clone(),
        created: now(),
        changed: now(),
        revision: 0,
        changes: Vec::new(),
    };
    let path = directory.join(format!("{prefix}.{name}.{}.json", draft.id));
    write(&path, &draft)?;
    Ok(Some(path))
}

/// The parts of a draft's file name.
struct DraftFileName {
    path: PathBuf,
    owner: String,
    name: String,
    id: DraftId,
}

impl DraftFileName {
    fn from_path(path: PathBuf) -> Option<Self> {
        let parts = path.file_name()?.to_str()?.strip_suffix(".json")?;
        let mut parts = parts.split('.');
        let (owner, name, id) = (parts.next()?, parts.next()?, parts.next()?);
        let (owner, name, id) = (owner.to_owned(), name.to_owned(), id.parse().ok()?);
        Some(Self {
            path,
            owner,
            name,
            id,
        })
    }
}

/// The file of the draft with this name or id.
fn find(
    place: &AuditLayout,
    owner: &DraftOwner,
    name: &DraftName,
) -> Result<Option<PathBuf>, AuditError> {
    let there = files(place)?;
    let (counted, prefix) = owner.prefixes();
    let mut named = there.iter();
    let named = named.find(|file| file.owner == prefix && file.name == name.as_str());
    if let Some(named) = named {
        return Ok(Some(named.path.clone()));
    }
    let Ok(id) = name.as_str().parse::<DraftId>() else {
        return Ok(None);
    };
    let mut taken_up = there.iter();
    let taken_up = taken_up.find(|file| file.id == id && file.owner.starts_with(&counted));
    let Some(path) = taken_up.map(|file| file.path.clone()) else {
        return Ok(None);
    };
    let found = read(&path)?;
    Ok(found
        .filter(|(draft, _)| owner.may_take_up(&draft.owner))
        .map(|_| path))
}

/// The files of drafts; removes those that nobody changed for a week.
fn files(place: &AuditLayout) -> Result<Vec<DraftFileName>, AuditError> {
    let directory = place.drafts();
    let failed = |error: io::Error| AuditError::at(&directory, "list the drafts", &error);
    let entries = fs::entries(&directory).map_err(failed)?;
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let Ok(changed) = entry.metadata().and_then(|found| found.modified()) else {
            // The draft was ended meanwhile.
            continue;
        };
        let has_lain = changed.elapsed().is_ok_and(|age| age > LIES);
        if has_lain && std::fs::remove_file(entry.path()).is_ok() {
            continue;
        }
        files.extend(DraftFileName::from_path(entry.path()));
    }
    Ok(files)
}

/// A draft and its file; `None` if it does not exist any more.
fn read(path: &Path) -> Result<Option<(Draft, File)>, AuditError> {
    let failed = |error: io::Error| AuditError::at(path, "read a draft", &error);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut json = Vec::new();
    let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
    let read = (&file).take(most.saturating_add(1)).read_to_end(&mut json);
    read.map_err(failed)?;
    let draft: Draft = serde_json::from_slice(&json).map_err(|_| AuditError::BadDraft)?;
    if draft.v > VERSION || draft.changes.len() > MAX_CHANGES {
        return Err(AuditError::BadDraft);
    }
    Ok(Some((draft, file)))
}

fn write(path: &Path, draft: &Draft) -> Result<(), AuditError> {
    let json = serde_json::to_vec(draft).map_err(|_| AuditError::BrokenOff)?;
    if json.len() > MAX_BYTES || draft.changes.len() > MAX_CHANGES {
        return Err(AuditError::DraftFull);
    }
    whole_file::write(path, &json, "write a draft")
}

fn remove(path: &Path) -> Result<(), AuditError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(AuditError::at(path, "remove a draft", &error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
