//! The one way to what is remembered: looks, and changes that are on record first.
//!
//! Each owner has a document of lines, replaced as a whole under one lease, so that whoever reads it
//! sees it before or after a change.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::{Memory, MemoryError, MemoryLine, MemoryOwner, Timestamp, digest};
use crate::audit::{AuditEntry, AuditEvent, AuditLog, MemoryId};
use crate::store::{DocumentKind, HeldLease, LeaseName, blocking};

/// The most memories of one owner; and of those that were forgotten.
pub(super) const MOST: usize = 1_000;
/// The most bytes of all texts of one owner.
pub(super) const MOST_BYTES: usize = 4 << 20;
/// The most owners of one store.
pub(super) const MOST_OWNERS: usize = 200;
/// The days during which a forgotten or superseded memory can be restored.
pub const KEPT_DAYS: i64 = 30;
/// The longest wait for other changes.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// The memories of the clients of one wiki; other processes may work on the same.
#[derive(Debug, Clone)]
pub struct MemoryStore {
    /// The wiki's log, on which each change is put before it is made.
    log: AuditLog,
    /// The directory in which they are stored.
    pub dir: PathBuf,
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
    store: MemoryStore,
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

/// New texts by the names of their documents; `None` for one that is not needed any more.
type NewTexts = Vec<(String, Option<String>)>;

impl MemoryStore {
    /// The memories of the wiki whose log this is. Nothing on the disk is touched.
    pub fn of(log: &AuditLog) -> Self {
        Self {
            log: log.clone(),
            dir: log.runs.dir().join("memory"),
        }
    }

    /// The memories of an owner, forgotten or not, in the order of their making.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub async fn of_owner(&self, owner: &MemoryOwner) -> Result<Vec<Memory>, MemoryError> {
        let (own, key) = (self.clone(), owner.key.clone());
        blocking(move || own.memories(&key)).await
    }

    /// Everything, each memory with its owner.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub async fn all(&self) -> Result<Vec<MemoryLine>, MemoryError> {
        let (all, damaged) = self.readable().await?;
        damaged.into_iter().next().map_or(Ok(all), Err)
    }

    /// The same of all files that are not damaged, and the faults of the others.
    ///
    /// # Errors
    /// If the files cannot be read at all.
    pub async fn readable(&self) -> Result<(Vec<MemoryLine>, Vec<MemoryError>), MemoryError> {
        let own = self.clone();
        blocking(move || {
            let (mut all, mut damaged) = (Vec::new(), Vec::new());
            for name in own.list()? {
                match own.lines(&name) {
                    Ok(lines) => all.extend(lines),
                    Err(error @ MemoryError::Damaged(_)) => damaged.push(error),
                    Err(error) => return Err(error),
                }
            }
            Ok((all, damaged))
        })
        .await
    }

    /// Changes something. What is done is on record before; a change without a note needs none. If the
    /// process is killed, each owner has all of its change or nothing. Once begun it completes even if the caller is gone.
    ///
    /// # Errors
    /// What the work says; that there is no room; that it cannot be put on record; the disk's.
    pub async fn change<T: Send + 'static>(
        &self,
        record: AuditEntry,
        work: impl FnOnce(&mut Memories) -> Result<(T, Option<AuditNote>), MemoryError> + Send + 'static,
    ) -> Result<T, MemoryError> {
        let (own, begun, audit) = (self.clone(), self.clone(), self.log.clone());
        let all = async move {
            let name = LeaseName::MEMORIES;
            let lease = audit.leases.alone(&name, LONGEST_WAIT).await?;
            let (value, note, texts) = blocking(move || begun.begin(work)).await?;
            if let Some(note) = &note {
                audit.record(told(&record, note)).await?;
            }
            let done = blocking(move || own.finish(&lease, texts)).await;
            if let (Err(error), Some(note)) = (&done, note) {
                let undone = AuditNote {
                    decision: "not_done",
                    ..note
                };
                tracing::error!(%error, "a change of memories is on record, and could not be made");
                // The first failure is the one to report.
                let _ = audit.record(told(&record, &undone)).await;
            }
            done.map(|()| value)
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
            let before = self.store.memories(&owner.key)?;
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
pub fn purge(all: &mut Vec<Memory>, now: Timestamp) {
    let old = now.plus_days(-KEPT_DAYS);
    let mut gone: Vec<Timestamp> = all.iter().filter_map(|one| one.forgotten).collect();
    gone.sort_unstable_by(|a, b| b.cmp(a));
    let oldest = gone
        .get(MOST.saturating_sub(1))
        .map_or(old, |last| old.max(*last));
    all.retain(|one| one.forgotten.is_none_or(|at| at >= oldest));
}

impl MemoryStore {
    /// The names of the documents of all owners.
    fn list(&self) -> Result<Vec<String>, MemoryError> {
        let listed = self.log.store().documents(DocumentKind::Memories)?;
        let mut names: Vec<String> = listed.into_iter().map(|it| it.name).collect();
        names.sort();
        Ok(names)
    }

    /// The lines of a document; none if there is none.
    fn lines(&self, name: &str) -> Result<Vec<MemoryLine>, MemoryError> {
        let bytes = self.log.store().document(DocumentKind::Memories, name)?;
        let text = String::from_utf8(bytes.unwrap_or_default());
        let read = text.map_err(|_| "is not UTF-8".to_owned());
        let read: Result<Vec<MemoryLine>, String> =
            read.and_then(|text| text.lines().map(MemoryLine::read).collect());
        read.map_err(|why| {
            tracing::error!(document = name, %why, "a line of the memories cannot be read");
            MemoryError::Damaged(name.to_owned())
        })
    }

    /// The memories of the owner with this key.
    fn memories(&self, key: &str) -> Result<Vec<Memory>, MemoryError> {
        let read = self.lines(&digest(key))?;
        Ok(read.into_iter().map(|line| line.memory).collect())
    }

    /// Makes a change; nothing is written yet.
    fn begin<T>(
        self,
        work: impl FnOnce(&mut Memories) -> Result<(T, Option<AuditNote>), MemoryError>,
    ) -> Result<(T, Option<AuditNote>, NewTexts), MemoryError> {
        let mut memories = Memories {
            store: self,
            now: Timestamp::now(),
            owners: BTreeMap::new(),
        };
        let (value, note) = work(&mut memories)?;
        let Memories { store, now, owners } = memories;
        let mut texts = NewTexts::new();
        for (key, mut own) in owners {
            purge(&mut own.after, now);
            if own.after == own.before {
                continue;
            }
            if is_full(&own.after) {
                return Err(MemoryError::Full);
            }
            if own.after.is_empty() {
                texts.push((digest(&key), None));
                continue;
            }
            if own.before.is_empty() && store.list()?.len() >= MOST_OWNERS {
                return Err(MemoryError::TooManyOwners);
            }
            let mut text = String::new();
            for memory in own.after {
                let line = MemoryLine::of(store.log.wiki(), own.owner.clone(), memory);
                text.push_str(&serde_json::to_string(&line).map_err(std::io::Error::from)?);
                text.push('\n');
            }
            texts.push((digest(&key), Some(text)));
        }
        // What is handed over is there twice rather than not at all, if the process is killed.
        texts.sort_by_key(|(_, text)| text.is_none());
        Ok((value, note, texts))
    }

    /// Writes the new texts of a change that is on record.
    fn finish(&self, lease: &HeldLease, texts: NewTexts) -> Result<(), MemoryError> {
        let (store, kind) = (self.log.store(), DocumentKind::Memories);
        let fence = lease.fence();
        for (name, text) in texts {
            match text {
                Some(text) => store.write_held(fence, (kind, &name), text.as_bytes())?,
                None => drop(store.remove_held(fence, kind, &name)?),
            }
        }
        Ok(())
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
