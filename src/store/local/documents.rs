//! Documents as files that are replaced whole.

use std::io;
use std::path::PathBuf;

use super::{DiskResult as _, LocalStore, fs, if_there};
use crate::store::{DocumentKind, Documents, Fence, Listed, StoreError, StoreResult};

impl LocalStore {
    pub(super) fn document_path(&self, kind: DocumentKind, name: &str) -> PathBuf {
        match kind {
            // Names of wikis are in lower case.
            DocumentKind::Pause => self.root.join("PAUSED.json"),
            DocumentKind::AnchorFault => self.wiki.join("anchors.fault"),
            _ => {
                let file = format!("{name}{}", ending(kind));
                self.document_directory(kind).join(file)
            }
        }
    }

    pub(super) fn document_directory(&self, kind: DocumentKind) -> PathBuf {
        match kind {
            DocumentKind::Proposal => self.wiki.join("proposals"),
            DocumentKind::Draft => self.wiki.join("drafts"),
            DocumentKind::Memories => self.wiki.join("memory"),
            DocumentKind::Approval => self.wiki.join("approvals"),
            DocumentKind::SignIn => self.wiki.join("sessions"),
            DocumentKind::Delegate => self.wiki.join("delegates"),
            DocumentKind::Server => self.wiki.join("servers"),
            DocumentKind::LastUse => self.wiki.join("last-uses"),
            DocumentKind::Preview => self.wiki.join("previews"),
            DocumentKind::McpSession => self.wiki.join("mcp-sessions"),
            DocumentKind::SessionRead => self.wiki.join("session-reads"),
            DocumentKind::Mirror => self.wiki.join("seen"),
            DocumentKind::Pause | DocumentKind::AnchorFault => self.wiki.clone(),
        }
    }
}

impl Documents for LocalStore {
    fn document(&self, kind: DocumentKind, name: &str) -> StoreResult<Option<Vec<u8>>> {
        #[cfg(any(test, feature = "testing"))]
        self.documents_read
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = self.document_path(kind, name);
        let doing = "read a document";
        // Mostly there is no pause, and this is all that is done about one.
        let found = match if_there(std::fs::symlink_metadata(&path)) {
            // A process that may not enter the directory cannot record there, so it sends nothing;
            // the log then says why.
            Err(error)
                if kind == DocumentKind::Pause
                    && error.kind() == io::ErrorKind::PermissionDenied =>
            {
                None
            }
            found => found.at(&path, doing)?,
        };
        let Some(found) = found else {
            return Ok(None);
        };
        if found.is_symlink() {
            return Err(StoreError::Unfit("is a link"));
        }
        if !found.is_file() {
            return Err(StoreError::Unfit("is not a file"));
        }
        let Some(file) = if_there(fs::open_file(&path)).at(&path, doing)? else {
            return Ok(None);
        };
        let found = file.metadata().at(&path, doing)?;
        if !found.is_file() {
            return Err(StoreError::Unfit("is not a file"));
        }
        let is_private = matches!(
            kind,
            DocumentKind::Memories
                | DocumentKind::Approval
                | DocumentKind::SignIn
                | DocumentKind::Delegate
                | DocumentKind::Server
        );
        if is_private && !fs::is_ours_alone(&found) {
            return Err(StoreError::Unfit("can be changed by others"));
        }
        let bytes = fs::read_at_most(&file, kind.most_bytes()).at(&path, doing)?;
        bytes.ok_or(StoreError::Unfit("is too large")).map(Some)
    }

    /// A lease of a process that was stopped is its own all the same, so nothing is to be looked at.
    fn write_held(
        &self,
        _fence: Fence,
        (kind, name): (DocumentKind, &str),
        bytes: &[u8],
    ) -> StoreResult<()> {
        let path = self.document_path(kind, name);
        fs::replace(&path, bytes).at(&path, "write a document")
    }

    fn remove_held(&self, _fence: Fence, kind: DocumentKind, name: &str) -> StoreResult<bool> {
        let path = self.document_path(kind, name);
        let removed = if_there(std::fs::remove_file(&path)).and_then(|removed| {
            let directory = path.parent().filter(|_| removed.is_some());
            directory.map_or(Ok(()), fs::sync_dir)?;
            Ok(removed.is_some())
        });
        removed.at(&path, "remove a document")
    }

    fn documents(&self, kind: DocumentKind) -> StoreResult<Vec<Listed>> {
        #[cfg(any(test, feature = "testing"))]
        self.documents_listed
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        fs::list(&self.document_directory(kind), ending(kind))
    }
}

/// The end of the names of a kind's files.
fn ending(kind: DocumentKind) -> &'static str {
    if kind == DocumentKind::Memories {
        ".jsonl"
    } else {
        ".json"
    }
}
