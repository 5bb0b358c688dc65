//! Keeps blobs as files named by them.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::time::SystemTime;

use super::{DiskResult as _, LocalStore, fs, if_there};
use crate::store::{Blobs, Listed, StoreError, StoreResult};

/// How names of blobs end on the disk.
const ENDING: &str = ".json.gz";

impl LocalStore {
    pub(super) fn blob_directory(&self) -> PathBuf {
        self.wiki.join("pages")
    }

    fn blob_path(&self, name: &str) -> PathBuf {
        self.blob_directory().join(format!("{name}{ENDING}"))
    }
}

impl Blobs for LocalStore {
    fn put_blob(&self, name: &str, bytes: &[u8]) -> StoreResult<u64> {
        let path = self.blob_path(name);
        fs::replace(&path, bytes).at(&path, "keep a state")?;
        Ok(u64::try_from(bytes.len()).unwrap_or(u64::MAX))
    }

    fn renew_blob(&self, name: &str) -> StoreResult<bool> {
        let path = self.blob_path(name);
        // The name is synced too: another process may not have come to it yet.
        let renewed = fs::open_file(&path)
            .and_then(|file| file.set_modified(SystemTime::now()))
            .and_then(|()| fs::sync_dir(&self.blob_directory()));
        let renewed = if_there(renewed).at(&path, "keep the name of a state")?;
        Ok(renewed.is_some())
    }

    fn blob(&self, name: &str, most: u64) -> StoreResult<Option<Vec<u8>>> {
        let path = self.blob_path(name);
        let read = fs::open_file(&path).and_then(|file| fs::read_at_most(&file, most));
        match if_there(read).at(&path, "read a kept state")? {
            Some(None) => Err(StoreError::Unfit("is too large")),
            read => Ok(read.flatten()),
        }
    }

    fn end_of_blob(&self, name: &str, count: u32) -> StoreResult<Option<Vec<u8>>> {
        let path = self.blob_path(name);
        let read = || -> io::Result<Vec<u8>> {
            let mut file = fs::open_file(&path)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(count.into())))?;
            let mut bytes = Vec::new();
            file.take(count.into()).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        if_there(read()).at(&path, "read a kept state")
    }

    fn blobs(&self) -> StoreResult<Vec<Listed>> {
        fs::list(&self.blob_directory(), ENDING)
    }

    fn remove_blob(&self, name: &str, not_since: SystemTime) -> StoreResult<bool> {
        let path = self.blob_path(name);
        let kept = std::fs::symlink_metadata(&path).and_then(|found| found.modified());
        let removed = kept.and_then(|kept| {
            if kept > not_since {
                return Ok(false);
            }
            std::fs::remove_file(&path).map(|()| true)
        });
        let removed = if_there(removed).at(&path, "remove a kept state")?;
        Ok(removed.unwrap_or(false))
    }

    fn sync_removed(&self) -> StoreResult<()> {
        for path in [self.blob_directory(), self.run_directory()] {
            if_there(fs::sync_dir(&path)).at(&path, "sync what was removed")?;
        }
        Ok(())
    }
}
