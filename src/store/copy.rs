//! Copies the record of a wiki with its documents, and its mirror, from one store into another, byte for byte.
//! Previews, MCP sessions, sign-ins, delegates and the times of last uses are left out.
//!
//! What is there already is not copied again, so another call continues a copy that broke off.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::local::LocalStore;
use super::local::fs::last_line_end;
use super::{
    DocumentKind, Durability, Lease, LeaseMode, LeaseName, ListedRun, RunStream, RunWriter, Store,
    StoreError, StoreResult,
};

/// The most bytes of a run that are read and written at once.
const CHUNK: usize = 128 << 10;
/// The most bytes of a blob.
const MOST_BLOB: u64 = 256 << 20;
/// The kinds of documents of which there is one at most.
const ONE: [DocumentKind; 2] = [DocumentKind::Pause, DocumentKind::AnchorFault];
/// The number of tries to copy documents and runs while documents change.
const TRIES: usize = 8;
/// Nothing of these is done at either place while something is copied.
const LEASES: [LeaseName; 3] = [LeaseName::RECOVERY, LeaseName::PURGE, LeaseName::RUNS];

/// The counts of a copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreCopied {
    /// Number of runs at both places.
    pub runs: u64,
    /// Number of kept states at both places.
    pub states: u64,
    /// Number of proposals, drafts, memories, approvals and documents of the mirror at both places.
    pub documents: u64,
    /// The bytes that were copied now.
    pub bytes: u64,
}

/// The reason why nothing more was copied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CopyFault {
    /// A server or a command writes there.
    #[error("the run {0} is being written: stop all servers and commands of both stores first")]
    Held(String),
    /// Somebody purges, settles or begins something.
    #[error("somebody is at work in one of the stores: stop all servers and commands first")]
    Busy,
    /// The other store has a record of its own.
    #[error(
        "the other store has the run {0}, which is none of this one, or is longer there: name an empty store"
    )]
    Other(String),
    /// One of the stores failed.
    #[error(transparent)]
    Store(#[from] CopyError),
}

/// The store that failed while something was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// The one that is copied.
    #[error("the store that is copied cannot be used: {0}")]
    From(#[from] StoreError),
    /// The place of the copy.
    #[error("the other store cannot be used: {0}")]
    To(StoreError),
}

/// The store of a wiki's record, and that of its mirror.
pub(crate) type WikiStores<'a> = (&'a dyn Store, &'a dyn Store);

/// Copies a wiki; `progress` is told the bytes so far.
pub fn copy(
    (from, seen): WikiStores<'_>,
    (to, seen_there): WikiStores<'_>,
    progress: impl FnMut(u64),
) -> Result<StoreCopied, CopyFault> {
    let held = leases(from, &LEASES, CopyError::From)?;
    let _held = (held, leases(to, &LEASES, CopyError::To)?);
    let has_mirror = has_mirror(seen).map_err(CopyError::From)?
        || has_mirror(seen_there).map_err(CopyError::To)?;
    let names: &[LeaseName] = if has_mirror {
        &[LeaseName::MIRROR]
    } else {
        &[]
    };
    let looks = leases(seen, names, CopyError::From)?;
    let _looks = (looks, leases(seen_there, names, CopyError::To)?);
    let runs = from.runs().map_err(CopyError::From)?;
    let there = to.runs().map_err(CopyError::To)?;
    are_ended(runs.iter().chain(&there))?;
    let is_known = |other: &ListedRun| {
        let own = runs.iter().find(|run| run.name == other.name);
        own.is_some_and(|own| own.length >= other.length)
    };
    if let Some(other) = there.iter().find(|other| !is_known(other)) {
        return Err(CopyFault::Other(other.name.clone()));
    }
    let mut copying = Copying::new(from, to, progress);
    copying.documents(&DocumentKind::BESIDE_RECORD)?;
    copying.runs()?;
    copying.blobs()?;
    if has_mirror {
        copying.mirror(seen, seen_there)?;
    }
    Ok(copying.copied)
}

/// Copies a wiki into files in an empty or missing directory while servers go on, runs up to their last whole line;
/// whoever does holds the lease `LeaseName::PURGE`.
pub fn back_up(
    (from, seen): WikiStores<'_>,
    to: &Path,
    wiki: &str,
) -> Result<StoreCopied, CopyError> {
    LocalStore::made_in(to, wiki, |to| {
        let mirror = to.mirror();
        let mut copying = Copying::new(from, to, |_| {});
        copying.is_in_use = true;
        for _ in 0..TRIES {
            copying.documents(&DocumentKind::BESIDE_RECORD)?;
            copying.runs()?;
            // No run tells of one that is not there.
            let before = copying.copied.bytes;
            copying.documents(&[DocumentKind::Proposal, DocumentKind::Draft])?;
            if copying.copied.bytes == before {
                copying.documents(&DocumentKind::BESIDE_RECORD)?;
                copying.blobs()?;
                if has_mirror(seen)? {
                    copying.mirror(seen, &mirror)?;
                }
                return Ok(copying.copied);
            }
        }
        Err(StoreError::Busy.into())
    })
}

/// A copy under way: first the documents, then the runs that tell of them, then the states that these name, which
/// were there before.
struct Copying<'a, P> {
    from: &'a dyn Store,
    to: &'a dyn Store,
    progress: P,
    copied: StoreCopied,
    /// True if runs may grow meanwhile.
    is_in_use: bool,
}

impl<'a, P: FnMut(u64)> Copying<'a, P> {
    fn new(from: &'a dyn Store, to: &'a dyn Store, progress: P) -> Self {
        Self {
            from,
            to,
            progress,
            copied: StoreCopied::default(),
            is_in_use: false,
        }
    }

    fn add(&mut self, bytes: u64) {
        self.copied.bytes = self.copied.bytes.saturating_add(bytes);
        (self.progress)(self.copied.bytes);
    }

    fn blobs(&mut self) -> Result<(), CopyError> {
        let kept = self.to.blobs().map_err(CopyError::To)?.into_iter();
        let kept: HashMap<String, u64> = kept.map(|one| (one.name, one.length)).collect();
        for blob in self.from.blobs()? {
            self.copied.states += 1;
            if kept.get(&blob.name) == Some(&blob.length) {
                continue;
            }
            let Some(bytes) = self.from.blob(&blob.name, MOST_BLOB)? else {
                // Servers may remove states of the mirror meanwhile, but none of the record.
                if self.is_in_use {
                    continue;
                }
                return Err(StoreError::Replaced.into());
            };
            let length = self.to.put_blob(&blob.name, &bytes);
            let length = length.map_err(CopyError::To)?;
            self.add(length);
        }
        Ok(())
    }

    /// The newest run comes first, since a run tells how long the ones before it are; the count is not ahead of them.
    fn runs(&mut self) -> Result<(), CopyError> {
        let count = self.from.run_count()?.unwrap_or_default();
        let runs = self.from.runs()?;
        let there = self.to.runs().map_err(CopyError::To)?;
        self.copied.runs = 0;
        for run in runs.iter().rev() {
            self.copied.runs += 1;
            let known = there.iter().find(|other| other.name == run.name);
            let is_there = |length: u64| known.is_some_and(|other| other.length == length);
            if is_there(run.length) {
                continue;
            }
            let bytes = self.from.open_run(&run.name)?;
            let mut bytes = RunStream::new(bytes.ok_or(StoreError::Replaced)?);
            let length = if self.is_in_use {
                let end = last_line_end(&mut bytes, run.length, u64::MAX).map_err(read_error)?;
                end.map_or(0, |end| end.saturating_add(1))
            } else {
                run.length
            };
            if is_there(length) {
                continue;
            }
            self.to.remove_run(&run.name).map_err(CopyError::To)?;
            let writer = self.to.begin_run(&run.name, &count);
            let mut writer = writer.map_err(CopyError::To)?;
            self.run(bytes, length, &mut *writer)?;
        }
        Ok(())
    }

    fn run(
        &mut self,
        mut bytes: RunStream,
        length: u64,
        writer: &mut dyn RunWriter,
    ) -> Result<(), CopyError> {
        bytes.seek(SeekFrom::Start(0)).map_err(read_error)?;
        let (mut bytes, mut buffer, mut left) = (bytes.take(length), vec![0; CHUNK], length);
        while left > 0 {
            let read = bytes.read(&mut buffer).map_err(read_error)?;
            let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else {
                return Err(StoreError::Replaced.into());
            };
            let read = u64::try_from(read).unwrap_or(u64::MAX);
            left = left.saturating_sub(read);
            let until = if left == 0 {
                Durability::Synced
            } else {
                Durability::Soon
            };
            writer.append(part, until).map_err(CopyError::To)?;
            self.add(read);
        }
        Ok(())
    }

    /// The mirror of a wiki: its pages first, since their states were kept before.
    fn mirror(&mut self, from: &'a dyn Store, to: &'a dyn Store) -> Result<(), CopyError> {
        (self.from, self.to) = (from, to);
        let before = self.copied.documents;
        self.documents(&[DocumentKind::Mirror])?;
        self.copied.documents += before;
        self.blobs()
    }

    /// Those of these kinds, and the ones of which there is one at most.
    fn documents(&mut self, kinds: &[DocumentKind]) -> Result<(), CopyError> {
        self.copied.documents = 0;
        for kind in kinds.iter().copied() {
            let kept = self.from.documents(kind)?;
            let names: HashSet<&str> = kept.iter().map(|one| &*one.name).collect();
            // What was removed since an earlier copy does not come back.
            for gone in self.to.documents(kind).map_err(CopyError::To)? {
                if !names.contains(&*gone.name) {
                    let removed = self.to.remove_document(kind, &gone.name);
                    removed.map_err(CopyError::To)?;
                }
            }
            for one in &kept {
                self.copied.documents += 1;
                self.document(kind, &one.name)?;
            }
        }
        ONE.into_iter().try_for_each(|kind| self.document(kind, ""))
    }

    /// Copies a document that is not there already. One that no server takes is passed over.
    fn document(&mut self, kind: DocumentKind, name: &str) -> Result<(), CopyError> {
        let document = match self.from.document(kind, name) {
            // A damaged stop still stops.
            Err(StoreError::Unfit(why)) if kind != DocumentKind::Pause => {
                tracing::warn!(
                    kind = kind.word(),
                    name,
                    "store: a document is not copied, since it {why}"
                );
                return Ok(());
            }
            document => document?,
        };
        // The pause is of all wikis there: a copy of one neither lifts nor replaces it.
        let is_paused = kind == DocumentKind::Pause;
        let there = || self.to.document(kind, name).map_err(CopyError::To);
        if is_paused && (document.is_none() || there()?.is_some()) {
            return Ok(());
        }
        match document {
            None => drop(self.to.remove_document(kind, name).map_err(CopyError::To)?),
            Some(bytes) if there()?.as_ref() == Some(&bytes) => {}
            Some(bytes) => {
                let written = self.to.write_document(kind, name, &bytes);
                written.map_err(CopyError::To)?;
                self.add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
            }
        }
        Ok(())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
fn read_error(error: io::Error) -> StoreError {
    StoreError::Io(error.kind())
}

fn leases(
    store: &dyn Store,
    names: &[LeaseName],
    failed: fn(StoreError) -> CopyError,
) -> Result<Vec<Lease>, CopyFault> {
    let leases = names.iter().map(|name| {
        let lease = store.try_lease(name, LeaseMode::Alone).map_err(failed)?;
        lease.ok_or(CopyFault::Busy)
    });
    leases.collect()
}

fn has_mirror(store: &dyn Store) -> StoreResult<bool> {
    Ok(!store.documents(DocumentKind::Mirror)?.is_empty())
}

fn are_ended<'a>(mut runs: impl Iterator<Item = &'a ListedRun>) -> Result<(), CopyFault> {
    let held = runs.find(|run| run.is_held != Ok(false));
    held.map_or(Ok(()), |run| Err(CopyFault::Held(run.name.clone())))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{CopyFault, StoreCopied};
    use crate::store::local::LocalStore;
    use crate::store::{DocumentKind, Durability, Store};

    struct Two {
        _dir: tempfile::TempDir,
        from: Arc<dyn Store>,
        to: Arc<dyn Store>,
    }

    /// A store with a run, a kept state, a proposal and a pause, and an empty one.
    fn two() -> Two {
        let dir = tempfile::tempdir().unwrap();
        let store = |name| -> Arc<dyn Store> {
            let root = dir.path().join(name);
            std::fs::create_dir(&root).unwrap();
            Arc::new(LocalStore::new(&root, "docs"))
        };
        let (from, to) = (store("from"), store("to"));
        let mut run = from.begin_run("1-000001-aa.jsonl", "1\n").unwrap();
        run.append(b"one\ntwo\n", Durability::Synced).unwrap();
        from.put_blob("ab", b"state").unwrap();
        from.write_document(DocumentKind::Proposal, "p", b"{}")
            .unwrap();
        from.write_document(DocumentKind::Pause, "", b"{}").unwrap();
        Two {
            _dir: dir,
            from,
            to,
        }
    }

    /// Copies a wiki without a mirror.
    fn copy(from: &dyn Store, to: &dyn Store) -> Result<StoreCopied, CopyFault> {
        let dir = tempfile::tempdir().unwrap();
        let mirror = LocalStore::new(dir.path(), "mirror");
        super::copy((from, &mirror), (to, &mirror), |_| {})
    }

    fn text(store: &dyn Store) -> String {
        let mut bytes = store.open_run("1-000001-aa.jsonl").unwrap().unwrap();
        let mut read = [0; 64];
        let length = bytes.read_at(0, &mut read).unwrap();
        String::from_utf8_lossy(&read[..length]).into_owned()
    }

    #[test]
    fn a_copy_is_whole_and_is_made_once() {
        let Two { _dir, from, to } = two();
        let copied = copy(&*from, &*to).unwrap();
        assert_eq!((copied.runs, copied.states, copied.documents), (1, 1, 1));
        assert_eq!(
            (copied.bytes, text(&*to)),
            (8 + 5 + 2 + 2, "one\ntwo\n".to_owned())
        );
        assert_eq!(to.blob("ab", 10).unwrap().as_deref(), Some(&b"state"[..]));
        assert!(to.document(DocumentKind::Pause, "").unwrap().is_some());
        // It is of all wikis there: a copy of one does not lift it.
        from.remove_document(DocumentKind::Pause, "").unwrap();
        copy(&*from, &*to).unwrap();
        assert!(to.document(DocumentKind::Pause, "").unwrap().is_some());
        assert_eq!(to.run_count().unwrap(), from.run_count().unwrap());
        assert_eq!(copy(&*from, &*to).unwrap().bytes, 0);
        // And back: the pause alone.
        assert_eq!(copy(&*to, &*from).unwrap().bytes, 2);
    }

    #[test]
    fn a_copy_that_broke_off_is_gone_on_with() {
        let Two { _dir, from, to } = two();
        let mut half = to.begin_run("1-000001-aa.jsonl", "1\n").unwrap();
        half.append(b"one\n", Durability::Synced).unwrap();
        drop(half);
        assert_eq!(copy(&*from, &*to).unwrap().runs, 1);
        assert_eq!(text(&*to), "one\ntwo\n");
    }

    #[test]
    fn a_fault_of_a_copy_names_the_store_that_has_it() {
        let Two {
            _dir: dir,
            from,
            to,
        } = two();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let none = LocalStore::new(&dir.path().join("file"), "docs");
        let told = |copied: Result<_, CopyFault>| copied.unwrap_err().to_string();
        let there = told(copy(&*from, &none));
        assert!(there.starts_with("the other store cannot"), "{there}");
        let ours = told(copy(&none, &*to));
        assert!(ours.starts_with("the store that is copied"), "{ours}");
    }

    #[test]
    fn nothing_is_copied_while_a_run_lives_or_over_another_record() {
        let Two { _dir, from, to } = two();
        let mut own = to.begin_run("2-000001-bb.jsonl", "1\n").unwrap();
        own.append(b"theirs\n", Durability::Synced).unwrap();
        let name = || "2-000001-bb.jsonl".to_owned();
        let copied = || copy(&*from, &*to);
        assert_eq!(copied(), Err(CopyFault::Held(name())));
        drop(own);
        assert_eq!(copied(), Err(CopyFault::Other(name())));
        assert_eq!(to.blobs().unwrap(), []);
    }
}
