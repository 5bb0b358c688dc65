//! The one way to what is remembered: looks, and changes that are on record first.
//!
//! Each owner has a file of lines, replaced as a whole under one lock, so that whoever reads it sees
//! it before or after a change.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Mutex;

use super::entry::{Memory, digest};
use super::error::MemoryError;
use super::line::MemoryLine;
use super::moment::Timestamp;
use super::owner::MemoryOwner;
use crate::audit::{AuditEntry, AuditEvent, AuditLog, MemoryId};
use crate::private_files::{self, FileOwner, Replacement};

/// The most memories of one owner; and of those that were forgotten.
pub(super) const MOST: usize = 1_000;
/// The most bytes of all texts of one owner.
pub(super) const MOST_BYTES: usize = 4 << 20;
/// The most owners of one store.
pub(super) const MOST_OWNERS: usize = 200;
/// The days during which a forgotten or superseded memory can be restored.
pub const KEPT_DAYS: i64 = 30;

/// The memories of the clients of one wiki. Clones share one turn; other processes may work on the
/// same files.
#[derive(Debug, Clone)]
pub struct MemoryStore {
    files: Files,
    /// One at a time, so that blocking threads are not used up by waiting.
    turn: Arc<Mutex<()>>,
}

/// A summary of a change, for the record: never the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditNote {
    /// The word for it.
    pub decision: &'static str,
    /// The memories, with the digests of their texts.
    pub reason: String,
}

/// The memories while nobody else changes them.
#[derive(Debug)]
pub struct Memories {
    files: Files,
    /// The time at which this began.
    pub now: Timestamp,
    owners: BTreeMap<String, OwnerMemories>,
}

/// What one owner remembers, before and after a change.
#[derive(Debug)]
struct OwnerMemories {
    owner: MemoryOwner,
    before: Vec<Memory>,
    after: Vec<Memory>,
}

/// A change that is made and not yet there for others.
struct Begun<T> {
    _lock: File,
    value: T,
    note: Option<AuditNote>,
    /// New files, and those that are not needed any more.
    written: Vec<Replacement>,
    removed: Vec<PathBuf>,
}

impl MemoryStore {
    /// The memories of the wiki whose log this is. Nothing on the disk is touched.
    #[must_use]
    pub fn of(log: &AuditLog) -> Self {
        Self {
            files: Files {
                wiki: log.wiki().into(),
                dir: log.dir().join("memory").into(),
            },
            turn: Arc::default(),
        }
    }

    /// The directory in which they are stored.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.files.dir
    }

    /// The memories of an owner, forgotten or not, in the order of their making.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub async fn of_owner(&self, owner: &MemoryOwner) -> Result<Vec<Memory>, MemoryError> {
        let (files, key) = (self.files.clone(), owner.key.clone());
        blocking(move || {
            let read = lines(&files.place(&key))?;
            Ok(read.into_iter().map(|line| line.memory).collect())
        })
        .await
    }

    /// Everything, each memory with its owner.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub async fn all(&self) -> Result<Vec<MemoryLine>, MemoryError> {
        let files = self.files.clone();
        blocking(move || {
            let mut all = Vec::new();
            for file in files.list()? {
                all.extend(lines(&file)?);
            }
            Ok(all)
        })
        .await
    }

    /// Changes something: all of it, or nothing. What is done is on record before; a change without
    /// a note needs none. Once begun it completes even if the caller is gone.
    ///
    /// # Errors
    /// What the work says; that there is no room; that it cannot be put on record; the disk's.
    pub async fn change<T: Send + 'static>(
        &self,
        audit: &AuditLog,
        record: AuditEntry,
        work: impl FnOnce(&mut Memories) -> Result<(T, Option<AuditNote>), MemoryError> + Send + 'static,
    ) -> Result<T, MemoryError> {
        let (own, audit) = (self.clone(), audit.clone());
        let all = async move {
            let _turn = own.turn.lock().await;
            let files = own.files.clone();
            let begun = blocking(move || files.begin(work)).await?;
            let note = begun.note.clone();
            if let Some(note) = &note {
                audit.record(told(&record, note)).await?;
            }
            let done = blocking(move || begun.finish()).await;
            let failed = done.as_ref().err().cloned();
            if let (Some(error), Some(note)) = (failed, note) {
                let undone = AuditNote {
                    decision: "not_done",
                    ..note
                };
                tracing::error!(%error, "a change of memories is on record, and could not be made");
                // The first failure is the one to report.
                let _ = audit.record(told(&record, &undone)).await;
            }
            done
        };
        tokio::spawn(all)
            .await
            .unwrap_or(Err(MemoryError::BrokenOff))
    }
}

impl Memories {
    /// The memories of an owner, to be changed.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub fn of(&mut self, owner: &MemoryOwner) -> Result<&mut Vec<Memory>, MemoryError> {
        if !self.owners.contains_key(&owner.key) {
            let read = lines(&self.files.place(&owner.key))?;
            let before: Vec<Memory> = read.into_iter().map(|line| line.memory).collect();
            let known = OwnerMemories {
                owner: owner.clone(),
                after: before.clone(),
                before,
            };
            self.owners.insert(owner.key.clone(), known);
        }
        let known = self.owners.get_mut(&owner.key);
        Ok(&mut known.ok_or(MemoryError::BrokenOff)?.after)
    }

    /// A memory of an owner by its id, if it is not forgotten.
    ///
    /// # Errors
    /// [`MemoryError::NoSuch`].
    pub fn own(&mut self, owner: &MemoryOwner, id: MemoryId) -> Result<&mut Memory, MemoryError> {
        let mut all = self.of(owner)?.iter_mut();
        all.find(|one| one.id == id && one.forgotten.is_none())
            .ok_or(MemoryError::NoSuch)
    }

    /// Hands all memories of one owner to another; returns the number of those that it had room
    /// for. The others lie there for restoring.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn hand_over(
        &mut self,
        from: &MemoryOwner,
        to: &MemoryOwner,
    ) -> Result<(usize, Option<AuditNote>), MemoryError> {
        let mut given = std::mem::take(self.of(from)?);
        given.sort_by_key(|memory| std::cmp::Reverse(memory.importance));
        let now = self.now;
        let (mut digests, mut handed) = (String::new(), 0_usize);
        let taken = self.of(to)?;
        for mut memory in given {
            digests.push_str(&digest(&memory.content));
            // A killed server may have given it already.
            taken.retain(|there| there.id != memory.id);
            let is_kept = memory.forgotten.is_none();
            taken.push(memory.clone());
            if is_kept && !is_full(taken) {
                handed = handed.saturating_add(1);
            } else if is_kept {
                taken.pop();
                memory.end(now, None);
                taken.push(memory);
            }
        }
        let note = (!digests.is_empty()).then(|| AuditNote {
            decision: "handed_over",
            reason: format!(
                "memories of {} to {}, {handed} of them with room, sha256 of their digests {}",
                from.key,
                to.key,
                digest(&digests)
            ),
        });
        Ok((handed, note))
    }
}

/// True if an owner has more than it may.
fn is_full(all: &[Memory]) -> bool {
    let kept = all.iter().filter(|one| one.forgotten.is_none());
    let (count, bytes) = kept.fold((0_usize, 0_usize), |(count, bytes), one| {
        (count + 1, bytes + one.content.len())
    });
    count > MOST || bytes > MOST_BYTES
}

/// Removes what was forgotten long ago, and the oldest of what is too much of it.
pub(super) fn purge(all: &mut Vec<Memory>, now: Timestamp) {
    let old = now.plus_days(-KEPT_DAYS);
    let mut gone: Vec<Timestamp> = all.iter().filter_map(|one| one.forgotten).collect();
    gone.sort_unstable_by(|a, b| b.cmp(a));
    let oldest = gone
        .get(MOST.saturating_sub(1))
        .map_or(old, |last| old.max(*last));
    all.retain(|one| one.forgotten.is_none_or(|at| at >= oldest));
}

/// The files of one wiki's memories.
#[derive(Debug, Clone)]
struct Files {
    wiki: Arc<str>,
    dir: Arc<Path>,
}

impl Files {
    fn place(&self, key: &str) -> PathBuf {
        self.dir.join(format!("{}.jsonl", digest(key)))
    }

    /// The files of all owners.
    fn list(&self) -> Result<Vec<PathBuf>, MemoryError> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|it| it == "jsonl") {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }

    /// Makes a change and writes it beside what is there.
    fn begin<T>(
        self,
        work: impl FnOnce(&mut Memories) -> Result<(T, Option<AuditNote>), MemoryError>,
    ) -> Result<Begun<T>, MemoryError> {
        private_files::make_dirs(&self.dir)?;
        let lock = private_files::open(&self.dir.join("lock"))?;
        lock.lock()?;
        let mut memories = Memories {
            files: self,
            now: Timestamp::now(),
            owners: BTreeMap::new(),
        };
        let (value, note) = work(&mut memories)?;
        let Memories { files, now, owners } = memories;
        let mut begun = Begun {
            _lock: lock,
            value,
            note,
            written: Vec::new(),
            removed: Vec::new(),
        };
        for (key, mut own) in owners {
            purge(&mut own.after, now);
            if own.after == own.before {
                continue;
            }
            if is_full(&own.after) {
                return Err(MemoryError::Full);
            }
            let path = files.place(&key);
            if own.after.is_empty() {
                begun.removed.push(path);
                continue;
            }
            if own.before.is_empty() && files.list()?.len() >= MOST_OWNERS {
                return Err(MemoryError::TooManyOwners);
            }
            let mut text = String::new();
            for memory in own.after {
                let line = MemoryLine::of(&files.wiki, own.owner.clone(), memory);
                text.push_str(&serde_json::to_string(&line).map_err(std::io::Error::from)?);
                text.push('\n');
            }
            begun
                .written
                .push(Replacement::write(&path, text.as_bytes())?);
        }
        Ok(begun)
    }
}

/// The lines of a file; none if there is no file.
fn lines(path: &Path) -> Result<Vec<MemoryLine>, MemoryError> {
    let text = text(path)?;
    let read = text.lines().map(MemoryLine::read);
    let read: Result<Vec<MemoryLine>, String> = read.collect();
    read.map_err(|why| {
        tracing::error!(path = %path.display(), %why, "a line of the memories cannot be read");
        MemoryError::Damaged
    })
}

/// The text of a file that nobody else can have changed; nothing if there is no file.
fn text(path: &Path) -> Result<String, MemoryError> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        found => found?,
    };
    if found.is_symlink() {
        return Err(MemoryError::NotOurs("is a link"));
    }
    if !found.is_file() {
        return Err(MemoryError::NotOurs("is not a file"));
    }
    let is_ours = FileOwner::new(&found).is_us() || private_files::may_hand_over();
    if !is_ours || found.mode() & 0o022 != 0 {
        return Err(MemoryError::NotOurs("can be changed by others"));
    }
    Ok(fs::read_to_string(path)?)
}

impl<T> Begun<T> {
    fn finish(self) -> Result<T, MemoryError> {
        for file in self.written {
            file.finish()?;
        }
        for path in self.removed {
            fs::remove_file(path)?;
        }
        Ok(self.value)
    }
}

fn told(record: &AuditEntry, note: &AuditNote) -> AuditEntry {
    AuditEntry {
        event: AuditEvent::Memory,
        gate: Some("memory".to_owned()),
        decision: Some(note.decision.to_owned()),
        reason: Some(note.reason.clone()),
        ..record.clone()
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, MemoryError> + Send + 'static,
) -> Result<T, MemoryError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or(Err(MemoryError::BrokenOff))
}
