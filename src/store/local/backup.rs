//! Makes a store in a directory of its own, and tidies what killed processes left.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{DiskResult as _, LocalStore, fs, if_there};
use crate::store::{CopyError, DocumentKind, NOT_EMPTY, StoreError, StoreResult};

/// A temporary file that is older was left behind by a killed process.
const LEFT_BEHIND: Duration = Duration::from_hours(1);

impl LocalStore {
    /// Has a store made in an empty or missing directory; one whose making breaks off does not look like one.
    pub(in crate::store) fn made_in<T>(
        to: &Path,
        name: &str,
        make: impl FnOnce(&Self) -> Result<T, CopyError>,
    ) -> Result<T, CopyError> {
        // Who asked for the copy named its directory: the program's own log is not needed for it.
        let unwritten = |error: io::Error| CopyError::To(StoreError::Io(error.kind()));
        let mut entries = fs::entries(to).map_err(unwritten)?;
        if entries.next().is_some() {
            return Err(CopyError::To(StoreError::Unfit(NOT_EMPTY)));
        }
        let new = Self::new(to, &format!(".{name}.partial"));
        fs::make_dir(&new.wiki).map_err(unwritten)?;
        let done = make(&new)?;
        let ended = || -> io::Result<()> {
            fs::sync_dir(&new.wiki)?;
            std::fs::rename(&new.wiki, to.join(name))?;
            fs::sync_dir(to)
        };
        ended().map_err(unwritten)?;
        Ok(done)
    }

    /// The directories in which files are replaced: of the wiki, of its mirror, and of what all wikis share.
    fn replaced_in(&self) -> Vec<PathBuf> {
        let (mirror, shared) = (self.mirror(), Self::new(&self.root, ""));
        let documents = DocumentKind::BESIDE_RECORD.map(|kind| self.document_directory(kind));
        let of_servers = [
            DocumentKind::SignIn,
            DocumentKind::Delegate,
            DocumentKind::Server,
            DocumentKind::LastUse,
        ];
        let of_servers = of_servers.map(|kind| shared.document_directory(kind));
        let others = [
            mirror.document_directory(DocumentKind::Mirror),
            mirror.blob_directory(),
            self.blob_directory(),
            self.wiki.clone(),
            self.root.clone(),
        ];
        let all = documents.into_iter().chain(of_servers).chain(others);
        all.collect()
    }

    pub(super) fn tidy_up(&self) -> StoreResult<Vec<String>> {
        let mut removed = Vec::new();
        for directory in &self.replaced_in() {
            let doing = "tidy a directory";
            for entry in fs::entries(directory).at(directory, doing)? {
                let entry = entry.at(directory, doing)?;
                let file = entry.file_name().to_string_lossy().into_owned();
                let found = entry.metadata().ok().filter(Metadata::is_file);
                let changed = found.and_then(|found| found.modified().ok());
                let is_old = changed.is_some_and(|changed| {
                    SystemTime::now()
                        .duration_since(changed)
                        .is_ok_and(|age| age > LEFT_BEHIND)
                });
                let is_ours = file.starts_with('.')
                    && Path::new(&file).extension().is_some_and(|it| it == "tmp");
                if is_old && is_ours {
                    if_there(std::fs::remove_file(entry.path())).at(directory, doing)?;
                    let name = entry.path();
                    let name = name.strip_prefix(&self.root).unwrap_or(&name);
                    removed.push(name.display().to_string());
                }
            }
        }
        Ok(removed)
    }
}
