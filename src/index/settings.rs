//! How pages are indexed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::wiki::{ApiKey, WikiSettings};

/// The most pages of an index in memory.
pub const MOST_PAGES: usize = 2_000;
/// The most pages of an index on the disk.
pub const MOST_ON_DISK: usize = 100_000;

/// How the name of an index on the disk ends.
pub(super) const ENDING: &str = ".db";
/// The digits of the digest in it, in hexadecimal.
pub(super) const DIGEST_CHARS: usize = 32;

/// Where the index is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IndexMode {
    /// For as long as the server runs: in memory, and beyond a few megabytes in a file without
    /// a name, so that the server's own memory stays small.
    #[default]
    Memory,
    /// In a file, which the next start goes on with.
    Disk,
    /// There is none.
    Off,
}

/// How much is asked of the wiki at once, and how long is waited for it.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// The time between two requests.
    pub apart: Duration,
    /// The most requests under way at once.
    pub at_once: usize,
    /// How long a search waits for a part of the index that it cannot do without.
    pub patience: Duration,
    /// How old the last look at the list of pages may be before another is taken meanwhile.
    pub fresh: Duration,
    /// How old it may be before a search waits for another.
    pub stale: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            apart: Duration::from_millis(50),
            at_once: 4,
            patience: Duration::from_millis(1_500),
            fresh: Duration::from_secs(5),
            stale: Duration::from_mins(1),
        }
    }
}

/// How pages are indexed.
#[derive(Debug, Clone)]
pub struct IndexSettings {
    /// Where.
    pub mode: IndexMode,
    /// The directory of indexes on the disk; none where nothing says which.
    pub dir: Option<PathBuf>,
    /// How many pages at most, those changed last.
    pub most: usize,
    /// How fast.
    pub pace: Pace,
}

impl IndexSettings {
    /// The file of the index of a wiki and key, whether it is there or not. Its name holds
    /// a digest of both, so that nobody can tell the key, and no key reads another's.
    #[must_use]
    pub fn file(&self, wiki: &WikiSettings, key: &ApiKey) -> Option<PathBuf> {
        Some(named(self.dir.as_deref()?, wiki, key))
    }

    /// The same without the disk.
    pub(super) fn in_memory(mut self) -> Self {
        if self.mode == IndexMode::Disk {
            self.mode = IndexMode::Memory;
            self.most = self.most.min(MOST_PAGES);
        }
        self
    }
}

fn named(dir: &Path, wiki: &WikiSettings, key: &ApiKey) -> PathBuf {
    let mut digest = Sha256::new();
    digest.update(key.digest());
    digest.update(&wiki.name);
    let digest = digest.finalize();
    let name = digest
        .first_chunk()
        .map_or(0, |half| u128::from_be_bytes(*half));
    let host = wiki.base_url.host_str().unwrap_or_default();
    let host: String = host
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
        .take(64)
        .collect();
    dir.join(format!("{host}~{name:0DIGEST_CHARS$x}{ENDING}"))
}
