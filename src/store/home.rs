//! Says where the state of all wikis lies, and opens the store of each.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::local::LocalStore;
#[cfg(feature = "postgres")]
use super::postgres::{Database, PostgresStore};
use super::{DatabaseAddress, SecretSource, Store, StoreResult};

/// The place of the state of all wikis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreHome {
    /// In the files of this directory.
    Local(PathBuf),
    /// In a database, but for the indexes of logs, which are in this directory.
    #[cfg(feature = "postgres")]
    Database(Arc<Database>, PathBuf),
}

/// The database that settings name.
#[derive(Debug, Clone)]
pub struct DatabaseSettings {
    /// Its address, which holds no password.
    pub address: DatabaseAddress,
    /// The user's password, if one is set.
    pub password: Option<SecretSource>,
}

impl StoreHome {
    /// The home that settings name: a database, or else this directory. Touches nothing yet.
    ///
    /// # Errors
    /// Why a database cannot be used, as the end of a sentence that begins with the setting's name.
    pub fn open(
        directory: PathBuf,
        database: Option<&DatabaseSettings>,
    ) -> Result<Self, &'static str> {
        match database {
            None => Ok(Self::Local(directory)),
            #[cfg(feature = "postgres")]
            Some(settings) => {
                let DatabaseSettings { address, password } = settings.clone();
                let database = Database::shared(address, password)?;
                Ok(Self::Database(database, directory))
            }
            #[cfg(not(feature = "postgres"))]
            Some(_) => Err(
                "names a database, and this build has no PostgreSQL; leave it out, or set it to local",
            ),
        }
    }

    /// The database; `None` for files.
    #[cfg(feature = "postgres")]
    pub fn database(&self) -> Option<&Database> {
        match self {
            Self::Local(_) => None,
            Self::Database(database, _) => Some(database),
        }
    }

    /// The directory in which files lie: all of them, or the indexes of logs alone.
    pub fn directory(&self) -> &Path {
        match self {
            Self::Local(directory) => directory,
            #[cfg(feature = "postgres")]
            Self::Database(_, directory) => directory,
        }
    }

    /// The store of a wiki, by the name of its directory. Touches nothing yet.
    pub fn wiki(&self, name: &str) -> Arc<dyn Store> {
        match self {
            Self::Local(root) => Arc::new(LocalStore::new(root, name)),
            #[cfg(feature = "postgres")]
            Self::Database(database, _) => Arc::new(PostgresStore::new(Arc::clone(database), name)),
        }
    }

    /// The store of what all wikis share. Touches nothing yet.
    pub fn shared(&self) -> Arc<dyn Store> {
        self.wiki("")
    }

    /// True if other servers reach it from elsewhere.
    pub fn is_remote(&self) -> bool {
        self.shared().is_remote()
    }

    /// The names of the wikis that have runs here, in order.
    pub fn wikis(&self) -> StoreResult<Vec<String>> {
        match self {
            Self::Local(root) => Ok(LocalStore::wikis(root)),
            #[cfg(feature = "postgres")]
            Self::Database(database, _) => database.wikis(),
        }
    }
}

impl fmt::Display for StoreHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(directory) => directory.display().fmt(f),
            #[cfg(feature = "postgres")]
            Self::Database(database, _) => write!(f, "the database {}", database.address()),
        }
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for StoreHome {
    fn from(directory: &P) -> Self {
        Self::Local(directory.as_ref().to_owned())
    }
}
