//! Says where the state of all wikis lies, and opens the store of each.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::local::LocalStore;
use super::{Store, StoreError};

/// Where the state of all wikis lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreHome {
    /// In the files of this directory.
    Local(PathBuf),
}

impl StoreHome {
    /// The directory in which files lie: all of them, or the indexes of logs alone.
    #[must_use]
    pub fn directory(&self) -> &Path {
        match self {
            Self::Local(directory) => directory,
        }
    }

    /// The store of a wiki, by the name of its directory. Touches nothing yet.
    pub(crate) fn wiki(&self, name: &str) -> Arc<dyn Store> {
        match self {
            Self::Local(root) => Arc::new(LocalStore::new(root, name)),
        }
    }

    /// The store of what all wikis share. Touches nothing yet.
    pub(crate) fn shared(&self) -> Arc<dyn Store> {
        self.wiki("")
    }

    /// The names of the wikis that have runs here, in order.
    pub(crate) fn wikis(&self) -> Result<Vec<String>, StoreError> {
        match self {
            Self::Local(root) => Ok(LocalStore::wikis(root)),
        }
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for StoreHome {
    fn from(directory: &P) -> Self {
        Self::Local(directory.as_ref().to_owned())
    }
}
