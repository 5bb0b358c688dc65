//! How pages are indexed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::pace::Load;
use crate::wiki::{ApiKey, WikiSettings};

/// The most pages of an index.
pub const MOST_PAGES: usize = 100_000;
/// What the indexes of all callers' keys take together, in bytes. Their lists of pages, and what is
/// read for them and not put in yet, take as much again.
pub const CALLERS_BYTES: u64 = 32 * 1024 * 1024;

/// How the name of an index on the disk ends.
pub(super) const ENDING: &str = ".db";
/// The digits of the digest in it, in hexadecimal.
pub(super) const DIGEST_CHARS: usize = 32;

/// Where the index is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IndexMode {
    /// For as long as the server runs: in a file without a name, so that the server's own memory
    /// stays small.
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
    /// The share of its time that the wiki is kept busy.
    pub load: Load,
    /// The most requests under way at once, where each reads one page and no call waits.
    pub at_once: usize,
    /// How long a search waits for what it cannot do without, and the first one for all of the
    /// index.
    pub patience: Duration,
    /// How old what the index knows of the wiki may be, in a search.
    pub fresh: Duration,
}

impl Pace {
    /// The usual pace, with this load.
    #[must_use]
    pub const fn of(load: Load) -> Self {
        Self {
            load,
            at_once: 4,
            patience: Duration::from_secs(10),
            fresh: Duration::from_secs(10),
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
    /// What the indexes of all callers' keys take together, in bytes.
    pub callers_bytes: u64,
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
}

fn named(dir: &Path, wiki: &WikiSettings, key: &ApiKey) -> PathBuf {
    let mut digest = Sha256::new();
    digest.update(key.digest());
    digest.update(&wiki.name);
    // Whoever may read less has an index of its own; where all may be read nothing is added.
    digest.update(wiki.reads.fingerprint());
    let digest = digest.finalize();
    let name = digest
        .first_chunk()
        .map_or(0, |half| u128::from_be_bytes(*half));
    let host = wiki.base_url.host_str().unwrap_or_default();
    let port = wiki.base_url.port();
    let port = port.map_or_else(String::new, |port| format!("+{port}"));
    let host: String = host
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
        .take(64)
        .collect();
    dir.join(format!("{host}{port}~{name:0DIGEST_CHARS$x}{ENDING}"))
}
