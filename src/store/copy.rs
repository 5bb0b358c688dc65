//! Copies the record of a wiki with its documents, or its mirror, from one store into another, byte for byte.
//! Previews, MCP sessions and sign-ins are left out.
//!
//! What is there already is not copied again, so a copy that broke off is gone on with by another call. No run
//! may live at either place meanwhile.

use std::collections::{HashMap, HashSet};
use std::ops::AddAssign;

use super::{DocumentKind, Durability, Lease, LeaseMode, LeaseName, ListedRun, Store, StoreError};

/// The most bytes of a run that are read and written at once.
const CHUNK: usize = 1 << 20;
/// The most bytes of a blob.
const MOST_BLOB: u64 = 256 << 20;
/// The kinds of documents of which there is one at most.
const ONE: [DocumentKind; 2] = [DocumentKind::Pause, DocumentKind::AnchorFault];
/// Nothing of these is done at either place while something is copied.
const LEASES: [LeaseName; 4] = [
    LeaseName::RECOVERY,
    LeaseName::PURGE,
    LeaseName::RUNS,
    LeaseName::MIRROR,
];

/// The counts of a copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreCopied {
    /// Number of runs at both places.
    pub runs: u64,
    /// Number of kept states at both places.
    pub states: u64,
    /// Number of proposals, drafts, memories, approvals and documents of a mirror at both places.
    pub documents: u64,
    /// The bytes that were copied now.
    pub bytes: u64,
}

impl AddAssign for StoreCopied {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.states += other.states;
        self.documents += other.documents;
        self.bytes += other.bytes;
    }
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
    /// A store could not be read or written.
    #[error("{0}")]
    Store(String),
}

impl From<StoreError> for CopyFault {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}

/// Copies a wiki; `progress` is told the bytes so far.
pub(crate) fn copy(
    from: &dyn Store,
    to: &dyn Store,
    mut progress: impl FnMut(u64),
) -> Result<StoreCopied, CopyFault> {
    let _held = (leases(from)?, leases(to)?);
    let (runs, there) = (from.runs()?, to.runs()?);
    are_ended(runs.iter().chain(&there))?;
    let is_known = |other: &ListedRun| {
        let own = runs.iter().find(|run| run.name == other.name);
        own.is_some_and(|own| own.length >= other.length)
    };
    if let Some(other) = there.iter().find(|other| !is_known(other)) {
        return Err(CopyFault::Other(other.name.clone()));
    }
    let mut copied = StoreCopied::default();
    // In the order of writing: what a line names is there before the line.
    let kept = to.blobs()?.into_iter();
    let kept: HashMap<String, u64> = kept.map(|one| (one.name, one.length)).collect();
    for blob in from.blobs()? {
        copied.states += 1;
        if kept.get(&blob.name) == Some(&blob.length) {
            continue;
        }
        let bytes = from.blob(&blob.name, MOST_BLOB)?;
        let bytes = bytes.ok_or(StoreError::Replaced)?;
        copied.bytes += to.put_blob(&blob.name, &bytes)?;
        progress(copied.bytes);
    }
    let count = from.run_count()?.unwrap_or_default();
    for run in &runs {
        copied.runs += 1;
        let known = there.iter().find(|other| other.name == run.name);
        if known.is_some_and(|other| other.length == run.length) {
            continue;
        }
        to.remove_run(&run.name)?;
        copy_run(from, to, (run, &count), |bytes| {
            copied.bytes += bytes;
            progress(copied.bytes);
        })?;
    }
    let mirror = std::iter::once(DocumentKind::Mirror);
    for kind in DocumentKind::BESIDE_RECORD.into_iter().chain(mirror) {
        let kept = from.documents(kind)?;
        let names: HashSet<&str> = kept.iter().map(|one| &*one.name).collect();
        // What was removed since an earlier copy does not come back.
        for gone in to.documents(kind)? {
            if !names.contains(&*gone.name) {
                to.remove_document(kind, &gone.name)?;
            }
        }
        for one in &kept {
            copied.documents += 1;
            copied.bytes += copy_document(from, to, (kind, &one.name))?;
        }
    }
    for kind in ONE {
        copied.bytes += copy_document(from, to, (kind, ""))?;
    }
    progress(copied.bytes);
    Ok(copied)
}

fn leases(store: &dyn Store) -> Result<Vec<Lease>, CopyFault> {
    let leases = LEASES.into_iter().map(|name| {
        let lease = store.try_lease(&name, LeaseMode::Alone)?;
        lease.ok_or(CopyFault::Busy)
    });
    leases.collect()
}

fn are_ended<'a>(mut runs: impl Iterator<Item = &'a ListedRun>) -> Result<(), CopyFault> {
    let held = runs.find(|run| run.is_held != Ok(false));
    held.map_or(Ok(()), |run| Err(CopyFault::Held(run.name.clone())))
}

fn copy_run(
    from: &dyn Store,
    to: &dyn Store,
    (run, count): (&ListedRun, &str),
    mut copied: impl FnMut(u64),
) -> Result<(), CopyFault> {
    let bytes = from.open_run(&run.name)?;
    let mut bytes = bytes.ok_or_else(|| CopyFault::Other(run.name.clone()))?;
    let mut writer = to.begin_run(&run.name, count)?;
    let (mut buffer, mut at) = (vec![0; CHUNK], 0_u64);
    while at < run.length {
        let read = bytes.read_at(at, &mut buffer);
        let read = read.map_err(|error| StoreError::Io(error.kind()))?;
        let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else {
            return Err(StoreError::Replaced.into());
        };
        let length = u64::try_from(read).unwrap_or(u64::MAX);
        at = at.saturating_add(length);
        let is_last = at >= run.length;
        let until = if is_last {
            Durability::Synced
        } else {
            Durability::Soon
        };
        writer.append(part, until)?;
        copied(length);
    }
    Ok(())
}

/// Copies a document; gives its length, 0 if there is none or it is there already.
fn copy_document(
    from: &dyn Store,
    to: &dyn Store,
    (kind, name): (DocumentKind, &str),
) -> Result<u64, StoreError> {
    let Some(bytes) = from.document(kind, name)? else {
        to.remove_document(kind, name)?;
        return Ok(0);
    };
    if to.document(kind, name)?.as_ref() == Some(&bytes) {
        return Ok(0);
    }
    to.write_document(kind, name, &bytes)?;
    Ok(u64::try_from(bytes.len()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{CopyFault, copy};
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

    fn text(store: &dyn Store) -> String {
        let mut bytes = store.open_run("1-000001-aa.jsonl").unwrap().unwrap();
        let mut read = [0; 64];
        let length = bytes.read_at(0, &mut read).unwrap();
        String::from_utf8_lossy(&read[..length]).into_owned()
    }

    #[test]
    fn a_copy_is_whole_and_is_made_once() {
        let Two { _dir, from, to } = two();
        let copied = copy(&*from, &*to, |_| {}).unwrap();
        assert_eq!((copied.runs, copied.states, copied.documents), (1, 1, 1));
        assert_eq!(
            (copied.bytes, text(&*to)),
            (8 + 5 + 2 + 2, "one\ntwo\n".to_owned())
        );
        assert_eq!(to.blob("ab", 10).unwrap().as_deref(), Some(&b"state"[..]));
        assert!(to.document(DocumentKind::Pause, "").unwrap().is_some());
        assert_eq!(to.run_count().unwrap(), from.run_count().unwrap());
        assert_eq!(copy(&*from, &*to, |_| {}).unwrap().bytes, 0);
        // And back.
        assert_eq!(copy(&*to, &*from, |_| {}).unwrap().bytes, 0);
    }

    #[test]
    fn a_copy_that_broke_off_is_gone_on_with() {
        let Two { _dir, from, to } = two();
        let mut half = to.begin_run("1-000001-aa.jsonl", "1\n").unwrap();
        half.append(b"one\n", Durability::Synced).unwrap();
        drop(half);
        assert_eq!(copy(&*from, &*to, |_| {}).unwrap().runs, 1);
        assert_eq!(text(&*to), "one\ntwo\n");
    }

    #[test]
    fn nothing_is_copied_while_a_run_lives_or_over_another_record() {
        let Two { _dir, from, to } = two();
        let mut own = to.begin_run("2-000001-bb.jsonl", "1\n").unwrap();
        own.append(b"theirs\n", Durability::Synced).unwrap();
        let name = || "2-000001-bb.jsonl".to_owned();
        let copied = || copy(&*from, &*to, |_| {});
        assert_eq!(copied(), Err(CopyFault::Held(name())));
        drop(own);
        assert_eq!(copied(), Err(CopyFault::Other(name())));
        assert_eq!(to.blobs().unwrap(), []);
    }
}
